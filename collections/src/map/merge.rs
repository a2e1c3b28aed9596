//! Merging an owned map into another.
//!
//! A large map is scattered anew among the shards, by all threads. The entries of a small one are merged one by one, which is
//! several times as quick where the closure does little. If the closure turns out to take long, all threads merge what is left.
#![forbid(unsafe_code)]

use super::concurrent::ParHashMap;
use super::exclusive::put;
use super::shard::CROWD;
use crate::partition::par_map;
use crate::parts::{breadth, part_of};
use std::hash::{BuildHasher, Hash};
use std::iter;
use tine_iter::iter::IntoParallelIterator;
use tine_pool::loops::{check, look, now, ticks};

/// A map with no more entries than this is small.
const FEW: usize = 1 << 17;
/// An entry is dear if its closure takes A nanoseconds. Something else may delay a batch by B nanoseconds, and dear entries of less
/// than C nanoseconds in all are not worth the shards. These are A, B and C.
const DEAR: (u64, u64, u64) = (1_000, 20_000, 500_000);
/// Entries have to be dear N times in a row, since a thread may be interrupted. This is N.
const SURE: u32 = 3;
/// The clock is read after each entry at first, and then after N of them.
const BATCH: usize = 64;

impl<K: Eq + Hash + Send, V: Send, S: BuildHasher + Sync> ParHashMap<K, V, S> {
    /// Moves the entries of `other` into this map, in parallel where that pays. If both maps have a key,
    /// `merge` puts both values into one: its first argument is this map's, which stays.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut stock = ParHashMap::from([("pen", 3), ("ink", 1)]);
    /// stock.par_merge_with(ParHashMap::from([("pen", 4), ("nib", 9)]), |have, more| *have += more);
    /// assert_eq!(stock, ParHashMap::from([("pen", 7), ("ink", 1), ("nib", 9)]));
    /// ```
    pub fn par_merge_with<Z>(
        &mut self,
        other: ParHashMap<K, V, Z>,
        merge: impl Fn(&mut V, V) + Sync,
    ) {
        if other.len() > FEW {
            // Hashers may differ, so a shard of one map may not be a shard of the other. The entries
            // are scattered anew by this map's hasher.
            self.absorb(other.into_par_iter(), &merge);
            return;
        }
        let _look = look();
        let mut left = other.len();
        self.expect(left);
        let mut entries = other.into_iter();
        let (mut batch, mut dear, mut start) = (1, 0, now());
        while left > 0 {
            check();
            let mut calls = 0;
            for (key, value) in entries.by_ref().take(batch) {
                self.merge_mut(key, value, |have, more| {
                    calls += 1;
                    merge(have, more);
                });
            }
            left = left.saturating_sub(batch);
            if self
                .shards
                .stem_mut()
                .is_some_and(|stem| stem.len() > CROWD)
            {
                let hasher = &self.hasher;
                self.shards.widen(|(key, _)| hasher.hash_one(key));
                self.expect(left);
            }
            let end = now();
            let took = end.saturating_sub(start);
            start = end;
            if calls == 0 || took < ticks(DEAR.1 + calls * DEAR.0) {
                // No closure was called, or those were quick.
                (batch, dear) = ((2 * batch).min(BATCH), 0);
                continue;
            }
            dear += 1;
            if dear >= SURE && took / batch as u64 * left as u64 > ticks(DEAR.2) {
                return self.merge_shards(entries, &merge);
            }
        }
    }

    /// Merges the entries, shards in parallel.
    fn merge_shards(
        &mut self,
        entries: impl Iterator<Item = (K, V)>,
        merge: &(impl Fn(&mut V, V) + Sync),
    ) {
        let was_narrow = !self.shards.is_wide();
        let hasher = &self.hasher;
        let mut parts: Vec<_> = iter::repeat_with(Vec::new).take(breadth()).collect();
        for pair in entries {
            check();
            let hash = hasher.hash_one(&pair.0);
            parts[part_of(hash, breadth())].push((hash, pair));
        }
        self.shards.widen(|(key, _)| hasher.hash_one(key));
        let work: Vec<_> = self.shards.tables_mut().into_iter().zip(parts).collect();
        par_map(work, &|(table, pairs): (_, Vec<(u64, (K, V))>)| {
            for (hash, pair) in pairs {
                check();
                put(table, hash, pair, hasher, merge);
            }
        });
        self.shards.survey();
        if was_narrow {
            self.shards.narrow(|(key, _)| hasher.hash_one(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ParHashMap;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    #[cfg_attr(miri, ignore = "its clock is not that of the threads")]
    fn maps_are_divided_if_they_are_large() {
        let map = |len: u32| -> ParHashMap<u32, u32> { (0..len).map(|n| (n, n)).collect() };
        let mut cheap = ParHashMap::new();
        cheap.par_merge_with(map(10_000), |_, _| ());
        assert!(cheap.shards.is_wide() && cheap.shards.are_charted());
        let mut dear = map(600);
        dear.par_merge_with(map(700), |have, more| {
            sleep(Duration::from_micros(30));
            *have += more;
        });
        assert!(!dear.shards.is_wide() && dear.shards.are_charted());
        assert_eq!(dear.len(), 700);
        assert!((0..600).all(|n| dear.get_cloned(&n) == Some(2 * n)));
    }
}
