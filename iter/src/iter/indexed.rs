//! `IndexedParallelIterator`: what can be done once every item has an index.

use std::cmp::Ordering;

use super::{
    Chunks, Deterministic, Enumerate, ExponentialBlocks, FoldChunks, FoldChunksWith, Interleave,
    InterleaveShortest, IntoParallelIterator, MaxLen, MinLen, ParallelIterator, Positions, Rev,
    Skip, StepBy, Take, UniformBlocks, Zip, ZipEq,
};
use crate::order::TotalOrder;
use crate::plumbing::{Consumer, ProducerCallback};
use crate::sinks;

/// A parallel iterator that knows its length, and an index for each item.
///
/// All results keep the order of the indices: `collect` puts each item where a sequential loop
/// would put it.
///
/// ```
/// use tine::prelude::*;
/// let numbered = ["a", "b", "c"].par_iter().enumerate().rev();
/// assert_eq!(numbered.len(), 3);
/// assert_eq!(numbered.collect::<Vec<_>>(), [(2, &"c"), (1, &"b"), (0, &"a")]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not know the position of its items, which this method needs",
    label = "this is no `IndexedParallelIterator`",
    note = "`filter`, `flat_map`, text and hash maps lose count: number the items before them, or `collect` into a `Vec` first"
)]
#[allow(clippy::len_without_is_empty)]
pub trait IndexedParallelIterator: ParallelIterator {
    /// Runs the iterator into `consumer`, which is cut at known indices.
    ///
    /// This is plumbing, for authors of adapters; see [`plumbing`](crate::iter::plumbing).
    ///
    /// An iterator that knows its producer leaves this to
    /// [`bridge`](crate::iter::plumbing::bridge):
    ///
    /// ```
    /// use tine::iter::plumbing::{Consumer, ProducerCallback, UnindexedConsumer, bridge};
    /// use tine::prelude::*;
    ///
    /// /// The items of a slice that only lends them.
    /// struct Shelf<'a>(&'a [i32]);
    ///
    /// impl<'a> ParallelIterator for Shelf<'a> {
    ///     type Item = &'a i32;
    ///     fn drive_unindexed<C: UnindexedConsumer<&'a i32>>(self, consumer: C) -> C::Result {
    ///         bridge(self, consumer)
    ///     }
    ///     fn opt_len(&self) -> Option<usize> {
    ///         Some(self.len())
    ///     }
    /// }
    ///
    /// impl<'a> IndexedParallelIterator for Shelf<'a> {
    ///     fn drive<C: Consumer<&'a i32>>(self, consumer: C) -> C::Result {
    ///         bridge(self, consumer)
    ///     }
    ///     fn len(&self) -> usize {
    ///         self.0.len()
    ///     }
    ///     fn with_producer<CB: ProducerCallback<&'a i32>>(self, callback: CB) -> CB::Output {
    ///         self.0.par_iter().with_producer(callback)
    ///     }
    /// }
    ///
    /// assert_eq!(Shelf(&[1, 5, 2]).enumerate().max_by_key(|&(_, n)| n), Some((1, &5)));
    /// ```
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<Self::Item>;

    /// The exact number of items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..10).into_par_iter().chunks(4).len(), 3);
    /// ```
    fn len(&self) -> usize;

    /// Turns the iterator into a producer, which may borrow from this call's frame, and passes the
    /// producer to `callback`.
    ///
    /// This is plumbing, for authors of adapters; see [`plumbing`](crate::iter::plumbing).
    ///
    /// ```
    /// use tine::iter::plumbing::{Producer, ProducerCallback};
    /// use tine::prelude::*;
    ///
    /// /// The first item, found by splitting it off.
    /// struct First;
    ///
    /// impl<T> ProducerCallback<T> for First {
    ///     type Output = Option<T>;
    ///     fn callback<P: Producer<Item = T>>(self, producer: P) -> Option<T> {
    ///         producer.split_at(1).0.into_iter().next()
    ///     }
    /// }
    ///
    /// assert_eq!((7..9).into_par_iter().map(|n| n * n).with_producer(First), Some(49));
    /// ```
    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<Self::Item>;

    /// Runs blocks of items one after another, each in parallel. The first has a few items, and
    /// each next block twice as many.
    ///
    /// So a search for an item near the front looks at fewer items beyond it. The result is no
    /// longer indexed.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let square = (0..10_000).into_par_iter()
    ///     .by_exponential_blocks()
    ///     .find_first(|n| n * n > 300);
    /// assert_eq!(square, Some(18));
    /// ```
    fn by_exponential_blocks(self) -> ExponentialBlocks<Self> {
        ExponentialBlocks::new(self)
    }

    /// Runs blocks of `block_size` items one after another, each in parallel.
    ///
    /// The result is no longer indexed.
    ///
    /// # Panics
    /// If `block_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let sum: u32 = (0..100u32).into_par_iter().by_uniform_blocks(10).sum();
    /// assert_eq!(sum, 4950);
    /// ```
    #[track_caller]
    fn by_uniform_blocks(self, block_size: usize) -> UniformBlocks<Self> {
        UniformBlocks::new(self, block_size)
    }

    /// Makes results the same in every run: items are cut and joined along a tree that depends only
    /// on the number of items.
    ///
    /// Adding floats in another order rounds them differently. So `sum` may give a slightly
    /// different result each time, and so may any operation that is not quite associative. After
    /// `deterministic`, the results of `sum`, `product`, `reduce`, `fold` with `reduce` and the
    /// like are the same to the last bit, on any number of threads and in every run.
    ///
    /// There are at least 64 pieces if there are that many items, and no piece has more than 1024
    /// items; [`with_min_len`] and [`with_max_len`] before this call change that. The result can no
    /// longer be indexed, so call `enumerate`, `zip` and the like first. The promise does not hold
    /// for parallel iterators inside items (`flat_map`).
    ///
    /// [`with_min_len`]: Self::with_min_len
    /// [`with_max_len`]: Self::with_max_len
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let parts: Vec<f64> = (1..100_000).map(|n| 1.0 / f64::from(n)).collect();
    /// let sum = || parts.par_iter().deterministic().sum::<f64>();
    /// assert_eq!(sum().to_bits(), sum().to_bits());
    /// ```
    fn deterministic(self) -> Deterministic<Self> {
        Deterministic::new(self)
    }

    /// Replaces the content of `target` by the items, and reuses its memory.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let mut squares = vec![1, 2, 3];
    /// (0..5).into_par_iter().map(|n| n * n).collect_into_vec(&mut squares);
    /// assert_eq!(squares, [0, 1, 4, 9, 16]);
    /// ```
    fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
        sinks::collect::collect_into_vec(self, target)
    }

    /// Replaces the content of two vectors by the halves of pairs, and reuses their memory.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let (mut n, mut squares) = (Vec::new(), Vec::new());
    /// (0..3).into_par_iter().map(|n| (n, n * n)).unzip_into_vecs(&mut n, &mut squares);
    /// assert_eq!((n, squares), (vec![0, 1, 2], vec![0, 1, 4]));
    /// ```
    fn unzip_into_vecs<A, B>(self, left: &mut Vec<A>, right: &mut Vec<B>)
    where
        Self: IndexedParallelIterator<Item = (A, B)>,
        A: Send,
        B: Send,
    {
        sinks::collect::unzip_into_vecs(self, left, right)
    }

    /// Pairs of the items at the same index, until either side runs out.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let dot: u32 = (1..4u32).into_par_iter().zip(4..9u32).map(|(a, b)| a * b).sum();
    /// assert_eq!(dot, 32);
    /// ```
    fn zip<Z>(self, zip_op: Z) -> Zip<Self, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        Zip::new(self, zip_op.into_par_iter())
    }

    /// Pairs of the items at the same index of two iterators of equal length.
    ///
    /// # Panics
    /// If the lengths differ.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let pairs: Vec<_> = (0..2).into_par_iter().zip_eq(["a", "b"]).collect();
    /// assert_eq!(pairs, [(0, "a"), (1, "b")]);
    /// ```
    #[track_caller]
    fn zip_eq<Z>(self, zip_op: Z) -> ZipEq<Self, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        ZipEq::new(self, zip_op.into_par_iter())
    }

    /// Items of this iterator and the other in turn. When one runs out, the rest of the other
    /// follows.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let turns: Vec<_> = (0..4).into_par_iter().interleave([10, 11]).collect();
    /// assert_eq!(turns, [0, 10, 1, 11, 2, 3]);
    /// ```
    fn interleave<I>(self, other: I) -> Interleave<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
    {
        Interleave::new(self, other.into_par_iter())
    }

    /// Items of this iterator and the other in turn, until the iterator whose turn it is has none.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let turns: Vec<_> = (0..4).into_par_iter().interleave_shortest([10, 11]).collect();
    /// assert_eq!(turns, [0, 10, 1, 11, 2]);
    /// ```
    fn interleave_shortest<I>(self, other: I) -> InterleaveShortest<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
    {
        InterleaveShortest::new(self, other.into_par_iter())
    }

    /// Vectors of `chunk_size` consecutive items; the last may be shorter.
    ///
    /// # Panics
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let chunks: Vec<_> = (0..5).into_par_iter().chunks(2).collect();
    /// assert_eq!(chunks, [vec![0, 1], vec![2, 3], vec![4]]);
    /// ```
    #[track_caller]
    fn chunks(self, chunk_size: usize) -> Chunks<Self> {
        Chunks::new(self, chunk_size)
    }

    /// Folds each `chunk_size` consecutive items, from a value that `identity` makes. The last
    /// chunk may be shorter.
    ///
    /// Unlike the pieces of [`fold`](ParallelIterator::fold), the chunks are the same in every run.
    ///
    /// # Panics
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let sums: Vec<u32> = (0..5).into_par_iter().fold_chunks(2, || 0, |a, b| a + b).collect();
    /// assert_eq!(sums, [1, 5, 4]);
    /// ```
    #[track_caller]
    fn fold_chunks<T, ID, F>(
        self,
        chunk_size: usize,
        identity: ID,
        fold_op: F,
    ) -> FoldChunks<Self, ID, F>
    where
        ID: Fn() -> T + Send + Sync,
        F: Fn(T, Self::Item) -> T + Send + Sync,
        T: Send,
    {
        FoldChunks::new(self, chunk_size, identity, fold_op)
    }

    /// Folds each `chunk_size` consecutive items, from a clone of `init`. The last chunk may be
    /// shorter.
    ///
    /// # Panics
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let sums: Vec<_> = (0..5).into_par_iter().fold_chunks_with(2, 10, |a, b| a + b).collect();
    /// assert_eq!(sums, [11, 15, 14]);
    /// ```
    #[track_caller]
    fn fold_chunks_with<T, F>(
        self,
        chunk_size: usize,
        init: T,
        fold_op: F,
    ) -> FoldChunksWith<Self, T, F>
    where
        T: Send + Clone,
        F: Fn(T, Self::Item) -> T + Send + Sync,
    {
        FoldChunksWith::new(self, chunk_size, init, fold_op)
    }

    /// Compares with another iterator as words are compared in a dictionary.
    ///
    /// ```
    /// use std::cmp::Ordering;
    /// use tine::prelude::*;
    /// assert_eq!((1..4).into_par_iter().cmp([1, 2]), Ordering::Greater);
    /// ```
    fn cmp<I>(self, other: I) -> Ordering
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
        Self::Item: TotalOrder,
    {
        let other = other.into_par_iter();
        let by_len = self.len().cmp(&other.len());
        self.zip(other)
            .map(|(a, b)| a.cmp(&b))
            .find_first(|&order| order != Ordering::Equal)
            .unwrap_or(by_len)
    }

    /// Compares as [`cmp`](Self::cmp) does; `None` if the first two items that
    /// are not equal cannot be compared.
    ///
    /// ```
    /// use std::cmp::Ordering;
    /// use tine::prelude::*;
    /// let order = [1.0, 2.0].into_par_iter().partial_cmp([1.0, f64::NAN]);
    /// assert_eq!(order, None);
    /// ```
    fn partial_cmp<I>(self, other: I) -> Option<Ordering>
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        let other = other.into_par_iter();
        let by_len = self.len().cmp(&other.len());
        self.zip(other)
            .map(|(a, b)| a.partial_cmp(&b))
            .find_first(|&order| order != Some(Ordering::Equal))
            .unwrap_or(Some(by_len))
    }

    /// Whether both iterators have the same length and equal items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert!((1..4).into_par_iter().eq([1, 2, 3]));
    /// ```
    fn eq<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<I::Item>,
    {
        let other = other.into_par_iter();
        self.len() == other.len() && self.zip(other).all(|(a, b)| a == b)
    }

    /// Whether the iterators are not [`eq`](Self::eq).
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert!((1..4).into_par_iter().ne([1, 2]));
    /// ```
    fn ne<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<I::Item>,
    {
        !self.eq(other)
    }

    /// Whether this iterator comes before the other by [`partial_cmp`](Self::partial_cmp).
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert!([1, 2].into_par_iter().lt([1, 3]));
    /// ```
    fn lt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        self.partial_cmp(other) == Some(Ordering::Less)
    }

    /// Whether this iterator comes before the other or equals it, by
    /// [`partial_cmp`](Self::partial_cmp).
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert!([1, 2].into_par_iter().le([1, 2]));
    /// ```
    fn le<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        self.partial_cmp(other).is_some_and(Ordering::is_le)
    }

    /// Whether this iterator comes after the other by [`partial_cmp`](Self::partial_cmp).
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert!([1, 2, 0].into_par_iter().gt([1, 2]));
    /// ```
    fn gt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        self.partial_cmp(other) == Some(Ordering::Greater)
    }

    /// Whether this iterator comes after the other or equals it, by
    /// [`partial_cmp`](Self::partial_cmp).
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert!([1, 2].into_par_iter().ge([1, 2]));
    /// ```
    fn ge<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        self.partial_cmp(other).is_some_and(Ordering::is_ge)
    }

    /// Pairs `(index, item)`.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let pairs: Vec<_> = ["a", "b"].into_par_iter().enumerate().collect();
    /// assert_eq!(pairs, [(0, "a"), (1, "b")]);
    /// ```
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// The first item, and every `step`th item after it.
    ///
    /// The items between are made and dropped, unless the program cannot notice: see
    /// [`skip`](Self::skip).
    ///
    /// # Panics
    /// If `step` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let tens: Vec<_> = (0..35).into_par_iter().step_by(10).collect();
    /// assert_eq!(tens, [0, 10, 20, 30]);
    /// ```
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self> {
        StepBy::new(self, step)
    }

    /// All but the first `n` items.
    ///
    /// The first `n` are made and dropped, unless the program cannot notice: as in slices, ranges,
    /// and `copied`, `rev`, `zip` or `enumerate` of these.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let rest: Vec<_> = (0..5).into_par_iter().skip(3).collect();
    /// assert_eq!(rest, [3, 4]);
    /// ```
    fn skip(self, n: usize) -> Skip<Self> {
        Skip::new(self, n)
    }

    /// The first `n` items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let first: Vec<_> = (0..5).into_par_iter().take(3).collect();
    /// assert_eq!(first, [0, 1, 2]);
    /// ```
    fn take(self, n: usize) -> Take<Self> {
        Take::new(self, n)
    }

    /// The index of some item that satisfies the predicate. All threads stop as soon as a thread
    /// finds such an item.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let place = [1, 3, 4, 6].par_iter().position_any(|n| n % 2 == 0);
    /// assert!(place == Some(2) || place == Some(3));
    /// ```
    fn position_any<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let place = |(index, item)| predicate(item).then_some(index);
        self.enumerate().find_map_any(place)
    }

    /// The index of the first item that satisfies the predicate.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let place = [1, 3, 4, 6].par_iter().position_first(|n| n % 2 == 0);
    /// assert_eq!(place, Some(2));
    /// ```
    fn position_first<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let place = |(index, item)| predicate(item).then_some(index);
        self.enumerate().find_map_first(place)
    }

    /// The index of the last item that satisfies the predicate. Each piece is walked from its front.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let place = [1, 3, 4, 6].par_iter().position_last(|n| n % 2 == 0);
    /// assert_eq!(place, Some(3));
    /// ```
    fn position_last<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let place = |(index, item)| predicate(item).then_some(index);
        self.enumerate().find_map_last(place)
    }

    /// The indices of all items that satisfy the predicate.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let places: Vec<_> = [1, 3, 4, 6].par_iter().positions(|n| n % 2 == 0).collect();
    /// assert_eq!(places, [2, 3]);
    /// ```
    fn positions<P>(self, predicate: P) -> Positions<Self, P>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        Positions::new(self, predicate)
    }

    /// The items in reverse order.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let down: Vec<_> = (0..3).into_par_iter().rev().collect();
    /// assert_eq!(down, [2, 1, 0]);
    /// ```
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    /// Sets the least number of items in a piece: no piece has fewer than `min`, unless there are
    /// fewer in all.
    ///
    /// Use it if items are so cheap that sharing fewer would not pay. It is rarely needed, since
    /// blocks grow until they take long enough.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let sum: u32 = (0..1000u32).into_par_iter().with_min_len(100).sum();
    /// assert_eq!(sum, 499_500);
    /// ```
    fn with_min_len(self, min: usize) -> MinLen<Self> {
        MinLen::new(self, min)
    }

    /// Sets the greatest number of items in a piece.
    ///
    /// The pieces are cut in advance, and each is offered to other threads. A panic in one piece
    /// does not keep the others from running.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let longest = (0..1000).into_par_iter()
    ///     .with_max_len(10)
    ///     .fold(|| 0, |items, _| items + 1)
    ///     .max();
    /// assert!(longest <= Some(10));
    /// ```
    fn with_max_len(self, max: usize) -> MaxLen<Self> {
        MaxLen::new(self, max)
    }
}
