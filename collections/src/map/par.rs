//! Walking and emptying an owned map in parallel.
//!
//! A walk is a loop over tables. If a single table must be split, it becomes a list of its entries.
#![forbid(unsafe_code)]

use super::concurrent::ParHashMap;
use super::table::{Leaving, Whole};
use crate::farewell::drop_shared;
use crate::partition::par_map;
use hashbrown::{HashTable, hash_table};
use std::fmt;
use std::mem;
use tine_iter::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};
use tine_pool::current_num_threads;
use tine_pool::loops::{check, is_under};

/// A table that a walk is made of.
pub(crate) trait Cells: Send {
    type Item: Send;
    type Iter: Iterator<Item = Self::Item>;

    fn len(&self) -> usize;
    fn cells(self) -> Self::Iter;
}

/// Part of a walk: whole tables, or the entries of one.
pub(crate) enum Part<C: Cells> {
    Tables(Vec<C>),
    Entries(Vec<C::Item>),
}

fn halve<T>(list: &mut Vec<T>) -> Option<Vec<T>> {
    if list.len() > 1 {
        Some(list.split_off(list.len() / 2))
    } else {
        None
    }
}

impl<C: Cells> UnindexedProducer for Part<C> {
    type Item = C::Item;

    fn split(self) -> (Self, Option<Self>) {
        match self {
            Part::Tables(mut tables) => {
                if let Some(half) = halve(&mut tables) {
                    return (Part::Tables(tables), Some(Part::Tables(half)));
                }
                let mut entries = tables.pop().map_or_else(Vec::new, entries);
                let half = halve(&mut entries).map(Part::Entries);
                (Part::Entries(entries), half)
            }
            Part::Entries(mut entries) => {
                let half = halve(&mut entries).map(Part::Entries);
                (Part::Entries(entries), half)
            }
        }
    }

    fn fold_with<F: Folder<C::Item>>(self, mut folder: F) -> F {
        match self {
            Part::Entries(entries) => folder.consume_iter(entries),
            Part::Tables(tables) => {
                for table in tables {
                    if folder.full() {
                        break;
                    }
                    folder = folder.consume_iter(table.cells());
                }
                folder
            }
        }
    }
}

/// With fewer tables than N for each thread, a walk splits tables as well. This is N.
const EACH: usize = 16;

/// Drives the entries of these tables.
fn walk<C, U>(mut tables: Vec<C>, consumer: U) -> U::Result
where
    C: Cells,
    U: UnindexedConsumer<C::Item>,
{
    if tables.len() == 1 {
        // A loop of a known length learns what its items cost.
        let entries = entries(tables.remove(0));
        return entries.into_par_iter().drive_unindexed(consumer);
    }
    let all: usize = tables.iter().map(C::len).sum();
    let largest = tables.iter().map(C::len).max().unwrap_or(0);
    if largest > all / 4 || tables.len() < EACH * current_num_threads() {
        return bridge_unindexed(Part::Tables(tables), consumer);
    }
    let entries = tables.into_par_iter().flat_map_iter(looked);
    entries.drive_unindexed(consumer)
}

/// A list of a table's entries.
fn entries<C: Cells>(table: C) -> Vec<C::Item> {
    let mut entries = Vec::with_capacity(table.len());
    table.cells().for_each(|entry| entries.push(entry));
    entries
}

/// A table's entries, with a look at the token before each.
fn looked<C: Cells>(table: C) -> impl Iterator<Item = C::Item> {
    let is_under = is_under();
    table.cells().inspect(move |_| {
        if is_under {
            check();
        }
    })
}

/// A table's entries as items: passes on `next`, `size_hint` and `fold`.
macro_rules! cells {
    ($($cells:ident<$($life:lifetime)?>($table:ty), $pairs:ident($inner:ty):
        |$pair:pat_param| $out:expr => $item:ty, where [$($bound:tt)*])*) => {$(
        pub(crate) struct $cells<$($life,)? K, V>(pub(crate) $table);
        pub(crate) struct $pairs<$($life,)? K, V>($inner);

        impl<$($life,)? K, V> Iterator for $pairs<$($life,)? K, V> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                self.0.next().map(|$pair| $out)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }

            #[inline]
            fn fold<A, F: FnMut(A, $item) -> A>(self, start: A, mut f: F) -> A {
                self.0.fold(start, |all, $pair| f(all, $out))
            }
        }

        impl<$($life,)? K, V> Cells for $cells<$($life,)? K, V> where $($bound)* {
            type Item = $item;
            type Iter = $pairs<$($life,)? K, V>;

            fn len(&self) -> usize {
                self.0.len()
            }

            fn cells(self) -> Self::Iter {
                $pairs(self.0.into_iter())
            }
        }
    )*};
}

cells! {
    Shared<'a>(&'a HashTable<(K, V)>), SharedPairs(hash_table::Iter<'a, (K, V)>):
        |(key, value)| (key, value) => (&'a K, &'a V), where [K: Sync, V: Sync]
    Sole<'a>(&'a mut HashTable<(K, V)>), SolePairs(hash_table::IterMut<'a, (K, V)>):
        |(key, value)| (&*key, value) => (&'a K, &'a mut V), where [K: Send + Sync, V: Send]
    Owned<>(Whole<(K, V)>), OwnedPairs(Leaving<(K, V)>):
        |pair| pair => (K, V), where [K: Send, V: Send]
}

/// A parallel iterator over tables of one kind.
macro_rules! walks {
    ($($(#[$doc:meta])* $name:ident<$($life:lifetime)?>, $cells:ident => $item:ty,
        where [$($bound:tt)*])*) => {$(
        $(#[$doc])*
        pub struct $name<$($life,)? K, V> {
            tables: Vec<$cells<$($life,)? K, V>>,
        }

        impl<$($life,)? K, V> ParallelIterator for $name<$($life,)? K, V> where $($bound)* {
            type Item = $item;

            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C: UnindexedConsumer<$item>>(self, consumer: C) -> C::Result {
                walk(self.tables, consumer)
            }
        }

        impl<$($life,)? K, V> fmt::Debug for $name<$($life,)? K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

walks! {
    /// A map's entries, by shared reference, in parallel, from [`ParHashMap::par_iter`].
    ///
    /// ```
    /// use tine::{ParHashMap, map::ParIter};
    /// use tine::prelude::*;
    ///
    /// let mut map = ParHashMap::from([("fork", 4), ("comb", 30)]);
    /// let entries: ParIter<'_, _, _> = map.par_iter();
    /// assert_eq!(entries.map(|(_, tines)| tines).sum::<i32>(), 34);
    /// ```
    #[must_use = "parallel iterators do nothing until they are consumed"]
    ParIter<'a>, Shared => (&'a K, &'a V), where [K: Sync, V: Sync]
    /// A map's entries, changed in parallel, from [`ParHashMap::par_iter_mut`].
    ///
    /// ```
    /// use tine::{ParHashMap, map::ParIterMut};
    /// use tine::prelude::*;
    ///
    /// let mut map = ParHashMap::from([("fork", 4), ("comb", 30)]);
    /// let entries: ParIterMut<'_, _, _> = map.par_iter_mut();
    /// entries.for_each(|(_, tines)| *tines -= 1);
    /// assert_eq!(map.get_cloned("comb"), Some(29));
    /// ```
    #[must_use = "parallel iterators do nothing until they are consumed"]
    ParIterMut<'a>, Sole => (&'a K, &'a mut V), where [K: Send + Sync, V: Send]
    /// A map's entries, consumed in parallel, from a map's `into_par_iter` or
    /// [`ParHashMap::par_drain`].
    ///
    /// ```
    /// use tine::{ParHashMap, map::IntoParIter};
    /// use tine::prelude::*;
    ///
    /// let entries: IntoParIter<_, _> = ParHashMap::from([("fork", 4), ("comb", 30)]).into_par_iter();
    /// assert_eq!(entries.max(), Some(("fork", 4)));
    /// ```
    IntoParIter<>, Owned => (K, V), where [K: Send, V: Send]
}

impl<'a, K, V> ParIter<'a, K, V> {
    pub(crate) fn new(tables: impl Iterator<Item = &'a HashTable<(K, V)>>) -> Self {
        ParIter {
            tables: tables.map(Shared).collect(),
        }
    }
}

/// No type has this trait. The compiler asks for it where a program walks a shared map, and its
/// message then names the remedies.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a `{Self}` behind `&` cannot be walked in parallel: other threads may be changing it",
    label = "this needs `&mut`, or the map or set by value",
    note = "built and only read from now on: `let frozen = map.freeze();`, then `frozen.par_iter()`",
    note = "no other code is using it: `(&mut map).into_par_iter()`, or `map.par_iter()` on a `let mut map`"
)]
pub trait WalkShared {}

impl<K, V, S> ParHashMap<K, V, S> {
    /// Never called: `into_par_iter` on a `&ParHashMap` ends here, with a message.
    #[doc(hidden)]
    pub fn into_par_iter(&self)
    where
        Self: WalkShared,
    {
    }

    /// All entries, in parallel.
    ///
    /// It takes `&mut self`, which proves that no other thread uses the map, so nothing is locked.
    /// To walk a shared map, [freeze](Self::freeze) it.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let mut map: ParHashMap<u32, u32> = (0..100).map(|i| (i, i)).collect();
    /// assert_eq!(map.par_iter().map(|(k, v)| k + v).sum::<u32>(), 9900);
    /// ```
    pub fn par_iter(&mut self) -> ParIter<'_, K, V> {
        ParIter::new(self.shards.tables_mut().into_iter().map(|table| &*table))
    }

    /// All entries, their values to change, in parallel.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let mut map: ParHashMap<u32, u32> = (0..100).map(|i| (i, i)).collect();
    /// map.par_iter_mut().for_each(|(k, v)| *v += k);
    /// assert_eq!(map.get_cloned(&7), Some(14));
    /// ```
    pub fn par_iter_mut(&mut self) -> ParIterMut<'_, K, V> {
        ParIterMut {
            tables: self.shards.tables_mut().into_iter().map(Sole).collect(),
        }
    }

    /// Removes all entries at once and yields them, in parallel. The memory goes with them
    /// ([`drain`](Self::drain) keeps it).
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let mut map: ParHashMap<u32, u32> = (0..100).map(|i| (i, i)).collect();
    /// assert_eq!(map.par_drain().map(|(_, v)| v).max(), Some(99));
    /// assert!(map.is_empty());
    /// ```
    pub fn par_drain(&mut self) -> IntoParIter<K, V> {
        let tables = self.shards.tables_mut().into_iter();
        IntoParIter {
            tables: tables.map(|table| Owned(mem::take(table).into())).collect(),
        }
    }

    /// All keys, in parallel.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let mut map = ParHashMap::from([(1, 10), (2, 20)]);
    /// assert_eq!(map.par_keys().sum::<i32>(), 3);
    /// ```
    pub fn par_keys(&mut self) -> impl ParallelIterator<Item = &K>
    where
        K: Sync,
        V: Sync,
    {
        self.par_iter().map(|(key, _)| key)
    }

    /// All values, in parallel.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let mut map = ParHashMap::from([(1, 10), (2, 20)]);
    /// assert_eq!(map.par_values().sum::<i32>(), 30);
    /// ```
    pub fn par_values(&mut self) -> impl ParallelIterator<Item = &V>
    where
        K: Sync,
        V: Sync,
    {
        self.par_iter().map(|(_, value)| value)
    }

    /// All values, to change, in parallel.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let mut map = ParHashMap::from([(1, 10), (2, 20)]);
    /// map.par_values_mut().for_each(|v| *v *= 2);
    /// assert_eq!(map.get_cloned(&2), Some(40));
    /// ```
    pub fn par_values_mut(&mut self) -> impl ParallelIterator<Item = &mut V>
    where
        K: Send + Sync,
        V: Send,
    {
        self.par_iter_mut().map(|(_, value)| value)
    }
}

impl<K: Send, V: Send, S> ParHashMap<K, V, S> {
    /// Keeps the entries for which `keep` returns `true`, shards in parallel.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map: ParHashMap<u32, u32> = (0..100).map(|i| (i, i)).collect();
    /// map.par_retain(|_, v| *v % 2 == 0);
    /// assert_eq!(map.len(), 50);
    /// ```
    pub fn par_retain(&mut self, keep: impl Fn(&K, &mut V) -> bool + Sync) {
        par_map(self.shards.tables_mut(), &|table: &mut HashTable<(
            K,
            V,
        )>| {
            table.retain(|(key, value)| keep(key, value));
        });
    }

    /// Removes all entries, shards in parallel, and keeps the memory. Also the way to drop a large
    /// map on all cores.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map: ParHashMap<u32, String> = (0..100).map(|i| (i, i.to_string())).collect();
    /// map.par_clear();
    /// assert!(map.is_empty());
    /// ```
    pub fn par_clear(&mut self) {
        drop_shared(self.shards.tables_mut());
    }
}

impl<K: Send, V: Send, S> IntoParallelIterator for ParHashMap<K, V, S> {
    type Item = (K, V);
    type Iter = IntoParIter<K, V>;

    fn into_par_iter(self) -> IntoParIter<K, V> {
        IntoParIter {
            tables: self
                .shards
                .into_tables()
                .into_iter()
                .map(|t| Owned(t.into()))
                .collect(),
        }
    }
}

impl<'a, K: Send + Sync, V: Send, S> IntoParallelIterator for &'a mut ParHashMap<K, V, S> {
    type Item = (&'a K, &'a mut V);
    type Iter = ParIterMut<'a, K, V>;

    fn into_par_iter(self) -> ParIterMut<'a, K, V> {
        self.par_iter_mut()
    }
}
