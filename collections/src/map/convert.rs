//! The traits of std for a map: cloning, comparing, printing, converting.
#![forbid(unsafe_code)]

use super::concurrent::ParHashMap;
use super::shard::Shards;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};

impl<K: Clone, V: Clone, S: Clone> Clone for ParHashMap<K, V, S> {
    /// Clones one shard after another, each under its lock.
    #[track_caller]
    fn clone(&self) -> Self {
        let mut tables: Vec<_> = self.shards.walk().map(|table| (*table).clone()).collect();
        let shards = match tables.len() {
            1 => Shards::from_stem(tables.remove(0)),
            _ => Shards::from_tables(tables),
        };
        ParHashMap {
            shards,
            hasher: self.hasher.clone(),
        }
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for ParHashMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for table in self.shards.walk() {
            map.entries(table.iter().map(|(key, value)| (key, value)));
        }
        map.finish()
    }
}

impl<K, V, S, Z> PartialEq<ParHashMap<K, V, Z>> for ParHashMap<K, V, S>
where
    K: Eq + Hash,
    V: PartialEq,
    S: BuildHasher,
    Z: BuildHasher,
{
    /// Whether both hold the same entries. Exact if no thread changes them
    /// meanwhile.
    fn eq(&self, other: &ParHashMap<K, V, Z>) -> bool {
        self.len() == other.len()
            && self.shards.walk().all(|table| {
                table
                    .iter()
                    .all(|(key, value)| other.read(key, |v| v == value) == Some(true))
            })
    }
}

impl<K: Eq + Hash, V: Eq, S: BuildHasher> Eq for ParHashMap<K, V, S> {}

impl<K: Eq + Hash, V: PartialEq, S: BuildHasher, Z> PartialEq<HashMap<K, V, Z>>
    for ParHashMap<K, V, S>
{
    fn eq(&self, other: &HashMap<K, V, Z>) -> bool {
        self.len() == other.len()
            && other
                .iter()
                .all(|(key, value)| self.read(key, |v| v == value) == Some(true))
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for ParHashMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut map = Self::default();
        map.extend(pairs);
        map
    }
}

impl<K: Eq + Hash, V, const N: usize> From<[(K, V); N]> for ParHashMap<K, V> {
    fn from(pairs: [(K, V); N]) -> Self {
        pairs.into_iter().collect()
    }
}

/// Moves the entries over; keeps the hasher.
impl<K: Eq + Hash, V, S: BuildHasher + Clone> From<HashMap<K, V, S>> for ParHashMap<K, V, S> {
    fn from(map: HashMap<K, V, S>) -> Self {
        let mut par = Self::with_hasher(map.hasher().clone());
        // No key repeats. They come in the order of their hashes, and would crowd tables that grow.
        par.reserve(map.len());
        par.extend(map);
        par
    }
}

/// Moves the entries over; keeps the hasher.
impl<K: Eq + Hash, V, S: BuildHasher + Clone> From<hashbrown::HashMap<K, V, S>>
    for ParHashMap<K, V, S>
{
    fn from(map: hashbrown::HashMap<K, V, S>) -> Self {
        let mut par = Self::with_hasher(map.hasher().clone());
        // No key repeats. They come in the order of their hashes, and would crowd tables that grow.
        par.reserve(map.len());
        par.extend(map);
        par
    }
}

/// Moves the entries over; keeps the hasher.
impl<K: Eq + Hash, V, S: BuildHasher + Clone> From<ParHashMap<K, V, S>> for HashMap<K, V, S> {
    fn from(par: ParHashMap<K, V, S>) -> Self {
        let mut map = HashMap::with_capacity_and_hasher(par.len(), par.hasher.clone());
        map.extend(par);
        map
    }
}

/// Moves the entries over; keeps the hasher.
impl<K: Eq + Hash, V, S: BuildHasher + Clone> From<ParHashMap<K, V, S>>
    for hashbrown::HashMap<K, V, S>
{
    fn from(par: ParHashMap<K, V, S>) -> Self {
        let mut map = hashbrown::HashMap::with_capacity_and_hasher(par.len(), par.hasher.clone());
        map.extend(par);
        map
    }
}
