//! A worker that has scattered very many items folds them before all items have come. So memory
//! depends on the number of keys, however many items there are.
//!
//! Each part is folded into its own table, and the entries are scattered in place of the items. This work saves
//! nothing but memory: the entries are folded once more at the end. So a worker does it only once it holds
//! much, and only if a table that it has just filled shows that most keys come again.
#![forbid(unsafe_code)]

use super::super::fold::Fold;
use super::merging::{Plan, RunOf};
use crate::foresight::new_keys;
use crate::partition::Scatter;
use crate::tag::{Tag, Tagged};
use crate::thinned::HELD;
use std::hash::BuildHasher;
use std::mem;
use tine_pool::loops::check;

/// If fewer items than this had a key that the last table knew, keys do not come again.
const REPEATS: usize = 4;

/// How many items of this kind each worker may hold at first: at least as many as the entries of the table that
/// is filled before, `limit`.
pub(super) fn first_bound<T>(threads: usize, limit: usize) -> usize {
    (HELD / mem::size_of::<T>().max(1) / threads.max(1)).max(limit)
}

/// What a worker holds, and how much of it is too much.
pub(super) struct Held {
    /// Items, and entries of tables, in runs that are ended.
    count: usize,
    first: usize,
    bound: usize,
}

impl Held {
    pub(super) fn new(first: usize) -> Self {
        Held {
            count: 0,
            first,
            bound: first,
        }
    }

    pub(super) fn add(&mut self, count: usize) {
        self.count += count;
    }

    /// How many more items may come.
    pub(super) fn room(&self) -> usize {
        self.bound.saturating_sub(self.count).max(1)
    }

    /// Whether to condense now. The last `items` had `keys` different keys.
    pub(super) fn is_due(&mut self, items: usize, keys: usize) -> bool {
        if self.count < self.bound {
            return false;
        }
        // If too few items came again, nothing can be concluded.
        let known = items >= keys + REPEATS;
        let pays = known && new_keys(items, keys, self.count) <= self.count / 2;
        if !pays {
            self.bound = self.count + self.first.max(self.count);
        }
        pays
    }

    /// Notes how much is left.
    pub(super) fn condensed(&mut self, count: usize) {
        self.count = count;
        self.bound = count + self.first.max(count);
    }
}

impl<F: Fold, S: BuildHasher + Sync> Plan<'_, F, S> {
    /// One run in place of many, with each key once. Keys that came again go to `spend`.
    pub(super) fn condense<G: Tag>(
        &self,
        runs: Vec<(usize, RunOf<G, F>)>,
        mut spend: impl FnMut(F::Key),
    ) -> Scatter<Tagged<G, F::Key, F::Sum>> {
        let cut = |(base, run)| (base, self.cut(run, self.parts).into_iter());
        let mut cut: Vec<_> = runs.into_iter().map(cut).collect();
        let mut condensed = Scatter::new(self.parts);
        for part in 0..self.parts {
            check();
            let shares = cut.iter_mut();
            let shares =
                shares.filter_map(|(base, shares)| Some((*base, shares.next().flatten()?)));
            let (tables, again) = self.fold_part(shares.collect(), self.parts);
            again.into_iter().for_each(&mut spend);
            for entry in tables.into_iter().flatten() {
                let hash = self.hasher.hash_one(&entry.0);
                // By the number of the part, whatever the hash says: a hasher may lie.
                condensed.push(part, (G::keep(hash), entry));
            }
        }
        condensed
    }
}
