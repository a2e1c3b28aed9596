//! Quicksort by `join`: two halves that no longer exchange elements are sorted at the same time.
//!
//! `cargo run --release --example quicksort [NUMBERS]`

use std::env;
use std::time::Instant;

/// Below this many elements a fork would cost more than it saves.
const SMALL: usize = 1_000;

/// Puts smaller elements before larger ones; returns the place of the first of the
/// larger ones, which is where that one belongs.
fn partition<T: Ord>(v: &mut [T]) -> usize {
    let last = v.len() - 1;
    let mut three = [0, last / 2, last];
    three.sort_by(|&a, &b| v[a].cmp(&v[b]));
    v.swap(three[1], last);
    let mut smaller = 0;
    for at in 0..last {
        if v[at] < v[last] {
            v.swap(at, smaller);
            smaller += 1;
        }
    }
    v.swap(smaller, last);
    smaller
}

/// Sorts, on as many threads as there are if it may fork.
fn quicksort<T: Ord + Send>(v: &mut [T], fork: bool) {
    if v.len() <= SMALL {
        return v.sort_unstable();
    }
    let middle = partition(v);
    let (left, right) = v.split_at_mut(middle);
    let right = &mut right[1..];
    if fork {
        tine::join(|| quicksort(left, fork), || quicksort(right, fork));
    } else {
        quicksort(left, fork);
        quicksort(right, fork);
    }
}

fn main() {
    let len = env::args().nth(1);
    let len = len.map_or(2_000_000, |n| n.parse().expect("a number"));
    let number = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut alone: Vec<u64> = (0..len).map(number).collect();
    let mut together = alone.clone();
    let start = Instant::now();
    quicksort(&mut alone, false);
    let middle = Instant::now();
    quicksort(&mut together, true);
    println!(
        "{:.1?} in sequence, {:.1?} by join",
        middle - start,
        middle.elapsed()
    );
    assert!(together == alone && alone.is_sorted());
}
