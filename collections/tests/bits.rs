//! `ParBitSet` against `BTreeSet`, alone and among threads.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use quickcheck::quickcheck;
use tine_collections::ParBitSet;
use tine_iter::prelude::*;

fn of(numbers: &[u8]) -> (ParBitSet, BTreeSet<usize>) {
    let mut set = ParBitSet::new(256);
    let numbers = numbers.iter().map(|&n| usize::from(n));
    set.extend(numbers.clone());
    (set, numbers.collect())
}

quickcheck! {
    fn one_step_after_the_other(steps: Vec<(u8, bool)>) -> bool {
        let set = ParBitSet::new(256);
        let mut twin = BTreeSet::new();
        let same = steps.into_iter().all(|(n, inserts)| {
            let n = usize::from(n);
            let changed = if inserts {
                set.insert(n) == twin.insert(n)
            } else {
                set.remove(n) == twin.remove(&n)
            };
            changed && set.contains(n) == twin.contains(&n)
        });
        same && set.iter().eq(twin.iter().copied())
            && set.par_iter().collect::<Vec<_>>() == twin.iter().copied().collect::<Vec<_>>()
            && set.count() == twin.len()
            && set.is_empty() == twin.is_empty()
            && format!("{set:?}") == format!("{twin:?}")
            && set.clone() == set
    }

    fn algebra(a: Vec<u8>, b: Vec<u8>) -> bool {
        let ((a, twin_a), (b, twin_b)) = (of(&a), of(&b));
        let (mut union, mut both, mut less) = (a.clone(), a.clone(), a.clone());
        union.union_with(&b);
        both.intersect_with(&b);
        less.difference_with(&b);
        let same = (a == b) == (twin_a == twin_b);
        same && union.iter().eq(twin_a.union(&twin_b).copied())
            && both.iter().eq(twin_a.intersection(&twin_b).copied())
            && less.iter().eq(twin_a.difference(&twin_b).copied())
    }
}

#[test]
fn one_of_many_threads_is_told() {
    for bound in [1, 63, 64, 65, 1000, 100_000] {
        let mut set = ParBitSet::new(bound);
        let (inserted, removed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let fresh = (0..bound).filter(|&n| set.insert(n)).count();
                    inserted.fetch_add(fresh, Relaxed);
                });
            }
        });
        assert_eq!(inserted.into_inner(), bound);
        assert_eq!(set.count(), bound);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let gone = (0..bound).filter(|&n| n % 2 == 0 && set.remove(n)).count();
                    removed.fetch_add(gone, Relaxed);
                });
            }
        });
        assert_eq!(removed.into_inner(), bound.div_ceil(2));
        assert!(set.iter().eq((0..bound).filter(|n| n % 2 == 1)));
        set.clear();
        assert!(set.is_empty());
        set.par_extend((0..bound).into_par_iter().rev());
        assert!(set.par_iter().count() == bound);
    }
}

/// A thread that finds a number sees what was written before the number was inserted.
#[test]
fn what_was_written_before_is_seen() {
    let set = ParBitSet::new(10_000);
    let values: Vec<AtomicUsize> = (0..10_000).map(|_| AtomicUsize::new(0)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (n, value) in values.iter().enumerate() {
                value.store(n + 1, Relaxed);
                set.insert(n);
            }
        });
        scope.spawn(|| {
            for (n, value) in values.iter().enumerate() {
                while !set.contains(n) {
                    std::hint::spin_loop();
                }
                assert_eq!(value.load(Relaxed), n + 1);
            }
        });
    });
}

#[test]
fn beyond_the_bound() {
    let set = ParBitSet::new(100);
    assert!(!set.contains(100) && !set.contains(127) && !set.contains(usize::MAX));
    for number in [100, 127, 128, usize::MAX] {
        assert!(catch_unwind(AssertUnwindSafe(|| set.insert(number))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| set.remove(number))).is_err());
    }
    let mut other = ParBitSet::new(101);
    assert!(catch_unwind(AssertUnwindSafe(|| other.union_with(&set))).is_err());
    assert!(set.is_empty() && ParBitSet::new(0).is_empty());
    assert!(ParBitSet::new(0) == other, "no numbers are no numbers");
}
