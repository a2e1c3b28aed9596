//! The bridge for producers that do not know their length: they split themselves.
//!
//! A piece may be split about as often as there are threads. It may be split as often again once it
//! has migrated, which shows that a thread was idle, or once what came before it was long, so that
//! it is likely to be long as well. Items make it long, not folders: where these take the time, more
//! pieces would take more of it.
//!
//! What is split off need not be half. Where each split takes a little from the front (a long branch
//! of a tree, a list), one split would nest in the other until no stack is left. So a thread counts
//! the splits that it is inside of. At [`DEEP`] of them it opens a line: all threads that come split
//! off the next piece, one after the other, and run it. So no piece waits behind one that is run, and
//! none nests in another.
#![forbid(unsafe_code)]

use super::bridge::Pieces;
use super::fork::{Call, crew, enter_part, halves_told, lend_crew};
use super::looks::{Looked, check, look};
use super::traits::{Folder, Reducer, UnindexedConsumer, UnindexedProducer};
use std::cell::Cell;
use std::ops::AddAssign;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{AcqRel, Relaxed, Release},
};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;
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
    let mut call = Call::new(|_| run(false, false, pieces, producer, consumer).0);
    enter_part(&mut call);
    call.result()
}

/// A thread that is inside of this number of splits opens a line. Splits into halves come that deep only
/// after 2³² pieces. In a debug build the frames of a split are some ten kilobytes, so those of all
/// fit a stack of half a megabyte.
const DEEP: usize = 32;
/// One that is inside of this number of splits and lines calls no others back. (The frames of a build without optimisation are
/// some seven times as large.)
const CALLED: usize = if cfg!(debug_assertions) {
    DEEP + 8
} else {
    4 * DEEP
};

/// After each N pieces of a line a thread asks whether the rest is worth splitting. This is N.
const TELLING: usize = 4;

/// While another thread splits, a thread that comes to the line yields this often, and then sleeps this
/// often for a millisecond. Then it leaves the line, since the splitting thread may be waiting for it. That
/// thread calls others back once the split is done.
const YIELDS: usize = 64;
const SLEEPS: usize = 3;

thread_local! {
    /// The number of splits that the thread is inside of.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Kept while the thread is inside of a split, or of a line to which it called others back.
struct Inside;

impl Inside {
    /// None if the thread is inside of `most` already.
    fn enter(most: usize) -> Option<Self> {
        let inside = INSIDE.get();
        (inside < most).then(|| {
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

/// What a part took, in ticks.
#[derive(Clone, Copy, Default)]
struct Spent {
    /// To feed folders with items.
    items: u64,
    /// To make folders, complete them, and join what they came to: known of long parts alone.
    folders: u64,
}

impl Spent {
    /// Whether what comes next is worth new cuts.
    fn is_worth_cuts(self) -> bool {
        loops::is_long(self.items) && self.items / 4 >= self.folders
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.items += other.items;
        self.folders += other.folders;
    }
}

/// Calls `op`, which is about folders, if that is `watched`.
fn about_folders<R>(watched: bool, spent: &mut Spent, op: impl FnOnce() -> R) -> R {
    if !watched {
        return op();
    }
    let start = loops::now();
    let result = op();
    spent.folders += loops::now().saturating_sub(start);
    result
}

/// Runs a piece, which is worth new cuts if it is `anew`. What it took is told if that is `watched`.
fn run<P, C>(
    watched: bool,
    anew: bool,
    mut pieces: Pieces,
    producer: P,
    consumer: C,
) -> (C::Result, Spent)
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    check();
    if !pieces.cut(usize::MAX, anew) || consumer.full() {
        return whole(watched, producer, consumer);
    }
    let Some(_inside) = Inside::enter(DEEP) else {
        return (in_line(producer, consumer), Spent::default());
    };
    let (producer, right) = producer.split();
    let Some(right) = right else {
        return whole(watched, producer, consumer);
    };
    let reducer = consumer.to_reducer();
    let to_left = consumer.split_off_left();
    let long = AtomicBool::new(false);
    let ((a, mut spent), (b, far)) = halves_told(
        |migrated| {
            let done = run(true, migrated, pieces, producer, to_left);
            // Relaxed: what matters is what the same thread reads next. Another thread has migrated.
            long.store(done.1.is_worth_cuts(), Relaxed);
            done
        },
        |migrated| {
            let anew = migrated || (long.load(Relaxed) && current_num_threads() > 1);
            run(watched, anew, pieces, right, consumer)
        },
    );
    spent += far;
    let watched = watched && loops::is_long(spent.items);
    let result = about_folders(watched, &mut spent, || reducer.reduce(a, b));
    (result, spent)
}

/// Runs a piece with one folder.
fn whole<P, C>(watched: bool, producer: P, consumer: C) -> (C::Result, Spent)
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let mut spent = Spent::default();
    if consumer.full() {
        // Before there is a result: should a destructor panic later, nobody would drop that.
        drop(producer);
        return (consumer.into_folder().complete(), spent);
    }
    let now = || if watched { loops::now() } else { 0 };
    let first = now();
    let folder = Looked::new(consumer.into_folder());
    let begun = now();
    let folder = producer.fold_with(folder);
    spent.items = now().saturating_sub(begun);
    spent.folders = begun.saturating_sub(first);
    let watched = watched && loops::is_long(spent.items);
    let result = about_folders(watched, &mut spent, || folder.complete());
    (result, spent)
}

/// What threads split pieces off from, and what these came to.
struct Line<P, C, R> {
    rest: Mutex<Rest<P, C>>,
    /// Whether threads left while a split took long, and were not called back yet.
    left: AtomicBool,
    /// Each with its place.
    results: Mutex<Vec<(usize, R)>>,
}

/// What was not split off yet.
struct Rest<P, C> {
    producer: Option<P>,
    consumer: C,
    /// The number of pieces before it.
    before: usize,
}

/// Runs a producer that gives a little with each split.
fn in_line<P, C>(producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let rest = Rest {
        producer: Some(producer),
        consumer,
        before: 0,
    };
    let line = Line {
        rest: Mutex::new(rest),
        left: AtomicBool::new(false),
        results: Mutex::new(Vec::new()),
    };
    crew(current_num_threads(), &|| line.work());
    line.result()
}

impl<P, C> Line<P, C, C::Result>
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    /// Runs pieces until there are none. If some in a row were short, the rest is one piece.
    fn work(&self) {
        self.work_until(&AtomicBool::new(false));
    }

    /// The same, or until it is `over`. Then it may hand back a piece, behind which threads are to be called back.
    fn work_until(&self, over: &AtomicBool) -> Option<(usize, P, C)> {
        let mut all = false;
        // Relaxed: it hands over nothing.
        while !over.load(Relaxed) {
            let mut spent = Spent::default();
            for _ in 0..TELLING {
                check();
                let piece = self.split_off(all)?;
                // AcqRel pairs with the swap in `rest`, by which a thread leaves.
                if self.left.swap(false, AcqRel) {
                    match self.call_back(piece, over) {
                        Ok(took) => spent += took,
                        Err(piece) => return Some(piece),
                    }
                } else {
                    spent += self.run(piece);
                }
            }
            all = !spent.is_worth_cuts();
        }
        None
    }

    fn run(&self, (place, producer, consumer): (usize, P, C)) -> Spent {
        let (result, took) = whole(true, producer, consumer);
        let results = self.results.lock();
        let mut results = results.unwrap_or_else(PoisonError::into_inner);
        results.push((place, result));
        took
    }

    /// Runs a piece and those behind it, and calls threads back meanwhile; what that piece took. If they come and leave
    /// again, they are called back behind a later piece, in the same place. (Where this thread leaves and they stay, their
    /// call nests in this one.) Where this one is in such a call that is over, it hands the piece back.
    fn call_back(&self, piece: (usize, P, C), outer: &AtomicBool) -> Result<Spent, (usize, P, C)> {
        let mut spent = Spent::default();
        let mut next = Some(piece);
        while let Some(piece) = next.take() {
            if outer.load(Relaxed) {
                return Err(piece);
            }
            let Some(_inside) = Inside::enter(CALLED) else {
                // Release pairs with the swap of the thread that finds it, in `work_until`.
                self.left.store(true, Release);
                spent += self.run(piece);
                break;
            };
            let over = AtomicBool::new(false);
            let stay = || {
                spent += self.run(piece);
                next = self.work_until(&over);
            };
            let leave = || over.store(true, Relaxed);
            lend_crew(current_num_threads() - 1, stay, &|| self.work(), leave);
        }
        Ok(spent)
    }

    /// The next piece, or `all` that is left, and its place.
    fn split_off(&self, all: bool) -> Option<(usize, P, C)> {
        let mut rest = self.rest()?;
        if rest.consumer.full() {
            return None;
        }
        let mut producer = rest.producer.take()?;
        if !all {
            (producer, rest.producer) = producer.split();
        }
        let place = rest.before;
        rest.before += 1;
        Some((place, producer, rest.consumer.split_off_left()))
    }

    /// None if a split panicked, or takes long. The thread that splits goes on with the line later.
    fn rest(&self) -> Option<MutexGuard<'_, Rest<P, C>>> {
        for wait in 0..YIELDS + SLEEPS {
            match self.rest.try_lock() {
                Ok(rest) => return Some(rest),
                Err(TryLockError::Poisoned(_)) => return None,
                Err(TryLockError::WouldBlock) if wait < YIELDS => thread::yield_now(),
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
            }
        }
        // AcqRel pairs with the swap in `work_until`, which comes after the splitting thread has left the lock. Either that
        // swap finds this one, or this one reads of it: then the lock is seen to be free.
        self.left.swap(true, AcqRel);
        self.rest.try_lock().ok()
    }

    /// Joins, from the last piece on, what they came to.
    fn result(self) -> C::Result {
        let rest = self.rest.into_inner();
        let Rest {
            producer, consumer, ..
        } = rest.unwrap_or_else(PoisonError::into_inner);
        // As in `whole`. There is nothing unless the consumer is full.
        drop(producer);
        let results = self.results.into_inner();
        let mut results = results.unwrap_or_else(PoisonError::into_inner);
        results.sort_unstable_by_key(|&(place, _)| place);
        let mut results = results.into_iter().rev().map(|(_, result)| result);
        let Some(last) = results.next() else {
            return consumer.into_folder().complete();
        };
        let join = |right, left| consumer.to_reducer().reduce(left, right);
        let result = results.fold(last, join);
        // While there is a frame that would drop the result.
        drop(consumer);
        result
    }
}
