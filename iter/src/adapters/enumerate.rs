//! `enumerate`: `(index, item)`.

use crate::iter::IndexedParallelIterator;
use crate::kit::reshape::{Reshape, reshape, reshaped};
use crate::plumbing::{Again, Producer, ProducerCallback};

/// What [`enumerate`](IndexedParallelIterator::enumerate) returns.
///
/// ```
/// use tine::{iter::Enumerate, prelude::*};
///
/// let numbered: Enumerate<_> = ["a", "b"].par_iter().enumerate();
/// assert_eq!(numbered.max(), Some((1, &"b")));
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Enumerate<I> {
    base: I,
}

impl<I> Enumerate<I> {
    pub(crate) fn new(base: I) -> Self {
        Enumerate { base }
    }
}

reshaped! {
    [I] Enumerate<I> => (usize, I::Item), where [I: IndexedParallelIterator],
    |this| this.base.len(),
    |this, callback| reshape(this.base, Number, callback)
}

struct Number;

impl<T> Reshape<T, (usize, T)> for Number {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<(usize, T)>,
    {
        callback.callback(Numbered { base, first: 0 })
    }
}

/// Items numbered from `first`: a producer of a producer, and an iterator of an
/// iterator.
struct Numbered<P> {
    base: P,
    first: usize,
}

impl<P: Producer> Producer for Numbered<P> {
    type Item = (usize, P::Item);
    type IntoIter = Numbered<P::IntoIter>;

    const WHOLE: bool = P::WHOLE;
    const AGAIN: Again = P::AGAIN;

    fn again(&self) -> Self {
        let base = self.base.again();
        Numbered { base, ..*self }
    }

    fn into_iter(self) -> Self::IntoIter {
        Numbered {
            base: self.base.into_iter(),
            first: self.first,
        }
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
        let (left, right) = self.base.split_at(index);
        let with = |base, first| Numbered { base, first };
        (with(left, self.first), with(right, self.first + index))
    }
}

impl<I: Iterator> Iterator for Numbered<I> {
    type Item = (usize, I::Item);

    #[inline]
    fn next(&mut self) -> Option<(usize, I::Item)> {
        let item = self.base.next()?;
        let index = self.first;
        self.first += 1;
        Some((index, item))
    }

    /// As quick as the base's: `step_by` asks for it.
    #[inline]
    fn nth(&mut self, n: usize) -> Option<(usize, I::Item)> {
        let item = self.base.nth(n)?;
        let index = self.first + n;
        self.first = index + 1;
        Some((index, item))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }

    #[inline]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(self, init: A, mut f: F) -> A {
        let mut next = self.first;
        self.base.fold(init, |acc, item| {
            let index = next;
            next += 1;
            f(acc, (index, item))
        })
    }
}

impl<I: DoubleEndedIterator + ExactSizeIterator> DoubleEndedIterator for Numbered<I> {
    #[inline]
    fn next_back(&mut self) -> Option<(usize, I::Item)> {
        let item = self.base.next_back()?;
        Some((self.first + self.base.len(), item))
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<(usize, I::Item)> {
        let item = self.base.nth_back(n)?;
        Some((self.first + self.base.len(), item))
    }
}

impl<I: DoubleEndedIterator + ExactSizeIterator> ExactSizeIterator for Numbered<I> {}
