//! A thread that waits may run whatever its wait depends on, however far removed: tasks of scopes in tasks of
//! scopes, halves of halves that other threads have taken. In each of these programs there is a job that
//! everything depends on, and a single thread that is free to run it and that waits farther up.

mod common;

use common::Watch;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tine_pool::loops::{self, Part};
use tine_pool::{FnContext, ThreadPoolBuilder, broadcast, join, join_context, scope, spawn_join};

const ROUNDS: usize = if cfg!(miri) { 2 } else { 10 };

/// Something that threads wait for in the middle of user code.
#[derive(Default)]
struct Flag(AtomicBool);

impl Flag {
    fn set(&self) {
        self.0.store(true, SeqCst);
    }

    fn wait(&self) {
        while !self.0.load(SeqCst) {
            thread::yield_now();
        }
    }
}

/// Time for other threads to begin what waits for this thread.
fn pause() {
    thread::sleep(Duration::from_millis(2));
}

/// Below `deep` joins, two halves, the first of which waits for the second. That sets `done` too.
fn halves(deep: usize, done: &Flag) {
    if deep > 0 {
        join(|| halves(deep - 1, done), || ());
        return;
    }
    let flag = Flag::default();
    join(
        || flag.wait(),
        || {
            done.set();
            flag.set();
        },
    );
}

/// Calls `body` in a task of a scope in a task of a scope, and so on.
fn scopes(count: usize, body: &(dyn Fn() + Sync)) {
    match count {
        0 => body(),
        _ => scope(|s| s.spawn(|_| scopes(count - 1, body))),
    }
}

/// Runs `program` with halves of several depths in pools of `least` threads and more.
fn goes_on(name: &str, least: usize, program: fn(usize, &Flag)) {
    for threads in least..=least + 1 {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        // Under Miri no thread publishes for another.
        let depths: &[usize] = if cfg!(miri) { &[0] } else { &[0, 1, 3, 12] };
        for &deep in depths {
            let _watch = Watch::new(format!("{name}, {threads} threads, {deep} deep"));
            for _ in 0..ROUNDS {
                pool.install(|| program(deep, &Flag::default()));
            }
        }
    }
}

#[test]
fn a_scopes_waiter_helps_a_task_of_a_scope_in_a_task() {
    goes_on("a scope in a scope", 2, |deep, done| {
        scope(|s| {
            s.spawn(|_| scopes(1, &|| halves(deep, done)));
            pause();
        });
    });
    goes_on("scopes in a scope", 2, |deep, done| {
        scope(|s| {
            s.spawn(|_| scopes(20, &|| halves(deep, done)));
            pause();
        });
    });
}

/// Calls `body` in a task that always runs on the other thread, which calls it in such a task, and so on: two
/// threads in turns.
fn in_turns(count: usize, body: &(dyn Fn() + Sync)) {
    if count == 0 {
        return body();
    }
    let begun = Flag::default();
    scope(|s| {
        s.spawn(|_| {
            begun.set();
            in_turns(count - 1, body);
        });
        begun.wait();
    });
}

#[test]
#[cfg_attr(miri, ignore = "a seat tells of a few jobs only there")]
fn a_waiter_climbs_past_many_jobs() {
    goes_on("behind scopes", 2, |deep, done| {
        let halves = || {
            pause();
            scopes(1, &|| halves(deep, done));
        };
        scopes(10, &|| in_turns(2, &halves));
    });
    goes_on("in turns", 2, |deep, done| {
        in_turns(20, &|| {
            pause();
            scopes(1, &|| halves(deep, done));
        });
    });
}

#[test]
fn a_waiter_helps_a_task_that_a_third_thread_has_taken() {
    goes_on("of a half", 3, |deep, done| {
        let other = || {
            scope(|s| {
                s.spawn(|_| halves(deep, done));
                done.wait();
            });
        };
        join(pause, other);
    });
    goes_on("of a task", 3, |deep, done| {
        scope(|s| {
            s.spawn(|_| {
                scope(|s| {
                    s.spawn(|_| halves(deep, done));
                    done.wait();
                });
            });
            pause();
        });
    });
}

#[test]
fn a_waiter_helps_a_half_that_a_third_thread_has_taken() {
    goes_on("of a task", 3, |deep, done| {
        scope(|s| {
            s.spawn(|_| _ = join(|| done.wait(), || halves(deep, done)));
            pause();
        });
    });
    goes_on("of a half", 3, |deep, done| {
        join(pause, || join(|| done.wait(), || halves(deep, done)));
    });
    goes_on("with scopes between", 3, |deep, done| {
        let body = || halves(deep, done);
        join(pause, || join(|| done.wait(), || scopes(2, &body)));
    });
}

#[test]
fn a_scopes_waiter_runs_tasks_of_a_scope_in_a_task() {
    goes_on("queued tasks", 2, |_, done| {
        scope(|s| {
            s.spawn(|_| {
                scopes(1, &|| {
                    scope(|s| {
                        s.spawn(|_| done.set());
                        done.wait();
                    });
                });
            });
            pause();
        });
    });
}

/// Calls `body` inside `count` joins, whose second halves, `half`, lie lower on the same seat.
fn around(count: usize, half: &(dyn Fn() + Sync), body: &(dyn Fn() + Sync)) {
    match count {
        0 => body(),
        _ => {
            let owner = thread::current().id();
            let told = |context: FnContext| {
                assert_eq!(context.migrated(), thread::current().id() != owner);
                half();
            };
            join_context(|_| around(count - 1, half, body), told);
        }
    }
}

/// Has the other thread call `waits`, in a task of a scope that this thread opens and waits for, and joins
/// `helps` to it: this thread runs `helps` in the middle of its wait.
fn behind_strangers(waits: fn(), helps: &(dyn Fn() + Sync)) {
    around(12, &|| (), &|| {
        let begun = Flag::default();
        scope(|s| {
            s.spawn(|_| {
                begun.set();
                join(waits, helps);
            });
            begun.wait();
        });
    });
}

#[test]
fn a_waiter_takes_a_half_from_behind_strangers() {
    goes_on("behind strangers", 2, |deep, done| {
        behind_strangers(pause, &|| halves(deep, done));
    });
    goes_on("far behind strangers", 2, |deep, done| {
        behind_strangers(pause, &|| scopes(2, &|| halves(deep, done)));
    });
    goes_on("strangers twice", 2, |deep, done| {
        behind_strangers(pause, &|| {
            around(12, &|| (), &|| {
                behind_strangers(pause, &|| halves(deep, done))
            })
        });
    });
}

/// While the waiter holds the lock, it must move those halves and not run them.
#[test]
fn a_waiter_runs_no_half_that_it_moves() {
    goes_on("strangers that lock", 2, |deep, done| {
        let lock = Mutex::new(());
        around(12, &|| drop(lock.lock().unwrap()), &|| {
            let begun = Flag::default();
            scope(|s| {
                s.spawn(|_| {
                    let _held = lock.lock().unwrap();
                    begun.set();
                    join(pause, || halves(deep, done));
                });
                begun.wait();
            });
        });
    });
}

/// A thread takes many of these before the thread that pushes them has made all of them public.
const HALVES: usize = 40;

/// The other thread takes one of the halves that it has moved, and waits there until all have begun.
#[test]
fn an_owner_takes_back_what_was_moved() {
    goes_on("moved", 2, |deep, done| {
        let (owner, moved, begun) = (thread::current().id(), Flag::default(), AtomicUsize::new(0));
        let half = || {
            begun.fetch_add(1, SeqCst);
            let others = thread::current().id() != owner && moved.0.load(SeqCst);
            while others && begun.load(SeqCst) < HALVES {
                thread::yield_now();
            }
        };
        around(HALVES, &half, &|| {
            let begun = Flag::default();
            scope(|s| {
                s.spawn(|_| {
                    begun.set();
                    join(pause, || halves(deep, done));
                    moved.set();
                });
                begun.wait();
            });
        });
    });
}

/// A third thread waits for the task that these halves belong to, and is the only thread left to run them.
#[test]
#[cfg_attr(miri, ignore = "no thread publishes for another there")]
fn a_waiter_finds_what_another_has_moved() {
    goes_on("moved for others", 3, |deep, done| {
        let (moved, ran) = (Flag::default(), AtomicUsize::new(0));
        let half = || _ = ran.fetch_add(1, SeqCst);
        let task = || {
            let begun = Flag::default();
            scope(|s| {
                s.spawn(|_| {
                    begun.set();
                    join(pause, || halves(deep, done));
                    moved.set();
                    while ran.load(SeqCst) < HALVES {
                        thread::yield_now();
                    }
                });
                begun.wait();
            });
        };
        scope(|s| {
            s.spawn(|_| around(HALVES, &half, &task));
            moved.wait();
        });
    });
}

/// A piece of a loop, which does that.
struct Piece<'a>(&'a (dyn Fn() + Sync));

impl Part for Piece<'_> {
    fn run(&mut self, _: bool) {
        (self.0)();
    }
}

/// Two pieces of the loop in which this thread is.
fn pieces(near: &(dyn Fn() + Sync), far: &(dyn Fn() + Sync)) {
    loops::halves(&mut Piece(near), &mut Piece(far));
}

/// Calls `item` as the first piece of a loop, while `count` others lie lower on the same seat.
fn before(count: usize, piece: &(dyn Fn() + Sync), item: &(dyn Fn() + Sync)) {
    match count {
        0 => item(),
        _ => pieces(&|| before(count - 1, piece, item), piece),
    }
}

/// The progress of the threads in the test below.
#[derive(Default)]
struct AtLoop {
    begun: Flag,
    item: Flag,
    taken: Flag,
    moved: Flag,
    ran: AtomicUsize,
}

impl AtLoop {
    const PIECES: usize = 2;

    fn wait_for_pieces(&self) {
        while self.ran.load(SeqCst) < Self::PIECES {
            thread::yield_now();
        }
    }
}

/// The first item of a loop waits for a task that moves pieces of the loop, and then for those pieces to be
/// run. So does an item that a third thread has taken from a fourth. The fourth thread waits for it, and is the
/// only thread left to run the pieces.
#[test]
#[cfg_attr(miri, ignore = "no thread publishes for another there")]
fn a_loops_waiter_finds_pieces_that_another_has_moved() {
    goes_on("moved pieces of a loop", 4, |deep, _| {
        let at = Arc::new(AtLoop::default());
        let of_task = Arc::clone(&at);
        let task = spawn_join(move || {
            of_task.begun.set();
            of_task.item.wait();
            join(pause, || halves(deep, &Flag::default()));
            of_task.moved.set();
            of_task.wait_for_pieces();
        });
        at.begun.wait();
        let task = Mutex::new(Some(task));
        let item = || {
            let task = task.lock().unwrap().take();
            at.item.set();
            task.expect("one call").join().unwrap();
        };
        let near = || {
            at.taken.wait();
            before(AtLoop::PIECES, &|| _ = at.ran.fetch_add(1, SeqCst), &item);
        };
        let waits = || {
            at.taken.wait();
            at.moved.wait();
        };
        let taken = || {
            at.taken.set();
            at.wait_for_pieces();
        };
        loops::enter_loop(
            loops::Call::NONE,
            &mut Piece(&|| pieces(&near, &|| pieces(&waits, &taken))),
        );
    });
}

/// A thread that holds a lock moves a half that takes the lock, from below a loop to the injector, and then
/// waits for a part of that loop: the half is no piece of it.
#[test]
#[cfg_attr(miri, ignore = "no thread publishes for another there")]
fn a_loops_waiter_leaves_alone_what_lay_lower() {
    goes_on("moved from below a loop", 3, |_, _| {
        let at = Arc::new([(); 5].map(|()| Flag::default()));
        let lock = Arc::new(Mutex::new(()));
        let (of_task, locked) = (Arc::clone(&at), Arc::clone(&lock));
        let task = spawn_join(move || {
            let [begun, item, helps, far, taken] = &*of_task;
            let taken_part = || {
                taken.set();
                // Long enough for the waiter to look far.
                thread::sleep(Duration::from_millis(25));
            };
            let far_part = || {
                far.set();
                pieces(&|| taken.wait(), &taken_part);
            };
            let begins_loop = || {
                helps.set();
                let pieces = || pieces(&|| far.wait(), &far_part);
                loops::enter_loop(loops::Call::NONE, &mut Piece(&pieces));
            };
            let holds = || {
                let _held = locked.lock().unwrap();
                begun.set();
                item.wait();
                join(|| helps.wait(), begins_loop);
            };
            join(|| begun.wait(), holds);
        });
        at[0].wait();
        let task = Mutex::new(Some(task));
        around(1, &|| drop(lock.lock().unwrap()), &|| {
            let task = task.lock().unwrap().take();
            at[1].set();
            task.expect("one call").join().unwrap();
        });
    });
}

/// A closure of a broadcast: on threads other than the caller's, the first to come has halves that wait for
/// each other.
fn closure(caller: ThreadId, deep: usize, done: &Flag) {
    if thread::current().id() != caller && !done.0.swap(true, SeqCst) {
        halves(deep, done);
    }
}

#[test]
fn a_waiter_for_a_broadcast_helps_its_closures() {
    goes_on("broadcast", 2, |deep, done| {
        let caller = thread::current().id();
        broadcast(|_| closure(caller, deep, done));
    });
    goes_on("broadcast of a scope", 2, |deep, done| {
        let caller = thread::current().id();
        scope(|s| {
            s.spawn_broadcast(move |_, _| closure(caller, deep, done));
            pause();
        });
    });
    goes_on("broadcast in a task", 2, |deep, done| {
        scope(|s| {
            s.spawn(|_| {
                let caller = thread::current().id();
                broadcast(|_| closure(caller, deep, done));
            });
            pause();
        });
    });
}

/// What a waiter runs must belong to its wait: while the outer half holds the lock, only a stranger's task
/// takes the lock.
#[test]
fn a_waiter_runs_no_strangers() {
    let _watch = Watch::new("strangers");
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let lock = Mutex::new(());
    pool.scope(|s| {
        for round in 0..ROUNDS {
            let lock = &lock;
            let holds = move || {
                let _held = lock.lock().unwrap();
                join(pause, || scopes(round % 12, &pause));
            };
            // Each of them is no part of any other, and blocks the thread that runs it until the lock is free.
            s.spawn(move |_| holds());
            s.spawn(move |_| _ = join(holds, holds));
            s.spawn(move |_| scopes(3, &holds));
        }
    });
}

/// A thread that holds a lock waits for a half on a seat where other jobs lie lower: what was stolen from
/// those, and takes the lock, does not belong to its wait. `around` has two jobs run by two threads, the first
/// on its own.
fn waits_beside_older(name: &str, around: fn(&(dyn Fn() + Sync), &(dyn Fn() + Sync))) {
    let _watch = Watch::new(name);
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for _ in 0..ROUNDS {
        let lock = Mutex::new(());
        let [older, task, half, over] = [(); 4].map(|()| Flag::default());
        let holds = || {
            let _held = lock.lock().unwrap();
            task.set();
            let second = || {
                half.set();
                // Long enough for the waiter to look far.
                thread::sleep(Duration::from_millis(15));
                over.set();
            };
            join(|| half.wait(), second);
        };
        let first = || {
            older.wait();
            scope(|s| {
                s.spawn(|_| holds());
                task.wait();
            });
        };
        let second = || {
            older.set();
            // Now no thread is free for the half.
            task.wait();
            join(|| over.wait(), || drop(lock.lock().unwrap()));
        };
        pool.install(|| around(&first, &second));
    }
}

#[test]
fn a_waiter_leaves_alone_what_lay_lower() {
    waits_beside_older("below a half", |first, second| {
        join(first, second);
    });
}

#[test]
fn a_waiter_leaves_alone_what_was_opened_before() {
    waits_beside_older("before a half", |first, second| {
        scope(|s| {
            s.spawn(|_| second());
            first();
        });
    });
}
