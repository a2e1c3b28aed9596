//! Parallel iterators over a `VecDeque`.
#![forbid(unsafe_code)]

use super::as_vec::AsVec;
use crate::convert::{IntoParallelIterator, ParallelDrainRange};
use crate::iter::ParallelIterator;
use crate::sources::kit::{indexed, into_par};
use crate::sources::span::within;
use crate::sources::vec;
use std::collections::VecDeque;
use std::ops::{Range, RangeBounds};

/// Parallel iterator that moves the items out of a deque.
///
/// ```
/// use std::collections::VecDeque;
/// use tine::{collections::vec_deque::IntoIter, prelude::*};
///
/// let items: IntoIter<i32> = VecDeque::from([1, 5]).into_par_iter();
/// assert_eq!(items.sum::<i32>(), 6);
/// ```
#[derive(Debug, Clone)]
pub struct IntoIter<T> {
    inner: vec::IntoIter<T>,
}

indexed! { [T: Send] IntoIter<T> => T; len(it) it.inner.len(); inner(it) it.inner }
into_par! {
    [T: Send] VecDeque<T> => IntoIter<T>: T;
    (deque) IntoIter { inner: Vec::from(deque).into_par_iter() }
}

/// Parallel iterator over the items of a deque, by shared reference.
///
/// ```
/// use std::collections::VecDeque;
/// use tine::{collections::vec_deque::Iter, prelude::*};
///
/// let deque = VecDeque::from([1, 5]);
/// let items: Iter<'_, i32> = deque.par_iter();
/// assert_eq!(items.sum::<i32>(), 6);
/// ```
#[derive(Debug)]
pub struct Iter<'a, T> {
    front: &'a [T],
    back: &'a [T],
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter { ..*self }
    }
}

indexed! {
    ['a, T: Sync] Iter<'a, T> => &'a T;
    len(it) it.front.len() + it.back.len();
    inner(it) it.front.into_par_iter().chain(it.back);
}
into_par! {
    ['a, T: Sync] &'a VecDeque<T> => Iter<'a, T>: &'a T;
    (deque) {
        let (front, back) = deque.as_slices();
        Iter { front, back }
    }
}

/// Parallel iterator over the items of a deque, by exclusive reference.
///
/// ```
/// use std::collections::VecDeque;
/// use tine::{collections::vec_deque::IterMut, prelude::*};
///
/// let mut deque = VecDeque::from([1, 5]);
/// let items: IterMut<'_, i32> = deque.par_iter_mut();
/// items.for_each(|n| *n += 1);
/// assert_eq!(deque, [2, 6]);
/// ```
#[derive(Debug)]
pub struct IterMut<'a, T> {
    front: &'a mut [T],
    back: &'a mut [T],
}

indexed! {
    ['a, T: Send] IterMut<'a, T> => &'a mut T;
    len(it) it.front.len() + it.back.len();
    inner(it) it.front.into_par_iter().chain(it.back);
}
into_par! {
    ['a, T: Send] &'a mut VecDeque<T> => IterMut<'a, T>: &'a mut T;
    (deque) {
        let (front, back) = deque.as_mut_slices();
        IterMut { front, back }
    }
}

/// Parallel iterator that moves a range out of a deque and closes the gap.
///
/// ```
/// use std::collections::VecDeque;
/// use tine::prelude::*;
///
/// let mut deque = VecDeque::from([1, 2, 3, 4]);
/// assert_eq!(deque.par_drain(1..=2).sum::<i32>(), 5);
/// assert_eq!(deque, [1, 4]);
/// ```
#[derive(Debug)]
pub struct Drain<'a, T> {
    deque: &'a mut VecDeque<T>,
    /// What is still to be removed; empty once a vector has taken it over.
    range: Range<usize>,
}

impl<'a, T: Send> ParallelDrainRange<usize> for &'a mut VecDeque<T> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Drain<'a, T> {
        Drain {
            range: within(range, self.len()),
            deque: self,
        }
    }
}

indexed! {
    ['a, T: Send] Drain<'a, T> => T;
    len(it) it.range.len();
    with(it, callback) {
        let mut drain = it;
        let range = std::mem::take(&mut drain.range);
        AsVec::new(drain.deque).vec.par_drain(range).with_producer(callback)
    };
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        self.deque.drain(self.range.clone());
    }
}
