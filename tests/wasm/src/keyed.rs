//! The checks of collections, against std's answers.

use crate::more::numbers;
use std::collections::{BTreeMap, BTreeSet};
use tine::prelude::*;
use tine::{FrozenMap, ParBitSet, ParHashMap, ParVec, ReadMap, SortedVec};

/// Name and function of each.
pub(crate) const KEYED: &[(&str, fn())] = &[
    ("many keys", many_keys),
    ("joins", joins),
    ("read maps and frozen maps", read_maps),
    ("changes of maps", map_changes),
    ("bits, vectors, sorted vectors", others),
];

fn many_keys() {
    for (count, keys) in [(1000, 7), (1000, 900), (150_000, 5), (150_000, 100_000)] {
        let given: Vec<u64> = numbers(count).iter().map(|n| n % keys).collect();
        let mut wanted: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        given
            .iter()
            .enumerate()
            .for_each(|(at, n)| wanted.entry(*n).or_default().push(at));
        let counts: BTreeMap<u64, usize> = given
            .par_iter()
            .copied()
            .count_by(|n| *n)
            .into_iter()
            .collect();
        assert!(
            counts
                .into_iter()
                .eq(wanted.iter().map(|(n, all)| (*n, all.len())))
        );
        let words: BTreeMap<String, usize> = given
            .par_iter()
            .map(u64::to_string)
            .count_items()
            .into_iter()
            .collect();
        assert!(
            words.len() == wanted.len()
                && words
                    .iter()
                    .all(|(n, all)| wanted[&n.parse().unwrap()].len() == *all)
        );
        let groups = given.par_iter().enumerate().group_by(|(_, n)| **n);
        assert!(groups.len() == wanted.len());
        assert!(
            groups
                .iter()
                .all(|(n, all)| all.iter().map(|pair| pair.0).eq(wanted[n].iter().copied()))
        );
        let folded = given.par_iter().fold_by(
            |n| **n,
            || 0_u64,
            |sum, n| *sum += n,
            |sum, more| *sum += more,
        );
        assert!(
            folded
                .into_iter()
                .all(|(n, sum)| sum == n * wanted[&n].len() as u64)
        );
        let ends = given
            .par_iter()
            .enumerate()
            .aggregate_by(|(_, n)| **n)
            .count()
            .min(|pair| pair.0)
            .last(|pair| pair.0)
            .finish();
        assert!(ends.into_iter().all(|(n, (all, first, last))| {
            (all, first, last) == (wanted[&n].len(), wanted[&n][0], wanted[&n][all - 1])
        }));
        let mut met = BTreeSet::new();
        let firsts: Vec<u64> = given.iter().copied().filter(|n| met.insert(*n)).collect();
        assert!(given.par_iter().copied().distinct() == firsts);
        assert!(
            given
                .par_iter()
                .map(u64::to_string)
                .distinct()
                .into_iter()
                .eq(firsts.iter().map(u64::to_string))
        );
        let most = given.par_iter().copied().top_k_by_count(3, |n| *n);
        assert_eq!(most[0].1, wanted.values().map(Vec::len).max().unwrap());
    }
}

fn joins() {
    for count in [10_u64, 3000, 60_000] {
        let (left, right): (Vec<u64>, Vec<(u64, u64)>) = (
            (0..count).collect(),
            (0..count).map(|n| (n * 2 / 3, n)).collect(),
        );
        let mut wanted = Vec::new();
        for &(key, n) in &right {
            wanted.push((key, (key, n)));
        }
        let join = || {
            left.par_iter()
                .copied()
                .join_by(right.par_iter().copied(), |n| *n, |pair| pair.0)
        };
        assert!(join().inner() == wanted);
        assert!(join().semi().len() + join().anti().len() == left.len());
        assert!(join().outer().len() >= join().left().len());
        assert_eq!(
            join().inner_with(|l, r| l + r.1).sum::<u64>(),
            wanted.iter().map(|(l, r)| l + r.1).sum()
        );
        let owned = || {
            left.par_iter()
                .copied()
                .join_by(right.par_iter().copied(), u64::to_string, |pair| {
                    pair.0.to_string()
                })
        };
        assert!(owned().inner() == wanted);
        let mut map: ParHashMap<u64, u64> = right.iter().copied().collect();
        let there = map.len();
        assert_eq!(
            left.par_iter()
                .copied()
                .join_on(&mut map, |n| *n)
                .semi()
                .len(),
            there
        );
    }
}

fn read_maps() {
    let map: ReadMap<u64, u64> = (0..5000).map(|n| (n, n * n)).collect();
    map.publish(
        (0..9000_u64)
            .into_par_iter()
            .map(|n| (n, (n % 2 == 0).then_some(n))),
    );
    assert_eq!(
        (map.len(), map.get_cloned(&8), map.get_cloned(&9)),
        (4500, Some(8), None)
    );
    assert_eq!(
        (map.insert(3, 4), map.remove(&3), map.remove(&3)),
        (None, Some(4), None)
    );
    let frozen: FrozenMap<u64, u64> = map.freeze();
    assert_eq!(
        frozen.par_values().copied().sum::<u64>(),
        (0..9000).filter(|n| n % 2 == 0).sum()
    );
    assert_eq!(frozen.thaw().into_keys().count(), 4500);
}

fn map_changes() {
    let map: ParHashMap<u64, u64> = numbers(60_000)
        .into_par_iter()
        .map(|n| (n, n >> 3))
        .collect();
    assert_eq!(map.len(), 60_000);
    // Reads in a row, so that a gate would open; then a write.
    assert!(
        numbers(60_000)
            .iter()
            .all(|n| map.get_cloned(n) == Some(n >> 3))
    );
    assert!(numbers(2000).iter().all(|n| map.remove(n).is_some()));
    let mut map = map;
    map.par_retain(|n, _| n % 2 == 0);
    map.par_extend(numbers(4000).into_par_iter().map(|n| (n, 0)));
    let even = numbers(60_000)
        .iter()
        .skip(4000)
        .filter(|n| *n % 2 == 0)
        .count();
    assert_eq!(map.len(), 4000 + even);
    map.par_merge_with(map.clone(), |a, b| *a += b);
    map.reserve(1000);
    map.shrink_to_fit();
    assert!(map.try_reserve(usize::MAX).is_err() && map.try_reserve(1 << 30).is_err());
    assert_eq!(map.extract_if(|_, n| *n == 0).count(), 4000);
    assert_eq!(map.par_drain().count(), even);
}

fn others() {
    let bits = ParBitSet::new(100_000);
    numbers(5000).into_par_iter().for_each(|n| {
        bits.insert(n as usize % 100_000);
    });
    let wanted: BTreeSet<usize> = numbers(5000)
        .iter()
        .map(|n| *n as usize % 100_000)
        .collect();
    assert!(bits.iter().eq(wanted));
    let mut vec: ParVec<u64> = numbers(100_000).into_par_iter().collect();
    assert!(vec.iter().copied().eq(numbers(100_000)));
    vec.truncate(5000);
    assert_eq!(
        (vec.len(), vec.pop(), vec.get(4999)),
        (5000, Some(numbers(5000)[4999]), None)
    );
    let sorted: SortedVec<u64> = numbers(30_000).into_par_iter().collect();
    assert!(
        sorted.is_sorted()
            && sorted.range(..1_u64 << 63).len() + sorted.range(1_u64 << 63..).len() == 30_000
    );
    assert_eq!(sorted.clone().merge(sorted).len(), 60_000);
}
