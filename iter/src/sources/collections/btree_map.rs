//! Parallel iterators over a `BTreeMap`, in the order of its keys.
#![forbid(unsafe_code)]

use super::via_vec::via_vec;
use super::walk::walked;
use std::collections::{BTreeMap, btree_map};

via_vec! {
    /// Parallel iterator that moves the entries out of a map.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use tine::{collections::btree_map::IntoIter, prelude::*};
    ///
    /// let entries: IntoIter<_, _> = BTreeMap::from([(1, 'a')]).into_par_iter();
    /// assert_eq!(entries.max(), Some((1, 'a')));
    /// ```
    #[derive(Debug)]
    pub struct IntoIter[K, V];
    [K: Send, V: Send] yields (K, V);
    from [] BTreeMap<K, V>;
}

walked! {
    /// Parallel iterator over the entries of a map, by shared reference.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use tine::{collections::btree_map::Iter, prelude::*};
    ///
    /// let map = BTreeMap::from([(1, 'a')]);
    /// let entries: Iter<'_, _, _> = map.par_iter();
    /// assert_eq!(entries.max(), Some((&1, &'a')));
    /// ```
    pub struct Iter['a, K, V](btree_map::Iter<'a, K, V>);
    ['a, K: Sync, V: Sync] yields (&'a K, &'a V);
    from [] &'a BTreeMap<K, V>;
}

via_vec! {
    /// Parallel iterator over the entries of a map, with exclusive references
    /// to the values.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use tine::{collections::btree_map::IterMut, prelude::*};
    ///
    /// let mut map = BTreeMap::from([(1, 'a')]);
    /// let entries: IterMut<'_, _, _> = map.par_iter_mut();
    /// entries.for_each(|(_, letter)| letter.make_ascii_uppercase());
    /// assert_eq!(map[&1], 'A');
    /// ```
    #[derive(Debug)]
    pub struct IterMut['a, K, V];
    ['a, K: Sync, V: Send] yields (&'a K, &'a mut V);
    from [] &'a mut BTreeMap<K, V>;
}
