//! Stopped tokens together with the user's panics, and with bounds.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use tine_pool::{
    Bounded, BroadcastContext, StopToken, Stopped, ThreadPool, ThreadPoolBuilder, join, scope,
    with_token,
};

mod common;
use common::within;

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(64 << 20)
        .build()
        .unwrap()
}

/// If both halves, or two tasks, panic, one payload cannot be passed on. It must not affect a token that is
/// stopped later, when the program has dealt with the panic.
#[test]
fn a_second_panic_beside_the_users_own_is_forgotten() {
    let panics = || resume_unwind(Box::new("on purpose"));
    let both = || {
        let _: ((), ()) = join(panics, panics);
    };
    let deep = || {
        // So deep that halves run in sequence.
        fn at(depth: u32, both: &(dyn Fn() + Sync)) {
            match depth {
                0 => both(),
                _ => join(|| at(depth - 1, both), || ()).0,
            }
        }
        at(4200, &both);
    };
    let tasks = || {
        scope(|s| (0..2).for_each(|_| s.spawn(|_| panics())));
    };
    let ways: [&(dyn Fn() + Sync); 3] = [&both, &deep, &tasks];
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for way in ways {
            let token = StopToken::new();
            let result = within(|| {
                pool.install(|| {
                    with_token(&token, || {
                        assert!(catch_unwind(AssertUnwindSafe(way)).is_err());
                        token.stop();
                        join(|| (), || ());
                    })
                })
            });
            assert_eq!(result, Err(Stopped::default()));
        }
    }
}

/// An end comes out of a stolen half, and meets the user's panic on its way.
#[test]
fn a_panic_beside_an_end_that_comes_from_another_thread_counts() {
    let pool = pool(3);
    let token = StopToken::new();
    let stolen = AtomicUsize::new(0);
    let met = || {
        while stolen.load(SeqCst) < 2 {
            thread::yield_now();
        }
    };
    let meet = || {
        stolen.fetch_add(1, SeqCst);
        met();
    };
    let ends = || {
        meet();
        token.stop();
        join(|| (), || ());
    };
    let panics = || {
        meet();
        panic!("on purpose");
    };
    let run = || {
        with_token(&token, || {
            let inner = || {
                join(met, ends);
            };
            join(inner, panics);
        })
    };
    let result = within(|| catch_unwind(AssertUnwindSafe(|| pool.install(run))));
    let payload = result.expect_err("the panic counts");
    assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
}

/// The results of the other threads are dropped, and their drops panic too. The first panic counts; an end
/// counts for less than any panic.
#[test]
fn a_broadcast_passes_its_panic_on_though_drops_of_results_panic() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            resume_unwind(Box::new("a drop"));
        }
    }
    let pool = pool(3);
    let all = |first: &(dyn Fn() -> Bad + Sync)| {
        let one = |context: BroadcastContext<'_>| match context.index() {
            0 => first(),
            _ => Bad,
        };
        let result = within(|| catch_unwind(AssertUnwindSafe(|| pool.broadcast(one))));
        let payload = result.map(std::mem::forget).expect_err("it panics");
        *payload.downcast_ref::<&str>().expect("by its own panic")
    };
    let first = all(&|| resume_unwind(Box::new("a closure")));
    assert_eq!(first, "a closure");

    let (token, begun) = (StopToken::new(), AtomicUsize::new(0));
    let ends = || {
        token.stop();
        join(|| (), || ());
        Bad
    };
    let one = |context: BroadcastContext<'_>| match context.index() {
        0 => {
            // The others are begun by then: one that is not would be ended too.
            while begun.load(SeqCst) < 2 {
                thread::yield_now();
            }
            ends()
        }
        _ => {
            begun.fetch_add(1, SeqCst);
            Bad
        }
    };
    let under = || with_token(&token, || pool.broadcast(one));
    let result = within(|| catch_unwind(AssertUnwindSafe(under)));
    let payload = result.map(std::mem::forget).expect_err("a drop panics");
    assert_eq!(payload.downcast_ref(), Some(&"a drop"));
}

#[test]
fn a_bounded_job_is_not_begun_under_a_stopped_token() {
    let pool = pool(1);
    for limit in [0, 1] {
        let (begun, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(()));
        let (begun_there, held) = (Arc::clone(&begun), Arc::clone(&dropped));
        let token = StopToken::new();
        let result = within(|| {
            pool.install(|| {
                with_token(&token, || {
                    token.stop();
                    Bounded::new(limit).spawn(move || {
                        begun_there.fetch_add(1, SeqCst);
                        drop(held);
                    });
                })
            })
        });
        assert!(result.is_ok(), "no parallel call looks here");
        within(|| {
            while Arc::strong_count(&dropped) > 1 {
                thread::yield_now();
            }
        });
        assert_eq!(begun.load(SeqCst), 0);
    }
}

/// Once `shutdown` has returned, nothing of the pool is left, its handlers included.
#[test]
fn shutdown_waits_until_the_handlers_are_dropped() {
    within(|| {
        for _ in 0..500 {
            let held = Arc::new(());
            let (start, exit) = (Arc::clone(&held), Arc::clone(&held));
            let pool = ThreadPoolBuilder::new()
                .num_threads(4)
                .start_handler(move |_| drop(Arc::clone(&start)))
                .exit_handler(move |_| drop(Arc::clone(&exit)))
                .build()
                .unwrap();
            pool.shutdown();
            assert_eq!(Arc::strong_count(&held), 1);
        }
    });
}
