//! Loops, sorts and groupings that tokens stop.
#![forbid(unsafe_code)]

#[path = "sources/kit.rs"]
#[allow(dead_code, unused_macros, unused_imports)]
mod kit;

use quickcheck::quickcheck;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;
use tine::algorithms::for_each_fed;
use tine::prelude::*;
use tine::{StopToken, Stopped, ThreadPoolBuilder, stop, with_token};

/// Runs `op` in pools of several sizes.
fn in_pools<R: Send>(op: impl Fn() -> R + Sync) -> Vec<R> {
    // In the last one sorts claim their parts.
    let large = ThreadPoolBuilder::new().num_threads(6).build();
    let large = large.expect("a small pool");
    let pools = kit::pools().iter().chain([&large]);
    pools.map(|pool| pool.install(&op)).collect()
}

/// Counts its drops.
struct Counted<'a>(u64, &'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.fetch_add(1, Relaxed);
    }
}

/// Whether `part` is `whole` with some items left out.
fn is_part_of<T: PartialEq>(part: &[T], whole: &[T]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|item| rest.any(|other| other == item))
}

quickcheck! {
    fn all_of_it_without_a_stop(v: Vec<i32>) -> bool {
        let token = StopToken::new().with_timeout(Duration::from_secs(3600));
        let items = || v.par_iter().copied().until(&token);
        in_pools(|| {
            items().collect::<Vec<_>>() == Ok(v.clone())
                && items().count() == Ok(v.len())
                && items().min() == Ok(v.iter().copied().min())
                && items().max() == Ok(v.iter().copied().max())
                && items().run(|items| items.map(i64::from).sum::<i64>())
                    == Ok(v.iter().copied().map(i64::from).sum())
                && items().reduce(|| 0, |a, b| a ^ b) == Ok(v.iter().fold(0, |a, b| a ^ b))
                && items().reduce_with(|a, b| a | b) == Ok(v.iter().copied().reduce(|a, b| a | b))
                && items().find_any(|n| n % 7 == 0).unwrap().is_some()
                    == v.iter().any(|n| n % 7 == 0)
        })
        .into_iter()
        .all(|same| same)
    }

    fn what_was_reached_is_in_order(len: u16, at: u16) -> bool {
        let (len, at) = (u32::from(len / 4), u32::from(at / 4));
        let all: Vec<u32> = (0..len).collect();
        in_pools(|| {
            type Source<'a> =
                &'a (dyn Fn(&StopToken) -> Result<Vec<u32>, Stopped<Vec<u32>>> + Sync);
            let sources: [Source<'_>; 4] = [
                &|token| (0..len).into_par_iter().inspect(|&n| if n == at { token.stop() })
                    .until(token).collect(),
                &|token| (0..len).into_par_iter().with_max_len(100)
                    .inspect(|&n| if n == at { token.stop() }).until(token).collect(),
                &|token| (0..len).into_par_iter().filter(|&n| { if n == at { token.stop() } true })
                    .until(token).collect(),
                &|token| (0..len).into_par_iter().flat_map_iter(|n| {
                    if n == at { token.stop() }
                    Some(n)
                }).until(token).collect(),
            ];
            sources.iter().all(|source| {
                let token = StopToken::new();
                match source(&token) {
                    Ok(items) => items == all,
                    Err(Stopped { so_far }) => token.is_stopped() && is_part_of(&so_far, &all),
                }
            })
        })
        .into_iter()
        .all(|right| right)
    }
}

#[test]
fn nothing_is_taken_once_it_is_stopped() {
    let token = StopToken::new();
    token.stop();
    in_pools(|| {
        for len in [1, 2, 3, 100, 100_000] {
            let items = (0..len).into_par_iter().map(|_| -> i32 { unreachable!() });
            assert_eq!(
                items.clone().until(&token).collect(),
                Err::<Vec<_>, _>(Stopped { so_far: vec![] })
            );
            assert_eq!(
                items.clone().until(&token).sum::<i32>(),
                Err(Stopped { so_far: 0 })
            );
            assert_eq!(
                items.until(&token).find_any(|_| true),
                Err(Stopped::default())
            );
        }
        let text = "a b c ".repeat(1000);
        let words = text.par_split(' ').map(|_| unreachable!());
        assert!(words.until(&token).for_each(|()| ()).is_err());
    });
}

#[test]
fn a_stop_ends_loops_of_every_kind_soon() {
    // Each would take hours. What is asserted is only that they end at all.
    let item = |_: u32| thread::sleep(Duration::from_micros(200));
    const MANY: u32 = u32::MAX;
    let loops: [&(dyn Fn(&StopToken) -> bool + Sync); 6] = [
        &|token| {
            (0..MANY)
                .into_par_iter()
                .until(token)
                .for_each(item)
                .is_err()
        },
        &|token| {
            (0..MANY)
                .into_par_iter()
                .map(item)
                .until(token)
                .count()
                .is_err()
        },
        &|token| {
            let filtered = (0..MANY)
                .into_par_iter()
                .with_max_len(1 << 20)
                .filter(|&n| {
                    item(n);
                    false
                });
            filtered.until(token).collect::<Vec<_>>().is_err()
        },
        &|token| {
            let folded = (0..MANY).into_par_iter().fold(|| (), |(), n| item(n));
            folded.until(token).for_each(|()| ()).is_err()
        },
        &|token| (0..MANY).par_bridge().until(token).for_each(item).is_err(),
        &|token| {
            let tree =
                tine::iter::walk_tree_prefix(1_u32, |n| [n.wrapping_mul(2), n.wrapping_add(1)]);
            tree.until(token).for_each(item).is_err()
        },
    ];
    for (number, run) in loops.iter().enumerate() {
        for pool in kit::pools() {
            let token = StopToken::new();
            thread::scope(|s| {
                s.spawn(|| {
                    thread::sleep(Duration::from_millis(3));
                    token.stop();
                });
                assert!(pool.install(|| run(&token)), "loop {number}");
            });
            let late = StopToken::new().with_timeout(Duration::from_millis(3));
            assert!(pool.install(|| run(&late)), "loop {number}");
        }
    }
}

#[test]
fn a_token_around_ends_loops_of_every_kind() {
    let item = |_: u32| thread::sleep(Duration::from_micros(100));
    const MANY: u32 = u32::MAX;
    let loops: [&(dyn Fn() + Sync); 11] = [
        &|| (0..MANY).into_par_iter().for_each(item),
        &|| {
            (0..MANY)
                .into_par_iter()
                .with_max_len(1 << 20)
                .for_each(item)
        },
        &|| {
            drop(
                (0..MANY)
                    .into_par_iter()
                    .filter(|&n| {
                        item(n);
                        true
                    })
                    .collect::<Vec<_>>(),
            )
        },
        &|| (0..MANY).into_par_iter().deterministic().for_each(item),
        &|| (0..MANY).par_bridge().for_each(item),
        &|| {
            let flat = (0..3_u32)
                .into_par_iter()
                .flat_map(|_| (0..MANY).into_par_iter());
            flat.for_each(item);
        },
        &|| {
            let tree =
                tine::iter::walk_tree_prefix(1_u32, |n| [n.wrapping_mul(2), n.wrapping_add(1)]);
            tree.for_each(item);
        },
        &|| {
            drop(
                (0..MANY)
                    .into_par_iter()
                    .inspect(|&n| item(n))
                    .count_by(|n| n % 10),
            )
        },
        &|| loop {
            let mut some = [3_u32, 1, 2];
            some.par_sort_by(|a, b| {
                item(1);
                a.cmp(b)
            });
        },
        &|| {
            for_each_fed([1_u32], |n, feeder| {
                item(n);
                feeder.feed(n.wrapping_add(1));
            });
        },
        // Short items go in batches.
        &|| {
            for_each_fed(0..100_u32, |n, feeder| {
                std::hint::black_box(n);
                feeder.feed(n.wrapping_add(1));
            });
        },
    ];
    for (number, run) in loops.iter().enumerate() {
        for pool in kit::pools() {
            let token = StopToken::new();
            thread::scope(|s| {
                s.spawn(|| {
                    thread::sleep(Duration::from_millis(3));
                    token.stop();
                });
                let ended = pool.install(|| with_token(&token, run));
                assert_eq!(ended, Err(Stopped::default()), "loop {number}");
            });
            assert!(!pool.install(stop::requested));
        }
    }
}

#[test]
fn everything_is_dropped_once() {
    in_pools(|| {
        for len in [1, 10, 1000, 50_000_u64] {
            for at in [0, len / 3, len - 1] {
                for whole in [false, true] {
                    let dropped = AtomicUsize::new(0);
                    let token = StopToken::new();
                    let items: Vec<_> = (0..len).map(|n| Counted(n, &dropped)).collect();
                    let made = AtomicUsize::new(0);
                    let again = |item: Counted<'_>| {
                        if item.0 == at {
                            token.stop();
                        }
                        made.fetch_add(1, Relaxed);
                        vec![Counted(item.0, &dropped)]
                    };
                    let items = items.into_par_iter().map(again);
                    if whole {
                        drop(with_token(&token, || items.collect::<Vec<_>>()));
                    } else {
                        drop(items.until(&token).collect::<Vec<_>>());
                    }
                    let made = made.into_inner() + len as usize;
                    assert_eq!(dropped.into_inner(), made, "{len} at {at}");
                }
            }
        }
    });
}

#[test]
fn panics_are_panics() {
    in_pools(|| {
        for at in [0, 500, 99_999] {
            let token = StopToken::new();
            let items = (0..100_000_i64).into_par_iter().map(|n| {
                if n == at {
                    token.stop();
                    panic!("on purpose");
                }
                n
            });
            let until = || items.clone().until(&token).sum::<i64>();
            let payload = catch_unwind(AssertUnwindSafe(until)).unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
            let token = StopToken::new();
            let items = (0..100_000_i64).into_par_iter().map(|n| {
                if n == at {
                    token.stop();
                    panic!("on purpose");
                }
                n
            });
            let around = || with_token(&token, || items.sum::<i64>());
            let payload = catch_unwind(AssertUnwindSafe(around)).unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
        }
    });
}

/// Numbers in no particular order.
fn numbers(len: usize) -> Vec<u64> {
    let step = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    std::iter::successors(Some(7), step).take(len).collect()
}

#[test]
fn a_sort_that_is_stopped_leaves_all_elements() {
    type Sort = fn(&mut Vec<(u64, String)>, &(dyn Fn() + Sync));
    let sorts: [Sort; 8] = [
        |v, seen| {
            v.par_sort_by(|a, b| {
                seen();
                a.cmp(b)
            })
        },
        |v, seen| {
            v.par_sort_unstable_by(|a, b| {
                seen();
                a.cmp(b)
            })
        },
        |v, seen| {
            v.par_sort_by_key(|a| {
                seen();
                a.0
            })
        },
        |v, seen| {
            v.par_sort_unstable_by_key(|a| {
                seen();
                a.0
            })
        },
        |v, seen| {
            v.par_sort_by_cached_key(|a| {
                seen();
                a.1.clone()
            })
        },
        |v, seen| {
            v.par_sort_radix_by_key(|a| {
                seen();
                a.0
            })
        },
        |v, seen| {
            _ = v.par_partition(|a| {
                seen();
                a.0 % 2 == 0
            });
        },
        |v, seen| {
            _ = v.par_select_nth_unstable_by(v.len() / 2, |a, b| {
                seen();
                a.cmp(b)
            });
        },
    ];
    let len = 60_000;
    let all: Vec<_> = numbers(len)
        .into_iter()
        .map(|n| (n, n.to_string()))
        .collect();
    let mut sorted = all.clone();
    sorted.sort();
    for sort in sorts {
        in_pools(|| {
            for at in [1, 100, 70_000, 400_000] {
                let mut v = all.clone();
                let token = StopToken::new();
                let calls = AtomicUsize::new(0);
                let seen = || {
                    if calls.fetch_add(1, Relaxed) == at {
                        token.stop();
                    }
                };
                let result = with_token(&token, || sort(&mut v, &seen));
                assert_eq!(result.is_err(), token.is_stopped());
                v.sort();
                assert!(v == sorted, "a permutation");
            }
        });
    }
}

#[test]
fn a_sort_of_numbers_that_is_stopped_leaves_them_all() {
    let all = numbers(300_000);
    let mut sorted = all.clone();
    sorted.sort_unstable();
    in_pools(|| {
        for micros in [0, 100, 1000, 3000] {
            let mut v = all.clone();
            let token = StopToken::new().with_timeout(Duration::from_micros(micros));
            match with_token(&token, || v.par_sort_unstable()) {
                Ok(()) => assert!(v == sorted),
                Err(_) => {
                    v.sort_unstable();
                    assert!(v == sorted);
                }
            }
        }
    });
}

#[test]
fn sorts_by_key_that_are_stopped_leave_all_elements() {
    type Way<'w, T> = &'w (dyn Fn(&mut [T]) + Sync);
    /// Sorts in each way, and is stopped in the middle.
    fn try_all<T: Clone + Ord + Send + Sync, K: Ord + Send>(
        all: &[T],
        key: impl Fn(&T) -> K + Sync + Copy,
    ) where
        [T]: ParallelSort<T>,
    {
        let mut sorted = all.to_vec();
        sorted.sort();
        let ways: [Way<'_, T>; 3] = [
            &|v| v.par_sort_by_key(key),
            &|v| v.par_sort_unstable_by_key(key),
            &|v| v.par_sort_by_cached_key(key),
        ];
        for (way, micros) in ways.iter().flat_map(|way| [0, 500, 3000].map(|m| (way, m))) {
            let mut v = all.to_vec();
            let token = StopToken::new().with_timeout(Duration::from_micros(micros));
            let _ = with_token(&token, || way(&mut v));
            v.sort();
            assert!(v == sorted, "a permutation");
        }
    }
    in_pools(|| {
        let all = numbers(40_000);
        let pairs: Vec<(u64, u32)> = all.iter().map(|&n| (n, n as u32)).collect();
        try_all(&pairs, |pair| pair.0);
        let wide: Vec<[u64; 12]> = all.iter().map(|&n| [n; 12]).collect();
        try_all(&wide, |wide| wide[7]);
        let boxed: Vec<Box<u64>> = all.iter().map(|&n| Box::new(n)).collect();
        try_all(&boxed, |boxed| **boxed);
        let strings: Vec<String> = all[..5_000].iter().map(|n| n.to_string()).collect();
        try_all(&strings, |string| string.len());
    });
}

#[test]
fn maps_and_groups_that_are_stopped_are_whole() {
    in_pools(|| {
        for at in [0, 1000, 60_000, 99_999] {
            let token = StopToken::new();
            let dropped = AtomicUsize::new(0);
            let made = AtomicUsize::new(0);
            let items = (0..100_000_u64).into_par_iter().map(|n| {
                if n == at {
                    token.stop();
                }
                made.fetch_add(1, Relaxed);
                (n % 1000, Counted(n, &dropped))
            });
            let groups = with_token(&token, || items.group_by(|(key, _)| *key).into_map());
            drop(groups);
            assert_eq!(made.into_inner(), dropped.into_inner());
            let token = StopToken::new();
            let mut map = tine::ParHashMap::new();
            let pairs = (0..100_000_u64).into_par_iter().map(|n| {
                if n == at {
                    token.stop();
                }
                (n, n)
            });
            let _ = with_token(&token, || map.par_extend(pairs));
            map.iter().for_each(|(key, value)| assert_eq!(key, value));
        }
    });
}

#[test]
fn scans_retains_and_shuffles_that_are_stopped() {
    in_pools(|| {
        for at in [0, 1000, 99_999] {
            let token = StopToken::new();
            let dropped = AtomicUsize::new(0);
            let mut v: Vec<_> = (0..100_000).map(|n| Counted(n, &dropped)).collect();
            let result = with_token(&token, || {
                v.par_retain(|item| {
                    if item.0 == at {
                        token.stop();
                    }
                    item.0 % 3 > 0
                });
            });
            assert!(result.is_err() || v.len() == 66_666);
            drop(v);
            assert_eq!(dropped.into_inner(), 100_000);
        }
    });
}

/// That the cuts of a tree are fixed is no reason to go on after a stop.
#[test]
fn a_stop_ends_a_deterministic_loop_between_slow_items() {
    type Slow<'s> = &'s (dyn Fn(u32) -> u32 + Sync);
    let ended = |run: &dyn Fn(&StopToken, Slow<'_>) -> bool| {
        let (token, after) = (StopToken::new(), AtomicUsize::new(0));
        let slow = |n| {
            if token.is_stopped() {
                after.fetch_add(1, Relaxed);
            }
            thread::sleep(Duration::from_micros(200));
            if n == 5 {
                token.stop();
            }
            n
        };
        assert!(run(&token, &slow));
        // A thread may have looked just before.
        let after = after.into_inner();
        assert!(after <= tine::current_num_threads(), "{after}");
    };
    in_pools(|| {
        let items = || (0..20_000_u32).into_par_iter().deterministic();
        ended(&|token, slow| items().map(slow).until(token).sum::<u32>().is_err());
        ended(&|token, slow| {
            let folded = items().fold(|| 0, |sum, n| sum + slow(n));
            folded.until(token).sum::<u32>().is_err()
        });
        ended(&|token, slow| {
            let counted = items().filter(|&n| slow(n) > 7).until(token).count();
            counted.is_err()
        });
    });
}

/// Calls whose loops are no parallel iterators nevertheless look at tokens between slow items.
#[test]
fn a_token_around_ends_calls_of_every_kind_between_slow_items() {
    type Call<'c> = &'c (dyn Fn(&mut [u32], &(dyn Fn() + Sync)) + Sync);
    let add = |op: &(dyn Fn() + Sync), a: u32, b: u32| {
        op();
        a.wrapping_add(b)
    };
    let calls: [(&str, Call<'_>); 7] = [
        ("cached keys", &|v, op| {
            v.par_sort_by_cached_key(|n| {
                op();
                *n
            });
        }),
        ("cached texts", &|v, op| {
            v[..2000].par_sort_by_cached_key(|n| {
                op();
                n.to_string()
            });
        }),
        ("buckets", &|v, op| {
            v.par_counting_sort_by_key(100, |n| {
                op();
                *n as usize % 100
            });
        }),
        ("scan in place", &|v, op| {
            v.par_scan_by(|| 0, |a, b| add(op, a, b));
        }),
        ("scan", &|v, op| {
            let items = v.par_iter().copied();
            let sums = items.scan_inclusive(|| 0, |a, b| add(op, a, b));
            drop(sums.collect::<Vec<_>>());
        }),
        ("scan into slow", &|v, op| {
            let sums = v.par_iter().copied().scan_inclusive(|| 0, u32::max);
            sums.for_each(|_| op());
        }),
        ("scan of slow", &|v, op| {
            let items = v.to_vec().into_par_iter().map(|n| {
                op();
                n
            });
            drop(items.scan_exclusive(|| 0, u32::max).collect::<Vec<_>>());
        }),
    ];
    for (name, call) in calls {
        in_pools(|| {
            let mut v: Vec<u32> = (0..20_000_u32)
                .map(|n| n.wrapping_mul(0x9E37_79B9))
                .collect();
            let (token, calls, after) =
                (StopToken::new(), AtomicUsize::new(0), AtomicUsize::new(0));
            let slow = || {
                if token.is_stopped() {
                    after.fetch_add(1, Relaxed);
                }
                thread::sleep(Duration::from_micros(200));
                if calls.fetch_add(1, Relaxed) == 5 {
                    token.stop();
                }
            };
            assert!(with_token(&token, || call(&mut v, &slow)).is_err());
            // A thread may have looked just before, and an item may take some calls.
            let after = after.into_inner();
            assert!(after <= 4 * tine::current_num_threads(), "{name}: {after}");
        });
    }
}

#[test]
fn an_until_under_a_token() {
    let (outer, inner) = (StopToken::new(), StopToken::new());
    in_pools(|| {
        let sum = with_token(&outer, || {
            (0..1000_u64).into_par_iter().until(&inner).sum::<u64>()
        });
        assert_eq!(sum, Ok(Ok(499_500)));
    });
    let outer = StopToken::new();
    let ended = with_token(&outer, || {
        let items = (0..u32::MAX).into_par_iter().until(&inner);
        items.for_each(|n| {
            if n == 10 {
                outer.stop()
            }
        })
    });
    assert_eq!(ended, Err(Stopped::default()));
}
