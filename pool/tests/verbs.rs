//! Each verb does what its documentation says, on pools of several sizes.

#[path = "common/watched.rs"]
mod watched;

use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;
use tine_pool::{ThreadPool, ThreadPoolBuilder, Yield, join, join_context, scope};
use watched::watched;

const SIZES: [usize; 4] = [1, 2, 5, 32];

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn join_computes_what_the_recursion_does() {
    for size in SIZES {
        assert_eq!(pool(size).install(|| fib(20)), 6765);
    }
    assert_eq!(fib(20), 6765);
}

#[test]
fn halves_of_a_join_may_wait_for_each_other() {
    let _watch = watched();
    let pool = pool(2);
    for _ in 0..200 {
        let barrier = Barrier::new(2);
        pool.join(|| barrier.wait(), || barrier.wait());
    }
}

#[test]
fn halves_wait_for_each_other_at_a_site_that_was_short() {
    let _watch = watched();
    let pool = pool(2);
    let short = |block: Option<&Barrier>| {
        join(|| block.map(|b| b.wait()), || block.map(|b| b.wait()));
    };
    pool.install(|| {
        for _ in 0..20 {
            for _ in 0..1000 {
                short(None);
            }
            short(Some(&Barrier::new(2)));
        }
    });
}

#[test]
fn deep_recursion_past_the_capacity_runs_in_sequence() {
    fn down(n: usize) -> usize {
        if n == 0 {
            0
        } else {
            join(|| down(n - 1), || 1).0 + 1
        }
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .stack_size(64 << 20)
        .build()
        .unwrap();
    // The thread sanitizer keeps count of frames, in a place of limited size.
    let depth = if cfg!(tine_tsan) { 5_000 } else { 20_000 };
    assert_eq!(pool.install(|| down(depth)), depth);
}

/// More than std's threads have: calls inside calls take more stack than in rayon.
#[test]
fn a_thread_has_room_for_three_megabytes() {
    if cfg!(target_pointer_width = "64") && std::env::var_os("RUST_MIN_STACK").is_none() {
        // Not a constant, which would not lie on the stack.
        let fill = || {
            let mut room = [0_u8; 3 << 20];
            std::hint::black_box(&mut room)[5] = 7;
            room[5]
        };
        assert_eq!(
            ThreadPoolBuilder::new()
                .num_threads(1)
                .build()
                .unwrap()
                .install(fill),
            7
        );
        let scoped = ThreadPoolBuilder::new().num_threads(1);
        let wrapper = |thread: tine_pool::ThreadBuilder| thread.run();
        assert_eq!(
            scoped
                .build_scoped(wrapper, |pool| pool.install(fill))
                .unwrap(),
            7
        );
    }
}

#[test]
fn a_panic_in_either_half_comes_out_after_both_have_ended() {
    for size in SIZES {
        let pool = pool(size);
        for _ in 0..20 {
            let other = AtomicBool::new(false);
            let result = catch_unwind(AssertUnwindSafe(|| {
                pool.join(|| panic!("first"), || other.store(true, SeqCst))
            }));
            assert_eq!(*result.unwrap_err().downcast::<&str>().unwrap(), "first");
            assert!(other.load(SeqCst));
            let result = catch_unwind(AssertUnwindSafe(|| pool.join(|| 1, || panic!("second"))));
            assert_eq!(*result.unwrap_err().downcast::<&str>().unwrap(), "second");
            let result = catch_unwind(AssertUnwindSafe(|| {
                pool.join(|| panic!("both: first"), || panic!("both: second"))
            }));
            let _: &((), ()) = match &result {
                Ok(all) => all,
                Err(payload) => {
                    assert_eq!(*payload.downcast_ref::<&str>().unwrap(), "both: first");
                    &((), ())
                }
            };
        }
    }
}

#[test]
fn migrated_is_true_for_both_halves_from_an_ordinary_thread() {
    assert_eq!(
        join_context(|c| c.migrated(), |c| c.migrated()),
        (true, true)
    );
}

#[test]
fn a_scope_waits_for_tasks_of_tasks() {
    fn grow<'s>(s: &tine_pool::Scope<'s>, depth: usize, count: &'s AtomicUsize) {
        count.fetch_add(1, SeqCst);
        if depth > 0 {
            s.spawn(move |s| grow(s, depth - 1, count));
            s.spawn(move |s| grow(s, depth - 1, count));
        }
    }
    for size in SIZES {
        let count = AtomicUsize::new(0);
        pool(size).scope(|s| grow(s, 10, &count));
        assert_eq!(count.into_inner(), 2047);
    }
    let count = AtomicUsize::new(0);
    scope(|s| grow(s, 10, &count));
    assert_eq!(count.into_inner(), 2047);
    let count = AtomicUsize::new(0);
    tine_pool::in_place_scope(|s| grow(s, 10, &count));
    assert_eq!(count.into_inner(), 2047);
}

#[test]
fn a_scope_finds_its_task_behind_strangers() {
    // One seat, so no other thread can help: a stranger is spawned on top of the scope's own task.
    let pool = pool(1);
    let order = Mutex::new(Vec::new());
    let (send, receive) = mpsc::channel();
    let receive = Mutex::new(receive);
    pool.install(|| {
        scope(|s| {
            s.spawn(|_| order.lock().unwrap().push("own"));
            tine_pool::spawn(move || send.send("stranger").unwrap());
        });
        order.lock().unwrap().push("over");
        assert!(
            receive.lock().unwrap().try_recv().is_err(),
            "the scope ran a stranger's task"
        );
    });
    assert_eq!(
        receive
            .lock()
            .unwrap()
            .recv_timeout(Duration::from_secs(60)),
        Ok("stranger")
    );
    assert_eq!(*order.lock().unwrap(), ["own", "over"]);
}

#[test]
fn a_panic_in_a_scope_comes_out_when_all_tasks_have_ended() {
    for size in SIZES {
        let pool = pool(size);
        let ended = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|s| {
                for i in 0..50 {
                    let ended = &ended;
                    s.spawn(move |_| {
                        ended.fetch_add(1, SeqCst);
                        assert!(i != 25, "task 25");
                    });
                }
            });
        }));
        assert!(result.is_err());
        assert_eq!(ended.load(SeqCst), 50);
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|s| {
                s.spawn(|_| _ = ended.fetch_add(1, SeqCst));
                panic!("the body");
            })
        }));
        assert!(result.is_err());
        assert_eq!(ended.load(SeqCst), 51);
    }
}

#[test]
fn fifo_scopes_run_in_order_on_one_thread() {
    let seen = Mutex::new(Vec::new());
    pool(1).scope_fifo(|s| {
        for i in 0..100 {
            let seen = &seen;
            s.spawn_fifo(move |_| seen.lock().unwrap().push(i));
        }
    });
    assert!(seen.into_inner().unwrap().into_iter().eq(0..100));
    let (send, receive) = mpsc::channel();
    pool(1).install(|| {
        for i in 0..100 {
            let send = send.clone();
            tine_pool::spawn_fifo(move || send.send(i).unwrap());
        }
    });
    drop(send);
    assert!(receive.iter().eq(0..100));
    let (send, receive) = mpsc::channel();
    pool(1).install(|| {
        for i in 0..100 {
            let send = send.clone();
            tine_pool::spawn(move || send.send(i).unwrap());
        }
    });
    drop(send);
    assert!(receive.iter().eq((0..100).rev()));
}

#[test]
fn a_lock_held_across_a_join_is_not_met_again() {
    let pool = pool(2);
    thread_local! { static CELL: RefCell<u32> = const { RefCell::new(0) }; }
    // Tasks that all borrow one cell of their thread across a join: a waiter that took a
    // stranger's task would find it borrowed.
    pool.scope(|s| {
        for _ in 0..200 {
            s.spawn(|_| {
                CELL.with_borrow_mut(|cell| {
                    *cell += 1;
                    join(|| std::thread::sleep(Duration::from_micros(50)), || fib(8));
                });
            });
        }
    });
}

#[test]
fn broadcast_runs_once_on_each_thread() {
    for size in SIZES {
        let pool = pool(size);
        assert!(pool.broadcast(|c| c.index()).into_iter().eq(0..size));
        let inside =
            pool.install(|| tine_pool::broadcast(|c| (c.index(), std::thread::current().id())));
        assert_eq!(
            inside.iter().map(|x| x.1).collect::<HashSet<_>>().len(),
            size
        );
        let nested = pool.broadcast(|_| tine_pool::broadcast(|c| c.index()).len());
        assert_eq!(nested, vec![size; size]);
    }
}

#[test]
fn a_guest_that_waits_lends_its_seat_for_mail() {
    let n = tine_pool::current_num_threads();
    let me = std::thread::current().id();
    let (a, b) = join(
        || tine_pool::broadcast(|c| (c.index(), std::thread::current().id())),
        || tine_pool::broadcast(|c| c.index()),
    );
    assert_eq!((a.len(), b.len()), (n, n));
    assert!(
        a.iter().all(|(_, id)| *id != me),
        "a guest ran a broadcast closure"
    );
}

#[test]
fn a_guest_that_runs_any_job_runs_no_letter_of_its_seat() {
    let me = std::thread::current().id();
    let ids = std::thread::scope(|s| {
        let writer = std::sync::Mutex::new(None);
        join(
            || {
                let all = s.spawn(|| tine_pool::broadcast(|_| std::thread::current().id()));
                *writer.lock().unwrap() = Some(all);
                for _ in 0..100 {
                    tine_pool::yield_now();
                    std::thread::sleep(Duration::from_micros(200));
                }
            },
            || (),
        );
        let writer = writer.into_inner().unwrap().unwrap();
        writer.join().unwrap()
    });
    assert!(!ids.contains(&me), "a guest ran a broadcast closure");
}

#[test]
fn spawned_jobs_run_after_the_pool_is_dropped() {
    for size in SIZES {
        let (send, receive) = mpsc::channel();
        let pool = pool(size);
        for i in 0..100 {
            let send = send.clone();
            pool.spawn(move || {
                tine_pool::spawn(move || send.send(i).unwrap());
            });
        }
        drop((send, pool));
        assert_eq!(receive.iter().count(), 100);
    }
}

#[test]
fn a_batch_whose_iterator_panics_is_dropped() {
    let pool = pool(2);
    let held = Arc::new(());
    let batch = || {
        (0..5).map(|i| {
            assert!(i < 3, "on purpose");
            let held = Arc::clone(&held);
            move || unreachable!("not started: {held:?}")
        })
    };
    let from_outside = catch_unwind(AssertUnwindSafe(|| pool.spawn_many(batch())));
    assert!(from_outside.is_err());
    assert_eq!(Arc::strong_count(&held), 1);
    let from_a_worker = catch_unwind(AssertUnwindSafe(|| {
        pool.install(|| pool.spawn_many(batch()))
    }));
    assert!(from_a_worker.is_err());
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn shutdown_returns_when_all_is_done() {
    for size in SIZES {
        static DONE: AtomicUsize = AtomicUsize::new(0);
        let before = DONE.load(SeqCst);
        let pool = pool(size);
        for _ in 0..100 {
            pool.spawn(|| {
                DONE.fetch_add(1, SeqCst);
            });
        }
        pool.shutdown();
        assert_eq!(DONE.load(SeqCst) - before, 100);
    }
}

#[test]
fn panics_of_spawned_jobs_go_to_the_handler() {
    let (send, receive) = mpsc::channel();
    let send = Mutex::new(send);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .panic_handler(move |payload| {
            send.lock()
                .unwrap()
                .send(*payload.downcast::<&str>().unwrap())
                .unwrap();
        })
        .build()
        .unwrap();
    pool.spawn(|| panic!("alone"));
    assert_eq!(receive.recv_timeout(Duration::from_secs(60)), Ok("alone"));
    pool.spawn_broadcast(|_| panic!("everywhere"));
    for _ in 0..2 {
        assert_eq!(
            receive.recv_timeout(Duration::from_secs(60)),
            Ok("everywhere")
        );
    }
}

#[test]
fn pools_wait_for_each_other() {
    let (a, b) = (pool(1), pool(1));
    let sum = a.install(|| b.install(|| a.install(|| b.install(|| a.install(|| 7)))));
    assert_eq!(sum, 7);
    a.in_place_scope(|s| {
        let (a, b) = (&a, &b);
        for _ in 0..50 {
            s.spawn(move |_| b.scope(|s| s.spawn(move |_| a.install(|| ()))));
        }
    });
}

#[test]
fn yields_run_what_there_is() {
    let pool = pool(1);
    assert_eq!((pool.yield_now(), tine_pool::yield_local()), (None, None));
    pool.install(|| {
        let (send, receive) = mpsc::channel();
        tine_pool::spawn(move || send.send(1).unwrap());
        assert_eq!(tine_pool::current_thread_has_pending_tasks(), Some(true));
        assert_eq!(tine_pool::yield_local(), Some(Yield::Executed));
        assert_eq!(receive.try_recv(), Ok(1));
        assert_eq!(tine_pool::yield_now(), Some(Yield::Idle));
        assert_eq!(tine_pool::current_thread_has_pending_tasks(), Some(false));
        tine_pool::spawn(|| ());
        assert_eq!(tine_pool::yield_now(), Some(Yield::Executed));
        assert_eq!(tine_pool::yield_now(), Some(Yield::Idle));
    });
}

#[test]
fn handles_give_results_and_panics() {
    for size in SIZES {
        let pool = pool(size);
        let jobs: Vec<_> = (0..100).map(|i| pool.spawn_join(move || i)).collect();
        assert_eq!(
            jobs.into_iter().map(|j| j.join().unwrap()).sum::<i32>(),
            4950
        );
        let inside = pool.install(|| {
            let jobs: Vec<_> = (0..100)
                .map(|i| tine_pool::spawn_join(move || fib(i % 10)))
                .collect();
            jobs.into_iter().map(|j| j.join().unwrap()).sum::<u64>()
        });
        assert_eq!(inside, 880);
        assert!(pool.spawn_join(|| panic!("oh")).join().is_err());
    }
}

#[test]
fn a_handle_is_a_future() {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut job = std::pin::pin!(tine_pool::spawn_join(|| {
        std::thread::sleep(Duration::from_millis(5));
        5
    }));
    loop {
        if let std::task::Poll::Ready(result) = job.as_mut().poll(&mut context) {
            assert_eq!(result.unwrap(), 5);
            break;
        }
        std::thread::park();
    }
}

#[test]
fn a_thousand_seats() {
    let pool = pool(1000);
    assert_eq!(pool.install(|| fib(18)), 2584);
    assert_eq!(pool.broadcast(|c| c.index()).len(), 1000);
    let count = AtomicUsize::new(0);
    pool.scope(|s| (0..5000).for_each(|_| s.spawn(|_| _ = count.fetch_add(1, SeqCst))));
    assert_eq!(count.into_inner(), 5000);
    pool.shutdown();
}

#[test]
fn greedy_pools_run_anything_while_they_wait() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .greedy_waiting(true)
        .build()
        .unwrap();
    let (send, receive) = mpsc::channel();
    let receive = Mutex::new(receive);
    // One worker blocks outside; the other waits for it, and must run the stranger meanwhile.
    pool.install(|| {
        join(
            || std::thread::sleep(Duration::from_millis(20)),
            || {
                tine_pool::spawn(move || send.send(9).unwrap());
                assert_eq!(
                    receive
                        .lock()
                        .unwrap()
                        .recv_timeout(Duration::from_secs(60)),
                    Ok(9)
                );
            },
        );
    });
}

#[test]
fn a_current_thread_is_worker_zero() {
    std::thread::spawn(|| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .use_current_thread()
            .build()
            .unwrap();
        assert_eq!(pool.current_thread_index(), Some(0));
        assert_eq!(tine_pool::current_num_threads(), 2);
        assert_eq!(pool.install(tine_pool::current_thread_index), Some(0));
        assert_eq!(fib(15), 610);
        assert_eq!(pool.broadcast(|c| c.index()), [0, 1]);
        let again = ThreadPoolBuilder::new().use_current_thread().build();
        assert!(again.is_err());
    })
    .join()
    .unwrap();
}

#[test]
fn guests_have_indices_of_their_own() {
    let n = tine_pool::current_num_threads();
    let inside = Mutex::new(HashSet::new());
    std::thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| {
                for _ in 0..200 {
                    join(
                        || {
                            let index = tine_pool::current_thread_index().unwrap();
                            assert!(index < n);
                            assert!(inside.lock().unwrap().insert(index), "two with one index");
                            std::hint::black_box(fib(3));
                            assert!(inside.lock().unwrap().remove(&index));
                        },
                        || (),
                    );
                }
            });
        }
    });
    assert_eq!(tine_pool::current_thread_index(), None);
}

#[test]
fn scoped_pools_borrow() {
    let text = String::from("borrowed");
    let started = AtomicUsize::new(0);
    let length = ThreadPoolBuilder::new()
        .num_threads(3)
        .build_scoped(
            |thread| {
                started.fetch_add(text.len(), SeqCst);
                thread.run();
            },
            |pool| pool.install(|| text.len()),
        )
        .unwrap();
    assert_eq!((length, started.into_inner()), (8, 24));
}

#[test]
fn a_builder_that_panics_leaves_no_thread_behind() {
    let (alive, count) = mpsc::channel::<()>();
    let builder = ThreadPoolBuilder::new()
        .num_threads(5)
        .start_handler(move |_| drop(alive.clone()))
        .thread_name(|index| {
            assert!(index < 3, "no name for {index}");
            format!("named-{index}")
        });
    catch_unwind(AssertUnwindSafe(|| builder.build())).unwrap_err();
    // Disconnected: everything that the pool owned is dropped, so its threads are gone.
    let limit = Duration::from_secs(60);
    assert_eq!(
        count.recv_timeout(limit),
        Err(mpsc::RecvTimeoutError::Disconnected)
    );
}

/// The handler that starts the threads may drop one after the pool has begun to end: the others end
/// nevertheless.
#[test]
fn a_thread_that_is_given_up_late_holds_up_no_end() {
    for (built, letters) in [(false, false), (true, false), (true, true)] {
        let (alive, count) = mpsc::channel::<()>();
        let mut late = None;
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .start_handler(move |_| drop(alive.clone()))
            .spawn_handler(|thread| {
                if thread.index() < 2 {
                    std::thread::spawn(|| thread.run());
                    return Ok(());
                }
                late = Some(thread);
                match built {
                    true => Ok(()),
                    false => Err(std::io::Error::other("no third thread")),
                }
            })
            .build();
        assert_eq!(pool.is_ok(), built);
        if let (Ok(pool), true) = (&pool, letters) {
            pool.spawn_broadcast(|_| ());
        }
        drop(pool);
        // So that the two are asleep.
        std::thread::sleep(Duration::from_millis(30));
        drop(late);
        let limit = Duration::from_secs(60);
        assert_eq!(
            count.recv_timeout(limit),
            Err(mpsc::RecvTimeoutError::Disconnected),
            "built: {built}, with letters: {letters}"
        );
    }
}

#[test]
fn a_cancelled_job_is_dropped_once_and_never_run() {
    struct Held<'a>(&'a AtomicUsize);
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    static RUN: AtomicUsize = AtomicUsize::new(0);
    let pool = pool(2);
    let mut cancelled = 0;
    for _ in 0..1_000 {
        let held = Held(&DROPPED);
        let job = pool.spawn_join(move || {
            let _held = held;
            RUN.fetch_add(1, SeqCst);
        });
        cancelled += usize::from(job.cancel());
    }
    pool.shutdown();
    assert_eq!(DROPPED.load(SeqCst), 1_000);
    assert_eq!(RUN.load(SeqCst) + cancelled, 1_000);
}

/// Whether a call of a loop that is made here counts as a part of another call.
fn is_part() -> bool {
    tine_pool::loops::Whole::start(0x51_0001, Some(1 << 20)).is_none()
}

#[test]
fn a_call_that_is_brought_to_a_pool_is_a_part_of_nothing() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    assert!(!pool.install(is_part));
    // On one processor the global pool has one thread.
    assert!(!is_part() || tine_pool::current_num_threads() == 1);
    assert!(pool.install(|| join(is_part, || ())).0);
    let mut task = false;
    pool.install(|| scope(|s| s.spawn(|_| task = is_part())));
    assert!(task);
    let one = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(one.install(is_part), "there is nothing to try");
}
