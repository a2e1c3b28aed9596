//! Entries that keep the lock of their shard, occupied or vacant.
#![forbid(unsafe_code)]

use super::chart::Chart;
use super::concurrent::ParHashMap;
use super::entry::RefMut;
use super::shard::{GONE, Writing};
use super::table::value_alone;
use crate::hasher::DefaultHashBuilder;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::mem;

/// The place of a key, from [`ParHashMap::lock_entry`]. Its shard stays locked for writing.
///
/// ```
/// use tine::{ParHashMap, map::LockedEntry};
///
/// let jobs = ParHashMap::from([("build", 2)]);
/// for name in ["build", "build", "test"] {
///     match jobs.lock_entry(name) {
///         LockedEntry::Occupied(entry) if *entry.get() == 1 => _ = entry.remove(),
///         LockedEntry::Occupied(mut entry) => *entry.get_mut() -= 1,
///         LockedEntry::Vacant(entry) => _ = entry.insert(5),
///     }
/// }
/// assert_eq!(jobs, ParHashMap::from([("test", 5)]));
/// ```
#[must_use = "the shard stays locked only as long as the entry"]
pub enum LockedEntry<'a, K, V, S = DefaultHashBuilder> {
    /// The key has a value.
    Occupied(OccupiedEntry<'a, K, V>),
    /// The key has no value.
    Vacant(VacantEntry<'a, K, V, S>),
}

/// The entry of a key that has a value. Its shard stays locked for writing.
///
/// ```
/// use tine::{ParHashMap, map::LockedEntry};
///
/// let map = ParHashMap::from([("fork", 4)]);
/// if let LockedEntry::Occupied(entry) = map.lock_entry("fork") {
///     assert_eq!(entry.remove_entry(), ("fork", 4));
/// }
/// assert!(map.is_empty());
/// ```
pub struct OccupiedEntry<'a, K, V> {
    // First, so that it is dropped first: then the key's destructor runs while nothing is locked.
    guard: RefMut<'a, K, V>,
    given: K,
}

/// The place of a key that has no value. Its shard stays locked for writing, so no other thread adds the key.
///
/// ```
/// use tine::{ParHashMap, map::LockedEntry};
///
/// let map = ParHashMap::new();
/// if let LockedEntry::Vacant(entry) = map.lock_entry("fork") {
///     let tines = entry.key().len();
///     entry.insert(tines);
/// }
/// assert_eq!(map.get_cloned("fork"), Some(4));
/// ```
pub struct VacantEntry<'a, K, V, S = DefaultHashBuilder> {
    // First, as above.
    table: Writing<'a, (K, V)>,
    chart: &'a Chart,
    map: &'a ParHashMap<K, V, S>,
    hash: u64,
    key: K,
}

impl<K: Eq + Hash, V, S: BuildHasher> ParHashMap<K, V, S> {
    /// The entry of `key`, occupied or vacant, with its shard locked. Until the entry, or a guard made from it,
    /// is dropped, this thread must not touch the map (it panics). If a default or a closure is enough, prefer
    /// [`entry`](Self::entry) or [`compute`](Self::compute). Room for one more entry is made even if the key is
    /// there.
    ///
    /// # Panics
    ///
    /// If this thread holds a guard of this map, or is in one of its closures.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let seats = ParHashMap::from([("1a", "Ada")]);
    /// let book = |seat, name| match seats.lock_entry(seat) {
    ///     LockedEntry::Vacant(entry) => Ok(*entry.insert(name)),
    ///     LockedEntry::Occupied(entry) => Err(*entry.get()),
    /// };
    /// assert_eq!(book("1a", "Alan"), Err("Ada"));
    /// assert_eq!(book("1b", "Alan"), Ok("Alan"));
    /// ```
    #[track_caller]
    pub fn lock_entry(&self, key: K) -> LockedEntry<'_, K, V, S> {
        let hash = self.hash(&key);
        let (table, chart) = self.shards.write_to_add(hash, self.rehash());
        self.locked(key, hash, chart, table)
    }

    /// Like [`lock_entry`](Self::lock_entry), but neither waits nor panics. If another thread, or this thread, may be
    /// in the way, this gives the key back at once. (`Hash` and `Eq` may still panic.) A call that fails may put
    /// readers back on locks for some milliseconds, as a write does.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::new();
    /// if let Ok(LockedEntry::Vacant(entry)) = map.try_lock_entry("a") {
    ///     entry.insert(1);
    /// }
    /// let guard = map.get("a").unwrap();
    /// assert_eq!(map.try_lock_entry("b").unwrap_err(), "b");
    /// assert_eq!(*guard, 1);
    /// ```
    #[track_caller]
    pub fn try_lock_entry(&self, key: K) -> Result<LockedEntry<'_, K, V, S>, K> {
        let hash = self.hash(&key);
        match self.shards.try_write_to_add(hash, self.rehash()) {
            Some((table, chart)) => Ok(self.locked(key, hash, chart, table)),
            None => Err(key),
        }
    }

    /// If a comparison panics, the table is unlocked before the key is dropped: the last parameter is dropped first.
    #[inline]
    fn locked<'a>(
        &'a self,
        key: K,
        hash: u64,
        chart: &'a Chart,
        table: Writing<'a, (K, V)>,
    ) -> LockedEntry<'a, K, V, S> {
        match table.find_bucket_index(hash, |(k, _)| *k == key) {
            Some(bucket) => LockedEntry::Occupied(OccupiedEntry {
                guard: RefMut { table, bucket },
                given: key,
            }),
            None => LockedEntry::Vacant(VacantEntry {
                table,
                chart,
                map: self,
                hash,
                key,
            }),
        }
    }
}

impl<K, V, S> LockedEntry<'_, K, V, S> {
    /// The key: the key in the map, if it is there, and the given key otherwise.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert_eq!(ParHashMap::<_, ()>::new().lock_entry(5).key(), &5);
    /// ```
    pub fn key(&self) -> &K {
        match self {
            LockedEntry::Occupied(entry) => entry.key(),
            LockedEntry::Vacant(entry) => entry.key(),
        }
    }
}

impl<'a, K, V> OccupiedEntry<'a, K, V> {
    /// The key in the map.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::from([(1, 'a')]);
    /// let LockedEntry::Occupied(entry) = map.lock_entry(1) else { unreachable!() };
    /// assert_eq!(entry.key(), &1);
    /// ```
    pub fn key(&self) -> &K {
        self.guard.key()
    }

    /// The value.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::from([(1, 'a')]);
    /// let LockedEntry::Occupied(entry) = map.lock_entry(1) else { unreachable!() };
    /// assert_eq!(entry.get(), &'a');
    /// ```
    pub fn get(&self) -> &V {
        self.guard.value()
    }

    /// The value, for changing it.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::from([(1, 'a')]);
    /// if let LockedEntry::Occupied(mut entry) = map.lock_entry(1) {
    ///     *entry.get_mut() = 'b';
    /// }
    /// assert_eq!(map.get_cloned(&1), Some('b'));
    /// ```
    pub fn get_mut(&mut self) -> &mut V {
        self.guard.value_mut()
    }

    /// A guard on the value. It keeps the shard locked, so the given key is dropped under the lock.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::from([(1, 'a')]);
    /// let LockedEntry::Occupied(entry) = map.lock_entry(1) else { unreachable!() };
    /// let mut guard = entry.into_mut();
    /// *guard = 'b';
    /// drop(guard);
    /// assert_eq!(map.get_cloned(&1), Some('b'));
    /// ```
    pub fn into_mut(self) -> RefMut<'a, K, V> {
        let OccupiedEntry { guard, given } = self;
        // Before the return: a result is not dropped if a destructor panics after it.
        drop(given);
        guard
    }

    /// Sets the value and returns the old value.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::from([(1, 'a')]);
    /// let LockedEntry::Occupied(mut entry) = map.lock_entry(1) else { unreachable!() };
    /// assert_eq!(entry.insert('b'), 'a');
    /// ```
    pub fn insert(&mut self, value: V) -> V {
        mem::replace(self.get_mut(), value)
    }

    /// Removes the entry and returns its value.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::from([(1, 'a')]);
    /// let LockedEntry::Occupied(entry) = map.lock_entry(1) else { unreachable!() };
    /// assert_eq!(entry.remove(), 'a');
    /// ```
    pub fn remove(self) -> V {
        value_alone(self.remove_entry())
    }

    /// Removes the entry and returns its key and its value.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::from([(1, 'a')]);
    /// let LockedEntry::Occupied(entry) = map.lock_entry(1) else { unreachable!() };
    /// assert_eq!(entry.remove_entry(), (1, 'a'));
    /// ```
    pub fn remove_entry(self) -> (K, V) {
        let OccupiedEntry { guard, given } = self;
        let RefMut { mut table, bucket } = guard;
        let pair = table.get_bucket_entry(bucket).ok().expect(GONE).remove().0;
        drop(table);
        // While nothing is locked, and before the return, as above.
        drop(given);
        pair
    }
}

impl<'a, K, V, S> VacantEntry<'a, K, V, S> {
    /// The key.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map: ParHashMap<_, char> = ParHashMap::new();
    /// let LockedEntry::Vacant(entry) = map.lock_entry(1) else { unreachable!() };
    /// assert_eq!(entry.key(), &1);
    /// ```
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Gives the key back and unlocks the shard.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map: ParHashMap<_, char> = ParHashMap::new();
    /// let LockedEntry::Vacant(entry) = map.lock_entry(String::from("a")) else { unreachable!() };
    /// assert_eq!(entry.into_key(), "a");
    /// ```
    pub fn into_key(self) -> K {
        self.key
    }
}

impl<'a, K: Eq + Hash, V, S: BuildHasher> VacantEntry<'a, K, V, S> {
    /// Inserts this value for the key. The guard keeps the shard locked.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::LockedEntry};
    /// let map = ParHashMap::new();
    /// let LockedEntry::Vacant(entry) = map.lock_entry(1) else { unreachable!() };
    /// assert_eq!(*entry.insert('a'), 'a');
    /// assert_eq!(map.get_cloned(&1), Some('a'));
    /// ```
    pub fn insert(self, value: V) -> RefMut<'a, K, V> {
        let VacantEntry {
            mut table,
            chart,
            map,
            hash,
            key,
        } = self;
        // There is room: it was made under the lock, which has been held since.
        let slot = table.insert_unique(hash, (key, value), map.rehash());
        let bucket = slot.bucket_index();
        chart.check(&table);
        RefMut { table, bucket }
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for LockedEntry<'_, K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockedEntry::Occupied(entry) => f.debug_tuple("Occupied").field(entry).finish(),
            LockedEntry::Vacant(entry) => f.debug_tuple("Vacant").field(entry).finish(),
        }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for OccupiedEntry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OccupiedEntry")
            .field("key", self.key())
            .field("value", self.get())
            .finish()
    }
}

impl<K: fmt::Debug, V, S> fmt::Debug for VacantEntry<'_, K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(&self.key).finish()
    }
}
