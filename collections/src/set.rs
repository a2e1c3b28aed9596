//! A concurrent hash set: a map without values.
#![forbid(unsafe_code)]

mod algebra;

use crate::hasher::DefaultHashBuilder;
use crate::map::{self, ParHashMap, TryReserveError, WalkShared};
use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::iter::FusedIterator;
use tine_iter::iter::plumbing::UnindexedConsumer;
use tine_iter::iter::{
    FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator,
};

/// A hash set that many threads change at once. It is built, walked, merged and dropped in
/// parallel.
///
/// What [`ParHashMap`] says about its two ways of use, closures and deadlocks, panics and hashing
/// holds here too. With the feature `serde` a set can be serialised and deserialised, as a
/// sequence.
///
/// ```
/// use tine::ParHashSet;
/// use tine::prelude::*;
///
/// let seen = ParHashSet::new();
/// let fresh = [3, 1, 3, 2].par_iter().filter(|&&n| seen.insert(n)).count();
/// assert_eq!((fresh, seen.len()), (3, 3));
/// ```
pub struct ParHashSet<T, S = DefaultHashBuilder> {
    map: ParHashMap<T, (), S>,
}

impl<T> ParHashSet<T> {
    /// An empty set. Allocates nothing.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert!(ParHashSet::<i32>::new().is_empty());
    /// ```
    pub fn new() -> Self {
        ParHashSet {
            map: ParHashMap::new(),
        }
    }

    /// An empty set with room for `capacity` items, divided evenly among its shards.
    ///
    /// # Panics
    /// If that many items cannot be addressed, or memory for more than a million is refused.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert!(ParHashSet::<i32>::with_capacity(10).capacity() >= 10);
    /// ```
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        ParHashSet {
            map: ParHashMap::with_capacity(capacity),
        }
    }
}

impl<T, S> ParHashSet<T, S> {
    /// An empty set that hashes by `hasher`.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// use std::hash::RandomState;
    /// assert!(ParHashSet::with_hasher(RandomState::new()).insert("from outside"));
    /// ```
    pub fn with_hasher(hasher: S) -> Self {
        ParHashSet {
            map: ParHashMap::with_hasher(hasher),
        }
    }

    /// An empty set with room for `capacity` items that hashes by `hasher`.
    ///
    /// # Panics
    /// If that many items cannot be addressed, or memory for more than a million is refused.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// use std::hash::RandomState;
    /// let set = ParHashSet::with_capacity_and_hasher(100, RandomState::new());
    /// assert!(set.insert(1));
    /// ```
    #[track_caller]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        ParHashSet {
            map: ParHashMap::with_capacity_and_hasher(capacity, hasher),
        }
    }

    /// The hasher of the items.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// use std::hash::BuildHasher;
    /// let set: ParHashSet<i32> = ParHashSet::new();
    /// assert_eq!(set.hasher().hash_one(1), set.hasher().hash_one(1));
    /// ```
    pub fn hasher(&self) -> &S {
        self.map.hasher()
    }

    /// The number of items: exact if no thread changes the set meanwhile.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert_eq!(ParHashSet::from([1, 2, 2]).len(), 2);
    /// ```
    #[track_caller]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there is no item.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert!(!ParHashSet::from([1]).is_empty());
    /// ```
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The number of items that the set has memory for, added up over all shards. A shard that gets
    /// more than its share of the items grows before the set has this many.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert_eq!(ParHashSet::<i32>::new().capacity(), 0);
    /// ```
    #[track_caller]
    pub fn capacity(&self) -> usize {
        self.map.capacity()
    }

    /// Clones of all items. A shard is locked only while it is cloned.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert_eq!(ParHashSet::from([1, 2]).iter().sum::<i32>(), 3);
    /// ```
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self.map.keys())
    }

    /// Calls `visit` with each item, one shard at a time under its lock.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let mut sum = 0;
    /// ParHashSet::from([1, 2]).for_each(|item| sum += item);
    /// assert_eq!(sum, 3);
    /// ```
    #[track_caller]
    pub fn for_each(&self, mut visit: impl FnMut(&T)) {
        self.map.for_each(|item, ()| visit(item));
    }

    /// Keeps the items for which `keep` returns `true`, one shard at a time under its lock.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let set = ParHashSet::from([1, 2, 3]);
    /// set.retain(|item| item % 2 == 1);
    /// assert_eq!(set, ParHashSet::from([1, 3]));
    /// ```
    #[track_caller]
    pub fn retain(&self, mut keep: impl FnMut(&T) -> bool) {
        self.map.retain(|item, ()| keep(item));
    }

    /// Removes all items and keeps the memory.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let set = ParHashSet::from([1]);
    /// set.clear();
    /// assert!(set.is_empty());
    /// ```
    #[track_caller]
    pub fn clear(&self) {
        self.map.clear();
    }

    /// Removes all items and yields them. The set keeps its memory.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let mut set = ParHashSet::from([1, 2]);
    /// assert_eq!(set.drain().sum::<i32>(), 3);
    /// assert!(set.is_empty());
    /// ```
    pub fn drain(&mut self) -> impl ExactSizeIterator<Item = T> + FusedIterator {
        self.map.drain().map(|(item, ())| item)
    }

    /// Never called: `into_par_iter` on a `&ParHashSet` ends here, with a message.
    #[doc(hidden)]
    pub fn into_par_iter(&self)
    where
        Self: WalkShared,
    {
    }

    /// All items, in parallel. Takes `&mut self`, which proves that no other thread uses the set.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// use tine::prelude::*;
    /// assert_eq!(ParHashSet::from([1, 2]).par_iter().sum::<i32>(), 3);
    /// ```
    pub fn par_iter(&mut self) -> impl ParallelIterator<Item = &T>
    where
        T: Sync,
    {
        self.map.par_iter().map(|(item, ())| item)
    }

    /// Removes all items at once and yields them, in parallel. The memory goes with them
    /// ([`drain`](Self::drain) keeps it).
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// use tine::prelude::*;
    /// let mut set = ParHashSet::from([1, 2]);
    /// assert_eq!(set.par_drain().sum::<i32>(), 3);
    /// ```
    pub fn par_drain(&mut self) -> IntoParIter<T> {
        IntoParIter(self.map.par_drain())
    }
}

impl<T: Send, S> ParHashSet<T, S> {
    /// Keeps the items for which `keep` returns `true`, shards in parallel.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let mut set = ParHashSet::from([1, 2, 3]);
    /// set.par_retain(|item| item % 2 == 1);
    /// assert_eq!(set.len(), 2);
    /// ```
    pub fn par_retain(&mut self, keep: impl Fn(&T) -> bool + Sync) {
        self.map.par_retain(|item, ()| keep(item));
    }

    /// Removes all items, shards in parallel, and keeps the memory.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let mut set = ParHashSet::from([1, 2, 3]);
    /// set.par_clear();
    /// assert!(set.is_empty());
    /// ```
    pub fn par_clear(&mut self) {
        self.map.par_clear();
    }
}

impl<T: Eq + Hash, S: BuildHasher> ParHashSet<T, S> {
    /// Adds an item. Returns `true` if it was missing.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let set = ParHashSet::new();
    /// assert!(set.insert(1) && !set.insert(1));
    /// ```
    #[track_caller]
    pub fn insert(&self, item: T) -> bool {
        self.map.upsert(item, || (), |()| ())
    }

    /// Whether the item is there.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert!(ParHashSet::from([String::from("a")]).contains("a"));
    /// ```
    #[track_caller]
    pub fn contains<Q>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.map.contains_key(item)
    }

    /// Whether each of many items is there, in their order. The set may change meanwhile.
    ///
    /// Items are hashed some places ahead and their memory is fetched, as in
    /// [`ParHashMap::read_many`]: in a set larger than the cache this takes less time than asking
    /// for the items one by one. Nothing is locked between two items.
    ///
    /// ```
    /// # use tine::{ParHashSet, prelude::*};
    /// let seen: ParHashSet<i32> = (0..10).collect();
    /// assert!(seen.contains_many(&[3, 12, 7]).eq([true, false, true]));
    ///
    /// let items = vec![7; 100_000];
    /// let parts = items.par_chunks(1000);
    /// let found = parts.map(|part| seen.contains_many(part).filter(|&found| found).count());
    /// assert_eq!(found.sum::<usize>(), 100_000);
    /// ```
    #[track_caller]
    pub fn contains_many<'q, Q>(
        &self,
        items: impl IntoIterator<Item = &'q Q>,
    ) -> impl Iterator<Item = bool>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized + 'q,
    {
        let found = self.map.read_many(items, |()| ());
        found.map(|found| found.is_some())
    }

    /// A clone of the item that equals this one.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert_eq!(ParHashSet::from([String::from("a")]).get_cloned("a"), Some("a".into()));
    /// ```
    #[track_caller]
    pub fn get_cloned<Q>(&self, item: &Q) -> Option<T>
    where
        T: Borrow<Q> + Clone,
        Q: Hash + Eq + ?Sized,
    {
        self.map.get(item).map(|found| found.key().clone())
    }

    /// Removes an item. Returns `true` if it was there.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let set = ParHashSet::from([1]);
    /// assert!(set.remove(&1) && !set.remove(&1));
    /// ```
    #[track_caller]
    pub fn remove<Q>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.take(item).is_some()
    }

    /// Removes and returns an item.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert_eq!(ParHashSet::from([1]).take(&1), Some(1));
    /// ```
    #[track_caller]
    pub fn take<Q>(&self, item: &Q) -> Option<T>
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.map.remove_entry(item).map(|(item, ())| item)
    }

    /// Makes room for `additional` more items, divided evenly among the shards.
    ///
    /// # Panics
    /// If that many items cannot be addressed.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let mut set = ParHashSet::from([1]);
    /// set.reserve(100);
    /// assert!(set.capacity() > 100);
    /// ```
    #[track_caller]
    pub fn reserve(&mut self, additional: usize) {
        self.map.reserve(additional);
    }

    /// Makes room for `additional` more items, or returns the reason why it cannot.
    ///
    /// # Errors
    /// If that many items cannot be addressed, or memory is refused.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let mut set = ParHashSet::from([1]);
    /// assert!(set.try_reserve(usize::MAX).is_err());
    /// ```
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.map.try_reserve(additional)
    }

    /// Adds an item in place of an equal one, if there is one, and returns the old item.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let set = ParHashSet::from([String::from("a")]);
    /// assert_eq!(set.replace(String::from("a")), Some(String::from("a")));
    /// assert_eq!(set.replace(String::from("b")), None);
    /// ```
    #[track_caller]
    pub fn replace(&self, item: T) -> Option<T> {
        self.map.replace_entry(item, ()).map(|(old, ())| old)
    }

    /// Removes and yields the items for which `chosen` returns `true`, as the iterator is walked.
    /// Items that the walk does not reach stay.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let mut set: ParHashSet<i32> = (0..10).collect();
    /// assert_eq!(set.extract_if(|item| item % 5 == 0).sum::<i32>(), 5);
    /// assert_eq!(set.len(), 8);
    /// ```
    pub fn extract_if(&mut self, mut chosen: impl FnMut(&T) -> bool) -> impl Iterator<Item = T> {
        self.map
            .extract_if(move |item, ()| chosen(item))
            .map(|(item, ())| item)
    }

    /// Gives back memory beyond the room for `capacity` items.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let set = ParHashSet::<i32>::with_capacity(1000);
    /// set.shrink_to(10);
    /// assert!((10..1000).contains(&set.capacity()));
    /// ```
    pub fn shrink_to(&self, capacity: usize) {
        self.map.shrink_to(capacity);
    }

    /// Gives back memory that is not needed.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let set = ParHashSet::<i32>::with_capacity(1000);
    /// set.shrink_to_fit();
    /// assert_eq!(set.capacity(), 0);
    /// ```
    pub fn shrink_to_fit(&self) {
        self.map.shrink_to_fit();
    }

    /// Moves the items of `other` into this set, shards in parallel.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let mut set = ParHashSet::from([1, 2]);
    /// set.par_merge(ParHashSet::from([2, 3]));
    /// assert_eq!(set, ParHashSet::from([1, 2, 3]));
    /// ```
    pub fn par_merge<Z>(&mut self, other: ParHashSet<T, Z>)
    where
        T: Send,
        S: Sync,
    {
        self.map.par_merge_with(other.map, |(), ()| ());
    }
}

/// Clones of a set's items, from [`ParHashSet::iter`].
///
/// ```
/// use tine::{ParHashSet, set::Iter};
///
/// let set = ParHashSet::from([4, 30]);
/// let items: Iter<'_, i32> = set.iter();
/// assert_eq!(items.sum::<i32>(), 34);
/// ```
#[derive(Debug)]
#[must_use = "iterators are lazy"]
pub struct Iter<'a, T>(map::Keys<'a, T, ()>);

/// A set's items, from [`ParHashSet::into_iter`].
///
/// ```
/// use tine::{ParHashSet, set::IntoIter};
///
/// let items: IntoIter<i32> = ParHashSet::from([4, 30]).into_iter();
/// assert_eq!(items.sum::<i32>(), 34);
/// ```
#[derive(Debug)]
pub struct IntoIter<T>(map::IntoIter<T, ()>);

/// A set's items, consumed in parallel, from a set's `into_par_iter` or
/// [`ParHashSet::par_drain`].
///
/// ```
/// use tine::{ParHashSet, set::IntoParIter};
/// use tine::prelude::*;
///
/// let items: IntoParIter<i32> = ParHashSet::from([4, 30]).into_par_iter();
/// assert_eq!(items.sum::<i32>(), 34);
/// ```
#[derive(Debug)]
pub struct IntoParIter<T>(map::IntoParIter<T, ()>);

impl<T: Clone> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next().map(|(item, ())| item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}
impl<T> FusedIterator for IntoIter<T> {}
impl<T: Clone> FusedIterator for Iter<'_, T> {}

impl<T: Send> ParallelIterator for IntoParIter<T> {
    type Item = T;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        self.0.map(|(item, ())| item).drive_unindexed(consumer)
    }
}

impl<T, S> IntoIterator for ParHashSet<T, S> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self.map.into_iter())
    }
}

impl<T: Send, S> IntoParallelIterator for ParHashSet<T, S> {
    type Item = T;
    type Iter = IntoParIter<T>;

    fn into_par_iter(self) -> IntoParIter<T> {
        IntoParIter(self.map.into_par_iter())
    }
}

impl<T, S: Default> Default for ParHashSet<T, S> {
    fn default() -> Self {
        ParHashSet {
            map: ParHashMap::default(),
        }
    }
}

impl<T: Clone, S: Clone> Clone for ParHashSet<T, S> {
    #[track_caller]
    fn clone(&self) -> Self {
        ParHashSet {
            map: self.map.clone(),
        }
    }
}

impl<T: fmt::Debug, S> fmt::Debug for ParHashSet<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = f.debug_set();
        self.for_each(|item| {
            set.entry(item);
        });
        set.finish()
    }
}

impl<T: Eq + Hash, S: BuildHasher, Z: BuildHasher> PartialEq<ParHashSet<T, Z>>
    for ParHashSet<T, S>
{
    fn eq(&self, other: &ParHashSet<T, Z>) -> bool {
        self.map == other.map
    }
}

impl<T: Eq + Hash, S: BuildHasher> Eq for ParHashSet<T, S> {}

impl<T: Eq + Hash, S: BuildHasher> Extend<T> for ParHashSet<T, S> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.map.extend(items.into_iter().map(|item| (item, ())));
    }
}

impl<'a, T: Eq + Hash + Copy + 'a, S: BuildHasher> Extend<&'a T> for ParHashSet<T, S> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
        self.extend(items.into_iter().copied());
    }
}

impl<T: Eq + Hash, S: BuildHasher + Default> FromIterator<T> for ParHashSet<T, S> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut set = Self::default();
        set.extend(items);
        set
    }
}

impl<T, S> FromParallelIterator<T> for ParHashSet<T, S>
where
    T: Eq + Hash + Send,
    S: BuildHasher + Default + Sync,
{
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(items: I) -> Self {
        let mut set = Self::default();
        set.par_extend(items);
        set
    }
}

impl<T, S> ParallelExtend<T> for ParHashSet<T, S>
where
    T: Eq + Hash + Send,
    S: BuildHasher + Sync,
{
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, items: I) {
        self.map
            .par_extend(items.into_par_iter().map(|item| (item, ())));
    }
}

impl<'a, T, S> ParallelExtend<&'a T> for ParHashSet<T, S>
where
    T: Eq + Hash + Copy + Send + Sync + 'a,
    S: BuildHasher + Sync,
{
    fn par_extend<I: IntoParallelIterator<Item = &'a T>>(&mut self, items: I) {
        self.par_extend(items.into_par_iter().map(|&item| item));
    }
}

impl<T: Eq + Hash, const N: usize> From<[T; N]> for ParHashSet<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

/// Moves the items over; keeps the hasher.
impl<T: Eq + Hash, S: BuildHasher + Clone> From<HashSet<T, S>> for ParHashSet<T, S> {
    fn from(set: HashSet<T, S>) -> Self {
        let mut par = Self::with_hasher(set.hasher().clone());
        // No item repeats. They come in the order of their hashes, and would crowd tables that grow.
        par.reserve(set.len());
        par.extend(set);
        par
    }
}

/// Moves the items over; keeps the hasher.
impl<T: Eq + Hash, S: BuildHasher + Clone> From<ParHashSet<T, S>> for HashSet<T, S> {
    fn from(par: ParHashSet<T, S>) -> Self {
        let mut set = HashSet::with_capacity_and_hasher(par.len(), par.hasher().clone());
        set.extend(par);
        set
    }
}
