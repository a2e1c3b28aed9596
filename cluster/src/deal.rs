//! Dealing items to the ranks that own their keys.
//!
//! A *dealer* takes the items of one piece of a pipeline. It first folds them in a table. When the
//! table has outgrown the cache, there are two cases. If several items went into each entry, the
//! entries are dealt, and the table begins anew. If hardly more than one did, the table was a
//! detour: for a while, items are dealt as they come. Each further detour makes that while longer.
//! Most detours end early: if hardly any key has come twice when an eighth of the table is full,
//! there are far more keys than it has room for.
//!
//! For each key, items that are dealt earlier came earlier in the input, and the lists of later
//! pieces go behind those of earlier pieces. So merging the lists in their order merges in the order
//! of the input.
#![forbid(unsafe_code)]

use crate::cluster::Call;
use crate::owner::{hash_of, owner};
use crate::pieces::{Piece, pieces};
use crate::shuffle::{send_memory, send_parts};
use crate::travel::Travel;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::mem;
use tine_collections::raw::{expect_fill, par_map};
use tine_iter::iter::ParallelIterator;

/// The most entries, and the most bytes, that a table may have.
const ENTRIES: usize = 1 << 17;
const BYTES: usize = 4 << 20;
/// A table pays if it has at least this many items for each entry.
const WORTH: usize = 4;
/// The first look comes at this part of the limit.
const EARLY: usize = 8;
/// After dealing the items of this many full tables, the table is tried again.
const PATIENCE: usize = 16;

/// One list for each rank.
pub(crate) type Lists<T> = Vec<Vec<T>>;

fn lists<T>(ranks: usize) -> Lists<T> {
    (0..ranks).map(|_| Vec::new()).collect()
}

/// Appends a value. A list that has become large asks for huge pages.
#[inline(always)]
fn put<T>(list: &mut Vec<T>, value: T) {
    if list.len() == list.capacity() {
        grow(list);
    }
    list.push(value);
}

#[cold]
#[inline(never)]
fn grow<T>(list: &mut Vec<T>) {
    list.reserve(list.len().max(4));
    expect_fill(list.spare_capacity_mut());
}

/// The hash by which a dealer's own table finds a key. It is quicker than the hash that names the
/// owner; a key needs that one only when it leaves the table.
#[inline]
fn table_hash<K: Hash + ?Sized>(key: &K) -> u64 {
    FixedState::with_seed(1).hash_one(key)
}

/// Items to fold, and lists of what has been dealt.
pub(crate) struct Dealer<K, A> {
    table: HashTable<(K, A)>,
    limit: usize,
    /// The number of entries at which to look next whether the table pays.
    look: usize,
    /// Items since the table was empty.
    seen: usize,
    /// Items to deal before the table is tried again; `patience` is that number after its next failure.
    ahead: usize,
    patience: usize,
    /// Keys that occurred once.
    ones: Lists<K>,
    /// Keys with the sum of some of their items.
    sums: Lists<(K, A)>,
}

impl<K: Hash + Eq, A> Dealer<K, A> {
    fn new(ranks: usize) -> Box<Self> {
        let limit = (BYTES / (size_of::<(K, A)>() + 1)).clamp(1024, ENTRIES) / 8 * 7;
        Box::new(Dealer {
            table: HashTable::new(),
            limit,
            look: limit / EARLY,
            seen: 0,
            ahead: 0,
            patience: PATIENCE * limit,
            ones: lists(ranks),
            sums: lists(ranks),
        })
    }

    /// Whether the next item is dealt without the table.
    #[inline]
    fn deals(&mut self) -> bool {
        let deals = self.ahead > 0;
        self.ahead -= usize::from(deals);
        deals
    }

    /// Folds an item: `first` makes a sum of a key's first item, `more` adds an item to it.
    #[inline(always)]
    fn fold<T>(
        &mut self,
        key: K,
        item: T,
        first: impl FnOnce(T) -> A,
        more: impl FnOnce(&mut A, T),
    ) {
        self.seen += 1;
        let rehash = |known: &(K, A)| table_hash(&known.0);
        match self
            .table
            .entry(table_hash(&key), |known| known.0 == key, rehash)
        {
            Entry::Occupied(entry) => more(&mut entry.into_mut().1, item),
            Entry::Vacant(entry) => {
                entry.insert((key, first(item)));
                if self.table.len() == self.look {
                    self.consider();
                }
            }
        }
    }

    /// Folds an item, or deals it as a sum of its own.
    #[inline(always)]
    pub(crate) fn add<T>(
        &mut self,
        key: K,
        item: T,
        first: impl FnOnce(T) -> A,
        more: impl FnOnce(&mut A, T),
    ) {
        if self.deals() {
            let to = owner(hash_of(&key), self.sums.len());
            put(&mut self.sums[to], (key, first(item)));
        } else {
            self.fold(key, item, first, more);
        }
    }

    /// The table has grown to where it must be looked at.
    #[cold]
    #[inline(never)]
    fn consider(&mut self) {
        let entries = self.table.len();
        let is_full = entries >= self.limit;
        let pays = if is_full {
            self.seen >= WORTH * entries
        } else {
            // Of `keys` equally frequent keys, about entries² ÷ (2 · keys) have come again. If there
            // are twice as many as the limit, the full table will not pay.
            let again = (self.seen - entries) as u128;
            let full = 2 * self.limit as u128;
            again * 2 * full >= (entries as u128).pow(2)
        };
        self.look = if pays && !is_full {
            self.limit
        } else {
            self.limit / EARLY
        };
        if is_full || !pays {
            self.flush();
        }
        if is_full && pays {
            self.patience = PATIENCE * self.limit;
        } else if !pays {
            self.table = HashTable::new();
            self.ahead = self.patience;
            self.patience = self.patience.saturating_mul(4);
        }
    }

    fn flush(&mut self) {
        self.seen = 0;
        let ranks = self.sums.len();
        for (key, sum) in self.table.drain() {
            put(&mut self.sums[owner(hash_of(&key), ranks)], (key, sum));
        }
    }

    /// Deals what is left in the table.
    fn finish(&mut self) {
        self.flush();
        self.table = HashTable::new();
    }
}

impl<K: Hash + Eq> Dealer<K, usize> {
    /// Counts a key, or deals it.
    #[inline(always)]
    pub(crate) fn count(&mut self, key: K) {
        if self.deals() {
            let to = owner(hash_of(&key), self.ones.len());
            put(&mut self.ones[to], key);
        } else {
            self.fold(key, (), |()| 1, |count, ()| *count += 1);
        }
    }

    /// Counts a borrowed key. An owned key is made only if the key is new, or is dealt.
    #[inline(always)]
    pub(crate) fn count_ref<Q>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
        Q: ToOwned<Owned = K> + Hash + Eq + ?Sized,
    {
        if self.deals() {
            let to = owner(hash_of(key), self.ones.len());
            put(&mut self.ones[to], key.to_owned());
            return;
        }
        self.seen += 1;
        let hash = table_hash(key);
        let rehash = |known: &(K, usize)| table_hash(&known.0);
        match self
            .table
            .entry(hash, |known| known.0.borrow() == key, rehash)
        {
            Entry::Occupied(entry) => entry.into_mut().1 += 1,
            Entry::Vacant(entry) => {
                entry.insert((key.to_owned(), 1));
                if self.table.len() == self.look {
                    self.consider();
                }
            }
        }
    }
}

/// The lists of all dealers, joined into one list for each rank.
pub(crate) fn joined<T: Send>(ranks: usize, mut pieces: Vec<Lists<T>>) -> Lists<T> {
    if pieces.len() == 1 {
        return pieces.remove(0);
    }
    let of_rank = |rank: usize| -> Vec<Vec<T>> {
        pieces
            .iter_mut()
            .map(|piece| mem::take(&mut piece[rank]))
            .collect()
    };
    let each: Vec<Vec<Vec<T>>> = (0..ranks).map(of_rank).collect();
    par_map(each, &|parts: Vec<Vec<T>>| {
        let count = parts.iter().map(Vec::len).sum::<usize>();
        let mut all = Vec::with_capacity(count);
        expect_fill(all.spare_capacity_mut());
        parts.into_iter().for_each(|mut part| all.append(&mut part));
        all
    })
}

/// A dealer, and what it does with an item.
struct Dealing<'a, K, A, F> {
    dealer: Box<Dealer<K, A>>,
    take: &'a F,
}

impl<K, A, T, F> Piece<T> for Dealing<'_, K, A, F>
where
    K: Hash + Eq + Send,
    A: Send,
    F: Fn(&mut Dealer<K, A>, T) + Sync,
{
    #[inline(always)]
    fn take(&mut self, item: T) {
        (self.take)(&mut self.dealer, item);
    }

    fn end(&mut self) {
        self.dealer.finish();
    }
}

/// Lets dealers take all items by `take`, and returns what they have dealt: single keys, and sums.
pub(crate) fn deal<I, K, A, F>(iter: I, ranks: usize, take: F) -> (Lists<K>, Lists<(K, A)>)
where
    I: ParallelIterator,
    K: Hash + Eq + Send,
    A: Send,
    F: Fn(&mut Dealer<K, A>, I::Item) + Sync,
{
    let new = || Dealing {
        dealer: Dealer::new(ranks),
        take: &take,
    };
    let dealers = pieces(iter, new).into_iter().map(|dealing| dealing.dealer);
    let (ones, sums) = dealers.map(|dealer| (dealer.ones, dealer.sums)).unzip();
    (joined(ranks, ones), joined(ranks, sums))
}

/// Lists of items, and how an item's hash is found.
struct Listing<'a, T, F> {
    lists: Lists<T>,
    hash: &'a F,
}

impl<T: Send, F: Fn(&T) -> u64 + Sync> Piece<T> for Listing<'_, T, F> {
    #[inline(always)]
    fn take(&mut self, item: T) {
        let to = owner((self.hash)(&item), self.lists.len());
        put(&mut self.lists[to], item);
    }
}

/// Puts each item into the list of the rank that owns its hash.
pub(crate) fn dealt<I, F>(iter: I, ranks: usize, hash: &F) -> Lists<I::Item>
where
    I: ParallelIterator,
    F: Fn(&I::Item) -> u64 + Sync,
{
    let new = || Listing {
        lists: lists(ranks),
        hash,
    };
    let listed = pieces(iter, new).into_iter().map(|listing| listing.lists);
    joined(ranks, listed.collect())
}

/// Sends the pairs of each list to its rank: as memory if both halves are plain, in one row or in
/// two; otherwise as blocks.
pub(crate) fn send_pairs<K: Travel, A: Travel>(
    call: &Call<'_>,
    parts: Lists<(K, A)>,
) -> Vec<(K, A)> {
    let (Some(left), Some(right)) = (call.cluster.form::<K>(), call.cluster.form::<A>()) else {
        return send_parts(call, None, parts).items;
    };
    if let Some(both) = left.with(right) {
        return send_parts(call, Some(both), parts).items;
    }
    let mut cuts = vec![0];
    let count = parts.iter().map(Vec::len).sum();
    let (mut keys, mut sums) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for part in parts {
        for (key, sum) in part {
            keys.push(key);
            sums.push(sum);
        }
        cuts.push(keys.len());
    }
    let keys = send_memory(call, left, keys, &cuts).items;
    let sums = send_memory(call, right, sums, &cuts).items;
    keys.into_iter().zip(sums).collect()
}

#[cfg(test)]
mod tests {
    use super::{Dealer, joined};
    use crate::owner::{hash_of, owner};
    use std::collections::HashMap;

    /// Few keys and many in turn: tables pay, stop paying, and are tried again.
    fn keys() -> impl Iterator<Item = u64> {
        (0..6000_u64).map(|i| match i / 1000 % 3 {
            0 => i % 5,
            1 => i,
            _ => i * i % 23,
        })
    }

    #[test]
    fn what_is_dealt_adds_up() {
        let mut dealer: Box<Dealer<u64, usize>> = Dealer::new(3);
        (dealer.limit, dealer.look, dealer.patience) = (16, 2, 40);
        keys().for_each(|key| dealer.count(key));
        dealer.finish();
        let some = |lens: usize| lens > 0;
        assert!(some(dealer.ones.iter().map(Vec::len).sum()));
        assert!(some(dealer.sums.iter().map(Vec::len).sum()));
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for (rank, (ones, sums)) in dealer.ones.into_iter().zip(dealer.sums).enumerate() {
            let ones = ones.into_iter().map(|key| (key, 1));
            for (key, count) in sums.into_iter().chain(ones) {
                assert_eq!(owner(hash_of(&key), 3), rank);
                *counts.entry(key).or_default() += count;
            }
        }
        keys().for_each(|key| *counts.get_mut(&key).unwrap() -= 1);
        assert!(counts.values().all(|left| *left == 0));
    }

    #[test]
    fn what_is_dealt_is_in_order() {
        let pieces = (0..2).map(|piece| {
            let mut dealer: Box<Dealer<u64, Vec<usize>>> = Dealer::new(3);
            (dealer.limit, dealer.look, dealer.patience) = (16, 2, 40);
            for (at, key) in keys().enumerate() {
                let at = 6000 * piece + at;
                dealer.add(key, at, |at| vec![at], |list, at| list.push(at));
            }
            dealer.finish();
            assert!(dealer.ones.iter().all(Vec::is_empty));
            dealer.sums
        });
        let mut lists: HashMap<u64, Vec<usize>> = HashMap::new();
        for (key, list) in joined(3, pieces.collect()).into_iter().flatten() {
            lists.entry(key).or_default().extend(list);
        }
        assert!(lists.values().all(|list| list.is_sorted()));
        assert_eq!(lists.values().map(Vec::len).sum::<usize>(), 12_000);
    }
}
