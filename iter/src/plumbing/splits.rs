//! The bridge for producers that do not know their length: they split themselves.
//!
//! A piece may be split about as often as there are threads. It may be split that often again once
//! it has migrated, since a thread was idle then, or once the piece before it was long, since it is
//! then likely to be long as well. Only the time of items counts, not that of folders: where
//! folders take the time, more pieces would take more of it.
//!
//! What is split off need not be half. Where each split takes a little from the front (a long
//! branch of a tree, a list), one split would nest in the other until no stack is left. So a thread
//! counts the splits that it is inside. At [`DEEP`] of them it opens a line: each thread that comes
//! splits off the next piece, one thread after the other, and runs it. So no piece waits behind a
//! piece that runs, and no piece nests in another.
#![forbid(unsafe_code)]

use super::bridge::Pieces;
use super::fork::{Call, done, enter_part, halves_told, members};
use super::looks::{Looked, check, look};
use super::traits::{Folder, Reducer, UnindexedConsumer, UnindexedProducer};
use std::cell::Cell;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use tine_pool::current_num_threads;
use tine_pool::loops;

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
    enter_part(loops::Call::NONE, &mut call);
    call.result()
}

/// A thread that is inside this number of splits opens a line. Splits into halves come that deep only
/// after 2³² pieces. In a debug build the frames of a split are some ten kilobytes, so those of all
/// fit a stack of half a megabyte.
const DEEP: usize = 32;

/// After each N pieces of a line a thread asks whether the rest is worth splitting. This is N.
const TELLING: usize = 4;

/// While another thread splits, a thread that comes to the line yields this often. Then it leaves.
const YIELDS: usize = 64;

thread_local! {
    /// The number of splits that the thread is in.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Kept while the thread is inside a split.
struct Inside;

impl Inside {
    /// `None` if the thread is already inside [`DEEP`] splits.
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

/// What a part took, in ticks.
#[derive(Clone, Copy, Default)]
struct Spent {
    /// To feed folders with items.
    items: u64,
    /// To make folders, complete them, and join their results: known for long parts only.
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
    let Some(_inside) = Inside::enter() else {
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
            // Relaxed: only what the same thread reads next matters. Another thread has migrated.
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
        // Before there is a result: if a destructor panics later, the result would not be dropped.
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

/// The rest that threads split pieces off from, and the results of these pieces.
///
/// One lock guards whether there is more, and how many threads are in the line; no closure of the
/// program is called under it. If another thread is at a split for long, a thread leaves, since
/// that split may wait for it. Whenever a thread has split a piece off, it calls another thread if
/// more could take part. So threads that left come back, and none waits here.
struct Line<P, C, R> {
    state: Mutex<State<P, C>>,
    /// Each with its place.
    results: Mutex<Vec<(usize, R)>>,
    threads: usize,
}

struct State<P, C> {
    /// None while a thread is at it.
    rest: Option<Rest<P, C>>,
    /// How many threads are in the line, or were called.
    members: usize,
}

/// What was not split off yet.
struct Rest<P, C> {
    /// None once all was.
    producer: Option<P>,
    consumer: C,
    /// The number of pieces before it.
    before: usize,
}

/// A piece, and its place.
type Piece<P, C> = (usize, P, C);

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
        state: Mutex::new(State {
            rest: Some(rest),
            members: 1,
        }),
        results: Mutex::new(Vec::new()),
        threads: current_num_threads(),
    };
    members(&|call| line.work(call));
    line.result()
}

impl<P, C> Line<P, C, C::Result>
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    /// Runs pieces until there are none. If some in a row were short, the rest is one piece.
    fn work(&self, call: &dyn Fn()) {
        let mut all = false;
        loop {
            let mut spent = Spent::default();
            for _ in 0..TELLING {
                check();
                let Some((place, producer, consumer)) = self.split_off(all, call) else {
                    return;
                };
                let (result, took) = whole(true, producer, consumer);
                lock(&self.results).push((place, result));
                spent += took;
            }
            all = !spent.is_worth_cuts();
        }
    }

    /// The next piece, or `all` that is left. Calls another thread if there is one for what is left then.
    fn split_off(&self, all: bool, call: &dyn Fn()) -> Option<Piece<P, C>> {
        let mut rest = self.take()?;
        let mut piece = None;
        if !rest.consumer.full()
            && let Some(mut producer) = rest.producer.take()
        {
            if !all {
                (producer, rest.producer) = producer.split_off_first();
            }
            piece = Some((rest.before, producer, rest.consumer.split_off_left()));
            rest.before += 1;
        }
        let mut state = lock(&self.state);
        let more = piece.is_some() && rest.producer.is_some();
        let wanted = more && state.members < self.threads;
        state.members += usize::from(wanted);
        state.rest = Some(rest);
        drop(state);
        if wanted {
            call();
        }
        piece
    }

    /// The rest, or None if another thread is at it for long: then this thread is no member any
    /// more. (If its split panicked, that thread is at it for ever.)
    fn take(&self) -> Option<Rest<P, C>> {
        for _ in 0..YIELDS {
            if let Some(rest) = lock(&self.state).rest.take() {
                return Some(rest);
            }
            thread::yield_now();
        }
        let mut state = lock(&self.state);
        let rest = state.rest.take();
        state.members -= usize::from(rest.is_none());
        rest
    }

    /// Joins, from the last piece on, what they came to.
    fn result(self) -> C::Result {
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let Rest {
            producer, consumer, ..
        } = done(state.rest);
        // As in `whole`. There are no items left unless the consumer is full.
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
        // While a frame still exists that would drop the result.
        drop(consumer);
        result
    }
}

/// Locks; what panics elsewhere leaves nothing half done under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
