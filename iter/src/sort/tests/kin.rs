//! The methods related to the sorts, against their std twins.
#![forbid(unsafe_code)]

use std::panic::catch_unwind;

use super::{Random, all, with_threads};
use crate::prelude::*;
use crate::smallest::Smallest;
use crate::sort::{ParallelDedup, ParallelSort, ParallelSorted};

#[test]
fn merge() {
    all(0, |name, v| {
        let mut random = Random(v.len() as u64);
        let len = v.len();
        for mid in [0, len / 2, len, random.below(len), len.min(3)] {
            let mut tagged: Vec<(u64, usize)> = v.iter().copied().zip(0..).collect();
            tagged[..mid].sort();
            tagged[mid..].sort();
            let mut expected = tagged.clone();
            expected.sort();
            let mut plain: Vec<u64> = tagged.iter().map(|t| t.0).collect();
            tagged.par_merge_by(mid, |a, b| a.0.cmp(&b.0));
            assert!(tagged == expected, "{name} {len} at {mid}");
            plain.par_merge(mid);
            assert!(plain.is_sorted(), "{name} {len} at {mid}");
        }
    });
}

#[test]
fn dedup() {
    all(1, |name, v| {
        let mut expected: Vec<String> = v.iter().map(|x| (x % 100).to_string()).collect();
        let mut got = expected.clone();
        expected.dedup();
        got.par_dedup();
        assert!(got == expected, "{name}");

        let (mut expected, mut got) = (v.to_vec(), v.to_vec());
        expected.dedup_by_key(|x| *x / 500);
        got.par_dedup_by_key(|x| *x / 500);
        assert!(got == expected, "{name} by key");
    });
}

#[test]
fn partition() {
    all(0, |name, v| {
        let mut sorted = v.to_vec();
        sorted.sort();
        for modulus in [1, 2, 3, 1000] {
            let mut got = v.to_vec();
            let front = got.par_partition(|x| x % modulus == 0);
            assert_eq!(
                front,
                v.iter().filter(|x| *x % modulus == 0).count(),
                "{name}"
            );
            assert!(got[..front].iter().all(|x| x % modulus == 0), "{name}");
            got.sort();
            assert!(got == sorted, "{name}");

            let expected: (Vec<u64>, Vec<u64>) = v.iter().partition(|x| **x % modulus == 0);
            let got = v.to_vec().par_partition_stable(|x| x % modulus == 0);
            assert!(got == expected, "{name} stable");
        }
    });
}

#[test]
fn select() {
    all(1, |name, v| {
        let mut sorted = v.to_vec();
        sorted.sort();
        let len = v.len();
        for index in [0, len / 2, len / 10, len.saturating_sub(1)] {
            if index < len {
                let mut got = v.to_vec();
                let (before, nth, after) = got.par_select_nth_unstable(index);
                assert_eq!(*nth, sorted[index], "{name} {len} at {index}");
                assert!(before.iter().all(|x| x <= nth) && after.iter().all(|x| x >= nth));
                let (_, nth, _) = got.par_select_nth_unstable_by_key(index, |x| !x);
                assert_eq!(
                    *nth,
                    sorted[len - 1 - index],
                    "{name} {len} at {index}, by key"
                );
            }
        }
    });
}

#[test]
fn is_sorted() {
    all(0, |name, v| {
        assert_eq!(v.par_is_sorted(), v.is_sorted(), "{name}");
        assert_eq!(
            v.par_is_sorted_by(|a, b| a < b),
            v.is_sorted_by(|a, b| a < b),
            "{name}"
        );
        assert_eq!(
            v.par_is_sorted_by_key(|x| x >> 40),
            v.is_sorted_by_key(|x| x >> 40),
            "{name}"
        );
    });
    with_threads(4, || {
        // One pair out of order, wherever it is.
        let mut v: Vec<u32> = (0..60_000).collect();
        for at in (1..v.len()).step_by(97).chain([1, v.len() - 1]) {
            v.swap(at - 1, at);
            assert!(!v.par_is_sorted(), "at {at}");
            v.swap(at - 1, at);
        }
        assert!(v.par_is_sorted());
    });
}

#[test]
fn values_without_a_size() {
    with_threads(4, || {
        for len in [0, 1, 2, 25_000, 60_000] {
            let mut v = vec![(); len];
            v.par_merge(len / 3);
            assert_eq!(v.par_partition(|()| true), len);
            v.par_sort_radix_by_key(|()| 0_u64);
            assert!(v.par_is_sorted());
            if len > 0 {
                assert_eq!(
                    v.par_select_nth_unstable(len / 2).2.len(),
                    len - len / 2 - 1
                );
            }
            assert_eq!(v.clone().into_par_iter().k_smallest(3).len(), len.min(3));
            let (left, right) = v.clone().par_partition_stable(|()| false);
            assert_eq!((left.len(), right.len()), (0, len));
            v.par_dedup();
            assert_eq!(v.len(), len.min(1));
        }
    });
}

/// Of such values there may be more than can be looked at, or counted on from.
#[test]
fn more_values_without_a_size_than_can_be_looked_at() {
    for len in [usize::MAX, usize::MAX - 1, isize::MAX as usize] {
        let mut v = vec![(); len];
        v.par_sort();
        v.par_sort_unstable();
        v.par_sort_by(|(), ()| std::cmp::Ordering::Less);
        v.par_sort_unstable_by(|(), ()| std::cmp::Ordering::Less);
        v.par_sort_unstable_by_key(|()| 1);
        assert_eq!(v.len(), len);
    }
}

#[test]
fn bad_indices() {
    assert!(catch_unwind(|| [1, 2].par_merge(3)).is_err());
    assert!(catch_unwind(|| *[1, 2].par_select_nth_unstable(2).1).is_err());
}
