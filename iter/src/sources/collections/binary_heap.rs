//! Parallel iterators over a `BinaryHeap`, in any order.
#![forbid(unsafe_code)]

use super::as_vec::AsVec;
use crate::convert::{ParallelDrainFull, ParallelDrainRange};
use crate::sources::kit::{clone_inner, indexed, into_par};
use crate::sources::{slice, vec};
use std::collections::BinaryHeap;

/// Parallel iterator that moves the items out of a heap.
///
/// ```
/// use std::collections::BinaryHeap;
/// use tine::{collections::binary_heap::IntoIter, prelude::*};
///
/// let items: IntoIter<i32> = BinaryHeap::from([1, 5]).into_par_iter();
/// assert_eq!(items.sum::<i32>(), 6);
/// ```
#[derive(Debug, Clone)]
pub struct IntoIter<T> {
    inner: vec::IntoIter<T>,
}

indexed! { [T: Send] IntoIter<T> => T; len(it) it.inner.len(); inner(it) it.inner }
into_par! {
    [T: Send] BinaryHeap<T> => IntoIter<T>: T;
    (heap) IntoIter { inner: heap.into_vec().into_par_iter() }
}

/// Parallel iterator over the items of a heap, by shared reference.
///
/// ```
/// use std::collections::BinaryHeap;
/// use tine::{collections::binary_heap::Iter, prelude::*};
///
/// let heap = BinaryHeap::from([1, 5]);
/// let items: Iter<'_, i32> = heap.par_iter();
/// assert_eq!(items.sum::<i32>(), 6);
/// ```
#[derive(Debug)]
pub struct Iter<'a, T> {
    inner: slice::Iter<'a, T>,
}

clone_inner! { ['a, T] Iter<'a, T> }
indexed! { ['a, T: Sync + 'a] Iter<'a, T> => &'a T; len(it) it.inner.len(); inner(it) it.inner }
into_par! {
    ['a, T: Sync] &'a BinaryHeap<T> => Iter<'a, T>: &'a T;
    (heap) Iter { inner: heap.as_slice().into_par_iter() }
}

/// Parallel iterator that empties a heap, which keeps its capacity.
///
/// ```
/// use std::collections::BinaryHeap;
/// use tine::prelude::*;
///
/// let mut heap = BinaryHeap::from([1, 5, 2]);
/// assert_eq!(heap.par_drain().sum::<i32>(), 8);
/// assert!(heap.is_empty());
/// ```
#[derive(Debug)]
pub struct Drain<'a, T> {
    heap: &'a mut BinaryHeap<T>,
}

impl<'a, T: Ord + Send> ParallelDrainFull for &'a mut BinaryHeap<T> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain(self) -> Drain<'a, T> {
        Drain { heap: self }
    }
}

indexed! {
    ['a, T: Ord + Send] Drain<'a, T> => T;
    len(it) it.heap.len();
    with(it, callback) AsVec::new(it.heap).vec.par_drain(..).with_producer(callback);
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        self.heap.clear();
    }
}
