//! Pipelines that end in a collection, and those that begin with a sequential
//! iterator.

use std::collections::HashMap;
use std::hint::black_box;
use std::iter::from_fn;

use tine_pool::current_num_threads as threads;

use super::Book;
use crate::data::{LONG, ascending, busy, numbers};
use crate::race::{Case, Goal, cases};

/// What a row may take of rayon's time.
fn of_rayon(times: f64) -> Goal {
    Goal::Within(times, "rayon", 0.0)
}

fn collects(book: &mut Book<'_>) {
    let v = numbers();
    book.row("collect, 80 MB", of_rayon(0.6), || {
        cases! {
            black_box(v).iter().map(|x| x + 1).collect::<Vec<u64>>();
            black_box(v).par_iter().map(|x| x + 1).collect::<Vec<u64>>();
            orx: black_box(v).par().num_threads(threads()).map(|x| x + 1).collect::<Vec<u64>>();
        }
    });
    book.row(
        "filter+collect, a random half of 10⁷",
        of_rayon(0.6),
        || {
            cases! {
                black_box(v).iter().copied().filter(|x| x % 2 == 0).collect::<Vec<u64>>();
                black_box(v).par_iter().copied().filter(|x| x % 2 == 0).collect::<Vec<u64>>();
                orx: {
                    let items = black_box(v).par().num_threads(threads());
                    items.copied().filter(|x| x % 2 == 0).collect::<Vec<u64>>()
                };
            }
        },
    );
    let rising = ascending();
    book.row(
        "filter+collect, every other one of 10⁷",
        of_rayon(0.6),
        || {
            cases! {
                black_box(rising).iter().copied().filter(|x| x % 2 == 0).collect::<Vec<u64>>();
                black_box(rising).par_iter().copied().filter(|x| x % 2 == 0).collect::<Vec<u64>>();
            }
        },
    );
    let inner = |i: u64| (0..100_u32).map(move |j| i ^ u64::from(j));
    let outer = &v[..LONG / 100];
    book.row("flat_map_iter of 100, collect 10⁷", of_rayon(0.6), || {
        cases! {
            black_box(outer).iter().flat_map(|&i| inner(i)).collect::<Vec<u64>>();
            black_box(outer).par_iter().flat_map_iter(|&i| inner(i)).collect::<Vec<u64>>();
            orx: {
                let items = black_box(outer).par().num_threads(threads());
                items.flat_map(move |&i| inner(i)).collect::<Vec<u64>>()
            };
        }
    });
    book.row("flat_map of 100, collect 10⁷", of_rayon(0.6), || {
        cases! {
            black_box(outer).iter().flat_map(|&i| inner(i)).collect::<Vec<u64>>();
            black_box(outer)
                .par_iter()
                .flat_map(|&i| (0..100_u32).into_par_iter().map(move |j| i ^ u64::from(j)))
                .collect::<Vec<u64>>();
        }
    });
    book.row("flat_map of 10,000, collect 10⁷", of_rayon(0.6), || {
        let inner = |i: u64| (0..10_000_u32).map(move |j| i ^ u64::from(j));
        let outer = &outer[..1000];
        cases! {
            black_box(outer).iter().flat_map(|&i| inner(i)).collect::<Vec<u64>>();
            black_box(outer)
                .par_iter()
                .flat_map(|&i| (0..10_000_u32).into_par_iter().map(move |j| i ^ u64::from(j)))
                .collect::<Vec<u64>>();
        }
    });
    let pairs = &v[..1_000_000];
    book.row("collect a HashMap of 10⁶", of_rayon(1.0), || {
        cases! {
            black_box(pairs).iter().map(|&x| (x, x)).collect::<HashMap<u64, u64>>();
            black_box(pairs).par_iter().map(|&x| (x, x)).collect::<HashMap<u64, u64>>();
        }
    });
}

/// A sequential iterator that says nothing about its length.
fn untold(mut left: u64) -> impl Iterator<Item = u64> + Send {
    from_fn(move || {
        left = left.checked_sub(1)?;
        Some(left)
    })
}

fn bridged(cost: u64) -> [Vec<Case>; 2] {
    let work = move |x: u64| match cost {
        0 => x.wrapping_mul(x) ^ (x >> 3),
        cost => busy(cost) + x,
    };
    const N: u64 = 1_000_000;
    [
        cases! {
            (0..black_box(N)).map(work).sum::<u64>();
            (0..black_box(N)).par_bridge().map(work).sum::<u64>();
            orx: (0..black_box(N)).iter_into_par().num_threads(threads()).map(work).sum::<u64>();
        },
        cases! {
            untold(black_box(N)).map(work).sum::<u64>();
            untold(black_box(N)).par_bridge().map(work).sum::<u64>();
            orx: untold(black_box(N)).iter_into_par().num_threads(threads()).map(work).sum::<u64>();
        },
    ]
}

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    book.section("Collecting");
    collects(book);
    book.section("par_bridge of 10⁶ items");
    for (cost, name, goal) in [(0, "cheap", 0.3), (100, "100 ns each", 0.75)] {
        let goal = of_rayon(goal);
        let [told, untold] = bridged(cost);
        book.row(format!("par_bridge, {name}"), goal, || told);
        book.row(format!("par_bridge, {name}, length untold"), goal, || {
            untold
        });
    }
}
