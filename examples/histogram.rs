//! A histogram in three ways: the loop; `fold` and `reduce`, with which any
//! summary of many items can be made, one for each thread, and these then joined;
//! and `histogram`, which does just that.
//!
//! `cargo run --release --example histogram [NUMBERS]`

use std::env;
use std::time::Instant;
use tine::prelude::*;

const BINS: usize = 24;

/// The sum of twelve throws: nearly a bell.
fn bin(seed: &u64) -> usize {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut sum = 0;
    for _ in 0..12 {
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        sum += (x >> 48) as usize;
    }
    sum * BINS / (12 << 16)
}

fn count(mut counts: Vec<usize>, seed: &u64) -> Vec<usize> {
    counts[bin(seed)] += 1;
    counts
}

fn joined(mut a: Vec<usize>, b: Vec<usize>) -> Vec<usize> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}

fn main() {
    let len = env::args()
        .nth(1)
        .map_or(4_000_000, |n| n.parse().expect("a number"));
    let seeds: Vec<u64> = (0..len).collect();
    let none = || vec![0; BINS];

    let begun = Instant::now();
    let alone = seeds.iter().fold(none(), count);
    let first = Instant::now();
    let folded = seeds.par_iter().fold(none, count).reduce(none, joined);
    let second = Instant::now();
    let counted = seeds.par_iter().histogram(BINS, |seed| bin(seed));
    println!(
        "{len} numbers: {:.1?} in sequence, {:.1?} by fold and reduce, {:.1?} by histogram",
        first - begun,
        second - first,
        second.elapsed()
    );
    assert!(folded == alone && counted == alone);
    let most = alone.iter().max().copied().unwrap_or(0).max(1);
    for (bin, n) in counted.iter().enumerate() {
        println!("{bin:>3} {n:>8} {}", "#".repeat(n * 60 / most));
    }
}
