//! As many items as a `usize` counts, and searches that end early.

use tine_iter::prelude::*;
use tine_iter::scan::{ParallelScan, ParallelScanMut};

use crate::in_pools;

#[test]
fn as_many_items_as_there_can_be() {
    in_pools(&|| {
        let all = || (0..usize::MAX).into_par_iter();
        let add = |a: usize, b: usize| a.wrapping_add(b);
        assert_eq!(all().scan_inclusive(|| 0, add).len(), usize::MAX);
        assert_eq!(all().prefix_sum::<usize>().opt_len(), Some(usize::MAX));
        assert_eq!(
            all().scan_inclusive(|| 0, add).find_first(|&n| n >= 1000),
            Some(1035)
        );
        assert!(all().scan_exclusive(|| 0, add).any(|n| n > 100_000));
        let ones = || tine_iter::iter::repeat_n(1_usize, usize::MAX);
        assert_eq!(
            ones().scan_inclusive(|| 0, add).find_first(|&n| n > 100),
            Some(101)
        );
        let nothing = vec![(); usize::MAX];
        let units = nothing
            .par_iter()
            .copied()
            .scan_inclusive(|| (), |(), ()| ());
        assert_eq!(units.find_any(|()| true), Some(()));
        let many = (0..u64::MAX).into_par_iter().map(|n| n % 3);
        let first = many
            .scan_inclusive(|| 0, |a: u64, b| a.max(b))
            .find_first(|&n| n == 2);
        assert_eq!(first, Some(2));
    });
}

#[test]
fn more_items_than_that_are_refused() {
    let scan = || {
        (0..u128::MAX)
            .into_par_iter()
            .prefix_sum::<u128>()
            .find_any(|_| true)
    };
    assert!(std::panic::catch_unwind(scan).is_err());
}

#[test]
fn nothing_at_all() {
    in_pools(&|| {
        let (mut a, mut b) = (7, 7);
        let none: [i32; 0] = [];
        assert!(
            none.par_iter()
                .prefix_sum::<i32>()
                .total(&mut a)
                .collect::<Vec<_>>()
                .is_empty()
        );
        let scan = none
            .par_iter()
            .copied()
            .scan_inclusive(|| 1, |a, b| a * b)
            .total(&mut b);
        assert_eq!(scan.rev().count(), 0);
        assert_eq!((a, b), (0, 1));
        assert_eq!([0_u8; 0].par_prefix_sum(), 0);
        [0_u8; 0].par_scan_by_flags(&[], || 0, |a, b| a + b);
        let (front, back) = (3..3)
            .into_par_iter()
            .prefix_sum::<usize>()
            .partition(|_| true);
        assert_eq!((front, back), (Vec::new(), Vec::new()));
    });
}

#[test]
fn units_in_place() {
    let mut units = [(); 10_000];
    in_pools(&|| ());
    units.par_scan_by(|| (), |(), ()| ());
}

#[test]
fn searches_end_early() {
    let len = if cfg!(miri) { 100 } else { 300_000 };
    let v: Vec<usize> = vec![1; len];
    in_pools(&|| {
        for at in [0, 1, len / 3, len - 1] {
            let scan = || v.par_iter().prefix_sum::<usize>();
            assert_eq!(scan().position_first(|n| n == at + 1), Some(at));
            assert_eq!(scan().find_any(|&n| n == at + 1), Some(at + 1));
            let kept = v.clone().into_par_iter().prefix_sum::<usize>();
            assert_eq!(kept.find_first(|&n| n > at), Some(at + 1));
            let sum = scan()
                .map(|n| if n <= at { Some(n) } else { None })
                .while_some()
                .max();
            assert!(sum <= Some(at));
            let failed = scan().try_for_each(|n| if n == at + 1 { Err(n) } else { Ok(()) });
            assert_eq!(failed, Err(at + 1));
        }
        let some = v.par_iter().prefix_sum::<usize>().take_any(7).count();
        assert_eq!(some, 7);
    });
}

/// A total is that of all items, or the old value: also where the search ends inside of the last block.
#[test]
fn a_total_is_whole_or_none() {
    fn check(len: usize, size: usize, wanted: usize, at: usize) {
        const OLD: u64 = u64::MAX;
        let v: Vec<u64> = (1..=len as u64).collect();
        let all = v.iter().sum::<u64>();
        let at_value = v[..=at].iter().sum::<u64>();
        let is_good = |total: u64| {
            let whole = total == all;
            assert!(
                whole || total == OLD,
                "{total} of {all}, {len} {size} {wanted} {at}"
            );
            whole
        };
        let add = |a: u64, b: u64| a.wrapping_add(b);
        let (mut first, mut any, mut kept, mut some, mut each) = (OLD, OLD, OLD, OLD, OLD);
        let scan = || {
            v.par_iter()
                .copied()
                .scan_inclusive(|| 0, add)
                .blocks_of(size)
        };
        let found = scan().total(&mut first).find_first(|&x| x == at_value);
        assert_eq!(found, Some(at_value));
        is_good(first);
        scan().total(&mut any).any(|x| x == at_value);
        is_good(any);
        // These items cannot be walked twice.
        let once = v
            .clone()
            .into_par_iter()
            .map(|x| x)
            .scan_inclusive(|| 0, add);
        let found = once
            .blocks_of(size)
            .total(&mut kept)
            .find_first(|&x| x == at_value);
        assert_eq!(found, Some(at_value));
        is_good(kept);
        assert_eq!(scan().total(&mut some).take_any(wanted).count(), wanted);
        is_good(some);
        // And where all values are handed on, it is there.
        let sum = scan().total(&mut each).map(Some).while_some().count();
        assert!(sum == len && is_good(each));
    }
    in_pools(&|| {
        check(4, 1000, 2, 2);
        check(4, 1, 4, 3);
        let len = if cfg!(miri) { 100 } else { 40_000 };
        for size in [len / 50, len / 3, len] {
            for at in [0, len / 2, len - len / 100, len - 2, len - 1] {
                check(len, size, at + 1, at);
            }
        }
    });
}
