//! Counting, folding and grouping by key, across ranks.
//!
//! A key belongs to one rank. If items can be folded before they travel, they are (`deal.rs`). What
//! arrives is folded or grouped by tine's own collections, in the order of the ranks.
#![forbid(unsafe_code)]

use crate::cluster::{Call, Site};
use crate::deal::{Dealer, Lists, deal, dealt, send_pairs};
use crate::iter::DistIter;
use crate::map::{DistMap, greatest};
use crate::owner::{hash_of, owner};
use crate::shuffle::{send_others, send_parts};
use crate::sort::sorted_by_key;
use crate::travel::Travel;
use crate::vec::DistVec;
use std::convert::identity;
use std::hash::Hash;
use std::panic::Location;
use tine_collections::raw::{count_keys, fold_pairs};
use tine_collections::{ParHashMap, ParallelGrouping};
use tine_iter::prelude::*;

/// Methods by key. Values of one key come in the order of the input, whatever the ranks and
/// threads.
impl<I: ParallelIterator> DistIter<I> {
    /// How often each key occurs. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let words = c.generate(10, |i| ["fork", "tine"][i % 2]);
    ///     let counts = words.par_iter().count_by(|word| word.to_string());
    ///     assert_eq!(counts.get("tine"), Some(5));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn count_by<K, F>(self, key: F) -> DistMap<K, usize>
    where
        K: Travel + Eq + Hash,
        F: Fn(&I::Item) -> K + Sync + Send,
    {
        self.counted("count_by", Location::caller(), key)
    }

    fn counted<K, F>(self, what: &'static str, site: Site, key: F) -> DistMap<K, usize>
    where
        K: Travel + Eq + Hash,
        F: Fn(&I::Item) -> K + Sync + Send,
    {
        let (cluster, iter) = self.into_both();
        let ranks = cluster.size();
        if ranks == 1 {
            cluster.enter::<K>(what, site, 0);
            return DistMap::new(cluster, iter.count_by(key));
        }
        let count = |dealer: &mut Dealer<K, usize>, item| dealer.count(key(&item));
        let dealt = deal(iter, ranks, count);
        let call = cluster.enter::<K>(what, site, 0);
        sent_counts(&call, dealt)
    }

    /// How often each item occurs. The items are keys themselves, and are moved. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let names = c.generate(10, |i| ["fork", "tine"][i % 2].to_owned());
    ///     let counts = names.into_par_iter().count_items();
    ///     assert_eq!(counts.get("tine"), Some(5));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn count_items(self) -> DistMap<I::Item, usize>
    where
        I::Item: Travel + Eq + Hash,
    {
        let site = Location::caller();
        let (cluster, iter) = self.into_both();
        let ranks = cluster.size();
        if ranks == 1 {
            cluster.enter::<I::Item>("count_items", site, 0);
            return DistMap::new(cluster, count_keys(iter));
        }
        let dealt = deal(iter, ranks, Dealer::<I::Item, usize>::count);
        let call = cluster.enter::<I::Item>("count_items", site, 0);
        sent_counts(&call, dealt)
    }

    /// How often each item occurs, if items are references, as the words of a text are. A table
    /// makes an owned key only of the first of equal items. For texts, this is much quicker than
    /// [`count_by`](Self::count_by) with `to_owned`, which allocates for each item. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let lines = c.generate(10, |i| ["a fork", "a tine"][i % 2]);
    ///     let words = lines.par_iter().flat_map_iter(|line| line.split(' '));
    ///     let counts = words.count_refs();
    ///     assert_eq!((counts.get("a"), counts.get("tine")), (Some(10), Some(5)));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn count_refs<'a, Q>(self) -> DistMap<Q::Owned, usize>
    where
        I: ParallelIterator<Item = &'a Q>,
        Q: ToOwned<Owned: Travel + Eq + Hash> + Eq + Hash + Sync + ?Sized + 'a,
    {
        let site = Location::caller();
        let (cluster, iter) = self.into_both();
        let ranks = cluster.size();
        if ranks == 1 {
            cluster.enter::<Q::Owned>("count_refs", site, 0);
            let counts = count_keys(iter).into_par_iter();
            let counts = counts.map(|(key, count)| (key.to_owned(), count));
            return DistMap::new(cluster, counts.collect());
        }
        let dealt = deal(iter, ranks, Dealer::<Q::Owned, usize>::count_ref);
        let call = cluster.enter::<Q::Owned>("count_refs", site, 0);
        sent_counts(&call, dealt)
    }

    /// Folds the items of each key. `fold` adds an item to a sum, the first of which `init`
    /// returns. `combine` adds the sum of later items to a sum. (C)
    ///
    /// For the result to be the same on any number of ranks and threads, folding some items and
    /// then others must be the same as combining the two. `combine` need not be commutative.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let digits = c.generate(8, |i| i).into_par_iter().fold_by(
    ///         |n| n % 2 == 0,
    ///         String::new,
    ///         |text, n| *text += &n.to_string(),
    ///         |text, more| *text += &more,
    ///     );
    ///     assert_eq!(digits.get(&true).as_deref(), Some("0246"));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn fold_by<K, A, F, N, O, C>(self, key: F, init: N, fold: O, combine: C) -> DistMap<K, A>
    where
        K: Travel + Eq + Hash,
        A: Travel,
        F: Fn(&I::Item) -> K + Sync + Send,
        N: Fn() -> A + Sync + Send,
        O: Fn(&mut A, I::Item) + Sync + Send,
        C: Fn(&mut A, A) + Sync + Send,
    {
        let site = Location::caller();
        let (cluster, iter) = self.into_both();
        let ranks = cluster.size();
        if ranks == 1 {
            cluster.enter::<(K, A)>("fold_by", site, 0);
            return DistMap::new(cluster, iter.fold_by(key, init, fold, combine));
        }
        let first = |item| {
            let mut sum = init();
            fold(&mut sum, item);
            sum
        };
        let add = |dealer: &mut Dealer<K, A>, item| dealer.add(key(&item), item, &first, &fold);
        let (_, sums) = deal(iter, ranks, add);
        let call = cluster.enter::<(K, A)>("fold_by", site, 0);
        let sums = send_pairs(&call, sums);
        drop(call);
        DistMap::new(cluster, combined(sums, &combine))
    }

    /// The `k` most frequent keys with their counts, on all ranks, most frequent first; of equally
    /// frequent ones the smaller key first. All ranks give the same `k`; if they do not, the job
    /// ends. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let letters = c.scatter("mississippi".chars().collect());
    ///     assert_eq!(letters.par_iter().top_k_by_count(2, |l| **l), [('i', 4), ('s', 4)]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn top_k_by_count<K, F>(self, k: usize, key: F) -> Vec<(K, usize)>
    where
        K: Travel + Eq + Hash + Ord,
        F: Fn(&I::Item) -> K + Sync + Send,
    {
        let site = Location::caller();
        let counts = self.counted("top_k_by_count", site, key);
        let cluster = counts.cluster().clone();
        let mine = greatest(counts.into_local().into_iter().collect(), k);
        let call = cluster.enter::<K>("top_k_by_count", site, k as u64);
        call.same_number("`k`");
        let all = call.all_gather_values(mine).into_iter().flatten();
        greatest(all.collect(), k)
    }

    /// How many items fall into each of `bins` bins, on all ranks. All give the same number of bins;
    /// if they do not, the job ends. (C)
    ///
    /// # Panics
    /// If `bin` returns `bins` or more.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let bits = c.generate(100, |i| i).into_par_iter();
    ///     let bits = bits.histogram(4, |n| n.count_ones() as usize / 2);
    ///     assert_eq!(bits, [8, 53, 37, 2]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn histogram<F>(self, bins: usize, bin: F) -> Vec<usize>
    where
        F: Fn(&I::Item) -> usize + Sync + Send,
    {
        let (cluster, iter) = self.into_both();
        let mine = iter.histogram(bins, bin);
        let call = cluster.enter::<()>("histogram", Location::caller(), bins as u64);
        call.same_number("number of bins");
        let mut counts: Vec<u64> = mine.into_iter().map(|count| count as u64).collect();
        call.all_sum(&mut counts);
        counts.into_iter().map(|count| count as usize).collect()
    }
}

/// Sends what was dealt to the owners of the keys, and counts there.
fn sent_counts<K: Travel + Eq + Hash>(
    call: &Call<'_>,
    (ones, sums): (Lists<K>, Lists<(K, usize)>),
) -> DistMap<K, usize> {
    let cluster = call.cluster;
    let ones = send_others(call, cluster.form::<K>(), ones);
    let sums = send_pairs(call, sums);
    DistMap::new(cluster.clone(), counts_of(ones, sums))
}

/// Counts of keys that came singly, and of keys that came with counts.
fn counts_of<K: Travel + Eq + Hash>(
    (here, arrived): (Vec<K>, Vec<K>),
    sums: Vec<(K, usize)>,
) -> ParHashMap<K, usize> {
    let add = |count: &mut usize, more: usize| *count += more;
    let of_sums = |sums: Vec<(K, usize)>| fold_pairs(sums.into_par_iter(), |n| n, add, add);
    if here.is_empty() && arrived.is_empty() {
        return of_sums(sums);
    }
    let mut counts = count_keys(here.into_par_iter().chain(arrived));
    if !sums.is_empty() {
        counts.par_merge_with(of_sums(sums), add);
    }
    counts
}

impl<I: ParallelIterator<Item: Travel>> DistIter<I> {
    /// Brings all items with equal keys together on one rank, in the order of the input. The keys
    /// of a rank stay mixed. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(100, |i| i).into_par_iter().shuffle_by(|n| n % 7);
    ///     let here: Vec<usize> = v.local().iter().copied().filter(|n| n % 7 == 3).collect();
    ///     assert!(here.is_empty() || here.len() == 14 && here.is_sorted());
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn shuffle_by<K, F>(self, key: F) -> DistVec<I::Item>
    where
        K: Hash,
        F: Fn(&I::Item) -> K + Sync + Send,
    {
        let hash = |item: &I::Item| hash_of(&key(item));
        self.shuffled("shuffle_by", Location::caller(), &hash)
    }

    fn shuffled<F>(self, what: &'static str, site: Site, hash: &F) -> DistVec<I::Item>
    where
        F: Fn(&I::Item) -> u64 + Sync + Send,
    {
        let (cluster, iter) = self.into_both();
        if cluster.size() == 1 {
            cluster.enter::<I::Item>(what, site, 0);
            return DistVec::new(cluster, iter.collect());
        }
        let parts = dealt(iter, cluster.size(), hash);
        let call = cluster.enter::<I::Item>(what, site, 0);
        let items = send_items(&call, parts);
        drop(call);
        DistVec::new(cluster, items)
    }

    /// The items of each key, in the order of the input. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let groups = c.generate(10, |i| i).into_par_iter().group_by(|n| n % 3);
    ///     assert_eq!(groups.get(&1), Some(vec![1, 4, 7]));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn group_by<K, F>(self, key: F) -> DistMap<K, Vec<I::Item>>
    where
        K: Eq + Hash + Send,
        F: Fn(&I::Item) -> K + Sync + Send,
    {
        let hash = |item: &I::Item| hash_of(&key(item));
        let items = self.shuffled("group_by", Location::caller(), &hash);
        let (cluster, part) = items.into_both();
        DistMap::new(cluster, part.into_par_iter().group_by(key).into_map())
    }

    /// The values of each key of pairs, in the order of the input. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let pairs = c.generate(10, |i| (i % 3, i)).into_par_iter();
    ///     assert_eq!(pairs.group_pairs().get(&1), Some(vec![1, 4, 7]));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn group_pairs<K, V>(self) -> DistMap<K, Vec<V>>
    where
        I: ParallelIterator<Item = (K, V)>,
        K: Travel + Eq + Hash + Clone,
        V: Travel,
    {
        let site = Location::caller();
        let items = self.shuffled("group_pairs", site, &|pair: &(K, V)| hash_of(&pair.0));
        let (cluster, part) = items.into_both();
        DistMap::new(cluster, part.into_par_iter().group_pairs().into_map())
    }

    /// The distinct items, in the order in which they first occur, in even parts. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.scatter(vec![3, 1, 3, 2, 1]).into_par_iter().distinct();
    ///     assert_eq!(v.all_gather(), [3, 1, 2]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn distinct(self) -> DistVec<I::Item>
    where
        I::Item: Eq + Hash + Sync,
    {
        let site = Location::caller();
        let (cluster, iter) = self.into_both();
        if cluster.size() == 1 {
            cluster.enter::<I::Item>("distinct", site, 0);
            return DistVec::new(cluster, iter.distinct());
        }
        let items: Vec<I::Item> = iter.collect();
        let call = cluster.enter::<I::Item>("distinct", site, items.len() as u64);
        let items = first_of_each(&call, items);
        drop(call);
        DistVec::new(cluster, items)
    }
}

/// The distinct items of all ranks, in the order in which they first occur.
fn first_of_each<T: Travel + Eq + Hash + Sync>(call: &Call<'_>, items: Vec<T>) -> Vec<T> {
    let cluster = call.cluster;
    let before = call.offsets()[cluster.rank()];
    let first = |at: &mut usize, other: usize| *at = (*at).min(other);
    let placed = items.into_par_iter().enumerate();
    let placed = placed.map(|(at, item)| (item, before + at));
    let here = fold_pairs(placed, identity, first, first);
    let ranks = cluster.size();
    let mut parts: Vec<Vec<(T, usize)>> = (0..ranks).map(|_| Vec::new()).collect();
    for (item, at) in here {
        parts[owner(hash_of(&item), ranks)].push((item, at));
    }
    let known = combined(send_pairs(call, parts), &first);
    let known: Vec<(usize, T)> = known.into_iter().map(|(item, at)| (at, item)).collect();
    let sorted = sorted_by_key(call, known, |entry| entry.0);
    sorted.into_iter().map(|(_, item)| item).collect()
}

/// Combines sums, of which several may have the same key, in their order. `combine` is a reference, so
/// that this is compiled once for all verbs with such keys and sums; a call through it for each pair
/// that came from another rank costs little.
fn combined<K, A>(sums: Vec<(K, A)>, combine: &(dyn Fn(&mut A, A) + Sync)) -> ParHashMap<K, A>
where
    K: Travel + Eq + Hash,
    A: Travel,
{
    fold_pairs(sums.into_par_iter(), identity, combine, combine)
}

/// Sends items to the ranks in whose lists they are.
pub(crate) fn send_items<T: Travel>(call: &Call<'_>, parts: Vec<Vec<T>>) -> Vec<T> {
    send_parts(call, call.cluster.form::<T>(), parts).items
}
