//! Shapes of programs that other crates have: a source that feeds its items one by one, passes over a vector by
//! one loop, a search by joins, a caller that spins until its task has begun.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::channel;

use super::Book;
use crate::race::{Case, Goal, sample};

/// Some nanoseconds for each step.
pub(super) fn work(steps: u64, seed: u64) -> u64 {
    (0..steps).fold(seed | 1, |x, _| {
        black_box((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9))
    })
}

/// Things with their weight and worth, the best first, and half of the weight of all.
struct Things {
    all: Vec<(u64, u64)>,
    room: u64,
}

impl Things {
    fn new(count: u64) -> Self {
        let weight = |n: u64| 500 + n * 7_919 % 1_000;
        let thing = |n: u64| (weight(n), weight(n) + n * 104_729 % 60);
        let mut all: Vec<_> = (0..count).map(thing).collect();
        all.sort_by_key(|&(weight, worth)| std::cmp::Reverse(worth * 1_000_000 / weight));
        let room = all.iter().map(|thing| thing.0).sum::<u64>() / 2;
        Self { all, room }
    }
}

/// An upper bound for the worth that can still be reached.
fn bound(things: &[(u64, u64)], mut room: u64) -> u64 {
    let mut worth = 0;
    for thing in things {
        if thing.0 > room {
            return worth + thing.1 * room / thing.0;
        }
        room -= thing.0;
        worth += thing.1;
    }
    worth
}

/// Calls both, one after the other.
fn one_by_one<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
    (a(), b())
}

/// The search for the best choice of things, as its user writes it.
macro_rules! knapsack {
    ($name:ident, $join:path) => {
        fn $name(things: &[(u64, u64)], room: u64, worth: u64, best: &AtomicU64) {
            best.fetch_max(worth, Relaxed);
            let Some((&(weight, more), rest)) = things.split_first() else {
                return;
            };
            if worth + bound(things, room) <= best.load(Relaxed) {
                return;
            }
            let without = || $name(rest, room, worth, best);
            if weight <= room {
                $join(|| $name(rest, room - weight, worth + more, best), without);
            } else {
                without();
            }
        }
    };
}

knapsack!(sequential, one_by_one);
knapsack!(ours, tine_pool::join);
knapsack!(rayons, rayon::join);

fn knapsacks(count: u64) -> Vec<Case> {
    let things: &'static Things = Box::leak(Box::new(Things::new(count)));
    let best = |search: fn(&[(u64, u64)], u64, u64, &AtomicU64)| {
        sample(move || {
            let best = AtomicU64::new(0);
            search(&things.all, black_box(things.room), 0, &best);
            best.into_inner()
        })
    };
    vec![
        ("sequential", best(sequential)),
        ("tine", best(ours)),
        ("rayon", best(rayons)),
    ]
}

/// A source of numbers that splits itself and feeds them one by one, as those of ndarray do.
macro_rules! fed {
    ($module:ident, $library:ident, $pool:ident) => {
        mod $module {
            use $library::iter::plumbing::{
                Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed,
            };
            use $library::prelude::*;

            struct Source(&'static [f64]);

            impl UnindexedProducer for Source {
                type Item = &'static f64;

                fn split(self) -> (Self, Option<Self>) {
                    if self.0.len() < 2 {
                        return (self, None);
                    }
                    let (left, right) = self.0.split_at(self.0.len() / 2);
                    (Source(left), Some(Source(right)))
                }

                fn fold_with<F: Folder<Self::Item>>(self, mut folder: F) -> F {
                    for item in self.0 {
                        folder = folder.consume(item);
                        if folder.full() {
                            break;
                        }
                    }
                    folder
                }
            }

            impl ParallelIterator for Source {
                type Item = &'static f64;

                fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(
                    self,
                    consumer: C,
                ) -> C::Result {
                    bridge_unindexed(self, consumer)
                }
            }

            pub fn sum(numbers: &'static [f64]) -> f64 {
                Source(numbers).map(|x| x * 1.5).sum()
            }

            /// Passes of 2, 4, .. 2,048 items by one loop; all passes are the same amount of work.
            pub fn passes(steps: u64) {
                for power in 1..=11 {
                    let items = 1_u64 << power;
                    let each = |n| _ = std::hint::black_box(super::work(steps / items, n));
                    (0..items).into_par_iter().for_each(each);
                }
            }

            /// A step of a simulation: two pieces, then something for each thread.
            pub fn step(pieces: usize) -> usize {
                let each = |n| _ = std::hint::black_box(super::work(20_000, n as u64));
                (0..pieces).into_par_iter().with_max_len(1).for_each(each);
                $pool::broadcast(|thread| std::hint::black_box(thread.index())).len()
            }

            /// The calling thread spawns a task and spins until it has begun.
            pub fn begun_by_a_busy_caller(items: u64) -> Option<u64> {
                use super::{Arc, AtomicBool, Relaxed, channel, spin_loop, work};
                let (send, receive) = channel();
                let begun = Arc::new(AtomicBool::new(false));
                let begins = Arc::clone(&begun);
                $pool::spawn(move || {
                    begins.store(true, Relaxed);
                    let each = |n| send.send(work(3_000, n)).expect("the receiver waits");
                    let items: Vec<u64> = (0..items).collect();
                    items.into_par_iter().with_max_len(1).for_each(each);
                });
                while !begun.load(Relaxed) {
                    spin_loop();
                }
                receive.into_iter().min()
            }
        }
    };
}

fed!(with_tine, tine_iter, tine_pool);
fed!(with_rayon, rayon, rayon);

fn one_by_one_fed(len: usize) -> Vec<Case> {
    let numbers: &'static [f64] = (0..len).map(|n| n as f64).collect::<Vec<_>>().leak();
    let alone = move || black_box(numbers).iter().map(|x| x * 1.5).sum::<f64>();
    vec![
        ("sequential", sample(alone)),
        ("tine", sample(move || with_tine::sum(black_box(numbers)))),
        ("rayon", sample(move || with_rayon::sum(black_box(numbers)))),
    ]
}

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    book.section("Shapes of programs that other crates have");
    let goal = Goal::Within(1.0, "rayon", 0.0);
    for count in [24, 32, 40] {
        let name = format!("programs, a knapsack of {count} things by joins");
        book.row(name, goal, || knapsacks(count));
    }
    for (len, name) in [(1 << 16, "65,536"), (1 << 20, "10^6")] {
        let name = format!("programs, a sum of {name} numbers fed one by one");
        book.row(name, goal, || one_by_one_fed(len));
    }
    for (steps, name) in [(4_000, "4,000"), (16_000, "16,000"), (64_000, "64,000")] {
        let name = format!("programs, passes of 2 to 2,048 items, {name} steps each");
        book.row(name, goal, || {
            let alone = move || (0..11).fold(0, |x, n| x ^ work(black_box(steps), n));
            vec![
                ("sequential", sample(alone)),
                ("tine", sample(move || with_tine::passes(steps))),
                ("rayon", sample(move || with_rayon::passes(steps))),
            ]
        });
    }
    let broadcasts = |pieces: usize| {
        let alone = move || (0..pieces as u64).fold(0, |x, n| x ^ work(black_box(20_000), n));
        vec![
            ("sequential", sample(alone)),
            ("tine", sample(move || with_tine::step(pieces))),
            ("rayon", sample(move || with_rayon::step(pieces))),
        ]
    };
    book.row("programs, a broadcast", goal, || broadcasts(0));
    let name = "programs, two pieces and a broadcast";
    book.row(name, goal, || broadcasts(2));
    book.asleep("programs, a broadcast, pool asleep", goal, || broadcasts(0));
    for items in [2, 5] {
        let name = format!("programs, a spawned task of {items} items whose caller spins");
        book.row(name, goal, || {
            let alone = move || (0..items).map(|n| work(black_box(3_000), n)).min();
            vec![
                ("sequential", sample(alone)),
                (
                    "tine",
                    sample(move || with_tine::begun_by_a_busy_caller(items)),
                ),
                (
                    "rayon",
                    sample(move || with_rayon::begun_by_a_busy_caller(items)),
                ),
            ]
        });
    }
}
