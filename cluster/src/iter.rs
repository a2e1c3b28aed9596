//! `DistIter`: a pipeline of which every rank runs its part.
//!
//! A rank's part is a parallel iterator of tine. Adapters that look at one item at a time are
//! passed on to it. Methods that need other ranks' items are collectives, and most of those are in
//! files of their own.
#![forbid(unsafe_code)]

use crate::cluster::Cluster;
use crate::vec::DistVec;
use std::fmt;
use std::panic::Location;
use tine_iter::iter::{
    Cloned, Copied, Filter, FilterMap, FlatMap, FlatMapIter, Fold, IndexedParallelIterator,
    Inspect, IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, Map,
    MapInit, ParallelIterator, Update,
};
use tine_iter::{slice, vec};

/// A pipeline of which every rank runs its part, on its own threads.
///
/// Nothing runs until a method asks for items: [`collect`](Self::collect), or a **(C)** collective,
/// which all ranks call. Closures run where the items are. They may borrow. What they compute
/// should not depend on the rank; otherwise the result depends on the number of ranks.
///
/// ```
/// tine_cluster::run_threads(3, |c| {
///     let factor = 3;
///     let v = c.generate(10, |i| i as u64);
///     let sum: u64 = v.par_iter().map(|n| n * factor).filter(|n| n % 2 == 0).sum();
///     assert_eq!(sum, 60);
///     Ok(())
/// }).unwrap();
/// ```
#[must_use = "pipelines do nothing until they are consumed"]
#[derive(Clone)]
pub struct DistIter<I> {
    cluster: Cluster,
    iter: I,
}

impl<I> DistIter<I> {
    pub(crate) fn new(cluster: Cluster, iter: I) -> Self {
        DistIter { cluster, iter }
    }

    pub(crate) fn into_both(self) -> (Cluster, I) {
        (self.cluster, self.iter)
    }

    /// The ranks that run it.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(10, |i| i);
    ///     let odd = v.par_iter().filter(|n| *n % 2 == 1);
    ///     assert_eq!((odd.cluster().size(), odd.cluster().rank()), (2, c.rank()));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }
}

/// Where pipelines begin.
impl<T> DistVec<T> {
    /// A pipeline over references to the items.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(10, |i| i as u32);
    ///     let even: usize = v.par_iter().filter(|n| **n % 2 == 0).count();
    ///     assert_eq!(even, 5);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn par_iter(&self) -> DistIter<slice::Iter<'_, T>>
    where
        T: Sync,
    {
        DistIter::new(self.cluster().clone(), self.local().par_iter())
    }

    /// A pipeline over mutable references to the items.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let mut v = c.generate(4, |i| i);
    ///     v.par_iter_mut().for_each(|n| *n += 1);
    ///     assert_eq!(v.all_gather(), [1, 2, 3, 4]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn par_iter_mut(&mut self) -> DistIter<slice::IterMut<'_, T>>
    where
        T: Send,
    {
        let cluster = self.cluster().clone();
        DistIter::new(cluster, self.local_mut().par_iter_mut())
    }

    /// A pipeline over the items.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let words = c.generate(4, |i| i).into_par_iter().map(|n| n.to_string()).collect();
    ///     assert_eq!(words.all_gather(), ["0", "1", "2", "3"]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn into_par_iter(self) -> DistIter<vec::IntoIter<T>>
    where
        T: Send,
    {
        let (cluster, part) = self.into_both();
        DistIter::new(cluster, part.into_par_iter())
    }
}

impl<I: ParallelIterator> DistIter<I> {
    /// Adds any adapters of tine to this rank's part.
    ///
    /// They see only this rank's items: adapters that move positions, or take some of all items, do
    /// so rank by rank.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(8, |i| i).into_par_iter().local(|part| part.chunks(3)).collect();
    ///     assert_eq!(v.all_gather(), [vec![0, 1, 2], vec![3], vec![4, 5, 6], vec![7]]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn local<J: ParallelIterator>(self, f: impl FnOnce(I) -> J) -> DistIter<J> {
        DistIter {
            cluster: self.cluster,
            iter: f(self.iter),
        }
    }

    /// Applies `f` to each item.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(4, |i| i).par_iter().map(|n| n * 10).collect();
    ///     assert_eq!(v.all_gather(), [0, 10, 20, 30]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn map<F, R>(self, f: F) -> DistIter<Map<I, F>>
    where
        F: Fn(I::Item) -> R + Sync + Send,
        R: Send,
    {
        self.local(|iter| iter.map(f))
    }

    /// Keeps the items for which `f` returns `true`.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(6, |i| i).into_par_iter().filter(|n| n % 2 == 0).collect();
    ///     assert_eq!(v.all_gather(), [0, 2, 4]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn filter<F>(self, f: F) -> DistIter<Filter<I, F>>
    where
        F: Fn(&I::Item) -> bool + Sync + Send,
    {
        self.local(|iter| iter.filter(f))
    }

    /// Applies `f` to each item and keeps the values that it returns.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(6, |i| i).into_par_iter().filter_map(|n| n.checked_sub(3)).collect();
    ///     assert_eq!(v.all_gather(), [0, 1, 2]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn filter_map<F, R>(self, f: F) -> DistIter<FilterMap<I, F>>
    where
        F: Fn(I::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        self.local(|iter| iter.filter_map(f))
    }

    /// Replaces each item by those of a parallel iterator.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(4, |i| i).into_par_iter().flat_map(|n| vec![n; n]).collect();
    ///     assert_eq!(v.all_gather(), [1, 2, 2, 3, 3, 3]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn flat_map<F, P>(self, f: F) -> DistIter<FlatMap<I, F>>
    where
        F: Fn(I::Item) -> P + Sync + Send,
        P: IntoParallelIterator,
    {
        self.local(|iter| iter.flat_map(f))
    }

    /// Replaces each item by those of an iterator.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(4, |i| i).into_par_iter().flat_map_iter(|n| 0..n).collect();
    ///     assert_eq!(v.all_gather(), [0, 0, 1, 0, 1, 2]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn flat_map_iter<F, S>(self, f: F) -> DistIter<FlatMapIter<I, F>>
    where
        F: Fn(I::Item) -> S + Sync + Send,
        S: IntoIterator,
        S::Item: Send,
    {
        self.local(|iter| iter.flat_map_iter(f))
    }

    /// Calls `f` with each item on its way.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(3, |i| i).into_par_iter().inspect(|n| assert!(*n < 3)).collect();
    ///     assert_eq!(v.all_gather(), [0, 1, 2]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn inspect<F>(self, f: F) -> DistIter<Inspect<I, F>>
    where
        F: Fn(&I::Item) + Sync + Send,
    {
        self.local(|iter| iter.inspect(f))
    }

    /// Changes each item on its way.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(3, |i| i).into_par_iter().update(|n| *n += 5).collect();
    ///     assert_eq!(v.all_gather(), [5, 6, 7]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn update<F>(self, f: F) -> DistIter<Update<I, F>>
    where
        F: Fn(&mut I::Item) + Sync + Send,
    {
        self.local(|iter| iter.update(f))
    }

    /// Clones items that are references.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(3, |i| i.to_string());
    ///     assert_eq!(v.par_iter().cloned().max(), Some("2".to_owned()));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn cloned<'a, T>(self) -> DistIter<Cloned<I>>
    where
        T: Clone + Send + Sync + 'a,
        I: ParallelIterator<Item = &'a T>,
    {
        self.local(ParallelIterator::cloned)
    }

    /// Copies items that are references.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     assert_eq!(c.generate(3, |i| i).par_iter().copied().max(), Some(2));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn copied<'a, T>(self) -> DistIter<Copied<I>>
    where
        T: Copy + Send + Sync + 'a,
        I: ParallelIterator<Item = &'a T>,
    {
        self.local(ParallelIterator::copied)
    }

    /// Applies `f` to each item and to a value that is made once for a piece of them.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(3, |i| i).into_par_iter().map_init(String::new, |text, n| {
    ///         text.push('x');
    ///         n + 1
    ///     });
    ///     assert_eq!(v.collect().all_gather(), [1, 2, 3]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn map_init<F, N, T, R>(self, init: N, f: F) -> DistIter<MapInit<I, N, F>>
    where
        F: Fn(&mut T, I::Item) -> R + Sync + Send,
        N: Fn() -> T + Sync + Send,
        R: Send,
    {
        self.local(|iter| iter.map_init(init, f))
    }

    /// Folds the items of each piece. The number of pieces depends on the ranks and on the threads
    /// of each.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let sums = c.generate(100, |i| i).into_par_iter().fold(|| 0, |sum, n| sum + n);
    ///     assert_eq!(sums.sum::<usize>(), 4950);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn fold<T, N, F>(self, init: N, f: F) -> DistIter<Fold<I, N, F>>
    where
        F: Fn(T, I::Item) -> T + Sync + Send,
        N: Fn() -> T + Sync + Send,
        T: Send,
    {
        self.local(|iter| iter.fold(init, f))
    }

    /// The items of this rank's pipeline as this rank's part of a vector.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let v = c.generate(5, |i| i).into_par_iter().filter(|n| n % 2 == 1).collect();
    ///     assert_eq!(v.all_gather(), [1, 3]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn collect(self) -> DistVec<I::Item> {
        DistVec::new(self.cluster, self.iter.collect())
    }

    /// Calls `f` with each item, on the rank that has it. Ranks do not wait for one another.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let calls = AtomicUsize::new(0);
    /// tine_cluster::run_threads(2, |c| {
    ///     c.generate(5, |i| i).par_iter().for_each(|_| {
    ///         calls.fetch_add(1, Ordering::Relaxed);
    ///     });
    ///     Ok(())
    /// }).unwrap();
    /// assert_eq!(calls.into_inner(), 5);
    /// ```
    pub fn for_each<F>(self, f: F)
    where
        F: Fn(I::Item) + Sync + Send,
    {
        self.iter.for_each(f);
    }
}

impl<I: IndexedParallelIterator> DistIter<I> {
    /// Each item with its position among those of all ranks. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(5, |i| i * i).into_par_iter().enumerate().collect();
    ///     assert_eq!(v.all_gather(), [(0, 0), (1, 1), (2, 4), (3, 9), (4, 16)]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn enumerate(self) -> DistIter<impl IndexedParallelIterator<Item = (usize, I::Item)>> {
        let (cluster, iter) = self.into_both();
        let call = cluster.enter::<()>("enumerate", Location::caller(), iter.len() as u64);
        let before = call.offsets()[cluster.rank()];
        drop(call);
        let iter = iter.enumerate().map(move |(at, item)| (before + at, item));
        DistIter::new(cluster, iter)
    }
}

impl<I> fmt::Debug for DistIter<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistIter")
            .field("cluster", &self.cluster)
            .finish_non_exhaustive()
    }
}
