//! `blocking`: a thread that blocks inside it is replaced, and goes on when the call ends.

mod common;

use common::{Watch, alone, budget, ignore, until};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;
use tine_pool::{
    First, ThreadPoolBuilder, blocking, broadcast, current_num_threads, current_thread_index,
    in_place_scope, join, scope, select, spawn, spawn_async, spawn_join,
};

/// Waits for a message on behalf of another thread.
fn get<T>(receive: mpsc::Receiver<T>) -> T {
    blocking(|| receive.recv().unwrap())
}

#[test]
fn a_job_waits_for_what_it_spawned_in_a_pool_of_one() {
    let watch = Watch::new("a_job_waits_for_what_it_spawned_in_a_pool_of_one");
    let pool = watch.pool(1);
    for i in 0..200 {
        watch.step(i);
        let got = pool.install(|| {
            let (send, receive) = mpsc::channel();
            spawn(move || send.send(i).unwrap());
            blocking(|| receive.recv().unwrap())
        });
        assert_eq!(got, i);
    }
    pool.shutdown();
}

#[test]
fn what_comes_later_and_from_outside_is_run() {
    let watch = Watch::new("what_comes_later_and_from_outside_is_run");
    let pool = watch.pool(1);
    let (send, receive) = mpsc::channel();
    let inside = AtomicBool::new(false);
    thread::scope(|s| {
        let (pool, inside) = (&pool, &inside);
        s.spawn(move || {
            pool.install(move || {
                blocking(|| {
                    inside.store(true, SeqCst);
                    receive.recv().unwrap();
                });
            });
        });
        until(|| inside.load(SeqCst));
        pool.spawn(move || send.send(()).unwrap());
    });
}

#[test]
fn a_spare_thread_broadcasts_to_the_others() {
    let watch = Watch::new("a_spare_thread_broadcasts_to_the_others");
    let pool = watch.pool(1);
    let (tell, told) = mpsc::channel();
    for i in 0..100 {
        watch.step(i);
        let tell = tell.clone();
        pool.install(|| {
            let (send, receive) = mpsc::channel();
            spawn(move || {
                send.send(current_thread_index()).unwrap();
                tell.send(broadcast(|context| context.index())).unwrap();
            });
            // A spare thread, or the one that stands in for it since the last broadcast.
            let by = get(receive);
            assert!(by >= Some(1), "run by {by:?}");
        });
        assert_eq!(told.recv().unwrap(), [0]);
    }
}

/// The only thread blocks for a job that lies with its spare thread, which waits for the first thread's part of
/// a broadcast.
#[test]
fn a_spare_thread_that_broadcasts_is_replaced() {
    let watch = Watch::new("a_spare_thread_that_broadcasts_is_replaced");
    let pool = watch.pool(1);
    for i in 0..100 {
        watch.step(i);
        let got = pool.install(|| {
            let (send, receive) = mpsc::channel();
            spawn(move || {
                spawn(move || send.send(i).unwrap());
                broadcast(|_| ());
            });
            get(receive)
        });
        assert_eq!(got, i);
    }
}

#[test]
fn halves_of_a_join_may_wait_for_each_other() {
    let watch = Watch::new("halves_of_a_join_may_wait_for_each_other");
    let pool = watch.pool(1);
    for i in 0..100 {
        watch.step(i);
        let (send, receive) = mpsc::channel();
        pool.join(move || get(receive), move || send.send(()).unwrap());
        // And where the waiter is the thief of the other half, below joins of its own.
        let (send, receive) = mpsc::channel();
        let half = move || join(move || get(receive), || ()).0;
        pool.install(move || join(|| join(half, || ()), move || send.send(()).unwrap()));
    }
}

#[test]
fn tasks_of_a_scope_wait_for_each_other() {
    let watch = Watch::new("tasks_of_a_scope_wait_for_each_other");
    for size in [1, 2, 3] {
        let pool = watch.pool(size);
        let (send, receive) = mpsc::channel();
        pool.scope(move |s| {
            for _ in 0..20 {
                let send = send.clone();
                s.spawn(move |_| send.send(()).unwrap());
            }
            // Into the scope from inside `blocking`, too.
            blocking(|| {
                let send = send.clone();
                s.spawn(move |_| send.send(()).unwrap());
                (0..21).for_each(|_| receive.recv().unwrap());
            });
        });
    }
}

#[test]
fn many_at_once() {
    let watch = Watch::new("many_at_once");
    for size in [1, 2, 4] {
        let pool = watch.pool(size);
        for round in 0..20 {
            watch.step(round);
            // Each waits for the one before; the last one spawned wakes them all.
            let count = 60;
            let lines: Vec<_> = (0..=count).map(|_| mpsc::channel()).collect();
            let (sends, receives): (Vec<_>, Vec<_>) = lines.into_iter().unzip();
            let done = AtomicUsize::new(0);
            pool.scope(|s| {
                let mut receives = receives.into_iter();
                for send in &sends[1..] {
                    let (receive, send, done) = (receives.next().unwrap(), send.clone(), &done);
                    s.spawn(move |_| {
                        blocking(|| receive.recv().unwrap());
                        done.fetch_add(1, SeqCst);
                        send.send(()).unwrap();
                    });
                }
                s.spawn(|_| sends[0].send(()).unwrap());
                // The last line's receiver stays until all are done.
                let last = receives.next().unwrap();
                s.spawn(move |_| blocking(|| last.recv().unwrap()));
            });
            assert_eq!(done.load(SeqCst), count);
        }
        pool.shutdown();
    }
}

#[test]
fn no_index_inside_and_all_indices_apart() {
    let watch = Watch::new("no_index_inside_and_all_indices_apart");
    let pool = watch.pool(2);
    let taken: Vec<_> = (0..70).map(|_| AtomicBool::new(false)).collect();
    let enough = budget(500);
    while enough() {
        pool.scope(|s| {
            for i in 0..40 {
                let taken = &taken;
                s.spawn(move |_| {
                    assert_eq!(current_num_threads(), 2);
                    let index = current_thread_index().unwrap();
                    assert!(!taken[index].swap(true, SeqCst), "two on seat {index}");
                    if i % 3 == 0 {
                        blocking(|| {
                            assert_eq!(current_thread_index(), None);
                            thread::sleep(Duration::from_micros(50));
                        });
                    }
                    assert_eq!(current_thread_index(), Some(index));
                    assert!(taken[index].swap(false, SeqCst));
                });
            }
        });
    }
}

#[test]
fn nested_and_on_ordinary_threads_it_is_a_plain_call() {
    let watch = Watch::new("nested_and_on_ordinary_threads_it_is_a_plain_call");
    let local = std::rc::Rc::new(1);
    assert_eq!(blocking(|| *local + blocking(|| 1)), 2);
    let pool = watch.pool(1);
    let sum = pool.install(|| {
        let local = std::rc::Rc::new(1);
        // Inside it is an ordinary thread: to the pool, and to the global one.
        *local + blocking(|| blocking(|| pool.install(|| 10) + join(|| 100, || 1000).0))
    });
    assert_eq!(sum, 111);
}

#[test]
fn a_panic_goes_on() {
    let watch = Watch::new("a_panic_goes_on");
    let pool = watch.pool(1);
    for i in 0..50 {
        watch.step(i);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| blocking(|| panic!("inside")))
        }));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"inside"));
        // Caught on the way, with joins below: the seat is as it was.
        pool.install(|| {
            let index = current_thread_index();
            let caught = || catch_unwind(AssertUnwindSafe(|| blocking(|| panic!("caught"))));
            let (a, b) = join(|| (caught().is_err(), current_thread_index()), || 5);
            assert_eq!((a, b), ((true, index), 5));
        });
    }
    assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
}

#[test]
fn guests_are_replaced() {
    let watch = Watch::new("guests_are_replaced");
    // As many as there are seats, and more, each on a channel that only its own other half fills.
    let enough = budget(500);
    while enough() {
        watch.step(1);
        thread::scope(|s| {
            for _ in 0..current_num_threads() + 3 {
                s.spawn(|| {
                    let (send, receive) = mpsc::channel();
                    join(move || get(receive), move || send.send(()).unwrap());
                    let (send, receive) = mpsc::channel();
                    scope(move |s| {
                        s.spawn(move |_| send.send(()).unwrap());
                        blocking(|| receive.recv().unwrap());
                    });
                });
            }
        });
    }
}

/// A thread that comes back waits for no other thread, so it does not wait for a stranger that wants the lock
/// that was taken inside.
#[test]
fn a_lock_taken_inside_is_held_after() {
    let watch = Watch::new("a_lock_taken_inside_is_held_after");
    for size in [1, 2] {
        let pool = watch.pool(size);
        let lock = Mutex::new(0);
        let enough = budget(300);
        while enough() {
            pool.scope(|s| {
                for _ in 0..8 {
                    let lock = &lock;
                    s.spawn(move |_| {
                        let mut held = blocking(|| lock.lock().unwrap());
                        *held += 1;
                        ignore(join(thread::yield_now, thread::yield_now));
                    });
                    // A stranger to `blocking`.
                    s.spawn(move |_| *lock.lock().unwrap() += 1);
                }
            });
        }
    }
}

#[test]
fn spare_threads_end_with_the_pool() {
    let watch = Watch::new("spare_threads_end_with_the_pool");
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    for round in 0..30 {
        watch.step(round);
        let builder = ThreadPoolBuilder::new()
            .num_threads(2)
            .start_handler(|_| ignore(STARTED.fetch_add(1, SeqCst)))
            .exit_handler(|_| ignore(ENDED.fetch_add(1, SeqCst)));
        let pool = watch.watched(builder);
        let waiting = move || {
            let (send, receive) = mpsc::channel();
            spawn(move || send.send(()).unwrap());
            blocking(|| receive.recv().unwrap());
        };
        // Left to the pool's end.
        (0..10).for_each(|_| pool.spawn(waiting));
        pool.shutdown();
        assert_eq!(STARTED.load(SeqCst), ENDED.load(SeqCst));
    }
    assert!(STARTED.load(SeqCst) > 60, "there was no spare thread");
}

/// After all blocked threads are back, no more threads work than there are seats.
#[test]
fn spare_seats_are_closed_again() {
    let watch = Watch::new("spare_seats_are_closed_again");
    let pool = watch.pool(1);
    pool.install(|| {
        let (send, receive) = mpsc::channel();
        spawn(move || send.send(()).unwrap());
        blocking(|| receive.recv().unwrap());
    });
    // Between two jobs at the latest.
    until(|| {
        let spare = Mutex::new(0);
        pool.scope(|s| {
            for _ in 0..50 {
                s.spawn(|_| *spare.lock().unwrap() += current_thread_index().unwrap());
            }
        });
        spare.into_inner().unwrap() == 0
    });
}

/// All spare seats are taken by jobs whose calls of `blocking` are over. A thread that then blocks gets a seat
/// as soon as one of these jobs has ended.
#[test]
fn a_thread_that_found_no_spare_seat_is_replaced_later() {
    let watch = Watch::new("a_thread_that_found_no_spare_seat_is_replaced_later");
    let spares = if cfg!(miri) { 4 } else { 64 };
    let pool = watch.pool(1);
    let [begun, ended] = [const { AtomicUsize::new(0) }; 2];
    let [open, finish] = [const { AtomicBool::new(false) }; 2];
    thread::scope(|s| {
        let (pool, begun, ended, open, finish) = (&pool, &begun, &ended, &open, &finish);
        s.spawn(move || {
            pool.in_place_scope(|s| {
                for nth in 0..=spares {
                    // One after the other: each but the last blocks, and the next is a spare thread's.
                    until(|| begun.load(SeqCst) == nth);
                    s.spawn(move |_| {
                        begun.fetch_add(1, SeqCst);
                        let is_spare = current_thread_index() != Some(0);
                        if nth < spares {
                            blocking(|| until(|| open.load(SeqCst)));
                        }
                        if is_spare {
                            until(|| finish.load(SeqCst));
                        }
                        ended.fetch_add(1, SeqCst);
                    });
                }
            });
        });
        until(|| begun.load(SeqCst) == spares + 1);
        open.store(true, SeqCst);
        until(|| ended.load(SeqCst) == 1);
        let (send, receive) = mpsc::channel();
        let (inside, is_inside) = mpsc::channel();
        let waits = pool.spawn_join(move || {
            blocking(|| {
                inside.send(()).unwrap();
                receive.recv().unwrap()
            })
        });
        is_inside.recv().unwrap();
        finish.store(true, SeqCst);
        until(|| ended.load(SeqCst) == spares + 1);
        thread::sleep(Duration::from_millis(20));
        pool.spawn(move || send.send(7).unwrap());
        assert_eq!(waits.join().unwrap(), 7);
    });
}

/// Every spare seat is open for a thread that blocks, and idle. One more thread blocks. It gets a seat once the
/// others are back and at work; at the end all spare seats are closed.
#[test]
#[cfg(not(miri))]
fn a_thread_that_found_no_spare_seat_gets_one_that_nobody_used() {
    let watch = Watch::new("a_thread_that_found_no_spare_seat_gets_one_that_nobody_used");
    let pool = watch.pool(65);
    let (send, receive) = mpsc::channel();
    let counts = [const { AtomicUsize::new(0) }; 2];
    let flags = [const { AtomicBool::new(false) }; 2];
    let shared = Arc::new((counts, flags, Mutex::new(receive)));
    let at_hand = Arc::clone(&shared);
    let ([inside, working], [open, finish], _) = &*at_hand;
    // On the pool's own threads, each in its turn; and no caller waits, which would call for help.
    pool.spawn_broadcast(move |at| {
        let ([inside, working], [open, finish], receive) = &*shared;
        let nth = at.index();
        until(|| inside.load(SeqCst) == nth);
        blocking(|| {
            inside.fetch_add(1, SeqCst);
            if nth < 64 {
                until(|| open.load(SeqCst));
            } else {
                receive.lock().unwrap().recv().unwrap();
            }
        });
        working.fetch_add(1, SeqCst);
        until(|| finish.load(SeqCst));
    });
    until(|| inside.load(SeqCst) == 65);
    open.store(true, SeqCst);
    until(|| working.load(SeqCst) == 64);
    pool.spawn(move || send.send(()).unwrap());
    until(|| working.load(SeqCst) == 65);
    finish.store(true, SeqCst);
    let is_open = |line: &str| {
        let mut words = line
            .split_whitespace()
            .skip_while(|word| *word != "seat")
            .skip(1);
        let seat = words.next().and_then(|seat| seat.parse::<usize>().ok());
        seat.is_some_and(|seat| seat >= 65) && !line.contains("Closed")
    };
    until(|| !pool.picture().lines().any(is_open));
}

/// Nearly as many jobs as there are spare seats wait for each other, again and again: the previous round still
/// holds some seats.
#[test]
fn rounds_of_jobs_that_wait_for_each_other() {
    let watch = Watch::new("rounds_of_jobs_that_wait_for_each_other");
    let (jobs, rounds) = if cfg!(miri) { (8, 3) } else { (62, 20) };
    for threads in [1, 2] {
        let pool = watch.pool(threads);
        let shared = Arc::new((Barrier::new(jobs), AtomicUsize::new(0)));
        for _ in 0..jobs * rounds {
            let shared = Arc::clone(&shared);
            pool.spawn(move || {
                blocking(|| shared.0.wait());
                shared.1.fetch_add(1, SeqCst);
            });
        }
        until(|| shared.1.load(SeqCst) == jobs * rounds);
        watch.step(threads as u64);
    }
}

#[test]
fn pools_with_a_spawn_handler_have_no_spare_threads() {
    let watch = Watch::new("pools_with_a_spawn_handler_have_no_spare_threads");
    let builder = ThreadPoolBuilder::new()
        .num_threads(2)
        .spawn_handler(|thread| thread::Builder::new().spawn(|| thread.run()).map(drop));
    let pool = builder.build().unwrap();
    watch.step(1);
    // What the one has pushed is there for the other.
    let (send, receive) = mpsc::channel();
    pool.join(move || get(receive), move || send.send(()).unwrap());
    assert_eq!(pool.stats().seats.len(), 2);
}

/// The only thread of a pool that takes no guests waits for a lock. The thread that holds the lock joins a task
/// there.
#[test]
fn a_task_is_joined_under_a_lock_that_blocks_its_pool() {
    let watch = Watch::new("a_task_is_joined_under_a_lock_that_blocks_its_pool");
    let pool = watch.pool(1);
    let lock = Mutex::new(());
    thread::scope(|s| {
        let held = lock.lock().unwrap();
        let (begin, begun) = mpsc::channel();
        let (pool, lock) = (&pool, &lock);
        s.spawn(move || {
            pool.install(move || {
                begin.send(()).unwrap();
                drop(lock.lock().unwrap());
            });
        });
        begun.recv().unwrap();
        assert_eq!(pool.spawn_join(|| 7).join().unwrap(), 7);
        drop(held);
    });
}

/// More threads are inside `blocking` than the pool replaces, and each waits for the pool by `wait`. Only the
/// waiter itself may be left to run what it waits for.
fn all_wait_inside(name: &'static str, rounds: u64, wait: fn(u64)) {
    alone(name, 2, |watch| {
        for round in 0..rounds {
            watch.step(round);
            scope(|s| (0..300).for_each(|task| s.spawn(move |_| blocking(|| wait(task)))));
        }
    });
}

#[test]
fn all_wait_inside_for_handles() {
    all_wait_inside("all_wait_inside_for_handles", 20, |task| {
        assert_eq!(spawn_join(move || task).join().unwrap(), task);
    });
}

#[test]
fn all_wait_inside_for_the_first_of_two() {
    all_wait_inside("all_wait_inside_for_the_first_of_two", 20, |task| {
        let first = select(spawn_async(move || task), spawn_async(move || task)).join();
        match first {
            First::Left(same) | First::Right(same) => assert_eq!(same.unwrap().unwrap(), task),
        }
    });
}

#[test]
fn all_wait_inside_for_scopes_in_place() {
    all_wait_inside("all_wait_inside_for_scopes_in_place", 20, |_| {
        let done = AtomicUsize::new(0);
        in_place_scope(|s| {
            for _ in 0..3 {
                s.spawn(|_| ignore(done.fetch_add(1, SeqCst)));
            }
        });
        assert_eq!(done.load(SeqCst), 3);
    });
}

#[test]
fn all_wait_inside_for_scopes() {
    all_wait_inside("all_wait_inside_for_scopes", 20, |_| {
        let done = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..3 {
                s.spawn(|_| ignore(done.fetch_add(1, SeqCst)));
            }
        });
        assert_eq!(done.load(SeqCst), 3);
    });
}

#[test]
fn all_wait_inside_for_broadcasts() {
    all_wait_inside("all_wait_inside_for_broadcasts", 3, |_| {
        assert_eq!(broadcast(|context| context.index()), [0, 1]);
    });
}

/// A thread waits inside `blocking` for a running task, and that task for a task that no thread is left to run:
/// the waiter must not run it, since as far as can be seen it does not depend on it.
#[test]
fn who_waits_inside_looks_after_the_others() {
    alone("who_waits_inside_looks_after_the_others", 1, |_| {
        let done = AtomicUsize::new(0);
        scope(|s| {
            s.spawn(|s| {
                blocking(|| {
                    let (send, receive) = mpsc::channel();
                    let (begin, begun) = mpsc::channel();
                    let task = spawn_join(move || {
                        begin.send(()).unwrap();
                        receive.recv().unwrap()
                    });
                    begun.recv().unwrap();
                    s.spawn(move |_| send.send(7).unwrap());
                    assert_eq!(task.join().unwrap(), 7);
                    done.fetch_add(1, SeqCst);
                });
            });
        });
        assert_eq!(done.load(SeqCst), 1);
    });
}

/// A thread inside `blocking` is a guest of the global pool, and from there calls the pool that it blocks in,
/// and waits for it. No other thread has that pool: it has one seat, and no spare seats.
/// Inside `blocking` a call of the global pool goes to the seat that the thread keeps, though other seats are
/// free: a broadcast, its own or another thread's, writes to that seat too.
#[test]
fn a_call_inside_reads_the_letters_of_its_seat() {
    alone("a_call_inside_reads_the_letters_of_its_seat", 3, |watch| {
        for round in 0..50 {
            watch.step(round);
            let inside = || join(|| broadcast(|_| 1).len(), || ()).0;
            assert_eq!(join(|| blocking(inside), || ()).0, 3);
            let of_a_task = || {
                let mut sum = 0;
                scope(|s| s.spawn(|_| sum = broadcast(|_| 1).len()));
                sum
            };
            assert_eq!(join(|| blocking(of_a_task), || ()).0, 3);
            assert_eq!(current_thread_index(), None);
        }
    });
}

#[test]
fn a_guest_inside_comes_back_to_its_seat() {
    alone("a_guest_inside_comes_back_to_its_seat", 2, |watch| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(1)
            .spawn_handler(|thread| thread::Builder::new().spawn(|| thread.run()).map(drop))
            .build()
            .unwrap();
        let from_inside = |verb: &(dyn Fn() -> u64 + Sync)| {
            let inside = pool.install(|| blocking(|| join(verb, || ()).0));
            assert_eq!(inside, 7);
        };
        watch.step(1);
        from_inside(&|| pool.install(|| 7));
        watch.step(2);
        from_inside(&|| pool.scope(|_| 7));
        watch.step(3);
        from_inside(&|| pool.spawn_join(|| 7).join().unwrap());
        watch.step(4);
        from_inside(&|| pool.broadcast(|_| 7)[0]);
        watch.step(5);
        from_inside(&|| {
            let mut seven = 0;
            pool.in_place_scope(|s| s.spawn(|_| seven = 7));
            seven
        });
        watch.step(6);
        let seven = || pool.spawn_join(|| 7).abort_on_drop();
        from_inside(&|| match select(seven(), seven()).join() {
            First::Left(seven) | First::Right(seven) => seven.unwrap(),
        });
        // The guest's other half is open to the global pool's threads while its own waits for it.
        watch.step(7);
        let (send, receive) = mpsc::channel();
        let receive = Mutex::new(receive);
        let get = || pool.install(|| receive.lock().unwrap().recv().unwrap());
        let seven = pool.install(|| blocking(|| join(get, || send.send(7).unwrap()).0));
        assert_eq!(seven, 7);
    });
}

/// A thread inside `blocking` is a guest of the global pool, comes back to the pool that it blocks in, blocks
/// there once more, and calls the global pool, where it also has a seat: no other thread reads the letters of
/// that seat.
#[test]
fn a_guest_that_came_back_comes_back_to_where_it_was_a_guest() {
    let name = "a_guest_that_came_back_comes_back_to_where_it_was_a_guest";
    alone(name, 2, |watch| {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let from_farther = |verb: &(dyn Fn() + Sync)| {
            let farther = || pool.install(|| blocking(verb));
            pool.install(|| blocking(|| join(farther, || ())));
        };
        watch.step(1);
        from_farther(&|| assert_eq!(broadcast(|context| context.index()), [0, 1]));
        watch.step(2);
        // Whichever half runs here does so on the seat that the thread has, or on another thread's.
        from_farther(&|| {
            join(
                || assert!(current_thread_index().is_some_and(|index| index < 2)),
                || assert!(current_thread_index().is_some_and(|index| index < 2)),
            );
        });
        watch.step(3);
        from_farther(&|| {
            let seven = spawn_join(|| 7).join().unwrap();
            assert_eq!(seven, 7);
        });
        watch.step(4);
        // And back again, level by level.
        from_farther(&|| {
            from_farther(&|| assert_eq!(broadcast(|_| 7), [7, 7]));
        });
    });
}

/// A thread on a spare seat blocks when the thread for which the seat was opened is back, and waits for it:
/// another spare thread has to come, and to stay.
#[test]
fn a_spare_thread_that_blocks_is_replaced() {
    alone("a_spare_thread_that_blocks_is_replaced", 1, |watch| {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        watch.step(1);
        let task = |begun: mpsc::Sender<()>, back: mpsc::Receiver<()>| {
            begun.send(()).unwrap();
            back.recv().unwrap();
            let (send, receive) = mpsc::channel();
            spawn(move || send.send(7).unwrap());
            assert_eq!(blocking(|| receive.recv().unwrap()), 7);
        };
        pool.scope(|s| {
            let (begun, has_begun) = mpsc::channel();
            let (back, is_back) = mpsc::channel();
            s.spawn(move |_| task(begun, is_back));
            blocking(|| has_begun.recv().unwrap());
            back.send(()).unwrap();
        });
    });
}

/// Spare threads that were woken for calls that are over are about to leave; one of them stays for the next
/// call.
#[test]
fn calls_in_quick_succession() {
    alone("calls_in_quick_succession", 1, |watch| {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for round in 0..20 {
            watch.step(round);
            pool.install(|| {
                for _ in 0..200 {
                    blocking(|| pool.spawn(|| ()));
                }
                let (send, receive) = mpsc::channel();
                spawn(move || send.send(7).unwrap());
                assert_eq!(get(receive), 7);
            });
        }
    });
}

/// Inside `blocking` a thread opens a scope, and a call that runs on its own seat spawns into that scope.
/// Threads take counts in advance where they spawn: this thread must not wait for the counts that it has taken
/// on its own seat.
#[test]
fn a_scope_inside_is_not_kept_waiting_by_its_own_seat() {
    let watch = Watch::new("a_scope_inside_is_not_kept_waiting_by_its_own_seat");
    for threads in [1, 2] {
        let pool = Arc::new(watch.pool(threads));
        for i in 0..if cfg!(miri) { 3 } else { 100 } {
            watch.step(i);
            let (send, receive) = mpsc::channel();
            let inner = Arc::clone(&pool);
            pool.spawn(move || {
                let mut sum = [0; 3];
                let [a, b, c] = sum.each_mut();
                blocking(|| {
                    inner.in_place_scope(|s| {
                        inner.install(|| s.spawn(|_| *a = 1));
                        inner.join(|| s.spawn(|_| *b = 2), || s.spawn(|_| *c = 3));
                    });
                });
                send.send(sum).unwrap();
            });
            assert_eq!(receive.recv().unwrap(), [1, 2, 3]);
        }
    }
}
