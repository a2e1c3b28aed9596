//! As many items as a `usize` counts, and searches that end early.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use tine_iter::iter::ParallelUntil;
use tine_iter::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, bridge,
};
use tine_iter::prelude::*;
use tine_iter::scan::{ParallelScan, ParallelScanMut};
use tine_pool::{StopToken, current_num_threads};

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
    let len = if cfg!(miri) { 100 } else { 100_000 };
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

/// A total covers all items, or is the old value: also if the search ends inside the last block.
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
        let len = if cfg!(miri) { 100 } else { 15_000 };
        for size in [len / 50, len / 3, len] {
            for at in [0, len / 2, len - len / 100, len - 2, len - 1] {
                check(len, size, at + 1, at);
            }
        }
    });
}

/// The same if a token ends it; no consumer foresees that stop.
#[test]
fn a_total_is_whole_or_none_where_a_token_is_stopped() {
    const OLD: u64 = u64::MAX;
    let len = if cfg!(miri) { 100 } else { 10_000 };
    let ones = vec![1_u64; len as usize];
    let add = |a: u64, b: u64| a + b;
    in_pools(&|| {
        for last in [2, len / 3, len - 1, len] {
            for size in [7, len as usize] {
                let (mut walked, mut kept) = (OLD, OLD);
                let token = StopToken::new();
                let stop = |n: u64| {
                    if n == last {
                        token.stop();
                    }
                };
                let scan = ones.par_iter().copied().scan_inclusive(|| 0, add);
                let scan = scan.blocks_of(size).total(&mut walked);
                let _ = scan.until(&token).for_each(stop);
                assert!([len, OLD].contains(&walked), "{walked} of {len}");

                let token = StopToken::new();
                let stop = |n: u64| {
                    if n == last {
                        token.stop();
                    }
                };
                let items = ones.clone().into_par_iter().map(|n| n);
                let scan = items.scan_inclusive(|| 0, add).blocks_of(size);
                let _ = scan.total(&mut kept).until(&token).for_each(stop);
                assert!([len, OLD].contains(&kept), "{kept} of {len}");
            }
        }
    });
}

/// Between two slow items the scan looks at the token.
#[test]
fn a_token_ends_a_scan_between_slow_items() {
    in_pools(&|| {
        let token = StopToken::new();
        let after = AtomicUsize::new(0);
        let slow = |n: u64| {
            if token.is_stopped() {
                after.fetch_add(1, Relaxed);
            }
            thread::sleep(Duration::from_micros(200));
            if n >= 5 {
                token.stop();
            }
        };
        let sums = (0..20_000_u64)
            .into_par_iter()
            .scan_inclusive(|| 0, |a, b| a + b);
        assert!(sums.until(&token).for_each(slow).is_err());
        // A thread may have looked just before.
        assert!(after.into_inner() <= current_num_threads());
    });
}

/// Numbers whose iterator says less about its length than it should.
struct Vague(u64, u64);

struct VagueIter(std::ops::Range<u64>);

impl Iterator for VagueIter {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0.next()
    }
}

impl DoubleEndedIterator for VagueIter {
    fn next_back(&mut self) -> Option<u64> {
        self.0.next_back()
    }
}

impl ExactSizeIterator for VagueIter {}

impl Producer for Vague {
    type Item = u64;
    type IntoIter = VagueIter;

    fn into_iter(self) -> VagueIter {
        VagueIter(self.0..self.1)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let mid = self.0 + index as u64;
        (Vague(self.0, mid), Vague(mid, self.1))
    }
}

impl ParallelIterator for Vague {
    type Item = u64;

    fn drive_unindexed<C: UnindexedConsumer<u64>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl IndexedParallelIterator for Vague {
    fn len(&self) -> usize {
        (self.1 - self.0) as usize
    }

    fn drive<C: Consumer<u64>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<u64>>(self, callback: CB) -> CB::Output {
        callback.callback(self)
    }
}

/// Counts items, in each piece up to this number and one more. It knows nothing of blocks.
#[derive(Clone, Copy)]
struct UpTo(u64);

struct Counting(u64, UpTo);

impl Consumer<u64> for UpTo {
    type Folder = Counting;
    type Reducer = UpTo;
    type Result = u64;

    fn split_at(self, _: usize) -> (Self, Self, UpTo) {
        (self, self, self)
    }

    fn into_folder(self) -> Counting {
        Counting(0, self)
    }

    fn full(&self) -> bool {
        false
    }
}

impl Folder<u64> for Counting {
    type Result = u64;

    fn consume(self, _: u64) -> Self {
        Counting(self.0 + 1, self.1)
    }

    fn complete(self) -> u64 {
        self.0
    }

    fn full(&self) -> bool {
        self.0 > self.1.0
    }
}

impl Reducer<u64> for UpTo {
    fn reduce(self, left: u64, right: u64) -> u64 {
        left + right
    }
}

/// A source of another crate whose iterators have no exact length is scanned nevertheless, and a total is whole
/// or old.
#[test]
fn a_source_whose_iterators_do_not_know_their_length() {
    in_pools(&|| {
        let len = if cfg!(miri) { 100 } else { 10_000_u64 };
        let all = len * (len - 1) / 2;
        for size in [7, len as usize] {
            let (mut total, mut found) = (u64::MAX, u64::MAX);
            let scan = || {
                Vague(0, len)
                    .scan_inclusive(|| 0, |a, b| a + b)
                    .blocks_of(size)
            };
            let taken = scan().total(&mut total).drive(UpTo(u64::MAX));
            assert_eq!((taken, total), (len, all));
            let taken = scan().total(&mut found).drive(UpTo(9));
            assert!(9 < taken && taken <= len, "{taken}");
            assert!([all, u64::MAX].contains(&found), "{found}");
            let mut sums = Vec::new();
            scan().collect_into_vec(&mut sums);
            assert_eq!((sums.len(), sums.last()), (len as usize, Some(&all)));
        }
    });
}
