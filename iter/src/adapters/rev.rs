//! `rev`: the last item first.

use std::iter;

use crate::iter::IndexedParallelIterator;
use crate::kit::reshape::{Reshape, reshape, reshaped};
use crate::plumbing::{Again, Producer, ProducerCallback};

/// What [`rev`](IndexedParallelIterator::rev) returns.
///
/// ```
/// use tine::{iter::Rev, prelude::*};
///
/// let down: Rev<_> = (0..3).into_par_iter().rev();
/// assert_eq!(down.collect::<Vec<i32>>(), [2, 1, 0]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Rev<I> {
    base: I,
}

impl<I> Rev<I> {
    pub(crate) fn new(base: I) -> Self {
        Rev { base }
    }
}

reshaped! {
    [I] Rev<I> => I::Item, where [I: IndexedParallelIterator],
    |this| this.base.len(),
    |this, callback| {
        let len = this.base.len();
        reshape(this.base, Reverse { len }, callback)
    }
}

struct Reverse {
    len: usize,
}

impl<T> Reshape<T, T> for Reverse {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        let len = self.len;
        callback.callback(Reversed { base, len })
    }
}

struct Reversed<P> {
    base: P,
    len: usize,
}

impl<P: Producer> Producer for Reversed<P> {
    type Item = P::Item;
    type IntoIter = iter::Rev<P::IntoIter>;

    const WHOLE: bool = P::WHOLE;
    const AGAIN: Again = P::AGAIN;

    fn again(&self) -> Self {
        let base = self.base.again();
        Reversed { base, ..*self }
    }

    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().rev()
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    fn is_over(&self) -> bool {
        self.base.is_over()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let rest = self.len.checked_sub(index);
        let rest = rest.unwrap_or_else(|| panic!("{} items were cut at {index}", self.len));
        let (back, front) = self.base.split_at(rest);
        let with = |base, len| Reversed { base, len };
        (with(front, index), with(back, rest))
    }
}
