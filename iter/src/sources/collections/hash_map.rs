//! Parallel iterators over a `HashMap` with any hasher, in any order.
#![forbid(unsafe_code)]

use super::via_vec::via_vec;
use super::walk::walked;
use crate::convert::{IntoParallelIterator, ParallelDrainFull};
use crate::sources::kit::unindexed;
use crate::sources::vec;
use std::collections::{HashMap, hash_map};
use std::marker::PhantomData;

via_vec! {
    /// Parallel iterator that moves the entries out of a map.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use tine::{collections::hash_map::IntoIter, prelude::*};
    ///
    /// let entries: IntoIter<_, _> = HashMap::from([(1, 'a')]).into_par_iter();
    /// assert_eq!(entries.max(), Some((1, 'a')));
    /// ```
    #[derive(Debug)]
    pub struct IntoIter[K, V];
    [K: Send, V: Send] yields (K, V);
    from [, S] HashMap<K, V, S>;
}

walked! {
    /// Parallel iterator over the entries of a map, by shared reference.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use tine::{collections::hash_map::Iter, prelude::*};
    ///
    /// let map = HashMap::from([(1, 'a')]);
    /// let entries: Iter<'_, _, _> = map.par_iter();
    /// assert_eq!(entries.max(), Some((&1, &'a')));
    /// ```
    pub struct Iter['a, K, V](hash_map::Iter<'a, K, V>);
    ['a, K: Sync, V: Sync] yields (&'a K, &'a V);
    from [, S] &'a HashMap<K, V, S>;
}

via_vec! {
    /// Parallel iterator over the entries of a map, with exclusive references
    /// to the values.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use tine::{collections::hash_map::IterMut, prelude::*};
    ///
    /// let mut map = HashMap::from([(1, 'a')]);
    /// let entries: IterMut<'_, _, _> = map.par_iter_mut();
    /// entries.for_each(|(_, letter)| letter.make_ascii_uppercase());
    /// assert_eq!(map[&1], 'A');
    /// ```
    #[derive(Debug)]
    pub struct IterMut['a, K, V];
    ['a, K: Sync, V: Send] yields (&'a K, &'a mut V);
    from [, S] &'a mut HashMap<K, V, S>;
}

/// Parallel iterator that empties a map, which keeps its capacity.
///
/// ```
/// use std::collections::{HashMap, hash_map};
/// use tine::prelude::*;
///
/// let mut map = HashMap::from([("a", 1), ("b", 2)]);
/// assert_eq!(map.par_drain().map(|(_, n)| n).sum::<i32>(), 3);
/// assert!(map.is_empty());
/// ```
#[derive(Debug)]
pub struct Drain<'a, K, V> {
    inner: vec::IntoIter<(K, V)>,
    marker: PhantomData<&'a mut HashMap<K, V>>,
}

impl<'a, K: Send, V: Send, S> ParallelDrainFull for &'a mut HashMap<K, V, S> {
    type Iter = Drain<'a, K, V>;
    type Item = (K, V);

    fn par_drain(self) -> Drain<'a, K, V> {
        let entries: Vec<_> = self.drain().collect();
        Drain {
            inner: entries.into_par_iter(),
            marker: PhantomData,
        }
    }
}

unindexed! {
    ['a, K: Send, V: Send] Drain<'a, K, V> => (K, V);
    opt_len(it) it.inner.opt_len();
    inner(it) it.inner;
}
