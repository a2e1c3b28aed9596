//! The part of a whole that a hash belongs to. Maps cut their tables by it, and grouping its
//! scattered items. So a part of a grouping becomes a shard of a map without being scattered again.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// The number of shards that a large map has on this machine: a power of two.
pub(crate) fn breadth() -> usize {
    static BREADTH: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: two threads at once may both ask, and the first answer stands.
    let known = BREADTH.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let threads = available_parallelism().map_or(1, usize::from);
    let breadth = (16 * threads).next_power_of_two().clamp(256, 4096);
    match BREADTH.compare_exchange(0, breadth, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => breadth,
        Err(first) => first,
    }
}

/// Up to this many items are scattered to fewer parts.
const MUCH: usize = 1 << 20;

/// The number of parts that `items` items are scattered to by `threads` threads, where it is known how many come: a power of
/// two, [`breadth()`] at most. Each thread has a list for each part, and another thread has to fetch it: where few items come, that is
/// most of the work. So there is one part for each thread then.
pub(crate) fn breadth_of(items: Option<usize>, threads: usize) -> usize {
    match items {
        Some(items) if items <= MUCH => threads.next_power_of_two().clamp(8, breadth()),
        _ => breadth(),
    }
}

/// The part, of `count` parts (a power of two), that a hash belongs to.
///
/// Tables look at a hash's lowest bits and at its highest seven. A product with a large odd number
/// lets all bits count in the ones used here.
#[inline]
pub(crate) fn part_of(hash: u64, count: usize) -> usize {
    (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44) as usize & (count - 1)
}

/// The tables of a whole that was cut twice, in the order of their numbers. `parts` has one vector for each of N large parts.
/// The numbers of the tables in one large part are N apart, as [`part_of`] has it.
pub(crate) fn interleave<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let all = parts.iter().map(Vec::len).sum();
    let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
    let mut interleaved = Vec::with_capacity(all);
    while interleaved.len() < all {
        interleaved.extend(parts.iter_mut().filter_map(Iterator::next));
    }
    interleaved
}
