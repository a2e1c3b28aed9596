//! Parallel iterators over a `BTreeSet`, in its order.
#![forbid(unsafe_code)]

use super::via_vec::via_vec;
use super::walk::walked;
use std::collections::{BTreeSet, btree_set};

via_vec! {
    /// Parallel iterator that moves the items out of a set.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use tine::{collections::btree_set::IntoIter, prelude::*};
    ///
    /// let items: IntoIter<i32> = BTreeSet::from([1, 5]).into_par_iter();
    /// assert_eq!(items.sum::<i32>(), 6);
    /// ```
    #[derive(Debug)]
    pub struct IntoIter[T];
    [T: Send] yields T;
    from [] BTreeSet<T>;
}

walked! {
    /// Parallel iterator over the items of a set, by shared reference.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use tine::{collections::btree_set::Iter, prelude::*};
    ///
    /// let set = BTreeSet::from([1, 5]);
    /// let items: Iter<'_, i32> = set.par_iter();
    /// assert_eq!(items.sum::<i32>(), 6);
    /// ```
    pub struct Iter['a, T](btree_set::Iter<'a, T>);
    ['a, T: Sync] yields &'a T;
    from [] &'a BTreeSet<T>;
}
