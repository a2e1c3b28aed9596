//! One value of all items: the values of the ranks, gathered and combined in the order of the
//! ranks.
#![forbid(unsafe_code)]

use crate::cluster::Site;
use crate::iter::DistIter;
use crate::travel::Travel;
use std::cmp::Ordering;
use std::iter::{Product, Sum};
use std::panic::Location;
use tine_iter::iter::ParallelIterator;

/// Every rank gets the result. Values are combined in the order of the items, so an operation need
/// not be commutative. How they are bracketed depends on the ranks and the threads. For sums of
/// floats that do not depend on them, see [`deterministic`](DistIter::deterministic).
impl<I: ParallelIterator> DistIter<I> {
    /// The values of all ranks, in order.
    fn of_all<V: Travel>(
        self,
        what: &'static str,
        site: Site,
        mine: impl FnOnce(I) -> V,
    ) -> std::vec::IntoIter<V> {
        let (cluster, iter) = self.into_both();
        let value = mine(iter);
        let call = cluster.enter::<V>(what, site, 0);
        call.all_gather_values(value).into_iter()
    }

    /// The number of items. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert_eq!(c.generate(10, |i| i).par_iter().filter(|n| **n > 3).count(), 6);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn count(self) -> usize {
        let (cluster, iter) = self.into_both();
        let mine = iter.count() as u64;
        cluster
            .enter::<()>("count", Location::caller(), mine)
            .total()
    }

    /// Whether `f` is true of any item. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert!(c.generate(10, |i| i).par_iter().any(|n| *n == 9));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn any(self, f: impl Fn(I::Item) -> bool + Sync + Send) -> bool {
        let (cluster, iter) = self.into_both();
        let mine = u64::from(iter.any(f));
        cluster.enter::<()>("any", Location::caller(), mine).total() > 0
    }

    /// Whether `f` is true of all items. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert!(!c.generate(10, |i| i).par_iter().all(|n| *n < 9));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn all(self, f: impl Fn(I::Item) -> bool + Sync + Send) -> bool {
        let (cluster, iter) = self.into_both();
        let mine = u64::from(!iter.all(f));
        cluster.enter::<()>("all", Location::caller(), mine).total() == 0
    }

    /// The sum of the items. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert_eq!(c.generate(10, |i| i).par_iter().sum::<usize>(), 45);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn sum<S>(self) -> S
    where
        S: Travel + Sum<I::Item> + Sum<S>,
    {
        self.of_all("sum", Location::caller(), I::sum::<S>).sum()
    }

    /// The product of the items. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert_eq!(c.generate(5, |i| i + 1).par_iter().product::<usize>(), 120);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn product<P>(self) -> P
    where
        P: Travel + Product<I::Item> + Product<P>,
    {
        self.of_all("product", Location::caller(), I::product::<P>)
            .product()
    }
}

impl<I: ParallelIterator<Item: Travel>> DistIter<I> {
    /// The items combined by `f`, beginning with those of `identity`. (C)
    ///
    /// Every rank begins with it, so it must change no item that it is combined with, and be the same
    /// on all ranks. It is not compared.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let all = c.generate(5, |i| i.to_string());
    ///     let text = all.par_iter().cloned().reduce(String::new, |a, b| a + &b);
    ///     assert_eq!(text, "01234");
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce<N, F>(self, identity: N, f: F) -> I::Item
    where
        N: Fn() -> I::Item + Sync + Send,
        F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
    {
        let all = self.of_all("reduce", Location::caller(), |iter| {
            iter.reduce(&identity, &f)
        });
        all.reduce(f).unwrap_or_else(identity)
    }

    /// The items combined by `f`; `None` if there are none. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(5, |i| i);
    ///     assert_eq!(v.into_par_iter().reduce_with(|a, b| a + b), Some(10));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce_with<F>(self, f: F) -> Option<I::Item>
    where
        F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
    {
        let all = self.of_all("reduce_with", Location::caller(), |iter| {
            iter.reduce_with(&f)
        });
        all.flatten().reduce(f)
    }

    /// The least item; the first of several. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert_eq!(c.generate(5, |i| 9 - i).into_par_iter().min(), Some(5));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn min(self) -> Option<I::Item>
    where
        I::Item: Ord,
    {
        let all = self.of_all("min", Location::caller(), I::min);
        all.flatten().min()
    }

    /// The greatest item; the last of several. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert_eq!(c.generate(5, |i| 9 - i).into_par_iter().max(), Some(9));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn max(self) -> Option<I::Item>
    where
        I::Item: Ord,
    {
        let all = self.of_all("max", Location::caller(), I::max);
        all.flatten().max()
    }

    /// The least item by `f`; the first of several. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(5, |i| (i as f64 - 2.2).abs());
    ///     assert!(v.into_par_iter().min_by(f64::total_cmp).unwrap() < 0.3);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn min_by<F>(self, f: F) -> Option<I::Item>
    where
        F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send,
    {
        let all = self.of_all("min_by", Location::caller(), |iter| iter.min_by(&f));
        all.flatten().min_by(f)
    }

    /// The greatest item by `f`; the last of several. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(5, |i| i as f64 / 2.0);
    ///     assert_eq!(v.into_par_iter().max_by(f64::total_cmp), Some(2.0));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn max_by<F>(self, f: F) -> Option<I::Item>
    where
        F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send,
    {
        let all = self.of_all("max_by", Location::caller(), |iter| iter.max_by(&f));
        all.flatten().max_by(f)
    }

    /// The item with the least key; the first of several. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(5, |i| (i % 3, i));
    ///     assert_eq!(v.into_par_iter().min_by_key(|pair| pair.0), Some((0, 0)));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn min_by_key<K, F>(self, f: F) -> Option<I::Item>
    where
        K: Ord + Send,
        F: Fn(&I::Item) -> K + Sync + Send,
    {
        let all = self.of_all("min_by_key", Location::caller(), |iter| iter.min_by_key(&f));
        all.flatten().min_by_key(f)
    }

    /// The item with the greatest key; the last of several. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(5, |i| (i % 3, i));
    ///     assert_eq!(v.into_par_iter().max_by_key(|pair| pair.0), Some((2, 2)));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn max_by_key<K, F>(self, f: F) -> Option<I::Item>
    where
        K: Ord + Send,
        F: Fn(&I::Item) -> K + Sync + Send,
    {
        let all = self.of_all("max_by_key", Location::caller(), |iter| iter.max_by_key(&f));
        all.flatten().max_by_key(f)
    }

    /// The first item of which `f` is true. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(10, |i| i);
    ///     assert_eq!(v.into_par_iter().find_first(|n| n % 4 == 3), Some(3));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn find_first<F>(self, f: F) -> Option<I::Item>
    where
        F: Fn(&I::Item) -> bool + Sync + Send,
    {
        let all = self.of_all("find_first", Location::caller(), |iter| iter.find_first(f));
        all.flatten().next()
    }
}
