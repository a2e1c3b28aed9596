//! Draws what the threads do in calls that go well, and in three that do not: work that cannot be
//! shared evenly, a long tail, and a wake-up that comes late.
//!
//! ```text
//! cargo run --release --features timeline --example timeline [directory]
//! ```
//!
//! writes a picture of each (`.svg`) and a trace for ui.perfetto.dev (`.json`) into the directory,
//! which is the system's temporary one unless named, and prints the report of each.

use std::error::Error;
use std::hint::black_box;
use std::ops::Range;
use std::time::Duration;
use std::{env, fs, path::PathBuf, thread};
use tine::prelude::*;
use tine::timeline;

/// Arithmetic for about `micros` microseconds.
fn work(micros: u64) -> u64 {
    (0..micros * 400).fold(micros, |x, n| black_box(x.rotate_left(5) ^ n))
}

/// A call, and the same in sequence.
type Case = (&'static str, fn() -> u64, fn() -> u64);

const CASES: [Case; 4] = [
    ("well", well, || sum(0..2_000, even)),
    ("imbalance", imbalance, || work(1_000) ^ work(5_000)),
    (
        "long-tail",
        || par_sum(0..1_000, tail),
        || sum(0..1_000, tail),
    ),
    ("from-sleep", from_sleep, || 0),
];

fn sum(items: Range<u64>, micros: fn(u64) -> u64) -> u64 {
    items.map(|n| work(micros(n)) >> 8).sum()
}

fn par_sum(items: Range<u64>, micros: fn(u64) -> u64) -> u64 {
    items.into_par_iter().map(|n| work(micros(n)) >> 8).sum()
}

fn even(_: u64) -> u64 {
    2
}

/// Many short items, and at the end one that takes as long as all the others.
fn tail(n: u64) -> u64 {
    if n == 999 { 4_000 } else { 4 }
}

/// Even work, a sort, many small tasks.
fn well() -> u64 {
    let sum = par_sum(0..2_000, even);
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
    sum
}

/// Two tasks of very different length, and nothing else to do.
fn imbalance() -> u64 {
    let (short, long) = tine::join(|| work(1_000), || work(5_000));
    short ^ long
}

/// Calls that find the pool asleep.
fn from_sleep() -> u64 {
    let call = |_| {
        thread::sleep(Duration::from_millis(2));
        let (a, b) = tine::join(|| work(500), || work(500));
        a ^ b
    };
    (0..5).fold(0, |all, n| all | call(n))
}

fn main() -> Result<(), Box<dyn Error>> {
    let into = env::args_os()
        .nth(1)
        .map_or_else(env::temp_dir, PathBuf::from);
    for (name, call, expected) in CASES {
        let (found, timeline) = timeline::record(call);
        assert_eq!(found, expected(), "{name}: not the sequential answer");
        let path = into.join(format!("timeline-{name}.svg"));
        fs::write(&path, timeline.to_svg())?;
        fs::write(path.with_extension("json"), timeline.to_chrome_trace())?;
        println!("{name}: {}\n{}\n", path.display(), timeline.report());
    }
    Ok(())
}
