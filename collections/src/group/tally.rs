//! Folding values by key: the engine of `count_by`, `fold_by` and `distinct`.
//!
//! A worker folds into its own table as long as that pays. Once the table has outgrown the cache, the number of
//! items for each entry matters. If several items went into each entry, the entries are flushed (scattered by
//! hash) and the table begins again; heavy keys are still folded on the spot. If hardly more than one item did,
//! the table was a detour: for a while, items are scattered as they come. Then the table is tried again; each
//! failure makes the next wait longer. In front of both stands a small table for keys that come often
//! (`hot.rs`), as long as enough such keys come.
//!
//! In the end each part has lists of items and of flushed entries, in the order of the input. One
//! job for each part folds them into its table.
//!
//! `merging` contains what workers share and how their results are merged. `worker` is a worker in the middle
//! of a piece, and `condensing` is what it does once it holds very much. `consumer` is what the bridge drives.
//!
//! ```text
//! piece 1   [table] flush  [items ……… ] [table] flush      each scattered
//! piece 2   [items ………………… ]                              into parts
//! part k    ──┴──────────────┴──────────────┴──→  table k, in order
//! ```
#![forbid(unsafe_code)]

mod condensing;
mod consumer;
mod merging;
mod spent;
mod worker;

use super::fold::{Fold, Sums};
use crate::farewell::{Kept, drop_kept, drop_shared};
use crate::hasher::DefaultHashBuilder;
use crate::partition::par_map;
use crate::parts::breadth_of;
use crate::tag::{Tag, Tagged, is_cheap};
use crate::tried::tried;
use condensing::first_bound;
use consumer::{Idle, TallyConsumer};
use merging::{Done, DoneOf, Plan, TABLE_BYTES};
use spent::Drops;
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use tine_iter::iter::ParallelIterator;
use tine_pool::{current_num_threads, join};
use worker::State;

/// A loop of fewer items is not shared, so a worker need not check whether other workers change what pays.
const SHARED: usize = 1 << 14;

/// Folds all items by key: into a single small table, or into a table for each of [`breadth()`] parts.
pub(super) fn tables<I, F>(items: I, fold: &F, hasher: &DefaultHashBuilder) -> Vec<Sums<F>>
where
    I: ParallelIterator<Item = F::Item>,
    F: Fold,
{
    tables_into(items, fold, hasher, |tables| tables)
}

/// What `make` makes from the tables. Keys that came again are dropped after that: once they are freed,
/// allocations take longer, since an allocator may look at each freed piece.
pub(super) fn tables_into<I, F, R>(
    items: I,
    fold: &F,
    hasher: &DefaultHashBuilder,
    make: impl FnOnce(Vec<Sums<F>>) -> R,
) -> R
where
    I: ParallelIterator<Item = F::Item>,
    F: Fold,
{
    let (made, spent, kept) = tried(items, fold, |items, alone| {
        let (tables, spent, kept) = if const { is_cheap::<F::Key>() } {
            tally::<(), _, _, _>(items, fold, hasher, alone)
        } else {
            tally::<u64, _, _, _>(items, fold, hasher, alone)
        };
        (make(tables), spent, kept)
    });
    // In this order: the first gives back memory of the allocator.
    drop_shared(spent);
    drop_kept(kept);
    made
}

/// Tables, and keys that came again: the rest of the parts' keys, and the keys that workers kept.
type Tallied<F> = (
    Vec<Sums<F>>,
    Vec<Vec<<F as Fold>::Key>>,
    Vec<Kept<<F as Fold>::Key>>,
);

fn tally<G, I, F, S>(items: I, fold: &F, hasher: &S, alone: bool) -> Tallied<F>
where
    G: Tag,
    I: ParallelIterator<Item = F::Item>,
    F: Fold,
    S: BuildHasher + Sync,
{
    let entry = mem::size_of::<(F::Key, F::Sum)>() + 1;
    let buckets = (TABLE_BYTES / entry).max(1024);
    let limit = (1 << buckets.ilog2().min(17)) / 8 * 7 - 1;
    let (count, threads) = (items.opt_len(), current_num_threads());
    let plan = Plan {
        fold,
        hasher,
        limit,
        parts: breadth_of(count, threads),
        held: first_bound::<Tagged<G, F::Key, F::Raw>>(threads, limit),
        alone,
        // If order matters, a worker may have several pieces, each with fewer items.
        share: count
            .filter(|&count| threads > 1 && count >= SHARED)
            .map(|count| count / threads),
        expected: count.unwrap_or(usize::MAX),
        two: threads == 2,
        workers: AtomicUsize::new(0),
        scattered: AtomicBool::new(false),
        drops: Drops::default(),
    };
    let idle = Idle::new();
    let consumer = TallyConsumer {
        plan: &plan,
        idle: &idle,
        tag: PhantomData::<G>,
    };
    let mut whole = items.drive_unindexed(consumer);
    let states = idle.take_all();
    let two = states.len() == 2;
    let entries = states.iter().map(|state| state.entries()).sum();
    if plan.in_pairs(states.len(), entries) {
        let mut done = merged(&plan, states, two);
        plan.join(&mut whole, &mut done, two);
        whole.append(done);
    } else {
        for done in par_map(states, &|state| state.finish()) {
            whole.append(done);
        }
    }
    let kept = mem::take(&mut whole.kept);
    let (tables, spent) = plan.finish(whole);
    (tables, spent, kept)
}

/// Ends the workers' states, and merges their results pair by pair. If one table took in all others
/// in turn, a single thread would do all that work, and it would grow with the number of threads.
fn merged<'a, F, S, G>(
    plan: &Plan<'a, F, S>,
    mut states: Vec<Box<State<'a, F, S, G>>>,
    two: bool,
) -> DoneOf<G, F>
where
    G: Tag,
    F: Fold,
    S: BuildHasher + Sync,
{
    if states.len() < 2 {
        return states.pop().map_or_else(Done::new, |state| state.finish());
    }
    let later = states.split_off(states.len() / 2);
    let (mut left, mut right) = join(|| merged(plan, states, two), || merged(plan, later, two));
    plan.join(&mut left, &mut right, two);
    left.append(right);
    left
}

#[cfg(test)]
mod tests;
