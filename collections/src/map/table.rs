//! Surgery on one table: cutting it into parts, and making room in it, so that nothing is lost
//! should a hasher panic on the way.
#![forbid(unsafe_code)]

use crate::parts::part_of;
use hashbrown::HashTable;

/// Moves all entries of a table to `count` tables, each to the one of its hash.
///
/// If `hasher` panics, nothing has moved.
pub(crate) fn divide<T>(
    table: &mut HashTable<T>,
    count: usize,
    hasher: &impl Fn(&T) -> u64,
) -> Vec<HashTable<T>> {
    let hashes: Vec<u64> = table.iter().map(hasher).collect();
    let mut sizes = vec![0; count];
    hashes
        .iter()
        .for_each(|&hash| sizes[part_of(hash, count)] += 1);
    let mut parts: Vec<HashTable<T>> = sizes.into_iter().map(HashTable::with_capacity).collect();
    for (hash, entry) in hashes.into_iter().zip(table.drain()) {
        parts[part_of(hash, count)].insert_unique(hash, entry, |_| unreachable!("room was made"));
    }
    *table = HashTable::new();
    parts
}

/// Room for one more, so that nothing is lost should `hasher` panic.
///
/// A table that grows leaves the old one untouched until the new one is
/// complete. A table that only clears away the traces of removals does so in
/// place, and would lose entries. So in that case the entries move to a fresh
/// table.
#[inline]
pub(crate) fn make_room<T>(table: &mut HashTable<T>, hasher: impl Fn(&T) -> u64) {
    if table.len() == table.capacity() && !table.is_empty() {
        make_room_slow(table, &hasher);
    }
}

#[cold]
fn make_room_slow<T>(table: &mut HashTable<T>, hasher: &impl Fn(&T) -> u64) {
    let full = table.num_buckets() / 8 * 7;
    if table.len() < full / 2 {
        let capacity = full / 2 + 1;
        let fresh = refresh(table, capacity, hasher);
        *table = fresh;
    } else {
        // More than half of it is entries, so this grows, and growing is safe.
        table.reserve(table.len().max(1), hasher);
    }
}

/// The same entries in a fresh table.
fn refresh<T>(
    table: &mut HashTable<T>,
    capacity: usize,
    hasher: &impl Fn(&T) -> u64,
) -> HashTable<T> {
    let hashes: Vec<u64> = table.iter().map(hasher).collect();
    let mut fresh = HashTable::with_capacity(capacity);
    for (hash, entry) in hashes.into_iter().zip(table.drain()) {
        fresh.insert_unique(hash, entry, |_| unreachable!("room was made"));
    }
    fresh
}
