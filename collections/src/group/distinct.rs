//! Distinct items, in the order in which they first occur.
//!
//! Few items go into one list, and a table of places in it tells which keys are there. Many are
//! folded by key as counts are, each with its place in the input; then they are brought into order
//! by that place, in parallel.
#![forbid(unsafe_code)]

use super::fold::Fold;
use super::tally::tables;
use crate::gather::{Bag, Gathered, gather};
use crate::hasher::DefaultHashBuilder;
use crate::partition::{List, Scatter, concat, par_map, transpose};
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::vec;
use tine_iter::iter::ParallelIterator;

/// Up to this many items are few.
const FEW: usize = 1 << 17;
/// Ranges of places, each brought into order by one job.
const RANGES: usize = 1024;

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
    let hasher = DefaultHashBuilder::default();
    if items.opt_len().is_some_and(|len| len <= FEW) {
        let found = gather::<(), Row<K, V>, _, _, _, _>(items, &read, &hasher, 1);
        let Gathered::Few(row) = found else {
            unreachable!("a row has no limit")
        };
        return row
            .into_iter()
            .map(|(key, value)| make(key, value))
            .collect();
    }
    let first = First {
        read,
        item: PhantomData,
    };
    in_order(tables(items, &first, &hasher), &make)
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

/// A list, and where in it each key is.
struct Row<K, V> {
    places: HashTable<u32>,
    list: Vec<(K, V)>,
}

impl<K, V> Default for Row<K, V> {
    fn default() -> Self {
        Row {
            places: HashTable::new(),
            list: Vec::new(),
        }
    }
}

impl<K, V> IntoIterator for Row<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<K: Eq + Hash + Send, V: Send, S: BuildHasher> Bag<(K, V), S> for Row<K, V> {
    const FEW: usize = usize::MAX;
    // Another row is filled from nothing, and then merged.
    const WORTH: u64 = 100_000;

    fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    fn fill(&mut self, pairs: &mut impl Iterator<Item = (K, V)>, _: usize, hasher: &S) {
        let Row { places, list } = self;
        pairs.for_each(|pair| {
            let hash = hasher.hash_one(&pair.0);
            if places
                .find(hash, |&at| list[at as usize].0 == pair.0)
                .is_none()
            {
                let at = u32::try_from(list.len()).expect("fewer keys than 2^32");
                places.insert_unique(hash, at, |&at| hasher.hash_one(&list[at as usize].0));
                list.push(pair);
            }
        });
    }

    fn append(&mut self, later: Self, hasher: &S) {
        self.fill(&mut later.into_iter(), usize::MAX, hasher);
    }
}

/// Keeps the first item of each key, and where it was.
struct First<T, F> {
    read: F,
    item: PhantomData<fn(T)>,
}

impl<T, K, V, F> Fold for First<T, F>
where
    T: Send,
    K: Eq + Hash + Send,
    V: Send,
    F: Fn(T) -> (K, V) + Sync,
{
    type Item = T;
    type Key = K;
    type Raw = (usize, V);
    type Sum = (usize, V);

    #[inline]
    fn read(&self, item: T, nth: usize) -> (K, (usize, V)) {
        let (key, value) = (self.read)(item);
        (key, (nth, value))
    }

    #[inline]
    fn start(&self, first: (usize, V)) -> (usize, V) {
        first
    }

    #[inline]
    fn add(&self, _: &mut (usize, V), _: (usize, V)) {}

    #[inline]
    fn merge(&self, _: &mut (usize, V), _: (usize, V)) {}

    #[inline]
    fn shift(&self, first: &mut (usize, V), base: usize) {
        first.0 += base;
    }
}
