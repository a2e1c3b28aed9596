//! A concurrent map through `&mut`, looked up by many threads without locks.
#![forbid(unsafe_code)]

use super::chart::Chart;
use super::concurrent::ParHashMap;
use crate::parts::part_of;
use hashbrown::HashTable;
use std::fmt;
use std::hash::{BuildHasher, Hash};

/// The tables of a map that no other code uses meanwhile.
pub struct Opened<'a, K, V, S> {
    tables: Vec<(Chart, &'a HashTable<(K, V)>)>,
    hasher: &'a S,
}

impl<K, V, S> fmt::Debug for Opened<'_, K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}

impl<K, V, S> ParHashMap<K, V, S> {
    pub(crate) fn open(&mut self) -> Opened<'_, K, V, S> {
        let tables = self.shards.tables_mut().into_iter();
        Opened {
            tables: tables.map(|table| (Chart::new(table), &*table)).collect(),
            hasher: &self.hasher,
        }
    }
}

impl<'a, K: Eq + Hash, V, S: BuildHasher> Opened<'a, K, V, S> {
    #[inline]
    pub(crate) fn hash(&self, key: &K) -> u64 {
        self.hasher.hash_one(key)
    }

    #[inline]
    fn part(&self, hash: u64) -> usize {
        part_of(hash, self.tables.len())
    }

    /// Fetches what a lookup of `hash` will read.
    #[inline]
    pub(crate) fn expect(&self, hash: u64) {
        self.tables[self.part(hash)].0.fetch::<(K, V)>(hash);
    }

    /// The entry of a key whose hash is known.
    #[inline]
    pub(crate) fn find(&self, hash: u64, key: &K) -> Option<&'a (K, V)> {
        let table = self.tables[self.part(hash)].1;
        table.find(hash, |(k, _)| k == key)
    }

    /// The part and the bucket of a key whose hash is known, and its entry.
    #[inline]
    pub(crate) fn find_bucket(&self, hash: u64, key: &K) -> Option<(usize, usize, &'a (K, V))> {
        let part = self.part(hash);
        let table = self.tables[part].1;
        let bucket = table.find_bucket_index(hash, |(k, _)| k == key)?;
        Some((part, bucket, table.get_bucket(bucket)?))
    }

    /// The number of buckets of each part.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = usize> {
        self.tables.iter().map(|(_, table)| table.num_buckets())
    }

    /// The part, the bucket, and the entry of all keys.
    pub(crate) fn iter_buckets(&self) -> impl Iterator<Item = (usize, usize, &'a (K, V))> {
        let tables = self.tables.iter().enumerate();
        tables.flat_map(|(part, &(_, table))| {
            let buckets = table.iter_buckets();
            buckets.filter_map(move |at| Some((part, at, table.get_bucket(at)?)))
        })
    }
}
