//! What it costs to be ready to record a timeline, and to record one: a tree of joins around a
//! microsecond of work each, timed with and without a recording by turns.
//!
//! `benches/recording.sh` runs this program built with the feature `timeline` and without it, by
//! turns too, and makes a table of it. A line: what was done, and nanoseconds per join.

use std::hint::black_box;
use std::time::Instant;

const DEPTH: u32 = 12;
const ROUNDS: usize = 60;

/// About a microsecond of arithmetic: each step waits for the one before, so that it takes the same
/// time wherever the compiler has put the loop.
fn work() -> u64 {
    let step = |x: u64, n: u64| (x ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..black_box(600)).fold(black_box(1), step)
}

fn tree(depth: u32) -> u64 {
    if depth == 0 {
        return work();
    }
    let (a, b) = tine_pool::join(|| tree(depth - 1), || tree(depth - 1));
    a ^ b.rotate_left(1)
}

/// Nanoseconds per leaf of one tree.
fn sample() -> f64 {
    let start = Instant::now();
    black_box(tree(black_box(DEPTH)));
    start.elapsed().as_nanos() as f64 / f64::from(1 << DEPTH)
}

#[cfg(feature = "timeline")]
fn recorded() -> Option<f64> {
    let recording = tine_pool::trace::Recording::new();
    let time = sample();
    let (_, lanes) = recording.end();
    assert!(!lanes.is_empty(), "nothing was recorded");
    Some(time)
}

#[cfg(not(feature = "timeline"))]
fn recorded() -> Option<f64> {
    None
}

fn main() {
    for round in 0..=ROUNDS {
        let (plain, recorded) = match round % 2 {
            0 => (sample(), recorded()),
            _ => {
                let first = recorded();
                (sample(), first)
            }
        };
        // The first round is for getting to know each other.
        if round == 0 {
            continue;
        }
        match recorded {
            Some(time) => println!("ready {plain:.1}\nrecording {time:.1}"),
            None => println!("off {plain:.1}"),
        }
    }
}
