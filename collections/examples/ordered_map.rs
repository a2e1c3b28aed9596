//! A map in order that threads change while others read ranges of it: a `SkipMap` of the crate
//! `crossbeam-skiplist`, filled from a parallel loop. What is built once and then read is a `SortedVec`.
//!
//! ```text
//! cargo run --release -p tine-collections --example ordered_map
//! ```

use crossbeam_skiplist::SkipMap;
use tine::SortedVec;
use tine::prelude::*;

fn main() {
    let stamp = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let events = 0..100_000_u64;

    // Many threads insert at once. Each also reads a range, while the others go on.
    let map: SkipMap<(u64, u64), &str> = SkipMap::new();
    let seen = events.clone().into_par_iter().map(|i| {
        map.insert((stamp(i), i), if i % 2 == 0 { "even" } else { "odd" });
        map.range((stamp(i), 0)..=(stamp(i), i)).count() as u64
    });
    assert!(seen.sum::<u64>() >= 100_000, "each thread sees its own");
    assert_eq!(map.len(), 100_000);
    let early = map.range(..(1 << 20, 0)).count();

    // The same at once: an order that no thread changes any more.
    let sorted: SortedVec<(u64, u64)> = events.into_par_iter().map(|i| (stamp(i), i)).collect();
    assert_eq!(sorted.range(..(1 << 20, 0)).len(), early);
    assert!(
        sorted.iter().eq(map
            .iter()
            .map(|entry| *entry.key())
            .collect::<Vec<_>>()
            .iter())
    );
    println!("{early} of {} events are early", sorted.len());
}
