//! Threads that become workers for good in the middle of something else: of a scope, or of a call under a
//! token.
#![forbid(unsafe_code)]

use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;
use tine_pool::{
    StopToken, ThreadPool, ThreadPoolBuilder, Yield, in_place_scope, join, stop, with_token,
};

mod common;
use common::Watch;

/// Runs `op` on a separate thread; ends the process if it hangs.
fn within(op: impl FnOnce() + Send) {
    let _watch = Watch::new("resident");
    thread::scope(|s| s.spawn(op).join().unwrap());
}

/// A pool of which the calling thread is a worker from then on.
fn resident(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .use_current_thread()
        .build()
        .unwrap()
}

/// What both halves of a join ask, each on its own thread, and the second time after `between`.
fn asked(between: impl Fn() + Sync) -> [(bool, bool); 2] {
    let both = Barrier::new(2);
    let half = |first: bool| {
        both.wait();
        let before = stop::requested();
        both.wait();
        if first {
            between();
        }
        both.wait();
        (before, stop::requested())
    };
    let (a, b) = join(|| half(true), || half(false));
    [a, b]
}

#[test]
fn a_scope_ends_whose_thread_has_become_a_worker_meanwhile() {
    within(|| {
        let mut pool = None;
        in_place_scope(|s| {
            s.spawn(|_| thread::sleep(Duration::from_millis(100)));
            pool = Some(resident(2));
        });
        assert_eq!(pool.unwrap().current_thread_index(), Some(0));
    });
}

/// What a task waits for is now left to its scope's owner.
#[test]
fn a_scope_ends_whose_tasks_wait_for_its_thread() {
    for threads in [1, 2] {
        within(|| {
            let (send, receive) = mpsc::channel::<Arc<ThreadPool>>();
            in_place_scope(|s| {
                s.spawn(move |_| {
                    let pool = receive.recv().unwrap();
                    assert_eq!(pool.broadcast(|c| c.index()).len(), threads);
                    assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
                });
                send.send(Arc::new(resident(threads))).unwrap();
            });
        });
    }
}

#[test]
fn a_thread_that_becomes_a_worker_under_a_token_has_others_see_its_tokens() {
    within(|| {
        let pool = with_token(&StopToken::new(), || resident(2)).unwrap();
        for _ in 0..3 {
            let token = StopToken::new();
            let told = with_token(&token, || asked(|| token.stop()));
            assert_eq!(told, Ok([(false, true); 2]));
            assert_eq!(asked(|| ()), [(false, false); 2]);
        }
        drop(pool);
    });
}

#[test]
fn what_a_thread_is_under_goes_with_it_to_the_seat_that_it_gets() {
    within(|| {
        let [outer, inner] = [(); 2].map(|()| StopToken::new());
        let result = with_token(&outer, || {
            let pool = with_token(&inner, || {
                let pool = resident(2);
                assert_eq!(asked(|| inner.stop()), [(false, true); 2]);
                pool
            });
            let pool = pool.expect("no look came after the stop");
            assert_eq!(asked(|| outer.stop()), [(false, true); 2]);
            pool
        });
        let pool = result.expect("no look came after the stop");
        assert_eq!(asked(|| ()), [(false, false); 2]);
        drop(pool);
    });
}

/// A task of another thread's scope is run on top, and is no part of what is stopped.
#[test]
fn strangers_tasks_are_not_under_the_token_under_which_a_thread_became_a_worker() {
    within(|| {
        let token = StopToken::new();
        let told = with_token(&token, || {
            let pool = resident(1);
            token.stop();
            let mut told = None;
            let mut task = || {
                join(|| (), || ());
                told = Some(stop::requested());
            };
            thread::scope(|s| {
                s.spawn(|| pool.in_place_scope(|s| s.spawn(|_| task())));
                while pool.yield_now() != Some(Yield::Executed) {}
            });
            told
        });
        assert_eq!(told.expect("no look came after the stop"), Some(false));
    });
}
