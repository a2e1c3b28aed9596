//! Parallel iterators over arrays.
#![forbid(unsafe_code)]

use crate::sources::kit::{indexed, into_par};
use crate::sources::slice::{Iter, IterMut};
use crate::sources::vec::with_array;

/// Parallel iterator that moves the values out of an array.
///
/// ```
/// use tine::prelude::*;
///
/// let total: u32 = [1, 2, 3].into_par_iter().sum();
/// assert_eq!(total, 6);
/// ```
#[derive(Debug, Clone)]
pub struct IntoIter<T, const N: usize> {
    array: [T; N],
}

indexed! {
    [T: Send, const N: usize] IntoIter<T, N> => T;
    len(_it) N;
    with(it, callback) with_array(it.array, callback);
}

into_par! { [T: Send, const N: usize] [T; N] => IntoIter<T, N>: T; (array) IntoIter { array } }
into_par! {
    ['data, T: Sync + 'data, const N: usize] &'data [T; N] => Iter<'data, T>: &'data T;
    (array) array.as_slice().into_par_iter()
}
into_par! {
    ['data, T: Send + 'data, const N: usize] &'data mut [T; N] => IterMut<'data, T>: &'data mut T;
    (array) array.as_mut_slice().into_par_iter()
}
