//! Parallel iterators that move values out of vectors.

// The only place where sources move values by hand.
//
// `Slots` owns the values of a stretch of memory that it borrows. It is made from a vector whose length no
// longer covers them, or from an array that will not drop them. From then on each value has one owner: the
// slots, the iterator made from them, or whatever received the value from that iterator. An owner that is
// dropped before its end, by a panic or because a folder is full, drops exactly the values that it still owns.
// An owner that is forgotten leaks its values, which is sound.

use crate::convert::ParallelDrainRange;
use crate::plumbing::{Producer, ProducerCallback};
use crate::sources::kit::{indexed, into_par};
use crate::sources::slice::{Iter, IterMut};
use crate::sources::span::within;
use std::iter::FusedIterator;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ops::{Range, RangeBounds};
use std::{ptr, slice};

/// Parallel iterator that moves the values out of a vector.
///
/// ```
/// use tine::prelude::*;
///
/// let words = vec![String::from("to"), String::from("be")];
/// let lengths: usize = words.into_par_iter().map(|word| word.len()).sum();
/// assert_eq!(lengths, 4);
/// ```
#[derive(Debug, Clone)]
pub struct IntoIter<T> {
    vec: Vec<T>,
}

indexed! {
    [T: Send] IntoIter<T> => T;
    len(it) it.vec.len();
    with(it, callback) {
        // When all items are drained, the vector has only its buffer to free.
        let mut vec = it.vec;
        vec.par_drain(..).with_producer(callback)
    };
}

into_par! { [T: Send] Vec<T> => IntoIter<T>: T; (vec) IntoIter { vec } }
into_par! { [T: Send] Box<[T]> => IntoIter<T>: T; (slice) IntoIter { vec: slice.into_vec() } }
into_par! {
    ['data, T: Sync + 'data] &'data Vec<T> => Iter<'data, T>: &'data T;
    (vec) vec.as_slice().into_par_iter()
}
into_par! {
    ['data, T: Send + 'data] &'data mut Vec<T> => IterMut<'data, T>: &'data mut T;
    (vec) vec.as_mut_slice().into_par_iter()
}

/// Parallel iterator that moves a range out of a vector and closes the gap.
///
/// The vector keeps its capacity. Items that are not consumed are dropped.
///
/// ```
/// use tine::prelude::*;
///
/// let mut v = vec![1, 2, 3, 4, 5];
/// assert_eq!(v.par_drain(1..3).sum::<i32>(), 5);
/// assert_eq!(v, [1, 4, 5]);
/// ```
#[derive(Debug)]
pub struct Drain<'data, T: Send> {
    vec: &'data mut Vec<T>,
    range: Range<usize>,
    /// How long the vector was.
    len: usize,
    /// The values in `range` have gone to a producer, and the vector's length
    /// is `range.start` until the gap is closed.
    lent: bool,
}

impl<'data, T: Send> ParallelDrainRange<usize> for &'data mut Vec<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Self::Iter {
        let len = self.len();
        Drain {
            range: within(range, len),
            len,
            lent: false,
            vec: self,
        }
    }
}

indexed! {
    ['data, T: Send] Drain<'data, T> => T;
    len(it) it.range.len();
    with(it, callback) {
        let mut drain = it;
        callback.callback(drain.lend())
    };
}

impl<T: Send> Drain<'_, T> {
    /// Hands the values of the range to a producer.
    fn lend(&mut self) -> Slots<'_, T> {
        debug_assert!(!self.lent && self.vec.len() == self.len);
        self.lent = true;
        // SAFETY: the new length is at most the old one, whose values are all live.
        unsafe { self.vec.set_len(self.range.start) };
        let slots = &mut self.vec.spare_capacity_mut()[..self.range.len()];
        // SAFETY: these are the live values of `range`; the vector's length no
        // longer covers them, and `drop` will only look beyond them.
        unsafe { Slots::new(slots) }
    }

    /// Moves the values behind the range to its start.
    ///
    /// ```text
    ///   [ kept | moved out | tail ]      [ kept | tail ]
    ///          start       end   len            start
    /// ```
    fn close_gap(&mut self) {
        let Range { start, end } = self.range;
        let tail = self.len - end;
        let base = self.vec.as_mut_ptr();
        // SAFETY: `end` is within the buffer.
        let from = unsafe { base.add(end) };
        // SAFETY: `start` is within the buffer.
        let to = unsafe { base.add(start) };
        // SAFETY: the tail's values were never lent and lie within the buffer. The values of the gap, which it
        // may overwrite, have no owner any more.
        unsafe { ptr::copy(from, to, tail) };
        // SAFETY: the kept values and the tail now lie side by side.
        unsafe { self.vec.set_len(start + tail) };
    }
}

impl<T: Send> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        if self.lent {
            self.close_gap();
        } else {
            self.vec.drain(self.range.clone());
        }
    }
}

/// Lends the values of an array to a callback, as a producer.
pub(super) fn with_array<T, CB, const N: usize>(array: [T; N], callback: CB) -> CB::Output
where
    T: Send,
    CB: ProducerCallback<T>,
{
    let mut array = ManuallyDrop::new(array);
    let first = ptr::from_mut(&mut *array).cast::<MaybeUninit<T>>();
    // SAFETY: an array of N values is N slots in a row, borrowed until the end
    // of this function.
    let slots = unsafe { slice::from_raw_parts_mut(first, N) };
    // SAFETY: all are live, and the array will not drop them.
    callback.callback(unsafe { Slots::new(slots) })
}

/// Produces the values of a stretch of memory by moving them out of it.
///
/// Every slot holds a live value, and that value belongs to these slots alone.
struct Slots<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
}

impl<'a, T> Slots<'a, T> {
    /// # Safety
    ///
    /// Every slot holds a live value that no other code will read or drop.
    unsafe fn new(slots: &'a mut [MaybeUninit<T>]) -> Self {
        Slots { slots }
    }

    /// Gives up the values without dropping them.
    fn release(mut self) -> &'a mut [MaybeUninit<T>] {
        mem::take(&mut self.slots)
    }
}

impl<'a, T: Send> Producer for Slots<'a, T> {
    type Item = T;
    type IntoIter = SlotsIter<'a, T>;

    fn into_iter(self) -> SlotsIter<'a, T> {
        SlotsIter {
            slots: self.release().iter_mut(),
        }
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.release().split_at_mut(index);
        (Slots { slots: left }, Slots { slots: right })
    }
}

impl<T> Drop for Slots<'_, T> {
    fn drop(&mut self) {
        drop_all(mem::take(&mut self.slots));
    }
}

/// Moves values out of slots, from either end.
///
/// Every slot that is left in the iterator holds a live value of its own.
struct SlotsIter<'a, T> {
    slots: slice::IterMut<'a, MaybeUninit<T>>,
}

impl<T> Iterator for SlotsIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let slot = self.slots.next()?;
        // SAFETY: the value was live, and its slot has just left the iterator.
        Some(unsafe { slot.assume_init_read() })
    }

    /// Drops `n` values together. `step_by` uses it.
    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        let slots = mem::take(&mut self.slots).into_slice();
        let (skipped, rest) = slots.split_at_mut(n.min(slots.len()));
        self.slots = rest.iter_mut();
        drop_all(skipped);
        self.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.slots.size_hint()
    }

    fn count(self) -> usize {
        self.slots.len()
    }
}

impl<T> DoubleEndedIterator for SlotsIter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        let slot = self.slots.next_back()?;
        // SAFETY: the value was live, and its slot has just left the iterator.
        Some(unsafe { slot.assume_init_read() })
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        let slots = mem::take(&mut self.slots).into_slice();
        let (rest, skipped) = slots.split_at_mut(slots.len().saturating_sub(n));
        self.slots = rest.iter_mut();
        drop_all(skipped);
        self.next_back()
    }
}

impl<T> ExactSizeIterator for SlotsIter<'_, T> {}

impl<T> FusedIterator for SlotsIter<'_, T> {}

impl<T> Drop for SlotsIter<'_, T> {
    fn drop(&mut self) {
        drop_all(mem::take(&mut self.slots).into_slice());
    }
}

/// Drops the values in `slots`, all of which must be live and owned by the caller.
///
/// A destructor that panics does not keep the others from running.
fn drop_all<T>(slots: &mut [MaybeUninit<T>]) {
    let values = ptr::from_mut(slots) as *mut [T];
    // SAFETY: `Slots` and `SlotsIter` call this with live values that they own, and that they have given
    // up before: all that are left when they are dropped, or those that are skipped.
    unsafe { ptr::drop_in_place(values) };
}
