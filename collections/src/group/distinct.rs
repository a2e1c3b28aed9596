//! Distinct items, in the order in which they first occur.
//!
//! A worker puts items into a table, each with its rank. If there are too many keys for the table, or nearly
//! every item has a new key, later items are scattered by hash. An item whose key is in the table is not the
//! first item of its key, and is dropped on the spot. One job for each part finds the first items. Then they
//! are brought into order by place, in parallel. Numbers need no places: `passed.rs`.
#![forbid(unsafe_code)]

use super::firsts::{Listed, Ranked, Row, Trial};
use super::passed::{Passed, passed_firsts};
use crate::foresight::Foresight;
use crate::gather::{Heap, Run, heaps};
use crate::hasher::DefaultHashBuilder;
use crate::partition::{List, Scatter, concat, par_map, transpose};
use crate::parts::{breadth_of, part_of};
use crate::tag::{Tag, Tagged, is_cheap};
use crate::thinned::Thinned;
use crate::tried::tried;
use crate::word::has_word;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::hash::{BuildHasher, Hash};
use std::iter;
use tine_iter::iter::ParallelIterator;
use tine_pool::current_num_threads;

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
    tried(items, &(&read, &make), |items, alone| {
        if const { !is_cheap::<K>() } {
            firsts_tagged::<u64, _, _, _, _>(items, &read, &make, alone)
        } else if has_word::<K>() {
            firsts_of_words(items, &read, &make, alone)
        } else {
            firsts_tagged::<(), _, _, _, _>(items, &read, &make, alone)
        }
    })
}

fn firsts_of_words<I, K, V, T>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, V) + Sync),
    make: &(impl Fn(K, V) -> T + Sync),
    alone: bool,
) -> Vec<T>
where
    I: ParallelIterator,
    K: Eq + Hash + Send,
    V: Send,
    T: Send,
{
    let hasher = DefaultHashBuilder::default();
    let parts = breadth_of(items.opt_len(), current_num_threads());
    match heaps::<Passed<K, V>, Row<Listed<K, V>>, _, _, _, _>(items, read, &hasher, parts, alone) {
        Run::Few(row) => {
            let firsts = row.into_iter();
            firsts.map(|(key, value)| make(key, value)).collect()
        }
        Run::Many(runs) => passed_firsts(runs, make, &hasher),
    }
}

fn firsts_tagged<G, I, K, V, T>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, V) + Sync),
    make: &(impl Fn(K, V) -> T + Sync),
    alone: bool,
) -> Vec<T>
where
    G: Tag,
    I: ParallelIterator,
    K: Eq + Hash + Send,
    V: Send,
    T: Send,
{
    let hasher = DefaultHashBuilder::default();
    let parts = breadth_of(items.opt_len(), current_num_threads());
    let runs = match heaps::<Strained<G, K, V>, Row<Ranked<K, V>>, _, _, _, _>(
        items, read, &hasher, parts, alone,
    ) {
        Run::Few(row) => {
            let firsts = row.into_iter();
            return firsts.map(|(key, value)| make(key, value)).collect();
        }
        Run::Many(runs) => runs,
    };
    let mut bases = Vec::new();
    let mut end = 0;
    for run in &runs {
        bases.extend([end, end + run.row.firsts.ranks()]);
        end += run.row.firsts.ranks() + run.count;
    }
    let foresees = !runs.iter().any(|run| run.later.is_thinned());
    let scattered = par_map(runs, &|run| run.into_scatters(&hasher));
    let parts = transpose(scattered.into_iter().flatten());
    let first = |lists| first_items(lists, &bases, foresees, &hasher);
    in_order(par_map(parts, &first), make)
}

/// The first item of each key of a part, with its place. Each list begins at a place of the whole input.
/// `foresees` says whether the first rows foretell the number of all keys.
fn first_items<G: Tag, K: Eq + Hash, V>(
    lists: Vec<List<Placed<G, K, V>>>,
    bases: &[usize],
    foresees: bool,
    hasher: &DefaultHashBuilder,
) -> HashTable<(K, (usize, V))> {
    let rows = lists.iter().map(List::len).sum();
    let mut foresight = Foresight::new(if foresees { rows } else { 0 });
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

/// Items with more keys than a table should hold.
struct Strained<G, K, V> {
    /// The first items.
    row: Row<Ranked<K, V>>,
    /// Whether later items are looked up in the row.
    strains: bool,
    trial: Trial,
    /// The later items, each with its place.
    later: Thinned<G, K, (usize, V), false>,
    /// The number of items that have come to `later`.
    count: usize,
}

impl<G, K, V, S> Heap<Row<Ranked<K, V>>, K, V, S> for Strained<G, K, V>
where
    G: Tag,
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher,
{
    fn begin(parts: usize, row: Row<Ranked<K, V>>, _: &S) -> Self {
        Strained {
            row,
            strains: true,
            trial: Trial::default(),
            later: Thinned::new(parts),
            count: 0,
        }
    }

    #[inline]
    fn pour(&mut self, mut values: impl Iterator<Item = (K, V)>, hasher: &S) {
        while self.strains {
            let Some((key, value)) = values.next() else {
                return;
            };
            if self.row.firsts.has(&key, hasher) {
                self.trial.met();
                continue;
            }
            self.strains = self.trial.missed();
            self.count += 1;
            let placed = (key, (self.count - 1, value));
            Heap::<Vec<_>, _, _, _>::pour(&mut self.later, iter::once(placed), hasher);
        }
        let count = &mut self.count;
        let placed = values.map(|(key, value)| {
            *count += 1;
            (key, (*count - 1, value))
        });
        Heap::<Vec<_>, _, _, _>::pour(&mut self.later, placed, hasher);
    }
}

impl<G: Tag, K: Eq + Hash, V> Strained<G, K, V> {
    /// The first items, and the later ones.
    fn into_scatters(self, hasher: &DefaultHashBuilder) -> [Scatter<Placed<G, K, V>>; 2] {
        let parts = self.later.parts();
        let mut first = Scatter::new(parts);
        for (rank, (key, value)) in self.row.firsts.into_placed() {
            let hash = hasher.hash_one(&key);
            let placed = (key, (rank, value));
            first.push(part_of(hash, parts), (G::keep(hash), placed));
        }
        [first, self.later.into_pairs()]
    }
}

/// Puts items in order of their places: all tables that the fold has produced, into one row.
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
    let ranges = Ranges::new(count, places.into_iter().flatten().max().unwrap_or(0));
    let mut groups: Vec<Vec<_>> = Vec::new();
    let each = tables.len().div_ceil((count >> 16).clamp(4, GROUPS));
    let mut tables = tables.into_iter().peekable();
    while tables.peek().is_some() {
        groups.push(tables.by_ref().take(each).collect());
    }
    let scattered = par_map(groups, &|tables| {
        let mut scatter = Scatter::new(ranges.count());
        for (key, (at, value)) in tables.into_iter().flatten() {
            scatter.push(ranges.of(at), (at, (key, value)));
        }
        scatter
    });
    let numbered = transpose(scattered).into_iter().enumerate().collect();
    let sorted = par_map(numbered, &|(range, lists): (usize, Vec<List<_>>)| {
        let count: usize = lists.iter().map(List::len).sum();
        let (least, end) = ranges.places(range);
        // If most places hold a first occurrence, each place has a slot; otherwise comparing is cheaper.
        if end - least >= 4 * count {
            return sort(lists.into_iter().flatten().collect());
        }
        let mut slots: Vec<Option<(K, V)>> = Vec::new();
        slots.resize_with(end - least, || None);
        for list in lists {
            list.for_each(|(at, entry)| slots[at - least] = Some(entry));
        }
        let mut made = Vec::with_capacity(count);
        let entries = slots.into_iter().flatten();
        made.extend(entries.map(|(key, value)| make(key, value)));
        made
    });
    concat(sorted)
}

/// Ranges of places, each brought into order by one job. The places from each power of two to the next are cut
/// into the same number of ranges: if keys come again and again, first occurrences crowd at the beginning, so
/// ranges of equal length would hold unequal numbers.
struct Ranges {
    /// The places from one power of two to the next are cut into 2^N ranges; this is N.
    cuts: u32,
    /// The step of the last place.
    last: usize,
    /// One past the last place.
    end: usize,
}

/// This many powers of two are cut, the highest ones; the first range also has all places below them.
const POWERS: usize = 16;

impl Ranges {
    /// For `count` items at places up to `last`.
    fn new(count: usize, last: usize) -> Self {
        let cuts = match count >> 19 {
            0 => 4,
            1 => 5,
            _ => 6,
        };
        Ranges {
            cuts,
            last: Self::step(cuts, last),
            end: last + 1,
        }
    }

    fn count(&self) -> usize {
        POWERS << self.cuts
    }

    /// The range that a place lies in.
    #[inline]
    fn of(&self, place: usize) -> usize {
        (self.count() - 1).saturating_sub(self.last - Self::step(self.cuts, place))
    }

    /// The first place of a range, and one past its last place.
    fn places(&self, range: usize) -> (usize, usize) {
        let back = self.count() - 1 - range;
        let from = match range {
            0 => 0,
            _ => self.begin(back),
        };
        let to = match back {
            0 => self.end,
            _ => self.begin(back - 1),
        };
        (from, to)
    }

    /// The first place of the range that is `back` before the last one.
    fn begin(&self, back: usize) -> usize {
        let Some(step) = self.last.checked_sub(back) else {
            return 0;
        };
        let power = step >> self.cuts;
        let fine = step & ((1 << self.cuts) - 1);
        // If a power of two has fewer places than steps, several steps begin at the same place.
        let above = ((fine as u64) << power).div_ceil(1 << self.cuts);
        ((1 << power) + above - 1) as usize
    }

    fn step(cuts: u32, place: usize) -> usize {
        let place = place as u64 + 1;
        let power = place.ilog2();
        let fine = (place << (63 - power) >> (63 - cuts)) & ((1 << cuts) - 1);
        ((power as usize) << cuts) + fine as usize
    }
}

/// The tables are scattered by at most this many jobs.
const GROUPS: usize = 16;

#[cfg(test)]
mod tests {
    use super::Ranges;

    /// Each place lies in its range, and ranges follow one another without a gap.
    #[test]
    fn ranges_cover_all_places() {
        for count in [1, 1 << 19, 1 << 22] {
            for last in [0, 1, 2, 30, 31, 1000, 65_535, 65_536, 100_000] {
                let ranges = Ranges::new(count, last);
                let mut next = 0;
                for range in 0..ranges.count() {
                    let (from, to) = ranges.places(range);
                    assert_eq!(from, next);
                    assert!(to >= from);
                    next = to;
                    assert!((from..to).all(|place| ranges.of(place) == range));
                }
                assert_eq!(next, last + 1);
            }
            let ranges = Ranges::new(count, 1 << (usize::BITS - 24).max(31));
            for range in 1..ranges.count() {
                let (from, to) = ranges.places(range);
                assert_eq!((ranges.of(from), ranges.of(to - 1)), (range, range));
            }
        }
    }
}
