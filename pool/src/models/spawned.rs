//! The deque of spawned jobs: each once, while it grows and shrinks; no buffer is read after it
//! was freed.

use super::{Load, check, explore};
use crate::deque::spawned::{Entry, Spawned};
use crate::deque::steal::Steal;
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

    /// The owner's.
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

    /// The owner's.
    fn pop(&self) -> bool {
        // SAFETY: called by the owner alone.
        let entry = unsafe { self.deque.pop() };
        entry.map(|entry| self.run(entry)).is_some()
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

    /// Runs what is left, and sees that nothing was lost.
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

/// The third push finds the smallest buffer full, unless a thief was there.
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

/// A slot of the smallest buffer is written again while a thief looks at it.
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

/// Memory goes down as soon as the deque is empty.
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

/// A thief that asks for one tag gets a job of that tag.
#[test]
fn a_tag_that_was_seen_is_that_of_the_job() {
    check(|| {
        let model = Model::new(3);
        let thief = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
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
            })
        };
        model.push(0);
        model.pop();
        model.push(1);
        model.push(2);
        model.pop();
        thief.join().unwrap();
        model.finish();
    });
}
