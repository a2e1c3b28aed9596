//! Parallel iterators over a `LinkedList`, in its order.
#![forbid(unsafe_code)]

use super::via_vec::via_vec;
use crate::sources::kit::clone_inner;
use std::collections::LinkedList;

via_vec! {
    /// Parallel iterator that moves the items out of a list.
    ///
    /// ```
    /// use std::collections::LinkedList;
    /// use tine::{collections::linked_list::IntoIter, prelude::*};
    ///
    /// let items: IntoIter<i32> = LinkedList::from([1, 5]).into_par_iter();
    /// assert_eq!(items.sum::<i32>(), 6);
    /// ```
    #[derive(Debug, Clone)]
    pub struct IntoIter[T];
    [T: Send] yields T;
    from [] LinkedList<T>;
}

via_vec! {
    /// Parallel iterator over the items of a list, by shared reference.
    ///
    /// ```
    /// use std::collections::LinkedList;
    /// use tine::{collections::linked_list::Iter, prelude::*};
    ///
    /// let list = LinkedList::from([1, 5]);
    /// let items: Iter<'_, i32> = list.par_iter();
    /// assert_eq!(items.sum::<i32>(), 6);
    /// ```
    #[derive(Debug)]
    pub struct Iter['a, T];
    ['a, T: Sync] yields &'a T;
    from [] &'a LinkedList<T>;
}

clone_inner! { ['a, T] Iter<'a, T> }

via_vec! {
    /// Parallel iterator over the items of a list, by exclusive reference.
    ///
    /// ```
    /// use std::collections::LinkedList;
    /// use tine::{collections::linked_list::IterMut, prelude::*};
    ///
    /// let mut list = LinkedList::from([1, 5]);
    /// let items: IterMut<'_, i32> = list.par_iter_mut();
    /// items.for_each(|n| *n += 1);
    /// assert!(list.iter().eq(&[2, 6]));
    /// ```
    #[derive(Debug)]
    pub struct IterMut['a, T];
    ['a, T: Send] yields &'a mut T;
    from [] &'a mut LinkedList<T>;
}
