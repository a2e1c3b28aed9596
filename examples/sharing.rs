//! One result from many threads: how often each of a few values occurs, counted in seven ways.
//!
//! ```text
//! cargo run --release --example sharing [bytes]
//! ```
//!
//! prints the best of 20 runs of each, and of the sequential loop. The page `tine::guide::sharing` says when to
//! use which.

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{array, env};
use tine::ParHashMap;
use tine::prelude::*;

type Counts = [usize; 256];
type Way = (&'static str, fn(&[u8]) -> Counts);

const ROUNDS: usize = 20;

const WAYS: [Way; 8] = [
    ("a sequential loop", sequential),
    ("a Mutex, locked for each item", mutex),
    ("a Mutex, locked once for each 64 KB", mutex_by_chunk),
    ("an array of atomics", atomics),
    ("ParHashMap::upsert", map),
    ("fold and reduce", fold),
    ("histogram", |bytes| {
        whole(bytes.par_iter().histogram(256, |byte| usize::from(**byte)))
    }),
    ("count_by", count_by),
];

fn sequential(bytes: &[u8]) -> Counts {
    let mut counts = [0; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    counts
}

fn mutex(bytes: &[u8]) -> Counts {
    let counts = Mutex::new([0; 256]);
    bytes
        .par_iter()
        .for_each(|&byte| counts.lock().unwrap()[usize::from(byte)] += 1);
    counts.into_inner().unwrap()
}

fn mutex_by_chunk(bytes: &[u8]) -> Counts {
    let counts = Mutex::new([0; 256]);
    bytes.par_chunks(64 << 10).for_each(|chunk| {
        let more = sequential(chunk);
        add(&mut *counts.lock().unwrap(), &more);
    });
    counts.into_inner().unwrap()
}

fn atomics(bytes: &[u8]) -> Counts {
    let counts: [AtomicUsize; 256] = array::from_fn(|_| AtomicUsize::new(0));
    bytes.par_iter().for_each(|&byte| {
        // Only the final counts are read, so this need not order any other memory access.
        counts[usize::from(byte)].fetch_add(1, Ordering::Relaxed);
    });
    counts.map(AtomicUsize::into_inner)
}

fn map(bytes: &[u8]) -> Counts {
    let map = ParHashMap::new();
    bytes.par_iter().for_each(|&byte| {
        map.upsert(byte, || 1, |count| *count += 1);
    });
    array::from_fn(|byte| map.get_cloned(&(byte as u8)).unwrap_or(0))
}

fn fold(bytes: &[u8]) -> Counts {
    let counts = bytes.par_iter().fold(
        || vec![0; 256],
        |mut counts, &byte| {
            counts[usize::from(byte)] += 1;
            counts
        },
    );
    let both = |mut a: Vec<usize>, b: Vec<usize>| {
        add(&mut a, &b);
        a
    };
    whole(counts.reduce(|| vec![0; 256], both))
}

fn count_by(bytes: &[u8]) -> Counts {
    let counts = bytes.par_iter().count_by(|byte| **byte);
    array::from_fn(|byte| counts.get_cloned(&(byte as u8)).unwrap_or(0))
}

fn add(counts: &mut [usize], more: &[usize]) {
    counts
        .iter_mut()
        .zip(more)
        .for_each(|(count, more)| *count += more);
}

fn whole(counts: Vec<usize>) -> Counts {
    counts.try_into().expect("256 counts")
}

fn main() -> Result<(), Box<dyn Error>> {
    let count = env::args()
        .nth(1)
        .map_or(Ok(10_000_000), |arg| arg.parse::<usize>())?;
    let scattered = |n: usize| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8;
    let bytes: Vec<u8> = (0..count).map(scattered).collect();
    let expected = sequential(&bytes);
    let mut base = Duration::ZERO;
    for (name, way) in WAYS {
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let counts = way(&bytes);
            best = best.min(start.elapsed());
            assert_eq!(counts, expected, "{name}");
        }
        if base.is_zero() {
            base = best;
        }
        let share = best.as_secs_f64() / base.as_secs_f64();
        println!(
            "{name:<36} {:>9.2} ms {share:>6.2} ×",
            best.as_secs_f64() * 1e3
        );
    }
    Ok(())
}
