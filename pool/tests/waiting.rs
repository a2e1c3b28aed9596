//! Locks held during parallel calls, and closures that wait for each other: never a hang.

mod common;

use common::{Random, Watch, budget, ignore};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::Duration;
use tine_pool::{
    ThreadPoolBuilder, blocking, current_thread_index, join, scope, scope_fifo, yield_now,
};

/// Parallel work of some kind, some of it slow enough to be stolen.
fn nested(kind: u64) {
    let slow = || thread::sleep(Duration::from_micros(30));
    let tree = || join(|| join(slow, || ()), || join(|| (), || ()));
    match kind % 4 {
        0 => ignore(join(slow, slow)),
        1 => ignore(join(tree, tree)),
        2 => scope(|s| (0..3).for_each(|_| s.spawn(move |_| slow()))),
        _ => scope_fifo(|s| {
            for _ in 0..2 {
                s.spawn_fifo(move |s| s.spawn_fifo(move |_| ignore(tree())));
            }
        }),
    }
}

/// Runs `task` many times at once on pools of several sizes, spawned and joined.
fn on_all_sizes(test: &'static str, task: impl Fn(u64) + Sync) {
    let watch = Watch::new(test);
    for size in [1, 2, 3, 8, 16] {
        let pool = watch.pool(size);
        let more = budget(500);
        while more() {
            pool.scope(|s| {
                for i in 0..20 {
                    let task = &task;
                    s.spawn(move |_| ignore(join(|| task(i), || task(i + 1))));
                }
            });
        }
    }
    // And as guests.
    let more = budget(500);
    thread::scope(|s| {
        for i in 0..6 {
            let (task, more) = (&task, &more);
            s.spawn(move || {
                while more() {
                    join(|| task(i), || task(i / 2));
                }
            });
        }
    });
}

#[test]
fn a_mutex_is_held_across_parallel_calls() {
    let lock = Mutex::new(0);
    on_all_sizes("a_mutex_is_held_across_parallel_calls", |kind| {
        let mut held = lock.lock().unwrap();
        *held += 1;
        nested(kind);
    });
}

#[test]
fn a_read_write_lock_is_held_across_parallel_calls() {
    let lock = RwLock::new(0);
    on_all_sizes("a_read_write_lock_is_held_across_parallel_calls", |kind| {
        if kind % 3 == 0 {
            let mut held = lock.write().unwrap();
            nested(kind);
            *held += 1;
        } else {
            let held = lock.read().unwrap();
            nested(kind);
            drop(held);
        }
    });
}

#[test]
fn a_cell_of_the_thread_is_borrowed_across_parallel_calls() {
    thread_local! { static CELL: RefCell<u64> = const { RefCell::new(0) }; }
    on_all_sizes(
        "a_cell_of_the_thread_is_borrowed_across_parallel_calls",
        |kind| {
            CELL.with_borrow_mut(|cell| {
                *cell += 1;
                nested(kind);
            });
        },
    );
}

#[test]
fn something_is_made_once_in_parallel() {
    let made = AtomicUsize::new(0);
    let cells: [OnceLock<u64>; 8] = [const { OnceLock::new() }; 8];
    let generation = Mutex::new(cells);
    on_all_sizes("something_is_made_once_in_parallel", |kind| {
        let fresh: OnceLock<u64> = OnceLock::new();
        let make = || {
            *fresh.get_or_init(|| {
                nested(kind);
                made.fetch_add(1, SeqCst);
                kind
            })
        };
        // Both halves may meet in the initialiser; and others hold their own locks.
        assert_eq!(join(make, make), (kind, kind));
        if let Ok(cells) = generation.try_lock() {
            cells[kind as usize % 8].get_or_init(|| {
                nested(kind);
                kind
            });
        }
    });
    assert!(made.into_inner() > 0);
}

#[test]
fn halves_wait_for_each_other_asleep_and_awake() {
    let watch = Watch::new("halves_wait_for_each_other_asleep_and_awake");
    let mut random = Random::new(1);
    for size in [2, 3, 4, 8, 16] {
        let pool = watch.pool(size);
        let more = budget(800);
        for round in 0.. {
            let barrier = Barrier::new(2);
            pool.join(|| barrier.wait(), || barrier.wait());
            if random.below(8) == 0 {
                thread::sleep(Duration::from_micros(random.below(300)));
            }
            if round >= 1000 || !more() {
                break;
            }
        }
    }
}

/// Joins nested `depth` deep; the halves of the innermost join wait for each other.
fn wait_within(depth: usize, block: Option<&Barrier>) {
    if depth == 0 {
        let wait = || block.map(Barrier::wait);
        join(wait, wait);
    } else {
        join(|| wait_within(depth - 1, block), || ());
    }
}

#[test]
fn sites_proven_short_block_at_any_depth() {
    let watch = Watch::new("sites_proven_short_block_at_any_depth");
    for size in [2, 3, 8] {
        let pool = watch.pool(size);
        let more = budget(800);
        while more() {
            for depth in [0, 3, 12, 40] {
                pool.install(|| {
                    for _ in 0..300 {
                        wait_within(depth, None);
                    }
                    wait_within(depth, Some(&Barrier::new(2)));
                });
            }
        }
    }
    // The same from ordinary threads, on the global pool.
    if tine_pool::current_num_threads() < 2 {
        return;
    }
    let more = budget(1500);
    while more() {
        for depth in [0, 3, 12, 40] {
            for _ in 0..300 {
                wait_within(depth, None);
            }
            wait_within(depth, Some(&Barrier::new(2)));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_short_site_blocks_while_the_one_that_looked_after_it_is_busy() {
    let watch = Watch::new("a_short_site_blocks_while_the_one_that_looked_after_it_is_busy");
    for size in [3, 4, 8] {
        let pool = watch.pool(size);
        let more = budget(800);
        while more() {
            let (send, receive) = mpsc::channel::<()>();
            let receive = Mutex::new(receive);
            pool.install(|| {
                for _ in 0..300 {
                    wait_within(2, None);
                }
                // Busy until the join is over: all seats but two.
                for _ in 0..size - 2 {
                    wait_within(2, None);
                }
                scope(|s| {
                    s.spawn(|_| ignore(receive.lock().unwrap().recv()));
                    thread::sleep(Duration::from_micros(200));
                    for _ in 0..5 {
                        wait_within(2, None);
                    }
                    wait_within(2, Some(&Barrier::new(2)));
                    drop(send);
                });
            });
        }
    }
}

/// The last jobs of a pool call the pool whose only thread ends it.
#[test]
fn a_pool_is_shut_down_by_a_thread_that_its_jobs_need() {
    let watch = Watch::new("a_pool_is_shut_down_by_a_thread_that_its_jobs_need");
    for aside in [false, true] {
        let (here, there) = (Arc::new(watch.pool(1)), watch.pool(1));
        let (send, receive) = mpsc::channel();
        for _ in 0..3 {
            let (here, send) = (Arc::clone(&here), send.clone());
            there.spawn(move || here.install(|| send.send(current_thread_index()).unwrap()));
        }
        drop(send);
        here.install(|| match aside {
            true => blocking(|| there.shutdown()),
            false => there.shutdown(),
        });
        assert_eq!(receive.iter().count(), 3);
        assert_eq!(here.install(current_thread_index), Some(0));
    }
}

#[test]
fn tasks_of_a_scope_all_wait_for_each_other() {
    let watch = Watch::new("tasks_of_a_scope_all_wait_for_each_other");
    for size in [2, 3, 4, 8, 16] {
        let pool = watch.pool(size);
        let more = budget(600);
        for round in 0..1000 {
            let barrier = Barrier::new(size);
            let wait = || ignore(barrier.wait());
            match round % 3 {
                0 => pool.scope(|s| (0..size).for_each(|_| s.spawn(|_| wait()))),
                1 => pool.scope_fifo(|s| (0..size).for_each(|_| s.spawn_fifo(|_| wait()))),
                _ => pool.in_place_scope(|s| (0..size).for_each(|_| s.spawn(|_| wait()))),
            }
            if !more() {
                break;
            }
        }
    }
}

#[test]
fn a_spawner_waits_for_its_job_by_a_channel() {
    let watch = Watch::new("a_spawner_waits_for_its_job_by_a_channel");
    for size in [2, 3, 8] {
        let pool = watch.pool(size);
        let more = budget(600);
        for round in 0..1000 {
            pool.install(|| {
                let (send, receive) = mpsc::channel();
                match round % 2 {
                    0 => tine_pool::spawn(move || send.send(round).unwrap()),
                    _ => tine_pool::spawn_fifo(move || send.send(round).unwrap()),
                }
                assert_eq!(receive.recv(), Ok(round));
            });
            if !more() {
                break;
            }
        }
    }
}

#[test]
fn a_spawner_at_a_short_site_waits_by_a_channel() {
    let watch = Watch::new("a_spawner_at_a_short_site_waits_by_a_channel");
    let pool = watch.pool(2);
    let more = budget(600);
    while more() {
        pool.install(|| {
            for _ in 0..100 {
                wait_within(1, None);
            }
            join(
                || {
                    let (send, receive) = mpsc::channel();
                    tine_pool::spawn(move || send.send(1).unwrap());
                    assert_eq!(receive.recv(), Ok(1));
                },
                || (),
            );
        });
    }
}

/// The thread of seat 0, from which calls would go on to the others, is the caller itself, or is busy until the
/// others have come.
#[test]
fn threads_that_sleep_come_to_a_broadcast_without_the_first() {
    let watch = Watch::new("threads that sleep come to a broadcast without the first");
    let pool = ThreadPoolBuilder::new().num_threads(7).build().unwrap();
    let pause = || thread::sleep(Duration::from_millis(2));
    for _ in 0..20 {
        let all = pool.broadcast(|context| {
            let first = context.index() == 0;
            first.then(|| {
                pause();
                pool.broadcast(|context| context.index())
            })
        });
        assert_eq!(all[0].as_deref(), Some(&[0, 1, 2, 3, 4, 5, 6][..]));
        pause();
        let (send, receive) = mpsc::channel();
        let receive = Mutex::new(receive);
        pool.broadcast(|context| match context.index() {
            0 => assert_eq!(receive.lock().unwrap().iter().take(6).count(), 6),
            _ => send.clone().send(()).unwrap(),
        });
        pause();
    }
    drop(watch);
}

#[test]
fn broadcasts_meet() {
    let watch = Watch::new("broadcasts_meet");
    for size in [1, 2, 5] {
        let pool = watch.pool(size);
        let more = budget(500);
        while more() {
            let barrier = Barrier::new(size);
            pool.broadcast(|_| ignore(barrier.wait()));
            let count = AtomicUsize::new(0);
            pool.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|_| {
                        let inner = tine_pool::broadcast(|_| ignore(count.fetch_add(1, SeqCst)));
                        assert_eq!(inner.len(), size);
                    });
                }
                s.spawn_broadcast(|_, _| ignore(count.fetch_add(1, SeqCst)));
            });
            assert_eq!(count.into_inner(), 4 * size);
        }
    }
    let more = budget(1000);
    let n = tine_pool::current_num_threads();
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                while more() {
                    let (a, b) = join(
                        || tine_pool::broadcast(|c| c.index()).len(),
                        || tine_pool::broadcast(|c| c.index()).len(),
                    );
                    assert_eq!((a, b), (n, n));
                }
            });
        }
    });
}

/// Scopes whose tasks lie above each other's: the waiters move strangers out of their way to the injector,
/// again and again. No job may grow, nest deeper or be lost because of that.
#[test]
fn strangers_are_moved_many_times() {
    let watch = Watch::new("strangers_are_moved_many_times");
    for size in [1, 2, 3, 8] {
        let pool = watch.pool(size);
        let run = AtomicUsize::new(0);
        let mut spawned = 0;
        let more = budget(700);
        while more() {
            watch.step(spawned as u64);
            // An outer scope's tasks are the strangers of the inner ones.
            pool.scope(|outer| {
                for i in 0..8 {
                    let run = &run;
                    outer.spawn(move |outer| {
                        for _ in 0..3 {
                            scope(|inner| {
                                for _ in 0..3 {
                                    inner.spawn(move |_| {
                                        // Above the inner scope's own tasks, on whatever seat.
                                        outer.spawn(move |_| ignore(run.fetch_add(1, SeqCst)));
                                        nested(i);
                                    });
                                    outer.spawn(move |_| ignore(run.fetch_add(1, SeqCst)));
                                }
                            });
                        }
                    });
                }
            });
            spawned += 8 * 3 * 3 * 2;
            assert_eq!(run.load(SeqCst), spawned);
        }
    }
}

/// A job that lay on the seat before is run inside a scope, and makes room for a task of the scope, which no
/// other thread is there to run.
#[test]
fn a_scope_finds_its_task_in_the_place_of_an_older_job() {
    let watch = Watch::new("a_scope_finds_its_task_in_the_place_of_an_older_job");
    let pool = watch.pool(1);
    let ran = AtomicUsize::new(0);
    pool.install(|| {
        for fifo in [false, true] {
            tine_pool::spawn(|| ());
            if fifo {
                scope_fifo(|s| {
                    tine_pool::yield_local();
                    s.spawn_fifo(|_| ignore(ran.fetch_add(1, SeqCst)));
                });
            } else {
                scope(|s| {
                    tine_pool::yield_local();
                    s.spawn(|_| ignore(ran.fetch_add(1, SeqCst)));
                });
            }
        }
    });
    assert_eq!(ran.into_inner(), 2);
}

/// Waits for a flag as user code that knows nothing of the pool does.
fn spin_until(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        thread::sleep(Duration::from_micros(200));
    }
}

/// The thief's halves wait for each other, and the only other thread is the one that waits for the thief: so
/// that thread publishes the half that lies private.
#[test]
fn a_waiter_publishes_for_the_thief_that_it_waits_for() {
    let watch = Watch::new("a_waiter_publishes_for_the_thief_that_it_waits_for");
    let pool = watch.pool(2);
    for _ in 0..5 {
        let (stolen, stuck, other_half) = (
            AtomicBool::new(false),
            AtomicBool::new(false),
            AtomicBool::new(false),
        );
        pool.join(
            || spin_until(&stuck),
            || {
                stolen.store(true, SeqCst);
                // The threads that asked for work have got it: jobs that are pushed from here on stay private.
                (0..50).for_each(|_| ignore(join(|| (), || ())));
                join(
                    || {
                        stuck.store(true, SeqCst);
                        spin_until(&other_half);
                    },
                    || other_half.store(true, SeqCst),
                )
            },
        );
        assert!(stolen.into_inner());
    }
}

/// A thread that helps its thief takes no job of the thief's that is older than what it waits for: such a job
/// takes a lock that the waiter holds.
#[test]
fn a_waiter_leaves_the_older_jobs_of_its_thief() {
    let watch = Watch::new("a_waiter_leaves_the_older_jobs_of_its_thief");
    let pool = watch.pool(2);
    for _ in 0..3 {
        let lock = &Mutex::new(());
        let [begun, held, helped] = &[const { AtomicBool::new(false) }; 3];
        let older = || drop(lock.lock().expect("no panic"));
        // What the other thread takes out of the scope: it holds the lock across a join, and waits
        // for the half that the owner of the scope has helped it with.
        let task = || {
            begun.store(true, SeqCst);
            let guard = lock.lock().expect("no panic");
            held.store(true, SeqCst);
            join(
                || spin_until(helped),
                || {
                    helped.store(true, SeqCst);
                    thread::sleep(Duration::from_millis(60));
                },
            );
            drop(guard);
        };
        let younger = || {
            (0..50).for_each(|_| ignore(join(|| (), || ())));
            scope(|s| {
                s.spawn(|_| task());
                // Until the other thread has it. (It may also be this one that runs it, in the end.)
                for _ in 0..500 {
                    if begun.load(SeqCst) {
                        return spin_until(held);
                    }
                    thread::sleep(Duration::from_micros(200));
                }
                helped.store(true, SeqCst);
            });
        };
        pool.join(younger, older);
    }
}

/// The only thread of a pool waits for another pool, where a job waits for a task of the first pool. The waiter
/// is asleep by then, and no other thread can run the task.
#[test]
fn a_worker_that_waits_for_another_pool_is_told_of_tasks_from_there() {
    let watch = Watch::new("a_worker_that_waits_for_another_pool_is_told_of_tasks_from_there");
    for guests in [true, false] {
        let new = || watch.watched(ThreadPoolBuilder::new().num_threads(1).guests(guests));
        let (home, other) = (new(), new());
        for many in [true, false] {
            let job = || {
                thread::sleep(Duration::from_millis(20));
                let (tell, told) = mpsc::channel();
                let task = move || tell.send(()).unwrap();
                match many {
                    true => home.spawn_many([task]),
                    false => home.spawn(task),
                }
                told.recv().unwrap();
            };
            // In a task, so that no ordinary thread has the seat.
            home.scope(|s| s.spawn(|_| other.install(job)));
        }
    }
}

/// Tasks that come from outside the pool, and that the owner of their scope takes together with the task that
/// it runs: they then lie on its own seat, though no thread pushed them there.
#[test]
fn an_owner_finds_the_tasks_that_it_has_brought_home() {
    let watch = Watch::new("an_owner_finds_the_tasks_that_it_has_brought_home");
    for guests in [true, false] {
        let pool = watch.watched(ThreadPoolBuilder::new().num_threads(1).guests(guests));
        let done = AtomicUsize::new(0);
        let one = || ignore(done.fetch_add(1, SeqCst));
        pool.scope(|s| {
            thread::scope(|t| {
                t.spawn(|| (0..8).for_each(|_| s.spawn(|_| one())));
            });
            yield_now();
            // An inner scope, to which none of these tasks belongs.
            scope(|s| s.spawn(|_| one()));
        });
        assert_eq!(done.into_inner(), 9);
    }
}

/// The same for tasks that it has stolen back from another seat.
#[test]
fn an_owner_finds_the_tasks_that_it_has_stolen_back() {
    let watch = Watch::new("an_owner_finds_the_tasks_that_it_has_stolen_back");
    let pool = watch.pool(2);
    for _ in 0..20 {
        let [there, back] = &[const { AtomicBool::new(false) }; 2];
        let done = &AtomicUsize::new(0);
        pool.scope(|s| {
            thread::scope(|t| {
                t.spawn(|| {
                    // The other thread takes this, pushes tasks, and runs none of them before the owner has run
                    // all.
                    s.spawn(move |s| {
                        for _ in 0..8 {
                            s.spawn(move |_| {
                                back.store(done.fetch_add(1, SeqCst) == 7, SeqCst);
                            });
                        }
                        there.store(true, SeqCst);
                        spin_until(back);
                    });
                });
            });
            spin_until(there);
            yield_now();
        });
        assert_eq!(done.load(SeqCst), 8);
    }
}

/// A thread that waits for a job has tasks of that job on its own seat: it took them together with a task that
/// it ran.
#[test]
fn a_waiter_runs_what_it_has_brought_home_of_its_thief() {
    let watch = Watch::new("a_waiter_runs_what_it_has_brought_home_of_its_thief");
    let pool = watch.pool(2);
    for _ in 0..5 {
        let [there, taken] = &[const { AtomicBool::new(false) }; 2];
        let done = &AtomicUsize::new(0);
        let thief = || {
            scope(|s| {
                (0..8).for_each(|_| s.spawn(|_| ignore(done.fetch_add(1, SeqCst))));
                there.store(true, SeqCst);
                while done.load(SeqCst) < 8 {
                    thread::sleep(Duration::from_micros(200));
                }
            });
        };
        let waiter = || {
            spin_until(there);
            yield_now();
            taken.store(true, SeqCst);
        };
        pool.join(waiter, thief);
        assert!(taken.load(SeqCst));
    }
}

/// A third thread has tasks of the job that a thread waits for: it took them together with a task that waits
/// for them, as the thief does.
#[test]
fn a_waiter_runs_what_others_have_stolen_of_its_thief() {
    let watch = Watch::new("a_waiter_runs_what_others_have_stolen_of_its_thief");
    let pool = watch.pool(3);
    for _ in 0..5 {
        let [begun, there, taken] = &[const { AtomicBool::new(false) }; 3];
        let done = &AtomicUsize::new(0);
        let all = || {
            while done.load(SeqCst) < 7 {
                thread::sleep(Duration::from_micros(200));
            }
        };
        let thief = || {
            scope(|s| {
                // Keeps the third thread until all others are there.
                s.spawn(|_| {
                    begun.store(true, SeqCst);
                    spin_until(there);
                });
                spin_until(begun);
                for _ in 0..8 {
                    s.spawn(|_| match taken.swap(true, SeqCst) {
                        false => all(),
                        true => ignore(done.fetch_add(1, SeqCst)),
                    });
                }
                there.store(true, SeqCst);
                all();
            });
        };
        pool.join(|| spin_until(taken), thief);
        assert_eq!(done.load(SeqCst), 7);
    }
}
