//! The tables behind a map or a set: one shard while it is small, many when it is large.
//!
//! ```text
//!              stem (inline)          wide (allocated once)
//!   small   [ lock | table ]   →   none
//!   large   [ lock | empty ]   →   [ lock | table ] [ lock | table ] …
//! ```
//!
//! A map begins with only its *stem*. That needs no allocation, and a walk over it is a walk over
//! one table. The first insertion that finds the stem crowded, by entries or by threads, moves
//! everything into the wide shards. `wide` is set once, under the stem's write lock. A thread that
//! has locked the stem checks whether the stem is still in use. Only methods with `&mut` go back to
//! the stem.
//!
//! Nothing here knows what an entry is: callers supply hashes.
#![forbid(unsafe_code)]

use super::chart::Chart;
use super::gate::{Gate, Name};
use super::lock::{Door, Lock, Part, ReadGuard, WriteGuard};
use super::reentry::{Hold, NAMES, is_inside};
use super::table::{divide, make_room};
use crate::farewell::{drop_alone, drop_shared};
use crate::parts::{breadth, part_of};
use hashbrown::HashTable;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::slice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A stem with more entries than this is crowded.
pub(crate) const CROWD: usize = 2048;

/// The number of entries up to which one thread drops them.
const ALONE: usize = if cfg!(miri) { 1 << 5 } else { 1 << 16 };

/// What a panic says where an entry is not where it was found.
pub(super) const GONE: &str = "an entry vanished from under its guard";

/// A table under its lock, on a cache line of its own.
#[repr(align(64))]
pub(crate) struct Shard<T>(Lock<HashTable<T>>, Chart);

impl<T> Shard<T> {
    fn new(table: HashTable<T>) -> Self {
        let chart = Chart::new(&table);
        Shard(Lock::new(table), chart)
    }

    #[inline]
    #[track_caller]
    fn read<'a>(&'a self, hash: u64, nested: bool, door: Door<'a>) -> ReadGuard<'a, HashTable<T>> {
        self.1.fetch::<T>(hash);
        self.0.read(nested, door)
    }
}

/// The shards of a map or set.
pub(crate) struct Shards<T> {
    stem: Shard<T>,
    wide: OnceLock<Box<[Shard<T>]>>,
    number: Number,
    /// Whether readers lock shards.
    pub(super) gate: Gate,
    /// Drops many entries on all threads. Set only where it is known that any thread may drop them.
    end: Option<End<T>>,
}

/// How the shards are dropped.
type End<T> = fn(Vec<HashTable<T>>);

/// The number by which threads know the locks of a map that they hold, and the shards that they
/// read. It is drawn when the first lock is taken, and it moves with the map. An address would not
/// do: another map may take that address while a forgotten guard still keeps a note of this one.
struct Number(AtomicUsize);

impl Number {
    fn new() -> Self {
        Number(AtomicUsize::new(0))
    }

    #[inline]
    fn get(&self) -> usize {
        match self.0.load(Ordering::Relaxed) {
            0 => self.draw(),
            name => name,
        }
    }

    /// The same for a thread that knows that it was drawn.
    #[inline]
    fn known(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// If several threads draw a number at once, the first wins.
    #[cold]
    fn draw(&self) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(NAMES);
        let mut mine = 0;
        while mine == 0 {
            // Numbers of 32 bits may run out, and then begin again.
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

/// Shared access to one entry of a shard's table.
pub(crate) struct Entry<'a, T> {
    entry: Part<'a, HashTable<T>, T>,
    _hold: Hold,
}

/// Sole access to one shard's table.
pub(crate) struct Writing<'a, T> {
    table: WriteGuard<'a, HashTable<T>>,
    _hold: Hold,
}

impl<'a, T> Reading<'a, T> {
    /// Drops it in line: an implicit drop was a call in some builds, and took half of the time of a
    /// read in cache.
    #[inline(always)]
    pub(crate) fn leave(self) {
        self.table.leave();
    }

    /// The entry that `find` finds, if any. The table is left otherwise.
    #[inline(always)]
    pub(crate) fn entry(
        self,
        find: impl FnOnce(&HashTable<T>) -> Option<&T>,
    ) -> Option<Entry<'a, T>> {
        Some(Entry {
            entry: self.table.part(find)?,
            _hold: self._hold,
        })
    }
}

impl<T> Deref for Entry<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.entry
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

/// Room for each of `count` shards, if they get that many entries. The parts of a random whole differ in size: an eighth above
/// the mean is enough.
pub(crate) fn share_of(entries: usize, count: usize) -> usize {
    entries / count + entries / count / 8 + 8
}

/// If shards ask for room for more entries than this, they first ask for all of it at once: the system may grant each part,
/// and not the whole.
const GREAT: usize = 1 << 20;

/// Whether the system would grant `count` tables with `each` entries, or `None` if they could not be addressed.
pub(crate) fn is_granted<T>(each: usize, count: usize) -> Option<bool> {
    // A table is no more than seven eighths full, and has a byte for each bucket.
    let buckets = each.checked_mul(8).map(|eighths| eighths / 7);
    let buckets = buckets.and_then(usize::checked_next_power_of_two)?;
    let bytes = buckets.checked_mul(mem::size_of::<T>() + 1);
    let bytes = bytes.and_then(|bytes| bytes.checked_mul(count))?;
    let bytes = isize::try_from(bytes).ok()?.unsigned_abs();
    let is_small = each <= GREAT / count;
    Some(is_small || Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

impl<T> Shards<T> {
    pub(crate) fn new() -> Self {
        Self::from_stem(HashTable::new())
    }

    pub(crate) fn from_stem(table: HashTable<T>) -> Self {
        Shards {
            stem: Shard::new(table),
            wide: OnceLock::new(),
            number: Number::new(),
            gate: Gate::new(),
            end: None,
        }
    }

    /// Takes one table as the stem, or many as shards.
    pub(crate) fn of(mut tables: Vec<HashTable<T>>) -> Self {
        match tables.len() {
            1 => Self::from_stem(tables.remove(0)),
            _ => Self::from_tables(tables),
        }
    }

    /// Takes tables as shards. Table `i` holds the entries that [`part_of`] sends there.
    pub(crate) fn from_tables(tables: impl IntoIterator<Item = HashTable<T>>) -> Self {
        let wide: Box<[Shard<T>]> = tables.into_iter().map(Shard::new).collect();
        assert_eq!(wide.len(), breadth(), "as many shards as any map");
        Shards {
            stem: Shard::new(HashTable::new()),
            wide: OnceLock::from(wide),
            number: Number::new(),
            gate: Gate::new(),
            end: None,
        }
    }

    /// Empty shards, with room for `capacity` entries in all.
    #[track_caller]
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        if capacity <= CROWD {
            return Self::from_stem(HashTable::with_capacity(capacity));
        }
        let each = share_of(capacity, breadth());
        match is_granted::<T>(each, breadth()) {
            None => panic!("capacity overflow"),
            Some(false) => panic!("no memory for the entries"),
            Some(true) => Self::from_tables((0..breadth()).map(|_| HashTable::with_capacity(each))),
        }
    }

    fn id(&self) -> usize {
        self.number.get()
    }

    /// The way into the stem. `id`: the map's number. The first wide shard has the same name: once it is there, no thread
    /// stays in the stem.
    #[inline]
    fn front(&self, id: usize) -> Door<'_> {
        Door {
            gate: &self.gate,
            shard: Name::new(id, 0),
        }
    }

    /// The way into a wide shard.
    #[inline]
    fn side(&self, id: usize, nth: usize) -> Door<'_> {
        Door {
            gate: &self.gate,
            shard: Name::new(id, nth),
        }
    }

    /// Whether the wide shards are in use.
    pub(crate) fn is_wide(&self) -> bool {
        self.wide.get().is_some()
    }

    /// The number of shards that are in use.
    pub(crate) fn count(&self) -> usize {
        self.shards().len()
    }

    /// Fetches what a lookup of `hash` will read.
    #[inline]
    pub(crate) fn expect(&self, hash: u64) {
        let shards = self.shards();
        shards[part_of(hash, shards.len())].1.fetch::<T>(hash);
    }

    /// The shards that are in use.
    #[inline]
    fn shards(&self) -> &[Shard<T>] {
        match self.wide.get() {
            Some(wide) => wide,
            None => slice::from_ref(&self.stem),
        }
    }

    /// The shard of `hash`, to read, where nothing is in the way: the gate is open, and the thread
    /// is inside no map. Each instruction counts here: a core looks a fixed number of instructions
    /// ahead, and that limits how many reads wait for memory at once.
    #[inline(always)]
    pub(crate) fn peek(&self, hash: u64) -> Option<Reading<'_, T>> {
        if !self.gate.seems_open() {
            return None;
        }
        let shards = self.shards();
        let nth = part_of(hash, shards.len());
        let shard = &shards[nth];
        shard.1.fetch::<T>(hash);
        let id = self.number.known();
        let hold = Hold::enter_alone(id)?;
        // The stem may have been left before.
        let is_right = || shards.len() > 1 || !self.is_wide();
        let table = shard.0.peek(self.side(id, nth), is_right)?;
        Some(Reading { table, _hold: hold })
    }

    /// Locks the shard of `hash` for reading, where nothing is in the way: the gate is shut, the
    /// thread is inside no map, and only readers are in the shard. An open gate is left to
    /// [`read`](Self::read): the thread may have no record yet.
    #[inline(always)]
    pub(crate) fn read_at_once(&self, hash: u64) -> Option<Reading<'_, T>> {
        if self.gate.seems_open() {
            return None;
        }
        let shards = self.shards();
        let nth = part_of(hash, shards.len());
        let shard = &shards[nth];
        shard.1.fetch::<T>(hash);
        let id = self.id();
        let hold = Hold::enter_alone(id)?;
        // The stem may have been left before.
        let is_right = || shards.len() > 1 || !self.is_wide();
        let table = shard.0.read_at_once(self.side(id, nth), is_right)?;
        Some(Reading { table, _hold: hold })
    }

    /// Locks the shard of `hash` for reading.
    #[inline]
    #[track_caller]
    pub(crate) fn read(&self, hash: u64) -> Reading<'_, T> {
        let id = self.id();
        let nested = is_inside();
        let hold = Hold::enter(id, false);
        let table = loop {
            if let Some(wide) = self.wide.get() {
                let nth = part_of(hash, wide.len());
                break wide[nth].read(hash, nested, self.side(id, nth));
            }
            let table = self.stem.0.read(nested, self.front(id));
            if self.wide.get().is_none() {
                break table;
            }
        };
        Reading { table, _hold: hold }
    }

    /// Locks the shard of `hash` for changing entries.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn write(&self, hash: u64) -> Writing<'_, T> {
        let id = self.id();
        let hold = Hold::enter(id, true);
        let table = loop {
            if let Some(wide) = self.wide.get() {
                let nth = part_of(hash, wide.len());
                let Shard(lock, chart) = &wide[nth];
                chart.fetch::<T>(hash);
                break lock.write(self.side(id, nth)).0;
            }
            let (table, _) = self.stem.0.write(self.front(id));
            if self.wide.get().is_none() {
                break table;
            }
        };
        Writing { table, _hold: hold }
    }

    /// Locks the shard of `hash` for reading, unless this thread would have to wait, or may not.
    pub(crate) fn try_read(&self, hash: u64) -> Option<Reading<'_, T>> {
        let id = self.id();
        let nested = is_inside();
        let hold = Hold::try_enter(id, false)?;
        let table = loop {
            if let Some(wide) = self.wide.get() {
                let nth = part_of(hash, wide.len());
                break wide[nth].0.try_read(nested, self.side(id, nth))?;
            }
            let table = self.stem.0.try_read(nested, self.front(id))?;
            if self.wide.get().is_none() {
                break table;
            }
        };
        Some(Reading { table, _hold: hold })
    }

    /// Locks the shard of `hash` for changing entries, unless this thread would have to wait, or may not.
    #[track_caller]
    pub(crate) fn try_write(&self, hash: u64) -> Option<Writing<'_, T>> {
        let id = self.id();
        let hold = Hold::try_enter(id, true)?;
        let table = loop {
            if let Some(wide) = self.wide.get() {
                let nth = part_of(hash, wide.len());
                break wide[nth].0.try_write(self.side(id, nth))?;
            }
            let table = self.stem.0.try_write(self.front(id))?;
            if self.wide.get().is_none() {
                break table;
            }
        };
        Some(Writing { table, _hold: hold })
    }

    /// Locks the shard of `hash` for adding one entry, with room for it. The caller checks the
    /// chart after it has added the entry: the first entry of a table makes its memory. The result
    /// is put together last, and not by a call: otherwise it would be written to memory word by
    /// word and read again in larger pieces, which takes as long as both locked instructions.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn write_to_add(
        &self,
        hash: u64,
        hasher: impl Fn(&T) -> u64,
    ) -> (Writing<'_, T>, &Chart) {
        let id = self.id();
        let hold = Hold::enter(id, true);
        let (mut table, chart) = loop {
            if let Some(wide) = self.wide.get() {
                let nth = part_of(hash, wide.len());
                let Shard(lock, chart) = &wide[nth];
                chart.fetch::<T>(hash);
                break (lock.write(self.side(id, nth)).0, chart);
            }
            let (mut table, waited) = self.stem.0.write(self.front(id));
            if self.wide.get().is_none() {
                let crowded = table.len() > CROWD || (waited && table.len() > 1);
                if !crowded {
                    break (table, &self.stem.1);
                }
                self.leave_stem(&mut table, &hasher);
            }
        };
        if make_room(&mut table, hasher) {
            chart.draw(&table);
        }
        (Writing { table, _hold: hold }, chart)
    }

    /// The same as [`write_to_add`](Self::write_to_add), unless this thread would have to wait, or may not.
    #[track_caller]
    pub(crate) fn try_write_to_add(
        &self,
        hash: u64,
        hasher: impl Fn(&T) -> u64,
    ) -> Option<(Writing<'_, T>, &Chart)> {
        let mut table = self.try_write(hash)?;
        // If there are no wide shards, this is the stem, and none come while it is locked.
        if !self.is_wide() && table.len() > CROWD {
            self.leave_stem(&mut table, &hasher);
            drop(table);
            table = self.try_write(hash)?;
        }
        let shards = self.shards();
        let chart = &shards[part_of(hash, shards.len())].1;
        if make_room(&mut table, hasher) {
            chart.draw(&table);
        }
        Some((table, chart))
    }

    /// Moves all entries of the stem, which is locked, to wide shards.
    #[cold]
    #[inline(never)]
    fn leave_stem(&self, table: &mut HashTable<T>, hasher: &impl Fn(&T) -> u64) {
        let tables = divide(table, breadth(), hasher);
        let wide = tables.into_iter().map(Shard::new).collect();
        assert!(self.wide.set(wide).is_ok(), "widened under the stem's lock");
    }

    /// Panics if this thread may not read.
    #[track_caller]
    pub(crate) fn check_in(&self) {
        drop(Hold::enter(self.id(), false));
    }

    /// Panics if this thread may not write.
    #[inline]
    #[track_caller]
    pub(crate) fn check_in_to_write(&self) {
        if is_inside() {
            drop(Hold::enter(self.id(), true));
        }
    }

    /// Each table in turn, each under its lock until the guard is dropped.
    #[track_caller]
    pub(crate) fn walk(&self) -> Walk<'_, T> {
        // A panic should name the caller, which is known here; `next` is called from anywhere.
        self.check_in();
        Walk {
            shards: self,
            nth: None,
        }
    }

    /// Each table in turn, under its lock, to change.
    #[track_caller]
    pub(crate) fn each_write(&self, mut visit: impl FnMut(&mut HashTable<T>)) {
        let id = self.id();
        let _hold = Hold::enter(id, true);
        if !self.is_wide() {
            let (mut table, _) = self.stem.0.write(self.front(id));
            if !self.is_wide() {
                visit(&mut table);
                self.stem.1.draw(&table);
                return;
            }
        }
        for (nth, shard) in self.wide.get().into_iter().flatten().enumerate() {
            let (mut table, _) = shard.0.write(self.side(id, nth));
            visit(&mut table);
            shard.1.draw(&table);
        }
    }

    /// All tables, through `&mut`: one, or one for each part.
    pub(crate) fn tables_mut(&mut self) -> Vec<&mut HashTable<T>> {
        match self.wide.get_mut() {
            Some(wide) => wide.iter_mut().map(|shard| shard.0.get_mut()).collect(),
            None => vec![self.stem.0.get_mut()],
        }
    }

    /// Draws all charts anew, after tables were filled or moved through `&mut`.
    pub(crate) fn survey(&mut self) {
        let wide = self.wide.get_mut().into_iter().flatten();
        for Shard(table, chart) in wide.chain([&mut self.stem]) {
            chart.draw(table.get_mut());
        }
    }

    /// The one table of a map that has no others, through `&mut`.
    pub(crate) fn stem_mut(&mut self) -> Option<&mut HashTable<T>> {
        match self.wide.get_mut() {
            Some(_) => None,
            None => Some(self.stem.0.get_mut()),
        }
    }

    /// The table of `hash`, through `&mut`, and its chart.
    pub(crate) fn table_mut(&mut self, hash: u64) -> (&mut HashTable<T>, &Chart) {
        let Shard(table, chart) = match self.wide.get_mut() {
            Some(wide) => &mut wide[part_of(hash, wide.len())],
            None => &mut self.stem,
        };
        (table.get_mut(), chart)
    }

    /// All tables, by value.
    pub(crate) fn into_tables(mut self) -> Vec<HashTable<T>> {
        match self.wide.take() {
            Some(wide) => wide.into_iter().map(|shard| shard.0.into_inner()).collect(),
            None => vec![mem::take(self.stem.0.get_mut())],
        }
    }

    /// Makes wide shards unless there are any, through `&mut`.
    pub(crate) fn widen(&mut self, hasher: impl Fn(&T) -> u64) {
        if self.wide.get().is_none() {
            let tables = divide(self.stem.0.get_mut(), breadth(), &hasher);
            let end = self.end;
            *self = Self::from_tables(tables);
            self.end = end;
        }
    }

    /// Moves everything back into the stem, if it is little. If `hasher` panics, nothing has moved.
    pub(crate) fn narrow(&mut self, hasher: impl Fn(&T) -> u64) {
        let tables = self.tables_mut();
        let len = tables.iter().map(|table| table.len()).sum();
        if tables.len() == 1 || len > CROWD {
            return;
        }
        let all = tables.iter().flat_map(|table| table.iter());
        let hashes: Vec<u64> = all.map(hasher).collect();
        let mut stem = HashTable::with_capacity(len);
        let entries = tables.into_iter().flat_map(HashTable::drain);
        for (hash, entry) in hashes.into_iter().zip(entries) {
            stem.insert_unique(hash, entry, |_| unreachable!("there is room"));
        }
        let end = self.end;
        *self = Self::from_stem(stem);
        self.end = end;
    }
}

impl<T: Send> Shards<T> {
    /// From now on all threads help to drop the entries, if many entries need dropping.
    pub(crate) fn share_end(&mut self) {
        self.end = Some(drop_shared);
    }
}

impl<T> Drop for Shards<T> {
    fn drop(&mut self) {
        // A thread that unwinds starts no parallel work.
        if !mem::needs_drop::<T>() || thread::panicking() {
            return;
        }
        if let Some(wide) = self.wide.take() {
            let tables = wide.into_iter().map(|shard| shard.0.into_inner());
            let tables: Vec<_> = tables.collect();
            // A thread that holds a shard of some map starts nothing that another thread may take part in.
            match self.end.filter(|_| !is_inside()) {
                Some(end) if tables.iter().map(HashTable::len).sum::<usize>() > ALONE => {
                    end(tables)
                }
                _ => drop_alone(tables),
            }
        } else if !self.stem.0.get_mut().is_empty() {
            drop_alone(vec![mem::take(self.stem.0.get_mut())]);
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
        let id = shards.id();
        let nested = is_inside();
        let hold = Hold::enter(id, false);
        if self.nth.is_none() && !shards.is_wide() {
            let table = shards.stem.0.read(nested, shards.front(id));
            // The stem still holds everything: no thread can widen the map now.
            if !shards.is_wide() {
                self.nth = Some(usize::MAX);
                return Some(Reading { table, _hold: hold });
            }
        }
        let nth = self.nth.unwrap_or(0);
        let shard = shards.wide.get()?.get(nth)?;
        let table = shard.0.read(nested, shards.side(id, nth));
        self.nth = Some(nth + 1);
        Some(Reading { table, _hold: hold })
    }
}

#[cfg(test)]
impl<T> Shards<T> {
    /// Whether all charts say where the tables are.
    pub(crate) fn are_charted(&mut self) -> bool {
        let wide = self.wide.get_mut().into_iter().flatten();
        let mut all = wide.chain([&mut self.stem]);
        all.all(|Shard(table, chart)| Chart::new(table.get_mut()).says_as(chart))
    }
}

#[cfg(test)]
mod tests {
    use super::Shards;
    use std::sync::atomic::Ordering;

    #[test]
    fn charts_follow_growth() {
        let shards: Shards<u64> = Shards::with_capacity(5000);
        let hash = |i: &u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for i in 0..200_000 {
            let (mut table, chart) = shards.write_to_add(hash(&i), hash);
            table.insert_unique(hash(&i), i, hash);
            chart.check(&table);
        }
        for (nth, shard) in shards.wide.get().into_iter().flatten().enumerate() {
            let table = shard.0.read(false, shards.side(shards.id(), nth));
            assert_eq!(shard.1.buckets.load(Ordering::Relaxed), table.num_buckets());
        }
    }
}
