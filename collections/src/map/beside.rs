//! Reading two maps beside each other: many lookups under few locks.
//!
//! A lock for each lookup takes several times as long as the lookup. So some tables of the first map are locked, then all
//! tables of the second, and then each entry of the former is looked up in the latter. Writers wait for no more than that.
//! All of these are readers, so no order of locks can deadlock.
#![forbid(unsafe_code)]

use super::ahead::Ahead;
use super::concurrent::ParHashMap;
use super::shard::Reading;
use crate::parts::part_of;
use std::hash::{BuildHasher, Hash};

/// The memory of lookups is fetched ahead if a table has more buckets.
const FAR: usize = 512;
/// Tables of at least this many entries are locked at a time, if there are so many.
const MANY: usize = if cfg!(miri) { 1 << 6 } else { 1 << 12 };

/// All tables of a map, locked for reading.
pub(crate) struct Tables<'a, K, V, S> {
    map: &'a ParHashMap<K, V, S>,
    tables: Vec<Reading<'a, (K, V)>>,
}

impl<K: Eq + Hash, V, S: BuildHasher> Tables<'_, K, V, S> {
    #[inline]
    fn get(&self, hash: u64, key: &K) -> Option<&V> {
        let table = &self.tables[part_of(hash, self.tables.len())];
        let entry = table.find(hash, |(k, _)| k == key);
        entry.map(|(_, value)| value)
    }

    /// Looks up the keys of these entries. Says whether `test` returned `true` for each entry and the value of its key here.
    #[inline]
    pub(crate) fn all<'e, W>(
        &self,
        mut entries: impl Iterator<Item = &'e (K, W)>,
        mut test: impl FnMut(&'e (K, W), Option<&V>) -> bool,
    ) -> bool
    where
        (K, W): 'e,
    {
        let hash = |entry: &(K, W)| self.map.hasher.hash_one(&entry.0);
        if self.tables[0].num_buckets() <= FAR {
            return entries.all(|entry| test(entry, self.get(hash(entry), &entry.0)));
        }
        let expect = |entry: &(K, W)| {
            let hash = hash(entry);
            self.map.shards.expect(hash);
            hash
        };
        Ahead::new(entries, expect).all(|(hash, entry)| test(entry, self.get(hash, &entry.0)))
    }
}

impl<K, V, S> ParHashMap<K, V, S> {
    /// Calls `look` with some tables of this map, beside all tables of the other, until it has seen all of this map or
    /// returns `false`. Says whether it always returned `true`.
    #[track_caller]
    pub(crate) fn beside<W, Z>(
        &self,
        other: &ParHashMap<K, W, Z>,
        mut look: impl FnMut(&[Reading<'_, (K, V)>], &Tables<'_, K, W, Z>) -> bool,
    ) -> bool {
        let mut walk = self.shards.walk();
        loop {
            let (mut some, mut len) = (Vec::new(), 0);
            while len < MANY
                && let Some(table) = walk.next()
            {
                len += table.len();
                some.push(table);
            }
            if some.is_empty() {
                return true;
            }
            let tables = other.shards.walk().collect();
            if !look(&some, &Tables { map: other, tables }) {
                return false;
            }
        }
    }
}
