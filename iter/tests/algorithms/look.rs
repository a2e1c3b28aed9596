//! The methods that look at slices.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use quickcheck::quickcheck;
use tine_iter::algorithms::{ParallelFlat, ParallelSliceLook};
use tine_iter::prelude::*;

use crate::kit::{Census, LENGTHS, bomb, in_pools, message, numbers, panics};

fn small(v: Vec<u8>) -> Vec<u8> {
    v.into_iter().map(|x| x % 2).collect()
}

quickcheck! {
    fn finds_slices(hay: Vec<u8>, needle: Vec<u8>) -> bool {
        let (hay, needle) = (small(hay), small(needle.into_iter().take(9).collect()));
        let expected = match needle.len() {
            0 => Some(0),
            len => hay.windows(len).position(|window| window == needle),
        };
        hay.par_find_slice(&needle) == expected
    }

    fn compares(a: Vec<u8>, b: Vec<u8>, more: Vec<u8>) -> bool {
        let (mut x, mut y) = (more.clone(), more);
        x.extend(&a);
        y.extend(&b);
        let expected = match x.iter().zip(&y).position(|(a, b)| a != b) {
            None if x.len() == y.len() => None,
            None => Some(x.len().min(y.len())),
            at => at,
        };
        x.par_mismatch(&y) == expected && y.par_mismatch(&x) == expected
    }

    fn neighbours(v: Vec<u8>) -> bool {
        let v = small(v);
        let mut deduped = v.clone();
        deduped.dedup();
        let differences = v.par_adjacent_difference(|a, b| a.wrapping_sub(*b));
        let sums: Vec<u8> = differences
            .iter()
            .scan(0_u8, |sum, x| {
                *sum = sum.wrapping_add(*x);
                Some(*sum)
            })
            .collect();
        v.par_adjacent_find(|a, b| a < b) == v.windows(2).position(|w| w[0] < w[1])
            && v.par_deduped() == deduped
            && sums == v
    }

    fn bounds(v: Vec<u8>, keys: Vec<u8>) -> bool {
        let mut v = v;
        v.sort();
        let lower: Vec<usize> = keys.iter().map(|k| v.partition_point(|x| x < k)).collect();
        let upper: Vec<usize> = keys.iter().map(|k| v.partition_point(|x| x <= k)).collect();
        let found = v.par_binary_searches(&keys);
        let right = found.iter().zip(&keys).zip(&lower).all(|((found, key), lower)| match found {
            Ok(at) => at == lower && v[*at] == *key,
            Err(at) => at == lower && !v.contains(key),
        });
        v.par_lower_bounds(&keys) == lower && v.par_upper_bounds(&keys) == upper && right
    }

    fn tokens(v: Vec<u8>) -> bool {
        let v = small(v);
        let expected = v.split(|x| *x == 0).filter(|piece| !piece.is_empty());
        v.par_tokens(|x| *x == 0).collect::<Vec<_>>() == expected.collect::<Vec<_>>()
    }

    fn flat(v: Vec<Vec<u16>>, from: usize) -> bool {
        let expected = v.concat();
        let from = from % (expected.len() + 1);
        v.par_concat() == expected
            && v.par_flat().rev().eq(expected.par_iter().rev())
            && v.par_flat().skip(from).eq(expected.par_iter().skip(from))
            && v.par_flat().enumerate().all(|(at, x)| expected[at] == *x)
    }
}

/// Every way to cut a flat iterator in three, forwards and backwards.
#[test]
fn flat_is_cut_anywhere() {
    let v = [vec![0, 1, 2], vec![], vec![3], vec![4, 5, 6, 7], vec![]];
    for a in 0..=8 {
        for b in a..=8 {
            let part = || v.par_flat().copied().skip(a).take(b - a);
            assert!(part().collect::<Vec<usize>>().into_iter().eq(a..b));
            assert!(
                part()
                    .rev()
                    .collect::<Vec<usize>>()
                    .into_iter()
                    .eq((a..b).rev())
            );
            assert!(
                part()
                    .chunks(2)
                    .flatten_iter()
                    .collect::<Vec<usize>>()
                    .into_iter()
                    .eq(a..b)
            );
        }
    }
    let none: [Vec<u8>; 2] = [vec![], vec![]];
    assert_eq!(none.par_flat().len(), 0);
    assert!(none.par_concat().is_empty());
}

#[test]
fn long_slices() {
    for len in LENGTHS {
        let v = numbers(len, 1 << 20);
        let mut sorted = v.clone();
        sorted.sort();
        let rows: Vec<&[u64]> = v.chunks(777).collect();
        in_pools(|| {
            assert!(rows.par_concat() == v);
            let lower: Vec<usize> = v
                .iter()
                .map(|k| sorted.partition_point(|x| x < k))
                .collect();
            assert!(sorted.par_lower_bounds(&v) == lower);
            for at in [0, len / 2, len.saturating_sub(1)] {
                let mut other = v.clone();
                if let Some(element) = other.get_mut(at) {
                    *element += 1;
                    assert_eq!(v.par_mismatch(&other), Some(at));
                    let needle = &other[at..(at + 10).min(len)];
                    let expected = other.windows(needle.len()).position(|w| w == needle);
                    assert_eq!(other.par_find_slice(needle), expected);
                }
            }
            assert_eq!(v.par_mismatch(&v), None);
            assert_eq!(v.par_mismatch(&v[..len / 2]), (len > 0).then_some(len / 2));
        });
    }
}

#[test]
fn a_run_is_found_wherever_it_lies() {
    // Across the seams of pieces, longer than some of them, and where nearly all matches nearly.
    let mut hay = vec![0_u8; 100_000];
    for needle_len in [1, 2, 50, 3_000, 20_000] {
        for at in [0, 4_090, 4_096, 50_000, 100_000 - needle_len] {
            let mut needle = vec![0; needle_len];
            needle[needle_len - 1] = 1;
            hay[at + needle_len - 1] = 1;
            in_pools(|| assert_eq!(hay.par_find_slice(&needle), Some(at)));
            hay[at + needle_len - 1] = 0;
            in_pools(|| assert_eq!(hay.par_find_slice(&needle), None));
        }
    }
}

#[test]
fn panics_reach_the_caller() {
    in_pools(|| {
        for len in [100, 50_000] {
            let census = Census::new();
            let v = census.values(len);
            let at = len / 2;
            assert!(panics(|| v.par_adjacent_find(|a, _| {
                bomb(a.number, at);
                false
            })));
            assert!(panics(|| v.par_deduped_by(|a, _| {
                bomb(a.number, at);
                false
            })));
            assert!(panics(|| v.par_adjacent_difference(|a, b| {
                bomb(b.number, at);
                a.clone()
            })));
            assert!(panics(|| v.par_bounds_by(&[1, 2, 3], |x, _| {
                bomb(x.number, at);
                true
            })));
            assert!(panics(|| v
                .par_tokens(|x| {
                    bomb(x.number, at);
                    false
                })
                .count()));
            census.bomb(at);
            assert!(panics(|| [&v[..], &v].par_concat()));
            census.bomb(usize::MAX);
            assert_eq!(census.alive(), len as isize);
        }
    });
}

/// Equal to nothing, or to anything, as it pleases.
struct Fickle<'c>(&'c AtomicUsize);

impl PartialEq for Fickle<'_> {
    fn eq(&self, _: &Self) -> bool {
        !self.0.fetch_add(1, SeqCst).is_multiple_of(3)
    }
}

#[test]
fn elements_that_lie() {
    let calls = AtomicUsize::new(0);
    let v: Vec<_> = (0..20_000).map(|_| Fickle(&calls)).collect();
    in_pools(|| {
        assert!(v.par_mismatch(&v).is_some_and(|at| at < v.len()));
        let found = v.par_find_slice(&v[..50]);
        assert!(found.is_none_or(|at| at <= v.len() - 50));
        let bounds = v.par_bounds_by(&[(); 100], |_, ()| {
            calls.fetch_add(1, SeqCst).is_multiple_of(2)
        });
        assert!(bounds.into_iter().all(|at| at <= v.len()));
    });
    let nans = [f64::NAN; 100];
    assert_eq!(nans.par_find_slice(&[f64::NAN]), None);
    assert_eq!(nans.par_mismatch(&nans), Some(0));
}

#[test]
fn more_items_than_can_be_counted() {
    let units = vec![(); usize::MAX];
    let said = message(|| [&units[..], &units].par_flat::<()>().len());
    assert!(said.contains("more items than a usize counts"), "{said}");
}
