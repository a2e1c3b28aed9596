//! A map that no thread changes any more, and that is read without locks.
#![forbid(unsafe_code)]

use super::ahead::Ahead;
use super::chart::Chart;
use super::concurrent::ParHashMap;
use super::iter::IntoIter;
use super::par::{IntoParIter, ParIter};
use super::shard::Shards;
use super::table::{Whole, key_alone, value_alone};
use crate::hasher::DefaultHashBuilder;
use crate::parts::part_of;
use hashbrown::{HashTable, hash_table};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::iter::FusedIterator;
use std::ops::Index;
use std::slice;
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};

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
pub struct FrozenMap<K, V, S = DefaultHashBuilder> {
    tables: Box<[Whole<(K, V)>]>,
    /// Where the memory of each table is, for lookups that are planned ahead. A single lookup does
    /// not use it: the fewer instructions a lookup has, the more of them a core has under way.
    charts: Box<[Chart]>,
    hasher: S,
}

fn into_tables<T>(tables: Box<[Whole<T>]>) -> Vec<HashTable<T>> {
    let tables = tables.into_vec().into_iter();
    tables.map(Whole::into_inner).collect()
}

impl<K: Clone, V: Clone, S: Clone> Clone for FrozenMap<K, V, S> {
    fn clone(&self) -> Self {
        let tables = self.tables.iter().map(|table| HashTable::clone(table));
        Self::from_tables(tables.collect(), self.hasher.clone())
    }
}

impl<K, V, S> ParHashMap<K, V, S> {
    /// Turns this map into a [`FrozenMap`], which can only be read until it is
    /// [thawed](FrozenMap::thaw). Nothing is copied.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let frozen = ParHashMap::from([("a", 1)]).freeze();
    /// assert_eq!(frozen.get("a"), Some(&1));
    /// ```
    pub fn freeze(self) -> FrozenMap<K, V, S> {
        FrozenMap::from_tables(self.shards.into_tables(), self.hasher)
    }
}

impl<K, V, S> FrozenMap<K, V, S> {
    /// One table, or one for each part of the hashes.
    pub(crate) fn from_tables(tables: Vec<HashTable<(K, V)>>, hasher: S) -> Self {
        FrozenMap {
            charts: tables.iter().map(Chart::new).collect(),
            tables: tables.into_iter().map(Whole::from).collect(),
            hasher,
        }
    }

    /// The hash of a key, to be looked up soon.
    #[inline]
    pub(crate) fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u64
    where
        S: BuildHasher,
    {
        self.hasher.hash_one(key)
    }

    #[inline]
    fn table(&self, hash: u64) -> &HashTable<(K, V)> {
        &self.tables[part_of(hash, self.tables.len())]
    }

    /// Fetches what a lookup of `hash` will read.
    #[inline]
    pub(crate) fn expect(&self, hash: u64) {
        self.charts[part_of(hash, self.charts.len())].fetch::<(K, V)>(hash);
    }

    /// The entry of a key whose hash is known.
    #[inline]
    pub(crate) fn find<Q>(&self, hash: u64, key: &Q) -> Option<&(K, V)>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        self.table(hash).find(hash, |(k, _)| k.borrow() == key)
    }

    /// The part and the bucket of a key whose hash is known, and its entry.
    #[inline]
    pub(crate) fn find_bucket(&self, hash: u64, key: &K) -> Option<(usize, usize, &(K, V))>
    where
        K: Eq,
    {
        let part = part_of(hash, self.tables.len());
        let table = &self.tables[part];
        let bucket = table.find_bucket_index(hash, |(k, _)| k == key)?;
        Some((part, bucket, table.get_bucket(bucket)?))
    }

    /// The number of buckets of each part.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = usize> {
        self.tables.iter().map(|table| table.num_buckets())
    }

    /// The part, the bucket, and the entry of all keys.
    pub(crate) fn iter_buckets(&self) -> impl Iterator<Item = (usize, usize, &(K, V))> {
        self.tables.iter().enumerate().flat_map(|(part, table)| {
            let buckets = table.iter_buckets();
            buckets.filter_map(move |at| Some((part, at, table.get_bucket(at)?)))
        })
    }

    /// Turns this map back into a [`ParHashMap`], which can be changed. Nothing is copied.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]).freeze().thaw();
    /// map.insert("b", 2);
    /// assert_eq!(map.len(), 2);
    /// ```
    pub fn thaw(self) -> ParHashMap<K, V, S> {
        let hasher = self.hasher;
        let mut tables = into_tables(self.tables);
        let shards = match tables.len() {
            1 => Shards::from_stem(tables.remove(0)),
            _ => Shards::from_tables(tables),
        };
        ParHashMap { shards, hasher }
    }

    /// The number of entries.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert_eq!(ParHashMap::from([("a", 1)]).freeze().len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.tables.iter().map(|table| table.len()).sum()
    }

    /// Whether there is no entry.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::<u8, u8>::new().freeze().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(|table| table.is_empty())
    }

    /// All entries.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let frozen = ParHashMap::from([(1, 10), (2, 20)]).freeze();
    /// assert_eq!(frozen.iter().map(|(_, v)| v).sum::<i32>(), 30);
    /// ```
    pub fn iter(&self) -> FrozenIter<'_, K, V> {
        FrozenIter {
            tables: self.tables.iter(),
            table: None,
            left: self.len(),
        }
    }

    /// All keys.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().keys().eq(&[1]));
    /// ```
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + FusedIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// All values.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().values().eq(&[10]));
    /// ```
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + FusedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// All keys, by value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().into_keys().eq([1]));
    /// ```
    pub fn into_keys(self) -> impl ExactSizeIterator<Item = K> + FusedIterator {
        self.into_iter().map(key_alone)
    }

    /// All values, by value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().into_values().eq([10]));
    /// ```
    pub fn into_values(self) -> impl ExactSizeIterator<Item = V> + FusedIterator {
        self.into_iter().map(value_alone)
    }

    /// The number of entries that there is memory for.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().capacity() >= 1);
    /// ```
    pub fn capacity(&self) -> usize {
        self.tables.iter().map(|table| table.capacity()).sum()
    }

    /// What the keys are hashed with.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use std::hash::BuildHasher;
    /// let frozen = ParHashMap::from([(1, 10)]).freeze();
    /// assert_eq!(frozen.hasher().hash_one(1), frozen.hasher().hash_one(1));
    /// ```
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    /// All keys, in parallel.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let frozen = ParHashMap::from([(1, 10), (2, 20)]).freeze();
    /// assert_eq!(frozen.par_keys().sum::<i32>(), 3);
    /// ```
    pub fn par_keys(&self) -> impl ParallelIterator<Item = &K>
    where
        K: Sync,
        V: Sync,
    {
        self.into_par_iter().map(|(key, _)| key)
    }

    /// All values, in parallel.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let frozen = ParHashMap::from([(1, 10), (2, 20)]).freeze();
    /// assert_eq!(frozen.par_values().sum::<i32>(), 30);
    /// ```
    pub fn par_values(&self) -> impl ParallelIterator<Item = &V>
    where
        K: Sync,
        V: Sync,
    {
        self.into_par_iter().map(|(_, value)| value)
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
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// The key in the map that equals `key`, and its value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let frozen = ParHashMap::from([(String::from("a"), 10)]).freeze();
    /// assert_eq!(frozen.get_key_value("a"), Some((&String::from("a"), &10)));
    /// ```
    #[inline]
    pub fn get_key_value<Q>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        self.find(hash, key).map(|(key, value)| (key, value))
    }

    /// The values of many keys, in the order of the keys.
    ///
    /// In a map larger than the cache this takes about half the time of the same number of calls of
    /// [`get`](Self::get): the memory of one key is fetched while the keys before it are looked up.
    /// Eight keys are drawn and hashed ahead, the first eight at the call. To look up in parallel,
    /// give each thread a part of the keys, or look up the items of any parallel iterator with
    /// `join_on`.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use tine::prelude::*;
    /// let frozen = ParHashMap::from([(1, 10), (2, 20)]).freeze();
    /// assert!(frozen.get_many(&[2, 3, 1]).eq([Some(&20), None, Some(&10)]));
    ///
    /// let keys = vec![2; 100_000];
    /// let sums = keys.par_chunks(1000).map(|part| frozen.get_many(part).flatten().sum::<i32>());
    /// assert_eq!(sums.sum::<i32>(), 2_000_000);
    /// ```
    pub fn get_many<'a, 'k, Q>(
        &'a self,
        keys: impl IntoIterator<Item = &'k Q>,
    ) -> impl Iterator<Item = Option<&'a V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized + 'k,
    {
        let expect = |key: &Q| {
            let hash = self.hash(key);
            self.expect(hash);
            hash
        };
        let find = |(hash, key)| self.find(hash, key).map(|(_, value)| value);
        Ahead::new(keys, expect).map(find)
    }

    /// Whether there is an entry for `key`.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::from([(1, 10)]).freeze().contains_key(&1));
    /// ```
    #[inline]
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

    /// The value of a key.
    ///
    /// # Panics
    /// If the key is not there.
    #[inline]
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
        IntoIter::new(into_tables(self.tables))
    }
}

impl<'a, K: Sync, V: Sync, S> IntoParallelIterator for &'a FrozenMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type Iter = ParIter<'a, K, V>;

    fn into_par_iter(self) -> ParIter<'a, K, V> {
        ParIter::new(self.tables.iter().map(|table| &**table))
    }
}

impl<K: Send, V: Send, S> IntoParallelIterator for FrozenMap<K, V, S> {
    type Item = (K, V);
    type Iter = IntoParIter<K, V>;

    fn into_par_iter(self) -> IntoParIter<K, V> {
        self.thaw().into_par_iter()
    }
}

/// The entries of a [`FrozenMap`], from [`FrozenMap::iter`].
///
/// ```
/// use tine::{ParHashMap, map::FrozenIter};
///
/// let frozen = ParHashMap::from([("fork", 4)]).freeze();
/// let mut entries: FrozenIter<'_, _, _> = frozen.iter();
/// assert_eq!((entries.len(), entries.next()), (1, Some((&"fork", &4))));
/// ```
#[must_use = "iterators are lazy"]
pub struct FrozenIter<'a, K, V> {
    tables: slice::Iter<'a, Whole<(K, V)>>,
    table: Option<hash_table::Iter<'a, (K, V)>>,
    left: usize,
}

impl<'a, K, V> Iterator for FrozenIter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<(&'a K, &'a V)> {
        loop {
            if let Some((key, value)) = self.table.as_mut().and_then(Iterator::next) {
                self.left -= 1;
                return Some((key, value));
            }
            self.table = Some(self.tables.next()?.iter());
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    fn fold<A, F: FnMut(A, Self::Item) -> A>(self, start: A, mut f: F) -> A {
        let rest = self.tables.map(|table| table.iter());
        let tables = self.table.into_iter().chain(rest);
        tables.fold(start, |all, table| {
            table.fold(all, |all, (key, value)| f(all, (key, value)))
        })
    }
}

impl<K, V> ExactSizeIterator for FrozenIter<'_, K, V> {}
impl<K, V> FusedIterator for FrozenIter<'_, K, V> {}

impl<K, V> Clone for FrozenIter<'_, K, V> {
    fn clone(&self) -> Self {
        FrozenIter {
            tables: self.tables.clone(),
            table: self.table.clone(),
            left: self.left,
        }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for FrozenIter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, K, V, S> IntoIterator for &'a FrozenMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = FrozenIter<'a, K, V>;

    fn into_iter(self) -> FrozenIter<'a, K, V> {
        self.iter()
    }
}

impl<K, V, S: Default> Default for FrozenMap<K, V, S> {
    fn default() -> Self {
        ParHashMap::with_hasher(S::default()).freeze()
    }
}

impl<K, V, S> From<ParHashMap<K, V, S>> for FrozenMap<K, V, S> {
    fn from(map: ParHashMap<K, V, S>) -> Self {
        map.freeze()
    }
}

impl<K, V, S> From<FrozenMap<K, V, S>> for ParHashMap<K, V, S> {
    fn from(map: FrozenMap<K, V, S>) -> Self {
        map.thaw()
    }
}

impl<K: Eq + Hash, V, const N: usize> From<[(K, V); N]> for FrozenMap<K, V> {
    fn from(pairs: [(K, V); N]) -> Self {
        ParHashMap::from(pairs).freeze()
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for FrozenMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        pairs.into_iter().collect::<ParHashMap<K, V, S>>().freeze()
    }
}

impl<K, V, S, Z> PartialEq<FrozenMap<K, V, Z>> for FrozenMap<K, V, S>
where
    K: Eq + Hash,
    V: PartialEq,
    S: BuildHasher,
    Z: BuildHasher,
{
    fn eq(&self, other: &FrozenMap<K, V, Z>) -> bool {
        let same = |(key, value)| other.get(key) == Some(value);
        self.len() == other.len() && self.iter().all(same)
    }
}

impl<K: Eq + Hash, V: Eq, S: BuildHasher> Eq for FrozenMap<K, V, S> {}

impl<K, V, S, Z> PartialEq<HashMap<K, V, Z>> for FrozenMap<K, V, S>
where
    K: Eq + Hash,
    V: PartialEq,
    S: BuildHasher,
    Z: BuildHasher,
{
    fn eq(&self, other: &HashMap<K, V, Z>) -> bool {
        let same = |(key, value)| other.get(key) == Some(value);
        self.len() == other.len() && self.iter().all(same)
    }
}
