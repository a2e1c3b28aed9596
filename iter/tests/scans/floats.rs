//! Floats: the same bits, whichever threads add them, namely the bits from the documented brackets.

use tine_iter::prelude::*;
use tine_iter::scan::{ParallelScan, ParallelScanMut};

use crate::in_pools;

const LENGTHS: &[usize] = if cfg!(miri) {
    &[1, 16, 17, 60]
} else {
    &[1, 4096, 4097, 20_000, 300_000]
};

fn some(len: usize) -> Vec<f64> {
    let wild = |n: usize| ((n * 7919 % 1013) as f64 - 300.0) * 1.1_f64.powi((n % 97) as i32 - 50);
    (0..len).map(wild).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Runs `op` several times in each pool, and expects the same bits each time.
fn always_the_same(what: &str, op: impl Fn() -> Vec<f64> + Sync) -> Vec<u64> {
    let mut made = in_pools(&|| bits(&op()));
    let last = made.pop().unwrap();
    for values in made {
        assert!(
            values == last,
            "{what}: other bits on another number of threads"
        );
    }
    last
}

#[test]
fn bits_depend_on_the_number_of_items_alone() {
    for &len in LENGTHS {
        let v = some(len);
        let walked = always_the_same("walked twice", || v.par_iter().prefix_sum().collect());
        let kept = always_the_same("kept", || v.clone().into_par_iter().prefix_sum().collect());
        let placed = always_the_same("by position", || {
            let last_first: Vec<f64> = v.par_iter().prefix_sum::<f64>().rev().collect();
            last_first.into_iter().rev().collect()
        });
        let filtered = always_the_same("unindexed", || {
            v.par_iter().filter(|x| **x > -1e9).prefix_sum().collect()
        });
        let in_place = always_the_same("in place", || {
            let mut v = v.clone();
            v.par_prefix_sum();
            v
        });
        assert!(walked == kept && kept == placed && placed == filtered && filtered == in_place);
        if len <= 16 || len <= 4096 && !cfg!(miri) {
            let mut acc = 0.0;
            let looped = v.iter().map(|x| {
                acc += x;
                acc
            });
            assert_eq!(walked, bits(&looped.collect::<Vec<_>>()));
        }
    }
}

#[test]
fn totals_are_the_last_value() {
    for &len in LENGTHS {
        let v = some(len);
        let totals = in_pools(&|| {
            let (mut a, mut b, mut c, mut d) = (0.0, 0.0, 0.0, v.clone());
            let last = *v
                .par_iter()
                .prefix_sum()
                .total(&mut a)
                .collect::<Vec<f64>>()
                .last()
                .unwrap();
            v.par_iter()
                .prefix_sum_exclusive()
                .total(&mut b)
                .for_each(|_: f64| ());
            let count = v
                .par_iter()
                .prefix_sum()
                .total(&mut c)
                .rev()
                .filter(|x: &f64| *x == last)
                .count();
            assert!(count > 0);
            bits(&[last, a, b, c, d.par_prefix_sum(), *d.last().unwrap()])
        });
        for total in totals {
            assert!(
                total.iter().all(|bits| *bits == total[0]),
                "{len}: {total:?}"
            );
        }
    }
}
