//! `with_min_len` and `with_max_len`: how small, and how large, a piece may be.

use crate::iter::IndexedParallelIterator;
use crate::kit::reshape::{Reshape, reshape, reshaped};
use crate::plumbing::{Again, Folder, Producer, ProducerCallback};

/// What [`with_min_len`](IndexedParallelIterator::with_min_len) returns.
///
/// ```
/// use tine::{iter::MinLen, prelude::*};
///
/// let in_large_pieces: MinLen<_> = (0..100).into_par_iter().with_min_len(50);
/// assert_eq!(in_large_pieces.sum::<i32>(), 4950);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct MinLen<I> {
    base: I,
    min: usize,
}

impl<I> MinLen<I> {
    pub(crate) fn new(base: I, min: usize) -> Self {
        MinLen { base, min }
    }
}

reshaped! {
    [I] MinLen<I> => I::Item, where [I: IndexedParallelIterator],
    |this| this.base.len(),
    |this, callback| reshape(this.base, Limit { min: this.min, max: usize::MAX }, callback)
}

/// What [`with_max_len`](IndexedParallelIterator::with_max_len) returns.
///
/// ```
/// use tine::{iter::MaxLen, prelude::*};
///
/// let in_small_pieces: MaxLen<_> = (0..100).into_par_iter().with_max_len(5);
/// assert_eq!(in_small_pieces.sum::<i32>(), 4950);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct MaxLen<I> {
    base: I,
    max: usize,
}

impl<I> MaxLen<I> {
    pub(crate) fn new(base: I, max: usize) -> Self {
        MaxLen { base, max }
    }
}

reshaped! {
    [I] MaxLen<I> => I::Item, where [I: IndexedParallelIterator],
    |this| this.base.len(),
    |this, callback| reshape(this.base, Limit { min: 1, max: this.max }, callback)
}

#[derive(Clone, Copy)]
struct Limit {
    min: usize,
    max: usize,
}

impl<T> Reshape<T, T> for Limit {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        callback.callback(Limited { base, limit: self })
    }
}

struct Limited<P> {
    base: P,
    limit: Limit,
}

impl<P: Producer> Producer for Limited<P> {
    type Item = P::Item;
    type IntoIter = P::IntoIter;

    const WHOLE: bool = P::WHOLE;
    const AGAIN: Again = P::AGAIN;

    fn again(&self) -> Self {
        let base = self.base.again();
        Limited { base, ..*self }
    }

    fn into_iter(self) -> P::IntoIter {
        self.base.into_iter()
    }

    fn min_len(&self) -> usize {
        self.base.min_len().max(self.limit.min)
    }

    fn max_len(&self) -> usize {
        self.base.max_len().min(self.limit.max)
    }

    fn is_over(&self) -> bool {
        self.base.is_over()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let limit = self.limit;
        let (left, right) = self.base.split_at(index);
        let with = |base| Limited { base, limit };
        (with(left), with(right))
    }

    fn fold_with<F: Folder<P::Item>>(self, folder: F) -> F {
        self.base.fold_with(folder)
    }
}
