//! Parallel iterators over the one value of an `Ok`, or none.
#![forbid(unsafe_code)]

use crate::sources::kit::{clone_inner, indexed, into_par};
use crate::sources::option;

/// Parallel iterator that moves the value out of an `Ok`; an error is dropped.
///
/// ```
/// use tine::prelude::*;
///
/// let numbers: Vec<i32> =
///     ["1", "x", "3"].par_iter().flat_map(|text| text.parse::<i32>()).collect();
/// assert_eq!(numbers, [1, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct IntoIter<T> {
    inner: option::IntoIter<T>,
}

/// Parallel iterator over the value of an `Ok`, by shared reference.
///
/// ```
/// use tine::{result::Iter, prelude::*};
///
/// let there: Iter<'_, i32> = Ok::<_, ()>(7).par_iter();
/// assert_eq!(there.sum::<i32>(), 7);
/// ```
#[derive(Debug)]
pub struct Iter<'a, T> {
    inner: option::IntoIter<&'a T>,
}

/// Parallel iterator over the value of an `Ok`, by exclusive reference.
///
/// ```
/// use tine::{result::IterMut, prelude::*};
///
/// let mut seven = Ok::<_, ()>(7);
/// let there: IterMut<'_, i32> = seven.par_iter_mut();
/// there.for_each(|n| *n += 1);
/// assert_eq!(seven, Ok(8));
/// ```
#[derive(Debug)]
pub struct IterMut<'a, T> {
    inner: option::IntoIter<&'a mut T>,
}

clone_inner! { ['a, T] Iter<'a, T> }

indexed! { [T: Send] IntoIter<T> => T; len(it) it.inner.len(); inner(it) it.inner }
indexed! { ['a, T: Sync] Iter<'a, T> => &'a T; len(it) it.inner.len(); inner(it) it.inner }
indexed! { ['a, T: Send] IterMut<'a, T> => &'a mut T; len(it) it.inner.len(); inner(it) it.inner }

into_par! {
    [T: Send, E] Result<T, E> => IntoIter<T>: T;
    (result) IntoIter { inner: result.ok().into_par_iter() }
}
into_par! {
    ['a, T: Sync, E] &'a Result<T, E> => Iter<'a, T>: &'a T;
    (result) Iter { inner: result.as_ref().ok().into_par_iter() }
}
into_par! {
    ['a, T: Send, E] &'a mut Result<T, E> => IterMut<'a, T>: &'a mut T;
    (result) IterMut { inner: result.as_mut().ok().into_par_iter() }
}
