//! Surgery on one table: cutting it into parts, and making room in it, so that nothing is lost if a
//! hasher panics on the way.
#![forbid(unsafe_code)]

use crate::parts::part_of;
use hashbrown::{HashTable, TryReserveError};

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

/// Room for one more, so that nothing is lost if `hasher` panics.
///
/// A table that grows leaves the old one untouched until the new one is complete. But a table that
/// only clears away the traces of removals works in place, and would lose entries: [`grow`] moves
/// those to a fresh table.
#[inline]
pub(crate) fn make_room<T>(table: &mut HashTable<T>, hasher: impl Fn(&T) -> u64) {
    if table.len() == table.capacity() && !table.is_empty() {
        make_room_slow(table, &hasher);
    }
}

#[cold]
fn make_room_slow<T>(table: &mut HashTable<T>, hasher: &impl Fn(&T) -> u64) {
    // By a number that makes a table grow if more than half of it is entries.
    let full = table.num_buckets() / 8 * 7;
    let more = if table.len() < full / 2 {
        1
    } else {
        table.len()
    };
    grow(table, more, hasher).expect("capacity overflow, or no memory for the entries");
}

/// Room for `additional` more, so that nothing is lost if `hasher` panics. This is the only way to
/// ask a table with entries for room.
pub(crate) fn grow<T>(
    table: &mut HashTable<T>,
    additional: usize,
    hasher: impl Fn(&T) -> u64,
) -> Result<(), TryReserveError> {
    let Some(needed) = table.len().checked_add(additional) else {
        return Err(TryReserveError::CapacityOverflow);
    };
    let full = table.num_buckets() / 8 * 7;
    if needed <= table.capacity() {
        Ok(())
    } else if needed <= full / 2 {
        // There is room under the traces of removals.
        *table = refresh(table, full / 2 + 1, &hasher)?;
        Ok(())
    } else {
        table.try_reserve(additional, hasher)
    }
}

/// The same entries in a fresh table.
///
/// If `hasher` panics, nothing has moved.
fn refresh<T>(
    table: &mut HashTable<T>,
    capacity: usize,
    hasher: &impl Fn(&T) -> u64,
) -> Result<HashTable<T>, TryReserveError> {
    let hashes: Vec<u64> = table.iter().map(hasher).collect();
    let mut fresh = HashTable::new();
    fresh.try_reserve(capacity, |_| unreachable!("it is empty"))?;
    for (hash, entry) in hashes.into_iter().zip(table.drain()) {
        fresh.insert_unique(hash, entry, |_| unreachable!("room was made"));
    }
    Ok(fresh)
}
