//! Work whose end, or whose largest part, might run on only one thread.

use crate::counting::count_seq;
use crate::inputs::{Numbers, spread, uniform, zipf};
use crate::small::distinct_seq;
use crate::table::{Options, one, timed};
use foldhash::fast::RandomState as Fold;
use hashbrown::HashMap as Brown;
use std::time::Duration;
use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ParVec};
use tine_iter::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

pub fn run(options: &Options) {
    let n = 10_000_000 / options.scale;
    firsts(options, n);
    folds(options, n);
    groups(options, n / 2);
    strings(options, n / 10);
    vectors(options, n);
    drops(options, n / 10);
}

fn firsts(options: &Options, n: usize) {
    for (name, distinct) in [("distinct 1e5", 100_000), ("distinct 5e6", 5_000_000)] {
        if options.wants(name) {
            let keys = uniform(n, distinct / options.scale as u64);
            options.row(
                name,
                vec![
                    one("tine distinct", || keys.par_iter().copied().distinct()),
                    one("tine count_by", || keys.par_iter().count_by(|&&key| key)),
                    one("sequential", || distinct_seq(&keys)),
                ],
            );
        }
    }
    if options.wants("top_k") {
        let keys = zipf(n, 100_000_000);
        options.row(
            "top_k of zipf 1e8",
            vec![
                one("tine top_k_by_count", || {
                    keys.par_iter().top_k_by_count(100, |&&key| key)
                }),
                one("tine count_by", || keys.par_iter().count_by(|&&key| key)),
                one("sequential", || {
                    let mut counts: Vec<_> = count_seq(&keys).into_iter().collect();
                    counts.select_nth_unstable_by_key(99, |(_, count)| usize::MAX - count);
                    counts.truncate(100);
                    counts
                }),
            ],
        );
    }
}

fn folds(options: &Options, n: usize) {
    if options.wants("fold_by") {
        let keys = uniform(n, 5_000_000 / options.scale as u64);
        let pairs: Vec<(u64, u64)> = keys.into_iter().zip(0..).collect();
        options.row(
            "fold_by of references",
            vec![
                one("tine par_iter", || {
                    let items = pairs.par_iter();
                    items.fold_by(
                        |p| p.0,
                        || 0,
                        |sum, p| *sum += p.1,
                        |sum, more| *sum += more,
                    )
                }),
                one("tine par_iter().copied()", || {
                    let items = pairs.par_iter().copied();
                    items.fold_by(
                        |p| p.0,
                        || 0,
                        |sum, p| *sum += p.1,
                        |sum, more| *sum += more,
                    )
                }),
            ],
        );
    }
}

fn by_hand(pairs: &[(u64, u64)]) -> Brown<u64, Vec<u64>, Fold> {
    let mut map: Brown<u64, Vec<u64>, Fold> = Brown::default();
    pairs
        .iter()
        .for_each(|&(k, v)| map.entry(k).or_default().push(v));
    map
}

fn groups(options: &Options, n: usize) {
    let grouped = |pairs: &[(u64, u64)]| pairs.par_iter().copied().group_pairs();
    if options.wants("group 1e3") {
        let pairs: Vec<(u64, u64)> = uniform(n, 1000).into_iter().zip(0..).collect();
        options.row(
            "group 1e3",
            vec![
                one("tine group_pairs", || grouped(&pairs)),
                one("sequential", || by_hand(&pairs)),
            ],
        );
    }
    if options.wants("group heavy") {
        let even: Vec<(u64, u64)> = uniform(n, 100_000).into_iter().zip(0..).collect();
        let mut numbers = Numbers(5);
        let heavy: Vec<(u64, u64)> = even
            .iter()
            .map(|&(key, value)| match numbers.next() % 10 {
                0 => (key, value),
                _ => (7, value),
            })
            .collect();
        options.row(
            "group heavy: 90 % one key",
            vec![
                one("tine heavy", || grouped(&heavy)),
                one("tine even keys", || grouped(&even)),
                one("sequential heavy", || by_hand(&heavy)),
            ],
        );
        let mut numbers = Numbers(6);
        let mut unit = || (numbers.next() >> 11) as f64 / (1u64 << 53) as f64;
        // Frequency rank^-1.2, by inversion of the continuous law.
        let rank = |u: f64| ((1.0 - u * (1.0 - 1e5f64.powf(-0.2))).powf(-5.0)) as u64;
        let skewed: Vec<(u64, u64)> = (0..n as u64).map(|i| (spread(rank(unit())), i)).collect();
        options.row(
            "group heavy: zipf 1.2",
            vec![
                one("tine zipf", || grouped(&skewed)),
                one("tine even keys", || grouped(&even)),
                one("sequential zipf", || by_hand(&skewed)),
            ],
        );
    }
}

fn strings(options: &Options, n: usize) {
    for (name, calls, count, distinct) in [
        (
            "strings counted, 1e3 owned keys of 1e2, 500 calls",
            500,
            1000,
            100,
        ),
        (
            "strings counted, 1e5 owned keys of 1e4, 10 calls",
            10,
            100_000,
            10_000,
        ),
        ("strings counted, owned keys, 1e4", 1, n, n / 100),
        ("strings counted, owned keys, 5e4", 1, n, n / 20),
        ("strings counted, owned keys, 2.5e5", 1, n, n / 4),
        ("strings counted, owned keys, 1e6", 1, n, n),
    ] {
        if options.wants(name) {
            let keys = uniform(count, distinct as u64);
            let keys: Vec<String> = keys.iter().map(u64::to_string).collect();
            strings_of(options, name, &keys, calls);
        }
    }
}

fn strings_of(options: &Options, name: &str, keys: &[String], calls: usize) {
    // The copy is made before the clock runs; the candidate that takes it also drops it.
    let owned = |work: &dyn Fn(Vec<String>) -> Duration| -> Duration {
        (0..calls).map(|_| work(keys.to_vec())).sum()
    };
    options.row(
        name,
        vec![
            (
                "tine count_items",
                Box::new(|| owned(&|keys| timed(|| keys.into_par_iter().count_items()))),
            ),
            (
                "tine count_by clone",
                Box::new(|| {
                    owned(&|keys| {
                        timed(move || {
                            let keys = keys;
                            keys.par_iter().count_by(|&key| key.clone())
                        })
                    })
                }),
            ),
            (
                "sequential entry_ref",
                Box::new(|| {
                    owned(&|keys| {
                        timed(move || {
                            let keys = keys;
                            let mut map: Brown<String, usize, Fold> = Brown::default();
                            keys.iter()
                                .for_each(|key| *map.entry_ref(key.as_str()).or_insert(0) += 1);
                            map
                        })
                    })
                }),
            ),
        ],
    );
}

fn vectors(options: &Options, n: usize) {
    if !options.wants("into_vec") {
        return;
    }
    options.row(
        "into_vec",
        vec![
            (
                "tine ParVec into_vec",
                Box::new(move || {
                    let vec = ParVec::new();
                    (0..n as u64).for_each(|i| drop(vec.push(i)));
                    timed(|| vec.into_vec())
                }),
            ),
            (
                "boxcar into_iter, collect",
                Box::new(move || {
                    let vec = boxcar::Vec::new();
                    (0..n as u64).for_each(|i| drop(vec.push(i)));
                    timed(|| vec.into_iter().collect::<Vec<u64>>())
                }),
            ),
            (
                "boxcar walked",
                Box::new(move || {
                    let vec = boxcar::Vec::new();
                    (0..n as u64).for_each(|i| drop(vec.push(i)));
                    timed(|| vec.iter().map(|(_, value)| *value).sum::<u64>())
                }),
            ),
        ],
    );
}

fn drops(options: &Options, n: usize) {
    if !options.wants("drop") {
        return;
    }
    let pair = |i: usize| (spread(i as u64), format!("the value of {i}"));
    options.row(
        "drop of strings",
        vec![
            (
                "tine ParHashMap, collected",
                Box::new(move || {
                    let pairs: Vec<_> = (0..n).map(pair).collect();
                    let map: ParHashMap<u64, String> = pairs.into_par_iter().collect();
                    timed(|| drop(map))
                }),
            ),
            (
                "tine ParHashMap, inserted",
                Box::new(move || {
                    let map: ParHashMap<u64, String> = (0..n).map(pair).collect();
                    timed(|| drop(map))
                }),
            ),
            (
                "tine par_clear",
                Box::new(move || {
                    let mut map: ParHashMap<u64, String> = (0..n).map(pair).collect();
                    timed(|| map.par_clear())
                }),
            ),
            (
                "hashbrown",
                Box::new(move || {
                    let map: Brown<u64, String, Fold> = (0..n).map(pair).collect();
                    timed(|| drop(map))
                }),
            ),
        ],
    );
    options.row(
        "drop of strings, one by one",
        vec![
            (
                "tine into_iter",
                Box::new(move || {
                    let map: ParHashMap<u64, String> = (0..n).map(pair).collect();
                    timed(|| map.into_iter().for_each(drop))
                }),
            ),
            (
                "tine retain nothing",
                Box::new(move || {
                    let map: ParHashMap<u64, String> = (0..n).map(pair).collect();
                    timed(|| map.retain(|_, _| false))
                }),
            ),
            (
                "hashbrown into_iter",
                Box::new(move || {
                    let map: Brown<u64, String, Fold> = (0..n).map(pair).collect();
                    timed(|| map.into_iter().for_each(drop))
                }),
            ),
        ],
    );
}
