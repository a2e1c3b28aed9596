//! Calls from an ordinary thread into a pool of the program's own, whose threads have names.

use std::hint::black_box;

use super::Book;
use crate::race::{Case, Goal, sample};

/// Some nanoseconds for each step.
fn work(steps: u64, seed: u64) -> u64 {
    (0..steps).fold(seed | 1, |x, _| {
        black_box((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    })
}

macro_rules! own {
    ($module:ident, $library:ident, $pool:ident) => {
        mod $module {
            use super::work;
            use std::sync::LazyLock;
            use std::sync::mpsc::channel;
            use $library::prelude::*;
            use $pool::{ThreadPool, ThreadPoolBuilder, current_num_threads};

            fn made() -> ThreadPool {
                let builder = ThreadPoolBuilder::new().num_threads(current_num_threads());
                builder.thread_name(|n| format!("own {n}")).build().unwrap()
            }

            static POOL: LazyLock<ThreadPool> = LazyLock::new(made);
            static OTHER: LazyLock<ThreadPool> = LazyLock::new(made);

            pub fn nothing() {
                POOL.install(|| ());
            }

            fn looped(items: u64) -> Option<u64> {
                (0..items as usize)
                    .into_par_iter()
                    .map(|n| work(200, n as u64))
                    .max()
            }

            pub fn a_loop(items: u64) -> Option<u64> {
                POOL.install(|| looped(items))
            }

            pub fn a_scope(items: u64) {
                POOL.scope(|s| {
                    for n in 0..4 {
                        s.spawn(move |_| _ = std::hint::black_box(work(200 * items / 4, n)));
                    }
                });
            }

            pub fn a_task(items: u64) -> Option<u64> {
                let (send, receive) = channel();
                POOL.spawn(move || send.send(looped(items)).expect("the caller waits"));
                receive.recv().expect("the task sends")
            }

            pub fn another_pool(items: u64) {
                POOL.install(|| {
                    let call = |_| _ = std::hint::black_box(OTHER.install(|| looped(items)));
                    (0..8_usize).into_par_iter().for_each(call);
                });
            }
        }
    };
}

own!(with_tine, tine_iter, tine_pool);
own!(with_rayon, rayon, rayon);

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    const ITEMS: u64 = 400;
    book.section("A pool of the program's own, called by an ordinary thread");
    let goal = Goal::Within(1.0, "rayon", 0.0);
    let alone = || sample(|| work(black_box(200 * ITEMS), 7));
    let row = |tine: Case, rayon: Case| vec![("sequential", alone()), tine, rayon];
    book.row("own pool, an empty call", goal, || {
        let alone = sample(|| black_box(0));
        let (tine, rayon) = (sample(with_tine::nothing), sample(with_rayon::nothing));
        vec![("sequential", alone), ("tine", tine), ("rayon", rayon)]
    });
    book.row("own pool, a loop", goal, || {
        row(
            ("tine", sample(|| with_tine::a_loop(ITEMS))),
            ("rayon", sample(|| with_rayon::a_loop(ITEMS))),
        )
    });
    book.row("own pool, a scope of four tasks", goal, || {
        row(
            ("tine", sample(|| with_tine::a_scope(ITEMS))),
            ("rayon", sample(|| with_rayon::a_scope(ITEMS))),
        )
    });
    book.row("own pool, a task with a loop", goal, || {
        row(
            ("tine", sample(|| with_tine::a_task(ITEMS))),
            ("rayon", sample(|| with_rayon::a_task(ITEMS))),
        )
    });
    book.row("own pool, a loop of 8 calls into another", goal, || {
        row(
            ("tine", sample(|| with_tine::another_pool(ITEMS / 8))),
            ("rayon", sample(|| with_rayon::another_pool(ITEMS / 8))),
        )
    });
}
