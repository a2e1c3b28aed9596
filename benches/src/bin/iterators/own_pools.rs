//! Calls from an ordinary thread into a pool that the program has built, whose threads have names.

use std::hint::black_box;

use super::Book;
use super::programs::work;
use crate::race::{Goal, sample};

/// A loop in a call takes this number of items.
const ITEMS: u64 = 400;

/// The calls, each in the words of one library.
macro_rules! own {
    ($module:ident, $library:ident, $pool:ident) => {
        mod $module {
            use super::{ITEMS, work};
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
}
