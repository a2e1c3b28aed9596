//! Walking a map one entry after another.
//!
//! A walk over `&self` yields clones, one shard's entries at a time, and holds no lock between two
//! steps. A walk over an owned map yields the entries themselves.
#![forbid(unsafe_code)]

use super::concurrent::ParHashMap;
use super::shard::Walk;
use super::table::{Leaving, Whole, key_alone, value_alone};
use hashbrown::{HashTable, hash_table};
use std::fmt;
use std::iter::FusedIterator;
use std::mem;
use std::vec;

/// What `clone` makes of each entry of the next shard, under its lock. If it panics, the shard is unlocked before
/// the other clones are dropped.
fn clones<K, V, T>(walk: &mut Walk<'_, (K, V)>, clone: impl FnMut(&(K, V)) -> T) -> Option<Vec<T>> {
    let mut made = Vec::new();
    let table = walk.next()?;
    made.extend(table.iter().map(clone));
    Some(made)
}

/// Clones of a map's entries, from [`ParHashMap::iter`].
///
/// Each shard is cloned at one moment, but different shards at different moments.
///
/// ```
/// use tine::{ParHashMap, map::Iter};
///
/// let map = ParHashMap::from([("fork", 4)]);
/// let mut entries: Iter<'_, _, _> = map.iter();
/// assert_eq!(entries.next(), Some(("fork", 4)));
/// ```
#[must_use = "iterators are lazy"]
pub struct Iter<'a, K, V> {
    walk: Walk<'a, (K, V)>,
    shard: vec::IntoIter<(K, V)>,
}

impl<K: Clone, V: Clone> Iterator for Iter<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        loop {
            if let Some(pair) = self.shard.next() {
                return Some(pair);
            }
            let cloned = clones(&mut self.walk, Clone::clone)?;
            self.shard = cloned.into_iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.shard.len(), None)
    }
}

/// Clones of a map's keys, from [`ParHashMap::keys`].
///
/// ```
/// use tine::{ParHashMap, map::Keys};
///
/// let map = ParHashMap::from([("fork", 4)]);
/// let mut keys: Keys<'_, _, _> = map.keys();
/// assert_eq!(keys.next(), Some("fork"));
/// ```
#[must_use = "iterators are lazy"]
pub struct Keys<'a, K, V> {
    walk: Walk<'a, (K, V)>,
    shard: vec::IntoIter<K>,
}

impl<K: Clone, V> Iterator for Keys<'_, K, V> {
    type Item = K;

    fn next(&mut self) -> Option<K> {
        loop {
            if let Some(key) = self.shard.next() {
                return Some(key);
            }
            let cloned = clones(&mut self.walk, |(key, _)| key.clone())?;
            self.shard = cloned.into_iter();
        }
    }
}

/// Clones of a map's values, from [`ParHashMap::values`].
///
/// ```
/// use tine::{ParHashMap, map::Values};
///
/// let map = ParHashMap::from([("fork", 4)]);
/// let values: Values<'_, _, _> = map.values();
/// assert_eq!(values.sum::<i32>(), 4);
/// ```
#[must_use = "iterators are lazy"]
pub struct Values<'a, K, V> {
    walk: Walk<'a, (K, V)>,
    shard: vec::IntoIter<V>,
}

impl<K, V: Clone> Iterator for Values<'_, K, V> {
    type Item = V;

    fn next(&mut self) -> Option<V> {
        loop {
            if let Some(value) = self.shard.next() {
                return Some(value);
            }
            let cloned = clones(&mut self.walk, |(_, value)| value.clone())?;
            self.shard = cloned.into_iter();
        }
    }
}

/// A map's entries, their values to change, from [`ParHashMap::iter_mut`].
///
/// ```
/// use tine::{ParHashMap, map::IterMut};
///
/// let mut map = ParHashMap::from([("fork", 4)]);
/// let entries: IterMut<'_, _, _> = map.iter_mut();
/// entries.for_each(|(_, tines)| *tines -= 1);
/// assert_eq!(map.get_cloned("fork"), Some(3));
/// ```
#[must_use = "iterators are lazy"]
pub struct IterMut<'a, K, V> {
    tables: vec::IntoIter<&'a mut HashTable<(K, V)>>,
    table: hash_table::IterMut<'a, (K, V)>,
    left: usize,
}

impl<'a, K, V> Iterator for IterMut<'a, K, V> {
    type Item = (&'a K, &'a mut V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.table.next() {
                self.left -= 1;
                return Some((key, value));
            }
            self.table = self.tables.next()?.iter_mut();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    #[inline]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(self, start: A, mut f: F) -> A {
        let mut f = |all, (key, value): &'a mut (K, V)| f(all, (&*key, value));
        let all = self.table.fold(start, &mut f);
        self.tables
            .fold(all, |all, table| table.iter_mut().fold(all, &mut f))
    }
}

/// A map's entries, from [`ParHashMap::into_iter`].
///
/// ```
/// use tine::{ParHashMap, map::IntoIter};
///
/// let mut entries: IntoIter<_, _> = ParHashMap::from([("fork", 4)]).into_iter();
/// assert_eq!(entries.next(), Some(("fork", 4)));
/// ```
pub struct IntoIter<K, V> {
    tables: vec::IntoIter<Whole<(K, V)>>,
    table: Leaving<(K, V)>,
    left: usize,
}

impl<K, V> IntoIter<K, V> {
    pub(crate) fn new(tables: Vec<HashTable<(K, V)>>) -> Self {
        let left = tables.iter().map(HashTable::len).sum();
        IntoIter {
            tables: Vec::from_iter(tables.into_iter().map(Whole::from)).into_iter(),
            table: Whole::from(HashTable::new()).into_iter(),
            left,
        }
    }
}

impl<K, V> Iterator for IntoIter<K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        loop {
            if let Some(pair) = self.table.next() {
                self.left -= 1;
                return Some(pair);
            }
            self.table = self.tables.next()?.into_iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    #[inline]
    fn fold<A, F: FnMut(A, (K, V)) -> A>(self, start: A, mut f: F) -> A {
        let all = self.table.fold(start, &mut f);
        self.tables
            .fold(all, |all, table| table.into_iter().fold(all, &mut f))
    }
}

/// The entries that leave a map, from [`ParHashMap::drain`].
///
/// Dropping it removes the rest.
///
/// ```
/// use tine::{ParHashMap, map::Drain};
///
/// let mut map = ParHashMap::from([("fork", 4)]);
/// let mut entries: Drain<'_, _, _> = map.drain();
/// assert_eq!(entries.next(), Some(("fork", 4)));
/// drop(entries);
/// assert!(map.is_empty());
/// ```
pub struct Drain<'a, K, V> {
    tables: vec::IntoIter<&'a mut HashTable<(K, V)>>,
    table: Option<hash_table::Drain<'a, (K, V)>>,
    left: usize,
}

impl<K, V> Iterator for Drain<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        loop {
            if let Some(pair) = self.table.as_mut().and_then(Iterator::next) {
                self.left -= 1;
                return Some(pair);
            }
            self.table = Some(self.tables.next()?.drain());
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<K, V> Drop for Drain<'_, K, V> {
    fn drop(&mut self) {
        /// Removes the rest, even after a destructor has panicked.
        struct Rest<'l, 'a, K, V>(&'l mut Drain<'a, K, V>);

        impl<K, V> Drop for Rest<'_, '_, K, V> {
            fn drop(&mut self) {
                self.0.for_each(drop);
            }
        }

        if const { !mem::needs_drop::<(K, V)>() } {
            return self.tables.by_ref().for_each(HashTable::clear);
        }
        let rest = Rest(self);
        rest.0.for_each(drop);
    }
}

impl<K, V> ExactSizeIterator for IterMut<'_, K, V> {}
impl<K, V> ExactSizeIterator for IntoIter<K, V> {}
impl<K, V> ExactSizeIterator for Drain<'_, K, V> {}
impl<K: Clone, V: Clone> FusedIterator for Iter<'_, K, V> {}
impl<K: Clone, V> FusedIterator for Keys<'_, K, V> {}
impl<K, V: Clone> FusedIterator for Values<'_, K, V> {}
impl<K, V> FusedIterator for IterMut<'_, K, V> {}
impl<K, V> FusedIterator for IntoIter<K, V> {}
impl<K, V> FusedIterator for Drain<'_, K, V> {}

macro_rules! opaque {
    ($($name:ident<$($life:lifetime)?>)*) => {$(
        impl<K, V> fmt::Debug for $name<$($life,)? K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

opaque!(Iter<'_> Keys<'_> Values<'_> IterMut<'_> IntoIter<> Drain<'_>);

impl<K, V, S> ParHashMap<K, V, S> {
    /// Clones of all entries. A shard is locked only while it is cloned, so the loop may do
    /// anything with the map.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 10), (2, 20)]);
    /// for (key, value) in map.iter() {
    ///     map.insert(key, value + 1);
    /// }
    /// assert_eq!(map.get_cloned(&2), Some(21));
    /// ```
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter {
            walk: self.shards.walk(),
            shard: Vec::new().into_iter(),
        }
    }

    /// Clones of all keys.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 10), (2, 20)]);
    /// assert_eq!(map.keys().sum::<i32>(), 3);
    /// ```
    #[track_caller]
    pub fn keys(&self) -> Keys<'_, K, V> {
        Keys {
            walk: self.shards.walk(),
            shard: Vec::new().into_iter(),
        }
    }

    /// Clones of all values.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 10), (2, 20)]);
    /// assert_eq!(map.values().sum::<i32>(), 30);
    /// ```
    #[track_caller]
    pub fn values(&self) -> Values<'_, K, V> {
        Values {
            walk: self.shards.walk(),
            shard: Vec::new().into_iter(),
        }
    }

    /// All entries, their values to change.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map = ParHashMap::from([(1, 10), (2, 20)]);
    /// map.iter_mut().for_each(|(k, v)| *v += k);
    /// assert_eq!(map.get_cloned(&2), Some(22));
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        let tables = self.shards.tables_mut();
        let left = tables.iter().map(|table| table.len()).sum();
        IterMut {
            tables: tables.into_iter(),
            table: hash_table::IterMut::default(),
            left,
        }
    }

    /// All values, to change.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map = ParHashMap::from([(1, 10), (2, 20)]);
    /// map.values_mut().for_each(|v| *v += 1);
    /// assert_eq!(map.get_cloned(&2), Some(21));
    /// ```
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> + FusedIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Removes all entries and yields them. The map keeps its memory.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map = ParHashMap::from([(1, 10), (2, 20)]);
    /// assert_eq!(map.drain().count(), 2);
    /// assert!(map.is_empty());
    /// ```
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        let tables = self.shards.tables_mut();
        let left = tables.iter().map(|table| table.len()).sum();
        Drain {
            tables: tables.into_iter(),
            table: None,
            left,
        }
    }

    /// All keys, by value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(String::from("a"), 1)]);
    /// assert!(map.into_keys().eq(["a"]));
    /// ```
    pub fn into_keys(self) -> impl ExactSizeIterator<Item = K> + FusedIterator {
        self.into_iter().map(key_alone)
    }

    /// All values, by value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, String::from("a"))]);
    /// assert!(map.into_values().eq(["a"]));
    /// ```
    pub fn into_values(self) -> impl ExactSizeIterator<Item = V> + FusedIterator {
        self.into_iter().map(value_alone)
    }
}

impl<K, V, S> IntoIterator for ParHashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        IntoIter::new(self.shards.into_tables())
    }
}

impl<'a, K, V, S> IntoIterator for &'a mut ParHashMap<K, V, S> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}

impl<'a, K: Clone, V: Clone, S> IntoIterator for &'a ParHashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}
