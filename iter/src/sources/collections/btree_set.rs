//! Parallel iterators over a `BTreeSet`, in its order.
#![forbid(unsafe_code)]

use super::gather::gathered;
use super::walk::walked;
use std::collections::{BTreeSet, btree_set};

gathered! {
    /// Parallel iterator that moves the items out of a set.
    #[derive(Debug)]
    pub struct IntoIter[T];
    [T: Send] yields T;
    from [] BTreeSet<T>;
}

walked! {
    /// Parallel iterator over the items of a set, by shared reference.
    pub struct Iter['a, T](btree_set::Iter<'a, T>);
    ['a, T: Sync] yields &'a T;
    from [] &'a BTreeSet<T>;
}
