//! `skip` and `take`: all but the first N items, or only those.

use crate::iter::IndexedParallelIterator;
use crate::kit::reshape::{Reshape, reshape, reshaped};
use crate::kit::sink::exhaust;
use crate::plumbing::{Again, Producer, ProducerCallback};

/// What [`skip`](IndexedParallelIterator::skip) returns.
///
/// ```
/// use tine::{iter::Skip, prelude::*};
///
/// let later: Skip<_> = (0..4).into_par_iter().skip(2);
/// assert_eq!(later.collect::<Vec<i32>>(), [2, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Skip<I> {
    base: I,
    n: usize,
}

impl<I: IndexedParallelIterator> Skip<I> {
    pub(crate) fn new(base: I, n: usize) -> Self {
        let n = n.min(base.len());
        Skip { base, n }
    }
}

reshaped! {
    [I] Skip<I> => I::Item, where [I: IndexedParallelIterator],
    |this| this.base.len() - this.n,
    |this, callback| reshape(this.base, Without(this.n), callback)
}

struct Without(usize);

impl<T> Reshape<T, T> for Without {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        let (skipped, rest) = base.split_at(self.0);
        // If nothing can see whether items are made, they are not made.
        if const { !matches!(P::AGAIN, Again::Always) } {
            exhaust(self.0, skipped);
        }
        callback.callback(rest)
    }
}

/// What [`take`](IndexedParallelIterator::take) returns.
///
/// ```
/// use tine::{iter::Take, prelude::*};
///
/// let first: Take<_> = (0..4).into_par_iter().take(2);
/// assert_eq!(first.collect::<Vec<i32>>(), [0, 1]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Take<I> {
    base: I,
    n: usize,
}

impl<I: IndexedParallelIterator> Take<I> {
    pub(crate) fn new(base: I, n: usize) -> Self {
        let n = n.min(base.len());
        Take { base, n }
    }
}

reshaped! {
    [I] Take<I> => I::Item, where [I: IndexedParallelIterator],
    |this| this.n,
    |this, callback| reshape(this.base, Only(this.n), callback)
}

struct Only(usize);

impl<T> Reshape<T, T> for Only {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        let (taken, _) = base.split_at(self.0);
        callback.callback(taken)
    }
}
