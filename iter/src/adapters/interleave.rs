//! `interleave` and `interleave_shortest`: an item of one iterator, an item of
//! the other, by turns.

use crate::adapters::skip::Take;
use crate::iter::IndexedParallelIterator;
use crate::kit::reshape::{Weave, reshaped, weave};
use crate::plumbing::{Again, Producer, ProducerCallback};

/// What [`interleave`](IndexedParallelIterator::interleave) returns.
///
/// ```
/// use tine::{iter::Interleave, prelude::*};
///
/// let turns: Interleave<_, _> = (0..3).into_par_iter().interleave(7..8);
/// assert_eq!(turns.collect::<Vec<i32>>(), [0, 7, 1, 2]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Interleave<I, J> {
    a: I,
    b: J,
}

impl<I, J> Interleave<I, J> {
    pub(crate) fn new(a: I, b: J) -> Self {
        Interleave { a, b }
    }
}

reshaped! {
    [I, J] Interleave<I, J> => I::Item,
    where [I: IndexedParallelIterator, J: IndexedParallelIterator<Item = I::Item>],
    |this| {
        let len = this.a.len().checked_add(this.b.len());
        len.expect("an interleaving holds more items than a usize counts")
    },
    |this, callback| {
        let lens = (this.a.len(), this.b.len());
        weave(this.a, this.b, Alternate { lens }, callback)
    }
}

/// What [`interleave_shortest`](IndexedParallelIterator::interleave_shortest)
/// returns.
///
/// ```
/// use tine::{iter::InterleaveShortest, prelude::*};
///
/// let turns: InterleaveShortest<_, _> = (0..3).into_par_iter().interleave_shortest(7..8);
/// assert_eq!(turns.collect::<Vec<i32>>(), [0, 7, 1]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct InterleaveShortest<I, J> {
    turns: Interleave<Take<I>, Take<J>>,
}

impl<I, J> InterleaveShortest<I, J>
where
    I: IndexedParallelIterator,
    J: IndexedParallelIterator<Item = I::Item>,
{
    pub(crate) fn new(a: I, b: J) -> Self {
        let rounds = a.len().min(b.len());
        let last = usize::from(rounds < a.len());
        let turns = Interleave::new(a.take(rounds + last), b.take(rounds));
        InterleaveShortest { turns }
    }
}

reshaped! {
    [I, J] InterleaveShortest<I, J> => I::Item,
    where [I: IndexedParallelIterator, J: IndexedParallelIterator<Item = I::Item>],
    |this| this.turns.len(),
    |this, callback| this.turns.with_producer(callback)
}

struct Alternate {
    lens: (usize, usize),
}

impl<T> Weave<T, T, T> for Alternate {
    fn weave<P, Q, CB>(self, a: P, b: Q, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        Q: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        let lens = self.lens;
        callback.callback(Turns {
            a,
            b,
            lens,
            a_next: true,
        })
    }
}

/// Takes turns between two producers of the given lengths until one runs out, then hands on the
/// rest of the other.
struct Turns<P, Q> {
    a: P,
    b: Q,
    lens: (usize, usize),
    a_next: bool,
}

impl<P: Producer, Q: Producer<Item = P::Item>> Producer for Turns<P, Q> {
    type Item = P::Item;
    type IntoIter = TurnsIter<P::IntoIter, Q::IntoIter>;

    const WHOLE: bool = P::WHOLE || Q::WHOLE;
    const AGAIN: Again = P::AGAIN.and(Q::AGAIN);

    fn again(&self) -> Self {
        let (a, b) = (self.a.again(), self.b.again());
        Turns { a, b, ..*self }
    }

    fn into_iter(self) -> Self::IntoIter {
        TurnsIter {
            a: self.a.into_iter(),
            b: self.b.into_iter(),
            a_next: self.a_next,
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
        let (a_len, b_len) = self.lens;
        assert!(
            index.saturating_sub(b_len) <= a_len,
            "{a_len} and {b_len} items in turns were cut at {index}"
        );
        let odd = index % 2;
        let fair = index / 2 + if self.a_next { odd } else { 0 };
        let a_cut = fair.min(a_len).max(index.saturating_sub(b_len));
        let b_cut = index - a_cut;
        let (a, a_right) = self.a.split_at(a_cut);
        let (b, b_right) = self.b.split_at(b_cut);
        let left = Turns {
            a,
            b,
            lens: (a_cut, b_cut),
            a_next: self.a_next,
        };
        let right = Turns {
            a: a_right,
            b: b_right,
            lens: (a_len - a_cut, b_len - b_cut),
            a_next: self.a_next == (odd == 0),
        };
        (left, right)
    }
}

struct TurnsIter<A, B> {
    a: A,
    b: B,
    a_next: bool,
}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for TurnsIter<A, B> {
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        let a_now = self.a_next;
        self.a_next = !a_now;
        if a_now {
            self.a.next().or_else(|| self.b.next())
        } else {
            self.b.next().or_else(|| self.a.next())
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (a, b) = (self.a.size_hint(), self.b.size_hint());
        let most = a.1.zip(b.1).and_then(|(a, b)| a.checked_add(b));
        (a.0.saturating_add(b.0), most)
    }
}

impl<A, B> DoubleEndedIterator for TurnsIter<A, B>
where
    A: DoubleEndedIterator + ExactSizeIterator,
    B: DoubleEndedIterator<Item = A::Item> + ExactSizeIterator,
{
    /// The last item comes from the longer iterator. If both are equally long, it comes from the
    /// iterator whose turn is not next.
    #[inline]
    fn next_back(&mut self) -> Option<A::Item> {
        let (a, b) = (self.a.len(), self.b.len());
        if a > b || (a == b && !self.a_next) {
            self.a.next_back()
        } else {
            self.b.next_back()
        }
    }
}

impl<A, B> ExactSizeIterator for TurnsIter<A, B>
where
    A: ExactSizeIterator,
    B: ExactSizeIterator<Item = A::Item>,
{
}
