//! A panic in any closure: it reaches the caller, and every item is dropped
//! once.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};

use tine_iter::iter::Either;
use tine_iter::prelude::*;

use crate::kit::pools;

static ALIVE: AtomicIsize = AtomicIsize::new(0);

/// An item that counts itself.
#[derive(Debug)]
struct Item(u32);

impl Item {
    fn new(n: u32) -> Item {
        ALIVE.fetch_add(1, Relaxed);
        Item(n)
    }
}

impl Clone for Item {
    fn clone(&self) -> Item {
        bomb(self.0);
        Item::new(self.0)
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
    }
}

/// The payload of a panic on purpose; no hook prints it.
struct OnPurpose;

/// Goes off for one item in the middle.
fn bomb(n: u32) {
    if n == 3_333 {
        resume_unwind(Box::new(OnPurpose));
    }
}

fn bombed(item: &Item) -> bool {
    bomb(item.0);
    true
}

fn joined(a: Item, b: Item) -> Item {
    bomb(a.0.max(b.0));
    if a.0 < b.0 { a } else { b }
}

type Pipeline = fn(Vec<Item>);

const PIPELINES: &[(&str, Pipeline)] = &[
    ("for_each", |v| v.into_par_iter().for_each(|i| bomb(i.0))),
    ("map, collect", |v| {
        drop(
            v.into_par_iter()
                .map(|i| {
                    bomb(i.0);
                    i
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("inspect, rev", |v| {
        drop(
            v.into_par_iter()
                .inspect(|i| bomb(i.0))
                .rev()
                .collect::<Vec<_>>(),
        )
    }),
    ("update", |v| {
        drop(v.into_par_iter().update(|i| bomb(i.0)).collect::<Vec<_>>())
    }),
    ("cloned", |v| {
        drop(v.par_iter().cloned().collect::<Vec<_>>())
    }),
    ("filter", |v| {
        drop(v.into_par_iter().filter(bombed).collect::<Vec<_>>())
    }),
    ("filter_map", |v| {
        drop(
            v.into_par_iter()
                .filter_map(|i| bombed(&i).then_some(i))
                .collect::<Vec<_>>(),
        )
    }),
    ("flat_map", |v| {
        drop(
            v.into_par_iter()
                .flat_map(|i| {
                    bomb(i.0);
                    vec![Item::new(0), i]
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("flat_map_iter", |v| {
        drop(
            v.into_par_iter()
                .flat_map_iter(|i| {
                    bomb(i.0);
                    [Item::new(0), i]
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("map_init", |v| {
        drop(
            v.into_par_iter()
                .map_init(
                    || Item::new(0),
                    |_, i| {
                        bomb(i.0);
                        i
                    },
                )
                .collect::<Vec<_>>(),
        )
    }),
    ("map_init's init", |v| {
        drop(
            v.into_par_iter()
                .map_init(|| bomb(3_333), |_, i| i)
                .collect::<Vec<_>>(),
        )
    }),
    ("map_with", |v| {
        drop(
            v.into_par_iter()
                .map_with(Item::new(0), |_, i| {
                    bomb(i.0);
                    i
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("map_with's clone", |v| {
        drop(
            v.into_par_iter()
                .map_with(Item::new(3_333), |_, i| i)
                .collect::<Vec<_>>(),
        )
    }),
    ("fold", |v| {
        drop(
            v.into_par_iter()
                .fold(Vec::new, |mut all, i| {
                    bomb(i.0);
                    all.push(i);
                    all
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("fold's identity", |v| {
        _ = v.into_par_iter().fold(|| bomb(3_333), |(), _| ()).count();
    }),
    ("try_fold", |v| {
        _ = v
            .into_par_iter()
            .try_fold(|| Item::new(0), |a, b| Some(joined(a, b)))
            .count();
    }),
    ("reduce", |v| {
        drop(v.into_par_iter().reduce(|| Item::new(0), joined))
    }),
    ("reduce_with", |v| {
        drop(v.into_par_iter().reduce_with(joined))
    }),
    ("try_reduce", |v| {
        drop(
            v.into_par_iter()
                .map(Some)
                .try_reduce(|| Item::new(0), |a, b| Some(joined(a, b))),
        )
    }),
    ("try_for_each", |v| {
        _ = v.into_par_iter().try_for_each(|i| bombed(&i).then_some(()));
    }),
    ("min_by", |v| {
        drop(v.into_par_iter().min_by(|a, b| {
            bomb(a.0.max(b.0));
            a.0.cmp(&b.0)
        }))
    }),
    ("max_by_key", |v| {
        drop(v.into_par_iter().max_by_key(|i| {
            bomb(i.0);
            i.0
        }))
    }),
    ("find_any", |v| {
        drop(v.into_par_iter().find_any(|i| !bombed(i)))
    }),
    ("find_first", |v| {
        drop(v.into_par_iter().find_first(|i| !bombed(i)))
    }),
    ("find_last", |v| {
        drop(v.into_par_iter().find_last(|i| !bombed(i)))
    }),
    ("all", |v| assert!(v.into_par_iter().all(|i| bombed(&i)))),
    ("position_any", |v| {
        _ = v.into_par_iter().position_any(|i| !bombed(&i));
    }),
    ("take_any_while", |v| {
        drop(v.into_par_iter().take_any_while(bombed).collect::<Vec<_>>())
    }),
    ("skip_any_while", |v| {
        drop(v.into_par_iter().skip_any_while(bombed).collect::<Vec<_>>())
    }),
    ("skip", |v| {
        drop(
            v.into_par_iter()
                .inspect(|i| bomb(i.0))
                .skip(5_000)
                .collect::<Vec<_>>(),
        )
    }),
    ("chunks", |v| {
        drop(
            v.into_par_iter()
                .chunks(7)
                .update(|c| c.iter().for_each(|i| bomb(i.0)))
                .collect::<Vec<_>>(),
        )
    }),
    ("fold_chunks", |v| {
        drop(
            v.into_par_iter()
                .fold_chunks(7, || Item::new(0), joined)
                .collect::<Vec<_>>(),
        )
    }),
    ("fold_chunks_with", |v| {
        drop(
            v.into_par_iter()
                .fold_chunks_with(7, Item::new(0), joined)
                .collect::<Vec<_>>(),
        )
    }),
    ("zip", |v| {
        drop(
            v.par_iter()
                .cloned()
                .zip(v.par_iter())
                .map(|(a, _)| a)
                .collect::<Vec<_>>(),
        )
    }),
    ("chain", |v| {
        drop(v.par_iter().chain(&v).cloned().collect::<Vec<_>>())
    }),
    ("interleave", |v| {
        drop(v.par_iter().interleave(&v).cloned().collect::<Vec<_>>())
    }),
    ("intersperse", |v| {
        drop(
            v.into_par_iter()
                .intersperse(Item::new(3_333))
                .collect::<Vec<_>>(),
        )
    }),
    ("intersperse, unindexed", |v| {
        drop(
            v.into_par_iter()
                .filter(|_| true)
                .intersperse(Item::new(3_333))
                .collect::<Vec<_>>(),
        )
    }),
    ("panic_fuse", |v| {
        drop(
            v.into_par_iter()
                .panic_fuse()
                .map(|i| {
                    bomb(i.0);
                    i
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("panic_fuse, enumerate", |v| {
        drop(
            v.into_par_iter()
                .map(|i| {
                    bomb(i.0);
                    i
                })
                .panic_fuse()
                .enumerate()
                .collect::<Vec<_>>(),
        )
    }),
    ("by_uniform_blocks", |v| {
        drop(
            v.into_par_iter()
                .by_uniform_blocks(100)
                .map(|i| {
                    bomb(i.0);
                    i
                })
                .collect::<Vec<_>>(),
        )
    }),
    ("with_max_len", |v| {
        v.into_par_iter().with_max_len(10).for_each(|i| bomb(i.0))
    }),
    ("unzip", |v| {
        drop(
            v.into_par_iter()
                .map(|i| {
                    bomb(i.0);
                    (i, Item::new(0))
                })
                .unzip::<_, _, Vec<_>, Vec<_>>(),
        )
    }),
    ("partition", |v| {
        drop(v.into_par_iter().partition::<Vec<_>, Vec<_>, _>(bombed))
    }),
    ("for_each_init", |v| {
        v.into_par_iter()
            .for_each_init(|| Item::new(0), |_, i| bomb(i.0))
    }),
    ("for_each_with's clone", |v| {
        v.into_par_iter().for_each_with(Item::new(3_333), |_, _| ())
    }),
    ("try_for_each_with", |v| {
        _ = v
            .into_par_iter()
            .try_for_each_with(Item::new(0), |_, i| bombed(&i).then_some(()));
    }),
    ("fold_with", |v| {
        drop(
            v.into_par_iter()
                .fold_with(Item::new(0), joined)
                .collect::<Vec<_>>(),
        )
    }),
    ("fold_with's clone", |v| {
        _ = v
            .into_par_iter()
            .fold_with(Item::new(3_333), |a, _| a)
            .count();
    }),
    ("try_fold_with", |v| {
        _ = v
            .into_par_iter()
            .try_fold_with(Item::new(0), |a, b| Some(joined(a, b)))
            .count();
    }),
    ("reduce's identity", |v| {
        let identity = || {
            bomb(3_333);
            Item::new(0)
        };
        drop(v.into_par_iter().reduce(identity, |a, _| a))
    }),
    ("try_reduce_with", |v| {
        drop(
            v.into_par_iter()
                .map(Some)
                .try_reduce_with(|a, b| Some(joined(a, b))),
        )
    }),
    ("min_by_key", |v| {
        drop(v.into_par_iter().min_by_key(|i| {
            bomb(i.0);
            i.0
        }))
    }),
    ("max_by", |v| {
        drop(v.into_par_iter().max_by(|a, b| {
            bomb(a.0.max(b.0));
            a.0.cmp(&b.0)
        }))
    }),
    ("find_map_any", |v| {
        drop(
            v.into_par_iter()
                .find_map_any(|i| (!bombed(&i)).then_some(i)),
        )
    }),
    ("find_map_first", |v| {
        drop(
            v.into_par_iter()
                .find_map_first(|i| (!bombed(&i)).then_some(i)),
        )
    }),
    ("find_map_last", |v| {
        drop(
            v.into_par_iter()
                .find_map_last(|i| (!bombed(&i)).then_some(i)),
        )
    }),
    ("position_first", |v| {
        _ = v.into_par_iter().position_first(|i| !bombed(&i));
    }),
    ("position_last", |v| {
        _ = v.into_par_iter().position_last(|i| !bombed(&i));
    }),
    ("positions", |v| {
        drop(
            v.into_par_iter()
                .positions(|i| bombed(&i))
                .collect::<Vec<_>>(),
        )
    }),
    ("any", |v| assert!(!v.into_par_iter().any(|i| !bombed(&i)))),
    ("while_some", |v| {
        drop(
            v.into_par_iter()
                .map(|i| bombed(&i).then_some(i))
                .while_some()
                .collect::<Vec<_>>(),
        )
    }),
    ("partition_map", |v| {
        drop(
            v.into_par_iter()
                .partition_map::<Vec<_>, Vec<_>, _, _, _>(|i| match bombed(&i) && i.0 % 2 == 0 {
                    true => Either::Left(i),
                    false => Either::Right(i),
                }),
        )
    }),
    ("interleave_shortest", |v| {
        drop(
            v.par_iter()
                .interleave_shortest(&v)
                .cloned()
                .collect::<Vec<_>>(),
        )
    }),
    ("deterministic", |v| {
        v.into_par_iter().deterministic().for_each(|i| bomb(i.0))
    }),
    ("a loop in a loop", |v| {
        v.into_par_iter()
            .for_each(|i| (0..3).into_par_iter().for_each(|_| bomb(i.0)))
    }),
];

/// A single test for all, so that no other test makes items meanwhile.
#[test]
fn every_closure() {
    for (what, run) in PIPELINES {
        for pool in pools() {
            let items: Vec<Item> = (0..10_000).map(Item::new).collect();
            let result = catch_unwind(AssertUnwindSafe(|| pool.install(|| run(items))));
            let panic = result.expect_err(what);
            assert!(panic.is::<OnPurpose>(), "{what}: another panic arrived");
            drop(panic);
            assert_eq!(
                ALIVE.load(Relaxed),
                0,
                "{what}: items were lost or dropped twice"
            );
        }
    }
}

/// A destructor that runs while its thread unwinds sees all items of a loop in which nothing panics.
#[test]
fn panic_fuse_in_a_destructor_while_the_thread_unwinds() {
    struct Late<'l>(&'l AtomicUsize);
    impl Drop for Late<'_> {
        fn drop(&mut self) {
            let items = (0..10_000_usize).into_par_iter().with_max_len(10);
            self.0.store(items.panic_fuse().map(|_| 1).sum(), Relaxed);
        }
    }
    crate::in_pools(|| {
        let seen = AtomicUsize::new(0);
        let unwinds = catch_unwind(AssertUnwindSafe(|| {
            let _late = Late(&seen);
            resume_unwind(Box::new(OnPurpose));
        }));
        assert!(unwinds.is_err());
        assert_eq!(seen.into_inner(), 10_000);
    });
}

/// The pieces that remain after a panic are run on threads that do not unwind.
#[test]
fn pieces_after_a_panic_are_on_a_sound_thread() {
    for threads in [1, 2] {
        let pool = tine_pool::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (sound, unsound) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let item = |i: i32| match i {
            0 => resume_unwind(Box::new(())),
            _ if std::thread::panicking() => _ = unsound.fetch_add(1, Relaxed),
            _ => _ = sound.fetch_add(1, Relaxed),
        };
        let each = || (0..64).into_par_iter().with_max_len(1).for_each(item);
        assert!(catch_unwind(AssertUnwindSafe(|| pool.install(each))).is_err());
        assert_eq!(sound.load(Relaxed), 63);
        // Drawing may end with the panic, so that some of these items are not seen.
        let bridge = || (0..64).par_bridge().for_each(item);
        assert!(catch_unwind(AssertUnwindSafe(|| pool.install(bridge))).is_err());
        assert_eq!(unsound.into_inner(), 0);
    }
}
