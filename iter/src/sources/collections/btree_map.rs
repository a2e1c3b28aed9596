//! Parallel iterators over a `BTreeMap`, in the order of its keys.
#![forbid(unsafe_code)]

use super::gather::gathered;
use super::walk::walked;
use std::collections::{BTreeMap, btree_map};

gathered! {
    /// Parallel iterator that moves the entries out of a map.
    #[derive(Debug)]
    pub struct IntoIter[K, V];
    [K: Send, V: Send] yields (K, V);
    from [] BTreeMap<K, V>;
}

walked! {
    /// Parallel iterator over the entries of a map, by shared reference.
    pub struct Iter['a, K, V](btree_map::Iter<'a, K, V>);
    ['a, K: Sync, V: Sync] yields (&'a K, &'a V);
    from [] &'a BTreeMap<K, V>;
}

gathered! {
    /// Parallel iterator over the entries of a map, with exclusive references
    /// to the values.
    #[derive(Debug)]
    pub struct IterMut['a, K, V];
    ['a, K: Sync, V: Send] yields (&'a K, &'a mut V);
    from [] &'a mut BTreeMap<K, V>;
}
