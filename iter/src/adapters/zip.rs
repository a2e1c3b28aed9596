//! `zip` and `zip_eq`: pairs of the items at the same index.

use std::iter;

use crate::iter::IndexedParallelIterator;
use crate::kit::reshape::{Weave, reshaped, weave};
use crate::plumbing::{Again, Producer, ProducerCallback};

/// What [`zip`](IndexedParallelIterator::zip) returns.
///
/// ```
/// use tine::{iter::Zip, prelude::*};
///
/// let pairs: Zip<_, _> = (1..4).into_par_iter().zip(["a", "b"]);
/// assert_eq!(pairs.collect::<Vec<_>>(), [(1, "a"), (2, "b")]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Zip<A, B> {
    a: A,
    b: B,
}

impl<A, B> Zip<A, B> {
    pub(crate) fn new(a: A, b: B) -> Self {
        Zip { a, b }
    }
}

reshaped! {
    [A, B] Zip<A, B> => (A::Item, B::Item),
    where [A: IndexedParallelIterator, B: IndexedParallelIterator],
    |this| this.a.len().min(this.b.len()),
    |this, callback| weave(this.a, this.b, Pair, callback)
}

/// What [`zip_eq`](IndexedParallelIterator::zip_eq) returns.
///
/// ```
/// use tine::{iter::ZipEq, prelude::*};
///
/// let pairs: ZipEq<_, _> = (1..3).into_par_iter().zip_eq(["a", "b"]);
/// assert_eq!(pairs.collect::<Vec<_>>(), [(1, "a"), (2, "b")]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct ZipEq<A, B> {
    zip: Zip<A, B>,
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ZipEq<A, B> {
    #[track_caller]
    pub(crate) fn new(a: A, b: B) -> Self {
        assert_eq!(a.len(), b.len(), "iterators must have the same length");
        ZipEq { zip: Zip { a, b } }
    }
}

reshaped! {
    [A, B] ZipEq<A, B> => (A::Item, B::Item),
    where [A: IndexedParallelIterator, B: IndexedParallelIterator],
    |this| this.zip.len(),
    |this, callback| this.zip.with_producer(callback)
}

struct Pair;

impl<T, U> Weave<T, U, (T, U)> for Pair {
    fn weave<P, Q, CB>(self, a: P, b: Q, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        Q: Producer<Item = U>,
        CB: ProducerCallback<(T, U)>,
    {
        callback.callback(Pairs { a, b })
    }
}

struct Pairs<P, Q> {
    a: P,
    b: Q,
}

impl<P: Producer, Q: Producer> Producer for Pairs<P, Q> {
    type Item = (P::Item, Q::Item);
    type IntoIter = iter::Zip<P::IntoIter, Q::IntoIter>;

    const WHOLE: bool = P::WHOLE || Q::WHOLE;
    const AGAIN: Again = P::AGAIN.and(Q::AGAIN);

    fn again(&self) -> Self {
        let (a, b) = (self.a.again(), self.b.again());
        Pairs { a, b }
    }

    fn into_iter(self) -> Self::IntoIter {
        self.a.into_iter().zip(self.b.into_iter())
    }

    fn min_len(&self) -> usize {
        self.a.min_len().max(self.b.min_len())
    }

    fn max_len(&self) -> usize {
        self.a.max_len().min(self.b.max_len())
    }

    fn is_over(&self) -> bool {
        self.a.is_over() || self.b.is_over()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (a, a_right) = self.a.split_at(index);
        let (b, b_right) = self.b.split_at(index);
        let right = Pairs {
            a: a_right,
            b: b_right,
        };
        (Pairs { a, b }, right)
    }
}
