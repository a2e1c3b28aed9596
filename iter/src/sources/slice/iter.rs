//! Element by element: `par_iter` and `par_iter_mut` on slices.
#![forbid(unsafe_code)]

use crate::sources::body::Even;
use crate::sources::kit::{indexed, into_par};

/// Parallel iterator over the elements of a slice, by shared reference.
///
/// ```
/// use tine::prelude::*;
///
/// let squares: u64 = [1, 2, 3].par_iter().map(|x| x * x).sum();
/// assert_eq!(squares, 14);
/// ```
#[derive(Debug)]
pub struct Iter<'data, T> {
    pub(super) slice: &'data [T],
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter { slice: self.slice }
    }
}

indexed! {
    ['data, T: Sync] Iter<'data, T> => &'data T;
    len(it) it.slice.len();
    producer(it) Even::<_, _, false> {
        body: it.slice,
        step: 1,
        each: |slice: &'data [T], _| slice.iter(),
    };
}

/// Parallel iterator over the elements of a slice, by exclusive reference.
///
/// ```
/// use tine::prelude::*;
///
/// let mut v = [1, 2, 3];
/// v.par_iter_mut().for_each(|x| *x *= 10);
/// assert_eq!(v, [10, 20, 30]);
/// ```
#[derive(Debug)]
pub struct IterMut<'data, T> {
    pub(super) slice: &'data mut [T],
}

indexed! {
    ['data, T: Send] IterMut<'data, T> => &'data mut T;
    len(it) it.slice.len();
    producer(it) Even::<_, _, false> {
        body: it.slice,
        step: 1,
        each: |slice: &'data mut [T], _| slice.iter_mut(),
    };
}

into_par! { ['data, T: Sync] &'data [T] => Iter<'data, T>: &'data T; (slice) Iter { slice } }
into_par! { ['data, T: Sync] &'data Box<[T]> => Iter<'data, T>: &'data T; (slice) Iter { slice } }
into_par! {
    ['data, T: Send] &'data mut [T] => IterMut<'data, T>: &'data mut T;
    (slice) IterMut { slice }
}
into_par! {
    ['data, T: Send] &'data mut Box<[T]> => IterMut<'data, T>: &'data mut T;
    (slice) IterMut { slice }
}
