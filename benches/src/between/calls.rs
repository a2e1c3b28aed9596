//! Joins, sets, texts, and calls of the iterators that build something.

use crate::keys::mixed;
use crate::table::{Kind, Pair, pair};
use foldhash::fast::RandomState as Fold;
use hashbrown::{HashMap as Brown, HashSet as BrownSet};
use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ParHashSet};
use tine_iter::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use tine_iter::slice::ParallelSliceMut;

const SIZES: [usize; 8] = [100, 1000, 5000, 20_000, 50_000, 150_000, 400_000, 1_000_000];

struct Input {
    keys: Vec<u64>,
    left: Vec<(u64, u64)>,
    right: Vec<(u64, u64)>,
    words: Vec<String>,
    map: ParHashMap<u64, u64>,
    plain: Brown<u64, u64, Fold>,
    /// Two sets that share half of their values.
    sets: [ParHashSet<u64>; 2],
    plain_sets: [BrownSet<u64, Fold>; 2],
}

fn input(size: usize) -> Input {
    let keys: Vec<u64> = (0..size as u64).map(mixed).collect();
    let few: Vec<u64> = keys.iter().map(|key| key % (size as u64 / 10)).collect();
    let left: Vec<(u64, u64)> = few.iter().copied().zip(0..).collect();
    let other = keys.iter().map(|key| key ^ (key & 1));
    Input {
        right: (0..size as u64 / 5).map(|n| (n, 2 * n)).collect(),
        words: few.iter().map(|key| format!("word {key}")).collect(),
        map: left.iter().copied().collect(),
        plain: left.iter().copied().collect(),
        sets: [keys.iter().copied().collect(), other.clone().collect()],
        plain_sets: [keys.iter().copied().collect(), other.collect()],
        left,
        keys,
    }
}

pub fn kinds() -> Vec<Kind> {
    vec![
        Kind::new("joins and sets", &SIZES, input, joins_and_sets),
        Kind::new("texts, ten a word", &SIZES, input, texts),
        Kind::new("what iterators build", &SIZES, input, built),
    ]
}

fn joins_and_sets(input: &Input) -> Vec<Pair<'_>> {
    let (left, right) = (&input.left, &input.right);
    let ([a, b], [x, y]) = (&input.sets, &input.plain_sets);
    let join = || {
        let (left, right) = (left.par_iter().copied(), right.par_iter().copied());
        left.join_by(right, |l| l.0, |r| r.0)
    };
    let among = || right.iter().map(|r| r.0).collect::<BrownSet<u64, Fold>>();
    vec![
        pair(
            "join, inner",
            move || join().inner(),
            move || {
                let mut rows: Brown<u64, Vec<(u64, u64)>, Fold> = Brown::default();
                right
                    .iter()
                    .for_each(|&r| rows.entry(r.0).or_default().push(r));
                let mut pairs = Vec::new();
                for &l in left {
                    let found = rows.get(&l.0).into_iter().flatten();
                    pairs.extend(found.map(|&r| (l, r)));
                }
                pairs
            },
        ),
        pair(
            "join, semi",
            move || join().semi(),
            move || {
                let among = among();
                let found = left.iter().copied().filter(|l| among.contains(&l.0));
                found.collect::<Vec<_>>()
            },
        ),
        pair(
            "join, anti",
            move || join().anti(),
            move || {
                let among = among();
                let others = left.iter().copied().filter(|l| !among.contains(&l.0));
                others.collect::<Vec<_>>()
            },
        ),
        pair("union", move || a.union(b), move || x | y),
        pair("intersection", move || a.intersection(b), move || x & y),
        pair("difference", move || a.difference(b), move || x - y),
        pair(
            "clone of a map",
            move || input.map.clone(),
            move || input.plain.clone(),
        ),
    ]
}

fn texts(input: &Input) -> Vec<Pair<'_>> {
    let words = &input.words;
    vec![
        pair(
            "count_by",
            move || words.par_iter().count_by(|word| word.as_str()),
            move || {
                let mut map: Brown<&str, usize, Fold> = Brown::default();
                words
                    .iter()
                    .for_each(|word| *map.entry(word.as_str()).or_default() += 1);
                map
            },
        ),
        pair(
            "group_by",
            move || words.par_iter().group_by(|word| word.as_str()),
            move || {
                let mut map: Brown<&str, Vec<&String>, Fold> = Brown::default();
                words
                    .iter()
                    .for_each(|word| map.entry(word.as_str()).or_default().push(word));
                map
            },
        ),
        pair(
            "distinct",
            move || words.par_iter().distinct(),
            move || {
                let mut seen: BrownSet<&String, Fold> = BrownSet::default();
                let fresh = words.iter().filter(|word| seen.insert(*word));
                fresh.collect::<Vec<_>>()
            },
        ),
        pair(
            "collect, a set of clones",
            move || words.par_iter().cloned().collect::<ParHashSet<String>>(),
            move || words.iter().cloned().collect::<BrownSet<String, Fold>>(),
        ),
        pair(
            "sort",
            move || {
                let mut sorted: Vec<&str> = words.iter().map(String::as_str).collect();
                sorted.par_sort();
                sorted
            },
            move || {
                let mut sorted: Vec<&str> = words.iter().map(String::as_str).collect();
                sorted.sort();
                sorted
            },
        ),
    ]
}

fn built(input: &Input) -> Vec<Pair<'_>> {
    let keys = &input.keys;
    vec![
        pair(
            "map, a Vec",
            move || keys.par_iter().map(|key| key * 3).collect::<Vec<u64>>(),
            move || keys.iter().map(|key| key * 3).collect::<Vec<u64>>(),
        ),
        pair(
            "filter, a Vec",
            move || {
                keys.par_iter()
                    .copied()
                    .filter(|key| key % 3 == 0)
                    .collect::<Vec<u64>>()
            },
            move || {
                keys.iter()
                    .copied()
                    .filter(|key| key % 3 == 0)
                    .collect::<Vec<u64>>()
            },
        ),
        pair(
            "flat_map_iter, a Vec",
            move || {
                keys.par_iter()
                    .flat_map_iter(|&key| [key, !key])
                    .collect::<Vec<u64>>()
            },
            move || {
                keys.iter()
                    .flat_map(|&key| [key, !key])
                    .collect::<Vec<u64>>()
            },
        ),
        pair(
            "partition",
            move || {
                keys.par_iter()
                    .copied()
                    .partition::<Vec<u64>, Vec<u64>, _>(|key| key % 2 == 0)
            },
            move || {
                keys.iter()
                    .copied()
                    .partition::<Vec<u64>, _>(|key| key % 2 == 0)
            },
        ),
        pair(
            "unzip",
            move || {
                keys.par_iter()
                    .map(|&key| (key, !key))
                    .unzip::<u64, u64, Vec<_>, Vec<_>>()
            },
            move || {
                keys.iter()
                    .map(|&key| (key, !key))
                    .unzip::<u64, u64, Vec<_>, Vec<_>>()
            },
        ),
        pair(
            "min_by_key",
            move || keys.par_iter().min_by_key(|&&key| key % 1000),
            move || keys.iter().min_by_key(|&&key| key % 1000),
        ),
        pair(
            "position_any, none",
            move || keys.par_iter().position_any(|&key| key == 1),
            move || keys.iter().position(|&key| key == 1),
        ),
        pair(
            "par_sort_unstable",
            move || {
                let mut sorted = keys.clone();
                sorted.par_sort_unstable();
                sorted
            },
            move || {
                let mut sorted = keys.clone();
                sorted.sort_unstable();
                sorted
            },
        ),
    ]
}
