//! Running sums across ranks: each rank's total first, then its items.
#![forbid(unsafe_code)]

use crate::cluster::Site;
use crate::travel::Travel;
use crate::vec::DistVec;
use std::ops::Add;
use std::panic::Location;
use tine_iter::prelude::*;
use tine_pool::current_num_threads;

impl<T: Travel + Clone + Sync> DistVec<T> {
    /// Replaces each item by all items up to it, combined by `f`. (C)
    ///
    /// `f` must be associative. How it is bracketed depends on the ranks and threads.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let most = c.scatter(vec![1, 5, 2, 7, 3]).scan(|a, b| *a.max(b));
    ///     assert_eq!(most.all_gather(), [1, 5, 5, 7, 7]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn scan<F>(self, f: F) -> Self
    where
        F: Fn(&T, &T) -> T + Sync + Send,
    {
        self.scanned("scan", Location::caller(), None, &f)
    }

    /// Replaces each item by all items *before* it, combined by `f`, beginning with `first`. (C)
    ///
    /// All ranks give the same `first`, which is not compared.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let starts = c.scatter(vec![3, 1, 4, 1, 5]).scan_exclusive(0, |a, b| a + b);
    ///     assert_eq!(starts.all_gather(), [0, 3, 4, 8, 9]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn scan_exclusive<F>(self, first: T, f: F) -> Self
    where
        F: Fn(&T, &T) -> T + Sync + Send,
    {
        self.scanned("scan_exclusive", Location::caller(), Some(first), &f)
    }

    /// Replaces each item by the sum of all items up to it. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert_eq!(c.generate(5, |i| i).prefix_sum().all_gather(), [0, 1, 3, 6, 10]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn prefix_sum(self) -> Self
    where
        T: Add<Output = T>,
    {
        let add = |a: &T, b: &T| a.clone() + b.clone();
        self.scanned("prefix_sum", Location::caller(), None, &add)
    }

    /// With `first`, each item is left out of its own sum.
    fn scanned<F>(self, what: &'static str, site: Site, first: Option<T>, f: &F) -> Self
    where
        F: Fn(&T, &T) -> T + Sync + Send,
    {
        let (cluster, mut part) = self.into_both();
        let size = part.len().div_ceil(4 * current_num_threads()).max(1024);
        let totals: Vec<T> = part.par_chunks(size).map(|chunk| total(chunk, f)).collect();
        let mine = totals.iter().cloned().reduce(|a, b| f(&a, &b));
        let call = cluster.enter::<T>(what, site, 0);
        let all = call.all_gather_values(mine).into_iter();
        drop(call);
        let before = first
            .clone()
            .into_iter()
            .chain(all.take(cluster.rank()).flatten());
        let mut before = before.reduce(|a, b| f(&a, &b));
        let mut starts: Vec<Option<T>> = Vec::with_capacity(totals.len());
        for total in totals {
            let next = match &before {
                Some(before) => f(before, &total),
                None => total,
            };
            starts.push(before.replace(next));
        }
        let exclusive = first.is_some();
        let chunks = part.par_chunks_mut(size).zip(starts);
        chunks.for_each(|(chunk, start)| run(chunk, start, exclusive, f));
        DistVec::new(cluster, part)
    }
}

/// All items of a chunk, which is not empty, combined.
fn total<T: Clone>(chunk: &[T], f: &impl Fn(&T, &T) -> T) -> T {
    let (first, rest) = chunk.split_first().expect("no chunk is empty");
    rest.iter().fold(first.clone(), |sum, item| f(&sum, item))
}

/// Scans a chunk, starting from the value of what lies before it.
fn run<T: Clone>(chunk: &mut [T], start: Option<T>, exclusive: bool, f: &impl Fn(&T, &T) -> T) {
    let mut so_far = start;
    for item in chunk {
        let next = match &so_far {
            Some(so_far) => f(so_far, item),
            None => item.clone(),
        };
        let before = so_far.replace(next.clone());
        *item = match before {
            Some(before) if exclusive => before,
            _ => next,
        };
    }
}
