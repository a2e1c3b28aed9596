//! Loom models: every order in which two or three threads can take turns.
//!
//! `tests/models.sh -p tine-collections models`

use crate::lock::RawLock;
use crate::published::Published;
use crate::vec::buckets::Buckets;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use std::sync::atomic::Ordering::Relaxed;

/// The value behind a lock, as loom sees it.
struct Shared {
    lock: RawLock,
    value: UnsafeCell<usize>,
}

// SAFETY: the value is used under the lock only; loom checks that.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Shared {
            lock: RawLock::new(),
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

#[test]
fn readers_and_a_writer() {
    explore(2, || {
        let shared = Shared::new();
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

/// A reader inside of a reader passes a writer that sleeps.
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

/// No part of what loom explores.
type Count = std::sync::Arc<std::sync::atomic::AtomicUsize>;

/// What is published: two numbers that are always one apart, and a count of those that are alive.
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
        // A reader that looks at it after this finds no pair.
        self.1 = self.0;
    }
}

fn published() -> (Arc<Published<Pair>>, Count) {
    let alive = std::sync::Arc::default();
    let first = loom::sync::Arc::new(Pair::of(0, &alive));
    (Arc::new(Published::new(first)), alive)
}

/// Two writers and a reader that holds on to what it has read: no change is lost, what was read stays
/// as it was, and numbers only rise.
#[test]
fn publishing_and_reading() {
    explore(3, || {
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
        // The reader has let go, and those that were replaced are gone.
        assert_eq!(alive.load(Relaxed), 1);
    });
}

/// The place goes away while a reader holds what was in it: the last of both drops it.
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
        // A change that makes nothing leaves the value in its place.
        assert_eq!(place.renew(|_| None::<(Pair, ())>), None);
        assert_eq!(place.load().whole(), 1);
        drop(place);
        assert!(reader.join().unwrap() <= 1);
        assert_eq!(alive.load(Relaxed), 0);
    });
}

/// A writer that does not ask whether its value is still there loses the change of another: the models
/// above would see it.
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
