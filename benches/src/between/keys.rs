//! Calls of the collections that are about keys, for keys of seven kinds.

use crate::table::{Kind, Pair, pair};
use foldhash::fast::RandomState as Fold;
use hashbrown::{HashMap as Brown, HashSet as BrownSet};
use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ParHashSet};
use tine_iter::iter::{IntoParallelRefIterator, ParallelExtend, ParallelIterator};

const SIZES: [usize; 8] = [
    1000, 3000, 10_000, 30_000, 100_000, 150_000, 300_000, 1_000_000,
];

/// The N-th of numbers that are all different and in no order.
pub fn mixed(n: u64) -> u64 {
    let z = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Keys, and the value of each.
struct Input {
    keys: Vec<u64>,
    pairs: Vec<(u64, u64)>,
}

fn input(size: usize, key: impl Fn(u64, u64) -> u64) -> Input {
    let keys: Vec<u64> = (0..size as u64)
        .map(|n| mixed(key(n, size as u64)))
        .collect();
    let pairs = keys.iter().copied().zip(0..).collect();
    Input { keys, pairs }
}

/// Ranks up to `size`; rank N comes about 1/N as often as rank 1.
fn zipf(n: u64, size: u64) -> u64 {
    let unit = (mixed(n) >> 11) as f64 / (1u64 << 53) as f64;
    (size as f64).powf(unit) as u64
}

pub fn kinds() -> Vec<Kind> {
    type Key = fn(u64, u64) -> u64;
    let all: [(&str, Key); 7] = [
        ("all keys new", |n, _| n),
        ("two items a key", |n, size| mixed(n) % (size / 2)),
        ("ten items a key", |n, size| mixed(n) % (size / 10)),
        ("1000 keys", |n, _| mixed(n) % 1000),
        ("5000 keys in turns", |n, _| n % 5000),
        ("a tenth as many keys, in turns", |n, size| n % (size / 10)),
        ("zipf keys", zipf),
    ];
    let kind = |(name, key): (_, Key)| Kind::new(name, &SIZES, move |size| input(size, key), calls);
    all.into_iter().map(kind).collect()
}

fn calls(input: &Input) -> Vec<Pair<'_>> {
    let (keys, pairs) = (&input.keys, &input.pairs);
    let counted = || {
        let mut map: Brown<u64, usize, Fold> = Brown::default();
        keys.iter()
            .for_each(|&key| *map.entry(key).or_default() += 1);
        map
    };
    vec![
        pair(
            "collect, a map",
            move || pairs.par_iter().copied().collect::<ParHashMap<u64, u64>>(),
            move || pairs.iter().copied().collect::<Brown<u64, u64, Fold>>(),
        ),
        pair(
            "collect, a set",
            move || keys.par_iter().copied().collect::<ParHashSet<u64>>(),
            move || keys.iter().copied().collect::<BrownSet<u64, Fold>>(),
        ),
        pair(
            "par_extend",
            move || {
                let mut map: ParHashMap<u64, u64> = ParHashMap::default();
                map.par_extend(pairs.par_iter().copied());
                map
            },
            move || {
                let mut map: Brown<u64, u64, Fold> = Brown::default();
                map.extend(pairs.iter().copied());
                map
            },
        ),
        pair(
            "count_by",
            move || keys.par_iter().count_by(|&&key| key),
            counted,
        ),
        pair(
            "fold_by",
            move || {
                let add = |sum: &mut u64, pair: (u64, u64)| *sum += pair.1;
                let pairs = pairs.par_iter().copied();
                pairs.fold_by(|pair| pair.0, || 0, add, |sum, more| *sum += more)
            },
            move || {
                let mut map: Brown<u64, u64, Fold> = Brown::default();
                pairs
                    .iter()
                    .for_each(|&(key, value)| *map.entry(key).or_default() += value);
                map
            },
        ),
        pair(
            "aggregate_by",
            move || {
                let pairs = pairs.par_iter().copied().aggregate_by(|pair| pair.0);
                pairs.count().sum(|pair| pair.1).max(|pair| pair.1).finish()
            },
            move || {
                let mut map: Brown<u64, (usize, u64, u64), Fold> = Brown::default();
                for &(key, value) in pairs {
                    let entry = map.entry(key).or_default();
                    *entry = (entry.0 + 1, entry.1 + value, entry.2.max(value));
                }
                map
            },
        ),
        pair(
            "group_by",
            move || pairs.par_iter().copied().group_by(|pair| pair.0),
            move || {
                let mut map: Brown<u64, Vec<(u64, u64)>, Fold> = Brown::default();
                pairs
                    .iter()
                    .for_each(|&pair| map.entry(pair.0).or_default().push(pair));
                map
            },
        ),
        pair(
            "distinct",
            move || keys.par_iter().copied().distinct(),
            move || {
                let mut seen: BrownSet<u64, Fold> = BrownSet::default();
                let fresh = keys.iter().copied().filter(|&key| seen.insert(key));
                fresh.collect::<Vec<u64>>()
            },
        ),
        pair(
            "top_k_by_count, 10",
            move || keys.par_iter().copied().top_k_by_count(10, |&key| key),
            move || {
                let mut all: Vec<(u64, usize)> = counted().into_iter().collect();
                all.sort_by(|a, b| b.1.cmp(&a.1));
                all.truncate(10);
                all
            },
        ),
    ]
}
