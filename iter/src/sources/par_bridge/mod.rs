//! From sequential iterators to parallel ones.
//!
//! The iterator stays in one piece: a thread that needs an item calls `next`, one
//! thread at a time. The threads draw from [`tap`], or from [`batched`] if items do not wait for
//! each other. [`turn`] and [`line`] say how threads wait for the iterator, and [`crew`] which threads take
//! part. The bridge in order is a pipeline.
#![forbid(unsafe_code)]

mod batched;
mod crew;
mod line;
mod tap;
mod turn;

use self::batched::Scoop;
use self::crew::Share;
use self::tap::Tap;
use crate::iter::ParallelIterator;
use crate::pipeline::{self, Map, Pipeline, Source, Then};
use crate::plumbing::{UnindexedConsumer, bridge_unindexed};

/// Turns a sequential iterator into a parallel one.
///
/// This is for iterators that cannot be split: channels, lines of a file, anything that only has
/// `next`. If the source has `par_iter` or `into_par_iter`, these are faster.
///
/// ```
/// use tine::prelude::*;
/// use std::io::{BufRead, Cursor};
///
/// let file = Cursor::new("12\n30\n");
/// let numbers = file.lines().par_bridge().map(|line| line.unwrap().parse::<i32>().unwrap());
/// assert_eq!(numbers.sum::<i32>(), 42);
/// ```
///
/// # Order
///
/// Items go to the threads that ask first, and the results come in no particular order.
/// [`par_bridge_ordered`](Self::par_bridge_ordered) keeps the order, and limits how far the fastest
/// thread runs ahead.
///
/// # Items that wait for one another
///
/// The bridge asks an iterator for its next item only when each item that it has handed out is
/// being worked on. So an item may wait for a later one, as a request waits for its response, as
/// long as there are threads for both. There is one exception. If an iterator promises more items
/// by the lower bound of its `size_hint`, the bridge asks for several items at once, as soon as
/// items have proved quick. A thread that has nothing else to do takes over the items that have not
/// been started. The last items, two for each thread, come one by one. (In a pool of more than 16
/// threads they may be drawn at once too, and are then shared out by halves, as threads ask.) So
/// one item for each thread may wait for all the others. This does not hold for a bridge inside
/// another loop's item: a thread that waits for the rest of that loop may not come. If no item
/// waits for another, say so by [`batched`](IterBridge::batched): that is much faster where items
/// are cheap.
///
/// # Waiting in `next`
///
/// A thread that waits in `next`, or for its turn to call it, holds its seat in the pool meanwhile.
/// While an iterator waits (for a channel, a socket, a slow disk), all threads that take part in
/// its bridge wait with it, and that may be the whole pool. If other work must go on, give the
/// bridge a pool of its own.
///
/// # Panics
///
/// When `next` panics, no more items are drawn and the panic goes on to the caller. When an item's
/// closure panics, other threads first work on the rest of the items.
pub trait ParallelBridge: Sized {
    /// A parallel iterator over the items of this sequential one, in no
    /// particular order.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let (send, receive) = std::sync::mpsc::channel();
    /// for word in ["one", "two", "three"] {
    ///     send.send(word).unwrap();
    /// }
    /// drop(send);
    /// let mut lengths: Vec<usize> = receive.into_iter().par_bridge().map(str::len).collect();
    /// lengths.sort();
    /// assert_eq!(lengths, [3, 3, 5]);
    /// ```
    fn par_bridge(self) -> IterBridge<Self>;

    /// Works on the items in parallel, and hands the results on in order. At most `look_ahead` items
    /// lie between the item that is next in order and the last item that was drawn.
    ///
    /// It is a [`Pipeline`]. The stages up to its end (`map`, `filter`, `flat_map` …) run in
    /// parallel. The end (`for_each`, `collect`, `write_to` …) gets the results in order, one at a
    /// time, on whichever thread has the next result. While the end is slow, no more items are
    /// drawn: memory stays bounded however long the iterator is.
    ///
    /// Items are drawn and handed on one by one. So an item may wait for a later one within those
    /// `look_ahead`, as long as there are threads for both. If no item waits for another, say so by
    /// [`batched`](Pipeline::batched).
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut log = Vec::new();
    /// (1..)
    ///     .take(1000)
    ///     .par_bridge_ordered(64)
    ///     .map(|n: u64| n * n)
    ///     .filter(|square| square % 2 == 1)
    ///     .for_each(|square| log.push(square));
    /// assert!(log.into_iter().eq((1..=1000).step_by(2).map(|n| n * n)));
    /// ```
    ///
    /// # Panics
    ///
    /// If `look_ahead` is 0.
    #[track_caller]
    fn par_bridge_ordered(self, look_ahead: usize) -> OrderedBridge<Self>;
}

/// A sequential iterator whose items are worked on in parallel and in order: see
/// [`par_bridge_ordered`](ParallelBridge::par_bridge_ordered).
///
/// ```
/// use tine::{iter::OrderedBridge, prelude::*};
///
/// let bridge: OrderedBridge<_> = (1..5).par_bridge_ordered(8);
/// assert_eq!(bridge.map(|n| n * n).collect::<Vec<i32>>(), [1, 4, 9, 16]);
/// ```
pub type OrderedBridge<Iter> = Pipeline<Source<Iter>>;

/// Results of a map in parallel, in order: what `map` of an [`OrderedBridge`] returns.
///
/// ```
/// use tine::{iter::OrderedMap, prelude::*};
///
/// let squares: OrderedMap<_, _> = (1..5).par_bridge_ordered(8).map(|n| n * n);
/// assert_eq!(squares.collect::<Vec<i32>>(), [1, 4, 9, 16]);
/// ```
pub type OrderedMap<Iter, F> = Pipeline<Then<Source<Iter>, Map<F>>>;

impl<T: Iterator<Item: Send> + Send> ParallelBridge for T {
    fn par_bridge(self) -> IterBridge<Self> {
        IterBridge { iter: self }
    }

    fn par_bridge_ordered(self, look_ahead: usize) -> OrderedBridge<Self> {
        assert!(
            look_ahead > 0,
            "a look-ahead of 0 items leaves nothing to work on"
        );
        pipeline::single(self, look_ahead)
    }
}

/// A parallel iterator over the items of a sequential one:
/// see [`ParallelBridge::par_bridge`].
///
/// ```
/// use tine::{iter::IterBridge, prelude::*};
///
/// let bridge: IterBridge<_> = (1..5).map(|n| n * n).par_bridge();
/// assert_eq!(bridge.sum::<i32>(), 30);
/// ```
#[derive(Clone, Debug)]
#[must_use = "parallel iterators do nothing until they are consumed"]
pub struct IterBridge<Iter> {
    iter: Iter,
}

impl<Iter: Iterator<Item: Send> + Send> ParallelIterator for IterBridge<Iter> {
    type Item = Iter::Item;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        let source = Tap::new(self.iter);
        let result = bridge_unindexed(Share::all(&source), consumer);
        // Before the return: see `kit::keep`.
        drop(source);
        result
    }
}

impl<Iter: Iterator<Item: Send> + Send> IterBridge<Iter> {
    /// The same items, but a thread draws many of them at once. No item may then wait for a later
    /// one.
    ///
    /// The number adapts, and grows where items take little time. Then a bridge over a cheap
    /// iterator costs little more than the iterator. If an item does wait for a later one, it may
    /// wait for ever: one thread may have drawn both.
    ///
    /// When `next` panics, items drawn together with it are dropped.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let odd = (0..100_000_u64).filter(|n| n % 2 == 1);
    /// assert_eq!(odd.par_bridge().batched().sum::<u64>(), 2_500_000_000);
    /// ```
    pub fn batched(self) -> BatchedBridge<Iter> {
        BatchedBridge { iter: self.iter }
    }
}

/// What [`batched`](IterBridge::batched) returns.
///
/// ```
/// use tine::{iter::BatchedBridge, prelude::*};
///
/// let bridge: BatchedBridge<_> = (1..5).map(|n| n * n).par_bridge().batched();
/// assert_eq!(bridge.sum::<i32>(), 30);
/// ```
#[derive(Clone, Debug)]
#[must_use = "parallel iterators do nothing until they are consumed"]
pub struct BatchedBridge<Iter> {
    iter: Iter,
}

impl<Iter: Iterator<Item: Send> + Send> ParallelIterator for BatchedBridge<Iter> {
    type Item = Iter::Item;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        let source = Scoop::new(self.iter);
        let result = bridge_unindexed(Share::all(&source), consumer);
        // Before the return: see `kit::keep`.
        drop(source);
        result
    }
}
