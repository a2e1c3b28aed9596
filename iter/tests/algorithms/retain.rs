//! `par_retain` against `Vec::retain`.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use quickcheck::quickcheck;
use tine_iter::algorithms::ParallelRetain;

use crate::kit::{Census, LENGTHS, bomb, in_pools, numbers, panics};

quickcheck! {
    fn as_std_does(v: Vec<u16>, keep: u16) -> bool {
        let (mut ours, mut theirs) = (v.clone(), v);
        ours.par_retain(|x| x % 7 < keep % 8);
        theirs.retain(|x| x % 7 < keep % 8);
        ours == theirs
    }
}

#[test]
fn every_length_and_share() {
    for len in LENGTHS {
        for below in [0, 1, 50, 99, 100] {
            let v = numbers(len, 100);
            let mut expected = v.clone();
            expected.retain(|&x| x < below);
            in_pools(|| {
                let mut found = v.clone();
                found.par_retain(|&x| x < below);
                assert_eq!(found, expected, "{len} numbers, those below {below}");
            });
        }
    }
}

#[test]
fn slow_questions_are_shared_and_still_in_order() {
    in_pools(|| {
        let mut v: Vec<u32> = (0..64).collect();
        v.par_retain(|x| {
            std::thread::sleep(std::time::Duration::from_micros(200));
            x % 3 == 0
        });
        assert!(v.into_iter().eq((0..64).step_by(3)));
    });
}

#[test]
fn elements_may_change() {
    in_pools(|| {
        let mut v: Vec<usize> = (0..100_000).collect();
        v.par_retain_mut(|x| {
            *x += 1;
            *x % 2 == 0
        });
        assert!(v.into_iter().eq((2..=100_000).step_by(2)));
    });
}

#[test]
fn each_is_dropped_once() {
    in_pools(|| {
        for len in LENGTHS {
            let census = Census::new();
            let mut v = census.values(len);
            v.par_retain(|x| x.number % 5 > 2);
            let expected = (0..len).filter(|n| n % 5 > 2);
            assert!(v.iter().map(|x| x.number).eq(expected));
            assert_eq!(census.alive(), v.len() as isize);
            drop(v);
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn a_panic_loses_nothing() {
    in_pools(|| {
        for len in [1, 100, 50_000] {
            for at in [0, len / 3, len / 2, len - 1] {
                let census = Census::new();
                let mut v = census.values(len);
                assert!(panics(|| v.par_retain(|x| {
                    bomb(x.number, at);
                    x.number % 2 == 0
                })));
                // Those that were asked about and kept, and those that were not asked about.
                assert!(v.is_sorted_by_key(|x| x.number));
                assert!(v.iter().any(|x| x.number == at));
                let even = v.iter().filter(|x| x.number % 2 == 0).count();
                assert_eq!(even, len.div_ceil(2), "{len} {at}");
                assert_eq!(census.alive(), v.len() as isize);
                drop(v);
                assert_eq!(census.alive(), 0);
            }
        }
    });
}

#[test]
fn a_drop_that_panics_loses_nothing_else() {
    in_pools(|| {
        let census = Census::new();
        let mut v = census.values(50_000);
        census.bomb(30_001);
        assert!(panics(|| v.par_retain(|x| x.number % 2 == 0)));
        census.bomb(usize::MAX);
        assert!(v.is_sorted_by_key(|x| x.number));
        assert!(v.iter().all(|x| x.number != 30_001));
        assert_eq!(v.iter().filter(|x| x.number % 2 == 0).count(), 25_000);
        assert_eq!(census.alive(), v.len() as isize);
    });
}

#[test]
fn elements_without_size() {
    struct Tick<'c>(&'c AtomicUsize);
    impl Drop for Tick<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    in_pools(|| {
        let mut units = vec![(); 100_000];
        units.par_retain(|()| true);
        assert_eq!(units.len(), 100_000);
        units.par_retain(|()| false);
        assert!(units.is_empty());
        let dropped = AtomicUsize::new(0);
        let asked = AtomicUsize::new(0);
        let mut v: Vec<_> = (0..10_000).map(|_| Tick(&dropped)).collect();
        v.par_retain(|_| asked.fetch_add(1, Relaxed) % 4 == 0);
        assert_eq!((v.len(), dropped.load(Relaxed)), (2500, 7500));
        drop(v);
        assert_eq!(dropped.into_inner(), 10_000);
    });
}
