//! No items.
#![forbid(unsafe_code)]

use crate::convert::IntoParallelIterator;
use crate::sources::kit::indexed;
use std::fmt;
use std::marker::PhantomData;

/// Parallel iterator over nothing.
///
/// Made by [`empty`].
///
/// ```
/// use tine::{iter::{Empty, empty}, prelude::*};
///
/// let nothing: Empty<i32> = empty();
/// assert_eq!(nothing.count(), 0);
/// ```
pub struct Empty<T> {
    marker: PhantomData<T>,
}

/// Hands out nothing.
///
/// ```
/// use tine::iter::empty;
/// use tine::prelude::*;
///
/// assert_eq!(empty::<i32>().max(), None);
/// ```
pub fn empty<T: Send>() -> Empty<T> {
    Empty {
        marker: PhantomData,
    }
}

impl<T> Clone for Empty<T> {
    fn clone(&self) -> Self {
        Empty {
            marker: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Empty<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Empty")
    }
}

indexed! { [T: Send] Empty<T> => T; len(_it) 0; inner(_it) None.into_par_iter() }
