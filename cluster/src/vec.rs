//! `DistVec`: a vector of which every rank has a part.
#![forbid(unsafe_code)]

use crate::cluster::{Call, Cluster};
use crate::shuffle::{rebalanced, send_cut};
use crate::travel::{Travel, decode_items, encode_items};
use std::fmt;
use std::panic::Location;

/// A vector of which every rank has a part: the items of rank 0, then those of rank 1 …
///
/// Methods called `local…` never communicate. Those marked **(C)** are called by all ranks.
///
/// ```
/// tine_cluster::run_threads(3, |c| {
///     let v = c.generate(10, |i| i * 7 % 10);
///     assert_eq!(v.len(), 10);
///     assert_eq!(v.sort().all_gather(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
///     Ok(())
/// }).unwrap();
/// ```
#[derive(Clone)]
pub struct DistVec<T> {
    cluster: Cluster,
    part: Vec<T>,
}

impl<T> DistVec<T> {
    pub(crate) fn new(cluster: Cluster, part: Vec<T>) -> Self {
        DistVec { cluster, part }
    }

    pub(crate) fn into_both(self) -> (Cluster, Vec<T>) {
        (self.cluster, self.part)
    }

    /// The ranks of the vector.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// This rank's part.
    pub fn local(&self) -> &[T] {
        &self.part
    }

    /// This rank's part, to change.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let mut v = c.generate(5, |i| i);
    ///     v.local_mut().iter_mut().for_each(|n| *n *= 10);
    ///     assert_eq!(v.all_gather(), [0, 10, 20, 30, 40]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn local_mut(&mut self) -> &mut [T] {
        &mut self.part
    }

    /// This rank's part, taken out.
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     let part: Vec<usize> = c.generate(5, |i| i).into_local();
    ///     assert_eq!(part, [vec![0, 1], vec![2, 3, 4]][c.rank()]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn into_local(self) -> Vec<T> {
        self.part
    }

    /// The number of items on all ranks. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert_eq!(c.from_local(vec!["x"; c.rank()]).len(), 3);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn len(&self) -> usize {
        let here = Location::caller();
        let call = self
            .cluster
            .enter::<()>("len", here, self.part.len() as u64);
        call.total()
    }

    /// Whether no rank has an item. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(2, |c| {
    ///     assert!(!c.from_local(vec!["x"; c.rank()]).is_empty());
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        let here = Location::caller();
        let call = self
            .cluster
            .enter::<()>("is_empty", here, self.part.len() as u64);
        call.total() == 0
    }

    /// The number of items on the ranks before this one. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let offset = c.from_local(vec!["x"; 5]).offset();
    ///     assert_eq!(offset, 5 * c.rank());
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn offset(&self) -> usize {
        let here = Location::caller();
        let call = self
            .cluster
            .enter::<()>("offset", here, self.part.len() as u64);
        call.offsets()[self.cluster.rank()]
    }
}

impl<T: Travel> DistVec<T> {
    /// Moves items so that the lengths of the ranks' parts differ by at most one; the order stays. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(4, |c| {
    ///     let all = if c.rank() == 2 { (0..10).collect() } else { Vec::new() };
    ///     let even = c.from_local(all).rebalance();
    ///     assert_eq!(even.local().len(), [2, 3, 2, 3][c.rank()]);
    ///     assert_eq!(even.all_gather(), (0..10).collect::<Vec<_>>());
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn rebalance(self) -> Self {
        let (cluster, part) = self.into_both();
        let call = cluster.enter::<T>("rebalance", Location::caller(), part.len() as u64);
        let part = match cluster.size() {
            1 => part,
            _ => rebalanced(&call, part),
        };
        drop(call);
        DistVec { cluster, part }
    }

    /// All items on rank 0; `None` on the others. (C)
    ///
    /// Rank 0 needs memory for all of them.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let all = c.generate(5, |i| i.to_string()).gather();
    ///     assert_eq!(all.is_some(), c.is_root());
    ///     assert!(all.is_none_or(|all| all == ["0", "1", "2", "3", "4"]));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn gather(self) -> Option<Vec<T>> {
        let (cluster, part) = self.into_both();
        let call = cluster.enter::<T>("gather", Location::caller(), part.len() as u64);
        if cluster.size() == 1 {
            return Some(part);
        }
        let mut cuts = vec![part.len(); cluster.size() + 1];
        cuts[0] = 0;
        let all = send_cut(&call, part, &cuts).items;
        cluster.is_root().then_some(all)
    }

    /// All items on every rank. Each needs memory for them. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     assert_eq!(c.generate(4, |i| i as u8).all_gather(), [0, 1, 2, 3]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn all_gather(&self) -> Vec<T>
    where
        T: Clone,
    {
        let here = Location::caller();
        let call = self
            .cluster
            .enter::<T>("all_gather", here, self.part.len() as u64);
        all_gathered(&call, &self.part)
    }
}

/// The items of all ranks, on all ranks.
pub(crate) fn all_gathered<T: Travel + Clone>(call: &Call<'_>, part: &[T]) -> Vec<T> {
    let cluster = call.cluster;
    if cluster.size() == 1 {
        return part.to_vec();
    }
    let Some(plain) = cluster.form::<T>() else {
        let mut all = Vec::new();
        call.each_block(&encode_items::<T, _>(part), |rank, block| {
            if rank == cluster.rank() {
                call.more_room(&mut all, part.len());
                all.extend_from_slice(part);
            } else {
                let mut part = decode_items::<T>(block);
                call.more_room(&mut all, part.len());
                all.append(&mut part);
            }
        });
        return all;
    };
    let mine = plain.bytes(part);
    let lens = call.lens(mine.len());
    let size: usize = lens.iter().sum();
    let room = plain.zeros(size / size_of::<T>());
    let mut all = room.unwrap_or_else(|| call.no_room(size));
    call.all_gather_into(mine, &lens, plain.bytes_mut(&mut all));
    all
}

impl<T: fmt::Debug> fmt::Debug for DistVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistVec")
            .field("rank", &self.cluster.rank())
            .field("local", &self.part)
            .finish()
    }
}
