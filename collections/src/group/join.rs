//! Joining a parallel iterator to a right side by key. `side` contains the right sides, `probe` looks the items
//! up.
#![forbid(unsafe_code)]

use super::lookup::Noting;
use super::probe::{Found, Probed, Probing};
use super::side::RightSide;
use std::fmt;
use std::iter::repeat_n;
use tine_iter::iter::ParallelIterator;
use tine_iter::iter::plumbing::UnindexedConsumer;

/// A parallel iterator to be joined by key, from [`join_by`](super::ParallelGrouping::join_by) or
/// [`join_on`](super::ParallelGrouping::join_on).
///
/// Each method first gathers the right side by key, unless that has been done before. Then it walks the left
/// side in parallel, and looks each item up. Results come in the left side's order; the results of one left
/// item come in the right side's order.
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
#[must_use = "nothing is joined until a kind of join is asked for"]
pub struct Join<L, D, F> {
    pub(super) left: L,
    pub(super) right: D,
    pub(super) key: F,
}

/// Calls a closure with each pair.
struct InnerWith<W>(W);

impl<L, R, O, W: Fn(&L, &R) -> O + Sync> Found<L, R> for InnerWith<W> {
    type Out = O;

    #[inline]
    fn found(&self, item: L, row: &[R]) -> impl Iterator<Item = O> {
        row.iter().map(move |r| (self.0)(&item, r))
    }
}

/// Calls a closure with each pair, or once without a right item.
struct LeftWith<W>(W);

impl<L, R, O, W: Fn(&L, Option<&R>) -> O + Sync> Found<L, R> for LeftWith<W> {
    type Out = O;

    #[inline]
    fn found(&self, item: L, row: &[R]) -> impl Iterator<Item = O> {
        (0..row.len().max(1)).map(move |nth| (self.0)(&item, row.get(nth)))
    }
}

/// Pairs. The left item is cloned for all pairs but the last.
struct Inner;

impl<L: Clone, R: Clone> Found<L, R> for Inner {
    type Out = (L, R);

    #[inline]
    fn found(&self, item: L, row: &[R]) -> impl Iterator<Item = (L, R)> {
        repeat_n(item, row.len()).zip(row.iter().cloned())
    }
}

/// Pairs, or the left item alone.
struct Left;

impl<L: Clone, R: Clone> Found<L, R> for Left {
    type Out = (L, Option<R>);

    #[inline]
    fn found(&self, item: L, row: &[R]) -> impl Iterator<Item = (L, Option<R>)> {
        let rights = (0..row.len().max(1)).map(|nth| row.get(nth).cloned());
        repeat_n(item, row.len().max(1)).zip(rights)
    }
}

/// Left items with a partner, or left items without a partner.
struct Having(bool);

impl<L, R> Found<L, R> for Having {
    type Out = L;

    #[inline]
    fn found(&self, item: L, row: &[R]) -> impl Iterator<Item = L> {
        (row.is_empty() != self.0).then_some(item).into_iter()
    }
}

/// The items of a lazy join.
struct Matches<L, D, F, W> {
    join: Join<L, D, F>,
    with: W,
}

impl<L, D, F, W> ParallelIterator for Matches<L, D, F, W>
where
    L: ParallelIterator,
    D: RightSide,
    F: Fn(&L::Item) -> D::Key + Send + Sync,
    W: Found<L::Item, D::Item, Out: Send> + Send,
{
    type Item = W::Out;

    const KEEPS_ALL: bool = L::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<W::Out>>(self, consumer: C) -> C::Result {
        let Join { left, right, key } = self.join;
        let table = right.into_table();
        let probing = Probing::new(&table, &key, &self.with);
        let results = Probed { left, probing }.drive_unindexed(consumer);
        // Before the return: results are not dropped if a destructor panics after it.
        drop((table, key, self.with));
        results
    }
}

/// Left items with a partner, or left items without a partner.
struct Chosen<L, D, F> {
    join: Join<L, D, F>,
    having: Having,
}

impl<L, D, F> ParallelIterator for Chosen<L, D, F>
where
    L: ParallelIterator,
    D: RightSide,
    F: Fn(&L::Item) -> D::Key + Send + Sync,
{
    type Item = L::Item;

    const KEEPS_ALL: bool = L::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<L::Item>>(self, consumer: C) -> C::Result {
        let Join { left, right, key } = self.join;
        let table = right.into_keys();
        let probing = Probing::new(&table, &key, &self.having);
        let results = Probed { left, probing }.drive_unindexed(consumer);
        drop((table, key));
        results
    }
}

impl<L, D, F> Join<L, D, F>
where
    L: ParallelIterator,
    D: RightSide,
    F: Fn(&L::Item) -> D::Key + Send + Sync,
{
    fn with<W: Found<L::Item, D::Item>>(self, with: W) -> Matches<L, D, F, W> {
        Matches { join: self, with }
    }

    /// Each pair of a left and a right item with the same key.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let pairs = (0..4).into_par_iter().join_by((2..9).into_par_iter(), |&l| l, |&r| r % 4);
    /// assert_eq!(pairs.inner(), [(0, 4), (0, 8), (1, 5), (2, 2), (2, 6), (3, 3), (3, 7)]);
    /// ```
    pub fn inner(self) -> Vec<(L::Item, D::Item)>
    where
        L::Item: Clone,
        D::Item: Clone,
    {
        self.with(Inner).collect()
    }

    /// What `with` makes from each pair of a left and a right item with the same key. Lazy, and nothing is
    /// cloned.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let prices = [("tea", 3), ("rye", 2)];
    /// let orders = [("rye", 10), ("tea", 1), ("fig", 5)];
    /// let total: u32 = orders
    ///     .par_iter()
    ///     .join_by(prices.par_iter(), |order| order.0, |price| price.0)
    ///     .inner_with(|order, price| order.1 * price.1)
    ///     .sum();
    /// assert_eq!(total, 23);
    /// ```
    pub fn inner_with<O, W>(self, with: W) -> impl ParallelIterator<Item = O>
    where
        O: Send,
        W: Fn(&L::Item, &D::Item) -> O + Send + Sync,
    {
        self.with(InnerWith(with))
    }

    /// Each pair as in [`inner`](Self::inner), and each left item without a partner, alone.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let pairs = (0..3).into_par_iter().join_by((1..3).into_par_iter(), |&l| l, |&r| r);
    /// assert_eq!(pairs.left(), [(0, None), (1, Some(1)), (2, Some(2))]);
    /// ```
    pub fn left(self) -> Vec<(L::Item, Option<D::Item>)>
    where
        L::Item: Clone,
        D::Item: Clone,
    {
        self.with(Left).collect()
    }

    /// What `with` makes from each pair, and from each left item without a partner. Lazy, and nothing is
    /// cloned.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let names = [(1, "Ada"), (2, "Bob")];
    /// let lines: Vec<String> = [2, 3]
    ///     .into_par_iter()
    ///     .join_by(names, |&id| id, |name| name.0)
    ///     .left_with(|id, name| format!("{id} {}", name.map_or("?", |n| n.1)))
    ///     .collect();
    /// assert_eq!(lines, ["2 Bob", "3 ?"]);
    /// ```
    pub fn left_with<O, W>(self, with: W) -> impl ParallelIterator<Item = O>
    where
        O: Send,
        W: Fn(&L::Item, Option<&D::Item>) -> O + Send + Sync,
    {
        self.with(LeftWith(with))
    }

    /// Each left item that has a partner, once. Of the right side only the keys are kept.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let join = (0..6).into_par_iter().join_by([1, 3, 1].into_par_iter(), |&l| l, |&r| r);
    /// assert_eq!(join.semi(), [1, 3]);
    /// ```
    pub fn semi(self) -> Vec<L::Item> {
        let having = Having(true);
        Chosen { join: self, having }.collect()
    }

    /// Each left item that has no partner. Of the right side only the keys are kept.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let join = (0..6).into_par_iter().join_by([1, 3, 1].into_par_iter(), |&l| l, |&r| r);
    /// assert_eq!(join.anti(), [0, 2, 4, 5]);
    /// ```
    pub fn anti(self) -> Vec<L::Item> {
        let having = Having(false);
        Chosen { join: self, having }.collect()
    }

    /// Each pair, and each item of either side without a partner, alone. Right items without a
    /// partner come last; their order is not specified.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let pairs = (0..3).into_par_iter().join_by((1..4).into_par_iter(), |&l| l, |&r| r).outer();
    /// let expected = [(Some(0), None), (Some(1), Some(1)), (Some(2), Some(2)), (None, Some(3))];
    /// assert_eq!(pairs, expected);
    /// ```
    ///
    /// A right side that was built before, here a [`FrozenMap`](crate::FrozenMap), keeps its items;
    /// the pairs hold clones of them:
    ///
    /// ```
    /// use tine::{ParHashMap, prelude::*};
    ///
    /// let stock = ParHashMap::from([("tea", 3), ("rye", 2)]).freeze();
    /// let orders = ["fig", "tea"].into_par_iter().join_on(&stock, |&order| order);
    /// let lines = orders.outer();
    /// assert_eq!(lines, [(Some("fig"), None), (Some("tea"), Some(3)), (None, Some(2))]);
    /// ```
    #[allow(clippy::type_complexity)] // a name would hide what it is
    pub fn outer(self) -> Vec<(Option<L::Item>, Option<D::Item>)>
    where
        L::Item: Clone,
        D::Item: Clone,
    {
        let noting = self.right.into_noting();
        let probed = Probed {
            left: self.left,
            probing: Probing::new(&noting, &self.key, &Left),
        };
        let mut pairs: Vec<_> = probed.map(|(l, r)| (Some(l), r)).collect();
        pairs.extend(noting.strangers().map(|r| (None, Some(r))));
        pairs
    }
}

impl<L, D, F> fmt::Debug for Join<L, D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join").finish_non_exhaustive()
    }
}
