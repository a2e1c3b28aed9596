//! How vectors begin: made in place, from the ranks' parts, or spread from rank 0.
#![forbid(unsafe_code)]

use crate::cluster::Cluster;
use crate::shuffle::send_cut;
use crate::travel::Travel;
use crate::vec::DistVec;
use std::panic::Location;
use tine_iter::prelude::*;

impl Cluster {
    /// A vector of `len` items. Each is made from its index by its rank.
    ///
    /// Sends nothing, but all ranks call it with the same `len`, in the same order. If they do not,
    /// the next collective ends the job.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let squares = c.generate(10, |i| i * i);
    ///     assert_eq!(squares.all_gather()[9], 81);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn generate<T, F>(&self, len: usize, make: F) -> DistVec<T>
    where
        T: Send,
        F: Fn(usize) -> T + Sync + Send,
    {
        self.ask(len);
        let here = self.cut(len, self.rank())..self.cut(len, self.rank() + 1);
        DistVec::new(self.clone(), here.into_par_iter().map(make).collect())
    }

    /// A vector of the parts that the ranks bring.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.from_local(vec![c.rank(); 2]);
    ///     assert_eq!(v.all_gather(), [0, 0, 1, 1, 2, 2]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn from_local<T>(&self, part: Vec<T>) -> DistVec<T> {
        DistVec::new(self.clone(), part)
    }

    /// A vector of rank 0's items, in even parts. The other ranks' items are dropped. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let names = if c.is_root() { vec!["Ada", "Bob", "Cy"] } else { vec![] };
    ///     let names = c.scatter(names.into_iter().map(String::from).collect());
    ///     assert_eq!(names.local().len(), [1, 2][c.rank()]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn scatter<T: Travel>(&self, on_root: Vec<T>) -> DistVec<T> {
        let mut items = match self.is_root() {
            true => on_root,
            false => Vec::new(),
        };
        let call = self.enter::<T>("scatter", Location::caller(), items.len() as u64);
        if self.size() > 1 {
            let cuts: Vec<usize> = (0..=self.size())
                .map(|rank| self.cut(items.len(), rank))
                .collect();
            items = send_cut(&call, items, &cuts).items;
        }
        DistVec::new(self.clone(), items)
    }
}
