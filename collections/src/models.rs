//! Loom models: every order in which two or three threads can take turns.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p tine-collections --lib --release`

use crate::lock::RawLock;
use crate::vec::buckets::Buckets;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

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
