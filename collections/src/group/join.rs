//! Joining two parallel iterators by key.
#![forbid(unsafe_code)]

use super::rows::Groups;
use std::fmt;
use std::hash::Hash;
use std::iter::once;
use tine_iter::iter::ParallelIterator;

/// Two parallel iterators to be joined by key, from [`join_by`](super::ParallelGrouping::join_by).
///
/// The right side has been grouped. A method walks the left side, in parallel, and looks each item
/// up. Results come in the left side's order, and for one left item in the right side's.
///
/// ```
/// use tine::prelude::*;
///
/// let orders = [(1, "tea"), (2, "rye"), (1, "oil"), (3, "fig")];
/// let names = [(1, "Ada"), (2, "Bob")];
/// let bills = orders
///     .par_iter()
///     .join_by(names.par_iter(), |order| order.0, |name| name.0)
///     .left();
/// let bills: Vec<_> = bills.iter().map(|(order, name)| (order.1, name.map(|n| n.1))).collect();
/// assert_eq!(
///     bills,
///     [("tea", Some("Ada")), ("rye", Some("Bob")), ("oil", Some("Ada")), ("fig", None)],
/// );
/// ```
pub struct Join<L, R, K, F> {
    pub(super) left: L,
    pub(super) right: Groups<K, R>,
    pub(super) key: F,
}

impl<L, R, K, F> Join<L, R, K, F>
where
    L: ParallelIterator,
    R: Send + Sync,
    K: Eq + Hash + Send + Sync,
    F: Fn(&L::Item) -> K + Send + Sync,
{
    /// Each pair of a left and a right item with the same key.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let pairs = (0..4).into_par_iter().join_by((2..9).into_par_iter(), |&l| l, |&r| r % 4);
    /// assert_eq!(pairs.inner(), [(0, 4), (0, 8), (1, 5), (2, 2), (2, 6), (3, 3), (3, 7)]);
    /// ```
    pub fn inner(self) -> Vec<(L::Item, R)>
    where
        L::Item: Clone,
        R: Clone,
    {
        let Join { left, right, key } = self;
        let matches = |item: L::Item| {
            let found: Vec<(L::Item, R)> = match right.get(&key(&item)) {
                None => Vec::new(),
                Some(row) => row.iter().map(|r| (item.clone(), r.clone())).collect(),
            };
            found
        };
        left.flat_map_iter(matches).collect()
    }

    /// Each pair as in [`inner`](Self::inner), and each left item without a partner, alone.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let pairs = (0..3).into_par_iter().join_by((1..3).into_par_iter(), |&l| l, |&r| r);
    /// assert_eq!(pairs.left(), [(0, None), (1, Some(1)), (2, Some(2))]);
    /// ```
    pub fn left(self) -> Vec<(L::Item, Option<R>)>
    where
        L::Item: Clone,
        R: Clone,
    {
        let Join { left, right, key } = self;
        let matches = |item: L::Item| {
            let found: Vec<(L::Item, Option<R>)> = match right.get(&key(&item)) {
                None => once((item, None)).collect(),
                Some(row) => row
                    .iter()
                    .map(|r| (item.clone(), Some(r.clone())))
                    .collect(),
            };
            found
        };
        left.flat_map_iter(matches).collect()
    }

    /// Each left item that has a partner, once.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let join = (0..6).into_par_iter().join_by([1, 3, 1].into_par_iter(), |&l| l, |&r| r);
    /// assert_eq!(join.semi(), [1, 3]);
    /// ```
    pub fn semi(self) -> Vec<L::Item> {
        let Join { left, right, key } = self;
        left.filter(|item| right.get(&key(item)).is_some())
            .collect()
    }

    /// Each left item that has no partner.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let join = (0..6).into_par_iter().join_by([1, 3, 1].into_par_iter(), |&l| l, |&r| r);
    /// assert_eq!(join.anti(), [0, 2, 4, 5]);
    /// ```
    pub fn anti(self) -> Vec<L::Item> {
        let Join { left, right, key } = self;
        left.filter(|item| right.get(&key(item)).is_none())
            .collect()
    }
}

impl<L, R, K, F> fmt::Debug for Join<L, R, K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join")
            .field("groups", &self.right.len())
            .finish_non_exhaustive()
    }
}
