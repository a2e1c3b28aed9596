//! Sorted slices as sets.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use quickcheck::quickcheck;
use tine_iter::algorithms::{Combine, ParallelSortedSets};

use crate::kit::{Census, Counted, LENGTHS, bomb, in_pools, numbers, panics};

const ALL: [Combine; 5] = [
    Combine::All,
    Combine::Union,
    Combine::Intersection,
    Combine::Difference,
    Combine::SymmetricDifference,
];

/// How often an element occurs in the result, given how often it occurs in each slice.
fn times(what: Combine, m: usize, n: usize) -> usize {
    match what {
        Combine::All => m + n,
        Combine::Union => m.max(n),
        Combine::Intersection => m.min(n),
        Combine::Difference => m.saturating_sub(n),
        Combine::SymmetricDifference => m.abs_diff(n),
    }
}

fn by_counting(a: &[u64], b: &[u64], what: Combine) -> Vec<u64> {
    let mut counts = BTreeMap::<u64, (usize, usize)>::new();
    a.iter().for_each(|x| counts.entry(*x).or_default().0 += 1);
    b.iter().for_each(|x| counts.entry(*x).or_default().1 += 1);
    let repeat = |(x, (m, n))| std::iter::repeat_n(x, times(what, m, n));
    counts.into_iter().flat_map(repeat).collect()
}

fn includes(a: &[u64], b: &[u64]) -> bool {
    by_counting(b, a, Combine::Difference).is_empty()
}

/// What two slices should give, counted once for all pools.
struct Wanted {
    combined: [Vec<u64>; 5],
    includes: bool,
}

fn wanted(a: &[u64], b: &[u64]) -> Wanted {
    Wanted {
        combined: ALL.map(|what| by_counting(a, b, what)),
        includes: includes(a, b),
    }
}

fn check(a: &[u64], b: &[u64], wanted: &Wanted) {
    for (what, wanted) in ALL.into_iter().zip(&wanted.combined) {
        let found = a.par_combined_by(b, what, u64::cmp);
        assert!(found == *wanted, "{what:?} of {} and {}", a.len(), b.len());
    }
    assert_eq!(a.par_includes(b), wanted.includes);
}

quickcheck! {
    fn as_counted(a: Vec<u8>, b: Vec<u8>) -> bool {
        let sorted = |v: Vec<u8>| {
            let mut v: Vec<u64> = v.into_iter().map(|x| u64::from(x % 32)).collect();
            v.sort();
            v
        };
        let (a, b) = (sorted(a), sorted(b));
        check(&a, &b, &wanted(&a, &b));
        a.par_union(&b) == by_counting(&a, &b, Combine::Union)
            && a.par_merged(&b) == by_counting(&a, &b, Combine::All)
            && a.par_intersection(&b) == by_counting(&a, &b, Combine::Intersection)
            && a.par_difference(&b) == by_counting(&a, &b, Combine::Difference)
            && a.par_symmetric_difference(&b)
                == by_counting(&a, &b, Combine::SymmetricDifference)
    }
}

#[test]
fn every_length_with_few_and_many_repeats() {
    for len in LENGTHS {
        for below in [1, 10, 1 << 30] {
            let mut a = numbers(len, below);
            let mut b = numbers(len / 3 + 5, below);
            a.sort();
            b.sort();
            let (there, back) = (wanted(&a, &b), wanted(&b, &a));
            in_pools(|| {
                check(&a, &b, &there);
                check(&b, &a, &back);
                assert!(a.par_includes(&a[len / 4..]));
            });
        }
    }
}

#[test]
fn equal_elements_are_of_the_first() {
    let of = |side: u8| move |n: u32| (n / 2, side);
    let a: Vec<(u32, u8)> = (0..20_000).map(of(0)).collect();
    let b: Vec<(u32, u8)> = (0..20_000).map(of(1)).collect();
    in_pools(|| {
        let by = |x: &(u32, u8), y: &(u32, u8)| x.0.cmp(&y.0);
        for what in [Combine::Union, Combine::Intersection] {
            assert!(a.par_combined_by(&b, what, by) == a);
        }
        let mut merged = [&a[..], &b].concat();
        merged.sort();
        assert!(a.par_combined_by(&b, Combine::All, by) == merged);
    });
}

#[test]
fn panics_and_lies() {
    in_pools(|| {
        let census = Census::new();
        let a = census.values(40_000);
        let b = census.values(30_000);
        let calls = AtomicUsize::new(0);
        let lie = |_: &Counted<'_>, _: &Counted<'_>| match calls.fetch_add(1, SeqCst) * 5 / 3 % 3 {
            0 => Ordering::Less,
            1 => Ordering::Equal,
            _ => Ordering::Greater,
        };
        for what in ALL {
            assert!(panics(|| a.par_combined_by(&b, what, |x, y| {
                bomb(x.number, 20_000);
                x.number.cmp(&y.number)
            })));
            assert!(a.par_combined_by(&b, what, lie).len() <= 70_000);
            assert_eq!(census.alive(), 70_000);
        }
        let _ = a.par_includes_by(&b, lie);
        assert!(panics(|| a.par_includes_by(&b, |x, y| {
            bomb(x.number, 20_000);
            x.number.cmp(&y.number)
        })));
        census.bomb(25_000);
        let by_number = |x: &Counted<'_>, y: &Counted<'_>| x.number.cmp(&y.number);
        assert!(panics(|| a.par_combined_by(&b, Combine::Union, by_number)));
        assert_eq!(census.alive(), 70_000);
        census.bomb(usize::MAX);
    });
}
