//! A map for data that is read all the time and changed now and then: a read writes only to its own
//! thread's slot, which only writers read.
//!
//! Each of its parts is an immutable table behind a pointer. A reader notes in a slot of its own
//! which table it looks at (`hazard`), and takes no lock. A writer copies the table of one part,
//! changes the copy, and puts it in the old one's place (`published`). A table is freed when no reader
//! looks at it any more. A reader that never leaves keeps the tables that it looks at, and no later ones.
#![forbid(unsafe_code)]

use super::concurrent::ParHashMap;
use super::frozen::FrozenMap;
use super::hazard::{Parting, part_with_all};
use super::published::Published;
use super::table::{Whole, divide, value_alone};
use crate::gather::{Gathered, gather};
use crate::hasher::DefaultHashBuilder;
use crate::partition::par_map;
use crate::parts::{breadth, part_of};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use tine_iter::iter::IntoParallelIterator;

type Table<K, V> = Whole<(K, V)>;

/// How many parts one job of a publication changes.
const AT_ONCE: usize = 8;

/// A map that many threads read at the same time without slowing one another, and that is changed by
/// publishing.
///
/// A read uses no lock and no shared counter. It writes only to a slot of its own thread, and only
/// writers read that slot. So any number of threads read a hot key without taking its cache line
/// from one another. A change copies the table of one part, a 256th of the map or less. So this map
/// is for data that is read far more often than it is changed, such as routes, rates, sessions. If
/// more than about one access in a thousand writes, use [`ParHashMap`]; if none does, use
/// [`FrozenMap`]. [Publish](Self::publish) many changes together: then each part is copied once.
///
/// Closures given to this map run without a lock, and may use the map in any way.
///
/// ```
/// use tine::{ParHashMap, ReadMap};
/// use tine::prelude::*;
///
/// let rates: ReadMap<&str, f64> = ParHashMap::from([("EUR", 1.0), ("USD", 1.1)]).into();
/// assert_eq!(rates.get_cloned("USD"), Some(1.1));
///
/// rates.publish([("USD", Some(1.2)), ("CHF", Some(0.9)), ("EUR", None)]);
/// assert_eq!(rates.get_cloned("USD"), Some(1.2));
/// assert_eq!(rates.get_cloned("EUR"), None);
/// ```
pub struct ReadMap<K, V, S = DefaultHashBuilder> {
    parts: Box<[Published<Table<K, V>>]>,
    hasher: S,
}

impl<K, V, S: Default> Default for ReadMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K, V> ReadMap<K, V> {
    /// An empty map.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// assert!(ReadMap::<u8, u8>::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }
}

impl<K, V, S> ReadMap<K, V, S> {
    /// An empty map that hashes with `hasher`.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// use std::hash::RandomState;
    /// let map = ReadMap::with_hasher(RandomState::new());
    /// map.insert(1, 2);
    /// assert_eq!(map.get_cloned(&1), Some(2));
    /// ```
    pub fn with_hasher(hasher: S) -> Self {
        let empty = Arc::new(Whole::from(HashTable::new()));
        ReadMap {
            parts: (0..breadth())
                .map(|_| Published::new(empty.clone()))
                .collect(),
            hasher,
        }
    }

    /// The number of entries. Exact if no thread changes the map meanwhile.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// let map: ReadMap<_, _> = [(1, 10), (2, 20)].into_iter().collect();
    /// assert_eq!(map.len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.load().len()).sum()
    }

    /// Whether there is no entry.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// assert!(ReadMap::<u8, u8>::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.load().is_empty())
    }

    /// What the keys are hashed with.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// use std::hash::BuildHasher;
    /// let map = ReadMap::<u8, u8>::new();
    /// assert_eq!(map.hasher().hash_one(1), map.hasher().hash_one(1));
    /// ```
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Calls `visit` with each entry. Each part is seen as it was at one moment, the parts at
    /// different moments.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// let map: ReadMap<_, _> = [(1, 10), (2, 20)].into_iter().collect();
    /// let mut sum = 0;
    /// map.for_each(|key, value| sum += key + value);
    /// assert_eq!(sum, 33);
    /// ```
    pub fn for_each(&self, mut visit: impl FnMut(&K, &V)) {
        for part in &self.parts {
            let table = part.load_full();
            table.iter().for_each(|(key, value)| visit(key, value));
        }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> ReadMap<K, V, S> {
    #[inline]
    fn part(&self, hash: u64) -> &Published<Table<K, V>> {
        &self.parts[part_of(hash, self.parts.len())]
    }

    /// What `look` returns for the value of `key`. Later changes do not reach the value that is
    /// looked at.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// let map: ReadMap<_, _> = [("a", vec![1, 2])].into_iter().collect();
    /// assert_eq!(map.read("a", |values| values.len()), Some(2));
    /// ```
    #[inline]
    pub fn read<Q, R>(&self, key: &Q, look: impl FnOnce(&V) -> R) -> Option<R>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.hasher.hash_one(key);
        let table = self.part(hash).load();
        let entry = table.find(hash, |(k, _)| k.borrow() == key);
        let answer = entry.map(|(_, value)| look(value));
        // Before the return: leaving may drop an old table, and the answer is not dropped if a destructor panics after it.
        drop(table);
        answer
    }

    /// A clone of the value of `key`.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// let map: ReadMap<_, _> = [(1, 10)].into_iter().collect();
    /// assert_eq!((map.get_cloned(&1), map.get_cloned(&2)), (Some(10), None));
    /// ```
    #[inline]
    pub fn get_cloned<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        self.read(key, V::clone)
    }

    /// Whether there is an entry for `key`.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// let map: ReadMap<_, _> = [(1, 10)].into_iter().collect();
    /// assert!(map.contains_key(&1) && !map.contains_key(&2));
    /// ```
    #[inline]
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.read(key, |_| ()).is_some()
    }
}

impl<K: Clone + Eq + Hash, V: Clone, S: BuildHasher> ReadMap<K, V, S> {
    /// Puts a changed copy of a part's table in its place. `change` is called again if another
    /// thread was quicker. If it panics, nothing has changed.
    fn renew<R>(
        &self,
        part: &Published<Table<K, V>>,
        change: impl Fn(&mut Table<K, V>) -> Option<R>,
    ) -> Option<R> {
        part.renew(|old| {
            let mut table = old.clone();
            let result = change(&mut table)?;
            Some((table, result))
        })
    }

    fn put(&self, table: &mut Table<K, V>, hash: u64, key: K, value: V) -> Option<V> {
        let rehash = |(key, _): &(K, V)| self.hasher.hash_one(key);
        match table.entry(hash, |(k, _)| *k == key, rehash) {
            Slot::Occupied(slot) => {
                let old = std::mem::replace(&mut slot.into_mut().1, value);
                drop(key);
                Some(old)
            }
            Slot::Vacant(slot) => {
                slot.insert((key, value));
                None
            }
        }
    }

    /// Inserts or replaces a value, and returns the one before. Copies the table of one part: for
    /// many changes see [`publish`](Self::publish).
    ///
    /// ```
    /// # use tine::ReadMap;
    /// let map = ReadMap::new();
    /// assert_eq!((map.insert(1, 'a'), map.insert(1, 'b')), (None, Some('a')));
    /// ```
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        let hash = self.hasher.hash_one(&key);
        let old = self.renew(self.part(hash), |table| {
            Some(self.put(table, hash, key.clone(), value.clone()))
        });
        drop((key, value));
        old?
    }

    /// Removes a key, and returns its value. Copies the table of one part, if the key is there.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// let map: ReadMap<_, _> = [(1, 10)].into_iter().collect();
    /// assert_eq!((map.remove(&1), map.remove(&1)), (Some(10), None));
    /// ```
    pub fn remove<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if !self.contains_key(key) {
            return None;
        }
        let hash = self.hasher.hash_one(key);
        self.renew(self.part(hash), |table| {
            let found = table.find_entry(hash, |(k, _)| k.borrow() == key).ok()?;
            Some(value_alone(found.remove().0))
        })
    }

    /// Makes many changes, in their order. A change is a pair of a key and an option: the key gets
    /// the value in it, or is removed if it is `None`. The table of each part is copied once, parts
    /// in parallel.
    ///
    /// All changes to one part become visible at once. Another thread may see the changes to one
    /// part before it sees the changes to another.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// use tine::prelude::*;
    /// let map = ReadMap::new();
    /// map.publish((0..1000).into_par_iter().map(|i| (i, Some(i * i))));
    /// map.publish((0..1000).into_par_iter().filter(|i| i % 2 == 0).map(|i| (i, None)));
    /// assert_eq!((map.len(), map.get_cloned(&31)), (500, Some(961)));
    /// ```
    pub fn publish<I>(&self, changes: I)
    where
        I: IntoParallelIterator<Item = (K, Option<V>)>,
        K: Send + Sync,
        V: Send + Sync,
        S: Sync,
    {
        let breadth = self.parts.len();
        let changes = changes.into_par_iter();
        let parts = match gather::<u64, Vec<_>, _, _, _, _>(
            changes,
            &|c| c,
            &self.hasher,
            breadth,
            false,
        ) {
            Gathered::Many(parts) => parts
                .into_iter()
                .map(|lists| lists.into_iter().flatten().collect())
                .collect(),
            Gathered::Few(changes) => {
                let mut parts = vec![Vec::new(); breadth];
                for change in changes {
                    let hash = self.hasher.hash_one(&change.0);
                    parts[part_of(hash, breadth)].push((hash, change));
                }
                parts
            }
        };
        let changed = |(_, changes): &(_, Vec<_>)| !changes.is_empty();
        let mut work = self.parts.iter().zip(parts).filter(changed);
        let mut jobs = Vec::new();
        loop {
            let job: Vec<_> = work.by_ref().take(AT_ONCE).collect();
            if job.is_empty() {
                break;
            }
            jobs.push(job);
        }
        // All threads pass one barrier for each job, and not one for each part.
        par_map(jobs, &|job: Vec<_>| {
            let renewed = job.into_iter();
            let renewed = renewed.filter_map(|(part, changes)| self.renew_all(part, changes));
            part_with_all(renewed.collect());
        });
    }

    fn renew_all<'a>(
        &self,
        part: &'a Published<Table<K, V>>,
        changes: Vec<(u64, (K, Option<V>))>,
    ) -> Option<Parting<'a, Table<K, V>>> {
        let change = |table: &mut Table<K, V>| {
            for (hash, (key, value)) in &changes {
                if let Some(value) = value {
                    self.put(table, *hash, key.clone(), value.clone());
                } else if let Ok(found) = table.find_entry(*hash, |(k, _)| k == key) {
                    found.remove();
                }
            }
        };
        let renewed = part.renew_later(|old| {
            let mut table = old.clone();
            change(&mut table);
            Some((table, ()))
        });
        // Before the return: the end of the old changes comes first, whatever a destructor does.
        drop(changes);
        renewed.map(|(parting, ())| parting)
    }

    /// Turns this map into a [`FrozenMap`], which can only be read. Nothing is copied.
    ///
    /// ```
    /// # use tine::ReadMap;
    /// let map: ReadMap<_, _> = [(1, 10)].into_iter().collect();
    /// assert_eq!(map.freeze()[&1], 10);
    /// ```
    pub fn freeze(self) -> FrozenMap<K, V, S> {
        let table =
            |part: Published<Table<K, V>>| Arc::unwrap_or_clone(part.into_inner()).into_inner();
        let tables = self.parts.into_iter().map(table).collect();
        FrozenMap::from_tables(tables, self.hasher)
    }
}

/// Nothing is copied, unless the map is small.
impl<K: Eq + Hash, V, S: BuildHasher> From<ParHashMap<K, V, S>> for ReadMap<K, V, S> {
    fn from(map: ParHashMap<K, V, S>) -> Self {
        let hasher = map.hasher;
        let mut tables = map.shards.into_tables();
        if let [stem] = &mut tables[..] {
            tables = divide(stem, breadth(), &|(key, _)| hasher.hash_one(key));
        }
        let part = |table| Published::new(Arc::new(Whole::from(table)));
        ReadMap {
            parts: tables.into_iter().map(part).collect(),
            hasher,
        }
    }
}

/// Nothing is copied, unless the map is small.
impl<K: Eq + Hash, V, S: BuildHasher> From<FrozenMap<K, V, S>> for ReadMap<K, V, S> {
    fn from(map: FrozenMap<K, V, S>) -> Self {
        map.thaw().into()
    }
}

impl<K: Eq + Hash, V, S: BuildHasher + Default> FromIterator<(K, V)> for ReadMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        pairs.into_iter().collect::<ParHashMap<K, V, S>>().into()
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for ReadMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        self.for_each(|key, value| {
            map.entry(key, value);
        });
        map.finish()
    }
}
