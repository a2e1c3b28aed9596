//! Many slices as one. Their lengths are known, so positions are too.
#![forbid(unsafe_code)]

use std::borrow::Borrow;
use std::iter::{Chain, Copied, Flatten};
use std::slice;

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};

/// Fewer bytes than these are joined by one thread.
const ALONE: usize = if cfg!(miri) { 1 << 6 } else { 1 << 17 };

/// Treats a slice of slices as one sequence of elements.
///
/// ```
/// use tine::{algorithms::ParallelFlat, prelude::*};
///
/// let rows = vec![vec![1, 2], vec![], vec![3]];
/// assert_eq!(rows.par_concat(), [1, 2, 3]);
/// assert_eq!(rows.par_flat().rev().take(2).collect::<Vec<_>>(), [&3, &2]);
/// ```
pub trait ParallelFlat<V> {
    /// All elements of all slices, as one parallel iterator that knows its length.
    ///
    /// `flatten` joins iterators of any kind, and so loses the positions. `par_flat` keeps them:
    /// its items can be enumerated, zipped, reversed, and collected straight to their final places.
    /// It reads all lengths when it is made.
    ///
    /// # Panics
    ///
    /// If there are more elements in all than a `usize` can count, which is possible if they have
    /// size zero.
    ///
    /// ```
    /// use tine::{algorithms::ParallelFlat, prelude::*};
    ///
    /// let words = [vec!['a', 'n'], vec!['o', 'x']];
    /// let found = words.par_flat().enumerate().find_first(|(_, letter)| **letter == 'o');
    /// assert_eq!(found, Some((2, &'o')));
    /// ```
    #[track_caller]
    fn par_flat<T>(&self) -> Flat<'_, T>
    where
        V: Borrow<[T]>,
        T: Sync;

    /// All elements of all slices in one vector, as [`concat`](slice::concat) does.
    ///
    /// # Panics
    ///
    /// If no vector can hold that many elements. If they have size zero: if a `usize` cannot count
    /// them.
    ///
    /// ```
    /// use tine::algorithms::ParallelFlat;
    ///
    /// assert_eq!([&[1, 2][..], &[3]].par_concat(), [1, 2, 3]);
    /// ```
    #[track_caller]
    fn par_concat<T>(&self) -> Vec<T>
    where
        V: Borrow<[T]>,
        T: Clone + Send + Sync;
}

/// The message when a `usize` does not count the elements.
const UNCOUNTED: &str = "the slices hold more items than a usize counts";

impl<V> ParallelFlat<V> for [V] {
    #[track_caller]
    fn par_flat<T>(&self) -> Flat<'_, T>
    where
        V: Borrow<[T]>,
        T: Sync,
    {
        let slices = self.iter().map(Borrow::borrow);
        let slices: Vec<&[T]> = slices.filter(|slice| !slice.is_empty()).collect();
        let mut end = 0_usize;
        let mut ends = Vec::with_capacity(slices.len());
        for slice in &slices {
            end = end.checked_add(slice.len()).expect(UNCOUNTED);
            ends.push(end);
        }
        Flat { slices, ends }
    }

    #[track_caller]
    fn par_concat<T>(&self) -> Vec<T>
    where
        V: Borrow<[T]>,
        T: Clone + Send + Sync,
    {
        let mut lens = self.iter().map(|slice| slice.borrow().len());
        let len = lens.try_fold(0, usize::checked_add).expect(UNCOUNTED);
        if len.saturating_mul(size_of::<T>()) < ALONE {
            return self.concat::<T>();
        }
        self.par_flat().cloned().collect()
    }
}

/// Parallel iterator over the elements of several slices.
///
/// Made by [`par_flat`](ParallelFlat::par_flat).
///
/// ```
/// use tine::{algorithms::{Flat, ParallelFlat}, prelude::*};
///
/// let flat: Flat<'_, i32> = [[1, 2], [3, 4]].par_flat();
/// assert_eq!(flat.len(), 4);
/// ```
#[derive(Debug, Clone)]
pub struct Flat<'data, T> {
    /// None of them empty.
    slices: Vec<&'data [T]>,
    /// The position at which each ends.
    ends: Vec<usize>,
}

impl<'data, T: Sync> ParallelIterator for Flat<'data, T> {
    type Item = &'data T;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<&'data T>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<'data, T: Sync> IndexedParallelIterator for Flat<'data, T> {
    fn drive<C: Consumer<&'data T>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn with_producer<CB: ProducerCallback<&'data T>>(self, callback: CB) -> CB::Output {
        callback.callback(Stretch {
            start: 0,
            end: self.len(),
            slices: &self.slices,
            ends: &self.ends,
        })
    }
}

/// Produces the elements from one position to another.
struct Stretch<'f, 'data, T> {
    start: usize,
    end: usize,
    /// The slices that have a part in it.
    slices: &'f [&'data [T]],
    ends: &'f [usize],
}

impl<'f, 'data, T: Sync> Producer for Stretch<'f, 'data, T> {
    type Item = &'data T;
    type IntoIter = Elements<'f, 'data, T>;

    fn into_iter(self) -> Elements<'f, 'data, T> {
        let len = self.end - self.start;
        // The slices between the first and the last one are whole.
        let (mut first, mut last): (&[T], &[T]) = (&[], &[]);
        let mut whole = self.slices;
        if let Some((slice, rest)) = self.slices.split_first().filter(|_| len > 0) {
            let begin = self.ends[0] - slice.len();
            first = &slice[self.start - begin..];
            whole = rest;
            match rest.split_last() {
                Some((slice, rest)) => {
                    let beyond = self.ends[self.ends.len() - 1] - self.end;
                    last = &slice[..slice.len() - beyond];
                    whole = rest;
                }
                None => first = &first[..len],
            }
        } else {
            whole = &whole[..0];
        }
        let elements = first
            .iter()
            .chain(whole.iter().copied().flatten())
            .chain(last);
        Elements { elements, len }
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let len = self.end - self.start;
        assert!(index <= len, "{len} items were cut at {index}");
        let mid = self.start + index;
        // Slices that end before the cut have no part in the second half, and those that begin at
        // it or later have none in the first.
        let done = self.ends.partition_point(|&end| end <= mid);
        let begun = match done {
            0 => usize::from(mid > self.start),
            done => done + usize::from(self.ends[done - 1] < mid),
        };
        let left = Stretch {
            end: mid,
            slices: &self.slices[..begun.min(self.slices.len())],
            ends: &self.ends[..begun.min(self.ends.len())],
            ..self
        };
        let right = Stretch {
            start: mid,
            slices: &self.slices[done..],
            ends: &self.ends[done..],
            ..self
        };
        (left, right)
    }
}

type Flattened<'f, 'data, T> = Flatten<Copied<slice::Iter<'f, &'data [T]>>>;
type Both<'f, 'data, T> = Chain<slice::Iter<'data, T>, Flattened<'f, 'data, T>>;

/// The elements of a stretch, whose number is known.
struct Elements<'f, 'data, T> {
    elements: Chain<Both<'f, 'data, T>, slice::Iter<'data, T>>,
    len: usize,
}

impl<'data, T> Iterator for Elements<'_, 'data, T> {
    type Item = &'data T;

    #[inline]
    fn next(&mut self) -> Option<&'data T> {
        let element = self.elements.next()?;
        self.len -= 1;
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }

    #[inline]
    fn fold<B, F: FnMut(B, &'data T) -> B>(self, init: B, f: F) -> B {
        self.elements.fold(init, f)
    }
}

impl<T> DoubleEndedIterator for Elements<'_, '_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let element = self.elements.next_back()?;
        self.len -= 1;
        Some(element)
    }
}

impl<T> ExactSizeIterator for Elements<'_, '_, T> {}
