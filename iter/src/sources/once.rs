//! One item.
#![forbid(unsafe_code)]

use crate::convert::IntoParallelIterator;
use crate::sources::kit::indexed;

/// Parallel iterator over one item.
///
/// Made by [`once`].
///
/// ```
/// use tine::{iter::{Once, once}, prelude::*};
///
/// let seven: Once<i32> = once(7);
/// assert_eq!(seven.sum::<i32>(), 7);
/// ```
#[derive(Debug, Clone)]
pub struct Once<T> {
    item: T,
}

/// Hands out `item`, and nothing else.
///
/// ```
/// use tine::iter::once;
/// use tine::prelude::*;
///
/// let v: Vec<i32> = once(0).chain(5..8).collect();
/// assert_eq!(v, [0, 5, 6, 7]);
/// ```
pub fn once<T: Send>(item: T) -> Once<T> {
    Once { item }
}

indexed! { [T: Send] Once<T> => T; len(_it) 1; inner(it) Some(it.item).into_par_iter() }
