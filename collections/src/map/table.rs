//! Work on one table: cutting it into parts, making room in it, and taking it apart. Nothing is
//! lost if a hasher or a destructor panics on the way.
#![forbid(unsafe_code)]

use crate::farewell::Holder;
use crate::parts::part_of;
use hashbrown::{HashTable, TryReserveError, hash_table};
use std::mem;
use std::ops::{Deref, DerefMut};

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
///
/// Says whether the entries have moved.
#[inline]
pub(crate) fn make_room<T>(table: &mut HashTable<T>, hasher: impl Fn(&T) -> u64) -> bool {
    let is_full = table.len() == table.capacity() && !table.is_empty();
    if is_full {
        make_room_slow(table, &hasher);
    }
    is_full
}

#[cold]
#[inline(never)]
fn make_room_slow<T>(table: &mut HashTable<T>, hasher: &impl Fn(&T) -> u64) {
    // A number that makes a table grow if entries fill more than half of it.
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

/// A table that drops all its entries. A plain table loses the entries behind one whose destructor
/// panics.
#[derive(Clone)]
pub(crate) struct Whole<T>(HashTable<T>);

impl<T> Whole<T> {
    pub(crate) fn into_inner(mut self) -> HashTable<T> {
        mem::take(&mut self.0)
    }
}

impl<T> From<HashTable<T>> for Whole<T> {
    fn from(table: HashTable<T>) -> Self {
        Whole(table)
    }
}

impl<T> Deref for Whole<T> {
    type Target = HashTable<T>;

    #[inline]
    fn deref(&self) -> &HashTable<T> {
        &self.0
    }
}

impl<T> DerefMut for Whole<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut HashTable<T> {
        &mut self.0
    }
}

impl<T> Drop for Whole<T> {
    fn drop(&mut self) {
        mem::take(&mut self.0).drop_inside();
    }
}

/// The entries that leave a table. Those that are left are dropped as [`Whole`] says.
pub(crate) struct Leaving<T>(hash_table::IntoIter<T>);

impl<T> IntoIterator for Whole<T> {
    type Item = T;
    type IntoIter = Leaving<T>;

    fn into_iter(self) -> Leaving<T> {
        Leaving(self.into_inner().into_iter())
    }
}

impl<T> Iterator for Leaving<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    #[inline]
    fn fold<A, F: FnMut(A, T) -> A>(mut self, start: A, f: F) -> A {
        mem::take(&mut self.0).fold(start, f)
    }
}

impl<T> Drop for Leaving<T> {
    fn drop(&mut self) {
        if const { mem::needs_drop::<T>() } {
            self.0.by_ref().for_each(drop);
        }
    }
}

/// The key. The value is dropped before the key is returned; if that panics, the key is dropped as
/// well.
pub(crate) fn key_alone<K, V>((key, value): (K, V)) -> K {
    drop(value);
    key
}

/// The value, as [`key_alone`] returns the key.
pub(crate) fn value_alone<K, V>((key, value): (K, V)) -> V {
    drop(key);
    value
}

impl<T> Holder for HashTable<T> {
    type Entry = T;

    fn count(&self) -> usize {
        self.len()
    }

    fn leave(self, out: impl FnMut(T)) {
        self.into_iter().for_each(out);
    }

    // Not as the table itself does it: if a destructor panics, the table loses all entries after that one.
    fn drop_inside(self) {
        if const { mem::needs_drop::<T>() } {
            self.leave(drop);
        }
    }
}

impl<T> Holder for &mut HashTable<T> {
    type Entry = T;

    fn count(&self) -> usize {
        self.len()
    }

    fn leave(self, out: impl FnMut(T)) {
        self.drain().for_each(out);
    }

    fn drop_inside(self) {
        match const { mem::needs_drop::<T>() } {
            true => self.leave(drop),
            false => self.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{grow, make_room};
    use hashbrown::HashTable;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    /// A table without room, most of whose buckets are traces of removals. All entries have one hash, so
    /// they lie side by side, and each removal leaves a trace.
    fn worn(alive: &Rc<()>, kept: usize) -> HashTable<(usize, Rc<()>)> {
        let mut table = HashTable::with_capacity(448);
        for i in 0..448 {
            table.insert_unique(0, (i, alive.clone()), |_| unreachable!("room was made"));
        }
        for i in kept..448 {
            let entry = table
                .find_entry(0, |(key, _)| *key == i)
                .expect("it is there");
            drop(entry.remove());
        }
        assert_eq!((table.num_buckets(), table.len()), (512, kept));
        assert!(
            table.capacity() < kept + 40,
            "{} free",
            table.capacity() - kept
        );
        table
    }

    /// A hasher that panics at its `nth` call.
    fn blows(nth: usize) -> impl Fn(&(usize, Rc<()>)) -> u64 {
        let calls = std::cell::Cell::new(0);
        move |_| {
            calls.set(calls.get() + 1);
            assert!(calls.get() != nth, "on purpose");
            0
        }
    }

    fn is_whole(table: &HashTable<(usize, Rc<()>)>, kept: usize, alive: &Rc<()>) {
        assert_eq!((table.len(), table.iter().count()), (kept, kept));
        assert!((0..kept).all(|i| table.find(0, |(key, _)| *key == i).is_some()));
        assert_eq!(Rc::strong_count(alive), kept + 1);
    }

    /// hashbrown itself works in place where this table asks for room, and loses what it has not moved
    /// yet. If this fails one day, [`grow`] need not look after it any more.
    #[test]
    fn room_in_place_loses_entries() {
        let alive = Rc::new(());
        let mut table = worn(&alive, 100);
        let hasher = blows(50);
        assert!(catch_unwind(AssertUnwindSafe(|| table.reserve(100, hasher))).is_err());
        assert_eq!(table.num_buckets(), 512, "it has grown");
        assert!(table.len() < 100, "it has lost nothing");
    }

    #[test]
    fn a_hasher_that_panics_loses_nothing() {
        for kept in [1, 100, 223, 224, 225, 400] {
            for nth in [1, kept / 2 + 1, kept] {
                let alive = Rc::new(());
                let mut table = worn(&alive, kept);
                for more in [60, 124, 500] {
                    let hasher = blows(nth);
                    let grown = catch_unwind(AssertUnwindSafe(|| grow(&mut table, more, hasher)));
                    assert!(grown.is_err() || table.capacity() >= kept + more);
                    is_whole(&table, kept, &alive);
                }
                drop(table);
                // Until there is no room for another entry.
                let mut table = worn(&alive, kept);
                let mut count = kept;
                while table.len() < table.capacity() {
                    let entry = (count, alive.clone());
                    table.insert_unique(0, entry, |_| unreachable!("there is room"));
                    count += 1;
                }
                let hasher = blows(nth);
                let made = catch_unwind(AssertUnwindSafe(|| make_room(&mut table, hasher)));
                assert!(made.is_err(), "{kept} entries were not hashed");
                is_whole(&table, count, &alive);
                make_room(&mut table, |_| 0);
                assert!(table.capacity() > count);
                is_whole(&table, count, &alive);
                drop(table);
                assert_eq!(Rc::strong_count(&alive), 1);
            }
        }
    }
}
