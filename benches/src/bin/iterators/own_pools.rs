//! Calls from an ordinary thread into a pool that the program has built, whose threads have names: on a free
//! machine, and beside threads that spin.

use std::hint::{black_box, spin_loop};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::Book;
use super::programs::work;
use crate::race::{Goal, sample};

/// A loop in a call takes this number of items.
const ITEMS: u64 = 400;
/// The number of calls that are timed together beside threads that spin: these take turns of milliseconds.
const NOTHINGS: u64 = 1000;
const LOOPS: u64 = 100;

/// As many threads that spin as the pools have, while this lives.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn start() -> Self {
        let lasts = Arc::new(AtomicBool::new(true));
        for _ in 0..tine_pool::current_num_threads() {
            let lasts = lasts.clone();
            thread::spawn(move || {
                while lasts.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        Busy(lasts)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// The calls, each in the words of one library.
macro_rules! own {
    ($module:ident, $library:ident, $pool:ident) => {
        mod $module {
            use super::{ITEMS, LOOPS, NOTHINGS, work};
            use std::sync::LazyLock;
            use std::sync::mpsc::channel;
            use $library::prelude::*;
            use $pool::{ThreadPool, ThreadPoolBuilder, current_num_threads};

            fn made(times: usize) -> ThreadPool {
                let builder = ThreadPoolBuilder::new().num_threads(times * current_num_threads());
                builder.thread_name(|n| format!("own {n}")).build().unwrap()
            }

            static POOL: LazyLock<ThreadPool> = LazyLock::new(|| made(1));
            static OTHER: LazyLock<ThreadPool> = LazyLock::new(|| made(1));
            static LARGER: LazyLock<ThreadPool> = LazyLock::new(|| made(2));

            pub fn nothing() -> u64 {
                POOL.install(|| 0)
            }

            fn looped(items: u64) -> u64 {
                let items = (0..items as usize).into_par_iter();
                items.map(|n| work(200, n as u64)).reduce(|| 0, u64::max)
            }

            pub fn a_loop() -> u64 {
                POOL.install(|| looped(ITEMS))
            }

            pub fn many_nothings() -> u64 {
                (0..NOTHINGS).map(|_| LARGER.install(|| 0)).sum()
            }

            pub fn many_loops() -> u64 {
                (0..LOOPS)
                    .map(|_| LARGER.install(|| looped(ITEMS)))
                    .max()
                    .unwrap_or(0)
            }

            pub fn a_scope() -> u64 {
                POOL.scope(|s| {
                    for n in 0..4 {
                        s.spawn(move |_| _ = std::hint::black_box(work(200 * ITEMS / 4, n)));
                    }
                });
                0
            }

            pub fn a_task() -> u64 {
                let (send, receive) = channel();
                POOL.spawn(move || send.send(looped(ITEMS)).expect("the caller waits"));
                receive.recv().expect("the task sends")
            }

            pub fn another_pool() -> u64 {
                POOL.install(|| {
                    let call = |_| OTHER.install(|| looped(ITEMS / 8));
                    (0..8_usize)
                        .into_par_iter()
                        .map(call)
                        .reduce(|| 0, u64::max)
                })
            }
        }
    };
}

own!(with_tine, tine_iter, tine_pool);
own!(with_rayon, rayon, rayon);

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    book.section("A pool of the program's own, called by an ordinary thread");
    let goal = Goal::Within(1.0, "rayon", 0.0);
    type Call = fn() -> u64;
    let calls: [(&str, u64, Call, Call); 5] = [
        ("an empty call", 0, with_tine::nothing, with_rayon::nothing),
        ("a loop", ITEMS, with_tine::a_loop, with_rayon::a_loop),
        (
            "a scope of four tasks",
            ITEMS,
            with_tine::a_scope,
            with_rayon::a_scope,
        ),
        (
            "a task with a loop",
            ITEMS,
            with_tine::a_task,
            with_rayon::a_task,
        ),
        (
            "a loop of 8 calls into another",
            ITEMS,
            with_tine::another_pool,
            with_rayon::another_pool,
        ),
    ];
    for (name, items, tine, rayon) in calls {
        book.row(&format!("own pool, {name}"), goal, || {
            let alone = move || work(black_box(200 * items), 7);
            vec![
                ("sequential", sample(alone)),
                ("tine", sample(tine)),
                ("rayon", sample(rayon)),
            ]
        });
    }

    let beside: [(String, u64, Call, Call); 2] = [
        (
            format!("{NOTHINGS} empty calls"),
            0,
            with_tine::many_nothings,
            with_rayon::many_nothings,
        ),
        (
            format!("{LOOPS} loops"),
            LOOPS * ITEMS,
            with_tine::many_loops,
            with_rayon::many_loops,
        ),
    ];
    for (name, items, tine, rayon) in beside {
        book.row(
            format!("own pool, {name} beside threads that spin"),
            goal,
            || {
                let busy = Rc::new(Busy::start());
                // The threads spin until the last of these is gone.
                let beside = |call: Call| {
                    let busy = busy.clone();
                    sample(move || {
                        let _ = &busy;
                        call()
                    })
                };
                let alone = move || work(black_box(200 * items), 7);
                vec![
                    ("sequential", sample(alone)),
                    ("tine", beside(tine)),
                    ("rayon", beside(rayon)),
                ]
            },
        );
    }
}
