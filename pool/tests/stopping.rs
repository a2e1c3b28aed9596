//! Tokens, and computations that they stop.
#![forbid(unsafe_code)]

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};
use tine_pool::{
    First, StopToken, Stopped, join, join_context, scope, scope_with, select, spawn_async,
    spawn_async_with, spawn_join, spawn_join_with, stop, with_token,
};

mod common;
use common::{pool, within};

/// Counts its drops.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(made: &AtomicUsize, dropped: &'a AtomicUsize) -> Self {
        made.fetch_add(1, Relaxed);
        Counted(dropped)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

struct Flag(AtomicUsize);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn parents_stop_children_and_not_the_other_way() {
    let root = StopToken::new();
    let (a, b) = (root.child(), root.child());
    let deep = (0..1000).fold(a.clone(), |token, _| token.child());
    b.stop();
    assert!(b.is_stopped() && !root.is_stopped() && !a.is_stopped() && !deep.is_stopped());
    a.stop();
    assert!(deep.is_stopped() && !root.is_stopped());
    assert!(a.child().is_stopped());
    root.stop();
    root.stop();
    assert!(root.clone().is_stopped() && root.child().is_stopped());
}

/// If threads stop a token at the same time, or it and a child of it, each thread finds all children stopped
/// when it is done.
#[test]
fn each_of_two_threads_that_stop_a_token_has_stopped_it() {
    within(|| {
        for round in 0..200 {
            let root = StopToken::new();
            let line: Vec<_> = (0..200)
                .scan(root.child(), |last, _| {
                    *last = last.child();
                    Some(last.clone())
                })
                .collect();
            let start = Barrier::new(2);
            thread::scope(|s| {
                for first in [&root, &line[round % 100]] {
                    let (start, last) = (&start, &line[199]);
                    s.spawn(move || {
                        start.wait();
                        first.stop();
                        assert!(last.is_stopped(), "in round {round}");
                    });
                }
            });
        }
    });
}

#[test]
fn a_token_reaches_grandchildren_whose_parents_were_dropped() {
    let root = StopToken::new();
    let grandchild = root.child().child();
    root.stop();
    assert!(grandchild.is_stopped());
}

#[test]
fn a_long_line_of_tokens_is_dropped_without_a_stack() {
    let root = StopToken::new();
    let last = (0..200_000).fold(root.clone(), |token, _| token.child());
    root.stop();
    assert!(last.is_stopped());
    drop(root);
    drop(last);
}

#[test]
fn deadlines_are_those_of_the_parents_too() {
    let late = StopToken::new().with_timeout(Duration::ZERO);
    assert!(late.is_stopped() && late.child().is_stopped());
    assert!(late.with_timeout(Duration::MAX).is_stopped());
    let soon = StopToken::new().with_deadline(Instant::now() + Duration::from_secs(3600));
    assert!(!soon.is_stopped() && !soon.child().is_stopped());
    let token = StopToken::new().with_timeout(Duration::from_millis(20));
    let child = token.child();
    while !child.is_stopped() {
        thread::yield_now();
    }
    assert!(token.is_stopped());
}

#[test]
fn futures_of_a_token_are_woken_once_and_leave_nothing_behind() {
    let token = StopToken::new();
    let child = token.child();
    let flag = Arc::new(Flag(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&flag));
    let mut context = Context::from_waker(&waker);
    {
        let mut dropped = pin!(token.stopped());
        assert!(dropped.as_mut().poll(&mut context).is_pending());
        assert!(dropped.as_mut().poll(&mut context).is_pending());
    }
    assert_eq!(
        Arc::strong_count(&flag),
        2,
        "a dropped future leaves no waker"
    );
    let mut future = pin!(child.stopped());
    assert!(future.as_mut().poll(&mut context).is_pending());
    token.stop();
    assert_eq!(flag.0.load(SeqCst), 1);
    assert!(future.as_mut().poll(&mut context).is_ready());
    assert!(pin!(token.stopped()).poll(&mut context).is_ready());
}

#[test]
fn children_come_and_go_and_each_that_is_left_is_stopped() {
    // Some places are reused, and some lists are empty for a while.
    for keep in [1, 2, 3, 7, 500] {
        let parent = StopToken::new();
        let mut old = Vec::new();
        for round in 0..3 {
            let mut young: Vec<_> = (0..200).map(|_| Some(parent.child())).collect();
            for (at, child) in young.iter_mut().enumerate() {
                if (at * 89 + round) % keep != 0 || keep == 500 {
                    *child = None;
                }
            }
            old.extend(young.into_iter().flatten());
        }
        let untouched = StopToken::new().child();
        assert!(old.iter().all(|child| !child.is_stopped()));
        parent.stop();
        assert!(old.iter().all(StopToken::is_stopped));
        assert!(!untouched.is_stopped());
        // Children that are made late are stopped too, and children that are dropped late disturb no others.
        let late: Vec<_> = (0..10).map(|_| parent.child()).collect();
        old.clear();
        let later = parent.child();
        assert!(later.is_stopped() && late.iter().all(StopToken::is_stopped));
        let mut stopped = pin!(parent.stopped());
        let poll = stopped
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(poll, Poll::Ready(()));
    }
}

#[test]
fn a_waker_that_panics_stops_the_others_all_the_same() {
    struct Bad;
    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            panic!("on purpose");
        }
    }
    let token = StopToken::new();
    let bad = Waker::from(Arc::new(Bad));
    let mut future = pin!(token.stopped());
    assert!(
        future
            .as_mut()
            .poll(&mut Context::from_waker(&bad))
            .is_pending()
    );
    let child = token.child();
    token.stop();
    assert!(child.is_stopped());
}

/// Tokens are stopped while others poll, make children and drop: no waiter is forgotten.
#[test]
fn no_waiter_is_forgotten() {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    within(|| {
        for round in 0..300 {
            let token = StopToken::new();
            let start = Barrier::new(4);
            thread::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| {
                        let waker = Waker::from(Arc::new(Unpark(thread::current())));
                        start.wait();
                        let child = token.child();
                        drop(child.child());
                        let mut future = pin!(child.stopped());
                        while future
                            .as_mut()
                            .poll(&mut Context::from_waker(&waker))
                            .is_pending()
                        {
                            thread::park();
                        }
                    });
                }
                start.wait();
                for _ in 0..round % 7 * 50 {
                    std::hint::spin_loop();
                }
                token.stop();
            });
        }
    });
}

/// A tree of joins that only a token ends.
fn tree(depth: u32, made: &AtomicUsize, dropped: &AtomicUsize, at: &(dyn Fn(usize) + Sync)) {
    let counted = Counted::new(made, dropped);
    at(made.load(Relaxed));
    if depth > 0 {
        let (one, two) = (Counted::new(made, dropped), Counted::new(made, dropped));
        join(
            || {
                let _one = one;
                tree(depth - 1, made, dropped, at);
            },
            || {
                let _two = two;
                tree(depth - 1, made, dropped, at);
            },
        );
    }
    drop(counted);
}

#[test]
fn a_tree_of_joins_ends_wherever_it_is_stopped() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for when in [1, 2, 3, 10, 100, 1000, 20_000] {
            let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let token = StopToken::new();
            let result = within(|| {
                pool.install(|| {
                    with_token(&token, || {
                        tree(40, &made, &dropped, &|n| {
                            if n >= when {
                                token.stop();
                            }
                        })
                    })
                })
            });
            assert_eq!(result, Err(Stopped::default()));
            assert_eq!(made.into_inner(), dropped.into_inner(), "at {when}");
        }
    }
}

#[test]
fn a_panic_of_the_users_counts_for_more_than_the_end() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for when in [1, 5, 50, 500] {
            for panics in [false, true] {
                let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let token = StopToken::new();
                let once = AtomicBool::new(false);
                let run = || {
                    with_token(&token, || {
                        tree(40, &made, &dropped, &|n| {
                            if n >= when {
                                token.stop();
                                // The first to come here.
                                if panics && !once.swap(true, SeqCst) {
                                    panic!("on purpose");
                                }
                            }
                        })
                    })
                };
                let result = within(|| catch_unwind(AssertUnwindSafe(|| pool.install(run))));
                match result {
                    Ok(ended) => assert!(!panics && ended.is_err()),
                    Err(payload) => {
                        assert!(panics);
                        assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
                    }
                }
                assert_eq!(made.into_inner(), dropped.into_inner());
            }
        }
    }
}

#[test]
fn the_token_travels_with_stolen_halves_and_into_other_pools() {
    let (here, there) = (pool(2), pool(2));
    within(|| {
        let token = StopToken::new();
        let barrier = Barrier::new(2);
        // The halves meet, so each runs on its own thread.
        let meet = || {
            barrier.wait();
            assert!(!stop::requested());
            barrier.wait();
            token.stop();
            barrier.wait();
            assert!(stop::requested(), "the token is here too");
        };
        let result = here.install(|| with_token(&token, || join_context(|_| meet(), |_| meet())));
        assert_eq!(result, Ok(((), ())));
        assert!(!here.install(stop::requested));

        let token = StopToken::new();
        let result = here.install(|| {
            with_token(&token, || {
                there.install(|| {
                    assert!(!stop::requested());
                    token.stop();
                    assert!(stop::requested());
                    join(|| (), || unreachable!());
                })
            })
        });
        assert!(result.is_err());
        assert!(!there.install(stop::requested));
    });
}

#[test]
fn jobs_that_are_no_part_of_it_are_not_under_it() {
    let pool = pool(1);
    within(|| {
        pool.install(|| {
            // Spawned outside, run inside.
            let (send, receive) = mpsc::channel();
            tine_pool::spawn(move || send.send(stop::requested()).unwrap());
            let token = StopToken::new();
            let handle = spawn_join(stop::requested);
            let result = with_token(&token, || {
                token.stop();
                assert_eq!(tine_pool::yield_now(), Some(tine_pool::Yield::Executed));
                while tine_pool::yield_now() == Some(tine_pool::Yield::Executed) {}
                assert!(stop::requested());
                handle.join().unwrap()
            });
            assert_eq!(result, Ok(false));
            assert_eq!(receive.recv(), Ok(false));
        });
    });
}

#[test]
fn tasks_of_a_scope_that_have_not_begun_are_dropped() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let (made, dropped, ran) = (
            AtomicUsize::new(0),
            AtomicUsize::new(0),
            AtomicUsize::new(0),
        );
        let token = StopToken::new();
        let result: Result<(), _> = within(|| {
            pool.install(|| {
                scope_with(&token, |s| {
                    for n in 0..10_000 {
                        let counted = Counted::new(&made, &dropped);
                        let (token, ran) = (&token, &ran);
                        s.spawn(move |_| {
                            let _counted = counted;
                            ran.fetch_add(1, Relaxed);
                            if n % 100 == 0 {
                                token.stop();
                            }
                        });
                    }
                })
            })
        });
        assert_eq!(made.into_inner(), dropped.into_inner());
        assert_eq!(result, Err(Stopped::default()));
        assert!(ran.into_inner() <= 10_000);
    }
}

#[test]
fn nothing_runs_after_a_stop_where_all_is_in_order() {
    let pool = pool(1);
    let token = StopToken::new();
    let ran = AtomicUsize::new(0);
    let result: Result<(), _> = pool.install(|| {
        scope_with(&token, |s| {
            for _ in 0..100 {
                s.spawn(|_| {
                    ran.fetch_add(1, Relaxed);
                    token.stop();
                });
            }
        })
    });
    assert!(result.is_err());
    assert_eq!(ran.into_inner(), 1, "the first task stops all others");
}

#[test]
fn a_scope_whose_task_panics_while_it_is_stopped_panics() {
    for threads in [1, 2] {
        let pool = pool(threads);
        let token = StopToken::new();
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| {
                scope_with(&token, |s| {
                    s.spawn(|_| join(|| (), || ()).0);
                    s.spawn(|_| {
                        token.stop();
                        panic!("on purpose");
                    });
                    s.spawn(|_| join(|| (), || ()).0);
                    token.stop();
                    join(|| (), || ());
                })
            })
        }));
        // All tasks may have been dropped before they began.
        if let Err(payload) = result {
            assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
        }
    }
}

#[test]
fn tokens_inside_of_one_another() {
    let (outer, inner) = (StopToken::new(), StopToken::new());
    let both = with_token(&outer, || {
        let ended = with_token(&inner, || {
            inner.stop();
            join(|| (), || ())
        });
        assert!(ended.is_err());
        join(|| 1, || 2)
    });
    assert_eq!(both, Ok((1, 2)));
    // The outer token ends the computation under the inner token, and its own call too.
    let inner = StopToken::new();
    let ended = with_token(&outer, || {
        let _ = with_token(&inner, || {
            outer.stop();
            join(|| (), || ())
        });
        unreachable!("the inner call is not what was stopped");
    });
    let ended: Result<(), _> = ended;
    assert!(ended.is_err());
}

#[test]
fn destructors_may_compute_while_they_unwind() {
    struct Computes<'a>(&'a AtomicUsize);
    impl Drop for Computes<'_> {
        fn drop(&mut self) {
            let (a, b) = join(|| fib(16), || scope(|_| fib(16)));
            self.0.fetch_add((a + b) as usize, Relaxed);
        }
    }
    fn fib(n: u32) -> u64 {
        if n < 2 {
            return u64::from(n);
        }
        let (a, b) = join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for _ in 0..50 {
            let sum = AtomicUsize::new(0);
            let token = StopToken::new();
            let result = pool.install(|| {
                with_token(&token, || {
                    let _computes = Computes(&sum);
                    token.stop();
                    join(|| (), || ());
                })
            });
            assert!(result.is_err());
            assert_eq!(sum.into_inner(), 2 * 987);
        }
    }
}

#[test]
fn handles_under_tokens() {
    let token = StopToken::new();
    let job = spawn_join_with(&token, || {
        loop {
            join(|| (), || ());
        }
    });
    let job: tine_pool::JoinHandle<Result<(), Stopped>> = job;
    token.stop();
    assert_eq!(job.join().unwrap(), Err(Stopped::default()));

    // A job that was spawned inside ends with the computation that it was spawned in, and ends a thread that
    // waits for it there.
    let token = StopToken::new();
    let result = with_token(&token, || {
        let job = spawn_join(|| {
            loop {
                join(|| (), || ());
            }
        });
        token.stop();
        job.join().unwrap()
    });
    let result: Result<(), _> = result;
    assert!(result.is_err());
}

#[test]
fn a_dropped_handle_stops_its_job() {
    within(|| {
        for _ in 0..50 {
            let (send, receive) = mpsc::channel::<()>();
            let (begun, has_begun) = mpsc::channel();
            let job = spawn_async(move || {
                let _send = send;
                begun.send(()).unwrap();
                loop {
                    join(|| (), || ());
                }
            });
            let job: tine_pool::AbortOnDrop<Result<(), _>> = job;
            has_begun.recv().unwrap();
            drop(job);
            assert!(receive.recv().is_err(), "the job has dropped its end");
        }
        // Not begun: dropped at once.
        let pool = pool(1);
        pool.install(|| {
            let dropped = Arc::new(());
            let held = Arc::clone(&dropped);
            let job = pool.spawn_async_with(&StopToken::new(), move || drop(held));
            drop(job);
            assert_eq!(Arc::strong_count(&dropped), 1);
        });
    });
}

#[test]
fn the_first_of_two_stops_the_other() {
    within(|| {
        // On the global pool, if it has two threads: a thread that runs the slow job runs nothing else.
        let rounds = if tine_pool::current_num_threads() > 1 {
            50
        } else {
            0
        };
        for _ in 0..rounds {
            let (send, receive) = mpsc::channel::<()>();
            let slow = spawn_async(move || {
                let _send = send;
                while !stop::requested() {
                    thread::yield_now();
                }
            });
            match select(spawn_async(|| 1), slow).join() {
                First::Left(one) => assert_eq!(one.unwrap(), Ok(1)),
                First::Right(_) => panic!("the slow one has no end of its own"),
            }
            assert!(receive.recv().is_err());
        }
        // On a worker, with no other thread to run either.
        let pool = pool(1);
        let first = pool.install(|| {
            let slow = || while !stop::requested() {};
            select(spawn_async(|| 1), spawn_async(slow)).join()
        });
        assert!(matches!(first, First::Left(Ok(Ok(1)))));
        // On a worker that runs the slow job, which ends only because the quick job ends; that one has
        // begun elsewhere.
        let pool = tine_pool::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        for turned in [false, true] {
            let [begun, met] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
            let (quick_begun, quick_met) = (Arc::clone(&begun), Arc::clone(&met));
            let first = pool.install(|| {
                let quick = spawn_async(move || {
                    quick_begun.store(1, SeqCst);
                    while quick_met.load(SeqCst) == 0 {
                        thread::yield_now();
                    }
                });
                while begun.load(SeqCst) == 0 {
                    thread::yield_now();
                }
                let slow = spawn_async(move || {
                    met.store(1, SeqCst);
                    while !stop::requested() {
                        thread::yield_now();
                    }
                });
                match turned {
                    false => select(quick, slow).join(),
                    true => select(slow, quick).join(),
                }
            });
            match first {
                First::Left(end) => assert!(!turned && end.unwrap().is_ok()),
                First::Right(end) => assert!(turned && end.unwrap().is_ok()),
            }
        }
        // Both under one token: the first to end stops itself as well, too late.
        for turned in [false, true].repeat(20) {
            let begun = Arc::new(AtomicUsize::new(0));
            let slow_begun = Arc::clone(&begun);
            let first = pool.install(|| {
                let token = StopToken::new();
                let slow = move || {
                    slow_begun.store(1, SeqCst);
                    while !stop::requested() {
                        thread::yield_now();
                    }
                    0
                };
                let slow = spawn_join_with(&token, slow).stopped_by(token.clone());
                while begun.load(SeqCst) == 0 {
                    thread::yield_now();
                }
                // Run by `join`, since the other thread is busy.
                let quick = spawn_join_with(&token, || 7).stopped_by(token.clone());
                match turned {
                    false => select(quick, slow).join(),
                    true => select(slow, quick).join(),
                }
            });
            match first {
                First::Left(end) => assert!(!turned && end.unwrap() == Ok(7)),
                First::Right(end) => assert!(turned && end.unwrap() == Ok(7)),
            }
        }
        // As a future.
        let flag = Arc::new(Flag(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&flag));
        let mut both = pin!(select(
            spawn_async(|| "left"),
            spawn_async(|| while !stop::requested() {})
        ));
        loop {
            match both.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(First::Left(left)) => break assert_eq!(left.unwrap(), Ok("left")),
                Poll::Ready(First::Right(_)) => panic!("not the first"),
                Poll::Pending => thread::yield_now(),
            }
        }
    });
}

#[test]
fn deadlines_end_computations() {
    within(|| {
        let token = StopToken::new().with_timeout(Duration::from_millis(5));
        let ended = with_token(&token, || {
            loop {
                join(|| (), || ());
            }
        });
        let ended: Result<(), _> = ended;
        assert!(ended.is_err());
        let job = spawn_async_with(
            &StopToken::new().with_timeout(Duration::from_millis(5)),
            || {
                loop {
                    join(|| (), || ());
                }
            },
        );
        let job: tine_pool::AbortOnDrop<Result<(), _>> = job;
        assert!(job.join().unwrap().is_err());
    });
}

#[test]
fn broadcasts_under_a_token() {
    let pool = pool(3);
    let token = StopToken::new();
    let all = with_token(&token, || pool.broadcast(|_| stop::requested()));
    assert_eq!(all, Ok(vec![false; 3]));
    let ended = with_token(&token, || {
        token.stop();
        pool.broadcast(|_| ())
    });
    assert!(ended.is_err());
    assert_eq!(pool.broadcast(|_| stop::requested()), [false; 3]);
}

/// Two jobs of two pools: each runs in its own pool, and each is run although its pool is blocked.
#[test]
fn the_first_of_two_pools() {
    within(|| {
        let until_stopped = || {
            while !stop::requested() {
                thread::yield_now();
            }
        };
        for turned in [false, true] {
            // A worker of one pool waits while another thread of it is at the first job, and the other pool's
            // thread is busy for a while.
            let [here, there] = [2, 1].map(pool);
            let began = Arc::new(AtomicUsize::new(0));
            let (busy, release) = mpsc::channel::<()>();
            there.spawn(move || assert!(release.recv().is_err()));
            let slow_began = Arc::clone(&began);
            let first = here.install(|| {
                let slow = spawn_async(move || {
                    slow_began.store(1, SeqCst);
                    until_stopped();
                    0
                });
                while began.load(SeqCst) == 0 {
                    thread::yield_now();
                }
                let quick =
                    there.spawn_async_with(&StopToken::new(), tine_pool::current_num_threads);
                let end_of_wait = thread::spawn(move || {
                    thread::sleep(Duration::from_millis(20));
                    drop(busy);
                });
                let first = match turned {
                    false => select(slow, quick).join(),
                    true => select(quick, slow).join(),
                };
                end_of_wait.join().unwrap();
                first
            });
            match first {
                First::Right(end) => assert!(!turned && end.unwrap() == Ok(1)),
                First::Left(end) => assert!(turned && end.unwrap() == Ok(1)),
            }

            // An ordinary thread waits, and holds the lock that the other pool's thread waits for.
            let lock = Arc::new(Mutex::new(()));
            let held = lock.lock().unwrap();
            let began = Arc::new(AtomicUsize::new(0));
            let slow_began = Arc::clone(&began);
            let slow = here.spawn_async_with(&StopToken::new(), move || {
                slow_began.fetch_add(1, SeqCst);
                until_stopped();
            });
            let (blocked_began, blocked_lock) = (Arc::clone(&began), Arc::clone(&lock));
            let blocked = there.spawn_join(move || {
                blocked_began.fetch_add(2, SeqCst);
                drop(blocked_lock.lock().unwrap());
            });
            while began.load(SeqCst) != 3 {
                thread::yield_now();
            }
            let quick = there.spawn_async_with(&StopToken::new(), || ());
            match turned {
                false => assert!(matches!(select(slow, quick).join(), First::Right(_))),
                true => assert!(matches!(select(quick, slow).join(), First::Left(_))),
            }
            drop(held);
            blocked.join().unwrap();
        }
    });
}

/// Many threads under many tokens at once, stopped from outside at any time.
#[test]
fn stopped_at_random_points() {
    let pool = pool(3);
    within(|| {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..150 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let tokens: Vec<_> = (0..4).map(|_| StopToken::new()).collect();
            let pool = &pool;
            thread::scope(|s| {
                for (n, token) in tokens.iter().enumerate() {
                    let (made, dropped) = (&made, &dropped);
                    s.spawn(move || {
                        let run = || tree(30, made, dropped, &|_| ());
                        let result = match n % 2 {
                            0 => with_token(token, || pool.install(run)),
                            _ => with_token(token, run),
                        };
                        assert!(result.is_err());
                    });
                }
                thread::sleep(Duration::from_micros(random % 500));
                for token in &tokens {
                    token.stop();
                }
            });
            assert_eq!(made.into_inner(), dropped.into_inner());
            assert!(!pool.install(stop::requested));
        }
    });
}
