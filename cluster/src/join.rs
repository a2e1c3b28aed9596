//! Joining two pipelines by key, across ranks.
//!
//! If the whole right side is small, it goes to every rank, and the left side stays where it is.
//! Otherwise both sides go to the owners of their keys. *Heavy* keys are the exception: a sample
//! shows that such a key would bring one rank at least half of its whole share of left items. The
//! left items of heavy keys stay, and their right rows go to every rank.
//!
//! ```text
//! small right    left stays                right → all
//! else           left, heavy: stays        right, heavy → all
//!                left, others → owner      right, others → owner
//! ```
//!
//! Either way each left item meets all right rows of its key on one rank.
#![forbid(unsafe_code)]

use crate::cluster::{Call, Cluster, Site};
use crate::deal::dealt;
use crate::iter::DistIter;
use crate::owner::hash_of;
use crate::shuffle::send_parts;
use crate::travel::{Travel, encode};
use crate::vec::{DistVec, all_gathered};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;
use std::mem;
use std::panic::Location;
use tine_collections::ParallelGrouping;
use tine_iter::prelude::*;
use tine_iter::vec::IntoIter;

/// The number of keys that each rank looks at.
const SAMPLE: usize = 256;
/// The part of a round's bytes up to which a right side is small.
const SMALL: usize = 4;

impl<I: ParallelIterator<Item: Travel>> DistIter<I> {
    /// Brings the items together with those of `right` that have the same key. The result has
    /// methods for each kind of join. `right` is held in tables, so let it be the smaller side.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let squares = c.generate(5, |n| (n, n * n)).into_par_iter();
    ///     let pairs = c.generate(9, |n| n).into_par_iter();
    ///     let pairs = pairs.filter(|n| *n > 2).join_by(squares, |&n| n, |square| square.0).inner();
    ///     assert_eq!(pairs.sort().all_gather(), [(3, (3, 9)), (4, (4, 16))]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn join_by<R, K, F, H>(
        self,
        right: DistIter<R>,
        key: F,
        right_key: H,
    ) -> DistJoin<I, R, F, H>
    where
        R: ParallelIterator<Item: Travel>,
        K: Eq + Hash + Send + Sync,
        F: Fn(&I::Item) -> K + Sync + Send,
        H: Fn(&R::Item) -> K + Sync + Send,
    {
        DistJoin {
            left: self,
            right,
            key,
            right_key,
        }
    }
}

/// Two pipelines, to be brought together by key, from [`DistIter::join_by`].
///
/// The results of one left item are in the order of the right side. The left side keeps its order
/// if the right side is small enough to be sent to all ranks (a quarter of a round: 64 MiB unless
/// `TINE_ROUND` says otherwise). Otherwise the order of the results is not specified: sort them.
#[must_use = "nothing is joined until a kind of join is asked for"]
pub struct DistJoin<I, R, F, H> {
    left: DistIter<I>,
    right: DistIter<R>,
    key: F,
    right_key: H,
}

/// Left items and the right rows that they meet.
type Met<L, R> = (Vec<L>, Vec<R>);

impl<I, R, K, F, H> DistJoin<I, R, F, H>
where
    I: ParallelIterator<Item: Travel>,
    R: ParallelIterator<Item: Travel + Clone + Sync>,
    K: Eq + Hash + Send + Sync,
    F: Fn(&I::Item) -> K + Sync + Send,
    H: Fn(&R::Item) -> K + Sync + Send,
{
    /// Each pair of a left and a right item with the same key. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let left = c.generate(4, |n| n).into_par_iter();
    ///     let right = c.generate(6, |n| n).into_par_iter();
    ///     let pairs = left.join_by(right, |&l| l, |&r| r % 4).inner();
    ///     assert_eq!(pairs.all_gather(), [(0, 0), (0, 4), (1, 1), (1, 5), (2, 2), (3, 3)]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn inner(self) -> DistVec<(I::Item, R::Item)>
    where
        I::Item: Clone,
    {
        self.joined("inner join", Location::caller(), |l, r, key, right_key| {
            l.join_by(r, key, right_key).inner()
        })
    }

    /// Each pair as in [`inner`](Self::inner), and each left item without a partner, alone. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let left = c.generate(3, |n| n).into_par_iter();
    ///     let right = c.scatter(vec![1, 2]).into_par_iter();
    ///     let pairs = left.join_by(right, |&l| l, |&r| r).left();
    ///     assert_eq!(pairs.all_gather(), [(0, None), (1, Some(1)), (2, Some(2))]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn left(self) -> DistVec<(I::Item, Option<R::Item>)>
    where
        I::Item: Clone,
    {
        self.joined("left join", Location::caller(), |l, r, key, right_key| {
            l.join_by(r, key, right_key).left()
        })
    }

    /// Each left item that has a partner, once. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let left = c.generate(6, |n| n).into_par_iter();
    ///     let right = c.scatter(vec![1, 3, 1]).into_par_iter();
    ///     assert_eq!(left.join_by(right, |&l| l, |&r| r).semi().all_gather(), [1, 3]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn semi(self) -> DistVec<I::Item> {
        self.joined("semi join", Location::caller(), |l, r, key, right_key| {
            l.join_by(r, key, right_key).semi()
        })
    }

    /// Each left item that has no partner. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let left = c.generate(6, |n| n).into_par_iter();
    ///     let right = c.scatter(vec![1, 3, 1]).into_par_iter();
    ///     assert_eq!(left.join_by(right, |&l| l, |&r| r).anti().all_gather(), [0, 2, 4, 5]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn anti(self) -> DistVec<I::Item> {
        self.joined("anti join", Location::caller(), |l, r, key, right_key| {
            l.join_by(r, key, right_key).anti()
        })
    }

    fn joined<O>(
        self,
        what: &'static str,
        site: Site,
        kind: impl Fn(IntoIter<I::Item>, IntoIter<R::Item>, &F, &H) -> Vec<O>,
    ) -> DistVec<O> {
        let DistJoin {
            left,
            right,
            key,
            right_key,
        } = self;
        let (cluster, left) = left.into_both();
        let (_, right) = right.into_both();
        let (left, right): Met<I::Item, R::Item> = (left.collect(), right.collect());
        let met = meet(&cluster, what, site, (left, right), &key, &right_key);
        let mut all = Vec::new();
        for (left, right) in met {
            let (left, right) = (left.into_par_iter(), right.into_par_iter());
            let mut joined = kind(left, right, &key, &right_key);
            if all.is_empty() {
                all = joined;
            } else {
                all.append(&mut joined);
            }
        }
        DistVec::new(cluster, all)
    }
}

/// Brings left items and right rows of one key to one rank.
fn meet<L, R, K>(
    cluster: &Cluster,
    what: &'static str,
    site: Site,
    (left, right): Met<L, R>,
    key: &(impl Fn(&L) -> K + Sync),
    right_key: &(impl Fn(&R) -> K + Sync),
) -> Vec<Met<L, R>>
where
    L: Travel,
    R: Travel + Clone + Sync,
    K: Hash,
{
    let ranks = cluster.size();
    let call = cluster.enter::<(L, R)>(what, site, bytes_of(cluster, &right));
    if ranks == 1 {
        return vec![(left, right)];
    }
    if call.total() <= cluster.limits().round / SMALL {
        let right = all_gathered(&call, &right);
        return vec![(left, right)];
    }
    let left_hash = |item: &L| hash_of(&key(item));
    let right_hash = |row: &R| hash_of(&right_key(row));
    let heavy = heavy(&call, &left, &left_hash);
    let (staying, left) = parted(left, &heavy, &left_hash);
    let (to_all, right) = parted(right, &heavy, &right_hash);
    let to_all = match heavy.is_empty() {
        true => Vec::new(),
        false => all_gathered(&call, &to_all),
    };
    let left = dealt(left.into_par_iter(), ranks, &left_hash);
    let left = send_parts(&call, cluster.form::<L>(), left).items;
    let right = dealt(right.into_par_iter(), ranks, &right_hash);
    let right = send_parts(&call, cluster.form::<R>(), right).items;
    vec![(staying, to_all), (left, right)]
}

/// About how many bytes the rows have when they travel.
fn bytes_of<R: Travel>(cluster: &Cluster, rows: &[R]) -> u64 {
    if cluster.form::<R>().is_some() {
        return mem::size_of_val(rows) as u64;
    }
    let few = &rows[..rows.len().min(SAMPLE)];
    if few.is_empty() {
        return 0;
    }
    let bytes = encode(few).len() as u128 * rows.len() as u128 / few.len() as u128;
    bytes as u64
}

/// The hashes that would bring one rank at least half of its share of the left items. The same on
/// all ranks.
fn heavy<L>(call: &Call<'_>, left: &[L], hash: &impl Fn(&L) -> u64) -> HashSet<u64> {
    let count = left.len().min(SAMPLE);
    let mut mine = vec![left.len() as u64, count as u64];
    mine.extend((0..count).map(|i| hash(&left[i * left.len() / count])));
    mine.resize(SAMPLE + 2, 0);
    let all = call.all_gather(&mine);
    let mut weights: HashMap<u64, (f64, usize)> = HashMap::new();
    let mut total = 0.0;
    for sample in all.chunks(SAMPLE + 2) {
        let (len, count) = (sample[0] as f64, sample[1] as usize);
        total += len;
        for &hash in &sample[2..2 + count] {
            let (weight, seen) = weights.entry(hash).or_default();
            *weight += len / count as f64;
            *seen += 1;
        }
    }
    let much = total / call.cluster.size() as f64 / 2.0;
    let heavy = weights
        .into_iter()
        .filter(|(_, (weight, seen))| *weight >= much && *seen > 1);
    heavy.map(|(hash, _)| hash).collect()
}

/// The items with heavy hashes, and the others.
fn parted<T: Send>(
    items: Vec<T>,
    heavy: &HashSet<u64>,
    hash: &(impl Fn(&T) -> u64 + Sync),
) -> (Vec<T>, Vec<T>) {
    if heavy.is_empty() {
        return (Vec::new(), items);
    }
    items
        .into_iter()
        .partition(|item| heavy.contains(&hash(item)))
}

impl<I, R, F, H> fmt::Debug for DistJoin<I, R, F, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistJoin").finish_non_exhaustive()
    }
}
