//! `accumulate` and the methods made from it.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use quickcheck::quickcheck;
use tine_iter::algorithms::ParallelAccumulate;
use tine_iter::prelude::*;

use crate::kit::{Census, LENGTHS, bomb, in_pools, message, numbers, panics};

quickcheck! {
    fn accumulates_in_order(v: Vec<u8>) -> bool {
        let text = v.par_iter().filter(|x| **x > 9).accumulate(
            Vec::new,
            |text, &x| text.push(x),
            |text, more| text.extend(more),
        );
        text.into_iter().eq(v.into_iter().filter(|x| *x > 9))
    }

    fn min_max_as_min_and_max(v: Vec<(u8, usize)>) -> bool {
        let by_key = |pair: &&(u8, usize)| pair.0;
        let found = v.par_iter().min_max_by_key(by_key);
        let same = v.par_iter().min_max_by(|a, b| a.0.cmp(&b.0));
        let least = v.iter().min_by_key(by_key);
        let at = |one: Option<&(u8, usize)>| one.map(std::ptr::from_ref);
        let greatest = v.iter().max_by_key(by_key);
        at(found.map(|f| f.0)) == at(least)
            && at(found.map(|f| f.1)) == at(greatest)
            && at(same.map(|f| f.0)) == at(least)
            && at(same.map(|f| f.1)) == at(greatest)
            && v.par_iter().min_max() == v.iter().min().zip(v.iter().max())
    }

    // Numbers go one by one, other items in pairs.
    fn min_max_of_any_type(v: Vec<(u64, i64, i8, u128, bool, String)>) -> bool {
        macro_rules! agree {
            ($($field:tt),*) => {
                $({
                    let items = v.par_iter().map(|item| item.$field.clone());
                    let all: Vec<_> = v.iter().map(|item| item.$field.clone()).collect();
                    let ends = all.iter().min().cloned().zip(all.iter().max().cloned());
                    items.clone().min_max() == ends
                        && items.filter(|_| true).min_max() == ends
                })&&*
            };
        }
        agree!(0, 1, 2, 3, 4, 5)
    }
}

#[test]
fn large_and_small_accumulators() {
    for len in LENGTHS {
        let v = numbers(len, 256);
        let mut counts = [0; 256];
        v.iter().for_each(|&x| counts[x as usize] += 1);
        in_pools(|| {
            let items = v.par_iter().map(|&x| x as usize);
            assert_eq!(items.clone().histogram_array::<256, _>(|x| x), counts);
            let filtered = items.clone().filter(|_| true);
            assert_eq!(filtered.histogram_array::<256, _>(|x| x), counts);
            let [a, b] = items
                .clone()
                .histogram_channels::<2, 256, _>(|x| [x, 255 - x]);
            assert_eq!(a, counts);
            assert!(b.iter().rev().eq(&counts));
            let sum = items.accumulate(|| 0, |sum, x| *sum += x, |sum, other| *sum += other);
            assert_eq!(sum, v.iter().sum::<u64>() as usize);
        });
    }
}

#[test]
fn min_max_of_many_numbers() {
    for len in LENGTHS {
        let v = numbers(len, 1 << 40);
        let ends = v.iter().copied().min().zip(v.iter().copied().max());
        in_pools(|| {
            assert_eq!(v.par_iter().copied().min_max(), ends);
            assert_eq!(
                v.par_iter().copied().min_max_by(|a, b| b.cmp(a)),
                ends.map(|(a, b)| (b, a))
            );
        });
    }
}

#[test]
fn a_state_is_made_once_for_a_piece() {
    let made = AtomicUsize::new(0);
    let init = || {
        made.fetch_add(1, SeqCst);
        0
    };
    in_pools(|| {
        made.store(0, SeqCst);
        let sum = (0..100_000_u64).into_par_iter().accumulate(
            init,
            |sum, x| *sum += x,
            |sum, other| *sum += other,
        );
        assert_eq!(sum, 4_999_950_000);
        assert!(made.load(SeqCst) <= 200, "{made:?} states");
    });
}

#[test]
fn panics_in_each_closure() {
    in_pools(|| {
        for large in [false, true] {
            for which in 0..3 {
                let census = Census::new();
                let calls = AtomicUsize::new(0);
                let panicked = panics(|| {
                    let items = census.values(2_000).into_par_iter().with_max_len(100);
                    if large {
                        items.accumulate(
                            || {
                                bomb(which, 0);
                                (Vec::new(), [0_u64; 64])
                            },
                            |(kept, _), item| {
                                if which == 1 {
                                    bomb(item.number, 1_234);
                                }
                                kept.push(item);
                            },
                            |(kept, _), (more, _)| {
                                kept.extend(more);
                                if which == 2 {
                                    bomb(calls.fetch_add(1, SeqCst), 3);
                                }
                            },
                        );
                    } else {
                        items.accumulate(
                            || {
                                bomb(which, 0);
                                Vec::new()
                            },
                            |kept, item| {
                                if which == 1 {
                                    bomb(item.number, 1_234);
                                }
                                kept.push(item);
                            },
                            |kept, more| {
                                kept.extend(more);
                                if which == 2 {
                                    bomb(calls.fetch_add(1, SeqCst), 3);
                                }
                            },
                        );
                    }
                });
                assert!(panicked);
                assert_eq!(census.alive(), 0);
            }
        }
    });
}

#[test]
fn a_bin_too_far() {
    let run = || (0..10_usize).into_par_iter().histogram_array::<4, _>(|x| x);
    assert!(message(run).contains("of a histogram with 4 bins, asked for at"));
}

#[test]
fn min_max_panics_and_lies() {
    in_pools(|| {
        let census = Census::new();
        let values = census.values(10_000);
        let compare = |a: &&crate::kit::Counted<'_>, b: &&crate::kit::Counted<'_>| {
            bomb(a.number, 7_000);
            a.number.cmp(&b.number)
        };
        assert!(panics(|| values.par_iter().min_max_by(compare)));
        assert!(panics(|| values
            .par_iter()
            .min_max_by_key(|x| bomb(x.number, 7_000))));
        let owned = census.values(10_000).into_par_iter();
        let (least, greatest) = owned.min_max_by_key(|x| x.number).unwrap();
        assert_eq!((least.number, greatest.number), (0, 9_999));
        drop((least, greatest));
        assert_eq!(census.alive(), 10_000);
        // No order at all: any two items.
        let calls = AtomicUsize::new(0);
        let lies = |_: &&crate::kit::Counted<'_>, _: &&crate::kit::Counted<'_>| match calls
            .fetch_add(1, SeqCst)
            % 3
        {
            0 => Ordering::Less,
            1 => Ordering::Equal,
            _ => Ordering::Greater,
        };
        assert!(values.par_iter().min_max_by(lies).is_some());
        assert!(panics(|| {
            census.bomb(5_000);
            let clones = values.par_iter().cloned();
            clones.min_max_by_key(|x| x.number).is_some()
        }));
        census.bomb(usize::MAX);
    });
}
