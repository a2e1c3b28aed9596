//! Parallel iterators over a `LinkedList`, in its order.
#![forbid(unsafe_code)]

use super::gather::gathered;
use crate::sources::kit::clone_inner;
use std::collections::LinkedList;

gathered! {
    /// Parallel iterator that moves the items out of a list.
    #[derive(Debug, Clone)]
    pub struct IntoIter[T];
    [T: Send] yields T;
    from [] LinkedList<T>;
}

gathered! {
    /// Parallel iterator over the items of a list, by shared reference.
    #[derive(Debug)]
    pub struct Iter['a, T];
    ['a, T: Sync] yields &'a T;
    from [] &'a LinkedList<T>;
}

clone_inner! { ['a, T] Iter<'a, T> }

gathered! {
    /// Parallel iterator over the items of a list, by exclusive reference.
    #[derive(Debug)]
    pub struct IterMut['a, T];
    ['a, T: Send] yields &'a mut T;
    from [] &'a mut LinkedList<T>;
}
