//! Parallel iterators over a `HashSet` with any hasher, in any order.
#![forbid(unsafe_code)]

use super::via_vec::via_vec;
use super::walk::walked;
use crate::convert::{IntoParallelIterator, ParallelDrainFull};
use crate::sources::kit::unindexed;
use crate::sources::vec;
use std::collections::{HashSet, hash_set};
use std::marker::PhantomData;

via_vec! {
    /// Parallel iterator that moves the items out of a set.
    ///
    /// ```
    /// use std::collections::HashSet;
    /// use tine::{collections::hash_set::IntoIter, prelude::*};
    ///
    /// let items: IntoIter<i32> = HashSet::from([1, 5]).into_par_iter();
    /// assert_eq!(items.sum::<i32>(), 6);
    /// ```
    #[derive(Debug)]
    pub struct IntoIter[T];
    [T: Send] yields T;
    from [, S] HashSet<T, S>;
}

walked! {
    /// Parallel iterator over the items of a set, by shared reference.
    ///
    /// ```
    /// use std::collections::HashSet;
    /// use tine::{collections::hash_set::Iter, prelude::*};
    ///
    /// let set = HashSet::from([1, 5]);
    /// let items: Iter<'_, i32> = set.par_iter();
    /// assert_eq!(items.sum::<i32>(), 6);
    /// ```
    pub struct Iter['a, T](hash_set::Iter<'a, T>);
    ['a, T: Sync] yields &'a T;
    from [, S] &'a HashSet<T, S>;
}

/// Parallel iterator that empties a set, which keeps its capacity.
///
/// ```
/// use std::collections::{HashSet, hash_set};
/// use tine::prelude::*;
///
/// let mut set = HashSet::from([1, 2, 3]);
/// assert_eq!(set.par_drain().sum::<i32>(), 6);
/// assert!(set.is_empty());
/// ```
#[derive(Debug)]
pub struct Drain<'a, T> {
    inner: vec::IntoIter<T>,
    marker: PhantomData<&'a mut HashSet<T>>,
}

impl<'a, T: Send, S> ParallelDrainFull for &'a mut HashSet<T, S> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain(self) -> Drain<'a, T> {
        let items: Vec<_> = self.drain().collect();
        Drain {
            inner: items.into_par_iter(),
            marker: PhantomData,
        }
    }
}

unindexed! {
    ['a, T: Send] Drain<'a, T> => T;
    opt_len(it) it.inner.opt_len();
    inner(it) it.inner;
}
