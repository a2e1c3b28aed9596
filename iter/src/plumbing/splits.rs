//! The bridge for producers that do not know their length: they split themselves.
//!
//! A piece may be split about as often as there are threads. It may be split as often again once it
//! has migrated, which shows that a thread was idle, or once what came before it was long, so that
//! it is likely to be long as well.
//!
//! What is split off need not be half. Where each split takes a little from the front (a long branch
//! of a tree, a list), one split would nest in the other until no stack is left. So a thread counts
//! the splits that it is inside of. At [`DEEP`] of them it goes on in rounds: it splits off some
//! pieces, does these as leaves, and comes back to the rest.
#![forbid(unsafe_code)]

use super::bridge::Pieces;
use super::fork::{Call, done, enter_part, halves_told};
use super::looks::{Looked, check, look};
use super::traits::{Folder, Reducer, UnindexedConsumer, UnindexedProducer};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tine_pool::{current_num_threads, loops};

/// Runs a producer of an unknown number of items into a consumer.
///
/// ```
/// use tine::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
/// use tine::prelude::*;
///
/// /// What cannot be split is still a source.
/// struct CountDown(u32);
///
/// impl UnindexedProducer for CountDown {
///     type Item = u32;
///     fn split(self) -> (Self, Option<Self>) {
///         (self, None)
///     }
///     fn fold_with<F: Folder<u32>>(self, folder: F) -> F {
///         folder.consume_iter((0..self.0).rev())
///     }
/// }
///
/// impl ParallelIterator for CountDown {
///     type Item = u32;
///     fn drive_unindexed<C: UnindexedConsumer<u32>>(self, consumer: C) -> C::Result {
///         bridge_unindexed(self, consumer)
///     }
/// }
///
/// assert_eq!(CountDown(3).collect::<Vec<_>>(), [2, 1, 0]);
/// ```
pub fn bridge_unindexed<P, C>(producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let _look = look();
    let pieces = Pieces {
        cuts: current_num_threads(),
        min: 1,
        max: usize::MAX,
    };
    let mut call = Call::new(|_| run(false, pieces, producer, consumer));
    enter_part(&mut call);
    call.result()
}

/// A thread that is inside of this number of splits goes on in rounds. Halves never come that far,
/// and the frames of that number, some ten kilobytes each in a build for debugging, fit any stack of
/// a megabyte.
const DEEP: usize = 64;

/// Leaves for each thread in a round.
const LEAVES: usize = 4;

thread_local! {
    /// The number of splits that the thread is inside of.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Kept while the thread is inside of a split.
struct Inside;

impl Inside {
    /// None if the thread is too deep already.
    fn enter() -> Option<Self> {
        let inside = INSIDE.get();
        (inside < DEEP).then(|| {
            INSIDE.set(inside + 1);
            Inside
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(INSIDE.get() - 1);
    }
}

/// Runs a piece, which is worth new cuts if it is `anew`.
fn run<P, C>(anew: bool, mut pieces: Pieces, producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    check();
    if !pieces.cut(usize::MAX, anew) || consumer.full() {
        return whole(producer, consumer);
    }
    let Some(_inside) = Inside::enter() else {
        return in_rounds(producer, consumer);
    };
    let (producer, right) = producer.split();
    let Some(right) = right else {
        return whole(producer, consumer);
    };
    let reducer = consumer.to_reducer();
    let to_left = consumer.split_off_left();
    let long = AtomicBool::new(false);
    let (a, b) = halves_told(
        |migrated| {
            let (result, is_long) = loops::watched(|| run(migrated, pieces, producer, to_left));
            // Relaxed: what matters is what the same thread reads next. Another thread has migrated.
            long.store(is_long, Relaxed);
            result
        },
        |migrated| run(migrated || long.load(Relaxed), pieces, right, consumer),
    );
    reducer.reduce(a, b)
}

/// Runs a piece with one folder.
fn whole<P, C>(producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    if consumer.full() {
        // Before there is a result: should a destructor panic later, nobody would drop that.
        drop(producer);
        return consumer.into_folder().complete();
    }
    let folder = Looked::new(consumer.into_folder());
    producer.fold_with(folder).complete()
}

/// A piece that is not split, and what it came to.
struct Leaf<P, C, R> {
    work: Option<(P, C)>,
    result: Option<R>,
}

/// Runs a producer that gives a little with each split. Once a round was short and none of its leaves
/// migrated, the rest is run as it is.
fn in_rounds<P, C>(mut producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let size = current_num_threads().saturating_mul(LEAVES);
    let mut before = Vec::new();
    let mut wanted = true;
    while wanted && !consumer.full() {
        check();
        let mut leaves = Vec::new();
        let mut reducers = Vec::new();
        wanted = false;
        while leaves.len() < size {
            let (left, right) = producer.split();
            let Some(right) = right else {
                producer = left;
                break;
            };
            reducers.push(consumer.to_reducer());
            leaves.push(Leaf {
                work: Some((left, consumer.split_off_left())),
                result: None,
            });
            producer = right;
        }
        if !leaves.is_empty() {
            let (migrated, is_long) = loops::watched(|| run_leaves(false, &mut leaves));
            wanted = migrated || is_long;
        }
        let results = leaves.into_iter().map(|leaf| done(leaf.result));
        before.extend(results.zip(reducers));
    }
    let last = whole(producer, consumer);
    let join = |right, (left, reducer): (_, C::Reducer)| reducer.reduce(left, right);
    before.into_iter().rev().fold(last, join)
}

/// Runs leaves, of which there is one at least, and says whether one of them migrated.
fn run_leaves<P, C>(migrated: bool, leaves: &mut [Leaf<P, C, C::Result>]) -> bool
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    match leaves {
        [leaf] => {
            let (producer, consumer) = done(leaf.work.take());
            leaf.result = Some(whole(producer, consumer));
            migrated
        }
        _ => {
            let (near, far) = leaves.split_at_mut(leaves.len() / 2);
            let run = |leaves| move |to_other| run_leaves(to_other || migrated, leaves);
            let (near, far) = halves_told(run(near), run(far));
            near || far
        }
    }
}
