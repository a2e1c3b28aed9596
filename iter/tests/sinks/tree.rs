//! `deterministic`: the same bits, whichever threads add.

use std::time::Duration;

use quickcheck::quickcheck;
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

use crate::kit::SIZES;

/// Numbers whose sum depends on the order of adding.
fn parts(len: usize) -> Vec<f64> {
    let scale = |n: usize| 10f64.powi(n as i32 * 7 % 23 - 11);
    (0..len).map(|n| scale(n) / (n as f64 + 1.0)).collect()
}

/// Everything that the promise covers, as bits.
fn bits(parts: &[f64]) -> [u64; 5] {
    let all = || parts.par_iter().copied().deterministic();
    [
        all().sum::<f64>(),
        all().map(|x| 1.0 + x * 1e-12).product::<f64>(),
        all().reduce(|| 0.0, |a, b| a + b),
        all().fold(|| 0.5, |a, b| a + b).sum::<f64>(),
        all()
            .filter(|x| *x > 1e-3)
            .fold(|| 0.0, |a, b| a + b)
            .reduce(|| 0.0, |a, b| a - b),
    ]
    .map(f64::to_bits)
}

#[test]
fn bits_do_not_depend_on_threads() {
    for size in SIZES {
        let parts = parts(size);
        let mut seen = Vec::new();
        for threads in [1, 2, 3, 7, 16] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            seen.push(pool.install(|| bits(&parts)));
        }
        seen.dedup();
        assert_eq!(seen.len(), 1, "at {size} items");
    }
}

#[test]
fn bits_do_not_depend_on_who_is_late() {
    let parts = parts(5000);
    let pool = ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let sum = |late: usize| {
        let slow = |(n, x): (usize, &f64)| {
            if n % 1500 == late {
                std::thread::sleep(Duration::from_millis(1));
            }
            *x
        };
        pool.install(|| {
            parts
                .par_iter()
                .enumerate()
                .deterministic()
                .map(slow)
                .sum::<f64>()
        })
    };
    let sums: Vec<u64> = (0..20).map(|late| sum(late * 70).to_bits()).collect();
    assert!(sums.iter().all(|bits| *bits == sums[0]), "{sums:?}");
}

#[test]
fn bits_do_not_depend_on_what_is_known() {
    let parts = parts(5000);
    for size in [1000, 256, 263, 5000] {
        let sum = || {
            let all = parts[..size].par_iter().deterministic();
            all.map(|x| x * 1.5).fold(|| 0.0, |a, b| a + b).sum::<f64>()
        };
        // The first calls offer every node to the pool; later ones know that few are worth it.
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let first = pool.install(sum);
        assert!(
            (0..50).all(|_| sum().to_bits() == first.to_bits()),
            "{size}"
        );
    }
}

/// The lengths of the pieces, in order.
fn pieces(iter: impl ParallelIterator) -> Vec<usize> {
    iter.fold(|| 0, |count, _| count + 1).collect()
}

#[test]
fn shape() {
    let of = |len: usize| pieces((0..len).into_par_iter().deterministic());
    assert_eq!(of(10), [1; 10]);
    assert_eq!(of(64), [1; 64]);
    assert_eq!(of(640), [10; 64]);
    assert!(of(1_000_000).iter().rev().skip(1).all(|len| *len == 1024));
    let least = pieces((0..1000).into_par_iter().with_min_len(300).deterministic());
    assert_eq!(least, [300, 300, 400]);
    let least = pieces((0..8500).into_par_iter().with_min_len(1000).deterministic());
    assert_eq!(least, [1000, 1000, 1000, 1000, 1000, 1000, 1000, 1500]);
    let all = pieces(
        (0..10)
            .into_par_iter()
            .with_min_len(usize::MAX)
            .deterministic(),
    );
    assert_eq!(all, [10]);
    let most = pieces((0..1000).into_par_iter().with_max_len(7).deterministic());
    assert!(most.iter().rev().skip(1).all(|len| *len == 7) && most.len() == 143);
}

quickcheck! {
    fn otherwise_the_same_iterator(items: Vec<u16>) -> bool {
        let all = || items.par_iter().copied().deterministic();
        all().opt_len() == Some(items.len())
            && all().collect::<Vec<_>>() == items
            && all().filter(|n| n % 3 == 0).count() == items.iter().filter(|n| *n % 3 == 0).count()
            && all().max() == items.iter().copied().max()
            && all().find_first(|n| *n > 9) == items.iter().copied().find(|n| *n > 9)
    }
}
