//! Comparisons, clones and closures that panic, in methods that look at their input: the panic arrives, and
//! every value that was made on the way is dropped once.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tine_iter::algorithms::{
    ParallelAccumulate, ParallelFlat, ParallelRetain, ParallelSliceLook, ParallelSortedSets,
};
use tine_iter::prelude::*;
use tine_iter::scan::ParallelScanMut;
use tine_iter::sort::ParallelSorted;

use crate::kit::{Census, Counted, bomb, in_pools, panics};

/// The number that cannot be compared.
static BAD: AtomicUsize = AtomicUsize::new(usize::MAX);

#[derive(Clone)]
struct Touchy<'c>(Counted<'c>);

impl Touchy<'_> {
    fn touch(&self) -> usize {
        bomb(self.0.number, BAD.load(Relaxed));
        self.0.number
    }
}

impl PartialEq for Touchy<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.touch() == other.touch()
    }
}

impl Eq for Touchy<'_> {}

impl PartialOrd for Touchy<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Touchy<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.touch().cmp(&other.touch())
    }
}

const LEN: usize = 20_000;

fn touchy(census: &Census, len: usize) -> Vec<Touchy<'_>> {
    census.values(len).into_iter().map(Touchy).collect()
}

/// A single test, since all share the bad number.
#[test]
fn of_comparisons() {
    let census = Census::new();
    let v = touchy(&census, LEN);
    let copy = v.clone();
    let alive = census.alive();
    in_pools(|| {
        for bad in [0, LEN / 3, LEN - 1] {
            BAD.store(bad, Relaxed);
            assert!(panics(|| v.par_mismatch(&copy)));
            assert!(panics(|| v.par_find_slice(&copy[LEN - 2..])));
            assert!(panics(|| v.par_find_slice(&copy[bad..])));
            assert!(panics(|| v.par_deduped()));
            assert!(panics(|| v.par_is_sorted()));
            assert!(panics(|| v.par_lower_bounds(&copy)));
            assert!(panics(|| v.par_upper_bounds(&copy)));
            assert!(panics(|| v.par_binary_searches(&copy)));
            assert!(panics(|| v.par_merged(&copy)));
            assert!(panics(|| v.par_union(&copy)));
            assert!(panics(|| v.par_intersection(&copy)));
            assert!(panics(|| v.par_difference(&copy)));
            assert!(panics(|| v.par_symmetric_difference(&copy)));
            assert!(panics(|| v.par_includes(&copy)));
            assert!(panics(|| v.par_iter().min_max()));
            // The keys of segments.
            let mut sums = vec![1_u64; LEN];
            let plus = |a, b| a + b;
            assert!(panics(|| sums.par_scan_by_key(&v, || 0, plus)));
            assert!(panics(|| sums.par_scan_exclusive_by_key(&v, || 0, plus)));
            assert_eq!(census.alive(), alive);
        }
        BAD.store(usize::MAX, Relaxed);
        assert_eq!(v.par_mismatch(&copy), None);
    });
}

#[test]
fn of_clones() {
    in_pools(|| {
        let census = Census::new();
        let v: Vec<_> = census.values(LEN).into_iter().map(Touchy).collect();
        let mut target = census.values(LEN);
        let alive = census.alive();
        for bad in [0, LEN / 2, LEN - 1] {
            census.bomb(bad);
            assert!(panics(|| v.par_merged(&v[..0])));
            assert!(panics(|| v.par_union(&v)));
            assert!(panics(|| v.par_difference(&v[..0])));
            assert!(panics(|| v.par_deduped()));
            assert!(panics(|| [&v[..], &v].par_concat()));
            // The total and every element are clones of the first.
            let all = census.value(bad);
            assert!(panics(|| target.par_scan_by(|| all.clone(), |a, _| a)));
            census.bomb(usize::MAX);
            drop(all);
            assert_eq!(census.alive(), alive);
        }
    });
}

#[test]
fn of_closures() {
    in_pools(|| {
        let census = Census::new();
        let numbers: Vec<usize> = (0..LEN).collect();
        for bad in [0, LEN / 2, LEN - 1] {
            let bin = |n: &usize| {
                bomb(*n, bad);
                n % 8
            };
            assert!(panics(|| numbers.par_iter().histogram_array::<8, _>(bin)));
            let bins = |n: &usize| [bin(n), 7];
            assert!(panics(|| {
                let numbers = numbers.par_iter();
                numbers.histogram_channels::<2, 8, _>(bins)
            }));
            let mut v = census.values(LEN);
            assert!(panics(|| v.par_retain_mut(|x| {
                bomb(x.number, bad);
                x.number % 2 == 0
            })));
            assert_eq!(census.alive(), v.len() as isize);
            let mut flags = vec![false; LEN];
            flags[bad] = true;
            let mut sums = vec![1_usize; LEN];
            let join = |a: usize, b: usize| {
                bomb(a, 3);
                a + b
            };
            assert!(panics(|| sums.par_scan_by_flags(&flags, || 0, join)));
        }
        assert_eq!(census.alive(), 0);
    });
}
