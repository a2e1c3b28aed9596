//! Sorting across ranks: stable, and every rank ends with its exact share.
//!
//! Each rank sorts its own items. Then think of all items of all ranks as one row, ordered by key,
//! by rank, and by place on the rank. No two are equal there, so equal keys are no special case.
//! Rank `j`'s share begins at place `n·j/ranks` of that row. How many items of each rank come
//! before that place is found in rounds:
//!
//! ```text
//! gap of a cut     before       ?????????????????       after
//!                  <= target    somewhere in here       >= target
//! a round          all ranks offer some of their items from the gaps (about 32 for each cut),
//!                  each counts how many of its own come before each of them,
//!                  the counts are added up, and the gaps shrink to their neighbours
//! ```
//!
//! A cut is done when a neighbour's count *is* the target. In the end all items of a small gap are
//! offered, so one of their counts is the target. Items then travel straight from the sorted row.
//! What arrives, a sorted run from each rank, is merged.
//!
//! A comparison that is not an order misplaces cuts, but no cut leaves the bounds of its rank. Shares
//! are then less even, or less sorted, but no item is lost.
#![forbid(unsafe_code)]

use crate::cluster::{Call, Site};
use crate::shuffle::send_cut;
use crate::travel::{Travel, decode, decode_items, encode, encode_items};
use crate::vec::DistVec;
use std::cmp::Ordering;
use std::panic::Location;
use tine_iter::prelude::*;

/// Items offered in a round for each cut, by all ranks together.
const OFFERS: usize = 32;
/// Comparisons that do not lie need far fewer rounds.
const ROUNDS: usize = 200;

impl<T: Travel + Sync> DistVec<T> {
    /// Sorts the items. Stable; afterwards the lengths of the ranks' parts differ by at most one. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(1000, |i| (i * 37 % 100) as u32).sort();
    ///     assert_eq!(v.local().len(), [333, 333, 334][c.rank()]);
    ///     assert!(v.all_gather().is_sorted());
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn sort(self) -> Self
    where
        T: Ord,
    {
        let by_item = Items(T::cmp);
        self.sorted::<T, _>("sort", Location::caller(), &by_item, &|part| {
            part.par_sort()
        })
    }

    /// Sorts the items by `compare`. Stable; parts become even. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let v = c.generate(5, |i| i as f64).sort_by(|a, b| b.total_cmp(a));
    ///     assert_eq!(v.all_gather(), [4.0, 3.0, 2.0, 1.0, 0.0]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn sort_by<F>(self, compare: F) -> Self
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let by_item = Items(&compare);
        self.sorted::<T, _>("sort_by", Location::caller(), &by_item, &|part| {
            part.par_sort_by(&compare);
        })
    }

    /// Sorts the items by a key. Stable; parts become even. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let words = c.scatter(vec!["prong".to_owned(), "a".into(), "tine".into(), "b".into()]);
    ///     let words = words.sort_by_key(|word| word.len());
    ///     assert_eq!(words.all_gather(), ["a", "b", "tine", "prong"]);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn sort_by_key<K, F>(self, key: F) -> Self
    where
        K: Ord + Travel + Sync,
        F: Fn(&T) -> K + Sync,
    {
        let by_key = Keys(&key);
        self.sorted::<(T, K), _>("sort_by_key", Location::caller(), &by_key, &|part| {
            part.par_sort_by_key(&key);
        })
    }

    /// `S` is what other ranks see of the items.
    fn sorted<S, P: Probe<T>>(
        self,
        what: &'static str,
        site: Site,
        probe: &P,
        sort: &dyn Fn(&mut [T]),
    ) -> Self {
        let (cluster, mut part) = self.into_both();
        sort(&mut part);
        let call = cluster.enter::<S>(what, site, part.len() as u64);
        if cluster.size() > 1 {
            part = shared_out(&call, part, probe, sort);
        }
        drop(call);
        DistVec::new(cluster, part)
    }
}

/// Sorts the items of all ranks by a key, within a collective.
pub(crate) fn sorted_by_key<T, K, F>(call: &Call<'_>, mut part: Vec<T>, key: F) -> Vec<T>
where
    T: Travel + Sync,
    K: Ord + Travel + Sync,
    F: Fn(&T) -> K + Sync,
{
    let sort = |part: &mut [T]| part.par_sort_by_key(&key);
    sort(&mut part);
    let len = part.len() as u64;
    let call = call.again(len);
    shared_out(&call, part, &Keys(&key), &sort)
}

/// Gives each rank its share of the sorted parts of all.
fn shared_out<T: Travel + Sync, P: Probe<T>>(
    call: &Call<'_>,
    part: Vec<T>,
    probe: &P,
    sort: &dyn Fn(&mut [T]),
) -> Vec<T> {
    let cuts = cuts(call, &part, probe);
    let arrived = send_cut(call, part, &cuts);
    let is_sorted = arrived.sources() < 2;
    let mut part = arrived.items;
    if !is_sorted {
        sort(&mut part);
    }
    part
}

/// The part of an item that other ranks see, and how it compares with theirs.
trait Probe<T>: Sync {
    type Shown: Travel + Sync;

    fn encode(&self, items: &[&T]) -> Vec<u8>;
    fn compare(&self, shown: &Self::Shown, item: &T) -> Ordering;
}

/// All of it.
struct Items<F>(F);

impl<T: Travel + Sync, F: Fn(&T, &T) -> Ordering + Sync> Probe<T> for Items<F> {
    type Shown = T;

    fn encode(&self, items: &[&T]) -> Vec<u8> {
        encode_items::<T, _>(items)
    }

    fn compare(&self, shown: &T, item: &T) -> Ordering {
        (self.0)(shown, item)
    }
}

/// Its key.
struct Keys<F>(F);

impl<T, K: Ord + Travel + Sync, F: Fn(&T) -> K + Sync> Probe<T> for Keys<F> {
    type Shown = K;

    fn encode(&self, items: &[&T]) -> Vec<u8> {
        let keys: Vec<K> = items.iter().map(|item| (self.0)(item)).collect();
        encode_items::<K, _>(&keys)
    }

    fn compare(&self, shown: &K, item: &T) -> Ordering {
        shown.cmp(&(self.0)(item))
    }
}

/// Where a cut may be: on this rank, and in the row of all items.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Gap {
    here: (usize, usize),
    all: (usize, usize),
}

impl Gap {
    fn is_open(&self, target: usize) -> bool {
        self.all.0 < target && target < self.all.1
    }
}

/// An item that a rank has offered.
struct Offer<K> {
    shown: K,
    rank: usize,
    place: usize,
}

/// Where a rank's sorted part is cut.
fn cuts<T: Sync, P: Probe<T>>(call: &Call<'_>, part: &[T], probe: &P) -> Vec<usize> {
    let cluster = call.cluster;
    let (me, ranks) = (cluster.rank(), cluster.size());
    let total = call.total();
    let targets: Vec<usize> = (1..ranks).map(|rank| cluster.cut(total, rank)).collect();
    let whole = Gap {
        here: (0, part.len()),
        all: (0, total),
    };
    let mut gaps = vec![whole; targets.len()];
    let mut random = Random(0x9E37_79B9 ^ (me as u64) << 32);
    for _ in 0..ROUNDS {
        let places = offered(&gaps, &targets, &mut random);
        // All ranks know the same gaps of the row, so they all go on or all stop.
        if !gaps.iter().zip(&targets).any(|(gap, &t)| gap.is_open(t)) {
            break;
        }
        let offers = meet(call, part, &places, probe);
        let here: Vec<usize> = offers
            .par_iter()
            .map(|offer| before(part, me, offer, probe))
            .collect();
        let mut all: Vec<u64> = here.iter().map(|&count| count as u64).collect();
        call.all_sum(&mut all);
        shrink(&mut gaps, &targets, &here, &all);
    }
    let mut cuts = vec![0];
    for (gap, &target) in gaps.iter().zip(&targets) {
        let at = if gap.all.1 == target {
            gap.here.1
        } else {
            gap.here.0
        };
        cuts.push(at.clamp(cuts[cuts.len() - 1], part.len()));
    }
    cuts.push(part.len());
    cuts
}

/// Places of this rank's items in the open gaps, at random.
fn offered(gaps: &[Gap], targets: &[usize], random: &mut Random) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    while from < gaps.len() {
        let gap = gaps[from];
        let alike = gaps[from..]
            .iter()
            .take_while(|other| **other == gap)
            .count();
        let among = from..from + alike;
        from += alike;
        let open = among.filter(|&j| gap.is_open(targets[j])).count();
        let wanted = OFFERS * open;
        let (all, here) = (gap.all.1 - gap.all.0, gap.here.1 - gap.here.0);
        if open == 0 || here == 0 {
            continue;
        }
        if all <= wanted || here == 1 && all < 2 * wanted {
            places.extend(gap.here.0..gap.here.1);
            continue;
        }
        // A share of the number wanted, rounded up or down by chance.
        let share = wanted as f64 * here as f64 / all as f64;
        let count = (share + random.fraction()) as usize;
        places.extend((0..count.min(here)).map(|_| gap.here.0 + random.below(here)));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// The offers of all ranks.
fn meet<T, P: Probe<T>>(
    call: &Call<'_>,
    part: &[T],
    places: &[usize],
    probe: &P,
) -> Vec<Offer<P::Shown>> {
    let items: Vec<&T> = places.iter().map(|&place| &part[place]).collect();
    let mine = encode(&(places, probe.encode(&items)));
    let mut offers = Vec::new();
    call.each_block(&mine, |rank, block| {
        let (places, shown): (Vec<usize>, Vec<u8>) = decode(block);
        let shown = decode_items::<P::Shown>(&shown);
        let theirs = places.into_iter().zip(shown);
        offers.extend(theirs.map(|(place, shown)| Offer { shown, rank, place }));
    });
    offers
}

/// How many items of this rank come before an offered one.
fn before<T, P: Probe<T>>(part: &[T], me: usize, offer: &Offer<P::Shown>, probe: &P) -> usize {
    if offer.rank == me {
        return offer.place;
    }
    part.partition_point(|item| match probe.compare(&offer.shown, item) {
        Ordering::Greater => true,
        Ordering::Equal => me < offer.rank,
        Ordering::Less => false,
    })
}

/// Moves the ends of each gap to the offers next to its target.
fn shrink(gaps: &mut [Gap], targets: &[usize], here: &[usize], all: &[u64]) {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|&offer| all[offer]);
    for (gap, &target) in gaps.iter_mut().zip(targets) {
        if !gap.is_open(target) {
            continue;
        }
        let after = order.partition_point(|&offer| all[offer] as usize <= target);
        if let Some(&below) = after.checked_sub(1).and_then(|last| order.get(last)) {
            let count = all[below] as usize;
            if count >= gap.all.0 {
                gap.all.0 = count;
                gap.here.0 = here[below].clamp(gap.here.0, gap.here.1);
            }
        }
        let from = order.partition_point(|&offer| (all[offer] as usize) < target);
        if let Some(&above) = order.get(from) {
            let count = all[above] as usize;
            if count <= gap.all.1 {
                gap.all.1 = count;
                gap.here.1 = here[above].clamp(gap.here.0, gap.here.1);
            }
        }
    }
}

/// Numbers spread well enough to pick a few items of many.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
