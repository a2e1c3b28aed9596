//! `until`: the items, as long as a token is not stopped.
//!
//! [`Cut`] is the adapter: a consumer that is full once the token is stopped. It checks the token
//! between blocks, and between items where these are slow. [`Until`] is what users see: its methods
//! run the adapter into a sink and say whether anything was left out.

use std::cell::Cell;
use std::cmp::Ordering;
use std::iter::{Product, Sum};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tine_pool::loops::Due;
use tine_pool::{StopToken, Stopped};

use crate::iter::{FromParallelIterator, ParallelIterator};
use crate::plumbing::{Consumer, Folder, UnindexedConsumer};

/// Adds [`until`](Self::until) to parallel iterators.
///
/// ```
/// use tine::{StopToken, prelude::*};
/// let token = StopToken::new();
/// assert_eq!((0..100).into_par_iter().until(&token).sum::<i32>(), Ok(4950));
/// ```
pub trait ParallelUntil: ParallelIterator {
    /// Ends the iterator once `token` is stopped. `until` comes last in a chain: the methods of its
    /// result run the iterator, and return a [`Result`].
    ///
    /// `Ok` says that every item was taken. Otherwise `Err` holds the result of the items that were
    /// taken: with [`collect`](Until::collect) their values, in order. (If the token is stopped
    /// before the first item or while the last items run, these may be all items.) Items that have
    /// begun run to their end. The token is checked between blocks of about three microseconds
    /// (twelve where each thread has a call of its own), estimated from earlier items. Where items
    /// are slow, it is checked between two items. It is never checked within an item.
    ///
    /// ```
    /// use tine::{StopToken, Stopped, prelude::*};
    ///
    /// let token = StopToken::new();
    /// let squares = (0..1000_u64).into_par_iter().map(|n| n * n);
    /// assert_eq!(squares.clone().until(&token).max(), Ok(Some(998_001)));
    ///
    /// let found = squares.until(&token).for_each(|n| {
    ///     if n == 121 {
    ///         token.stop(); // or from another thread
    ///     }
    /// });
    /// assert!(found.is_err() || token.is_stopped());
    /// ```
    fn until(self, token: &StopToken) -> Until<'_, Self> {
        Until { base: self, token }
    }
}

impl<I: ParallelIterator> ParallelUntil for I {}

/// What [`until`](ParallelUntil::until) returns.
///
/// ```
/// use tine::{StopToken, iter::Until, prelude::*};
/// let token = StopToken::new();
/// let until: Until<'_, _> = (0..9).into_par_iter().until(&token);
/// assert_eq!(until.count(), Ok(9));
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Until<'t, I> {
    base: I,
    token: &'t StopToken,
}

/// The items of an iterator until a token is stopped, as [`Until::run`] gives them to its closure.
///
/// ```
/// use tine::{StopToken, iter::Cut, prelude::*};
/// fn sum<I: ParallelIterator<Item = u32>>(items: Cut<'_, I>) -> u32 {
///     items.sum()
/// }
/// assert_eq!((0..5).into_par_iter().until(&StopToken::new()).run(sum), Ok(10));
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Debug)]
pub struct Cut<'u, I> {
    base: I,
    watch: &'u Watch<'u>,
}

/// A token, and whether it has cut anything off.
#[derive(Debug)]
struct Watch<'t> {
    token: &'t StopToken,
    cut: AtomicBool,
}

impl Watch<'_> {
    #[inline]
    fn is_over(&self) -> bool {
        let over = self.token.is_stopped();
        if over {
            self.note();
        }
        over
    }

    /// The same without a look at a clock.
    #[inline]
    fn is_told(&self) -> bool {
        let told = self.token.is_told();
        if told {
            self.note();
        }
        told
    }

    /// The same for frequent calls: a clock is read only when that is due.
    #[inline]
    fn is_over_by(&self, due: &Cell<Due>) -> bool {
        match self.token.needs_a_clock() {
            true => self.is_late(due),
            false => self.is_over(),
        }
    }

    #[inline(never)]
    fn is_late(&self, due: &Cell<Due>) -> bool {
        let mut at = due.get();
        let is_due = at.tick();
        due.set(at);
        is_due && self.is_over()
    }

    #[cold]
    fn note(&self) {
        // Relaxed: it is read when all threads have come back.
        self.cut.store(true, Relaxed);
    }
}

impl<I: ParallelIterator> Until<'_, I> {
    /// Calls `op` with the items as an iterator, for whatever else can be done with them.
    ///
    /// What `op` returns is in the `Err` if the token may have kept items out: see
    /// [`until`](ParallelUntil::until).
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// let token = StopToken::new();
    /// let longest = ["a", "fork", "has", "tines"].par_iter().until(&token);
    /// let longest = longest.run(|words| words.max_by_key(|word| word.len()).copied());
    /// assert_eq!(longest, Ok(Some("tines")));
    /// ```
    pub fn run<R>(self, op: impl FnOnce(Cut<'_, I>) -> R) -> Result<R, Stopped<R>> {
        let watch = Watch {
            token: self.token,
            cut: AtomicBool::new(self.token.is_stopped()),
        };
        let result = op(Cut {
            base: self.base,
            watch: &watch,
        });
        match watch.cut.into_inner() {
            false => Ok(result),
            true => Err(Stopped { so_far: result }),
        }
    }

    /// Calls `op` with each item.
    ///
    /// ```
    /// use tine::{StopToken, Stopped, prelude::*};
    /// let token = StopToken::new();
    /// token.stop();
    /// let none = (0..100).into_par_iter().until(&token).for_each(|_| unreachable!());
    /// assert_eq!(none, Err(Stopped::default()));
    /// ```
    pub fn for_each<F: Fn(I::Item) + Sync + Send>(self, op: F) -> Result<(), Stopped> {
        self.run(|items| items.for_each(op))
    }

    /// Collects the items, in order. An `Err` holds the items that were reached.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// let all: Vec<i32> = (0..4).into_par_iter().until(&StopToken::new()).collect().unwrap();
    /// assert_eq!(all, [0, 1, 2, 3]);
    /// ```
    pub fn collect<C: FromParallelIterator<I::Item>>(self) -> Result<C, Stopped<C>> {
        self.run(|items| items.collect())
    }

    /// The number of items.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// assert_eq!("a b c".par_split(' ').until(&StopToken::new()).count(), Ok(3));
    /// ```
    pub fn count(self) -> Result<usize, Stopped<usize>> {
        self.run(|items| items.count())
    }

    /// The sum of the items.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// assert_eq!([1, 2, 3].par_iter().until(&StopToken::new()).sum::<i32>(), Ok(6));
    /// ```
    pub fn sum<S: Send + Sum<I::Item> + Sum<S>>(self) -> Result<S, Stopped<S>> {
        self.run(|items| items.sum())
    }

    /// The product of the items.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// assert_eq!([1, 2, 3].par_iter().until(&StopToken::new()).product::<i32>(), Ok(6));
    /// ```
    pub fn product<P: Send + Product<I::Item> + Product<P>>(self) -> Result<P, Stopped<P>> {
        self.run(|items| items.product())
    }

    /// Joins the items by `op`, beginning with `identity()` wherever a piece begins.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// let max = [3, 9, 4].into_par_iter().until(&StopToken::new()).reduce(|| 0, i32::max);
    /// assert_eq!(max, Ok(9));
    /// ```
    pub fn reduce<OP, ID>(self, identity: ID, op: OP) -> Result<I::Item, Stopped<I::Item>>
    where
        OP: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
        ID: Fn() -> I::Item + Sync + Send,
    {
        self.run(|items| items.reduce(identity, op))
    }

    /// Joins the items by `op`; `None` if there are none.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// let sum = [3, 9, 4].into_par_iter().until(&StopToken::new()).reduce_with(|a, b| a + b);
    /// assert_eq!(sum, Ok(Some(16)));
    /// ```
    pub fn reduce_with<OP>(self, op: OP) -> Result<Option<I::Item>, Stopped<Option<I::Item>>>
    where
        OP: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
    {
        self.run(|items| items.reduce_with(op))
    }

    /// The least item.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// assert_eq!([3, 1, 2].into_par_iter().until(&StopToken::new()).min(), Ok(Some(1)));
    /// ```
    pub fn min(self) -> Result<Option<I::Item>, Stopped<Option<I::Item>>>
    where
        I::Item: Ord,
    {
        self.min_by(Ord::cmp)
    }

    /// The least item by `compare`.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// let least = [0.3, 0.1].into_par_iter().until(&StopToken::new()).min_by(f64::total_cmp);
    /// assert_eq!(least, Ok(Some(0.1)));
    /// ```
    pub fn min_by<F>(self, compare: F) -> Result<Option<I::Item>, Stopped<Option<I::Item>>>
    where
        F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send,
    {
        self.run(|items| items.min_by(compare))
    }

    /// The greatest item.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// assert_eq!([3, 1, 2].into_par_iter().until(&StopToken::new()).max(), Ok(Some(3)));
    /// ```
    pub fn max(self) -> Result<Option<I::Item>, Stopped<Option<I::Item>>>
    where
        I::Item: Ord,
    {
        self.max_by(Ord::cmp)
    }

    /// The greatest item by `compare`.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// let greatest = [0.3, 0.1].into_par_iter().until(&StopToken::new()).max_by(f64::total_cmp);
    /// assert_eq!(greatest, Ok(Some(0.3)));
    /// ```
    pub fn max_by<F>(self, compare: F) -> Result<Option<I::Item>, Stopped<Option<I::Item>>>
    where
        F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send,
    {
        self.run(|items| items.max_by(compare))
    }

    /// Some item that satisfies `predicate`. An item that was found is `Ok`, even if the token was
    /// stopped.
    ///
    /// ```
    /// use tine::{StopToken, prelude::*};
    /// let even = [3, 1, 2].into_par_iter().until(&StopToken::new()).find_any(|n| n % 2 == 0);
    /// assert_eq!(even, Ok(Some(2)));
    /// ```
    pub fn find_any<P>(self, predicate: P) -> Result<Option<I::Item>, Stopped>
    where
        P: Fn(&I::Item) -> bool + Sync + Send,
    {
        match self.run(|items| items.find_any(predicate)) {
            Ok(found)
            | Err(Stopped {
                so_far: found @ Some(_),
            }) => Ok(found),
            Err(Stopped { so_far: None }) => Err(Stopped::default()),
        }
    }
}

impl<I: ParallelIterator> ParallelIterator for Cut<'_, I> {
    type Item = I::Item;

    const KEEPS_ALL: bool = I::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let watch = self.watch;
        self.base.drive_unindexed(CutConsumer {
            watch,
            base: consumer,
        })
    }
}

struct CutConsumer<'u, C> {
    watch: &'u Watch<'u>,
    base: C,
}

impl<'u, T, C: Consumer<T>> Consumer<T> for CutConsumer<'u, C> {
    type Folder = CutFolder<'u, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = C::ADVANCES;
    const RESUMES: bool = C::RESUMES;
    // Being stopped can make it full at any time, so it is not steady; but that is no reason to expect it.
    const ENDS: bool = C::ENDS;

    fn worth(&self) -> u64 {
        self.base.worth()
    }

    fn expect(&mut self, items: usize) {
        self.base.expect(items);
    }

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        let with = |base| CutConsumer {
            watch: self.watch,
            base,
        };
        (with(left), with(right), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        CutFolder {
            watch: self.watch,
            base: self.base.into_folder(),
            due: Cell::new(Due::now()),
        }
    }

    #[inline]
    fn full(&self) -> bool {
        self.watch.is_told() || self.base.full()
    }

    fn resume(self, so_far: C::Result) -> Self {
        let base = self.base.resume(so_far);
        CutConsumer { base, ..self }
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let watch = self.watch;
        let (folder, due) = folder.map(|folder| (folder.base, folder.due)).unzip();
        let (base, rest) = self.base.advance(index, folder);
        let due = due.unwrap_or_else(|| Cell::new(Due::now()));
        let rest = CutConsumer { watch, base: rest };
        (CutFolder { watch, base, due }, rest)
    }
}

impl<T, C: UnindexedConsumer<T>> UnindexedConsumer<T> for CutConsumer<'_, C> {
    fn split_off_left(&self) -> Self {
        CutConsumer {
            watch: self.watch,
            base: self.base.split_off_left(),
        }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

struct CutFolder<'u, F> {
    watch: &'u Watch<'u>,
    base: F,
    /// When the clock is to be read, if there is a deadline.
    due: Cell<Due>,
}

/// If a block has no more items than this, the items are slow enough for a check at each.
const SLOW: usize = 16;

impl<F> CutFolder<'_, F> {
    // A separate function, so that the path of fast items is short enough to be inlined.
    #[inline(never)]
    fn one_by_one<T>(self, items: impl Iterator<Item = T>) -> Self
    where
        F: Folder<T>,
    {
        self.consume_iter(items)
    }
}

impl<T, F: Folder<T>> Folder<T> for CutFolder<'_, F> {
    type Result = F::Result;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.base = self.base.consume(item);
        self
    }

    #[inline]
    fn consume_block<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let items = items.into_iter();
        if items.size_hint().1.is_none_or(|most| most <= SLOW) {
            return self.one_by_one(items);
        }
        self.base = self.base.consume_block(items);
        self
    }

    fn complete(self) -> F::Result {
        self.base.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.watch.is_over_by(&self.due) || self.base.full()
    }
}
