//! `scan_inclusive`, `scan_exclusive` and `prefix_sum`: running values.

use std::fmt;
use std::iter::{Sum, once};
use std::marker::PhantomData;

use super::op::Operation;
use super::run::{Cut, block_size, is_exact};
use super::sweep::sweep;
use super::walk::walk;
use crate::convert::IntoParallelIterator;
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::kit::each::{Each, each};
use crate::kit::reshape::{Reshape, reshape, reshaped};
use crate::plumbing::{Again, Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use crate::sinks::collect::in_place::write_in_place;

/// What [`scan_inclusive`](super::ParallelScan::scan_inclusive) and its variants return.
///
/// ```
/// use tine::prelude::*;
///
/// let mut total = 0;
/// let starts = [3, 1, 4].par_iter().copied().scan_exclusive(|| 0, |a, b| a + b);
/// assert_eq!(starts.total(&mut total).collect::<Vec<_>>(), [0, 3, 4]);
/// assert_eq!(total, 8);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct Scan<I, O, const EXCLUSIVE: bool, S = ()> {
    base: I,
    op: O,
    /// The size of a block, zero for one that suits the number of items.
    size: usize,
    /// Whether the user has said that the operation is exact.
    exact: bool,
    total: S,
}

impl<I, O, const EXCLUSIVE: bool> Scan<I, O, EXCLUSIVE> {
    pub(super) fn new(base: I, op: O) -> Self {
        Scan {
            base,
            op,
            size: 0,
            exact: false,
            total: (),
        }
    }
}

impl<I: ParallelIterator, O, const EXCLUSIVE: bool> Scan<I, O, EXCLUSIVE> {
    /// Puts the result of all items into `total`.
    ///
    /// The total is there when the call that consumes the iterator returns. If that call stops
    /// before it has seen all values, as a search does, `total` may keep its old value.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let lengths = [5_usize, 0, 2];
    /// let mut all = 0;
    /// let ends: Vec<usize> = lengths.par_iter().prefix_sum().total(&mut all).collect();
    /// assert_eq!((ends, all), (vec![5, 5, 7], 7));
    /// ```
    pub fn total(self, total: &mut I::Item) -> Scan<I, O, EXCLUSIVE, &mut I::Item> {
        let Scan {
            base,
            op,
            size,
            exact,
            ..
        } = self;
        Scan {
            base,
            op,
            size,
            exact,
            total,
        }
    }
}

impl<I, O, const EXCLUSIVE: bool, S> Scan<I, O, EXCLUSIVE, S> {
    /// Cuts the items into blocks of `size`. The default suits a cheap operation.
    ///
    /// One thread applies the operation to a whole block. So a small `size` helps where the
    /// operation is so expensive that a few dozen items are worth sharing. With floats, the last
    /// bits of results depend on the size.
    ///
    /// # Panics
    ///
    /// If `size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let powers = [3_u64; 20].into_par_iter().scan_inclusive(|| 1, |a, b| a * b % 1009);
    /// assert_eq!(powers.blocks_of(4).collect::<Vec<_>>()[..4], [3, 9, 27, 81]);
    /// ```
    #[track_caller]
    pub fn blocks_of(self, size: usize) -> Self {
        assert!(size != 0, "a scan was asked for blocks of zero items");
        Scan { size, ..self }
    }

    /// Says that the operation is associative to the last bit: its results do not depend on how the
    /// items are bracketed.
    ///
    /// If no other thread helps, the operation is then called once for an item, as in a loop, and
    /// not twice. For integers and `String` the scan knows it. For other types, such as matrices or
    /// tables of numbers, call `exact` if the operation is expensive. If you call it for an
    /// operation that rounds, the last bits depend on which threads helped.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let steps = [[1, 2, 0], [2, 1, 0], [0, 0, 1_usize]];
    /// let after = |a: [usize; 3], b: [usize; 3]| a.map(|at| b[at]);
    /// let all = steps.into_par_iter().scan_inclusive(|| [0, 1, 2], after).exact();
    /// assert_eq!(all.collect::<Vec<_>>(), [[1, 2, 0], [1, 0, 2], [0, 0, 1]]);
    /// ```
    pub fn exact(self) -> Self {
        let exact = true;
        Scan { exact, ..self }
    }
}

impl<I: fmt::Debug, O: fmt::Debug, const EXCLUSIVE: bool, S> fmt::Debug
    for Scan<I, O, EXCLUSIVE, S>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("base", &self.base)
            .field("op", &self.op)
            .finish_non_exhaustive()
    }
}

/// Where the total goes, if it is wanted.
pub trait Total<T>: Send {
    /// The place.
    fn place(&mut self) -> Option<&mut T>;
}

impl<T> Total<T> for () {
    fn place(&mut self) -> Option<&mut T> {
        None
    }
}

impl<T: Send> Total<T> for &mut T {
    fn place(&mut self) -> Option<&mut T> {
        Some(self)
    }
}

impl<I, O, const EXCLUSIVE: bool, S> ParallelIterator for Scan<I, O, EXCLUSIVE, S>
where
    I: ParallelIterator<Item: Clone>,
    O: Operation<I::Item>,
    S: Total<I::Item>,
{
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let Scan {
            base,
            op,
            size,
            exact,
            total,
        } = self;
        base.with_items(|len| Into::<_, _, _, EXCLUSIVE> {
            len,
            cut: cut_for::<I::Item>(len, size, exact),
            op: &op,
            total,
            consumer,
        })
    }

    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }

    fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
    where
        CB: ProducerCallback<I::Item>,
    {
        let Scan {
            base,
            op,
            size,
            exact,
            total,
        } = self;
        base.with_items(|len| {
            let callback = make(len);
            By::<_, _, _, EXCLUSIVE> {
                len,
                cut: cut_for::<I::Item>(len, size, exact),
                op: &op,
                total,
                callback,
            }
        })
    }
}

impl<I, O, const EXCLUSIVE: bool, S> IndexedParallelIterator for Scan<I, O, EXCLUSIVE, S>
where
    I: IndexedParallelIterator<Item: Clone>,
    O: Operation<I::Item>,
    S: Total<I::Item>,
{
    fn drive<C: Consumer<I::Item>>(self, consumer: C) -> C::Result {
        let Scan {
            base,
            op,
            size,
            exact,
            total,
        } = self;
        let len = base.len();
        base.with_producer(Into::<_, _, _, EXCLUSIVE> {
            len,
            cut: cut_for::<I::Item>(len, size, exact),
            op: &op,
            total,
            consumer,
        })
    }

    fn len(&self) -> usize {
        self.base.len()
    }

    fn with_producer<CB: ProducerCallback<I::Item>>(self, callback: CB) -> CB::Output {
        let Scan {
            base,
            op,
            size,
            exact,
            total,
        } = self;
        let len = base.len();
        base.with_producer(By::<_, _, _, EXCLUSIVE> {
            len,
            cut: cut_for::<I::Item>(len, size, exact),
            op: &op,
            total,
            callback,
        })
    }
}

/// How to cut, if the user asked for blocks of `size`, or did not ask.
fn cut_for<T>(len: usize, size: usize, exact: bool) -> Cut {
    Cut {
        size: if size == 0 { block_size(len) } else { size },
        once: exact || is_exact::<T>(),
    }
}

/// Scans into a consumer.
struct Into<'s, O, S, C, const EXCLUSIVE: bool> {
    len: usize,
    cut: Cut,
    op: &'s O,
    total: S,
    consumer: C,
}

impl<T, O, S, C, const EXCLUSIVE: bool> ProducerCallback<T> for Into<'_, O, S, C, EXCLUSIVE>
where
    T: Clone + Send,
    O: Operation<T>,
    S: Total<T>,
    C: Consumer<T>,
{
    type Output = C::Result;

    fn callback<P: Producer<Item = T>>(mut self, producer: P) -> C::Result {
        let Into {
            len,
            cut,
            op,
            consumer,
            ..
        } = self;
        let mut total = None;
        let result = sweep::<P, O, C, EXCLUSIVE>(len, cut, producer, op, consumer, &mut total);
        if let (Some(place), Some(total)) = (self.total.place(), total) {
            *place = total;
        }
        result
    }
}

/// Scans for a caller that wants a producer.
struct By<'s, O, S, CB, const EXCLUSIVE: bool> {
    len: usize,
    cut: Cut,
    op: &'s O,
    total: S,
    callback: CB,
}

impl<T, O, S, CB, const EXCLUSIVE: bool> ProducerCallback<T> for By<'_, O, S, CB, EXCLUSIVE>
where
    T: Clone + Send,
    O: Operation<T>,
    S: Total<T>,
    CB: ProducerCallback<T>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(mut self, producer: P) -> CB::Output {
        let By { len, cut, op, .. } = self;
        if matches!(P::AGAIN, Again::Always) && cut.size < len {
            let total = self.total.place();
            let values = walk::<P, O, EXCLUSIVE>(len, cut.size, producer, op, total);
            return self.callback.callback(values);
        }
        let mut values = Vec::new();
        write_in_place(&mut values, len, |consumer| {
            let total = self.total;
            let into = Into::<_, _, _, EXCLUSIVE> {
                len,
                cut,
                op,
                total,
                consumer,
            };
            (into.callback(producer), ())
        });
        values.into_par_iter().with_producer(self.callback)
    }
}

/// What [`pure`](super::ParallelScan::pure) returns.
///
/// ```
/// use tine::prelude::*;
/// use tine::scan::Pure;
///
/// let lengths: Pure<_> = ["a", "fork"].par_iter().map(|word| word.len()).pure();
/// assert_eq!(lengths.prefix_sum::<usize>().collect::<Vec<_>>(), [1, 5]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Pure<I> {
    base: I,
}

impl<I> Pure<I> {
    pub(super) fn new(base: I) -> Self {
        Pure { base }
    }
}

reshaped! {
    [I] Pure<I> => I::Item, where [I: IndexedParallelIterator],
    |this| this.base.len(),
    |this, callback| reshape(this.base, Twice, callback)
}

struct Twice;

impl<T> Reshape<T, T> for Twice {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        callback.callback(Repeatable(base))
    }
}

struct Repeatable<P>(P);

impl<P: Producer> Producer for Repeatable<P> {
    type Item = P::Item;
    type IntoIter = P::IntoIter;

    const WHOLE: bool = P::WHOLE;
    const AGAIN: Again = match P::AGAIN {
        Again::IfPure => Again::Always,
        other => other,
    };

    fn again(&self) -> Self {
        Repeatable(self.0.again())
    }

    fn into_iter(self) -> P::IntoIter {
        self.0.into_iter()
    }

    fn min_len(&self) -> usize {
        self.0.min_len()
    }

    fn max_len(&self) -> usize {
        self.0.max_len()
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(index);
        (Repeatable(left), Repeatable(right))
    }

    fn fold_with<F: Folder<P::Item>>(self, folder: F) -> F {
        self.0.fold_with(folder)
    }
}

/// The items, turned into the type of the sum, for `prefix_sum`.
#[must_use = "parallel iterators do nothing until they are consumed"]
pub struct Summands<I, T> {
    base: I,
    adds: PhantomData<fn() -> T>,
}

impl<I, T> Summands<I, T> {
    pub(super) fn new(base: I) -> Self {
        let adds = PhantomData;
        Summands { base, adds }
    }
}

impl<I: Clone, T> Clone for Summands<I, T> {
    fn clone(&self) -> Self {
        Summands::new(self.base.clone())
    }
}

impl<I: fmt::Debug, T> fmt::Debug for Summands<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = &self.base;
        f.debug_struct("Summands").field("base", base).finish()
    }
}

struct Summand<T>(PhantomData<fn() -> T>);

impl<T: Sum<U>, U> Each<U> for Summand<T> {
    type State = ();
    type Out = T;

    const AGAIN: Again = Again::Always;

    fn start(&self) {}

    #[inline]
    fn each(&self, (): &mut (), item: U) -> T {
        once(item).sum()
    }
}

each! {
    [I, T] Summands<I, T> => T,
    where [T: Sum<I::Item> + Send],
    |Summands { base, adds }| (base, Summand(adds))
}
