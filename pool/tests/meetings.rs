//! Where features of the pool meet: guests and letters, loans and scopes, handlers and the end,
//! locks and full pools. Each of these programs once hung, lost a job, or touched freed memory.
#![cfg(not(miri))]

mod common;

use common::{alone, budget, ignore, start_all, until};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread::{self, sleep};
use std::time::Duration;
use tine_pool::{
    ThreadPoolBuilder, blocking, broadcast, current_num_threads, current_thread_index,
    in_place_scope, join, scope, scope_fifo, spawn, spawn_join,
};

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Counts how often it was dropped while what it borrows was alive, and how often afterwards.
struct Canary<'a> {
    alive: &'a AtomicBool,
    early: &'a AtomicUsize,
    late: &'a AtomicUsize,
}

impl Drop for Canary<'_> {
    fn drop(&mut self) {
        sleep(millis(20));
        let seen = if self.alive.load(SeqCst) {
            self.early
        } else {
            self.late
        };
        seen.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_scopes_broadcast_drops_its_closure_inside_the_scope() {
    alone(
        "a_scopes_broadcast_drops_its_closure_inside_the_scope",
        3,
        |watch| {
            static ALIVE: AtomicBool = AtomicBool::new(true);
            static EARLY: AtomicUsize = AtomicUsize::new(0);
            static LATE: AtomicUsize = AtomicUsize::new(0);
            let canary = || Canary {
                alive: &ALIVE,
                early: &EARLY,
                late: &LATE,
            };
            let pool = watch.pool(2);
            let mut opened = 0;
            let mut check = |open: &dyn Fn()| {
                ALIVE.store(true, SeqCst);
                open();
                ALIVE.store(false, SeqCst);
                opened += 1;
            };
            for _ in 0..3 {
                check(&|| {
                    pool.in_place_scope(|s| {
                        let canary = canary();
                        s.spawn_broadcast(move |_, _| {
                            let _ = &canary;
                            sleep(millis(3));
                        });
                    });
                });
                check(&|| {
                    in_place_scope(|s| {
                        let canary = canary();
                        s.spawn_broadcast(move |_, _| ignore(&canary));
                    });
                });
                check(&|| {
                    pool.scope_fifo(|s| {
                        let canary = canary();
                        s.spawn_broadcast(move |_, _| ignore(&canary));
                    });
                });
                check(&|| {
                    let canary = canary();
                    let opened = catch_unwind(AssertUnwindSafe(|| {
                        pool.scope(|s| {
                            s.spawn_broadcast(move |_, _| {
                                let _ = &canary;
                                panic!("in a broadcast")
                            });
                        });
                    }));
                    assert!(opened.is_err());
                });
            }
            sleep(millis(100));
            assert_eq!((EARLY.load(SeqCst), LATE.load(SeqCst)), (opened, 0));
        },
    );
}

#[test]
fn a_broadcast_closure_whose_drop_panics_is_the_scopes_panic() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a drop");
        }
    }
    alone(
        "a_broadcast_closure_whose_drop_panics_is_the_scopes_panic",
        2,
        |watch| {
            let pool = watch.pool(2);
            for _ in 0..5 {
                let bomb = Bomb;
                let ran = AtomicUsize::new(0);
                let left = catch_unwind(AssertUnwindSafe(|| {
                    pool.scope(|s| {
                        s.spawn_broadcast(|_, _| {
                            let _ = &bomb;
                            ran.fetch_add(1, SeqCst);
                        });
                    });
                    pool.scope(|s| {
                        s.spawn_broadcast(move |_, _| {
                            let _ = &bomb;
                        });
                    });
                }));
                assert!(left.is_err());
                assert_eq!(ran.load(SeqCst), 2);
            }
            pool.shutdown();
        },
    );
}

/// A guest asks for a broadcast, and so lends its seat; the seat's own thread opens a scope there
/// and waits, while the guest waits for the seat.
#[test]
fn a_seat_on_loan_has_two_sleepers() {
    alone("a_seat_on_loan_has_two_sleepers", 3, |watch| {
        start_all();
        for round in 0..20 {
            watch.step(round);
            join(
                || {
                    let me = current_thread_index().unwrap();
                    broadcast(|c| {
                        if c.index() == me {
                            scope(|s| {
                                s.spawn(|_| sleep(millis(15)));
                                sleep(millis(5));
                            });
                        }
                    });
                },
                || (),
            );
        }
    });
}

#[test]
fn a_guest_that_waits_for_another_pool_lends_its_seat() {
    alone(
        "a_guest_that_waits_for_another_pool_lends_its_seat",
        2,
        |watch| {
            start_all();
            let other = watch.pool(1);
            for round in 0..20 {
                watch.step(round);
                let run = || thread::spawn(|| broadcast(|c| c.index())).join().unwrap();
                let (seen, ()) = join(|| other.install(run), || ());
                assert_eq!(seen, [0, 1]);
                let (seen, ()) = join(|| other.scope(|_| run()), || ());
                assert_eq!(seen, [0, 1]);
                let (seen, ()) = join(|| other.spawn_join(run).join().unwrap(), || ());
                assert_eq!(seen, [0, 1]);
            }
        },
    );
}

#[cfg(unix)]
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A letter that cannot be read yet must not keep the guest above it awake. A spin would take half of the time;
/// this takes almost none.
#[cfg(unix)]
#[test]
fn a_guest_with_a_letter_beneath_it_sleeps() {
    alone("a_guest_with_a_letter_beneath_it_sleeps", 2, |watch| {
        start_all();
        let other = watch.pool(1);
        join(
            || {
                other.install(|| {
                    let asker = thread::spawn(|| broadcast(|_| sleep(millis(1))));
                    sleep(millis(50));
                    let before = processor_time();
                    sleep(millis(1000));
                    assert!(processor_time() - before < millis(500));
                    asker.join().unwrap();
                })
            },
            || (),
        );
    });
}

/// What the closure of a broadcast asks of its thread stays: a pin, for instance.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_pinned_by_a_broadcast_stays_pinned() {
    fn mask() -> Vec<usize> {
        // SAFETY: all bits are a valid set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        let size = size_of::<libc::cpu_set_t>();
        // SAFETY: a place for the answer, of that size.
        let failed = unsafe { libc::sched_getaffinity(0, size, &raw mut set) };
        assert_eq!(failed, 0);
        // SAFETY: the numbers are below the size of the set.
        (0..64)
            .filter(|&i| unsafe { libc::CPU_ISSET(i, &set) })
            .collect()
    }
    fn pin(to: usize) {
        // SAFETY: all bits are a valid set.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the number is below the size of the set.
        unsafe { libc::CPU_SET(to, &mut set) };
        let size = size_of::<libc::cpu_set_t>();
        // SAFETY: a valid set of that size.
        let failed = unsafe { libc::sched_setaffinity(0, size, &raw const set) };
        assert_eq!(failed, 0);
    }
    alone("a_thread_pinned_by_a_broadcast_stays_pinned", 2, |_| {
        let all = mask();
        let place = |index: usize| all[index % all.len()];
        start_all();
        sleep(millis(20));
        let (seen, ()) = join(
            || {
                let seen = broadcast(|_| mask());
                broadcast(|c| pin(place(c.index())));
                seen
            },
            || (),
        );
        assert_eq!(seen, [all.clone(), all.clone()]);
        for _ in 0..5 {
            sleep(millis(20));
            assert_eq!(broadcast(|_| mask()), [[place(0)], [place(1)]]);
        }
    });
}

/// While an exit handler runs, only its thread holds its seat.
#[test]
fn an_exit_handler_works_on_a_seat_of_its_own() {
    alone("an_exit_handler_works_on_a_seat_of_its_own", 2, |_| {
        static WRONG: AtomicU64 = AtomicU64::new(0);
        fn work(rounds: usize) {
            for _ in 0..rounds {
                let done = AtomicU64::new(0);
                scope(|s| {
                    for i in 0..50_u64 {
                        let (boxed, done) = (Box::new(i), &done);
                        s.spawn(move |_| ignore(done.fetch_add(*boxed + 1, SeqCst)));
                    }
                });
                if done.load(SeqCst) != 50 * 51 / 2 {
                    WRONG.fetch_add(1, SeqCst);
                }
            }
        }
        let begun = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&begun);
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .exit_handler(move |index| {
                count.fetch_add(1, SeqCst);
                if index == 0 {
                    sleep(millis(100));
                    broadcast(|c| {
                        if c.index() == 1 {
                            work(2_000)
                        }
                    });
                } else {
                    work(10_000);
                }
            })
            .build()
            .unwrap();
        pool.install(|| ());
        pool.shutdown();
        assert_eq!((WRONG.load(SeqCst), begun.load(SeqCst)), (0, 2));
    });
}

#[test]
fn a_job_that_an_exit_handler_spawns_is_run() {
    alone("a_job_that_an_exit_handler_spawns_is_run", 1, |_| {
        static RAN: AtomicBool = AtomicBool::new(false);
        let pool = ThreadPoolBuilder::new()
            .num_threads(1)
            .exit_handler(|_| spawn(|| RAN.store(true, SeqCst)))
            .build()
            .unwrap();
        pool.install(|| ());
        pool.shutdown();
        assert!(RAN.load(SeqCst));
    });
}

#[test]
fn what_an_exit_handler_starts_is_finished() {
    alone("what_an_exit_handler_starts_is_finished", 2, |_| {
        for threads in [1, 2, 4] {
            let done = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&done);
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .exit_handler(move |_| {
                    for _ in 0..10 {
                        let count = Arc::clone(&count);
                        spawn(move || ignore(count.fetch_add(1, SeqCst)));
                    }
                    let for_all = Arc::clone(&count);
                    tine_pool::spawn_broadcast(move |_| ignore(for_all.fetch_add(1, SeqCst)));
                    let count = &count;
                    scope_fifo(|s| s.spawn_fifo(|_| ignore(count.fetch_add(1, SeqCst))));
                })
                .build()
                .unwrap();
            pool.install(|| ());
            pool.shutdown();
            assert_eq!(done.load(SeqCst), threads * (10 + threads + 1));
        }
    });
}

/// Jobs of others that lie above a scope's own task are moved out of its way once, however many there are: here
/// each of them is looked at a few times, not a few times for each other job.
#[test]
fn strangers_are_moved_out_of_the_way_once() {
    alone("strangers_are_moved_out_of_the_way_once", 2, |watch| {
        const STRANGERS: usize = 40_000;
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        let pool = watch.pool(2);
        pool.install(|| {
            let (there, found) = (AtomicBool::new(false), AtomicBool::new(false));
            let (there, found) = (&there, &found);
            scope(|s| {
                s.spawn(move |s| {
                    for _ in 0..STRANGERS {
                        LEFT.fetch_add(1, SeqCst);
                        spawn(|| ignore(LEFT.fetch_sub(1, SeqCst)));
                    }
                    s.spawn(move |_| found.store(true, SeqCst));
                    there.store(true, SeqCst);
                    while !found.load(SeqCst) {
                        thread::yield_now();
                    }
                });
                while !there.load(SeqCst) {
                    thread::yield_now();
                }
            });
        });
        pool.shutdown();
        assert_eq!(LEFT.load(SeqCst), 0);
    });
}

/// A letter for a searching thread, whose seat a guest takes and leaves again.
#[test]
fn a_letter_outlives_the_guests() {
    for (seats, guests) in [(4, 3), (8, 8)] {
        alone("a_letter_outlives_the_guests", seats, |watch| {
            start_all();
            let goes_on = budget(2_000);
            let (begin, end) = (Barrier::new(guests + 1), Barrier::new(guests + 1));
            let over = AtomicBool::new(false);
            thread::scope(|s| {
                for guest in 0..guests {
                    let (begin, end, over) = (&begin, &end, &over);
                    s.spawn(move || {
                        let mut random = common::Random::new(guest as u64);
                        loop {
                            begin.wait();
                            if over.load(SeqCst) {
                                return;
                            }
                            for i in 0..random.below(60) {
                                let spins = random.below(50) * (i % 3);
                                join(|| (0..spins).for_each(|_| std::hint::spin_loop()), || ());
                            }
                            end.wait();
                        }
                    });
                }
                let mut round = 0;
                while goes_on() {
                    begin.wait();
                    round += 1;
                    watch.step(round);
                    (0..round % 97).for_each(|_| std::hint::spin_loop());
                    assert_eq!(broadcast(|c| c.index()).len(), current_num_threads());
                    end.wait();
                }
                over.store(true, SeqCst);
                begin.wait();
            });
        });
    }
}

/// Every seat waits for a lock, and an ordinary thread holds the lock during a parallel call.
#[test]
fn a_lock_is_held_while_every_seat_wants_it() {
    alone("a_lock_is_held_while_every_seat_wants_it", 2, |watch| {
        start_all();
        for round in 0..5 {
            watch.step(round);
            let lock = Arc::new(Mutex::new(0));
            let held = lock.lock().unwrap();
            let begun = Arc::new(AtomicUsize::new(0));
            for _ in 0..current_num_threads() {
                let (lock, begun) = (Arc::clone(&lock), Arc::clone(&begun));
                spawn(move || {
                    begun.fetch_add(1, SeqCst);
                    *lock.lock().unwrap() += 1;
                });
            }
            until(|| begun.load(SeqCst) == current_num_threads());
            let seen = Mutex::new(None);
            let count = AtomicUsize::new(0);
            scope(|s| {
                *seen.lock().unwrap() = current_thread_index();
                (0..10).for_each(|_| s.spawn(|_| ignore(count.fetch_add(1, SeqCst))));
            });
            assert_eq!(count.load(SeqCst), 10);
            assert!(
                seen.into_inner()
                    .unwrap()
                    .is_some_and(|i| i >= current_num_threads())
            );
            assert_eq!(join(|| 1, || 2), (1, 2));
            // Jobs that are spawned there are not lost.
            let (send, receive) = mpsc::channel();
            join(|| spawn(move || send.send(7).unwrap()), || ());
            drop(held);
            assert_eq!(receive.recv(), Ok(7));
            until(|| *lock.lock().unwrap() == current_num_threads());
        }
    });
}

/// A long item is no reason to open a seat: a closure would see an index for which programs have no place.
#[test]
#[cfg(target_os = "linux")]
fn a_call_waits_for_a_pool_that_is_busy() {
    use std::time::{Duration, Instant};
    alone("a_call_waits_for_a_pool_that_is_busy", 2, |watch| {
        let pool = watch.pool(1);
        let begun = Arc::new(AtomicUsize::new(0));
        let mine = Arc::clone(&begun);
        pool.spawn(move || {
            mine.store(1, SeqCst);
            let since = Instant::now();
            while since.elapsed() < Duration::from_millis(300) {}
            mine.store(2, SeqCst);
        });
        until(|| begun.load(SeqCst) > 0);
        let seen = pool.install(|| (begun.load(SeqCst), current_thread_index()));
        assert_eq!(seen, (2, Some(0)));
        pool.shutdown();
    });
}

/// A thread calls from inside `blocking`, while all others wait. It runs itself, and holds a seat; that is no
/// reason to take the pool for busy. Otherwise it would wait for two seconds in each round, and longer than the
/// test may.
#[test]
#[cfg(target_os = "linux")]
fn calls_from_inside_of_blocking_while_all_others_wait() {
    let name = "calls_from_inside_of_blocking_while_all_others_wait";
    alone(name, 2, |_| {
        let (begun, over) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let wait = || {
            begun.fetch_add(1, SeqCst);
            while over.load(SeqCst) == 0 {
                sleep(millis(1));
            }
        };
        scope(|s| {
            s.spawn(|s| {
                blocking(|| {
                    // The caller of the scope takes one of them, and the thread that replaces this thread takes
                    // another.
                    (0..3).for_each(|_| s.spawn(|_| wait()));
                    until(|| begun.load(SeqCst) >= 2);
                    for round in 0..60 {
                        assert_eq!(join(|| round, || 1), (round, 1));
                    }
                    over.store(1, SeqCst);
                });
            });
        });
        assert_eq!(begun.load(SeqCst), 3);
    });
}

/// More threads are inside `blocking` than the pool replaces, and each calls the pool: no thread may wait for a
/// seat that another of them has.
#[test]
fn calls_from_inside_of_blocking_need_no_other_thread() {
    let name = "calls_from_inside_of_blocking_need_no_other_thread";
    alone(name, 2, |watch| {
        for round in 0..20 {
            watch.step(round);
            scope(|s| {
                for task in 0..300 {
                    s.spawn(move |_| {
                        let (same, _) = blocking(|| join(|| task, || ()));
                        assert_eq!(same, task);
                    });
                }
            });
        }
        let pool = watch.pool(2);
        for round in 20..40 {
            watch.step(round);
            let pool = &pool;
            pool.scope(|s| {
                for task in 0..300 {
                    s.spawn(move |_| {
                        let seat = current_thread_index();
                        let inside = blocking(|| pool.install(|| (task, current_thread_index())));
                        assert_eq!(inside, (task, seat));
                    });
                }
            });
        }
    });
}

/// The lock that every seat wants is a spin lock: its waiters run, and get nowhere.
#[test]
fn a_spin_lock_is_held_while_every_seat_wants_it() {
    alone(
        "a_spin_lock_is_held_while_every_seat_wants_it",
        2,
        |watch| {
            let pool = watch.pool(1);
            let state = Arc::new(AtomicUsize::new(0));
            let mine = Arc::clone(&state);
            pool.spawn(move || {
                mine.store(1, SeqCst);
                while mine.load(SeqCst) != 2 {
                    std::hint::spin_loop();
                }
            });
            until(|| state.load(SeqCst) == 1);
            assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
            state.store(2, SeqCst);
            pool.shutdown();
        },
    );
}

#[test]
fn a_lock_is_held_while_every_thread_of_another_pool_wants_it() {
    alone(
        "a_lock_is_held_while_every_thread_of_another_pool_wants_it",
        2,
        |watch| {
            let pool = watch.pool(2);
            for round in 0..5 {
                watch.step(round);
                let lock = Arc::new(Mutex::new(0));
                let held = lock.lock().unwrap();
                let begun = Arc::new(AtomicUsize::new(0));
                // More than there are threads: the call is behind some of them.
                for _ in 0..5 {
                    let (lock, begun) = (Arc::clone(&lock), Arc::clone(&begun));
                    pool.spawn(move || {
                        begun.fetch_add(1, SeqCst);
                        *lock.lock().unwrap() += 1;
                    });
                }
                until(|| begun.load(SeqCst) >= 2);
                assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
                assert_eq!(pool.scope(|_| 5), 5);
                drop(held);
                until(|| *lock.lock().unwrap() == 5);
            }
            pool.shutdown();
        },
    );
}

#[test]
fn a_pool_is_not_shut_down_by_its_own_threads() {
    alone("a_pool_is_not_shut_down_by_its_own_threads", 2, |watch| {
        let pool = Arc::new(Mutex::new(Some(watch.pool(2))));
        let (send, receive) = mpsc::channel();
        let mine = Arc::clone(&pool);
        pool.lock().unwrap().as_ref().unwrap().spawn(move || {
            let taken = mine.lock().unwrap().take().unwrap();
            let ended = catch_unwind(AssertUnwindSafe(|| blocking(|| taken.shutdown())));
            send.send(ended.is_err()).unwrap();
        });
        assert_eq!(receive.recv(), Ok(true), "it cannot have ended");
    });
}

#[test]
fn a_worker_that_blocks_joins_no_other_pool_for_good() {
    alone(
        "a_worker_that_blocks_joins_no_other_pool_for_good",
        2,
        |watch| {
            let pool = watch.pool(2);
            pool.install(|| {
                let built = blocking(|| {
                    ThreadPoolBuilder::new()
                        .num_threads(2)
                        .use_current_thread()
                        .build()
                        .map(drop)
                });
                assert!(built.is_err());
                assert!(current_thread_index().is_some());
                assert_eq!(join(|| 1, || 2), (1, 2));
            });
            pool.shutdown();
        },
    );
}

/// A waker that panics does not keep other waiters from being woken.
#[test]
fn a_waker_that_panics_harms_nobody() {
    struct Bad;
    impl Wake for Bad {
        fn wake(self: Arc<Self>) {
            panic!("in a waker");
        }
    }
    alone("a_waker_that_panics_harms_nobody", 2, |watch| {
        let pool = watch.pool(1);
        let (go, gate) = mpsc::channel::<()>();
        let mut job = pool.spawn_join(move || gate.recv().unwrap());
        let waker = Waker::from(Arc::new(Bad));
        let polled = std::pin::Pin::new(&mut job).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        let waits = thread::spawn(move || job.join());
        sleep(millis(20));
        go.send(()).unwrap();
        assert!(waits.join().unwrap().is_ok());
        pool.shutdown();
    });
}

/// A waker is dropped outside the job's lock: here its drop waits for the job, which ends only then.
#[test]
fn a_waker_may_wait_for_the_job_when_it_is_dropped() {
    struct Slow(mpsc::Sender<()>, Mutex<mpsc::Receiver<()>>);
    impl Wake for Slow {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Slow {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
            self.1.lock().unwrap().recv().unwrap();
        }
    }
    struct Tell(Mutex<mpsc::Sender<()>>);
    impl Wake for Tell {
        fn wake(self: Arc<Self>) {
            self.0.lock().unwrap().send(()).unwrap();
        }
    }
    alone(
        "a_waker_may_wait_for_the_job_when_it_is_dropped",
        2,
        |watch| {
            let pool = watch.pool(1);
            let ((go, gate), (told, tells)) = (mpsc::channel(), mpsc::channel());
            let mut job = pool.spawn_join(move || gate.recv().unwrap());
            let mut poll = |waker: Waker| {
                let polled = std::pin::Pin::new(&mut job).poll(&mut Context::from_waker(&waker));
                assert!(polled.is_pending());
            };
            poll(Waker::from(Arc::new(Slow(go, Mutex::new(tells)))));
            // Takes the place of the first one, whose drop lets the job go on and waits for its end.
            poll(Waker::from(Arc::new(Tell(Mutex::new(told)))));
            job.join().unwrap();
            pool.shutdown();
        },
    );
}

#[test]
fn a_pool_may_not_have_more_threads_than_can_be_counted() {
    assert!(tine_pool::max_num_threads() + 64 < 1 << 16);
}

#[test]
fn a_builder_can_be_shown_whatever_starts_its_threads() {
    fn show<S>(builder: &ThreadPoolBuilder<S>) -> String {
        format!("{builder:?}")
    }
    let builder = ThreadPoolBuilder::new().num_threads(3);
    assert!(show(&builder).contains('3'));
    let builder = builder.spawn_handler(|_| Ok(()));
    assert!(show(&builder).contains('3'));
}

#[test]
fn a_handle_is_joined_while_the_global_pool_is_full() {
    alone(
        "a_handle_is_joined_while_the_global_pool_is_full",
        1,
        |_| {
            start_all();
            let lock = Arc::new(Mutex::new(()));
            let held = lock.lock().unwrap();
            let wants = Arc::clone(&lock);
            let first = spawn_join(move || drop(wants.lock().unwrap()));
            sleep(millis(10));
            let second = spawn_join(|| 5);
            // Behind the first job, in a pool of one thread: it is run on a spare seat.
            assert_eq!(second.join().unwrap(), 5);
            drop(held);
            first.join().unwrap();
        },
    );
}

/// A task waits for a task of its own scope, which lies behind hundreds of others that were stolen together
/// with the first. The only other thread waits for the first: it may run what belongs to that, wherever it
/// lies, and nothing else.
#[test]
fn a_task_is_found_behind_a_lot() {
    alone("a_task_is_found_behind_a_lot", 2, |watch| {
        type Verb = fn(Box<dyn FnOnce() + Send>, &(dyn Fn() + Sync));
        let by_handle: Verb = |first, begun| {
            let handle = spawn_join(first);
            spawn_strangers();
            begun();
            handle.join().unwrap();
        };
        let by_scope: Verb = |first, begun| {
            scope(|s| {
                s.spawn(|_| first());
                spawn_strangers();
                begun();
            });
        };
        for (number, verb) in (0..).zip([by_handle, by_scope]) {
            for round in 0..20 {
                watch.step(100 * number + round);
                let pool = watch.pool(2);
                let (begin, begun) = mpsc::channel();
                let begun = Mutex::new(begun);
                pool.install(|| {
                    let first = move || {
                        begin.send(()).unwrap();
                        let (send, receive) = mpsc::channel();
                        scope(move |s| {
                            s.spawn(move |_| send.send(7).unwrap());
                            assert_eq!(receive.recv().unwrap(), 7);
                        });
                    };
                    verb(Box::new(first), &|| begun.lock().unwrap().recv().unwrap());
                });
                pool.shutdown();
            }
        }
    });
}

/// Tasks that belong to no scope.
fn spawn_strangers() {
    for _ in 0..600 {
        spawn(|| ());
    }
}
