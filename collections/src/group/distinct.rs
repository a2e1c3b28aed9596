//! Distinct items, in the order in which they first occur.
//!
//! A worker puts items into a table, each with its rank. If the keys become too many for that, what
//! comes later is scattered by hash; an item whose key is in the table is known to be no first one, and
//! is dropped on the spot. One job for each part finds the first items; then they are brought into
//! order by place, in parallel.
#![forbid(unsafe_code)]

use crate::foresight::Foresight;
use crate::gather::{Bag, Heap, Run, heaps};
use crate::hasher::DefaultHashBuilder;
use crate::map::table::grow;
use crate::partition::{List, Scatter, concat, par_map, transpose};
use crate::parts::{breadth, part_of};
use crate::tag::{Tag, Tagged, is_cheap};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::hash::{BuildHasher, Hash};
use std::iter::Flatten;
use std::vec;
use tine_iter::iter::ParallelIterator;

/// Up to this many keys are few.
const FEW: usize = 1 << 20;
/// At so many keys a table is given up if hardly an item was of a key that it had.
const TRIED: usize = 1 << 17;
/// Ranges of places, each brought into order by one job.
const RANGES: usize = 1024;
/// After so many items whose keys a table has not, a worker asks whether looking into it pays.
const TRIAL: usize = 1 << 14;

/// What `make` returns for the first item of each key. `read` takes items apart.
pub(super) fn firsts<I, K, V, T>(
    items: I,
    read: impl Fn(I::Item) -> (K, V) + Sync,
    make: impl Fn(K, V) -> T + Sync,
) -> Vec<T>
where
    I: ParallelIterator,
    K: Eq + Hash + Send,
    V: Send,
    T: Send,
{
    if is_cheap::<K>() {
        firsts_tagged::<(), _, _, _, _>(items, &read, &make)
    } else {
        firsts_tagged::<u64, _, _, _, _>(items, &read, &make)
    }
}

fn firsts_tagged<G, I, K, V, T>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, V) + Sync),
    make: &(impl Fn(K, V) -> T + Sync),
) -> Vec<T>
where
    G: Tag,
    I: ParallelIterator,
    K: Eq + Hash + Send,
    V: Send,
    T: Send,
{
    let hasher = DefaultHashBuilder::default();
    let parts = breadth();
    let runs = match heaps::<Strained<G, K, V>, Row<K, V>, _, _, _, _>(items, read, &hasher, parts)
    {
        Run::Few(row) => {
            return row.in_order(make);
        }
        Run::Many(runs) => runs,
    };
    let mut bases = Vec::new();
    let mut end = 0;
    for run in &runs {
        bases.extend([end, end + run.row.ranks as usize]);
        end += run.row.ranks as usize + run.count;
    }
    let scattered = par_map(runs, &|run| run.into_scatters(&hasher));
    let parts = transpose(scattered.into_iter().flatten());
    let first = |lists| first_items(lists, &bases, &hasher);
    in_order(par_map(parts, &first), make)
}

/// The first item of each key of a part, and its place. Each list begins at a place of the whole.
fn first_items<G: Tag, K: Eq + Hash, V>(
    lists: Vec<List<Placed<G, K, V>>>,
    bases: &[usize],
    hasher: &DefaultHashBuilder,
) -> HashTable<(K, (usize, V))> {
    let mut foresight = Foresight::new(lists.iter().map(List::len).sum());
    let mut table = HashTable::new();
    for (list, base) in lists.into_iter().zip(bases) {
        list.for_each(|(tag, (key, (at, value)))| {
            let hash = tag.hash(|| hasher.hash_one(&key));
            let rehash = |(key, _): &(K, _)| hasher.hash_one(key);
            if let Slot::Vacant(slot) = table.entry(hash, |(k, _)| *k == key, rehash) {
                slot.insert((key, (base + at, value)));
            }
            foresight.step(&mut table, rehash);
        });
    }
    table
}

/// An item on its way to its part, with its place.
type Placed<G, K, V> = Tagged<G, K, (usize, V)>;

/// Items of more keys than a table should have.
struct Strained<G, K, V> {
    /// The first items.
    row: Row<K, V>,
    /// Whether later ones are looked up in the row.
    strains: bool,
    /// Items of this trial that were in the row, and that were not.
    known: usize,
    unknown: usize,
    later: Scatter<Placed<G, K, V>>,
    /// How many there are in `later`.
    count: usize,
}

impl<G, K, V, S> Heap<Row<K, V>, K, V, S> for Strained<G, K, V>
where
    G: Tag,
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher,
{
    fn begin(parts: usize, row: Row<K, V>, _: &S) -> Self {
        Strained {
            row,
            strains: true,
            known: 0,
            unknown: 0,
            later: Scatter::new(parts),
            count: 0,
        }
    }

    #[inline]
    fn pour(&mut self, mut values: impl Iterator<Item = (K, V)>, hasher: &S) {
        let parts = self.later.parts();
        while self.strains {
            let Some((key, value)) = values.next() else {
                return;
            };
            let hash = hasher.hash_one(&key);
            if self.row.has(hash, &key) {
                self.known += 1;
                continue;
            }
            self.unknown += 1;
            if self.unknown == TRIAL {
                self.judge();
            }
            let placed = (key, (self.count, value));
            self.later
                .push(part_of(hash, parts), (G::keep(hash), placed));
            self.count += 1;
        }
        values.for_each(|(key, value)| {
            let hash = hasher.hash_one(&key);
            let placed = (key, (self.count, value));
            self.later
                .push(part_of(hash, parts), (G::keep(hash), placed));
            self.count += 1;
        });
    }
}

impl<G: Tag, K: Eq + Hash, V> Strained<G, K, V> {
    /// Stops looking into the row if that finds too little.
    #[cold]
    fn judge(&mut self) {
        self.strains = self.known >= self.unknown / 3;
        (self.known, self.unknown) = (0, 0);
    }

    /// The first items, and the later ones.
    fn into_scatters(self, hasher: &DefaultHashBuilder) -> [Scatter<Placed<G, K, V>>; 2] {
        let parts = self.later.parts();
        let mut first = Scatter::new(parts);
        for (key, (rank, value)) in self.row.table {
            let hash = hasher.hash_one(&key);
            let placed = (key, (rank as usize, value));
            first.push(part_of(hash, parts), (G::keep(hash), placed));
        }
        [first, self.later]
    }
}

/// Items by place: as many tables as the fold came to, into one row.
fn in_order<K, V, T>(
    mut tables: Vec<HashTable<(K, (usize, V))>>,
    make: &(impl Fn(K, V) -> T + Sync),
) -> Vec<T>
where
    K: Send,
    V: Send,
    T: Send,
{
    let count: usize = tables.iter().map(HashTable::len).sum();
    let sort = |mut found: Vec<(usize, (K, V))>| -> Vec<T> {
        found.sort_unstable_by_key(|(at, _)| *at);
        let made = found.into_iter().map(|(_, (key, value))| make(key, value));
        made.collect()
    };
    if count <= 1 << 13 {
        let entries = tables.into_iter().flatten();
        return sort(
            entries
                .map(|(key, (at, value))| (at, (key, value)))
                .collect(),
        );
    }
    let last = |table: &mut HashTable<(K, (usize, V))>| table.iter().map(|(_, (at, _))| *at).max();
    let places: Vec<_> = par_map(tables.iter_mut().collect(), &last);
    let last = places.into_iter().flatten().max().unwrap_or(0);
    let range = |at: usize| (RANGES - 1).saturating_sub(step(last) - step(at));
    let mut groups: Vec<Vec<_>> = Vec::new();
    let each = tables.len().div_ceil(GROUPS);
    let mut tables = tables.into_iter().peekable();
    while tables.peek().is_some() {
        groups.push(tables.by_ref().take(each).collect());
    }
    let scattered = par_map(groups, &|tables| {
        let mut scatter = Scatter::new(RANGES);
        for (key, (at, value)) in tables.into_iter().flatten() {
            scatter.push(range(at), (at, (key, value)));
        }
        scatter
    });
    let sorted = par_map(transpose(scattered), &|lists: Vec<List<_>>| {
        let found: Vec<(usize, (K, V))> = lists.into_iter().flatten().collect();
        let (least, most) = found
            .iter()
            .fold((usize::MAX, 0), |(least, most), (at, _)| {
                (least.min(*at), most.max(*at))
            });
        // Where most places hold a first occurrence, each has a slot; else comparing is cheaper.
        if most.saturating_sub(least) >= 4 * found.len() {
            return sort(found);
        }
        let mut slots: Vec<Option<(K, V)>> = Vec::new();
        slots.resize_with(most - least + 1, || None);
        for (at, entry) in found {
            slots[at - least] = Some(entry);
        }
        let made = slots
            .into_iter()
            .flatten()
            .map(|(key, value)| make(key, value));
        made.collect()
    });
    concat(sorted)
}

/// A place's step: sixty-four to each power of two. First occurrences crowd at the beginning where keys
/// come again and again, so ranges of one length would not hold alike many.
fn step(place: usize) -> usize {
    let place = place as u64 + 1;
    let power = place.ilog2();
    let fine = (place << (63 - power) >> 57) as usize & 63;
    power as usize * 64 + fine
}

/// Parts of the tables, each scattered by one job.
const GROUPS: usize = 16;

/// First items, with their ranks.
struct Row<K, V> {
    table: HashTable<(K, (u32, V))>,
    /// All ranks are below; some of them may be of no item.
    ranks: u32,
    /// The number of items, up to [`TRIED`] keys.
    seen: usize,
}

impl<K, V> Default for Row<K, V> {
    fn default() -> Self {
        Row {
            table: HashTable::new(),
            ranks: 0,
            seen: 0,
        }
    }
}

impl<K, V> IntoIterator for Row<K, V> {
    type Item = (K, V);
    type IntoIter = Flatten<vec::IntoIter<Option<(K, V)>>>;

    fn into_iter(self) -> Self::IntoIter {
        let mut slots: Vec<Option<(K, V)>> = Vec::new();
        slots.resize_with(self.ranks as usize, || None);
        for (key, (rank, value)) in self.table {
            slots[rank as usize] = Some((key, value));
        }
        slots.into_iter().flatten()
    }
}

impl<K, V> Row<K, V> {
    fn in_order<T>(self, make: &impl Fn(K, V) -> T) -> Vec<T> {
        let mut all = Vec::with_capacity(self.table.len());
        all.extend(self.into_iter().map(|(key, value)| make(key, value)));
        all
    }
}

impl<K: Eq + Hash, V> Row<K, V> {
    #[inline]
    fn has(&self, hash: u64, key: &K) -> bool {
        self.table.find(hash, |(k, _)| *k == *key).is_some()
    }

    /// Puts in first items until there are so many.
    #[inline]
    fn put(
        &mut self,
        pairs: &mut impl Iterator<Item = (K, V)>,
        most: usize,
        hasher: &impl BuildHasher,
    ) {
        let Row { table, ranks, seen } = self;
        pairs.any(|(key, value)| {
            *seen += 1;
            let hash = hasher.hash_one(&key);
            if table.find(hash, |(k, _)| *k == key).is_some() {
                return false;
            }
            let entry = (key, (*ranks, value));
            *ranks = ranks.checked_add(1).expect("fewer keys than 2^32");
            // Nothing was ever removed from it, so growing loses nothing if a hasher panics.
            table.insert_unique(hash, entry, |(key, _)| hasher.hash_one(key));
            table.len() >= most
        });
    }
}

/// How many keys of one table are looked up in another.
const SAMPLE: usize = 64;

impl<K: Eq + Hash + Send, V: Send, S: BuildHasher> Bag<(K, V), S> for Row<K, V> {
    const FEW: usize = FEW;
    const UNKNOWN: usize = FEW;
    // Another table is filled from nothing, and then merged.
    const WORTH: u64 = 2_000_000;

    fn len(&self) -> usize {
        self.table.len()
    }

    fn is_full(&self, few: usize) -> bool {
        let len = self.table.len();
        len > few || (len == TRIED && self.seen < TRIED / 8 * 9)
    }

    #[inline]
    fn fill(&mut self, pairs: &mut impl Iterator<Item = (K, V)>, most: usize, hasher: &S) {
        if self.table.len() < TRIED && most >= TRIED {
            self.put(pairs, TRIED, hasher);
            if self.table.len() < TRIED || Bag::<(K, V), S>::is_full(self, most) {
                return;
            }
        }
        self.put(pairs, most.saturating_add(1), hasher);
    }

    /// Ranks of later items follow those of the items here.
    fn append(&mut self, later: Self, hasher: &S) {
        let Row { table, ranks, .. } = self;
        let rehash = |(key, _): &(K, _)| hasher.hash_one(key);
        // One table's entries come in the order of their hashes: they would crowd a table that grows.
        let more = later.table.len().saturating_sub(table.len());
        grow(table, more, rehash).expect("capacity overflow, or no memory for the entries");
        for (key, (rank, value)) in later.table {
            let hash = hasher.hash_one(&key);
            if let Slot::Vacant(slot) = table.entry(hash, |(k, _)| *k == key, rehash) {
                slot.insert((key, (*ranks + rank, value)));
            }
        }
        *ranks += later.ranks;
    }

    fn is_like(&self, other: &Self, hasher: &S) -> bool {
        let (few, many) = match self.table.len() < other.table.len() {
            true => (self, other),
            false => (other, self),
        };
        let sample = few.table.iter().take(SAMPLE);
        let is_there = |(key, _): &&(K, _)| many.has(hasher.hash_one(key), key);
        let there = sample.clone().filter(is_there).count();
        2 * there > few.table.len().min(SAMPLE)
    }
}
