//! What the pool asks the allocator for: nothing for a join, at most one piece for a spawn; and
//! after a burst it keeps next to nothing.

mod common;
#[path = "common/counting.rs"]
mod counting;

use common::{Watch, ignore, until};
use counting::{BYTES, CALLS};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use tine_pool::{ThreadPool, join};

/// The tests count what the whole process does, so only one runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// What is allocated while `f` runs in the pool, with no other test running. The least of several runs: the
/// first run may have to set things up, and so may a test runner's own thread.
fn calls_of(pool: &ThreadPool, mut f: impl FnMut() + Send) -> usize {
    pool.install(|| {
        let mut least = usize::MAX;
        for _ in 0..5 {
            let before = CALLS.load(Relaxed);
            f();
            least = least.min(CALLS.load(Relaxed) - before);
        }
        least
    })
}

fn tree(depth: u32) -> u32 {
    match depth {
        0 => 1,
        _ => {
            let (a, b) = join(|| tree(depth - 1), || tree(depth - 1));
            a + b
        }
    }
}

#[test]
fn joins_allocate_nothing() {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let watch = Watch::new("joins_allocate_nothing");
    for size in [1, 2, 4] {
        let pool = watch.pool(size);
        assert_eq!(calls_of(&pool, || assert_eq!(tree(12), 4096)), 0);
    }
    drop(alone);
}

#[test]
fn a_spawn_allocates_at_most_once() {
    const COUNT: usize = 40; // fewer than the deque has room for from the start
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let watch = Watch::new("a_spawn_allocates_at_most_once");
    let pool = watch.pool(1);
    let spawn_all = || {
        for i in 0..COUNT {
            tine_pool::spawn(move || ignore(std::hint::black_box([i; 5])));
        }
        while tine_pool::yield_local() == Some(tine_pool::Yield::Executed) {}
    };
    assert!(calls_of(&pool, spawn_all) <= COUNT);
    let scope_all = || {
        tine_pool::scope(|s| {
            for i in 0..COUNT {
                s.spawn(move |_| ignore(std::hint::black_box([i; 5])));
            }
        });
    };
    assert!(calls_of(&pool, scope_all) <= COUNT);
    drop(alone);
}

#[test]
fn memory_goes_down_after_a_burst() {
    const COUNT: usize = 1_000_000;
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let watch = Watch::new("memory_goes_down_after_a_burst");
    for size in [1, 2] {
        let pool = watch.pool(size);
        let before = BYTES.load(Relaxed);
        let done = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        pool.scope(|s| {
            for _ in 0..COUNT {
                s.spawn(|_| ignore(done.fetch_add(1, Relaxed)));
            }
            most.store(BYTES.load(Relaxed), Relaxed);
        });
        assert_eq!(done.into_inner(), COUNT);
        if size == 1 {
            // All of them were there at once, or the test would show nothing.
            assert!(most.into_inner() - before >= COUNT * 16);
        }
        // A job or two, so that each seat looks at its deque again.
        let small = || BYTES.load(Relaxed) < before + COUNT / 10;
        until(|| {
            pool.broadcast(|_| ignore(tine_pool::yield_local()));
            small()
        });
    }
    drop(alone);
}
