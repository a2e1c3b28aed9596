//! [`ParHashMap`]: the type, how it begins, and what any number of threads may do with it at once.
#![forbid(unsafe_code)]

use super::ahead::Ahead;
use super::shard::{GONE, Reading, Shards};
use super::table::value_alone;
use crate::farewell::drop_alone;
use crate::hasher::DefaultHashBuilder;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::mem;

/// A hash map that many threads change at once. It is built, walked, merged and dropped in
/// parallel.
///
/// It can be used in two ways. Through `&self`, any number of threads insert, look up and remove;
/// each key belongs to a shard with a lock of its own. `&mut self`, and the map by value, prove
/// that no other thread uses it, so nothing is locked. The parallel bulk operations work in this
/// way.
///
/// # Reads
///
/// A read takes the lock of its shard, which writes to the lock. On Linux, reads stop taking locks
/// once one of the map's shards has been read 256 times without a write between. From then
/// on a read only notes in a slot of its own thread which shard it reads. So any number of threads
/// read one key without taking its cache line from one another. The first write ends this, and
/// takes some 20 µs more; then reads lock again for some milliseconds.
///
/// Keep guards short. While a thread holds a guard that was taken without a lock, reads lock again
/// after a write, and the first write to each other shard looks at the slots of all threads. If a
/// guard is forgotten, this lasts as long as the map.
///
/// The first write needs the system call `membarrier`. The system granted that call when reads
/// stopped locking. If the program has since forbidden the call by a system-call filter, the write
/// panics and changes nothing.
///
/// # Closures, guards and deadlocks
///
/// [`read`](Self::read), [`read_many`](Self::read_many), [`update`](Self::update),
/// [`upsert`](Self::upsert), [`compute`](Self::compute),
/// [`get_or_insert_with`](Self::get_or_insert_with), [`remove_if`](Self::remove_if),
/// [`remove_if_mut`](Self::remove_if_mut),
/// [`retain`](Self::retain), [`for_each`](Self::for_each) and [`find_map`](Self::find_map) run their
/// closure while a shard is locked. Keep the closure short, and start nothing parallel in it. What the
/// closure owns is dropped when it returns, under the lock too. If it is not called, it is dropped
/// where nothing is locked, and so are keys and values that are not needed.
///
/// Guards ([`get`](Self::get), [`lock`](Self::lock), [`entry`](Self::entry),
/// [`entry_ref`](Self::entry_ref), [`lock_entry`](Self::lock_entry), and
/// [`try_get`](Self::try_get), [`try_lock`](Self::try_lock),
/// [`try_lock_entry`](Self::try_lock_entry)) lock a shard until they are dropped. They exist to
/// ease porting.
///
/// If code enters the same map again from inside, and one of the two accesses writes, it **panics**
/// at once, in every build, instead of deadlocking. Reading inside a read is fine, on the same thread. Two threads can
/// still lock two *different* maps in opposite orders: as with any two locks, agree on an order.
///
/// # Panics in user code
///
/// A panic in `Hash`, `Eq`, `Borrow`, `From`, `Clone`, `Drop` or a closure unlocks the shard and goes on to the
/// caller; nothing is poisoned. Entries that were inserted stay, and the map can be used
/// afterwards.
///
/// # Hashing
///
/// The default hasher is foldhash, seeded for each map: fast, and good against accidental
/// collisions. It is *not* a defence against an attacker who controls your keys and can measure
/// time. Against such an attacker, pass `std::hash::RandomState`.
///
/// # Features
///
/// With the feature `serde` a map can be serialised and deserialised, as a map.
///
/// # Examples
///
/// ```
/// use tine::ParHashMap;
///
/// let hits = ParHashMap::new();
/// std::thread::scope(|s| {
///     for _ in 0..4 {
///         s.spawn(|| {
///             for page in ["home", "about", "home"] {
///                 hits.upsert(page, || 1, |n| *n += 1);
///             }
///         });
///     }
/// });
/// assert_eq!(hits.get_cloned("home"), Some(8));
/// assert_eq!(hits.len(), 2);
/// ```
pub struct ParHashMap<K, V, S = DefaultHashBuilder> {
    pub(crate) shards: Shards<(K, V)>,
    pub(crate) hasher: S,
}

/// What [`ParHashMap::compute`] does with an entry.
///
/// ```
/// use tine::{Change, ParHashMap};
///
/// let stock = ParHashMap::from([("fork", 1)]);
/// let sell = |left: Option<&mut u32>| match left {
///     Some(1) => Change::Remove,
///     Some(&mut n) => Change::Put(n - 1),
///     None => Change::Keep,
/// };
/// stock.compute("fork", sell);
/// assert!(stock.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change<V> {
    /// Leave the entry as it is, present or absent.
    Keep,
    /// Set its value.
    Put(V),
    /// Remove it.
    Remove,
}

impl<K, V> ParHashMap<K, V> {
    /// An empty map. Allocates nothing.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<u32, String> = ParHashMap::new();
    /// assert!(map.is_empty());
    /// ```
    pub fn new() -> Self {
        Self::with_hasher(DefaultHashBuilder::default())
    }

    /// An empty map with room for `capacity` entries, divided evenly among its shards.
    ///
    /// # Panics
    /// If that many entries cannot be addressed, or memory for more than a million is refused.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<u32, String> = ParHashMap::with_capacity(10_000);
    /// assert!(map.capacity() >= 10_000);
    /// ```
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, DefaultHashBuilder::default())
    }
}

impl<K, V, S> ParHashMap<K, V, S> {
    /// An empty map that hashes by `hasher`.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use std::hash::RandomState;
    /// let map = ParHashMap::with_hasher(RandomState::new());
    /// map.insert("a key from outside", 1);
    /// ```
    pub fn with_hasher(hasher: S) -> Self {
        ParHashMap {
            shards: Shards::new(),
            hasher,
        }
    }

    /// An empty map with room for `capacity` entries that hashes by `hasher`.
    ///
    /// # Panics
    /// If that many entries cannot be addressed, or memory for more than a million is refused.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use std::hash::RandomState;
    /// let map = ParHashMap::with_capacity_and_hasher(100, RandomState::new());
    /// map.insert(1, 2);
    /// ```
    #[track_caller]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        ParHashMap {
            shards: Shards::with_capacity(capacity),
            hasher,
        }
    }

    /// The hasher of the keys.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// use std::hash::BuildHasher;
    /// let map: ParHashMap<i32, i32> = ParHashMap::new();
    /// assert_eq!(map.hasher().hash_one(1), map.hasher().hash_one(1));
    /// ```
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    /// The number of entries: exact if no thread changes the map meanwhile. Takes each shard's lock
    /// in turn.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 'a'), (2, 'b')]);
    /// assert_eq!(map.len(), 2);
    /// ```
    #[track_caller]
    pub fn len(&self) -> usize {
        self.shards.walk().map(|table| table.len()).sum()
    }

    /// Whether there is no entry.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::<i32, i32>::new().is_empty());
    /// ```
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.shards.walk().all(|table| table.is_empty())
    }

    /// The number of entries that the map has memory for, added up over all shards. A shard that
    /// gets more than its share of the keys grows before the map has this many entries.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// assert!(ParHashMap::<i32, i32>::with_capacity(7).capacity() >= 7);
    /// ```
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.shards.walk().map(|table| table.capacity()).sum()
    }

    /// Calls `visit` with each entry, one shard at a time under its lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 10), (2, 20)]);
    /// let mut sum = 0;
    /// map.for_each(|k, v| sum += k * v);
    /// assert_eq!(sum, 50);
    /// ```
    #[track_caller]
    pub fn for_each(&self, mut visit: impl FnMut(&K, &V)) {
        for table in self.shards.walk() {
            table.iter().for_each(|(key, value)| visit(key, value));
        }
    }

    /// Calls `look` with one entry after another, until it returns something, and returns that. Each shard is looked at under its lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("fork", 4), ("spoon", 0)]);
    /// assert_eq!(map.find_map(|k, v| (*v > 0).then_some(*k)), Some("fork"));
    /// assert_eq!(map.find_map(|_, v| (*v > 9).then_some(())), None);
    /// ```
    #[track_caller]
    pub fn find_map<R>(&self, mut look: impl FnMut(&K, &V) -> Option<R>) -> Option<R> {
        let mut walk = self.shards.walk();
        let found = walk.find_map(|table| table.iter().find_map(|(key, value)| look(key, value)));
        // Before the return: a result is not dropped if a destructor panics after it.
        drop(look);
        found
    }

    /// Keeps the entries for which `keep` returns `true`, one shard at a time under its lock. What is
    /// removed is dropped at the end, when no shard is locked.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<i32, i32> = (0..10).map(|i| (i, i)).collect();
    /// map.retain(|_, v| *v % 2 == 0);
    /// assert_eq!(map.len(), 5);
    /// ```
    #[track_caller]
    pub fn retain(&self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let mut doomed = Vec::new();
        self.shards.each_write(|table| {
            let mut keep = |(key, value): &mut (K, V)| keep(key, value);
            match const { mem::needs_drop::<(K, V)>() } {
                true => doomed.extend(table.extract_if(|entry| !keep(entry))),
                false => table.retain(keep),
            }
        });
        // Entries are dropped here, while no lock is held.
    }

    /// Removes all entries, one shard at a time, and keeps the memory. The entries are dropped at the end,
    /// when no shard is locked.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 2)]);
    /// map.clear();
    /// assert!(map.is_empty());
    /// ```
    #[track_caller]
    pub fn clear(&self) {
        let mut doomed = Vec::new();
        self.shards.each_write(|table| {
            // Traces of removals are not capacity now, but will be.
            let capacity = table.capacity().max(table.num_buckets() / 8 * 7);
            if !table.is_empty() {
                doomed.push(mem::replace(table, HashTable::with_capacity(capacity)));
            }
        });
        // No lock is held any more.
        drop_alone(doomed);
    }
}

/// What `look` returns for the value of `key` in its table; the table is left afterwards. Each
/// outcome leaves it separately, so no outcome has to be remembered meanwhile. If a comparison panics, the table is
/// left before `look` is dropped: the last parameter is dropped first.
#[inline(always)]
fn look_in<K, V, Q, R>(
    look: impl FnOnce(&V) -> R,
    hash: u64,
    key: &Q,
    table: Reading<'_, (K, V)>,
) -> Option<R>
where
    K: Borrow<Q>,
    Q: Eq + ?Sized,
{
    match table.find(hash, |(k, _)| k.borrow() == key) {
        Some((_, value)) => {
            let answer = look(value);
            table.leave();
            Some(answer)
        }
        None => {
            table.leave();
            None
        }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> ParHashMap<K, V, S> {
    #[inline]
    pub(crate) fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u64 {
        self.hasher.hash_one(key)
    }

    #[inline]
    pub(crate) fn rehash(&self) -> impl Fn(&(K, V)) -> u64 + '_ {
        |(key, _)| self.hasher.hash_one(key)
    }

    /// Sets the value of `key` and returns the one it had.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::new();
    /// assert_eq!(map.insert("a", 1), None);
    /// assert_eq!(map.insert("a", 2), Some(1));
    /// ```
    #[track_caller]
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        let hash = self.hash(&key);
        let (mut table, chart) = self.shards.write_to_add(hash, self.rehash());
        match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
            Slot::Occupied(slot) => {
                let old = mem::replace(&mut slot.into_mut().1, value);
                drop(table);
                // Before the return: a result is not dropped if a destructor panics after it.
                drop(key);
                Some(old)
            }
            Slot::Vacant(slot) => {
                slot.insert((key, value));
                chart.check(&table);
                None
            }
        }
    }

    /// Whether there is an entry for `key`.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]);
    /// assert!(map.contains_key("a") && !map.contains_key("b"));
    /// ```
    #[track_caller]
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.read(key, |_| ()).is_some()
    }

    /// Calls `look` with the value of `key`, under the shard's lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", vec![1, 2, 3])]);
    /// assert_eq!(map.read("a", |v| v.len()), Some(3));
    /// assert_eq!(map.read("b", |v| v.len()), None);
    /// ```
    #[inline]
    #[track_caller]
    pub fn read<Q, R>(&self, key: &Q, look: impl FnOnce(&V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        if let Some(table) = self.shards.peek(hash) {
            return look_in(look, hash, key, table);
        }
        match self.shards.read_at_once(hash) {
            Some(table) => look_in(look, hash, key, table),
            None => self.read_slowly(hash, key, look),
        }
    }

    /// Calls `look` with the values of many keys, in the order of the keys, and yields its results.
    ///
    /// Each key is read when the iterator comes to it, as by [`read`](Self::read), and no shard is
    /// locked meanwhile. In a map larger than the cache this takes about 0.6 of the time of the
    /// same number of single reads, since the memory of one key is fetched while the keys before it
    /// are read. In a small map it takes a fifth more. Eight keys are drawn and hashed ahead, the
    /// first eight at the call.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(1, 10), (2, 20)]);
    /// assert!(map.read_many(&[2, 3, 1], |v| v + 1).eq([Some(21), None, Some(11)]));
    /// ```
    #[track_caller]
    pub fn read_many<'k, Q, R>(
        &self,
        keys: impl IntoIterator<Item = &'k Q>,
        mut look: impl FnMut(&V) -> R,
    ) -> impl Iterator<Item = Option<R>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized + 'k,
    {
        // A panic should name the caller, which is known here; `next` may be called from anywhere.
        self.shards.check_in();
        let expect = |key: &Q| {
            let hash = self.hash(key);
            self.shards.expect(hash);
            hash
        };
        let read = move |(hash, key)| match self.shards.peek(hash) {
            Some(table) => look_in(&mut look, hash, key, table),
            None => self.read_slowly(hash, key, &mut look),
        };
        Ahead::new(keys, expect).map(read)
    }

    #[inline(never)]
    #[track_caller]
    fn read_slowly<Q, R>(&self, hash: u64, key: &Q, look: impl FnOnce(&V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        look_in(look, hash, key, self.shards.read(hash))
    }

    /// A clone of the value of `key`.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]);
    /// assert_eq!(map.get_cloned("a"), Some(1));
    /// ```
    #[inline]
    #[track_caller]
    pub fn get_cloned<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        self.read(key, V::clone)
    }

    /// Calls `change` with the value of `key`, under the shard's lock, if there
    /// is one.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]);
    /// assert_eq!(map.update("a", |v| { *v += 1; *v }), Some(2));
    /// assert_eq!(map.update("b", |v| *v), None);
    /// ```
    #[inline]
    #[track_caller]
    pub fn update<Q, R>(&self, key: &Q, change: impl FnOnce(&mut V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        let mut table = self.shards.write(hash);
        // Not by `map`: it would drop `change` under the lock if there is no value.
        let (_, value) = table.find_mut(hash, |(k, _)| k.borrow() == key)?;
        Some(change(value))
    }

    /// Inserts the value that `first` returns, or calls `change` with the existing value; both
    /// under the shard's lock. Returns `true` if it inserted.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::new();
    /// assert!(map.upsert("a", || 1, |n| *n += 1));
    /// assert!(!map.upsert("a", || 1, |n| *n += 1));
    /// assert_eq!(map.get_cloned("a"), Some(2));
    /// ```
    #[inline]
    #[track_caller]
    pub fn upsert(&self, key: K, first: impl FnOnce() -> V, change: impl FnOnce(&mut V)) -> bool {
        let hash = self.hash(&key);
        let (mut table, chart) = self.shards.write_to_add(hash, self.rehash());
        match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
            Slot::Occupied(slot) => {
                change(&mut slot.into_mut().1);
                false
            }
            Slot::Vacant(slot) => {
                let value = first();
                slot.insert((key, value));
                chart.check(&table);
                true
            }
        }
    }

    /// A clone of the value of `key`. If there is none, `make` supplies the value, under the
    /// shard's lock and so only once.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::new();
    /// assert_eq!(map.get_or_insert_with("a", || 1), 1);
    /// assert_eq!(map.get_or_insert_with("a", || unreachable!()), 1);
    /// ```
    #[track_caller]
    pub fn get_or_insert_with(&self, key: K, make: impl FnOnce() -> V) -> V
    where
        V: Clone,
    {
        // A wrong call should show whether or not the value is there.
        self.shards.check_in_to_write();
        // Mostly the value is there, and readers do not exclude each other.
        match self.get_cloned(&key) {
            Some(value) => {
                drop((key, make));
                value
            }
            None => self.insert_with(key, make),
        }
    }

    /// Not by [`entry`](Self::entry), which has a guard to return: if another thread was quicker, `key` and `make`
    /// are dropped where nothing is locked.
    #[track_caller]
    fn insert_with(&self, key: K, make: impl FnOnce() -> V) -> V
    where
        V: Clone,
    {
        let hash = self.hash(&key);
        let (mut table, chart) = self.shards.write_to_add(hash, self.rehash());
        let bucket = match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
            Slot::Occupied(slot) => {
                let value = slot.get().1.clone();
                drop(table);
                // Before the return: a result is not dropped if a destructor panics after it.
                drop((key, make));
                return value;
            }
            Slot::Vacant(slot) => {
                let value = make();
                slot.insert((key, value)).bucket_index()
            }
        };
        chart.check(&table);
        table.get_bucket(bucket).expect(GONE).1.clone()
    }

    /// Sets, changes or removes the value of `key`, as `decide` says, under the shard's lock.
    /// Returns the value that [`Change::Put`] or [`Change::Remove`] displaced.
    ///
    /// ```
    /// # use tine::{Change, ParHashMap};
    /// let tickets = ParHashMap::from([("row 1", 2)]);
    /// let take = |left: Option<&mut i32>| match left {
    ///     Some(1) => Change::Remove,
    ///     Some(n) => { *n -= 1; Change::Keep }
    ///     None => Change::Keep,
    /// };
    /// assert_eq!(tickets.compute("row 1", take), None);
    /// assert_eq!(tickets.compute("row 1", take), Some(1));
    /// assert!(tickets.is_empty());
    /// ```
    #[track_caller]
    pub fn compute(&self, key: K, decide: impl FnOnce(Option<&mut V>) -> Change<V>) -> Option<V> {
        let hash = self.hash(&key);
        let (mut table, chart) = self.shards.write_to_add(hash, self.rehash());
        match table.entry(hash, |(k, _)| *k == key, self.rehash()) {
            Slot::Occupied(mut slot) => {
                let displaced = match decide(Some(&mut slot.get_mut().1)) {
                    Change::Keep => None,
                    Change::Put(value) => Some((None, mem::replace(&mut slot.get_mut().1, value))),
                    Change::Remove => {
                        let (k, v) = slot.remove().0;
                        Some((Some(k), v))
                    }
                };
                drop(table);
                // Before the return: a result is not dropped if a destructor panics after it.
                drop(key);
                displaced.map(value_alone)
            }
            Slot::Vacant(slot) => {
                if let Change::Put(value) = decide(None) {
                    slot.insert((key, value));
                    chart.check(&table);
                }
                None
            }
        }
    }

    /// Removes `key` and returns its value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]);
    /// assert_eq!(map.remove("a"), Some(1));
    /// assert_eq!(map.remove("a"), None);
    /// ```
    #[track_caller]
    pub fn remove<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.remove_entry(key).map(value_alone)
    }

    /// Removes `key` and returns the key and its value.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([(String::from("a"), 1)]);
    /// assert_eq!(map.remove_entry("a"), Some((String::from("a"), 1)));
    /// ```
    #[track_caller]
    pub fn remove_entry<Q>(&self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.remove_if(key, |_, _| true)
    }

    /// Removes `key` if `doomed` returns `true`, under the shard's lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map = ParHashMap::from([("a", 1)]);
    /// assert_eq!(map.remove_if("a", |_, v| *v > 1), None);
    /// assert_eq!(map.remove_if("a", |_, v| *v == 1), Some(("a", 1)));
    /// ```
    #[track_caller]
    pub fn remove_if<Q>(&self, key: &Q, doomed: impl FnOnce(&K, &V) -> bool) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.remove_if_mut(key, |k, v| doomed(k, v))
    }

    /// Like [`remove_if`](Self::remove_if), but `doomed` may change the value, whether it is removed or stays.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let users = ParHashMap::from([("page", 2)]);
    /// let leave = || users.remove_if_mut("page", |_, left| {
    ///     *left -= 1;
    ///     *left == 0
    /// });
    /// assert_eq!(leave(), None);
    /// assert_eq!(leave(), Some(("page", 0)));
    /// ```
    #[track_caller]
    pub fn remove_if_mut<Q>(
        &self,
        key: &Q,
        doomed: impl FnOnce(&K, &mut V) -> bool,
    ) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hash(key);
        let mut table = self.shards.write(hash);
        let mut slot = table.find_entry(hash, |(k, _)| k.borrow() == key).ok()?;
        let (k, v) = slot.get_mut();
        if doomed(k, v) {
            Some(slot.remove().0)
        } else {
            None
        }
    }

    /// Gives back memory beyond the room for `capacity` entries, one shard at a time under its lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<i32, i32> = ParHashMap::with_capacity(1000);
    /// map.shrink_to(10);
    /// assert!((10..1000).contains(&map.capacity()));
    /// ```
    #[track_caller]
    pub fn shrink_to(&self, capacity: usize) {
        let each = capacity.div_ceil(self.shards.count());
        self.shards
            .each_write(|table| table.shrink_to(each, self.rehash()));
    }

    /// Gives back memory that is not needed, one shard at a time under its lock.
    ///
    /// ```
    /// # use tine::ParHashMap;
    /// let map: ParHashMap<i32, i32> = ParHashMap::with_capacity(1000);
    /// map.insert(1, 1);
    /// map.shrink_to_fit();
    /// assert!(map.capacity() < 1000);
    /// ```
    #[track_caller]
    pub fn shrink_to_fit(&self) {
        self.shrink_to(0);
    }
}

impl<K, V, S: Default> Default for ParHashMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}
