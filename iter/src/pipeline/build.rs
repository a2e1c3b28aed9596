//! Putting a pipeline together: one method for each setting and stage.
#![forbid(unsafe_code)]

use super::engine::Source;
use super::outcome::{Fails, Sure};
use super::parallel::{Filter, FilterMap, FlatMap, FoldParts, Inspect, Map, Then, TryMap};
use super::serial::{Enumerate, Serial, ThenSerial, TrySerial};
use super::stages::{Batches, Orders, Outcome, Run, SUITS, Stages};
use super::station::Station;
use std::fmt;
use std::marker::PhantomData;

/// A pipeline over the items of `source`, of which at most `limit` are under way at a time.
///
/// ```
/// use std::sync::mpsc;
///
/// let (send, receive) = mpsc::channel();
/// let producer = std::thread::spawn(move || (0..100).for_each(|n| send.send(n).unwrap()));
/// let squares: Vec<u64> = tine::pipeline(receive, 32).map(|n: u64| n * n).collect();
/// producer.join().unwrap();
/// assert!(squares.into_iter().eq((0..100).map(|n| n * n)));
/// ```
///
/// [The module](mod@crate::pipeline) says which stages there are and which threads run them.
///
/// # Panics
///
/// If `limit` is 0.
#[track_caller]
pub fn pipeline<S>(source: S, limit: usize) -> Pipeline<Source<S::IntoIter>>
where
    S: IntoIterator<Item: Send, IntoIter: Send>,
{
    assert!(limit > 0, "the limit of a pipeline must not be zero");
    Pipeline::new(Source::new(source.into_iter()), limit, Batches::Promised)
}

/// A source and stages, which run when one of the methods that end a pipeline is called.
///
/// See [the module](mod@crate::pipeline).
#[must_use = "nothing happens until the pipeline is run"]
pub struct Pipeline<L, X = Sure> {
    pub(super) stages: L,
    limit: usize,
    batches: Batches,
    ending: PhantomData<fn() -> X>,
}

impl<L: Clone, X> Clone for Pipeline<L, X> {
    fn clone(&self) -> Self {
        Pipeline::new(self.stages.clone(), self.limit, self.batches)
    }
}

impl<L: fmt::Debug, X> fmt::Debug for Pipeline<L, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("stages", &self.stages)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// A pipeline that draws its items one by one; for bridges.
pub(crate) fn single<I: Iterator<Item: Send> + Send>(iter: I, limit: usize) -> Pipeline<Source<I>> {
    Pipeline::new(Source::new(iter), limit, Batches::Single)
}

/// A pipeline over blocks, drawn one by one: at most `limit` of them under way, or as many as suit
/// the pool.
pub(crate) fn over_blocks<I, P, E>(
    blocks: I,
    limit: Option<usize>,
    stage: P,
) -> Pipeline<Then<Source<I>, P>, Fails<E>> {
    let stages = Then::new(Source::new(blocks), stage);
    Pipeline::new(stages, limit.unwrap_or(SUITS), Batches::Single)
}

impl<L, X> Pipeline<L, X> {
    pub(super) fn new(stages: L, limit: usize, batches: Batches) -> Self {
        let ending = PhantomData;
        Pipeline {
            stages,
            limit,
            batches,
            ending,
        }
    }

    pub(super) fn orders(&self) -> Orders<'static> {
        Orders {
            limit: self.limit,
            batches: self.batches,
            stop: None,
        }
    }

    /// Puts one more stage behind the others.
    pub(super) fn with<M, Y>(self, stage: impl FnOnce(L) -> M) -> Pipeline<M, Y> {
        Pipeline::new(stage(self.stages), self.limit, self.batches)
    }

    /// Sets how many items may be under way at a time.
    ///
    /// ```
    /// let sum: u64 = tine::pipeline(0..100_u64, 8).limit(1000).sum();
    /// assert_eq!(sum, 4950);
    /// ```
    ///
    /// # Panics
    ///
    /// If `limit` is 0.
    #[track_caller]
    pub fn limit(mut self, limit: usize) -> Self {
        assert!(limit > 0, "the limit of a pipeline must not be zero");
        self.limit = limit;
        self
    }

    /// Lets items travel in batches, even if the iterator does not say how many it has. Call it
    /// only if no item waits for a later one, and if the source has its items ready, or will have
    /// them soon.
    ///
    /// If the source waits, the thread that draws a batch holds the items back until the batch is
    /// full.
    ///
    /// ```
    /// use std::io::{BufRead, Cursor};
    ///
    /// let lines = Cursor::new("4\n5\n6\n").lines();
    /// let parse = |line: std::io::Result<String>| line.unwrap().parse::<i32>().unwrap();
    /// assert_eq!(tine::pipeline(lines, 1000).batched().map(parse).sum::<i32>(), 15);
    /// ```
    pub fn batched(mut self) -> Self {
        self.batches = Batches::Many;
        self
    }

    /// Lets items travel one by one: an item may then wait for later items within the limit.
    ///
    /// ```
    /// let same: Vec<i32> = tine::pipeline(0..9, 4).one_by_one().collect();
    /// assert!(same.into_iter().eq(0..9));
    /// ```
    pub fn one_by_one(mut self) -> Self {
        self.batches = Batches::Single;
        self
    }

    /// Ends the source as soon as `stopped` returns `true`; items that are under way run to their
    /// end.
    ///
    /// `stopped` is called before each batch is drawn, on any thread.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    ///
    /// let stop = AtomicBool::new(false);
    /// let seen = tine::pipeline(0_u64.., 4)
    ///     .stop_when(|| stop.load(Relaxed))
    ///     .inspect(|&n| { stop.fetch_or(n == 1000, Relaxed); })
    ///     .count();
    /// assert!(seen > 1000);
    /// ```
    pub fn stop_when<H: Fn() -> bool + Send + Sync>(
        self,
        stopped: H,
    ) -> Pipeline<StopWhen<L, H>, X> {
        self.with(|base| StopWhen { base, stopped })
    }
}

/// Stages whose source may be stopped: see [`Pipeline::stop_when`].
#[derive(Clone)]
pub struct StopWhen<L, H> {
    base: L,
    stopped: H,
}

impl<L: fmt::Debug, H> fmt::Debug for StopWhen<L, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopWhen")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl<L: Stages, H> Stages for StopWhen<L, H> {
    type Item = L::Item;
}

impl<L: Run<E>, H: Fn() -> bool + Send + Sync, E> Run<E> for StopWhen<L, H> {
    fn run<S: Station<L::Item, E> + Send>(self, station: S, orders: Orders<'_>) -> Outcome<E> {
        let stop = || orders.stop.is_some_and(|stop| stop()) || (self.stopped)();
        let orders = Orders {
            stop: Some(&stop),
            ..orders
        };
        self.base.run(station, orders)
    }
}

impl<L: Stages, X> Pipeline<L, X> {
    /// A parallel stage: `op` is called for each item, by any thread.
    ///
    /// ```
    /// let lengths: Vec<usize> = tine::pipeline(["a", "fork"], 8).map(str::len).collect();
    /// assert_eq!(lengths, [1, 4]);
    /// ```
    pub fn map<F, U>(self, op: F) -> Pipeline<Then<L, Map<F>>, X>
    where
        F: Fn(L::Item) -> U + Send + Sync,
        U: Send,
    {
        self.with(|base| Then::new(base, Map { op }))
    }

    /// A parallel stage: the items for which `keep` returns `true` go on.
    ///
    /// ```
    /// let even: Vec<i32> = tine::pipeline(0..7, 8).filter(|n| n % 2 == 0).collect();
    /// assert_eq!(even, [0, 2, 4, 6]);
    /// ```
    pub fn filter<F>(self, keep: F) -> Pipeline<Then<L, Filter<F>>, X>
    where
        F: Fn(&L::Item) -> bool + Send + Sync,
    {
        self.with(|base| Then::new(base, Filter { op: keep }))
    }

    /// A parallel stage: if `op` returns `Some` for an item, the value in it goes on.
    ///
    /// ```
    /// let words = ["1", "two", "3"];
    /// let numbers = tine::pipeline(words, 8).filter_map(|word| word.parse::<i32>().ok());
    /// assert_eq!(numbers.collect::<Vec<_>>(), [1, 3]);
    /// ```
    pub fn filter_map<F, U>(self, op: F) -> Pipeline<Then<L, FilterMap<F>>, X>
    where
        F: Fn(L::Item) -> Option<U> + Send + Sync,
        U: Send,
    {
        self.with(|base| Then::new(base, FilterMap { op }))
    }

    /// A parallel stage: everything that `op` makes of an item goes on. One thread makes all of it.
    ///
    /// Whatever comes of one item of the source counts as one item under way.
    ///
    /// ```
    /// let words = tine::pipeline(["a fork", "has tines"], 8).flat_map(|line| line.split(' '));
    /// assert_eq!(words.collect::<Vec<_>>(), ["a", "fork", "has", "tines"]);
    /// ```
    pub fn flat_map<F, U>(self, op: F) -> Pipeline<Then<L, FlatMap<F>>, X>
    where
        F: Fn(L::Item) -> U + Send + Sync,
        U: IntoIterator<Item: Send>,
    {
        self.with(|base| Then::new(base, FlatMap { op }))
    }

    /// A parallel stage: `op` looks at each item.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// let seen = AtomicU32::new(0);
    /// tine::pipeline(0..7, 8).inspect(|_| { seen.fetch_add(1, Relaxed); }).run();
    /// assert_eq!(seen.into_inner(), 7);
    /// ```
    pub fn inspect<F>(self, op: F) -> Pipeline<Then<L, Inspect<F>>, X>
    where
        F: Fn(&L::Item) + Send + Sync,
    {
        self.with(|base| Then::new(base, Inspect { op }))
    }

    /// A parallel stage: folds items that travel together into one, which goes on. It is not known
    /// in advance how many travel together. So the combined results must be the same however the
    /// items were grouped.
    ///
    /// ```
    /// let parts = tine::pipeline(1..=1000_u64, 256).fold_parts(|| 0, |sum, n| sum + n);
    /// assert_eq!(parts.fold(0, |all, part| all + part), 500_500);
    /// ```
    pub fn fold_parts<A, N, F>(self, init: N, op: F) -> Pipeline<Then<L, FoldParts<N, F>>, X>
    where
        N: Fn() -> A + Send + Sync,
        F: Fn(A, L::Item) -> A + Send + Sync,
        A: Send,
    {
        self.with(|base| Then::new(base, FoldParts { init, op }))
    }

    /// A stage that takes one item at a time, in the order of the source. Successive items may be
    /// taken by different threads.
    ///
    /// ```
    /// let mut sum = 0;
    /// let running = tine::pipeline([3, 1, 2], 8).in_order(|n| {
    ///     sum += n;
    ///     sum
    /// });
    /// assert_eq!(running.collect::<Vec<i32>>(), [3, 4, 6]);
    /// ```
    pub fn in_order<F, U>(self, op: F) -> Pipeline<ThenSerial<L, Serial<F>>, X>
    where
        F: FnMut(L::Item) -> U + Send,
        U: Send,
    {
        self.with(|base| ThenSerial::in_order(base, Serial { op }))
    }

    /// A stage that takes one item at a time, in the order in which they come.
    ///
    /// Later stages that run in order still get the items in the order of the source.
    ///
    /// ```
    /// let mut largest = 0;
    /// tine::pipeline([3, 9, 2], 8).any_order(|n| largest = largest.max(n)).run();
    /// assert_eq!(largest, 9);
    /// ```
    pub fn any_order<F, U>(self, op: F) -> Pipeline<ThenSerial<L, Serial<F>>, X>
    where
        F: FnMut(L::Item) -> U + Send,
        U: Send,
    {
        self.with(|base| ThenSerial::any_order(base, Serial { op }))
    }

    /// A stage in order: each item with its position, counted from 0.
    ///
    /// ```
    /// let numbered = tine::pipeline(["a", "b"], 8).enumerate();
    /// assert_eq!(numbered.collect::<Vec<_>>(), [(0, "a"), (1, "b")]);
    /// ```
    pub fn enumerate(self) -> Pipeline<ThenSerial<L, Enumerate>, X> {
        self.with(|base| ThenSerial::in_order(base, Enumerate { next: 0 }))
    }
}

/// The stages that may fail, for pipelines that could not fail before and for those that could.
macro_rules! fallible {
    ([$($generic:ident)?]) => {
        /// A parallel stage that may fail.
        ///
        /// ```
        /// let parse = |word: &str| word.parse::<i32>();
        /// let sum = |words: &'static str| tine::pipeline(words.split(' '), 8).try_map(parse).sum::<i32>();
        /// assert_eq!(sum("1 2 3"), Ok(6));
        /// assert!(sum("1 two 3").is_err());
        /// ```
        pub fn try_map<F, U, $($generic)?>(self, op: F) -> Pipeline<Then<L, TryMap<F>>, Fails<E>>
        where
            F: Fn(L::Item) -> Result<U, E> + Send + Sync,
            U: Send,
        {
            self.with(|base| Then::new(base, TryMap { op }))
        }

        /// A stage that takes one item at a time, in the order of the source, and may fail.
        ///
        /// ```
        /// let mut last = 0;
        /// let sorted = tine::pipeline([1, 5, 3, 9], 8).try_in_order(|n| {
        ///     let before = std::mem::replace(&mut last, n);
        ///     if before <= n { Ok(n) } else { Err((before, n)) }
        /// });
        /// assert_eq!(sorted.collect::<Vec<_>>(), Err((5, 3)));
        /// ```
        pub fn try_in_order<F, U, $($generic)?>(
            self,
            op: F,
        ) -> Pipeline<ThenSerial<L, TrySerial<F>>, Fails<E>>
        where
            F: FnMut(L::Item) -> Result<U, E> + Send,
            U: Send,
        {
            self.with(|base| ThenSerial::in_order(base, TrySerial { op }))
        }

        /// A stage that takes one item at a time, in the order in which they come, and may fail.
        ///
        /// ```
        /// let mut budget = 10_u32;
        /// let spend = |n| {
        ///     budget = budget.checked_sub(n).ok_or("spent")?;
        ///     Ok(())
        /// };
        /// assert_eq!(tine::pipeline([3, 4, 5], 8).try_any_order(spend).run(), Err("spent"));
        /// ```
        pub fn try_any_order<F, U, $($generic)?>(
            self,
            op: F,
        ) -> Pipeline<ThenSerial<L, TrySerial<F>>, Fails<E>>
        where
            F: FnMut(L::Item) -> Result<U, E> + Send,
            U: Send,
        {
            self.with(|base| ThenSerial::any_order(base, TrySerial { op }))
        }

        /// Calls `op` with each item, in order, one call at a time, until it fails.
        ///
        /// ```
        /// let mut seen = Vec::new();
        /// let outcome = tine::pipeline(1.., 8).try_for_each(|n| {
        ///     seen.push(n);
        ///     if n < 5 { Ok(()) } else { Err("enough") }
        /// });
        /// assert_eq!((outcome, seen), (Err("enough"), vec![1, 2, 3, 4, 5]));
        /// ```
        pub fn try_for_each<F, $($generic)?>(self, op: F) -> Result<(), E>
        where
            L: Run<E>,
            F: FnMut(L::Item) -> Result<(), E> + Send,
            E: Send,
        {
            self.try_in_order(op).run()
        }
    };
}

impl<L: Stages> Pipeline<L, Sure> {
    fallible! { [E] }
}

impl<L: Stages, E> Pipeline<L, Fails<E>> {
    fallible! { [] }
}
