//! A map that no thread changes any more, and that is read without locks.
#![forbid(unsafe_code)]

use super::concurrent::ParHashMap;
use super::iter::IntoIter;
use super::par::{IntoParIter, ParIter};
use super::shard::Shards;
use crate::hasher::DefaultHashBuilder;
use crate::parts::part_of;
use hashbrown::HashTable;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::Index;
use tine_iter::iter::IntoParallelIterator;

/// A map that can only be read, from [`ParHashMap::freeze`]: no locks, plain
/// references, parallel iteration over `&self`.
///
/// ```
/// use tine::ParHashMap;
/// use tine::prelude::*;
///
/// let squares: ParHashMap<u64, u64> = (0..100).map(|i| (i, i * i)).collect();
/// let squares = squares.freeze();
/// assert_eq!(squares[&9], 81);
/// assert_eq!((0..100u64).into_par_iter().map(|i| squares[&i]).sum::<u64>(), 328_350);
/// ```
#[derive(Clone)]
pub struct FrozenMap<K, V, S = DefaultHashBuilder> {
    tables: Box<[HashTable<(K, V)>]>,
    hasher: S,
}

impl<K, V, S> ParHashMap<K, V, S> {
    /// The same map, not to be changed any more (unless it is [thawed](FrozenMap::thaw)). Nothing
    /// is copied.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let frozen = ParHashMap::from([("a", 1)]).freeze();
    /// assert_eq!(frozen.get("a"), Some(&1));
    /// ```
    pub fn freeze(self) -> FrozenMap<K, V, S> {
        FrozenMap {
            tables: self.shards.into_tables().into(),
            hasher: self.hasher,
        }
    }
}

impl<K, V, S> FrozenMap<K, V, S> {
    /// The same map, to be changed again. Nothing is copied.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]).freeze().thaw();
    /// map.insert("b", 2);
    /// assert_eq!(map.len(), 2);
    /// ```
    pub fn thaw(self) -> ParHashMap<K, V, S> {
        let mut tables = self.tables.into_vec();
        let shards = match tables.len() {
            1 => Shards::from_stem(tables.remove(0)),
            _ => Shards::from_tables(tables),
        };
        ParHashMap {
            shards,
            hasher: self.hasher,
        }
    }

    /// The number of entries.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert_eq!(ParHashMap::from([("a", 1)]).freeze().len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.tables.iter().map(HashTable::len).sum()
    }

    /// Whether there is no entry.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::<u8, u8>::new().freeze().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(HashTable::is_empty)
    }

    /// All entries.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let frozen = ParHashMap::from([(1, 10), (2, 20)]).freeze();
    /// assert_eq!(frozen.iter().map(|(_, v)| v).sum::<i32>(), 30);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.tables
            .iter()
            .flatten()
            .map(|(key, value)| (key, value))
    }

    /// All keys.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().keys().eq(&[1]));
    /// ```
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// All values.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().values().eq(&[10]));
    /// ```
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> FrozenMap<K, V, S> {
    /// The value of `key`.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let frozen = ParHashMap::from([(1, 10)]).freeze();
    /// assert_eq!((frozen.get(&1), frozen.get(&2)), (Some(&10), None));
    /// ```
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hasher.hash_one(key);
        let table = &self.tables[part_of(hash, self.tables.len())];
        table
            .find(hash, |(k, _)| k.borrow() == key)
            .map(|(_, value)| value)
    }

    /// Whether there is an entry for `key`.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().contains_key(&1));
    /// ```
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.get(key).is_some()
    }
}

impl<K, Q, V, S> Index<&Q> for FrozenMap<K, V, S>
where
    K: Eq + Hash + Borrow<Q>,
    Q: Hash + Eq + ?Sized,
    S: BuildHasher,
{
    type Output = V;

    /// # Panics
    /// If the key is not there.
    #[track_caller]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no entry for this key in the map")
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for FrozenMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K, V, S> IntoIterator for FrozenMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        IntoIter::new(self.tables.into_vec())
    }
}

impl<'a, K: Sync, V: Sync, S> IntoParallelIterator for &'a FrozenMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type Iter = ParIter<'a, K, V>;

    fn into_par_iter(self) -> ParIter<'a, K, V> {
        ParIter::new(self.tables.iter())
    }
}

impl<K: Send, V: Send, S> IntoParallelIterator for FrozenMap<K, V, S> {
    type Item = (K, V);
    type Iter = IntoParIter<K, V>;

    fn into_par_iter(self) -> IntoParIter<K, V> {
        self.thaw().into_par_iter()
    }
}
