//! Entries and guards, which hold the lock of a shard for longer than one closure.
#![forbid(unsafe_code)]

use super::concurrent::ParHashMap;
use super::given::{Borrowed, Given, Owned};
use super::shard::{Entry as Found, GONE, Reading, Writing};
use hashbrown::hash_table::Entry as Slot;
use std::borrow::Borrow;
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ops::{Deref, DerefMut};

/// A guard for reading a value. Its shard stays locked for reading.
///
/// Dereferences to the value. A parallel loop may use its caller's guard by reference. But no item
/// of that loop may call the map itself. A write would wait for the guard, and the caller, which
/// holds the guard, would wait for the loop. A read would wait as well while a thread outside waits to write: waiting writers come before
/// later reads.
///
/// ```
/// use tine::{ParHashMap, map::Ref};
///
/// let map = ParHashMap::from([("fork", 4)]);
/// let tines: Ref<'_, _, _> = map.get("fork").unwrap();
/// assert_eq!(*tines + 1, 5);
/// ```
pub struct Ref<'a, K, V> {
    entry: Found<'a, (K, V)>,
}

/// A guard for changing a value. Its shard stays locked for writing.
///
/// Dereferences to the value. A parallel loop may read the value through its caller's guard. But no
/// item of that loop may read or write the map itself: the item would wait for the guard, and the
/// caller, which holds the guard, would wait for the loop.
///
/// ```
/// use tine::{ParHashMap, map::RefMut};
///
/// let map = ParHashMap::from([("fork", 4)]);
/// let mut tines: RefMut<'_, _, _> = map.entry("fork").or_insert(0);
/// *tines -= 1;
/// drop(tines);
/// assert_eq!(map.get_cloned("fork"), Some(3));
/// ```
pub struct RefMut<'a, K, V> {
    pub(super) table: Writing<'a, (K, V)>,
    pub(super) bucket: usize,
}

impl<K, V> Ref<'_, K, V> {
    /// The key.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 'a')]);
    /// assert_eq!(map.get(&1).unwrap().key(), &1);
    /// ```
    #[inline]
    pub fn key(&self) -> &K {
        &self.entry.0
    }

    /// The value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 'a')]);
    /// assert_eq!(map.get(&1).unwrap().value(), &'a');
    /// ```
    #[inline]
    pub fn value(&self) -> &V {
        &self.entry.1
    }
}

impl<K, V> RefMut<'_, K, V> {
    #[inline]
    fn pair(&self) -> &(K, V) {
        self.table.get_bucket(self.bucket).expect(GONE)
    }

    /// The key.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 'a')]);
    /// assert_eq!(map.lock(&1).unwrap().key(), &1);
    /// ```
    pub fn key(&self) -> &K {
        &self.pair().0
    }

    /// The value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 'a')]);
    /// assert_eq!(map.lock(&1).unwrap().value(), &'a');
    /// ```
    pub fn value(&self) -> &V {
        &self.pair().1
    }

    /// The value, for changing it.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 'a')]);
    /// *map.lock(&1).unwrap().value_mut() = 'b';
    /// assert_eq!(map.get_cloned(&1), Some('b'));
    /// ```
    #[inline]
    pub fn value_mut(&mut self) -> &mut V {
        &mut self.table.get_bucket_mut(self.bucket).expect(GONE).1
    }
}

impl<K, V> Deref for Ref<'_, K, V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        self.value()
    }
}

impl<K, V> Deref for RefMut<'_, K, V> {
    type Target = V;

    fn deref(&self) -> &V {
        self.value()
    }
}

impl<K, V> DerefMut for RefMut<'_, K, V> {
    fn deref_mut(&mut self) -> &mut V {
        self.value_mut()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Ref<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref")
            .field(self.key())
            .field(self.value())
            .finish()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for RefMut<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RefMut")
            .field(self.key())
            .field(self.value())
            .finish()
    }
}

/// A guard on the value of `key` in its table. If there is no value, the table is left.
#[inline(always)]
fn find<'a, K, V, Q>(table: Reading<'a, (K, V)>, hash: u64, key: &Q) -> Option<Ref<'a, K, V>>
where
    K: Borrow<Q>,
    Q: Eq + ?Sized,
{
    let entry = table.entry(|table| table.find(hash, |(k, _)| k.borrow() == key))?;
    Some(Ref { entry })
}

impl<K: Eq + Hash, V, S: BuildHasher> ParHashMap<K, V, S> {
    /// A guard on the value of `key`. Its shard stays locked for reading: until the guard is
    /// dropped, this thread must not write to the map (it panics). Prefer [`read`](Self::read) or
    /// [`get_cloned`](Self::get_cloned).
    ///
    /// # Panics
    ///
    /// If this thread holds a guard of [`lock`](Self::lock) or [`entry`](Self::entry), or is in a
    /// closure of this map that may write.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]);
    /// assert_eq!(*map.get("a").unwrap(), 1);
    /// ```
    #[inline]
    #[track_caller]
    pub fn get<Q>(&self, key: &Q) -> Option<Ref<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        if let Some(table) = self.shards.peek(hash) {
            return find(table, hash, key);
        }
        match self.shards.read_at_once(hash) {
            Some(table) => find(table, hash, key),
            None => self.get_slowly(hash, key),
        }
    }

    #[inline(never)]
    #[track_caller]
    fn get_slowly<Q>(&self, hash: u64, key: &Q) -> Option<Ref<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        find(self.shards.read(hash), hash, key)
    }

    /// A guard on the value of `key`, through which it can be changed. Its shard stays locked:
    /// until the guard is dropped, this thread must not touch the map (it panics). Prefer
    /// [`update`](Self::update).
    ///
    /// # Panics
    ///
    /// If this thread holds a guard of this map, or is in one of its closures.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]);
    /// *map.lock("a").unwrap() += 1;
    /// assert_eq!(map.get_cloned("a"), Some(2));
    /// ```
    #[track_caller]
    pub fn lock<Q>(&self, key: &Q) -> Option<RefMut<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        let table = self.shards.write(hash);
        let bucket = table.find_bucket_index(hash, |(k, _)| k.borrow() == key)?;
        Some(RefMut { table, bucket })
    }

    /// Like [`get`](Self::get), but neither waits nor panics. If another thread, or this thread, may be in the way,
    /// this returns an error at once. (`Hash`, `Eq` and `Borrow` may still panic.)
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
    /// this returns an error at once. (`Hash`, `Eq` and `Borrow` may still panic.)
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

    /// The entry of `key`, for changing or inserting its value. Nothing is locked before one of the `or_…`
    /// methods is called.
    ///
    /// # Panics
    ///
    /// The `or_…` methods panic if this thread holds a guard of this map, or is in one of its closures.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::new();
    /// for word in ["a", "b", "a"] {
    ///     *map.entry(word).or_insert(0) += 1;
    /// }
    /// map.entry("a").and_modify(|n| *n *= 10).or_insert(0);
    /// assert_eq!(map.get_cloned("a"), Some(20));
    /// ```
    #[track_caller]
    pub fn entry(&self, key: K) -> Entry<'_, K, V, S, fn(&mut V)> {
        Entry {
            map: self,
            given: Owned(key),
            modify: |_| (),
        }
    }

    /// The entry of a borrowed key. An owned key is made, by `From`, only if there is no entry yet. Nothing is
    /// locked before one of the `or_…` methods is called.
    ///
    /// The owned key must be equal to the borrowed key and have the same hash. Otherwise each call adds an entry
    /// that no lookup finds.
    ///
    /// # Panics
    ///
    /// The `or_…` methods panic if this thread holds a guard of this map, or is in one of its closures.
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
    pub fn entry_ref<'q, Q>(&self, key: &'q Q) -> EntryRef<'_, 'q, K, Q, V, S, fn(&mut V)>
    where
        K: Borrow<Q> + From<&'q Q>,
        Q: Hash + Eq + ?Sized,
    {
        Entry {
            map: self,
            given: Borrowed(key),
            modify: |_| (),
        }
    }
}

/// The place of a key in a map, from [`ParHashMap::entry`]. `F` is what [`and_modify`](Self::and_modify) is to
/// call. `G` says how the key was [`Given`]: here it is owned.
///
/// The `or_…` methods return a guard. So what they do not need is dropped while the shard is locked: the given
/// key, value and closure if there is a value, and closures of `and_modify` if there is none.
///
/// ```
/// use tine::ParHashMap;
///
/// let map = ParHashMap::new();
/// for word in ["a", "fork", "is", "a", "fork"] {
///     map.entry(word).and_modify(|n| *n += 1).or_insert(1);
/// }
/// assert_eq!(map.get_cloned("fork"), Some(2));
/// ```
#[must_use = "an entry does nothing before one of its `or_…` methods is called"]
pub struct Entry<'a, K, V, S, F, G = Owned<K>> {
    map: &'a ParHashMap<K, V, S>,
    given: G,
    modify: F,
}

/// The place of a borrowed key in a map, from [`ParHashMap::entry_ref`].
///
/// ```
/// use tine::ParHashMap;
///
/// let counts: ParHashMap<String, u32> = ParHashMap::new();
/// for word in ["a", "fork", "is", "a", "fork"] {
///     counts.entry_ref(word).and_modify(|n| *n += 1).or_insert(1);
/// }
/// assert_eq!(counts.get_cloned("fork"), Some(2));
/// ```
pub type EntryRef<'a, 'q, K, Q, V, S, F> = Entry<'a, K, V, S, F, Borrowed<'q, Q>>;

impl<'a, K, V, S, F, G> Entry<'a, K, V, S, F, G>
where
    K: Eq + Hash,
    S: BuildHasher,
    F: FnOnce(&mut V),
    G: Given<K>,
{
    /// The key.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert_eq!(ParHashMap::<_, ()>::new().entry(5).key(), &5);
    /// ```
    pub fn key(&self) -> &G::Key {
        self.given.key()
    }

    /// If there is a value, calls `modify` with it before the `or_…` method, under the shard's
    /// lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]);
    /// map.entry("a").and_modify(|n| *n += 1).or_insert(7);
    /// map.entry("b").and_modify(|n| *n += 1).or_insert(7);
    /// assert_eq!((map.get_cloned("a"), map.get_cloned("b")), (Some(2), Some(7)));
    /// ```
    #[track_caller]
    pub fn and_modify<M>(self, modify: M) -> Entry<'a, K, V, S, impl FnOnce(&mut V), G>
    where
        M: FnOnce(&mut V),
    {
        let before = self.modify;
        let modify = move |value: &mut V| {
            before(value);
            modify(value);
        };
        Entry {
            map: self.map,
            given: self.given,
            modify,
        }
    }

    /// The value. If there is none, inserts `value`. The guard keeps the shard locked. If
    /// there is one, `value` and the given key are dropped under the lock.
    ///
    /// # Panics
    ///
    /// If this thread holds a guard of this map, or is in one of its closures.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::new();
    /// *map.entry("a").or_insert(1) += 1;
    /// assert_eq!(map.get_cloned("a"), Some(2));
    /// ```
    #[track_caller]
    pub fn or_insert(self, value: V) -> RefMut<'a, K, V> {
        self.or_insert_with(|| value)
    }

    /// The value. If there is none, inserts `V::default()`.
    ///
    /// # Panics
    ///
    /// If this thread holds a guard of this map, or is in one of its closures.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<_, Vec<i32>> = ParHashMap::new();
    /// map.entry("a").or_default().push(1);
    /// assert_eq!(map.get_cloned("a"), Some(vec![1]));
    /// ```
    #[track_caller]
    pub fn or_default(self) -> RefMut<'a, K, V>
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// The value. If there is none, `make` supplies it, under the shard's lock. If there is one, `make` and the
    /// given key are dropped under the lock.
    ///
    /// # Panics
    ///
    /// If this thread holds a guard of this map, or is in one of its closures.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::new();
    /// assert_eq!(*map.entry("a").or_insert_with(|| 3), 3);
    /// ```
    #[track_caller]
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> RefMut<'a, K, V> {
        self.or_insert_with_key(|_| make())
    }

    /// The value. If there is none, `make` supplies it from the key, under the shard's lock.
    ///
    /// # Panics
    ///
    /// If this thread holds a guard of this map, or is in one of its closures.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::new();
    /// assert_eq!(*map.entry("abc").or_insert_with_key(|k| k.len()), 3);
    /// ```
    #[track_caller]
    pub fn or_insert_with_key(self, make: impl FnOnce(&G::Key) -> V) -> RefMut<'a, K, V> {
        match self.fill(|key| Ok::<V, Infallible>(make(key))) {
            Ok(guard) => guard,
            Err(never) => match never {},
        }
    }

    /// The value. If there is none, `make` supplies it, under the shard's lock. If `make` fails, nothing is
    /// inserted. What is not needed is dropped where nothing is locked then.
    ///
    /// # Panics
    ///
    /// If this thread holds a guard of this map, or is in one of its closures.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let ports = ParHashMap::new();
    /// let of = |text: &'static str| ports.entry(text).or_try_insert_with(|| text.parse::<u16>()).map(|port| *port);
    /// assert_eq!(of("80"), Ok(80));
    /// assert!(of("http").is_err());
    /// assert_eq!(ports.len(), 1);
    /// ```
    #[track_caller]
    pub fn or_try_insert_with<E>(
        self,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<RefMut<'a, K, V>, E> {
        self.fill(|_| make())
    }

    /// Changes the value that is there, or else inserts the value that `make` supplies.
    #[inline(always)]
    #[track_caller]
    fn fill<E>(self, make: impl FnOnce(&G::Key) -> Result<V, E>) -> Result<RefMut<'a, K, V>, E> {
        let Entry { map, given, modify } = self;
        // Declared before the table: if the key cannot be made, the table is unlocked first.
        let made;
        let hash = map.hash(given.key());
        let (mut table, chart) = map.shards.write_to_add(hash, map.rehash());
        // What is not needed is dropped before there is a result: a result is not dropped if a destructor panics
        // after it, and a guard would hold the lock for ever. If a closure panics, the table is unlocked before
        // `given` is dropped.
        let bucket = match table.entry(hash, |(k, _)| given.is(k), map.rehash()) {
            Slot::Occupied(mut slot) => {
                modify(&mut slot.get_mut().1);
                let bucket = slot.bucket_index();
                drop((given, make));
                bucket
            }
            Slot::Vacant(slot) => match make(given.key()) {
                Ok(value) => {
                    made = value;
                    let bucket = slot.insert((given.into_key(), made)).bucket_index();
                    chart.check(&table);
                    drop(modify);
                    bucket
                }
                Err(error) => {
                    // Where nothing is locked.
                    drop(table);
                    drop((given, modify));
                    return Err(error);
                }
            },
        };
        Ok(RefMut { table, bucket })
    }
}

impl<K, V, S, F, G: Given<K, Key: fmt::Debug>> fmt::Debug for Entry<'_, K, V, S, F, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("key", &self.given.key())
            .finish_non_exhaustive()
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Ref, RefMut};
    use std::cell::Cell;

    /// If `T` is `Sync`, `is_sync` is the method of `Probe` itself, which wins over the trait's method;
    /// otherwise it is the trait's method.
    struct Probe<T>(std::marker::PhantomData<T>);

    trait Otherwise {
        fn is_sync(&self) -> bool {
            false
        }
    }

    impl<T> Otherwise for Probe<T> {}

    impl<T: Sync> Probe<T> {
        fn is_sync(&self) -> bool {
            true
        }
    }

    macro_rules! is_sync {
        ($what:ty) => {
            Probe::<$what>(std::marker::PhantomData).is_sync()
        };
    }

    #[test]
    fn guards_may_be_looked_at_from_other_threads_if_their_values_may() {
        assert!(is_sync!(Ref<'_, u64, String>) && is_sync!(RefMut<'_, u64, String>));
        assert!(!is_sync!(Ref<'_, u64, Cell<u64>>) && !is_sync!(RefMut<'_, u64, Cell<u64>>));
        assert!(!is_sync!(Ref<'_, Cell<u64>, u64>) && !is_sync!(RefMut<'_, Cell<u64>, u64>));
    }
}
