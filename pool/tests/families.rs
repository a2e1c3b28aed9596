//! A thread that waits may run whatever its wait depends on, however far removed: tasks of scopes in tasks of scopes, halves of
//! halves that others have taken. In each of these programs there is a job on which all goes on, and one thread that is free
//! to run it, and that waits farther up.

mod common;

use common::Watch;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use tine_pool::{ThreadPoolBuilder, join, scope};

const ROUNDS: usize = if cfg!(miri) { 2 } else { 20 };

/// Something for which threads wait in the middle of user code.
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

/// Time for others to begin what waits for this thread.
fn pause() {
    thread::sleep(Duration::from_millis(2));
}

/// Below `deep` joins, halves of which the first waits for the second. That sets `done` too.
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
    let _watch = Watch::new(name);
    for threads in least..=least + 1 {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        // Under Miri no thread publishes for another.
        let depths: &[usize] = if cfg!(miri) { &[0] } else { &[0, 1, 3, 12] };
        for &deep in depths {
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

/// What a waiter runs must belong to its wait: while the outer half holds the lock, only a stranger's task takes it.
#[test]
fn a_waiter_runs_no_strangers() {
    use std::sync::Mutex;
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
