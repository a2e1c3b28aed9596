//! Comparisons and keys that lie or panic: a permutation is left, and every
//! element is dropped once.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::cmp::{Ordering, Reverse};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{PATTERNS, Random, SLOW, pattern, with_threads};
use crate::prelude::*;
use crate::smallest::Smallest;
use crate::sort::radix::{keyed, scattered};
use crate::sort::scratch::{Scratch, starve, starve_after};
use crate::sort::{
    ParallelDedup, ParallelSort, par_sort_by, par_sort_by_cached_key, par_sort_by_key,
    par_sort_unstable_by, par_sort_unstable_by_key, spread, stable, unstable,
};

/// An element that owns memory and counts how often it is dropped.
struct Counted<'a> {
    key: Box<u64>,
    number: usize,
    drops: &'a [AtomicUsize],
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.drops[self.number].fetch_add(1, Relaxed);
    }
}

/// Calls `act` on a vector; afterwards nothing may be missing or doubled. Returns whether it
/// panicked.
fn survives(keys: &[u64], act: impl FnOnce(&mut Vec<Counted<'_>>)) -> bool {
    let drops: Vec<AtomicUsize> = keys.iter().map(|_| AtomicUsize::new(0)).collect();
    let make = |(number, &key): (usize, &u64)| Counted {
        key: Box::new(key),
        number,
        drops: &drops,
    };
    let mut v: Vec<_> = keys.iter().enumerate().map(make).collect();
    let panicked = catch_unwind(AssertUnwindSafe(|| act(&mut v))).is_err();
    for left in &v {
        assert_eq!(*left.key, keys[left.number], "torn");
        assert_eq!(drops[left.number].load(Relaxed), 0, "dropped while there");
    }
    drop(v);
    assert!(
        drops.iter().all(|d| d.load(Relaxed) == 1),
        "lost or doubled"
    );
    panicked
}

/// As [`survives`], and `act` must not panic.
fn calmly(keys: &[u64], act: impl FnOnce(&mut Vec<Counted<'_>>)) {
    assert!(!survives(keys, act), "a lie is no reason to panic");
}

/// Counts calls down to one that panics.
struct Fuse(AtomicUsize);

impl Fuse {
    fn burn(&self) {
        if self.0.fetch_sub(1, Relaxed) == 0 {
            // Silent: thousands of these are expected.
            resume_unwind(Box::new("the fuse"));
        }
    }
}

type Act = fn(&mut Vec<Counted<'_>>, &Fuse);

fn order(a: &Counted<'_>, b: &Counted<'_>, fuse: &Fuse) -> Ordering {
    fuse.burn();
    a.key.cmp(&b.key)
}

const ACTS: [(&str, Act); 14] = [
    ("stable", |v, fuse| {
        par_sort_by(v, &|a: &Counted<'_>, b| order(a, b, fuse))
    }),
    ("unstable", |v, fuse| {
        par_sort_unstable_by(v, &|a: &Counted<'_>, b| order(a, b, fuse))
    }),
    ("key", |v, fuse| {
        par_sort_by_key(v, &|a: &Counted<'_>| {
            fuse.burn();
            *a.key
        });
    }),
    ("unstable key", |v, fuse| {
        par_sort_unstable_by_key(v, &|a: &Counted<'_>| {
            fuse.burn();
            *a.key as u8
        });
    }),
    ("owned key", |v, fuse| {
        par_sort_by_key(v, &|a: &Counted<'_>| {
            fuse.burn();
            a.key.clone()
        });
    }),
    ("cached key", |v, fuse| {
        par_sort_by_cached_key(v, &|a: &Counted<'_>| {
            fuse.burn();
            a.key.clone()
        });
    }),
    ("merge", |v, fuse| {
        let mid = v.len() / 2;
        v.par_merge_by(mid, |a, b| order(a, b, fuse));
    }),
    ("partition", |v, fuse| {
        v.par_partition(|a| {
            fuse.burn();
            *a.key % 2 == 0
        });
    }),
    ("stable partition", |v, fuse| {
        let (mut even, odd) = std::mem::take(v).par_partition_stable(|a| {
            fuse.burn();
            *a.key % 2 == 0
        });
        even.extend(odd);
        *v = even;
    }),
    ("select", |v, fuse| {
        if !v.is_empty() {
            let middle = v.len() / 2;
            v.par_select_nth_unstable_by(middle, |a, b| order(a, b, fuse));
        }
    }),
    ("radix key", |v, fuse| {
        v.par_sort_radix_by_key(|a| {
            fuse.burn();
            (*a.key as u32, 1_u8)
        });
    }),
    ("k smallest", |v, fuse| {
        let middle = v.len() / 2;
        let items = std::mem::take(v).into_par_iter();
        *v = items.k_smallest_by(middle, |a, b| order(a, b, fuse));
    }),
    ("dedup by key", |v, fuse| {
        v.par_dedup_by_key(|a| {
            fuse.burn();
            *a.key / 2
        });
    }),
    ("dedup", |v, fuse| {
        v.par_dedup_by(|a, b| {
            fuse.burn();
            a.key == b.key
        });
    }),
];

#[test]
fn panics_at_every_call_on_small_inputs() {
    with_threads(2, || {
        for (name, act) in ACTS {
            for pattern_name in ["random", "organ", "few"] {
                let keys = pattern(pattern_name, 60);
                for call in 0.. {
                    let fuse = Fuse(AtomicUsize::new(call));
                    if !survives(&keys, |v| act(v, &fuse)) {
                        break;
                    }
                    assert!(call < 5000, "{name} never ends");
                }
            }
        }
    });
}

/// The ways that longer slices take, on short ones.
const WAYS: [(&str, Act); 6] = [
    ("spread", |v, fuse| {
        let order = |a: &Counted<'_>, b: &Counted<'_>| order(a, b, fuse);
        let mut room = Scratch::new(v.len()).expect("memory");
        let leaf = |chunk: &mut [_]| chunk.sort_by(order);
        spread::sort(v, room.room(), (7, 40), 2, &order, &leaf);
    }),
    ("chunks", |v, fuse| {
        let order = |a: &Counted<'_>, b: &Counted<'_>| order(a, b, fuse);
        stable::in_chunks(v, 2, &order, &|chunk: &mut [_]| chunk.sort_by(order));
    }),
    ("quicksort", |v, fuse| {
        unstable::in_parts(v, 2, &|a: &Counted<'_>, b: &Counted<'_>| order(a, b, fuse));
    }),
    ("scatter", |v, fuse| {
        scattered::sort(v, 2, false, &|a: &Counted<'_>| {
            fuse.burn();
            *a.key
        });
    }),
    ("runs", |v, fuse| {
        scattered::sort(v, 2, true, &|a: &Counted<'_>| {
            fuse.burn();
            *a.key
        });
    }),
    ("records", |v, fuse| {
        let key = |a: &Counted<'_>| {
            fuse.burn();
            *a.key
        };
        keyed::sort::<true, _, _, _, _>(v, 2, &key, None::<&fn(&mut [Counted<'_>])>);
    }),
];

#[test]
fn panics_at_every_call_of_each_way() {
    let all = || {
        for (name, act) in WAYS {
            for pattern_name in ["random", "organ", "few"] {
                let keys = pattern(pattern_name, if SLOW { 150 } else { 400 });
                let last = (0..20_000).find(|&call| {
                    let fuse = Fuse(AtomicUsize::new(call));
                    !survives(&keys, |v| act(v, &fuse))
                });
                assert!(last.is_some_and(|calls| calls >= keys.len()), "{name}");
            }
        }
    };
    starve(usize::MAX, || with_threads(2, all));
}

/// The number of calls that `act` makes if nothing goes wrong.
fn calls(keys: &[u64], act: Act) -> usize {
    let fuse = Fuse(AtomicUsize::new(usize::MAX));
    assert!(!survives(keys, |v| act(v, &fuse)));
    usize::MAX - fuse.0.load(Relaxed)
}

fn panics_somewhere(len: usize, rounds: usize) {
    let mut random = Random(len as u64);
    for (name, act) in ACTS {
        for pattern_name in ["random", "outlier", "organ", "swapped", "zipf"] {
            let mut keys = pattern(pattern_name, len);
            if name == "merge" {
                keys[..len / 2].sort();
                keys[len / 2..].sort();
            }
            let calls = calls(&keys, act);
            for _ in 0..rounds {
                let fuse = Fuse(AtomicUsize::new(random.below(calls)));
                // Which comparisons are made may vary from run to run.
                survives(&keys, |v| act(v, &fuse));
            }
            // Every run makes at least this many calls, whichever way it goes.
            let fuse = Fuse(AtomicUsize::new((calls / 3).min(len / 8)));
            assert!(
                survives(&keys, |v| act(v, &fuse)),
                "{name}: the panic travels"
            );
        }
    }
}

#[test]
fn panics_somewhere_in_large_inputs() {
    let (len, rounds) = if SLOW { (20_500, 1) } else { (60_000, 4) };
    // With memory from beginning to end: without it, some make fewer calls than were counted.
    starve(usize::MAX, || {
        for threads in [4, 6] {
            with_threads(threads, || panics_somewhere(len, rounds));
        }
    });
}

#[test]
fn panics_somewhere_without_memory() {
    with_threads(4, || {
        starve(1 << 12, || {
            panics_somewhere(20_500, if SLOW { 1 } else { 2 })
        })
    });
}

type Lie = fn(&Counted<'_>, &Counted<'_>, &mut Random) -> Ordering;

const LIES: [Lie; 5] = [
    |_, _, random| random.below(3).cmp(&1),
    |_, _, _| Ordering::Less,
    |_, _, _| Ordering::Greater,
    |_, _, _| Ordering::Equal,
    |a, b, _| (*a.key % 3).cmp(&((*b.key + 1) % 3)),
];

/// A comparison that lies in this way, and what it needs for that.
fn liar(lie: Lie) -> impl Fn(&Counted<'_>, &Counted<'_>) -> Ordering + Copy + Send + Sync {
    thread_local!(static RANDOM: RefCell<Random> = const { RefCell::new(Random(9)) });
    move |a, b| RANDOM.with_borrow_mut(|random| lie(a, b, random))
}

#[test]
fn comparisons_that_lie() {
    with_threads(6, || {
        for (turn, name) in PATTERNS.into_iter().enumerate() {
            let keys = pattern(name, if SLOW { 20_500 } else { 25_000 });
            for (number, lie) in LIES.into_iter().enumerate() {
                // Every pattern meets a lie and every lie two patterns or three.
                if SLOW && turn % LIES.len() != number {
                    continue;
                }
                let lie = liar(lie);
                calmly(&keys, |v| par_sort_by(v, &lie));
                calmly(&keys, |v| par_sort_unstable_by(v, &lie));
                calmly(&keys, |v| v.par_merge_by(17_000, lie));
                calmly(&keys, |v| v.par_dedup_by(|a, b| lie(a, b).is_eq()));
                calmly(&keys, |v| {
                    v.par_partition(|a| lie(a, a).is_eq());
                });
                calmly(&keys, |v| {
                    let (mut some, others) =
                        std::mem::take(v).par_partition_stable(|a| lie(a, a).is_eq());
                    some.extend(others);
                    *v = some;
                });
                calmly(&keys, |v| {
                    *v = std::mem::take(v).into_par_iter().k_smallest_by(100, lie);
                });
                starve(1 << 12, || {
                    calmly(&keys, |v| par_sort_by(v, &lie));
                    calmly(&keys, |v| v.par_merge_by(17_000, lie));
                });
            }
        }
    });
}

/// Pivots that split nothing off must not make it slow: one element for each look at all of them.
#[test]
fn selection_among_lies() {
    with_threads(4, || {
        for len in [4000, 40_000, 60_000] {
            let keys = pattern("random", len);
            // Std alone makes more than 10⁹ comparisons among 40,000 elements.
            let most = 1000 * len + 30_000_000;
            let calls = AtomicUsize::new(0);
            let less = |_: &u64, _: &u64| {
                assert!(calls.fetch_add(1, Relaxed) < most, "too many comparisons");
                Ordering::Less
            };
            let mut v: Vec<u64> = (0..len as u64).collect();
            v.par_select_nth_unstable_by(len / 2, less);
            v.into_par_iter().k_smallest_by(len / 2, less);
            for lie in LIES.map(liar) {
                for index in [0, len / 2, len - 1] {
                    calmly(&keys, |v| {
                        v.par_select_nth_unstable_by(index, lie);
                    });
                    calmly(&keys, |v| {
                        *v = std::mem::take(v).into_par_iter().k_smallest_by(index, lie);
                    });
                }
            }
        }
    });
}

#[test]
fn keys_that_lie() {
    let calls = AtomicUsize::new(0);
    let lie =
        |_: &Counted<'_>| (calls.fetch_add(1, Relaxed) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for len in [100, 5000, 20_000, 60_000] {
        let keys = pattern("random", len);
        let both = || {
            calmly(&keys, |v| v.par_sort_radix_by_key(lie));
            calmly(&keys, |v| par_sort_by_key(v, &lie));
            calmly(&keys, |v| par_sort_unstable_by_key(v, &lie));
            calls.store(0, Relaxed);
            survives(&keys, |v| par_sort_by_cached_key(v, &lie))
        };
        starve(usize::MAX, || {
            let panicked = with_threads(4, both);
            assert!(!panicked, "without comparing there is no catching a lie");
            assert_eq!(calls.load(Relaxed), len, "each key is extracted once");
        });
    }
}

/// However much memory there is, for elements that records hold and for those that they only number.
#[test]
fn cached_keys_are_asked_for_once_and_sorted_stably() {
    fn check<T: Copy + Send + Sync>(pack: fn(u64, usize) -> T, unpack: fn(&T) -> (u64, usize)) {
        for name in ["random", "sorted", "reversed", "few"] {
            for len in [2000, 5000, 60_000] {
                let keys = pattern(name, len);
                let v: Vec<T> = (0..len).map(|at| pack(keys[at], at)).collect();
                let mut expected: Vec<_> = v.iter().map(unpack).collect();
                expected.sort();
                for granted in 0..4 {
                    let calls = AtomicUsize::new(0);
                    let key = |value: &T| {
                        calls.fetch_add(1, Relaxed);
                        unpack(value).0
                    };
                    let mut v = v.clone();
                    starve_after(granted, 1 << 12, || par_sort_by_cached_key(&mut v, &key));
                    assert_eq!(calls.load(Relaxed), len, "{name} {len} {granted}");
                    assert!(
                        v.iter().map(unpack).eq(expected.iter().copied()),
                        "{name} {len}"
                    );
                }
            }
        }
    }
    with_threads(4, || {
        check(|key, at| (key, at), |&pair| pair);
        check(|key, at| (key, at, [0_u64; 5]), |&(key, at, _)| (key, at));
    });
}

/// Elements that may be their own keys.
#[test]
fn keys_of_numbers_that_lie_or_panic() {
    type Key<'a> = dyn Fn(&u64) -> u64 + Sync + 'a;
    let permutes = |sort: &dyn Fn(&mut [u64], &Key<'_>)| {
        for len in [600, 5000, 70_000] {
            let input = pattern("random", len);
            let mut expected = input.clone();
            expected.sort_unstable();
            for honest in [0, 100, len / 2, len, 2 * len + 300] {
                for panics in [false, true] {
                    let calls = AtomicUsize::new(0);
                    let key = |x: &u64| {
                        let call = calls.fetch_add(1, Relaxed);
                        if call < honest {
                            return *x;
                        }
                        assert!(!panics, "as it was told to");
                        (call as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
                    };
                    let mut v = input.clone();
                    let sorted = catch_unwind(AssertUnwindSafe(|| sort(&mut v, &key)));
                    assert!(
                        honest > 0 || !panics || sorted.is_err(),
                        "no key was asked for"
                    );
                    assert!(panics || sorted.is_ok(), "a lie is no reason to panic");
                    v.sort_unstable();
                    assert!(v == expected, "a permutation: {len}, {honest}, {panics}");
                }
            }
        }
    };
    with_threads(4, || {
        let reversed = |v: &mut [u64], key: &Key<'_>| par_sort_by_key(v, &|x| Reverse(key(x)));
        permutes(&reversed);
        permutes(&|v, key| par_sort_by_key(v, &key));
        permutes(&|v, key| par_sort_unstable_by_key(v, &key));
    });
}
