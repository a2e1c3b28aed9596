//! `chain`: the items of one iterator, then those of another.

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::kit::reshape::{Weave, weave};
use crate::plumbing::{
    Again, Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, both,
};

/// What [`chain`](ParallelIterator::chain) returns.
///
/// ```
/// use tine::{iter::Chain, prelude::*};
///
/// let both: Chain<_, _> = [1, 2].par_iter().chain(&[3]);
/// assert_eq!(both.sum::<i32>(), 6);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Chain<A, B> {
    a: A,
    b: B,
}

impl<A, B> Chain<A, B> {
    pub(crate) fn new(a: A, b: B) -> Self {
        Chain { a, b }
    }
}

impl<A, B> ParallelIterator for Chain<A, B>
where
    A: ParallelIterator,
    B: ParallelIterator<Item = A::Item>,
{
    type Item = A::Item;

    const KEEPS_ALL: bool = A::KEEPS_ALL && B::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<A::Item>>(self, consumer: C) -> C::Result {
        let Chain { a, b } = self;
        let (left, right, reducer) = match a.opt_len() {
            Some(len) => consumer.split_at(len),
            None => {
                let (left, reducer) = (consumer.split_off_left(), consumer.to_reducer());
                (left, consumer, reducer)
            }
        };
        let (a, b) = both(|| a.drive_unindexed(left), || b.drive_unindexed(right));
        reducer.reduce(a, b)
    }

    fn opt_len(&self) -> Option<usize> {
        self.a.opt_len()?.checked_add(self.b.opt_len()?)
    }

    fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
    where
        CB: ProducerCallback<A::Item>,
    {
        let Chain { a, b } = self;
        a.with_items(|a_len| Before { a_len, b, make })
    }
}

impl<A, B> IndexedParallelIterator for Chain<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
    fn drive<C: Consumer<A::Item>>(self, consumer: C) -> C::Result {
        let Chain { a, b } = self;
        let (left, right, reducer) = consumer.split_at(a.len());
        let (a, b) = both(|| a.drive(left), || b.drive(right));
        reducer.reduce(a, b)
    }

    fn len(&self) -> usize {
        let len = self.a.len().checked_add(self.b.len());
        len.expect("a chain holds more items than a usize counts")
    }

    fn with_producer<CB: ProducerCallback<A::Item>>(self, callback: CB) -> CB::Output {
        let first = self.a.len();
        weave(self.a, self.b, Append { first }, callback)
    }
}

struct Append {
    first: usize,
}

/// Has the second iterator, and waits for the items of the first.
struct Before<B, M> {
    a_len: usize,
    b: B,
    make: M,
}

impl<B, M, CB> ProducerCallback<B::Item> for Before<B, M>
where
    B: ParallelIterator,
    M: FnOnce(usize) -> CB,
    CB: ProducerCallback<B::Item>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = B::Item>>(self, a: P) -> CB::Output {
        let Before { a_len, b, make } = self;
        b.with_items(|b_len| {
            let len = a_len.checked_add(b_len);
            let len = len.expect("a chain holds more items than a usize counts");
            let callback = make(len);
            Behind { a, a_len, callback }
        })
    }
}

/// Has the items of the first, and waits for those of the second.
struct Behind<P, CB> {
    a: P,
    a_len: usize,
    callback: CB,
}

impl<T, P, CB> ProducerCallback<T> for Behind<P, CB>
where
    P: Producer<Item = T>,
    CB: ProducerCallback<T>,
{
    type Output = CB::Output;

    fn callback<Q: Producer<Item = T>>(self, b: Q) -> CB::Output {
        let Behind { a, a_len, callback } = self;
        callback.callback(Links { a, b, a_len })
    }
}

impl<T> Weave<T, T, T> for Append {
    fn weave<P, Q, CB>(self, a: P, b: Q, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        Q: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        let a_len = self.first;
        callback.callback(Links { a, b, a_len })
    }
}

struct Links<P, Q> {
    a: P,
    b: Q,
    a_len: usize,
}

impl<P: Producer, Q: Producer<Item = P::Item>> Producer for Links<P, Q> {
    type Item = P::Item;
    type IntoIter = LinksIter<P::IntoIter, Q::IntoIter>;

    const WHOLE: bool = P::WHOLE || Q::WHOLE;
    const AGAIN: Again = P::AGAIN.and(Q::AGAIN);

    fn again(&self) -> Self {
        let (a, b) = (self.a.again(), self.b.again());
        Links { a, b, ..*self }
    }

    fn into_iter(self) -> Self::IntoIter {
        LinksIter {
            a: Some(self.a.into_iter()),
            b: Some(self.b.into_iter()),
        }
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
        let a_len = self.a_len.min(index);
        let (a, a_right) = self.a.split_at(a_len);
        let (b, b_right) = self.b.split_at(index - a_len);
        let right = Links {
            a: a_right,
            b: b_right,
            a_len: self.a_len - a_len,
        };
        (Links { a, b, a_len }, right)
    }

    fn fold_with<F: Folder<P::Item>>(self, folder: F) -> F {
        let Links { a, b, .. } = self;
        let folder = a.fold_with(folder);
        if folder.full() {
            drop(b);
            return folder;
        }
        b.fold_with(folder)
    }
}

/// A chain that knows its length: a producer of that length vouches for it. It makes long steps as
/// its halves do, where std's chain walks through iterators that are not std's.
struct LinksIter<A, B> {
    /// `None` once it has ended.
    a: Option<A>,
    b: Option<B>,
}

/// The item that is `n` items further on in `ahead` or, behind all that is left there, in `behind`.
#[inline]
fn leap<A: ExactSizeIterator, B, T>(
    ahead: &mut Option<A>,
    behind: &mut Option<B>,
    n: usize,
    in_ahead: impl Fn(&mut A, usize) -> Option<T>,
    in_behind: impl FnOnce(&mut B, usize) -> Option<T>,
) -> Option<T> {
    let mut rest = n;
    if let Some(iter) = ahead {
        let len = iter.len();
        if n < len {
            return in_ahead(iter, n);
        }
        // Passed over, and not left out: making an item may have visible effects.
        if let Some(last) = len.checked_sub(1) {
            drop(in_ahead(iter, last));
        }
        *ahead = None;
        rest -= len;
    }
    in_behind(behind.as_mut()?, rest)
}

impl<A, B> Iterator for LinksIter<A, B>
where
    A: ExactSizeIterator,
    B: ExactSizeIterator<Item = A::Item>,
{
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        if let Some(a) = &mut self.a {
            if let Some(item) = a.next() {
                return Some(item);
            }
            self.a = None;
        }
        self.b.as_mut()?.next()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<A::Item> {
        leap(&mut self.a, &mut self.b, n, A::nth, B::nth)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let a = self.a.as_ref().map_or(0, A::len);
        let b = self.b.as_ref().map_or(0, B::len);
        let both = a.saturating_add(b);
        (both, Some(both))
    }

    #[inline]
    fn fold<S, F: FnMut(S, A::Item) -> S>(self, init: S, mut f: F) -> S {
        let LinksIter { a, b } = self;
        let some = match a {
            Some(a) => a.fold(init, &mut f),
            None => init,
        };
        match b {
            Some(b) => b.fold(some, f),
            None => some,
        }
    }
}

impl<A, B> DoubleEndedIterator for LinksIter<A, B>
where
    A: DoubleEndedIterator + ExactSizeIterator,
    B: DoubleEndedIterator<Item = A::Item> + ExactSizeIterator,
{
    #[inline]
    fn next_back(&mut self) -> Option<A::Item> {
        if let Some(b) = &mut self.b {
            if let Some(item) = b.next_back() {
                return Some(item);
            }
            self.b = None;
        }
        self.a.as_mut()?.next_back()
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<A::Item> {
        leap(&mut self.b, &mut self.a, n, B::nth_back, A::nth_back)
    }
}

impl<A, B> ExactSizeIterator for LinksIter<A, B>
where
    A: ExactSizeIterator,
    B: ExactSizeIterator<Item = A::Item>,
{
}
