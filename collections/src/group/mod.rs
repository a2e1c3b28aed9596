//! Grouping, counting and joining parallel iterators by key.
#![forbid(unsafe_code)]

pub mod aggregate;
mod distinct;
mod firsts;
mod flat;
mod fold;
mod hot;
mod join;
mod laying;
mod listing;
mod lookup;
mod passed;
mod probe;
mod rows;
mod side;
mod sift;
mod tally;

pub use aggregate::AggregateBy;
pub use join::Join;
pub use rows::{Groups, GroupsIter};
pub use side::{Loose, RightSide};

use crate::hasher::DefaultHashBuilder;
use crate::map::ParHashMap;
use crate::map::shard::Shards;
use crate::partition::{concat, par_map};
use fold::{AtOnce, Fold, key_alone, sums_at_once};
use std::cmp::Reverse;
use std::hash::Hash;
use std::marker::PhantomData;
use std::panic::Location;
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};
use tine_iter::slice::ParallelSliceMut;

/// Counting, folding, grouping and joining by key, on every parallel iterator.
///
/// All methods adapt while they run. If there are few keys, each thread folds them in a table of
/// its own. If there are many, items are first scattered by hash; then each thread works on keys of
/// its own. A choice that turns out wrong is revised.
///
/// Values of a key come in the order of the input, whatever the number of threads. The order of the
/// *keys* of a map is not specified.
///
/// Scattered items stay in memory: for each item its key, and the item itself or a sum. If items
/// own memory and a sum owns none and is no larger, the sum takes the item's place, and the item is
/// dropped at once. Counts and folds keep up to about half a gigabyte in this way, for all threads
/// together, besides the memory that keys and items own. A thread that has reached its share folds
/// what it has scattered, and goes on. So a stream may be larger than memory, if memory has room
/// for its keys once for each thread. (For `fold_by` and `aggregate_by`, which keep to the order of
/// items: once for each piece that a thread has taken over.) `distinct`, and `collect` into a map
/// or a set, keep one item for each key in the same way. `group_by` and the joins keep all
/// scattered items to the end.
///
/// ```
/// use tine::prelude::*;
///
/// let words = ["tine", "fork", "comb", "prong"];
/// let by_length = words.par_iter().copied().group_by(|word| word.len());
/// assert_eq!(by_length.get(&4), Some(&["tine", "fork", "comb"][..]));
/// ```
pub trait ParallelGrouping: ParallelIterator {
    /// The number of times that each key occurs.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let counts = "a rose is a rose".par_split_whitespace().count_by(|word| *word);
    /// assert_eq!(counts.get_cloned("rose"), Some(2));
    /// ```
    fn count_by<K, F>(self, key: F) -> ParHashMap<K, usize>
    where
        K: Eq + Hash + Send,
        F: Fn(&Self::Item) -> K + Sync,
    {
        into_map(
            self,
            &Count {
                key,
                item: PhantomData,
            },
        )
    }

    /// Folds the items of each key. `init` makes an empty accumulator, `fold` adds an item, and `combine`
    /// appends the accumulator of later items.
    ///
    /// For the result to be the same on any number of threads, `combine` must agree with `fold`:
    /// folding some items and then others must give the same as combining the two results.
    /// `combine` need not be commutative. `init` is called for each key at least once, and for each
    /// item at most once.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let sums = (0..10_u64).into_par_iter().fold_by(
    ///     |n| n % 2 == 0,
    ///     || 0,
    ///     |sum, n| *sum += n,
    ///     |sum, more| *sum += more,
    /// );
    /// assert_eq!(sums.get_cloned(&true), Some(20));
    /// ```
    fn fold_by<K, A, F, I, O, C>(self, key: F, init: I, fold: O, combine: C) -> ParHashMap<K, A>
    where
        K: Eq + Hash + Send,
        A: Send,
        F: Fn(&Self::Item) -> K + Sync,
        I: Fn() -> A + Sync,
        O: Fn(&mut A, Self::Item) + Sync,
        C: Fn(&mut A, A) + Sync,
    {
        let fold = FoldBy {
            key,
            init,
            fold,
            combine,
            item: PhantomData,
        };
        if const { sums_at_once::<Self::Item, A>() } {
            return into_map(self, &AtOnce(&fold));
        }
        into_map(self, &fold)
    }

    /// Several results for each key in one pass: counts, sums, smallest and largest, means.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let words = ["ant", "bee", "bumblebee", "ape"];
    /// let lengths = words
    ///     .par_iter()
    ///     .aggregate_by(|word| word.as_bytes()[0])
    ///     .count()
    ///     .min(|word| word.len())
    ///     .max(|word| word.len())
    ///     .finish();
    /// assert_eq!(lengths.get_cloned(&b'b'), Some((2, 3, 9)));
    /// ```
    fn aggregate_by<K, F>(self, key: F) -> AggregateBy<Self, F, ()>
    where
        F: Fn(&Self::Item) -> K + Sync,
    {
        AggregateBy {
            items: self,
            key,
            wanted: (),
        }
    }

    /// The number of times that each item occurs. The items are moved in as the keys, and no item is cloned.
    /// Which of several equal items becomes the key is not specified.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let words = vec![String::from("fork"), String::from("comb"), String::from("fork")];
    /// let counts = words.into_par_iter().count_items();
    /// assert_eq!(counts.get_cloned("fork"), Some(2));
    /// ```
    fn count_items(self) -> ParHashMap<Self::Item, usize>
    where
        Self::Item: Eq + Hash,
    {
        count_keys(self)
    }

    /// Folds the values of each key; the items are pairs of a key and a value. The keys are moved in. `start`
    /// makes a sum from a key's first value, `add` adds another value to it, and `merge` adds a sum of later
    /// values.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let lines = vec![(String::from("tea"), 3), (String::from("rye"), 2), (String::from("tea"), 1)];
    /// let sold = lines.into_par_iter().fold_pairs(|n| n, |sum, n| *sum += n, |sum, more| *sum += more);
    /// assert_eq!(sold.get_cloned("tea"), Some(4));
    /// ```
    fn fold_pairs<K, V, A>(
        self,
        start: impl Fn(V) -> A + Sync,
        add: impl Fn(&mut A, V) + Sync,
        merge: impl Fn(&mut A, A) + Sync,
    ) -> ParHashMap<K, A>
    where
        Self: ParallelIterator<Item = (K, V)>,
        K: Eq + Hash + Send,
        V: Send,
        A: Send,
    {
        fold_pairs(self, start, add, merge)
    }

    /// The items of each key, in the order of the input. The items of one key lie in a row.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let groups = (0..10).into_par_iter().group_by(|n| n % 3);
    /// assert_eq!(groups[&1], [1, 4, 7]);
    /// let map = groups.into_map();
    /// assert_eq!(map.get_cloned(&0), Some(vec![0, 3, 6, 9]));
    /// ```
    fn group_by<K, F>(self, key: F) -> Groups<K, Self::Item>
    where
        K: Eq + Hash + Send,
        F: Fn(&Self::Item) -> K + Sync,
    {
        rows::rows(
            self,
            &|item| (key(&item), item),
            DefaultHashBuilder::default(),
        )
    }

    /// The values of each key, in the order of the input; the items are pairs of a key and a value.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let pairs = [("a", 1), ("b", 2), ("a", 3)];
    /// assert_eq!(pairs.into_par_iter().group_pairs()["a"], [1, 3]);
    /// ```
    fn group_pairs<K, V>(self) -> Groups<K, V>
    where
        Self: ParallelIterator<Item = (K, V)>,
        K: Eq + Hash + Send,
        V: Send,
    {
        rows::rows(self, &|pair| pair, DefaultHashBuilder::default())
    }

    /// The number of items that fall into each of `bins` bins.
    ///
    /// # Panics
    /// If `bin` returns `bins` or more.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let bits = (0..100_u32).into_par_iter().histogram(4, |n| n.count_ones() as usize / 2);
    /// assert_eq!(bits, [8, 53, 37, 2]);
    /// ```
    #[track_caller]
    fn histogram<F>(self, bins: usize, bin: F) -> Vec<usize>
    where
        F: Fn(&Self::Item) -> usize + Send + Sync,
    {
        // The closure runs on any thread, so the message names the call: a panic there would lose the caller's
        // place.
        let call = Location::caller();
        let count = |mut counts: Vec<usize>, item: Self::Item| {
            let bin = bin(&item);
            assert!(
                bin < bins,
                "bin {bin} of a histogram with {bins} bins, asked for at {call}"
            );
            counts[bin] += 1;
            counts
        };
        let add = |mut counts: Vec<usize>, more: Vec<usize>| {
            counts
                .iter_mut()
                .zip(more)
                .for_each(|(count, more)| *count += more);
            counts
        };
        let sum = self.fold(|| vec![0; bins], count).reduce_with(add);
        sum.unwrap_or_else(|| vec![0; bins])
    }

    /// The distinct items, in the order in which they first occur.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert_eq!([3, 1, 3, 2, 1].into_par_iter().distinct(), [3, 1, 2]);
    /// ```
    fn distinct(self) -> Vec<Self::Item>
    where
        Self::Item: Eq + Hash,
    {
        distinct::firsts(self, |item| (item, ()), |item, ()| item)
    }

    /// The first item of each key, in the order in which these items occur.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let first = ["bee", "ant", "bat"].into_par_iter().distinct_by(|word| word.as_bytes()[0]);
    /// assert_eq!(first, ["bee", "ant"]);
    /// ```
    fn distinct_by<K, F>(self, key: F) -> Vec<Self::Item>
    where
        K: Eq + Hash + Send,
        F: Fn(&Self::Item) -> K + Sync,
    {
        let alone = |key, item| {
            // If dropping the key panics, the item is dropped too.
            drop(key);
            item
        };
        distinct::firsts(self, |item| (key(&item), item), alone)
    }

    /// Brings the items together with those of `right` that have the same key. The result has
    /// methods for each kind of join. `right` is gathered first, so let it be the smaller side.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let squares = (0..5).into_par_iter().map(|n| (n, n * n));
    /// let pairs = (3..9).into_par_iter().join_by(squares, |&n| n, |square| square.0).inner();
    /// assert_eq!(pairs, [(3, (3, 9)), (4, (4, 16))]);
    /// ```
    fn join_by<K, R, F, H>(self, right: R, key: F, right_key: H) -> Join<Self, Loose<R::Iter, H>, F>
    where
        R: IntoParallelIterator,
        K: Eq + Hash + Send,
        F: Fn(&Self::Item) -> K,
        H: Fn(&R::Item) -> K + Sync,
    {
        Join {
            left: self,
            right: Loose {
                items: right.into_par_iter(),
                key: right_key,
            },
            key,
        }
    }

    /// Brings the items together with the values that a [`FrozenMap`](crate::FrozenMap) or a [`Groups`] has for
    /// their keys. Pass the table by reference to use it for several joins.
    ///
    /// ```
    /// use tine::{ParHashMap, prelude::*};
    ///
    /// let names = ParHashMap::from([(1, "Ada"), (2, "Bob")]).freeze();
    /// let join = || [2, 3, 2].into_par_iter().join_on(&names, |&id| id);
    /// assert_eq!(join().inner(), [(2, "Bob"), (2, "Bob")]);
    /// assert_eq!(join().anti(), [3]);
    /// ```
    ///
    /// Pass a [`ParHashMap`] as `&mut`: it stays a `ParHashMap`. Nothing is moved or locked, since
    /// the `&mut` keeps every other thread out until the join is done.
    ///
    /// ```
    /// use tine::{ParHashMap, prelude::*};
    ///
    /// let mut stock = ParHashMap::from([("tea", 3), ("rye", 2)]);
    /// let missing = ["fig", "tea"].into_par_iter().join_on(&mut stock, |&order| order).anti();
    /// assert_eq!(missing, ["fig"]);
    /// stock.insert("fig", 1);
    /// ```
    fn join_on<D, F>(self, right: D, key: F) -> Join<Self, D, F>
    where
        D: RightSide,
        F: Fn(&Self::Item) -> D::Key,
    {
        Join {
            left: self,
            right,
            key,
        }
    }

    /// The `k` most frequent keys with their counts, most frequent first; of equally frequent keys
    /// the smaller first.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let top = "mississippi".par_chars().top_k_by_count(2, |&c| c);
    /// assert_eq!(top, [('i', 4), ('s', 4)]);
    /// ```
    fn top_k_by_count<K, F>(self, k: usize, key: F) -> Vec<(K, usize)>
    where
        K: Eq + Hash + Ord + Send,
        F: Fn(&Self::Item) -> K + Sync,
    {
        let rank =
            |a: &(K, usize), b: &(K, usize)| Reverse(a.1).cmp(&Reverse(b.1)).then(a.0.cmp(&b.0));
        let best = |mut counts: Vec<(K, usize)>| {
            if k == 0 {
                return Vec::new();
            }
            if k < counts.len() {
                counts.select_nth_unstable_by(k - 1, rank);
                counts.truncate(k);
            }
            counts
        };
        // First the best of each table, in parallel.
        let tables = self.count_by(key).shards.into_tables();
        let each = par_map(tables, &|table| best(table.into_iter().collect()));
        let mut counts = best(concat(each));
        counts.par_sort_unstable_by(rank);
        counts
    }
}

impl<I: ParallelIterator> ParallelGrouping for I {}

fn into_map<I, F>(items: I, fold: &F) -> ParHashMap<F::Key, F::Sum>
where
    I: ParallelIterator<Item = F::Item>,
    F: Fold,
{
    let hasher = DefaultHashBuilder::default();
    let mut shards = tally::tables_into(items, fold, &hasher, Shards::of);
    shards.share_end();
    ParHashMap { shards, hasher }
}

/// The number of times that each key occurs. Takes the keys.
pub fn count_keys<I>(keys: I) -> ParHashMap<I::Item, usize>
where
    I: ParallelIterator,
    I::Item: Eq + Hash,
{
    into_map(keys, &CountKeys(PhantomData))
}

/// Folds the values of each key of pairs; takes the pairs. `start` makes a sum from a key's first
/// value, `add` adds another value, `merge` adds a later sum.
pub fn fold_pairs<I, K, V, A>(
    pairs: I,
    start: impl Fn(V) -> A + Sync,
    add: impl Fn(&mut A, V) + Sync,
    merge: impl Fn(&mut A, A) + Sync,
) -> ParHashMap<K, A>
where
    I: ParallelIterator<Item = (K, V)>,
    K: Eq + Hash + Send,
    V: Send,
    A: Send,
{
    into_map(
        pairs,
        &Pairs {
            start,
            add,
            merge,
            pair: PhantomData,
        },
    )
}

/// Counts how often each key occurs.
struct Count<T, F> {
    key: F,
    item: PhantomData<fn(T)>,
}

impl<T: Send, K: Eq + Hash + Send, F: Fn(&T) -> K + Sync> Fold for Count<T, F> {
    type Item = T;
    type Key = K;
    type Raw = ();
    type Sum = usize;
    const COMMUTES: bool = true;

    #[inline]
    fn read(&self, item: T, _: usize) -> (K, ()) {
        key_alone(&self.key, item)
    }

    #[inline]
    fn start(&self, (): ()) -> usize {
        1
    }

    #[inline]
    fn add(&self, count: &mut usize, (): ()) {
        *count += 1;
    }

    #[inline]
    fn merge(&self, count: &mut usize, more: usize) {
        *count += more;
    }
}

/// Counts keys that are the items themselves.
struct CountKeys<K>(PhantomData<fn(K)>);

impl<K: Eq + Hash + Send> Fold for CountKeys<K> {
    type Item = K;
    type Key = K;
    type Raw = ();
    type Sum = usize;
    const COMMUTES: bool = true;

    #[inline]
    fn read(&self, key: K, _: usize) -> (K, ()) {
        (key, ())
    }

    #[inline]
    fn start(&self, (): ()) -> usize {
        1
    }

    #[inline]
    fn add(&self, count: &mut usize, (): ()) {
        *count += 1;
    }

    #[inline]
    fn merge(&self, count: &mut usize, more: usize) {
        *count += more;
    }
}

/// Folds by the user's closures.
struct FoldBy<T, F, I, O, C> {
    key: F,
    init: I,
    fold: O,
    combine: C,
    item: PhantomData<fn(T)>,
}

impl<T, K, A, F, I, O, C> Fold for FoldBy<T, F, I, O, C>
where
    T: Send,
    K: Eq + Hash + Send,
    A: Send,
    F: Fn(&T) -> K + Sync,
    I: Fn() -> A + Sync,
    O: Fn(&mut A, T) + Sync,
    C: Fn(&mut A, A) + Sync,
{
    type Item = T;
    type Key = K;
    type Raw = T;
    type Sum = A;

    #[inline]
    fn read(&self, item: T, _: usize) -> (K, T) {
        ((self.key)(&item), item)
    }

    #[inline]
    fn start(&self, item: T) -> A {
        let mut sum = (self.init)();
        (self.fold)(&mut sum, item);
        sum
    }

    #[inline]
    fn add(&self, sum: &mut A, item: T) {
        (self.fold)(sum, item);
    }

    #[inline]
    fn merge(&self, sum: &mut A, later: A) {
        (self.combine)(sum, later);
    }
}

/// Folds the values of pairs, which are moved.
struct Pairs<K, V, B, O, M> {
    start: B,
    add: O,
    merge: M,
    pair: PhantomData<fn(K, V)>,
}

impl<K, V, A, B, O, M> Fold for Pairs<K, V, B, O, M>
where
    K: Eq + Hash + Send,
    V: Send,
    A: Send,
    B: Fn(V) -> A + Sync,
    O: Fn(&mut A, V) + Sync,
    M: Fn(&mut A, A) + Sync,
{
    type Item = (K, V);
    type Key = K;
    type Raw = V;
    type Sum = A;

    #[inline]
    fn read(&self, pair: (K, V), _: usize) -> (K, V) {
        pair
    }

    #[inline]
    fn start(&self, value: V) -> A {
        (self.start)(value)
    }

    #[inline]
    fn add(&self, sum: &mut A, value: V) {
        (self.add)(sum, value);
    }

    #[inline]
    fn merge(&self, sum: &mut A, later: A) {
        (self.merge)(sum, later);
    }
}
