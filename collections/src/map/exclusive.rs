//! The methods that an exclusive reference allows, one step after another,
//! without locks.
#![forbid(unsafe_code)]

use super::concurrent::ParHashMap;
use super::shard::{CROWD, is_granted, share_of};
use super::table::{grow, make_room};
use crate::parts::breadth;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::borrow::Borrow;
use std::error::Error;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::iter;
use std::mem;

/// The reason why [`ParHashMap::try_reserve`] could not make room.
///
/// ```
/// let mut map = tine::ParHashMap::from([(1, 1)]);
/// let refused = map.try_reserve(usize::MAX).unwrap_err();
/// assert_eq!(refused.to_string(), "that many entries cannot be addressed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TryReserveError {
    /// Whether more was asked for than can be addressed. If not, memory was
    /// refused.
    overflow: bool,
}

impl TryReserveError {
    fn overflow() -> Self {
        Self { overflow: true }
    }
}

impl fmt::Display for TryReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.overflow {
            "that many entries cannot be addressed"
        } else {
            "the system refused the memory"
        })
    }
}

impl Error for TryReserveError {}

/// Inserts one pair, or merges it with the one that is there. Says whether the table has moved.
#[inline]
pub(crate) fn put<K: Eq + Hash, V, S: BuildHasher>(
    table: &mut HashTable<(K, V)>,
    hash: u64,
    (key, value): (K, V),
    hasher: &S,
    merge: impl FnOnce(&mut V, V),
) -> bool {
    let rehash = |(k, _): &(K, V)| hasher.hash_one(k);
    let has_moved = make_room(table, rehash);
    match table.entry(hash, |(k, _)| *k == key, rehash) {
        Slot::Occupied(slot) => merge(&mut slot.into_mut().1, value),
        Slot::Vacant(slot) => _ = slot.insert((key, value)),
    }
    has_moved
}

impl<K: Eq + Hash, V, S: BuildHasher> ParHashMap<K, V, S> {
    /// The value of `key`, to change. Takes no lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map = ParHashMap::from([("a", 1)]);
    /// *map.get_mut("a").unwrap() += 1;
    /// assert_eq!(map.get_cloned("a"), Some(2));
    /// ```
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        let (table, _) = self.shards.table_mut(hash);
        table
            .find_mut(hash, |(k, _)| k.borrow() == key)
            .map(|(_, value)| value)
    }

    /// Inserts the value, or merges it into that of an equal key. Takes no lock.
    pub(crate) fn merge_mut(&mut self, key: K, value: V, merge: impl FnOnce(&mut V, V)) {
        let hash = self.hash(&key);
        let (table, chart) = self.shards.table_mut(hash);
        match put(table, hash, (key, value), &self.hasher, merge) {
            true => chart.draw(table),
            false => chart.check(table),
        }
    }

    /// As [`insert`](Self::insert), without a lock.
    pub(crate) fn insert_mut(&mut self, key: K, value: V) -> Option<V> {
        let mut old = None;
        self.merge_mut(key, value, |have, new| old = Some(mem::replace(have, new)));
        old
    }

    /// About `more` entries come, unless keys repeat or the number is a lie. Makes room for some of them if the map has fewer, as
    /// far as the memory is not refused. Does not divide the map.
    pub(crate) fn expect(&mut self, more: usize) {
        let (more, len) = match self.shards.stem_mut() {
            Some(stem) => (more.min(CROWD.saturating_sub(stem.len())), stem.len()),
            None if more <= CROWD => return,
            None => {
                let tables = self.shards.tables_mut();
                (more, tables.iter().map(|table| table.len()).sum())
            }
        };
        if more > len {
            let all = if len == 0 { more } else { more.div_ceil(2) };
            let _ = self.try_reserve(all);
        }
    }

    /// Makes room for `additional` more entries, divided evenly among the shards.
    ///
    /// # Panics
    /// If that many entries cannot be addressed.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map = ParHashMap::from([(1, 1)]);
    /// map.reserve(5000);
    /// assert!(map.capacity() > 5000);
    /// ```
    #[track_caller]
    pub fn reserve(&mut self, additional: usize) {
        self.try_reserve(additional)
            .expect("capacity overflow, or no memory for the entries");
    }

    /// Makes room for `additional` more entries, or returns the reason why it
    /// cannot.
    ///
    /// # Errors
    /// If that many entries cannot be addressed, or memory is refused.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map = ParHashMap::from([(1, 1)]);
    /// assert!(map.try_reserve(usize::MAX).is_err());
    /// assert!(map.try_reserve(100).is_ok());
    /// ```
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        if additional == 0 {
            return Ok(());
        }
        let count = match self.shards.stem_mut() {
            Some(stem) if stem.len().saturating_add(additional) <= CROWD => 1,
            _ => breadth(),
        };
        let each = match count {
            1 => additional,
            _ => share_of(additional, count),
        };
        let tables = self.shards.tables_mut();
        if count > 1 && !tables.iter().all(|t| t.capacity() - t.len() >= each) {
            let len: usize = tables.iter().map(|table| table.len()).sum();
            match is_granted::<(K, V)>(each.saturating_add(len / count), count) {
                None => return Err(TryReserveError::overflow()),
                Some(false) => return Err(TryReserveError { overflow: false }),
                Some(true) => {}
            }
        }
        let hasher = &self.hasher;
        let rehash = |(k, _): &(K, V)| hasher.hash_one(k);
        if count > 1 {
            self.shards.widen(rehash);
        }
        let mut tables = self.shards.tables_mut();
        let made = tables.iter_mut().try_for_each(|table| {
            let refused = |why| match why {
                hashbrown::TryReserveError::CapacityOverflow => TryReserveError::overflow(),
                _ => TryReserveError { overflow: false },
            };
            grow(table, each, rehash).map_err(refused)
        });
        self.shards.survey();
        made
    }

    /// Replaces the key and the value of an equal key.
    pub(crate) fn replace_entry(&self, key: K, value: V) -> Option<(K, V)> {
        let hash = self.hash(&key);
        let (mut table, chart) = self.shards.write_to_add(hash, self.rehash());
        match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
            Slot::Occupied(slot) => Some(mem::replace(slot.into_mut(), (key, value))),
            Slot::Vacant(slot) => {
                slot.insert((key, value));
                chart.check(&table);
                None
            }
        }
    }

    /// Removes and yields the entries for which `chosen` returns `true`, as the iterator is walked.
    /// Entries that the walk does not reach stay.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let mut map: ParHashMap<i32, i32> = (0..10).map(|i| (i, i)).collect();
    /// assert_eq!(map.extract_if(|k, _| k % 5 == 0).count(), 2);
    /// assert_eq!(map.len(), 8);
    /// ```
    pub fn extract_if(
        &mut self,
        mut chosen: impl FnMut(&K, &mut V) -> bool,
    ) -> impl Iterator<Item = (K, V)> {
        let mut tables = self.shards.tables_mut().into_iter();
        let mut table = tables.next();
        let mut at = 0;
        iter::from_fn(move || {
            loop {
                let current = table.as_mut()?;
                while at < current.num_buckets() {
                    at += 1;
                    let Ok(mut slot) = current.get_bucket_entry(at - 1) else {
                        continue;
                    };
                    let (key, value) = slot.get_mut();
                    if chosen(key, value) {
                        return Some(slot.remove().0);
                    }
                }
                table = tables.next();
                at = 0;
            }
        })
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Extend<(K, V)> for ParHashMap<K, V, S> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, pairs: I) {
        let mut pairs = pairs.into_iter();
        self.expect(pairs.size_hint().0);
        if pairs.size_hint().0 > CROWD {
            // Keys may repeat, and the hint may lie: shards are made once the entries are there.
            let mut repeated = 0;
            while self
                .shards
                .stem_mut()
                .is_some_and(|stem| stem.len() <= CROWD)
            {
                let Some((key, value)) = pairs.next() else {
                    return;
                };
                repeated += usize::from(self.insert_mut(key, value).is_some());
            }
            let hasher = &self.hasher;
            self.shards.widen(|(key, _): &(K, V)| hasher.hash_one(key));
            // Most of them were new, so most of what comes may be.
            if repeated < CROWD {
                self.expect(pairs.size_hint().0);
            }
        }
        for (key, value) in pairs {
            self.insert_mut(key, value);
        }
    }
}

impl<'a, K, V, S> Extend<(&'a K, &'a V)> for ParHashMap<K, V, S>
where
    K: Eq + Hash + Copy + 'a,
    V: Copy + 'a,
    S: BuildHasher,
{
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, pairs: I) {
        self.extend(pairs.into_iter().map(|(&key, &value)| (key, value)));
    }
}
