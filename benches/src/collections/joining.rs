//! Two tables joined by key, and a frozen map read by all threads.

use crate::inputs::{Numbers, spread, uniform};
use crate::table::{Options, Run, one};
use foldhash::fast::RandomState as Fold;
use hashbrown::{HashMap as Brown, HashSet as BrownSet};
use rayon::iter::ParallelIterator as _;
use tine_collections::prelude::*;
use tine_collections::{FrozenMap, ParHashMap};
use tine_iter::iter::{IntoParallelRefIterator, ParallelIterator};
use tine_iter::slice::ParallelSlice;

type Pair = (u64, u64);

/// The right side as users with a hash map write it: built on one thread.
fn by_hand(right: &[Pair]) -> Brown<u64, u64, Fold> {
    right.iter().copied().collect()
}

fn keys_by_hand(right: &[Pair]) -> BrownSet<u64, Fold> {
    right.iter().map(|r| r.0).collect()
}

/// What rayon walks.
fn rayon_over<T: Sync>(items: &[T]) -> rayon::slice::Iter<'_, T> {
    rayon::iter::IntoParallelRefIterator::par_iter(items)
}

pub fn run(options: &Options) {
    let n = 5_000_000 / options.scale;
    let distinct = n as u64 / 5;
    let left: Vec<Pair> = uniform(n, distinct * 5 / 4).into_iter().zip(0..).collect();
    let right: Vec<Pair> = (0..distinct).map(|i| (spread(i), i)).collect();
    inner(options, &left, &right);
    semi(options, &left, &right);
    skewed(options, &left);
    frozen(options);
}

/// Tine's two ways: single items on the right, or groups of them.
macro_rules! ours {
    ($left:expr, $right:expr, |$join:ident| $end:expr) => {{
        let (left, right): (&[Pair], &[Pair]) = ($left, $right);
        [
            one("tine join_by", move || {
                let right = right.par_iter().copied();
                let $join = left.par_iter().copied().join_by(right, |l| l.0, |r| r.0);
                $end
            }),
            one("tine group_by, join_on", move || {
                let groups = right.par_iter().copied().group_by(|r| r.0);
                let $join = left.par_iter().copied().join_on(groups, |l| l.0);
                $end
            }),
        ]
    }};
}

fn inner(options: &Options, left: &[Pair], right: &[Pair]) {
    if !options.wants("join inner") {
        return;
    }
    let mut runs: Vec<Run<'_>> = Vec::from(ours!(left, right, |join| join.inner()));
    runs.push(one("rayon over hashbrown", || {
        let map = by_hand(right);
        rayon_over(left)
            .filter_map(|&l| map.get(&l.0).map(|&r| (l, (l.0, r))))
            .collect::<Vec<_>>()
    }));
    runs.push(one("sequential", || {
        let map = by_hand(right);
        left.iter()
            .filter_map(|&l| map.get(&l.0).map(|&r| (l, (l.0, r))))
            .collect::<Vec<_>>()
    }));
    options.row("join inner", runs);
}

fn semi(options: &Options, left: &[Pair], right: &[Pair]) {
    for (name, wanted) in [("join semi", true), ("join anti", false)] {
        if !options.wants(name) {
            continue;
        }
        let ours = match wanted {
            true => ours!(left, right, |join| join.semi()),
            false => ours!(left, right, |join| join.anti()),
        };
        let mut runs: Vec<Run<'_>> = Vec::from(ours);
        runs.push(one("rayon over hashbrown", move || {
            let keys = keys_by_hand(right);
            rayon_over(left)
                .copied()
                .filter(|l| keys.contains(&l.0) == wanted)
                .collect::<Vec<_>>()
        }));
        runs.push(one("sequential", move || {
            let keys = keys_by_hand(right);
            let wanted = left.iter().filter(|l| keys.contains(&l.0) == wanted);
            wanted.copied().collect::<Vec<_>>()
        }));
        options.row(name, runs);
    }
}

/// A right side in which a few keys come often.
fn skewed(options: &Options, left: &[Pair]) {
    if !options.wants("join skewed") {
        return;
    }
    let mut numbers = Numbers(4);
    let count = left.len() as u64 / 50;
    let mut key = || spread(numbers.next() % (1 + numbers.next() % 100_000));
    let right: Vec<Pair> = (0..count).map(|i| (key(), i)).collect();
    let left = &left[..left.len() / 50];
    let mut runs: Vec<Run<'_>> = Vec::from(ours!(left, &right, |join| join.inner()));
    runs.push(one("rayon over hashbrown", || {
        let mut map: Brown<u64, Vec<u64>, Fold> = Brown::default();
        let mut add = |r: &Pair| map.entry(r.0).or_default().push(r.1);
        right.iter().for_each(&mut add);
        rayon_over(left)
            .flat_map_iter(|&l| {
                let row = map.get(&l.0).into_iter().flatten();
                row.map(move |&r| (l, (l.0, r)))
            })
            .collect::<Vec<_>>()
    }));
    options.row("join skewed", runs);
}

fn frozen(options: &Options) {
    if !options.wants("read frozen") {
        return;
    }
    let n = 5_000_000 / options.scale;
    let pairs: Vec<Pair> = (0..n as u64).map(|i| (spread(i), i)).collect();
    let keys = uniform(n, n as u64);
    let tine: FrozenMap<u64, u64> = pairs.par_iter().copied().collect();
    let brown = by_hand(&pairs);
    let mut map: ParHashMap<u64, u64> = pairs.par_iter().copied().collect();
    options.row(
        "read frozen",
        vec![
            one("tine FrozenMap", || {
                keys.par_iter().map(|key| tine[key]).sum::<u64>()
            }),
            one("rayon over hashbrown", || {
                rayon_over(&keys).map(|key| brown[key]).sum::<u64>()
            }),
            one("tine over hashbrown", || {
                keys.par_iter().map(|key| brown[key]).sum::<u64>()
            }),
            one("tine FrozenMap, get_many", || {
                let parts = keys.par_chunks(4096);
                let sums = parts.map(|part| tine.get_many(part).flatten().sum::<u64>());
                sums.sum::<u64>()
            }),
            one("tine FrozenMap, join_on", || {
                let looked = keys.par_iter().join_on(&tine, |key| **key);
                looked.inner_with(|_, value| *value).sum::<u64>()
            }),
            one("tine ParHashMap, join_on &mut", || {
                let looked = keys.par_iter().join_on(&mut map, |key| **key);
                looked.inner_with(|_, value| *value).sum::<u64>()
            }),
        ],
    );
}
