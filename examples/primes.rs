//! A sieve in segments: the primes up to the square root strike out the rest. Each
//! thread takes one segment of the rest at a time, small enough for its cache.
//!
//! `cargo run --release --example primes [LIMIT]`

use std::env;
use std::ops::Range;
use std::time::Instant;
use tine::prelude::*;

/// How many numbers a segment has; each takes a byte.
const SEGMENT: usize = 1 << 16;

/// The primes below `limit`, by Eratosthenes.
fn sieve(limit: usize) -> Vec<usize> {
    let mut composite = vec![false; limit];
    let mut primes = Vec::new();
    for n in 2..limit {
        if !composite[n] {
            primes.push(n);
            (n * n..limit)
                .step_by(n)
                .for_each(|multiple| composite[multiple] = true);
        }
    }
    primes
}

/// The primes of a segment, whose smallest factors are all in `small`.
fn segment(numbers: Range<usize>, small: &[usize]) -> Vec<usize> {
    let mut composite = vec![false; numbers.len()];
    for &prime in small
        .iter()
        .take_while(|&prime| prime * prime < numbers.end)
    {
        let first = (prime * prime).max(numbers.start.next_multiple_of(prime));
        for multiple in (first..numbers.end).step_by(prime) {
            composite[multiple - numbers.start] = true;
        }
    }
    let left = numbers.zip(composite).filter(|&(_, composite)| !composite);
    left.map(|(n, _)| n).collect()
}

/// The primes below `limit`, on all cores and in order.
fn par_sieve(limit: usize) -> Vec<usize> {
    let root = limit.min(limit.isqrt() + 1);
    let mut primes = sieve(root);
    let segments = (root..limit).into_par_iter().step_by(SEGMENT);
    let more = segments.flat_map_iter(|start| segment(start..limit.min(start + SEGMENT), &primes));
    let more: Vec<usize> = more.collect();
    primes.extend(more);
    primes
}

fn main() {
    let limit = env::args().nth(1);
    let limit = limit.map_or(20_000_000, |n| n.parse().expect("a number"));
    let start = Instant::now();
    let alone = sieve(limit);
    let middle = Instant::now();
    let together = par_sieve(limit);
    println!(
        "{:.1?} in sequence, {:.1?} in segments",
        middle - start,
        middle.elapsed()
    );
    println!("{} primes below {limit}", together.len());
    assert_eq!(together, alone);
}
