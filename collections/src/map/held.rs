//! Entries that keep the lock of their shard, occupied or vacant; entries of a borrowed key; guards that
//! do not wait.
#![forbid(unsafe_code)]

use super::chart::Chart;
use super::concurrent::ParHashMap;
use super::entry::{GONE, Ref, RefMut, find, find_or_add};
use super::shard::Writing;
use super::table::value_alone;
use crate::hasher::DefaultHashBuilder;
use std::borrow::Borrow;
use std::convert::Infallible;
use std::error::Error;
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
    /// [`entry`](Self::entry) or [`compute`](Self::compute).
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

    /// Like [`get`](Self::get), but neither waits nor panics. If another thread, or this thread, may be in the way,
    /// this returns an error at once.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::Busy};
    /// let map = ParHashMap::from([("a", 1)]);
    /// assert_eq!(map.try_get("a").unwrap().map(|value| *value), Some(1));
    /// let guard = map.lock("a");
    /// assert_eq!(map.try_get("a").unwrap_err(), Busy);
    /// ```
    pub fn try_get<Q>(&self, key: &Q) -> Result<Option<Ref<'_, K, V>>, Busy>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        let table = self.shards.try_read(hash).ok_or(Busy)?;
        Ok(find(table, hash, key))
    }

    /// Like [`lock`](Self::lock), but neither waits nor panics. If another thread, or this thread, may be in the way,
    /// this returns an error at once.
    ///
    /// ```
    /// # use tine::{ParHashMap, map::Busy};
    /// let map = ParHashMap::from([("a", 1)]);
    /// *map.try_lock("a").unwrap().unwrap() += 1;
    /// let guard = map.get("a").unwrap();
    /// assert_eq!(map.try_lock("a").unwrap_err(), Busy);
    /// assert_eq!(*guard, 2);
    /// ```
    #[track_caller]
    pub fn try_lock<Q>(&self, key: &Q) -> Result<Option<RefMut<'_, K, V>>, Busy>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        let table = self.shards.try_write(hash).ok_or(Busy)?;
        let bucket = table.find_bucket_index(hash, |(k, _)| k.borrow() == key);
        Ok(bucket.map(|bucket| RefMut { table, bucket }))
    }

    /// The entry of a borrowed key. An owned key is made, by `From`, only if there is no entry yet. Nothing is
    /// locked before one of the `or_…` methods is called.
    /// The owned key must be equal to the borrowed key and have the same hash: otherwise each call adds an entry that no
    /// lookup finds.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let counts: ParHashMap<String, u32> = ParHashMap::new();
    /// for word in "a fork is a fork".split(' ') {
    ///     *counts.entry_ref(word).or_default() += 1;
    /// }
    /// assert_eq!(counts.get_cloned("fork"), Some(2));
    /// ```
    #[track_caller]
    pub fn entry_ref<'q, Q>(&self, key: &'q Q) -> EntryRef<'_, 'q, K, Q, V, S>
    where
        K: Borrow<Q> + From<&'q Q>,
        Q: Hash + Eq + ?Sized,
    {
        EntryRef { map: self, key }
    }
}

/// The error of [`ParHashMap::try_get`] and [`ParHashMap::try_lock`]. Either the call would have had to wait for
/// another thread, or this thread already holds a guard of the map, or is in one of its closures, and one of the two
/// accesses writes. Keys share shards, so the guard may be on another key. A `try_lock` that fails may put readers back
/// on locks for some milliseconds, as a write does.
///
/// ```
/// use tine::{ParHashMap, map::Busy};
///
/// let map = ParHashMap::from([("fork", 4)]);
/// let guard = map.lock("fork");
/// assert_eq!(map.try_lock("fork").unwrap_err(), Busy);
/// drop(guard);
/// assert!(map.try_lock("fork").is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the entry is in use, or one that shares its lock")
    }
}

impl Error for Busy {}

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

    /// A guard on the value. It keeps the shard locked.
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
        // There is room: `write_to_add` has made it, and the lock has been held since.
        let slot = table.insert_unique(hash, (key, value), map.rehash());
        let bucket = slot.bucket_index();
        chart.check(&table);
        RefMut { table, bucket }
    }
}

/// The place of a borrowed key in a map, from [`ParHashMap::entry_ref`].
///
/// ```
/// use tine::ParHashMap;
///
/// let sizes: ParHashMap<String, usize> = ParHashMap::new();
/// assert_eq!(*sizes.entry_ref("fork").or_insert_with(|| 4), 4);
/// ```
#[must_use = "an entry does nothing before one of its `or_…` methods is called"]
pub struct EntryRef<'a, 'q, K, Q: ?Sized, V, S = DefaultHashBuilder> {
    map: &'a ParHashMap<K, V, S>,
    key: &'q Q,
}

impl<'a, 'q, K, Q, V, S> EntryRef<'a, 'q, K, Q, V, S>
where
    K: Eq + Hash + Borrow<Q> + From<&'q Q>,
    Q: Hash + Eq + ?Sized,
    S: BuildHasher,
{
    /// The borrowed key.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert_eq!(ParHashMap::<String, ()>::new().entry_ref("a").key(), "a");
    /// ```
    pub fn key(&self) -> &'q Q {
        self.key
    }

    /// The value. If there is none, inserts `value`. The guard keeps the shard locked.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<String, u32> = ParHashMap::new();
    /// *map.entry_ref("a").or_insert(1) += 1;
    /// assert_eq!(map.get_cloned("a"), Some(2));
    /// ```
    #[track_caller]
    pub fn or_insert(self, value: V) -> RefMut<'a, K, V> {
        self.or_insert_with(|| value)
    }

    /// The value. If there is none, inserts `V::default()`.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<String, Vec<i32>> = ParHashMap::new();
    /// map.entry_ref("a").or_default().push(1);
    /// assert_eq!(map.get_cloned("a"), Some(vec![1]));
    /// ```
    #[track_caller]
    pub fn or_default(self) -> RefMut<'a, K, V>
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// The value. If there is none, `make` supplies it, under the shard's lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<String, u32> = ParHashMap::new();
    /// assert_eq!(*map.entry_ref("a").or_insert_with(|| 3), 3);
    /// ```
    #[track_caller]
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> RefMut<'a, K, V> {
        let EntryRef { map, key } = self;
        let is_equal = |given: &&Q, k: &K| k.borrow() == *given;
        let make = |_: &&'q Q| Ok::<V, Infallible>(make());
        match find_or_add(map, map.hash(key), key, is_equal, |_| (), make, K::from) {
            Ok(guard) => guard,
            Err(never) => match never {},
        }
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

impl<K, Q: fmt::Debug + ?Sized, V, S> fmt::Debug for EntryRef<'_, '_, K, Q, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryRef")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
