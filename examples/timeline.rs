//! Draws what the threads do in four calls: even work, a long tail, a nested sort, many spawns.
//!
//! ```text
//! cargo run --release --features timeline --example timeline [directory]
//! ```
//!
//! writes `timeline.svg` and `timeline.json` (for ui.perfetto.dev) into the directory, which is
//! the system's temporary one unless named.

use std::error::Error;
use std::hint::black_box;
use std::{env, fs, path::PathBuf};
use tine::prelude::*;
use tine::timeline;

/// Arithmetic for about so many microseconds.
fn work(micros: u64) -> u64 {
    (0..micros * 400).fold(micros, |x, n| black_box(x.rotate_left(5) ^ n))
}

fn four_calls() -> u64 {
    let even: u64 = (0..2_000).into_par_iter().map(|_| work(2)).sum();
    let tail: u64 = (0..2_000).into_par_iter().map(|n| work(n / 400)).sum();
    let mut v: Vec<u64> = (0..300_000).map(|n| n * 0x9e37_79b9 % 1_000_003).collect();
    v.par_sort_by(|a, b| a.cmp(b));
    assert!(v.par_is_sorted());
    tine::scope(|s| {
        for _ in 0..500 {
            s.spawn(|_| {
                black_box(work(3));
            });
        }
    });
    even ^ tail ^ v[0]
}

fn main() -> Result<(), Box<dyn Error>> {
    let (answer, timeline) = timeline::record(four_calls);
    let expected = (0..2_000).fold(0, |sum: u64, _| sum.wrapping_add(work(2)));
    let tail = (0..2_000).fold(0, |sum: u64, n| sum.wrapping_add(work(n / 400)));
    assert_eq!(answer, expected ^ tail, "not the sequential answer");

    let into = env::args_os()
        .nth(1)
        .map_or_else(env::temp_dir, PathBuf::from);
    fs::write(into.join("timeline.svg"), timeline.to_svg())?;
    fs::write(into.join("timeline.json"), timeline.to_chrome_trace())?;
    println!(
        "{:?} in all; written to {}",
        timeline.took(),
        into.display()
    );
    for lane in timeline.lanes() {
        println!(
            "{:>20}: busy {:?}, {} steals, {} wakes",
            lane.name(),
            lane.busy(),
            lane.steals(),
            lane.wakes(),
        );
    }
    Ok(())
}
