//! A map in parallel whose results come back in order, with bounded look-ahead.
//!
//! ```text
//!   delivered | ready . ready . . | not drawn yet
//!              ^ head              ^ at most `look_ahead` after the head
//! ```
//!
//! A thread first gets a place in the window, or waits for one; then it draws
//! an item and maps it; then it puts the result in its place. The thread that
//! finds the result at the head delivers it and all that are ready after it.
//! Results that come meanwhile are left to that thread. So the head is always
//! being worked on or being delivered, and a thread that waits for a place
//! holds nothing: not the iterator, not a result.

use std::collections::VecDeque;
use std::fmt;
use std::iter::Fuse;
use std::sync::PoisonError;

use super::crew::Crew;
use super::patience::Patience;
use crate::kit::sink::{Nothing, Shared};
use crate::kit::sync::{Condvar, Mutex, MutexGuard};
use crate::plumbing::{Folder, UnindexedProducer, bridge_unindexed};

/// A sequential iterator whose items are to be mapped in parallel and in
/// order: see [`par_bridge_ordered`](super::ParallelBridge::par_bridge_ordered).
///
/// ```
/// use tine::{iter::OrderedBridge, prelude::*};
///
/// let bridge: OrderedBridge<_> = (1..5).par_bridge_ordered(8);
/// assert_eq!(bridge.map(|n| n * n).collect::<Vec<i32>>(), [1, 4, 9, 16]);
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing happens until the results are asked for"]
pub struct OrderedBridge<Iter> {
    iter: Iter,
    look_ahead: usize,
}

impl<Iter> OrderedBridge<Iter> {
    pub(super) fn new(iter: Iter, look_ahead: usize) -> Self {
        assert!(
            look_ahead > 0,
            "a look-ahead of 0 items leaves nothing to work on"
        );
        OrderedBridge { iter, look_ahead }
    }
}

impl<Iter: Iterator<Item: Send> + Send> OrderedBridge<Iter> {
    /// What to do with each item, in parallel.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let words = "some words in order".split(' ');
    /// let lengths: Vec<usize> = words.par_bridge_ordered(8).map(str::len).collect();
    /// assert_eq!(lengths, [4, 5, 2, 5]);
    /// ```
    pub fn map<F, R>(self, map_op: F) -> OrderedMap<Iter, F>
    where
        F: Fn(Iter::Item) -> R + Sync + Send,
        R: Send,
    {
        OrderedMap { base: self, map_op }
    }
}

/// Results of a map in parallel, in order: see [`OrderedBridge::map`].
///
/// ```
/// use tine::{iter::OrderedMap, prelude::*};
///
/// let squares: OrderedMap<_, _> = (1..5).par_bridge_ordered(8).map(|n| n * n);
/// assert_eq!(squares.collect::<Vec<i32>>(), [1, 4, 9, 16]);
/// ```
#[derive(Clone)]
#[must_use = "nothing happens until the results are asked for"]
pub struct OrderedMap<Iter, F> {
    base: OrderedBridge<Iter>,
    map_op: F,
}

impl<Iter: fmt::Debug, F> fmt::Debug for OrderedMap<Iter, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrderedMap")
            .field("base", &self.base)
            .finish()
    }
}

impl<Iter, F, R> OrderedMap<Iter, F>
where
    Iter: Iterator<Item: Send> + Send,
    F: Fn(Iter::Item) -> R + Sync + Send,
    R: Send,
{
    /// Calls `op` with each result, in order, one call at a time.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut text = String::new();
    /// (0..5).par_bridge_ordered(4).map(|n| n.to_string()).for_each(|n| text += &n);
    /// assert_eq!(text, "01234");
    /// ```
    pub fn for_each(self, mut op: impl FnMut(R) + Send) {
        self.deliver(|result| {
            op(result);
            true
        });
    }

    /// Calls `op` with each result, in order, until it fails: then no more
    /// items are drawn, and the error is returned.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let sum = |limit: u64| {
    ///     let mut sum = 0;
    ///     let add = |n| {
    ///         sum += n;
    ///         if sum <= limit { Ok(()) } else { Err(n) }
    ///     };
    ///     (1..100).par_bridge_ordered(4).map(|n| n * n).try_for_each(add)
    /// };
    /// assert_eq!(sum(1000), Err(196));
    /// assert_eq!(sum(1_000_000), Ok(()));
    /// ```
    pub fn try_for_each<E: Send>(
        self,
        mut op: impl FnMut(R) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let mut outcome = Ok(());
        self.deliver(|result| {
            outcome = op(result);
            outcome.is_ok()
        });
        outcome
    }

    /// Folds the results, in order, into one value.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let digits = (1..=4).par_bridge_ordered(4).map(|n| n * 2);
    /// assert_eq!(digits.fold(0, |number, digit| 10 * number + digit), 2468);
    /// ```
    pub fn fold<B: Send>(self, init: B, mut op: impl FnMut(B, R) -> B + Send) -> B {
        let mut value = Some(init);
        self.for_each(|result| value = value.take().map(|value| op(value, result)));
        value.expect("the value is put back after each call that returns")
    }

    /// Collects the results, in order.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let doubled: Vec<i32> = [3, 1, 2].into_iter().par_bridge_ordered(2).map(|n| 2 * n).collect();
    /// assert_eq!(doubled, [6, 2, 4]);
    /// ```
    pub fn collect<C: Default + Extend<R> + Send>(self) -> C {
        let mut collection = C::default();
        self.for_each(|result| collection.extend([result]));
        collection
    }

    /// Calls `sink` with each result in order until it returns `false`.
    fn deliver(self, sink: impl FnMut(R) -> bool + Send) {
        let OrderedBridge { iter, look_ahead } = self.base;
        let line = Line {
            crew: Crew::new(),
            source: Mutex::new((iter.fuse(), 0)),
            window: Mutex::new(Window {
                head: 0,
                ready: VecDeque::new(),
                places: look_ahead,
                delivering: false,
                over: false,
            }),
            place: Condvar::new(),
            map_op: &self.map_op,
            sink: Mutex::new(sink),
        };
        bridge_unindexed(&line, Shared::new(&Nothing));
    }
}

/// Everything that the threads share.
struct Line<'m, Iter: Iterator, F, R, S> {
    crew: Crew,
    /// The iterator, and the index of its next item.
    source: Mutex<(Fuse<Iter>, usize)>,
    window: Mutex<Window<R>>,
    /// Signalled when there is a place in the window, or no need of one.
    place: Condvar,
    map_op: &'m F,
    /// Locked by the thread that delivers, so never contended.
    sink: Mutex<S>,
}

struct Window<R> {
    /// The index of the next result to be delivered.
    head: usize,
    /// The results from `head` on, as far as they are there.
    ready: VecDeque<Option<R>>,
    /// How many more items may be drawn.
    places: usize,
    delivering: bool,
    /// No more items, or no more use for any.
    over: bool,
}

impl<Iter, F, R, S> Line<'_, Iter, F, R, S>
where
    Iter: Iterator<Item: Send> + Send,
    F: Fn(Iter::Item) -> R + Sync,
    R: Send,
    S: FnMut(R) -> bool + Send,
{
    /// Puts a result in its place and delivers what is ready; then waits for a
    /// place for another one. `false` if there is no more need of any.
    fn settle(&self, done: Option<(usize, R)>, patience: &mut Patience) -> bool {
        let Some(mut window) = patience.lock(&self.window) else {
            unreachable!("nothing that could panic runs under the lock of the window");
        };
        if let Some((index, result)) = done {
            window.put(index, result);
            if !window.delivering {
                window = self.deliver_ready(window);
            }
        }
        let full = |window: &mut Window<R>| window.places == 0 && !window.over;
        let mut window = self
            .place
            .wait_while(window, full)
            .unwrap_or_else(PoisonError::into_inner);
        if !window.over {
            window.places -= 1;
        }
        !window.over
    }

    /// Delivers until the result at the head is not ready.
    fn deliver_ready<'w>(
        &'w self,
        mut window: MutexGuard<'w, Window<R>>,
    ) -> MutexGuard<'w, Window<R>> {
        window.delivering = true;
        let mut ready = Vec::new();
        while window.take_ready(&mut ready) {
            drop(window);
            let count = ready.len();
            let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
            let wants_more = ready.drain(..).all(&mut *sink);
            drop(sink);
            window = self.window();
            if !wants_more {
                // Nobody else will deliver: `delivering` stays.
                window.over = true;
                self.place.notify_all();
                return window;
            }
            if window.places == 0 {
                self.place.notify_all();
            }
            window.places += count;
        }
        window.delivering = false;
        window
    }

    fn window(&self) -> MutexGuard<'_, Window<R>> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self, patience: &mut Patience) -> Option<(usize, Iter::Item)> {
        let mut source = patience.lock(&self.source)?;
        let item = source.0.next()?;
        source.1 += 1;
        Some((source.1 - 1, item))
    }

    fn work(&self) {
        let Some(_member) = self.crew.enter() else {
            return;
        };
        // What ends the work of one thread ends the work of all: the iterator is at its
        // end, or a closure panicked.
        let ending = Ending(|| {
            self.window().over = true;
            self.place.notify_all();
        });
        let (mut for_source, mut for_window) = Default::default();
        let mut done = None;
        while self.settle(done, &mut for_window) {
            let Some((index, item)) = self.draw(&mut for_source) else {
                break;
            };
            done = Some((index, (self.map_op)(item)));
        }
        drop(ending);
    }
}

impl<R> Window<R> {
    fn put(&mut self, index: usize, result: R) {
        let at = index - self.head;
        if self.ready.len() <= at {
            self.ready.resize_with(at + 1, || None);
        }
        self.ready[at] = Some(result);
    }

    /// Takes the results at the head that are there, and moves the head.
    fn take_ready(&mut self, ready: &mut Vec<R>) -> bool {
        while let Some(result) = self.ready.front_mut().and_then(Option::take) {
            ready.push(result);
            self.ready.pop_front();
            self.head += 1;
        }
        !ready.is_empty()
    }
}

/// Calls a closure when dropped, by a panic too.
struct Ending<F: Fn()>(F);

impl<F: Fn()> Drop for Ending<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl<Iter, F, R, S> UnindexedProducer for &Line<'_, Iter, F, R, S>
where
    Iter: Iterator<Item: Send> + Send,
    F: Fn(Iter::Item) -> R + Sync,
    R: Send,
    S: FnMut(R) -> bool + Send,
{
    type Item = ();

    fn split(self) -> (Self, Option<Self>) {
        (self, self.crew.wants_more().then_some(self))
    }

    fn fold_with<T: Folder<()>>(self, folder: T) -> T {
        self.work();
        folder
    }
}
