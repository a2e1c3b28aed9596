//! Streams larger than memory: how long calls by key take, and the most memory of their process, however many
//! items come.
//!
//! ```text
//! cargo run --release --ignore-rust-version --bin beyond
//! cargo run --release --ignore-rust-version --bin beyond -- distinct --rounds 3
//! ```
//!
//! Each call runs in a separate process. If words are given, only rows whose name contains one of them run.
#![forbid(unsafe_code)]

use std::env;
use std::process::Command;
use std::time::Instant;

use tine_bench::usage::peak_memory;
use tine_collections::ParHashMap;
use tine_collections::prelude::*;
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};

/// The function that is called, with a number of items and of keys. It returns the number of keys that it
/// found.
struct Row {
    name: &'static str,
    items: u64,
    keys: u64,
    call: fn(u64, u64) -> usize,
}

/// Pseudo-random numbers.
fn mix(n: u64) -> u64 {
    let n = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ n >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    n ^ n >> 32
}

/// Numbers from 0 on, of which no call knows how many there are.
fn stream(items: u64) -> impl ParallelIterator<Item = u64> {
    (0..items).into_par_iter().filter(|n| n % 1024 != 5)
}

/// A key below `keys`: the Nth comes about 1/N as often as the first.
fn zipf(n: u64, keys: u64) -> u64 {
    let share = (mix(n) >> 11) as f64 / (1_u64 << 53) as f64;
    (keys as f64).powf(share) as u64
}

fn text(n: u64, keys: u64) -> String {
    format!("key number {}", mix(n) % keys)
}

const ROWS: &[Row] = &[
    Row {
        name: "count_items, numbers",
        items: 400_000_000,
        keys: 1_000_000,
        call: |items, keys| stream(items).map(|n| mix(n) % keys).count_items().len(),
    },
    Row {
        name: "fold_by, numbers",
        items: 100_000_000,
        keys: 1_000_000,
        call: |items, keys| {
            let pairs = stream(items).map(|n| (mix(n) % keys, n));
            let add = |sum: &mut u64, more| *sum ^= more;
            let sums = pairs.fold_by(|p| p.0, || 0, |sum, p| *sum ^= p.1, add);
            sums.len()
        },
    },
    Row {
        name: "count_items, strings",
        items: 60_000_000,
        keys: 1_000_000,
        call: |items, keys| stream(items).map(|n| text(n, keys)).count_items().len(),
    },
    Row {
        name: "distinct, numbers",
        items: 400_000_000,
        keys: 1_000_000,
        call: |items, keys| stream(items).map(|n| mix(n) % keys).distinct().len(),
    },
    Row {
        name: "distinct, numbers, zipf",
        items: 100_000_000,
        keys: 100_000_000,
        call: |items, keys| stream(items).map(|n| zipf(n, keys)).distinct().len(),
    },
    Row {
        name: "distinct, all keys new",
        items: 50_000_000,
        keys: u64::MAX,
        call: |items, keys| stream(items).map(|n| mix(n) % keys).distinct().len(),
    },
    Row {
        name: "distinct, strings",
        items: 60_000_000,
        keys: 1_000_000,
        call: |items, keys| stream(items).map(|n| text(n, keys)).distinct().len(),
    },
    Row {
        name: "collect into a map, numbers",
        items: 200_000_000,
        keys: 1_000_000,
        call: |items, keys| {
            let pairs = stream(items).map(|n| (mix(n) % keys, n));
            pairs.collect::<ParHashMap<_, _>>().len()
        },
    },
    Row {
        name: "collect into a map, zipf",
        items: 100_000_000,
        keys: 100_000_000,
        call: |items, keys| {
            let pairs = stream(items).map(|n| (zipf(n, keys), n));
            pairs.collect::<ParHashMap<_, _>>().len()
        },
    },
    Row {
        name: "collect into a map, all keys new",
        items: 50_000_000,
        keys: u64::MAX,
        call: |items, keys| {
            let pairs = stream(items).map(|n| (mix(n) % keys, n));
            pairs.collect::<ParHashMap<_, _>>().len()
        },
    },
    Row {
        name: "collect into a map, strings",
        items: 60_000_000,
        keys: 1_000_000,
        call: |items, keys| {
            let pairs = stream(items).map(|n| (text(n, keys), n));
            pairs.collect::<ParHashMap<_, _>>().len()
        },
    },
];

fn run(row: &Row) {
    let start = Instant::now();
    let keys = (row.call)(row.items, row.keys);
    let (seconds, bytes) = (start.elapsed().as_secs_f64(), peak_memory());
    let (name, items) = (row.name, row.items as f64);
    println!(
        "{name:<34} {items:>6.0e} items {keys:>9} keys {seconds:>6.2} s {:>6} MB",
        bytes >> 20
    );
}

fn main() {
    let mut words = Vec::new();
    let mut rounds = 1;
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse().ok()).expect("a number");
        match arg.as_str() {
            "--child" => return run(&ROWS[number()]),
            "--rounds" => rounds = number(),
            _ => words.push(arg),
        }
    }
    let myself = env::current_exe().expect("this program");
    for _ in 0..rounds {
        for (nth, row) in ROWS.iter().enumerate() {
            if words.is_empty() || words.iter().any(|word| row.name.contains(word)) {
                let mut child = Command::new(&myself);
                let ended = child.args(["--child", &nth.to_string()]).status();
                assert!(ended.expect("a child").success(), "{}", row.name);
            }
        }
    }
}
