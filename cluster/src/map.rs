//! `DistMap`: a map of which every rank has the keys that it owns.
#![forbid(unsafe_code)]

use crate::cluster::Cluster;
use crate::iter::DistIter;
use crate::owner::{hash_of, owner};
use crate::travel::{Travel, decode, encode};
use crate::vec::DistVec;
use std::borrow::Borrow;
use std::cmp::Reverse;
use std::fmt;
use std::hash::Hash;
use std::panic::Location;
use tine_collections::{ParHashMap, map};
use tine_iter::prelude::*;

/// A map of which every rank has a part. A hash decides which rank a key lives on, and the hash is
/// the same for all maps. So maps are joined without sending anything.
///
/// ```
/// tine_cluster::run_threads(3, |c| {
///     let counts = c.generate(100, |i| i).into_par_iter().count_by(|n| n % 7);
///     assert_eq!(counts.get(&2), Some(14));
///     assert_eq!(counts.len(), 7);
///     Ok(())
/// }).unwrap();
/// ```
pub struct DistMap<K, V> {
    cluster: Cluster,
    map: ParHashMap<K, V>,
}

impl<K, V> DistMap<K, V> {
    /// `map` has keys of this rank only.
    pub(crate) fn new(cluster: Cluster, map: ParHashMap<K, V>) -> Self {
        DistMap { cluster, map }
    }

    /// The ranks of the map.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let counts = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     assert_eq!((counts.cluster().size(), counts.cluster().rank()), (2, c.rank()));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// This rank's part.
    pub fn local(&self) -> &ParHashMap<K, V> {
        &self.map
    }

    /// This rank's part, taken out.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let counts = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     let parts = c.from_local(vec![counts.into_local().len()]);
    ///     assert_eq!(parts.all_gather().iter().sum::<usize>(), 3);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn into_local(self) -> ParHashMap<K, V> {
        self.map
    }

    /// The number of keys on all ranks. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let counts = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     assert_eq!(counts.len(), 3);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn len(&self) -> usize {
        let here = Location::caller();
        let call = self
            .cluster
            .enter::<()>("map len", here, self.map.len() as u64);
        call.total()
    }

    /// Whether no rank has a key. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     assert!(c.generate(0, |i| i).into_par_iter().count_by(|n| *n).is_empty());
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        let here = Location::caller();
        let call = self
            .cluster
            .enter::<()>("map is_empty", here, self.map.len() as u64);
        call.total() == 0
    }
}

impl<K: Travel + Eq + Hash, V: Send> DistMap<K, V> {
    /// The value of a key, on all ranks. All ask for the same key; if they do not, the job ends. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let words = c.scatter(vec!["a".to_owned(), "b".into(), "a".into()]);
    ///     let counts = words.into_par_iter().count_by(String::clone);
    ///     assert_eq!((counts.get("a"), counts.get("c")), (Some(2), None));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Travel + Clone,
    {
        let hash = hash_of(key);
        let call = self.cluster.enter::<V>("get", Location::caller(), hash);
        call.same_word("key");
        let root = owner(hash, self.cluster.size());
        let mine = self.map.get_cloned(key);
        if self.cluster.size() == 1 {
            return mine;
        }
        match root == self.cluster.rank() {
            true => {
                call.broadcast(root, encode(&mine));
                mine
            }
            false => decode(&call.broadcast(root, Vec::new())),
        }
    }

    /// A pipeline over references to the entries. Their order is not specified.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let mut counts = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     assert_eq!(counts.par_iter().map(|(_, count)| *count).max(), Some(4));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn par_iter(&mut self) -> DistIter<map::ParIter<'_, K, V>>
    where
        K: Sync,
        V: Sync,
    {
        DistIter::new(self.cluster.clone(), self.map.par_iter())
    }

    /// A pipeline over the entries. Their order is not specified; that of
    /// [`into_vec`](Self::into_vec) is.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let counts = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     assert_eq!(counts.into_par_iter().map(|(key, count)| key * count).sum::<usize>(), 9);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn into_par_iter(self) -> DistIter<map::IntoParIter<K, V>> {
        DistIter::new(self.cluster, self.map.into_par_iter())
    }

    /// The entries as a vector, in an order that depends only on the keys, not on the ranks: the
    /// order of a hash. (Two keys with the same hash, of 64 bits, may be in either order.)
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let counts = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3).into_vec();
    ///     assert_eq!(counts.sort().all_gather(), [(0, 4), (1, 3), (2, 3)]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn into_vec(self) -> DistVec<(K, V)> {
        let mut hashed: Vec<(u64, (K, V))> = self
            .map
            .into_par_iter()
            .map(|entry| (hash_of(&entry.0), entry))
            .collect();
        hashed.par_sort_unstable_by_key(|(hash, _)| *hash);
        let entries = hashed.into_par_iter().map(|(_, entry)| entry).collect();
        DistVec::new(self.cluster, entries)
    }

    /// Changes every value.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let groups = c.generate(10, |i| i).into_par_iter().group_by(|n| n % 3);
    ///     let sums = groups.map_values(|row| row.iter().sum::<usize>());
    ///     assert_eq!(sums.get(&1), Some(12));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn map_values<W, F>(self, f: F) -> DistMap<K, W>
    where
        W: Send,
        F: Fn(V) -> W + Sync + Send,
    {
        let entries = self.map.into_par_iter();
        let map = entries.map(|(key, value)| (key, f(value))).collect();
        DistMap::new(self.cluster, map)
    }

    /// Keeps the entries for which `f` returns `true`.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let counts = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     assert_eq!(counts.filter(|_, count| *count > 3).len(), 1);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn filter<F>(mut self, f: F) -> Self
    where
        F: Fn(&K, &V) -> bool + Sync + Send,
    {
        self.map.par_retain(|key, value| f(key, value));
        self
    }

    /// The keys that both maps have, with the result of `f` for the two values. Sends nothing.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let threes = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     let twos = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 2);
    ///     let both = threes.join(twos, |a, b| (a, b)).into_vec().sort();
    ///     assert_eq!(both.all_gather(), [(0, (4, 5)), (1, (3, 5))]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn join<W, X, F>(self, other: DistMap<K, W>, f: F) -> DistMap<K, X>
    where
        W: Send + Sync,
        X: Send,
        F: Fn(V, W) -> X + Sync + Send,
        K: Sync,
    {
        let other = other.map;
        let both = |(key, value): (K, V)| {
            let partner = other.remove(&key)?;
            Some((key, f(value, partner)))
        };
        let map = self.map.into_par_iter().filter_map(both).collect();
        DistMap::new(self.cluster, map)
    }

    /// All keys of this map, with the result of `f` for their values and, where the other map has
    /// them, its values. Sends nothing.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let threes = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     let twos = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 2);
    ///     let all = threes.left_join(twos, |a, b| a + b.unwrap_or(0)).into_vec().sort();
    ///     assert_eq!(all.all_gather(), [(0, 9), (1, 8), (2, 3)]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn left_join<W, X, F>(self, other: DistMap<K, W>, f: F) -> DistMap<K, X>
    where
        W: Send + Sync,
        X: Send,
        F: Fn(V, Option<W>) -> X + Sync + Send,
        K: Sync,
    {
        let other = other.map;
        let all = |(key, value): (K, V)| {
            let partner = other.remove(&key);
            (key, f(value, partner))
        };
        let map = self.map.into_par_iter().map(all).collect();
        DistMap::new(self.cluster, map)
    }

    /// Moves the entries of `other` into this map. If both have a key, `f` adds the other's value
    /// to this one's. Sends nothing.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let threes = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     let twos = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 2);
    ///     let sums = threes.merge_with(twos, |have, more| *have += more).into_vec().sort();
    ///     assert_eq!(sums.all_gather(), [(0, 9), (1, 8), (2, 3)]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn merge_with<F>(mut self, other: Self, f: F) -> Self
    where
        F: Fn(&mut V, V) + Sync + Send,
    {
        self.map.par_merge_with(other.map, f);
        self
    }

    /// All entries on rank 0, in the order of [`into_vec`](Self::into_vec); `None` on the others.
    /// (C)
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let counts = c.generate(10, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     assert_eq!(counts.gather().map(|all| all.len()), c.is_root().then_some(3));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn gather(self) -> Option<Vec<(K, V)>>
    where
        V: Travel,
    {
        self.into_vec().gather()
    }

    /// The `k` entries with the greatest values, on all ranks, greatest first; of equal values the
    /// smaller key first. All ranks give the same `k`; if they do not, the job ends. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let counts = c.generate(11, |i| i).into_par_iter().count_by(|n| n % 3);
    ///     assert_eq!(counts.top_k(2), [(0, 4), (1, 4)]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn top_k(self, k: usize) -> Vec<(K, V)>
    where
        K: Ord + Clone,
        V: Travel + Ord + Clone,
    {
        let call = self
            .cluster
            .enter::<(K, V)>("top_k", Location::caller(), k as u64);
        call.same_number("`k`");
        let mine = greatest(self.map.into_iter().collect(), k);
        let all = call.all_gather_values(mine).into_iter().flatten();
        greatest(all.collect(), k)
    }
}

/// The `k` entries with the greatest values.
pub(crate) fn greatest<K: Ord, V: Ord>(mut entries: Vec<(K, V)>, k: usize) -> Vec<(K, V)> {
    fn rank<K, V>((key, value): &(K, V)) -> (Reverse<&V>, &K) {
        (Reverse(value), key)
    }
    if k == 0 {
        return Vec::new();
    }
    if k < entries.len() {
        entries.select_nth_unstable_by(k - 1, |a, b| rank(a).cmp(&rank(b)));
        entries.truncate(k);
    }
    entries.sort_by(|a, b| rank(a).cmp(&rank(b)));
    entries
}

impl<K: fmt::Debug + Eq + Hash, V: fmt::Debug> fmt::Debug for DistMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistMap")
            .field("rank", &self.cluster.rank())
            .field("local", &self.map)
            .finish()
    }
}
