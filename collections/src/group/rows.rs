//! Groups in compressed rows: keys, offsets, values.
#![forbid(unsafe_code)]

use super::laying::{Rows, lay};
use super::sift::{Pairs, Sieve};
use crate::gather::{Run, heaps};
use crate::hasher::DefaultHashBuilder;
use crate::map::ParHashMap;
use crate::map::shard::{CROWD, Shards};
use crate::partition::{concat, par_map};
use crate::parts::{breadth, interleave, part_of};
use crate::tag::{Tag, is_cheap};
use crate::tried::tried;
use hashbrown::HashTable;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::iter::FusedIterator;
use std::ops::Index;
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};
use tine_pool::join;

/// The result of [`group_by`](super::ParallelGrouping::group_by): each key with its values, in the
/// order of the input.
///
/// The values of a group lie in a row. The rows of many groups share an allocation: there are a few, or about a thousand if there
/// are many values. The order of the groups is not specified.
///
/// ```
/// use tine::prelude::*;
///
/// let words = ["ant", "bee", "ape", "bat", "asp"];
/// let groups = words.par_iter().copied().group_by(|word| word.as_bytes()[0]);
/// assert_eq!(groups[&b'a'], ["ant", "ape", "asp"]);
/// assert_eq!(groups.len(), 2);
///
/// let rows: Vec<(u8, Vec<&str>)> = groups.into_par_iter().filter(|(_, row)| row.len() > 2).collect();
/// assert_eq!(rows, [(b'a', vec!["ant", "ape", "asp"])]);
/// ```
pub struct Groups<K, T, S = DefaultHashBuilder> {
    parts: Vec<Rows<K, T>>,
    hasher: S,
}

/// Groups the pairs that `read` makes from the items.
pub(super) fn rows<I, K, T, S>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, T) + Sync),
    hasher: S,
) -> Groups<K, T, S>
where
    I: ParallelIterator,
    K: Eq + Hash + Send,
    T: Send,
    S: BuildHasher + Sync,
{
    let parts = tried(items, &(read, "rows"), |items, alone| {
        if const { is_cheap::<K>() } {
            rows_tagged::<(), _, _, _, _>(items, read, &hasher, alone)
        } else {
            rows_tagged::<u64, _, _, _, _>(items, read, &hasher, alone)
        }
    });
    Groups { parts, hasher }
}

fn rows_tagged<G, I, K, T, S>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, T) + Sync),
    hasher: &S,
    alone: bool,
) -> Vec<Rows<K, T>>
where
    G: Tag,
    I: ParallelIterator,
    K: Eq + Hash + Send,
    T: Send,
    S: BuildHasher + Sync,
{
    let parts = breadth();
    match heaps::<Sieve<G, K, T>, Pairs<K, T>, _, _, _, _>(items, read, hasher, parts, alone) {
        Run::Few(pairs) => vec![Rows::new(pairs, hasher)],
        Run::Many(sieves) => {
            let runs = sieves.into_iter().flat_map(Sieve::into_sifted);
            lay(runs.collect(), parts, hasher)
        }
    }
}

impl<K, T, S> Groups<K, T, S> {
    /// The number of groups.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// assert_eq!((0..10).into_par_iter().group_by(|n| n % 3).len(), 3);
    /// ```
    pub fn len(&self) -> usize {
        self.parts.iter().map(|rows| rows.keys.len()).sum()
    }

    /// Whether there is no group.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// assert!((0..0).into_par_iter().group_by(|n| n % 3).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of values in all groups.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// assert_eq!((0..10).into_par_iter().group_by(|n| n % 3).values_len(), 10);
    /// ```
    pub fn values_len(&self) -> usize {
        self.parts.iter().map(|rows| rows.values.len()).sum()
    }

    /// All groups.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let groups = (0..10).into_par_iter().group_by(|n| n % 3);
    /// assert!(groups.iter().any(|(&key, row)| key == 1 && row == [1, 4, 7]));
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &[T])> + FusedIterator + Clone {
        self.into_iter()
    }

    /// All groups, in parallel.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let groups = (0..10).into_par_iter().group_by(|n| n % 3);
    /// assert_eq!(groups.par_iter().map(|(_, row)| row.len()).max(), Some(4));
    /// ```
    pub fn par_iter(&self) -> impl ParallelIterator<Item = (&K, &[T])>
    where
        K: Sync,
        T: Sync,
    {
        let groups: Vec<(&K, &[T])> = self.iter().collect();
        groups.into_par_iter()
    }
}

impl<K, T, S> Groups<K, T, S> {
    /// All keys.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let groups = (0..10).into_par_iter().group_by(|n| n % 3);
    /// assert_eq!(groups.keys().max(), Some(&2));
    /// ```
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + FusedIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// A result for each group, folded from its values; groups are folded in parallel. A long group is cut in
    /// halves, whose results are combined in order. So all threads work on it. The cuts do not depend on the
    /// number of threads.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let groups = (0..10).into_par_iter().group_by(|n| n % 3);
    /// let sums = groups.fold_groups(|| 0, |sum, n| *sum += n, |sum, later| *sum += later);
    /// assert!(sums.contains(&(&1, 12)));
    /// ```
    pub fn fold_groups<A: Send>(
        &self,
        init: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, &T) + Sync,
        combine: impl Fn(&mut A, A) + Sync,
    ) -> Vec<(&K, A)>
    where
        K: Sync,
        T: Sync,
    {
        let groups: Vec<(&K, &[T])> = self.iter().collect();
        let one = |(key, row)| (key, fold_row(row, &init, &fold, &combine));
        groups.into_par_iter().map(one).collect()
    }
}

/// Rows longer than this are folded in halves.
const LONG: usize = 1 << 13;

fn fold_row<T: Sync, A: Send>(
    row: &[T],
    init: &(impl Fn() -> A + Sync),
    fold: &(impl Fn(&mut A, &T) + Sync),
    combine: &(impl Fn(&mut A, A) + Sync),
) -> A {
    if row.len() <= LONG {
        let mut all = init();
        row.iter().for_each(|value| fold(&mut all, value));
        return all;
    }
    let (left, right) = row.split_at(row.len() / 2);
    let half = |row| move || fold_row(row, init, fold, combine);
    let (mut all, later) = join(half(left), half(right));
    combine(&mut all, later);
    all
}

impl<K: Eq + Hash, T, S: BuildHasher> Groups<K, T, S> {
    /// Whether there is a group with this key.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// assert!((0..10).into_par_iter().group_by(|n| n % 3).contains_key(&2));
    /// ```
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.get(key).is_some()
    }

    /// The values of a key, in the order of the input.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let groups = (0..10).into_par_iter().group_by(|n| n % 3);
    /// assert_eq!(groups.get(&1), Some(&[1, 4, 7][..]));
    /// assert_eq!(groups.get(&3), None);
    /// ```
    pub fn get<Q>(&self, key: &Q) -> Option<&[T]>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.find_row(self.hasher.hash_one(key), key)
    }

    /// The values of a key whose hash is known.
    pub(super) fn find_row<Q>(&self, hash: u64, key: &Q) -> Option<&[T]>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let rows = &self.parts[part_of(hash, self.parts.len())];
        let same = |&place: &u32| rows.keys[place as usize].borrow() == key;
        rows.places
            .find(hash, same)
            .map(|&place| rows.row(place as usize))
    }

    pub(super) fn hasher(&self) -> &S {
        &self.hasher
    }

    /// The part and the place of a group whose hash is known, and its values.
    pub(super) fn find_nth_row(&self, hash: u64, key: &K) -> Option<(usize, usize, &[T])> {
        let part = part_of(hash, self.parts.len());
        let rows = &self.parts[part];
        let same = |&place: &u32| rows.keys[place as usize] == *key;
        let place = *rows.places.find(hash, same)? as usize;
        Some((part, place, rows.row(place)))
    }

    /// The number of groups in each part.
    pub(super) fn part_lens(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|rows| rows.keys.len())
    }

    /// The part, the place, and the values of all groups.
    pub(super) fn numbered_rows(&self) -> impl Iterator<Item = (usize, usize, &[T])> {
        let parts = self.parts.iter().enumerate();
        parts.flat_map(|(part, rows)| {
            (0..rows.keys.len()).map(move |place| (part, place, rows.row(place)))
        })
    }

    /// A map in which each group is a vector.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let map = (0..10).into_par_iter().group_by(|n| n % 3).into_map();
    /// assert_eq!(map.get_cloned(&1), Some(vec![1, 4, 7]));
    /// ```
    pub fn into_map(self) -> ParHashMap<K, Vec<T>, S>
    where
        K: Send,
        T: Send,
        S: Sync,
    {
        let hasher = &self.hasher;
        let parts = self.parts.len();
        let keys: usize = self.parts.iter().map(|rows| rows.keys.len()).sum();
        // A map has one shard, or as many shards as any other map, whatever the number of parts here.
        let count = match keys > CROWD {
            true => breadth() / parts,
            false => 1,
        };
        let table = |rows: Rows<K, T>| rows.into_tables(parts, count, hasher);
        let mut tables = interleave(par_map(self.parts, &table));
        if keys <= CROWD {
            let mut stem = HashTable::with_capacity(keys);
            for pair in tables.into_iter().flatten() {
                let hash = hasher.hash_one(&pair.0);
                stem.insert_unique(hash, pair, |(key, _)| hasher.hash_one(key));
            }
            tables = vec![stem];
        }
        let mut shards = Shards::of(tables);
        shards.share_end();
        ParHashMap {
            shards,
            hasher: self.hasher,
        }
    }
}

impl<K, T, S> IntoIterator for Groups<K, T, S> {
    type Item = (K, Vec<T>);
    type IntoIter = std::vec::IntoIter<(K, Vec<T>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts
            .into_iter()
            .flat_map(Rows::into_pairs)
            .collect::<Vec<_>>()
            .into_iter()
    }
}

impl<'a, K, T, S> IntoIterator for &'a Groups<K, T, S> {
    type Item = (&'a K, &'a [T]);
    type IntoIter = GroupsIter<'a, K, T>;

    fn into_iter(self) -> GroupsIter<'a, K, T> {
        GroupsIter {
            parts: self.parts.iter(),
            part: None,
            left: self.len(),
        }
    }
}

/// The groups of a [`Groups`], by reference.
///
/// ```
/// use tine::prelude::*;
///
/// let groups = (0..10).into_par_iter().group_by(|n| n % 3);
/// let mut values = 0;
/// for (_, row) in &groups {
///     values += row.len();
/// }
/// assert_eq!(values, 10);
/// ```
#[must_use = "iterators are lazy"]
pub struct GroupsIter<'a, K, T> {
    parts: std::slice::Iter<'a, Rows<K, T>>,
    part: Option<(&'a Rows<K, T>, usize)>,
    left: usize,
}

impl<'a, K, T> Iterator for GroupsIter<'a, K, T> {
    type Item = (&'a K, &'a [T]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((rows, next)) = &mut self.part
                && let Some(key) = rows.keys.get(*next)
            {
                let row = rows.row(*next);
                *next += 1;
                self.left -= 1;
                return Some((key, row));
            }
            self.part = Some((self.parts.next()?, 0));
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    fn fold<A, F: FnMut(A, Self::Item) -> A>(self, start: A, mut f: F) -> A {
        let first = self.part.into_iter();
        let all = first.chain(self.parts.map(|rows| (rows, 0)));
        all.fold(start, |state, (rows, next)| {
            rows.iter().skip(next).fold(state, &mut f)
        })
    }
}

impl<K, T> ExactSizeIterator for GroupsIter<'_, K, T> {}
impl<K, T> FusedIterator for GroupsIter<'_, K, T> {}

impl<K, T> Clone for GroupsIter<'_, K, T> {
    fn clone(&self) -> Self {
        GroupsIter {
            parts: self.parts.clone(),
            part: self.part,
            left: self.left,
        }
    }
}

impl<K: fmt::Debug, T: fmt::Debug> fmt::Debug for GroupsIter<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupsIter").finish_non_exhaustive()
    }
}

impl<'a, K: Sync, T: Sync, S> IntoParallelIterator for &'a Groups<K, T, S> {
    type Item = (&'a K, &'a [T]);
    type Iter = tine_iter::vec::IntoIter<Self::Item>;

    fn into_par_iter(self) -> Self::Iter {
        self.iter().collect::<Vec<_>>().into_par_iter()
    }
}

impl<K: Send, T: Send, S> IntoParallelIterator for Groups<K, T, S> {
    type Item = (K, Vec<T>);
    type Iter = tine_iter::vec::IntoIter<(K, Vec<T>)>;

    fn into_par_iter(self) -> Self::Iter {
        let pairs = |rows: Rows<K, T>| rows.into_pairs().collect::<Vec<_>>();
        let parts = par_map(self.parts, &pairs);
        concat(parts).into_par_iter()
    }
}

impl<K: Eq + Hash + Borrow<Q>, Q: Hash + Eq + ?Sized, T, S: BuildHasher> Index<&Q>
    for Groups<K, T, S>
{
    type Output = [T];

    /// The values of a key, in the order of the input.
    ///
    /// # Panics
    /// If there is no such group.
    #[track_caller]
    fn index(&self, key: &Q) -> &[T] {
        self.get(key).expect("no group has this key")
    }
}

impl<K: fmt::Debug, T: fmt::Debug, S> fmt::Debug for Groups<K, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
