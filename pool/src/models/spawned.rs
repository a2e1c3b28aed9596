//! The deque of spawned jobs: each runs once, while the deque grows and shrinks. No buffer is read after it was
//! freed.

use super::{Load, beside, check, explore};
use crate::queue::spawned::{Entry, LOT, Lot, Spawned};
use crate::queue::steal::Steal;
use loom::thread;
use std::sync::Arc;

/// A deque and the loads that go through it, tagged with their places.
struct Model {
    deque: Spawned,
    loads: Vec<Load>,
}

impl Model {
    fn new(loads: usize) -> Arc<Self> {
        Arc::new(Self {
            deque: Spawned::new(),
            loads: (0..loads).map(|_| Load::new()).collect(),
        })
    }

    /// Called by the owner.
    fn push(&self, which: usize) {
        let load = &self.loads[which];
        load.fill();
        let entry = Entry {
            job: load.erase(),
            tag: which as u64,
        };
        // SAFETY: called by the owner alone.
        unsafe { self.deque.push(entry) };
    }

    /// Called by the owner.
    fn pop(&self) -> bool {
        // SAFETY: called by the owner alone.
        let entry = unsafe { self.deque.pop() };
        entry.map(|entry| self.run(entry)).is_some()
    }

    fn steal_lot(&self) {
        let mut lot = Lot::new();
        if let Steal::Taken(()) = self.deque.steal_lot(&mut lot) {
            lot.entries().iter().for_each(|entry| self.run(*entry));
        }
    }

    fn steal(&self) -> bool {
        self.steal_if(|_| true)
    }

    fn steal_if(&self, wanted: impl FnOnce(u64) -> bool) -> bool {
        match self.deque.steal_if(wanted) {
            Steal::Taken(entry) => self.run(entry),
            _ => return false,
        }
        true
    }

    fn run(&self, entry: Entry) {
        let load = &self.loads[entry.tag as usize];
        assert_eq!(entry.job, load.erase(), "a job and its tag went apart");
        load.spend();
    }

    /// Runs what is left, and checks that nothing was lost.
    fn finish(&self) {
        while self.pop() {}
        self.loads.iter().for_each(Load::assert_spent);
    }
}

fn thief(model: &Arc<Model>, steals: usize) -> thread::JoinHandle<()> {
    let model = Arc::clone(model);
    thread::spawn(move || {
        for _ in 0..steals {
            model.steal();
        }
    })
}

/// Pops against steals, down to the last job.
#[test]
fn pushes_pops_and_steals() {
    explore(3, || {
        let model = Model::new(2);
        let thief = thief(&model, 2);
        model.push(0);
        model.push(1);
        model.pop();
        model.pop();
        thief.join().unwrap();
        model.finish();
    });
}

/// Pops against a thief of several, down to the last job. It may take two of four jobs.
#[test]
fn pops_against_a_thief_of_several() {
    explore(3, || {
        let model = Model::new(4);
        (0..4).for_each(|which| model.push(which));
        let thief = beside(&model, |model| {
            model.steal_lot();
            model.steal_lot();
        });
        for _ in 0..3 {
            model.pop();
        }
        thief.join().unwrap();
        model.finish();
    });
}

/// The same with another thief, of one job, and a push in between.
#[test]
fn two_thieves_of_several_and_of_one() {
    check(|| {
        let model = Model::new(4);
        (0..3).for_each(|which| model.push(which));
        let several = beside(&model, |model| model.steal_lot());
        let one = thief(&model, 1);
        model.pop();
        model.push(3);
        model.pop();
        model.pop();
        several.join().unwrap();
        one.join().unwrap();
        model.finish();
    });
}

/// Shows the fault of the published pop, which only fences, next to a thief of several.
mod twin {
    use super::{Arc, LOT, beside, explore};
    use crate::base::sync::{AtomicU32, AtomicU64, Ordering, fence};

    /// A deque of numbers that are their own places, each to be taken once.
    struct Twin {
        top: AtomicU64,
        bottom: AtomicU32,
        taken: [AtomicU32; 3],
        /// Whether a pop near the top makes a new version.
        versions: bool,
    }

    impl Twin {
        fn take(&self, index: u64) {
            let taken = self.taken[index as usize].swap(1, Ordering::Relaxed);
            assert_eq!(taken, 0, "a job was taken twice");
        }

        fn pop(&self) {
            let last = u64::from(self.bottom.load(Ordering::Relaxed)) - 1;
            self.bottom.store(last as u32, Ordering::Release);
            fence(Ordering::SeqCst);
            let mut top = self.top.load(Ordering::Relaxed);
            let index = |top: u64| top & 0xffff_ffff;
            if !self.versions && index(top) < last {
                return self.take(last);
            }
            while index(top) <= last {
                let next = top + (1 << 32);
                let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
                match self.top.compare_exchange(top, next, release, relaxed) {
                    Ok(_) => return self.take(last),
                    Err(now) => top = now,
                }
            }
        }

        fn steal_lot(&self) {
            let top = self.top.load(Ordering::Acquire);
            fence(Ordering::SeqCst);
            let bottom = u64::from(self.bottom.load(Ordering::Acquire));
            let index = top & 0xffff_ffff;
            let count = bottom.saturating_sub(index).div_ceil(2).min(LOT as u64);
            let (acquire, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
            let won = self
                .top
                .compare_exchange(top, top + count, acquire, relaxed);
            if won.is_ok() {
                (index..index + count).for_each(|index| self.take(index));
            }
        }
    }

    fn run(versions: bool) {
        explore(3, move || {
            let twin = Arc::new(Twin {
                top: AtomicU64::new(0),
                bottom: AtomicU32::new(3),
                taken: [AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)],
                versions,
            });
            let thief = beside(&twin, |twin| twin.steal_lot());
            twin.pop();
            twin.pop();
            thief.join().unwrap();
        });
    }

    #[test]
    #[should_panic(expected = "taken twice")]
    fn a_fence_is_not_enough() {
        run(false);
    }

    #[test]
    fn a_version_is() {
        run(true);
    }
}

/// Two thieves and an owner.
#[test]
fn two_thieves() {
    check(|| {
        let model = Model::new(2);
        let thieves = [thief(&model, 1), thief(&model, 1)];
        model.push(0);
        model.push(1);
        model.pop();
        thieves.into_iter().for_each(|t| t.join().unwrap());
        model.finish();
    });
}

/// The third push finds the smallest buffer full, unless a thief has taken a job.
#[test]
fn grows_with_a_thief_inside() {
    check(|| {
        let model = Model::new(3);
        let thief = thief(&model, 2);
        (0..3).for_each(|which| model.push(which));
        model.pop();
        thief.join().unwrap();
        model.finish();
    });
}

/// A slot of the smallest buffer is written again while a thief reads it.
#[test]
fn goes_round() {
    check(|| {
        let model = Model::new(4);
        let thief = thief(&model, 2);
        model.push(0);
        model.push(1);
        model.pop();
        model.push(2);
        model.pop();
        model.push(3);
        thief.join().unwrap();
        model.finish();
    });
}

/// The same next to a thief of several, whose slots the owner uses again at once.
#[test]
fn goes_round_beside_a_thief_of_several() {
    check(|| {
        let model = Model::new(3);
        model.push(0);
        model.push(1);
        let thief = beside(&model, |model| model.steal_lot());
        model.push(2);
        thief.join().unwrap();
        model.finish();
    });
}

/// Memory is reduced as soon as the deque is empty.
#[test]
fn shrinks_with_a_thief_inside() {
    check(|| {
        let model = Model::new(4);
        (0..3).for_each(|which| model.push(which));
        let thief = thief(&model, 2);
        while model.pop() {}
        model.push(3);
        model.pop();
        thief.join().unwrap();
        model.finish();
    });
}

/// Two thieves enter and leave while the buffer grows, is outgrown and freed.
#[test]
fn frees_what_nobody_reads() {
    check(|| {
        let model = Model::new(3);
        model.push(0);
        model.push(1);
        let thieves = [thief(&model, 1), thief(&model, 1)];
        model.push(2);
        while model.pop() {}
        thieves.into_iter().for_each(|t| t.join().unwrap());
        model.finish();
    });
}

/// A thief that asks for a tag gets a job with that tag.
#[test]
fn a_tag_that_was_seen_is_that_of_the_job() {
    check(|| {
        let model = Model::new(3);
        let thief = beside(&model, |model| {
            let mut seen = None;
            match model.deque.steal_if(|tag| {
                seen = Some(tag);
                tag > 0
            }) {
                Steal::Taken(entry) => {
                    assert_eq!(Some(entry.tag), seen);
                    model.run(entry);
                }
                _ => drop(model.deque.find(|tag| tag == 2)),
            }
        });
        model.push(0);
        model.pop();
        model.push(1);
        model.push(2);
        model.pop();
        thief.join().unwrap();
        model.finish();
    });
}
