//! The table behind a map or a set: one shard while small, many when large.
//!
//! ```text
//!              stem (inline)          wide (allocated once)
//!   small   [ lock | table ]   →   none
//!   large   [ lock | empty ]   →   [ lock | table ] [ lock | table ] …
//! ```
//!
//! A map begins with its stem alone: it costs no allocation, and walking it is
//! walking one table. The first insertion that finds the stem crowded, by
//! entries or by threads, moves everything into the wide shards. `wide` is set
//! once, under the stem's write lock; who locks the stem looks again whether it
//! is still in use. Only `&mut` goes back.
//!
//! Nothing here knows what an entry is: callers bring hashes.
#![forbid(unsafe_code)]

use super::held::{Hold, NAMES};
use super::lock::{Lock, ReadGuard, WriteGuard};
use crate::pages::expect_read;
use hashbrown::{HashTable, TryReserveError};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// A stem with more entries than this is crowded.
pub(crate) const CROWD: usize = 2048;

/// A table under its lock, on a cache line of its own.
#[repr(align(64))]
pub(crate) struct Shard<T>(Lock<HashTable<T>>, Chart);

/// Where a table's memory is, for fetching ahead: a hint that may be out of date.
///
/// ```text
/// … | entry 2 | entry 1 | entry 0 | control bytes 0, 1, 2 …
///                                 └ middle
/// ```
///
/// A lookup misses the cache twice, once in either half, and learns where the
/// second miss will be only from the first. With the chart both are on their
/// way before the lock is taken.
struct Chart {
    middle: AtomicUsize,
    buckets: AtomicUsize,
}

impl Chart {
    fn new<T>(table: &HashTable<T>) -> Self {
        let chart = Chart {
            middle: AtomicUsize::new(0),
            buckets: AtomicUsize::new(0),
        };
        chart.draw(table);
        chart
    }

    /// Draws the chart anew, by any entry there is.
    #[cold]
    fn draw<T>(&self, table: &HashTable<T>) {
        let Some(at) = table.iter_buckets().next() else {
            return self.forget();
        };
        let entry = table
            .get_bucket(at)
            .map_or(0, |entry| &raw const *entry as usize);
        let middle = entry + (at + 1) * mem::size_of::<T>();
        self.middle.store(middle, Ordering::Relaxed);
        self.buckets.store(table.num_buckets(), Ordering::Relaxed);
    }

    fn forget(&self) {
        self.buckets.store(0, Ordering::Relaxed);
    }

    /// Draws the chart anew if the table has grown.
    #[inline]
    fn check<T>(&self, table: &HashTable<T>) {
        if self.buckets.load(Ordering::Relaxed) != table.num_buckets() && !table.is_empty() {
            self.draw(table);
        }
    }

    /// Fetches what a lookup of `hash` will most likely touch.
    #[inline]
    fn fetch<T>(&self, hash: u64) {
        let buckets = self.buckets.load(Ordering::Relaxed);
        // What lies in a page or two is in the cache already.
        if buckets > 512 {
            let at = hash as usize & (buckets - 1);
            let middle = self.middle.load(Ordering::Relaxed);
            expect_read(middle.wrapping_add(at));
            expect_read(middle.wrapping_sub((at + 1).wrapping_mul(mem::size_of::<T>())));
        }
    }
}

impl<T> Shard<T> {
    fn new(table: HashTable<T>) -> Self {
        let chart = Chart::new(&table);
        Shard(Lock::new(table), chart)
    }

    #[inline]
    fn read(&self, hash: u64, hold: Hold) -> Reading<'_, T> {
        self.1.fetch::<T>(hash);
        let table = self.0.read(hold.nested());
        Reading { table, _hold: hold }
    }

    #[inline]
    fn write(&self, hash: u64, hold: Hold) -> Writing<'_, T> {
        self.1.fetch::<T>(hash);
        let (table, _) = self.0.write();
        let chart = &self.1;
        Writing {
            table,
            chart,
            _hold: hold,
        }
    }
}

/// How many shards a large map has on this machine: a power of two.
pub(crate) fn breadth() -> usize {
    static BREADTH: OnceLock<usize> = OnceLock::new();
    *BREADTH.get_or_init(|| {
        let threads = available_parallelism().map_or(1, usize::from);
        (16 * threads).next_power_of_two().clamp(256, 4096)
    })
}

/// Which of `count` parts, a power of two, a hash belongs to.
///
/// Tables look at a hash's lowest bits and at its highest seven. A product
/// with a large odd number brings all bits to bear on the ones used here.
#[inline]
pub(crate) fn part_of(hash: u64, count: usize) -> usize {
    (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44) as usize & (count - 1)
}

/// The shards of a map or set.
pub(crate) struct Shards<T> {
    stem: Shard<T>,
    wide: OnceLock<Box<[Shard<T>]>>,
    name: Name,
}

/// What the locks of a map are known by to the threads that hold them: a number
/// that is drawn when the first of them is taken, and moves as they do. An address
/// would not do, since another map may come to lie there while a note of this one
/// is still kept, by a guard that was forgotten.
struct Name(AtomicUsize);

impl Name {
    fn new() -> Self {
        Name(AtomicUsize::new(0))
    }

    #[inline]
    fn get(&self) -> usize {
        match self.0.load(Ordering::Relaxed) {
            0 => self.draw(),
            name => name,
        }
    }

    /// Of several threads that draw one at once the first wins.
    #[cold]
    fn draw(&self) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(NAMES);
        let mut mine = 0;
        while mine == 0 {
            // Where numbers are of 32 bits they may run out, and begin anew.
            mine = NEXT.fetch_add(NAMES, Ordering::Relaxed);
        }
        let relaxed = Ordering::Relaxed;
        match self.0.compare_exchange(0, mine, relaxed, relaxed) {
            Ok(_) => mine,
            Err(theirs) => theirs,
        }
    }
}

/// Shared access to one shard's table.
pub(crate) struct Reading<'a, T> {
    table: ReadGuard<'a, HashTable<T>>,
    _hold: Hold,
}

/// Sole access to one shard's table.
pub(crate) struct Writing<'a, T> {
    table: WriteGuard<'a, HashTable<T>>,
    chart: &'a Chart,
    _hold: Hold,
}

impl<T> Drop for Writing<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.chart.check(&self.table);
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = HashTable<T>;

    #[inline]
    fn deref(&self) -> &HashTable<T> {
        &self.table
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = HashTable<T>;

    #[inline]
    fn deref(&self) -> &HashTable<T> {
        &self.table
    }
}

impl<T> DerefMut for Writing<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut HashTable<T> {
        &mut self.table
    }
}

impl<T> Shards<T> {
    pub(crate) fn new() -> Self {
        Self::from_stem(HashTable::new())
    }

    pub(crate) fn from_stem(table: HashTable<T>) -> Self {
        Shards {
            stem: Shard::new(table),
            wide: OnceLock::new(),
            name: Name::new(),
        }
    }

    /// Takes tables as shards; table `i` holds what [`part_of`] sends there.
    pub(crate) fn from_tables(tables: impl IntoIterator<Item = HashTable<T>>) -> Self {
        let wide: Box<[Shard<T>]> = tables.into_iter().map(Shard::new).collect();
        debug_assert!(wide.len().is_power_of_two(), "a power of two of shards");
        Shards {
            stem: Shard::new(HashTable::new()),
            wide: OnceLock::from(wide),
            name: Name::new(),
        }
    }

    /// Empty shards, with room for `capacity` entries altogether.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        if capacity <= CROWD {
            return Self::from_stem(HashTable::with_capacity(capacity));
        }
        assert!(
            capacity <= isize::MAX as usize / mem::size_of::<T>().max(1),
            "capacity overflow"
        );
        // Parts of a random whole differ: an eighth above the mean is enough.
        let each = capacity / breadth() + capacity / breadth() / 8 + 8;
        Self::from_tables((0..breadth()).map(|_| HashTable::with_capacity(each)))
    }

    fn id(&self) -> usize {
        self.name.get()
    }

    /// Are the wide shards in use?
    pub(crate) fn is_wide(&self) -> bool {
        self.wide.get().is_some()
    }

    /// Locks the shard of `hash` for reading.
    #[inline]
    pub(crate) fn read(&self, hash: u64) -> Reading<'_, T> {
        let hold = Hold::enter(self.id(), false);
        loop {
            if let Some(wide) = self.wide.get() {
                return wide[part_of(hash, wide.len())].read(hash, hold);
            }
            let table = self.stem.0.read(hold.nested());
            if self.wide.get().is_none() {
                return Reading { table, _hold: hold };
            }
        }
    }

    /// Locks the shard of `hash` for changing what is there.
    #[inline]
    pub(crate) fn write(&self, hash: u64) -> Writing<'_, T> {
        let hold = Hold::enter(self.id(), true);
        loop {
            if let Some(wide) = self.wide.get() {
                return wide[part_of(hash, wide.len())].write(hash, hold);
            }
            let (table, _) = self.stem.0.write();
            if self.wide.get().is_none() {
                let chart = &self.stem.1;
                return Writing {
                    table,
                    chart,
                    _hold: hold,
                };
            }
        }
    }

    /// Locks the shard of `hash` for adding one entry, with room for it.
    #[inline]
    pub(crate) fn write_to_add(&self, hash: u64, hasher: impl Fn(&T) -> u64) -> Writing<'_, T> {
        let hold = Hold::enter(self.id(), true);
        loop {
            if let Some(wide) = self.wide.get() {
                let mut writing = wide[part_of(hash, wide.len())].write(hash, hold);
                make_room(&mut writing, hasher);
                return writing;
            }
            let (mut table, waited) = self.stem.0.write();
            if self.wide.get().is_none() {
                let crowded = table.len() > CROWD || (waited && table.len() > 1);
                if !crowded {
                    make_room(&mut table, hasher);
                    let chart = &self.stem.1;
                    return Writing {
                        table,
                        chart,
                        _hold: hold,
                    };
                }
                let tables = divide(&mut table, breadth(), &hasher);
                let wide = tables.into_iter().map(Shard::new).collect();
                assert!(self.wide.set(wide).is_ok(), "widened under the stem's lock");
            }
        }
    }

    /// Each table in turn, each under its lock until the guard is dropped.
    pub(crate) fn walk(&self) -> Walk<'_, T> {
        Walk {
            shards: self,
            nth: None,
        }
    }

    /// Each table in turn, under its lock, to change.
    pub(crate) fn each_write(&self, mut visit: impl FnMut(&mut HashTable<T>)) {
        let _hold = Hold::enter(self.id(), true);
        if !self.is_wide() {
            let (mut table, _) = self.stem.0.write();
            if !self.is_wide() {
                return visit(&mut table);
            }
        }
        for shard in self.wide.get().into_iter().flatten() {
            let (mut table, _) = shard.0.write();
            visit(&mut table);
            shard.1.draw(&table);
        }
    }

    /// All tables, by right of `&mut`: one, or as many as there are parts.
    pub(crate) fn tables_mut(&mut self) -> Vec<&mut HashTable<T>> {
        match self.wide.get_mut() {
            Some(wide) => wide.iter_mut().map(|shard| shard.0.get_mut()).collect(),
            None => vec![self.stem.0.get_mut()],
        }
    }

    /// Draws all charts anew, after tables were filled by right of `&mut`.
    pub(crate) fn survey(&mut self) {
        for Shard(table, chart) in self.wide.get_mut().into_iter().flatten() {
            chart.draw(table.get_mut());
        }
    }

    /// The table of `hash`, by right of `&mut`.
    pub(crate) fn table_mut(&mut self, hash: u64) -> &mut HashTable<T> {
        match self.wide.get_mut() {
            Some(wide) => wide[part_of(hash, wide.len())].0.get_mut(),
            None => self.stem.0.get_mut(),
        }
    }

    /// All tables, for good.
    pub(crate) fn into_tables(self) -> Vec<HashTable<T>> {
        match self.wide.into_inner() {
            Some(wide) => wide.into_iter().map(|shard| shard.0.into_inner()).collect(),
            None => vec![self.stem.0.into_inner()],
        }
    }

    /// Sees to it that there are wide shards, by right of `&mut`.
    pub(crate) fn widen(&mut self, hasher: impl Fn(&T) -> u64) {
        if self.wide.get().is_none() {
            let tables = divide(self.stem.0.get_mut(), breadth(), &hasher);
            *self = Self::from_tables(tables);
        }
    }
}

/// The tables of a map, locked one by one.
pub(crate) struct Walk<'a, T> {
    shards: &'a Shards<T>,
    nth: Option<usize>,
}

impl<'a, T> Iterator for Walk<'a, T> {
    type Item = Reading<'a, T>;

    fn next(&mut self) -> Option<Reading<'a, T>> {
        let shards = self.shards;
        let hold = Hold::enter(shards.id(), false);
        if self.nth.is_none() && !shards.is_wide() {
            let table = shards.stem.0.read(hold.nested());
            // Still the whole of it, now that nobody can widen it.
            if !shards.is_wide() {
                self.nth = Some(usize::MAX);
                return Some(Reading { table, _hold: hold });
            }
        }
        let nth = self.nth.unwrap_or(0);
        let table = shards.wide.get()?.get(nth)?.0.read(hold.nested());
        self.nth = Some(nth + 1);
        Some(Reading { table, _hold: hold })
    }
}

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
/// complete. A table that only clears away the traces of removals works in
/// place, and would lose entries: [`grow`] moves that case to a fresh table.
#[inline]
pub(crate) fn make_room<T>(table: &mut HashTable<T>, hasher: impl Fn(&T) -> u64) {
    if table.len() == table.capacity() && !table.is_empty() {
        make_room_slow(table, &hasher);
    }
}

#[cold]
fn make_room_slow<T>(table: &mut HashTable<T>, hasher: &impl Fn(&T) -> u64) {
    // By so many that a table of which more than half is entries grows.
    let full = table.num_buckets() / 8 * 7;
    let more = if table.len() < full / 2 {
        1
    } else {
        table.len()
    };
    grow(table, more, hasher).expect("capacity overflow, or no memory for the entries");
}

/// Room for so many more, so that nothing is lost should `hasher` panic: the one
/// way to ask a table that has entries for room.
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
        // The room is there, under traces of removals.
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

#[cfg(test)]
mod tests {
    use super::{Chart, Shards};
    use hashbrown::HashTable;
    use std::sync::atomic::Ordering;

    /// Were a table laid out differently, charts would fetch what nobody needs.
    #[test]
    fn charts_say_where_entries_are() {
        let mut table = HashTable::new();
        for i in 0..5000_u64 {
            let hash = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            table.insert_unique(hash, (i, i), |&(i, _)| {
                i.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            });
        }
        let chart = Chart::new(&table);
        let middle = chart.middle.load(Ordering::Relaxed);
        for at in table.iter_buckets() {
            let entry = table.get_bucket(at).map(|entry| &raw const *entry as usize);
            assert_eq!(entry, Some(middle - (at + 1) * 16));
        }
        table.clear();
        chart.check(&table);
        chart.draw(&table);
        assert_eq!(chart.buckets.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn charts_follow_growth() {
        let shards: Shards<u64> = Shards::with_capacity(5000);
        let hash = |i: &u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for i in 0..200_000 {
            let mut table = shards.write_to_add(hash(&i), hash);
            table.insert_unique(hash(&i), i, hash);
        }
        for shard in shards.wide.get().into_iter().flatten() {
            let table = shard.0.read(false);
            assert_eq!(shard.1.buckets.load(Ordering::Relaxed), table.num_buckets());
        }
    }
}
