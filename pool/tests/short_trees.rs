//! Trees of joins that are called again and again: whether such a call is shared or kept to one thread, it has
//! the same result, and it ends.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};
use tine_pool::{ThreadPool, ThreadPoolBuilder, join, scope};

const CALLS: usize = if cfg!(miri) { 30 } else { 3_000 };

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// A tree with this many leaves; each counts itself, and calls `leaf` with its number.
fn tree(from: usize, leaves: usize, leaf: &(impl Fn(usize) + Sync)) -> usize {
    if leaves == 1 {
        leaf(from);
        return 1;
    }
    let left = leaves / 2;
    let (a, b) = join(
        || tree(from, left, leaf),
        || tree(from + left, leaves - left, leaf),
    );
    a + b
}

#[test]
fn each_call_runs_each_leaf_once() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let call = |n: usize| {
            let leaves = 1 + n * 7 % 200;
            let ran = AtomicUsize::new(0);
            let count = tree(0, leaves, &|_| _ = ran.fetch_add(1, SeqCst));
            assert_eq!((count, ran.into_inner()), (leaves, leaves));
        };
        pool.install(|| (0..CALLS).for_each(call));
        (0..CALLS / 4).for_each(|n| pool.install(|| call(n)));
        pool.scope(|s| (0..CALLS / 4).for_each(|n| s.spawn(move |_| call(n))));
        // Ordinary threads, on the global pool.
        thread::scope(|s| {
            (0..3).for_each(|_| _ = s.spawn(|| (0..CALLS / 4).for_each(call)));
        });
        (0..CALLS / 8).for_each(|n| scope(|s| s.spawn(move |_| call(n))));
    }
}

/// After many calls that gain nothing by being shared, the first leaf of one call waits for the last.
#[test]
fn a_half_that_waits_for_the_other_one_goes_on() {
    if cfg!(miri) {
        // There the looker has no barrier, and nothing is kept.
        return;
    }
    for round in 0..6 {
        let pool = pool(2 + round % 2);
        pool.install(|| {
            for call in 1..=4 * CALLS {
                let waits = call % CALLS == 0;
                let (last, begun) = (AtomicBool::new(false), Instant::now());
                let leaf = |n| match n {
                    0 if waits => {
                        while !last.load(SeqCst) {
                            assert!(begun.elapsed() < Duration::from_secs(60), "in vain");
                            thread::yield_now();
                        }
                    }
                    63 => last.store(true, SeqCst),
                    _ => {}
                };
                assert_eq!(tree(0, 64, &leaf), 64);
            }
        });
    }
}

/// As many ordinary threads call as the pool has threads, so calls are kept to one thread each. When the others
/// come to their end, a leaf waits.
#[test]
fn a_half_that_waits_among_many_callers_goes_on() {
    if cfg!(miri) {
        return;
    }
    let callers = tine_pool::current_num_threads();
    if callers < 2 {
        // A half that waits for the other one needs a thread beside its own.
        return;
    }
    for _ in 0..6 {
        let ended = AtomicUsize::new(1);
        let caller = &|waits: bool| {
            for call in 1..=CALLS {
                let waits = waits && call == CALLS;
                let (last, begun) = (AtomicBool::new(false), Instant::now());
                let leaf = |n| match n {
                    0 if waits => {
                        // Else all threads of the pool may be at other calls.
                        while !last.load(SeqCst) || ended.load(SeqCst) < callers {
                            assert!(begun.elapsed() < Duration::from_secs(60), "in vain");
                            thread::yield_now();
                        }
                    }
                    63 => last.store(true, SeqCst),
                    _ => _ = (0..100).fold(n, |sum, i| std::hint::black_box(sum ^ i)),
                };
                assert_eq!(tree(0, 64, &leaf), 64);
            }
            ended.fetch_add(1, SeqCst);
        };
        thread::scope(|s| (0..callers).for_each(|i| _ = s.spawn(move || caller(i == 0))));
    }
}

/// The other thread of the pool never sleeps: it yields until the call is over, so no thread looks after the
/// others.
#[test]
fn a_half_that_waits_beside_a_thread_that_yields_goes_on() {
    if cfg!(miri) {
        return;
    }
    // Of calls of two leaves nothing is offered before a thread asks.
    for leaves in [2, 64].repeat(3) {
        let pool = pool(2);
        let [there, over, waits, last] = std::array::from_fn(|_| AtomicBool::new(false));
        let begun = Instant::now();
        let is_late = || begun.elapsed() > Duration::from_secs(60);
        let leaf = |n| {
            if !waits.load(SeqCst) {
                return;
            }
            last.fetch_or(n == leaves - 1, SeqCst);
            while n == 0 && !last.load(SeqCst) && !is_late() {
                thread::yield_now();
            }
        };
        pool.install(|| (0..CALLS).for_each(|_| _ = tree(0, leaves, &leaf)));
        pool.scope(|s| {
            s.spawn(|_| {
                there.store(true, SeqCst);
                while !over.load(SeqCst) {
                    tine_pool::yield_now();
                }
            });
            s.spawn(|_| {
                while !there.load(SeqCst) {
                    thread::yield_now();
                }
                (0..CALLS / 10).for_each(|_| _ = tree(0, leaves, &leaf));
                waits.store(true, SeqCst);
                tree(0, leaves, &leaf);
                over.store(true, SeqCst);
            });
        });
        assert!(!is_late(), "in vain");
    }
}

#[test]
fn panics_leave_calls_as_they_were() {
    let pool = pool(2);
    pool.install(|| {
        for call in 0..CALLS {
            let bad = (call % 5 == 0).then_some(call % 40);
            let leaf = |n| {
                if bad == Some(n) {
                    resume_unwind(Box::new(n));
                }
            };
            let result = catch_unwind(AssertUnwindSafe(|| tree(0, 40, &leaf)));
            match bad {
                Some(n) => assert_eq!(result.unwrap_err().downcast_ref(), Some(&n)),
                None => assert_eq!(result.unwrap(), 40),
            }
        }
    });
}
