//! Loom models: every order in which two or three threads can take turns.
//!
//! `tests/models.sh -p tine-collections models`

mod tries;

use crate::gate::{Gate, Name};
use crate::hazard::Place;
use crate::lock::{Door, Lock, RawLock};
use crate::published::Published;
use crate::records::{Registry, mine};
use crate::reentry::NAMES;
use crate::vec::buckets::Buckets;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use std::mem;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// The value behind a lock, as loom sees it.
struct Shared {
    lock: RawLock,
    value: UnsafeCell<usize>,
}

// SAFETY: the value is used only under the lock; loom checks that.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Arc<Self> {
        Shared::after(0)
    }

    fn after(readers: u32) -> Arc<Self> {
        Arc::new(Shared {
            lock: RawLock::after(readers),
            value: UnsafeCell::new(0),
        })
    }

    fn add(&self) {
        self.lock.write();
        // SAFETY: under the lock.
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.lock.unwrite();
    }

    fn look(&self, nested: bool) -> usize {
        self.lock.read(nested);
        // SAFETY: under the lock.
        let value = self.value.with(|value| unsafe { *value });
        self.lock.unread();
        value
    }
}

fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// No two writers enter at once, and a thread that sleeps is woken: loom reports a lost wake-up as
/// a deadlock.
#[test]
fn writers_exclude_each_other() {
    explore(3, || {
        let shared = Shared::new();
        let other = shared.clone();
        let thread = thread::spawn(move || other.add());
        shared.add();
        thread.join().unwrap();
        assert_eq!(shared.look(false), 2);
    });
}

/// Also while the streak of readers overflows out of the word.
#[test]
fn readers_and_a_writer() {
    for readers in [0, 254, 255] {
        explore(2, move || {
            let shared = Shared::after(readers);
            let reader = shared.clone();
            let writer = shared.clone();
            let reader = thread::spawn(move || assert!(reader.look(false) <= 1));
            let writer = thread::spawn(move || writer.add());
            assert!(shared.look(false) <= 1);
            reader.join().unwrap();
            writer.join().unwrap();
            assert_eq!(shared.look(false), 1);
        });
    }
}

/// A reader inside a reader passes a sleeping writer.
#[test]
fn nested_readers() {
    explore(3, || {
        let shared = Shared::new();
        let writer = shared.clone();
        let writer = thread::spawn(move || writer.add());
        shared.lock.read(false);
        let before = shared.look(true);
        // SAFETY: under the lock.
        assert_eq!(before, shared.value.with(|value| unsafe { *value }));
        shared.lock.unread();
        writer.join().unwrap();
    });
}

/// A map of two shards whose readers need no locks at times.
struct Gated {
    gate: Gate,
    shards: [(Lock<()>, UnsafeCell<usize>); 2],
}

// SAFETY: the values are used under their locks, or as the gate says; loom checks that.
unsafe impl Sync for Gated {}
// SAFETY: as above.
unsafe impl Send for Gated {}

impl Gated {
    fn new(open: bool) -> Arc<Self> {
        let map = Gated {
            gate: Gate::new(),
            shards: [(), ()].map(|()| (Lock::new(()), UnsafeCell::new(0))),
        };
        if open {
            map.open();
        }
        Arc::new(map)
    }

    fn door(&self, shard: usize) -> Door<'_> {
        Door {
            gate: &self.gate,
            shard: Name::new(NAMES, shard),
        }
    }

    fn open(&self) {
        self.gate.consider(Name::new(NAMES, 0));
    }

    /// A look that lasts, and, if `twice`, another look inside it.
    fn read(&self, shard: usize, twice: bool) -> usize {
        let (lock, cell) = &self.shards[shard];
        let guard = lock.read(false, self.door(shard));
        // SAFETY: read under the guard.
        let value = cell.with(|value| unsafe { *value });
        thread::yield_now();
        if twice {
            let inner = lock.read(true, self.door(shard));
            // SAFETY: read under the guard.
            assert_eq!(cell.with(|value| unsafe { *value }), value);
            drop(inner);
        }
        drop(guard);
        value
    }

    /// A look by the short way, through an open gate or by the lock: `None` if a thread is in the way.
    fn peek(&self, shard: usize) {
        self.peek_by(shard, self.door(shard));
    }

    fn peek_by(&self, shard: usize, door: Door<'_>) {
        let (lock, cell) = &self.shards[shard];
        let guard = match door.gate.seems_open() {
            true => lock.peek(door, || true),
            false => lock.read_at_once(door, || true),
        };
        if let Some(guard) = guard {
            // SAFETY: read under the guard.
            let value = cell.with(|value| unsafe { *value });
            thread::yield_now();
            // SAFETY: as above.
            assert_eq!(cell.with(|value| unsafe { *value }), value);
            drop(guard);
        }
    }

    fn write(&self, shard: usize) {
        let (lock, cell) = &self.shards[shard];
        let (guard, _) = lock.write(self.door(shard));
        // SAFETY: written under the guard.
        cell.with_mut(|value| unsafe { *value += 1 });
        drop(guard);
    }

    /// Runs these at the same time, and then checks that each write was made.
    fn run(open: bool, preemptions: usize, jobs: &'static [fn(&Gated)], writes: [usize; 2]) {
        Gated::run_after(|_| (), open, preemptions, jobs, writes);
    }

    /// The same, after `first` has run alone.
    fn run_after(
        first: fn(&Gated),
        open: bool,
        preemptions: usize,
        jobs: &'static [fn(&Gated)],
        writes: [usize; 2],
    ) {
        explore(preemptions, move || {
            let map = Gated::new(open);
            first(&map);
            let (mine, others) = jobs.split_first().expect("a job");
            let threads: Vec<_> = others
                .iter()
                .map(|&job| {
                    let map = map.clone();
                    thread::spawn(move || job(&map))
                })
                .collect();
            mine(&map);
            for thread in threads {
                thread.join().unwrap();
            }
            assert!(
                map.gate.is_settled(),
                "nobody reads, and a writer would have to look"
            );
            assert_eq!([0, 1].map(|shard| map.read(shard, false)), writes);
        });
    }
}

/// A reader that writes nothing, and a writer of its shard.
#[test]
fn an_open_gate_and_a_writer() {
    Gated::run(
        true,
        3,
        &[
            |map| map.write(0),
            |map| {
                map.read(0, false);
            },
        ],
        [1, 0],
    );
}

/// A reader reads again while a writer waits for it.
#[test]
fn an_open_gate_and_a_reader_inside_of_itself() {
    Gated::run(
        true,
        3,
        &[
            |map| map.write(0),
            |map| {
                map.read(0, true);
            },
        ],
        [1, 0],
    );
}

/// The gate opens while a writer comes, which may have looked at it before, and a reader is let in.
#[test]
fn a_gate_that_opens_beside_a_writer() {
    Gated::run(
        false,
        3,
        &[
            |map| map.write(0),
            |map| {
                map.open();
                map.read(0, false);
            },
        ],
        [1, 0],
    );
}

/// One thread opens the gate, another is let in, and the third writes.
#[test]
fn a_gate_that_another_opens() {
    Gated::run(
        false,
        2,
        &[
            |map| map.write(0),
            Gated::open,
            |map| {
                map.read(0, false);
            },
        ],
        [1, 0],
    );
}

/// Writers of two shards, and a reader of one: a writer that finds that the barrier was passed only looks.
#[test]
fn two_writers_shut_a_gate() {
    Gated::run(
        true,
        2,
        &[
            |map| map.write(0),
            |map| map.write(1),
            |map| {
                map.read(0, false);
            },
        ],
        [1, 1],
    );
}

/// A writer sleeps until a reader leaves; another writer shuts the gate and a third thread opens it again.
#[test]
fn a_gate_that_opens_again() {
    Gated::run(
        true,
        2,
        &[
            |map| map.write(0),
            |map| {
                map.write(1);
                map.open();
            },
            |map| {
                map.read(0, false);
            },
        ],
        [1, 1],
    );
}

/// A reader that takes the short way, once and again, and a writer of its shard.
#[test]
fn the_short_way_and_a_writer() {
    Gated::run(
        true,
        3,
        &[
            |map| map.write(0),
            |map| {
                map.peek(0);
                map.peek(0);
            },
        ],
        [1, 0],
    );
}

/// The reader opens the gate itself, or another thread does.
#[test]
fn the_short_way_and_a_gate_that_opens() {
    Gated::run(
        false,
        3,
        &[
            |map| map.write(0),
            |map| {
                map.open();
                map.peek(0);
            },
        ],
        [1, 0],
    );
    Gated::run(
        false,
        2,
        &[|map| map.write(0), Gated::open, |map| map.peek(0)],
        [1, 0],
    );
}

/// Two writers; the second may open the gate again.
#[test]
fn the_short_way_and_two_writers() {
    Gated::run(
        true,
        2,
        &[|map| map.write(0), |map| map.write(1), |map| map.peek(0)],
        [1, 1],
    );
    Gated::run(
        true,
        2,
        &[
            |map| map.write(0),
            |map| {
                map.write(1);
                map.open();
            },
            |map| map.peek(0),
        ],
        [1, 1],
    );
}

/// On the short way, the reader announces another shard than the one that it reads.
#[test]
#[should_panic]
fn without_the_right_name_the_short_way_is_run_over() {
    Gated::run(
        true,
        2,
        &[|map| map.write(0), |map| map.peek_by(0, map.door(1))],
        [1, 0],
    );
}

/// A writer that looks at the gate of another map, which is shut: loom sees it write under a reader.
#[test]
#[should_panic]
fn without_a_look_at_the_gate_a_reader_is_run_over() {
    Gated::run(
        true,
        2,
        &[
            |map| {
                let (lock, cell) = &map.shards[0];
                let shut = Gate::new();
                let guard = lock.write(Door {
                    gate: &shut,
                    shard: Name::new(NAMES, 0),
                });
                // SAFETY: none; the model must fail.
                cell.with_mut(|value| unsafe { *value += 1 });
                drop(guard);
            },
            |map| {
                map.read(0, false);
            },
        ],
        [1, 0],
    );
}

/// A reader that announces another shard than the one that it reads.
#[test]
#[should_panic]
fn without_the_right_name_a_reader_is_run_over() {
    Gated::run(
        true,
        2,
        &[
            |map| map.write(0),
            |map| {
                let (lock, cell) = &map.shards[0];
                let guard = lock.read(false, map.door(1));
                // SAFETY: none; the model must fail.
                cell.with(|value| unsafe { *value });
                drop(guard);
            },
        ],
        [1, 0],
    );
}

/// A reader that stays, and two writers of the other shard: the second writer finds what the first has found. A
/// second reader tries to enter.
#[test]
fn a_shard_found_clear() {
    Gated::run(
        true,
        2,
        &[
            |map| {
                map.write(0);
                map.write(0);
            },
            |map| map.write(0),
            |map| {
                map.read(1, false);
            },
        ],
        [3, 0],
    );
}

/// As above, but a reader of the shard itself comes while another reader stays all the time.
#[test]
fn a_shard_found_clear_and_its_reader() {
    Gated::run(
        true,
        2,
        &[
            |map| {
                let guard = map.shards[1].0.read(false, map.door(1));
                map.write(0);
                map.write(0);
                drop(guard);
            },
            |map| {
                map.read(0, true);
            },
        ],
        [2, 0],
    );
}

/// Opens the gate, shuts it under a reader of the second shard (the first is marked), and opens it again.
fn mark_and_open(map: &Gated) {
    let guard = map.shards[1].0.read(false, map.door(1));
    map.write(0);
    drop(guard);
    map.open();
}

/// A mark belongs to one epoch.
#[test]
fn a_mark_that_is_old() {
    Gated::run_after(
        mark_and_open,
        true,
        3,
        &[
            |map| map.write(0),
            |map| {
                map.read(0, false);
            },
        ],
        [2, 0],
    );
}

/// If epochs did not count, the old mark would pass for a new one.
#[test]
#[should_panic]
fn without_epochs_a_reader_is_run_over() {
    Gated::run_after(
        |map| {
            mark_and_open(map);
            map.gate.forget_epochs();
        },
        true,
        3,
        &[
            |map| map.write(0),
            |map| {
                map.read(0, false);
            },
        ],
        [2, 0],
    );
}

/// A writer that relies on the mark of another shard.
#[test]
#[should_panic]
fn without_a_mark_of_its_own_a_reader_is_run_over() {
    Gated::run(
        true,
        2,
        &[
            |map| {
                map.write(1);
                let guard = map.shards[1].0.write(map.door(0));
                // SAFETY: none; the model must fail.
                map.shards[0].1.with_mut(|value| unsafe { *value += 1 });
                drop(guard);
            },
            |map| {
                map.read(0, false);
            },
        ],
        [1, 1],
    );
}

/// A reader that leaves while the writer of another shard looks: one of the two says that no reader is left.
#[test]
fn a_reader_leaves_while_a_writer_looks() {
    Gated::run(
        true,
        3,
        &[
            |map| map.write(0),
            |map| {
                map.read(1, false);
            },
        ],
        [1, 0],
    );
}

/// Two readers that leave at the same time: the last of them says that no reader is left.
#[test]
fn the_last_to_leave_shuts_a_gate() {
    Gated::run(
        true,
        3,
        &[
            |map| {
                let guard = map.shards[1].0.read(false, map.door(1));
                map.write(0);
                drop(guard);
            },
            |map| {
                map.read(1, false);
            },
        ],
        [1, 0],
    );
}

/// A reader that leaves and does not look.
#[test]
#[should_panic(expected = "a writer would have to look")]
fn without_a_look_of_the_last_a_gate_is_never_shut() {
    Gated::run(
        true,
        2,
        &[
            |map| map.write(0),
            |map| {
                mem::forget(map.shards[1].0.read(false, map.door(1)));
                let record = mine().expect("a record");
                record.shards[0].store(0, SeqCst);
            },
        ],
        [1, 0],
    );
}

/// Two pushes, the second of which may need a new bucket, and a reader that sees a value whole or
/// not at all.
#[test]
fn pushes_and_reads() {
    explore(3, || {
        let buckets = Arc::new(Buckets::new());
        let pusher = buckets.clone();
        let thread = thread::spawn(move || {
            pusher.push(10);
            pusher.push(11);
        });
        let mine = buckets.push(20);
        assert_eq!(buckets.get(mine), Some(&20));
        for at in 0..3 {
            assert!(
                buckets
                    .get(at)
                    .is_none_or(|value| [10, 11, 20].contains(value))
            );
        }
        assert!(buckets.prefix() <= 3);
        thread.join().unwrap();
        assert_eq!((buckets.reserved(), buckets.prefix()), (3, 3));
        let mut all: Vec<i32> = (0..3).map(|at| *buckets.get(at).unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, [10, 11, 20]);
    });
}

/// If one thread found a prefix without gaps, another may read it.
#[test]
fn a_prefix_found_by_another() {
    explore(3, || {
        let buckets = Arc::new(Buckets::new());
        let pusher = buckets.clone();
        let finder = buckets.clone();
        let pusher = thread::spawn(move || assert_eq!(pusher.push(1), 0));
        let finder = thread::spawn(move || assert!(finder.prefix() <= 1));
        if buckets.prefix() == 1 {
            assert_eq!(buckets.get(0), Some(&1));
        }
        pusher.join().unwrap();
        finder.join().unwrap();
    });
}

/// Not a part of what loom explores.
type Count = std::sync::Arc<std::sync::atomic::AtomicUsize>;

/// The published value: two numbers that always differ by one, and a count of the values that are alive.
struct Pair(usize, usize, Count);

impl Pair {
    fn of(number: usize, alive: &Count) -> Self {
        alive.fetch_add(1, Relaxed);
        Pair(number, number + 1, alive.clone())
    }

    fn next(&self) -> Option<(Self, usize)> {
        Some((Pair::of(self.1, &self.2), self.0))
    }

    fn whole(&self) -> usize {
        assert_eq!(self.0 + 1, self.1);
        self.0
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let before = self.2.fetch_sub(1, Relaxed);
        assert_ne!(before, 0, "dropped twice");
        // A reader that looks at the value after this finds no such pair.
        self.1 = self.0;
    }
}

fn published() -> (Arc<Published<Pair>>, Count) {
    let alive = std::sync::Arc::default();
    let first = std::sync::Arc::new(Pair::of(0, &alive));
    (Arc::new(Published::new(first)), alive)
}

/// Two writers and a reader that holds the value that it has read: no change is lost, that value stays as it
/// was, and numbers only rise.
#[test]
fn publishing_and_reading() {
    explore(2, || {
        let (place, alive) = published();
        let other = place.clone();
        let writer = thread::spawn(move || other.renew(Pair::next).unwrap());
        let other = place.clone();
        let reader = thread::spawn(move || {
            let held = other.load();
            let before = held.whole();
            let later = other.load_full().whole();
            assert!(before <= later && later <= 2);
            assert_eq!(held.whole(), before);
        });
        let mine = place.renew(Pair::next).unwrap();
        let others = writer.join().unwrap();
        reader.join().unwrap();
        assert_eq!(mine + others, 1, "both began at one value");
        assert_eq!(place.load().whole(), 2);
        // The reader has let go, and the replaced values are gone.
        assert_eq!(alive.load(Relaxed), 1);
    });
}

/// The place is dropped while a reader holds its value: the last of the two drops the value.
#[test]
fn dropping_under_a_reader() {
    explore(3, || {
        let (place, alive) = published();
        let other = place.clone();
        let reader = thread::spawn(move || {
            let held = other.load_full();
            drop(other);
            held.whole()
        });
        place.renew(Pair::next).unwrap();
        // A change that makes no new value leaves the value in its place.
        assert_eq!(place.renew(|_| None::<(Pair, ())>), None);
        assert_eq!(place.load().whole(), 1);
        drop(place);
        assert!(reader.join().unwrap() <= 1);
        assert_eq!(alive.load(Relaxed), 0);
    });
}

/// A writer that does not ask whether its value is still there loses another writer's change; the models see
/// it.
#[test]
#[should_panic(expected = "a change is lost")]
fn without_a_look_a_change_is_lost() {
    explore(3, || {
        let (place, _alive) = published();
        let other = place.clone();
        let add = |place: &Published<Pair>| {
            let (mine, _) = place.load_full().next().unwrap();
            let next = mine.0;
            place.renew(|now| Some((Pair::of(next, &now.2), ())));
        };
        let writer = thread::spawn(move || add(&other));
        add(&place);
        writer.join().unwrap();
        assert_eq!(place.load().whole(), 2, "a change is lost");
    });
}

/// A value that loom watches: dropping it while another thread looks at it is a race.
struct Watched(UnsafeCell<usize>, Count);

// SAFETY: changed only when it is dropped; loom checks that no thread looks at it then.
unsafe impl Sync for Watched {}
// SAFETY: as above.
unsafe impl Send for Watched {}

impl Watched {
    fn new(number: usize, alive: &Count) -> std::sync::Arc<Self> {
        alive.fetch_add(1, Relaxed);
        std::sync::Arc::new(Watched(UnsafeCell::new(number), alive.clone()))
    }

    fn number(&self) -> usize {
        // SAFETY: changed only when it is dropped; loom checks that.
        self.0.with(|number| unsafe { *number })
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: no thread looks at it any more; loom checks that.
        self.0.with_mut(|number| unsafe { *number = 99 });
        self.1.fetch_sub(1, Relaxed);
    }
}

/// A place, the readers' records, and the number of values.
struct Scene(Place<Watched>, Registry, Count);

impl Scene {
    fn new(light: bool) -> Arc<Self> {
        let alive = Count::default();
        let first = Watched::new(1, &alive);
        Arc::new(Scene(Place::new(first), Registry::new(light), alive))
    }

    /// Looks once, and once more inside that: a model has only one slot, so the inner look counts.
    fn read(&self, twice: bool) {
        let record = self.1.claim();
        let look = self.0.look(&self.1, record);
        let number = look.number();
        assert!(number <= 3);
        if twice {
            assert!(self.0.look(&self.1, record).number() >= number);
        }
        assert_eq!(look.number(), number);
        drop(look);
        record.leave();
    }

    /// Puts the next value in the place of the current one.
    fn write(&self) {
        let record = self.1.claim();
        loop {
            let old = self.0.look(&self.1, record).keep();
            let next = Watched::new(old.number() + 1, &self.2);
            if self.0.replace(&self.1, &old, next).is_some() {
                break;
            }
        }
        record.leave();
    }

    /// Runs these at the same time. At the end only the last value is alive.
    fn run(light: bool, jobs: &[fn(&Scene)], writes: usize) {
        let scene = Scene::new(light);
        let (mine, others) = jobs.split_first().expect("a job");
        let threads: Vec<_> = others
            .iter()
            .map(|&job| {
                let scene = scene.clone();
                thread::spawn(move || job(&scene))
            })
            .collect();
        mine(&scene);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(scene.0.count(&scene.1).number(), 1 + writes);
        assert_eq!(scene.2.load(Relaxed), 1, "what is replaced is dropped");
    }
}

/// A value is there while a reader looks at it, and a replaced value is dropped when the last look at it ends.
#[test]
fn looking_while_another_replaces() {
    explore(3, || {
        Scene::run(false, &[Scene::write, |s| s.read(false)], 1)
    });
}

#[test]
fn looking_twice_while_another_replaces() {
    explore(2, || {
        Scene::run(false, &[Scene::write, |s| s.read(true)], 1)
    });
}

/// What a look did is over for a writer that finds the next look in its slot.
#[test]
fn looking_again_while_another_replaces() {
    let look: fn(&Scene) = |scene| (0..2).for_each(|_| scene.read(false));
    explore(2, move || Scene::run(false, &[Scene::write, look], 1));
}

#[test]
fn two_look_while_another_replaces() {
    let look: fn(&Scene) = |scene| scene.read(false);
    explore(2, move || Scene::run(false, &[Scene::write, look, look], 1));
}

#[test]
fn looking_while_two_values_are_replaced() {
    let write: fn(&Scene) = |scene| (0..2).for_each(|_| scene.write());
    explore(2, move || Scene::run(false, &[write, |s| s.read(false)], 2));
}

/// A reader without a fence between announcement and look: loom sees the value dropped under the look.
#[test]
#[should_panic]
fn without_a_fence_a_value_is_lost() {
    explore(3, || {
        Scene::run(true, &[Scene::write, |s| s.read(false)], 1)
    });
}
