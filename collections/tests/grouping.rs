//! Grouping against the same by hand, in sizes from nothing to beyond what a table in the cache holds, on pools
//! of several sizes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use quickcheck::QuickCheck;
use tine_collections::ParHashMap;
use tine_collections::prelude::*;
use tine_iter::iter::plumbing::{Folder, UnindexedConsumer};
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

/// Numbers that look random, the same every time.
fn numbers(count: usize, distinct: u64) -> Vec<u64> {
    let mut x = 1_u64;
    let mut next = || {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % distinct
    };
    (0..count).map(|_| next()).collect()
}

/// A third of the items have the same key; the others are spread.
fn skewed(count: usize, distinct: u64) -> Vec<u64> {
    let spread = numbers(count, distinct);
    spread
        .into_iter()
        .enumerate()
        .map(|(i, n)| if i % 3 == 0 { 7 } else { n })
        .collect()
}

fn on_pools(check: impl Fn() + Send + Sync) {
    let sizes: &[usize] = if cfg!(debug_assertions) {
        &[1, 7]
    } else {
        &[1, 2, 7]
    };
    for &threads in sizes {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(&check);
    }
}

fn inputs() -> Vec<Vec<u64>> {
    let mut inputs = vec![
        Vec::new(),
        vec![5],
        numbers(100, 10),
        numbers(3000, 2000),
        numbers(50_000, 3),
        numbers(50_000, 20_000),
        skewed(60_000, 50_000),
    ];
    // Beyond the limit of a worker's table, so that it is flushed and given up.
    if cfg!(debug_assertions) {
        inputs.push(skewed(190_000, 1 << 30));
    } else {
        inputs.push(numbers(130_000, 1 << 30));
        inputs.push(numbers(220_000, 190_000));
        inputs.push(skewed(330_000, 250_000));
    }
    inputs
}

#[test]
fn counts() {
    for input in inputs() {
        let mut expected = HashMap::new();
        input
            .iter()
            .for_each(|&key| *expected.entry(key).or_insert(0) += 1);
        on_pools(|| {
            let counts = input.par_iter().count_by(|&&key| key);
            assert_eq!(counts, expected);
            let named = input.par_iter().count_by(|key| key.to_string());
            assert_eq!(named.len(), expected.len());
            named.for_each(|key, count| assert_eq!(expected[&key.parse::<u64>().unwrap()], *count));
        });
    }
}

/// Strings show an order that sums would hide.
#[test]
fn folds_in_order() {
    for input in inputs() {
        let input = &input[..input.len().min(300_000)];
        let mut expected: HashMap<u64, Vec<usize>> = HashMap::new();
        input
            .iter()
            .enumerate()
            .for_each(|(i, &key)| expected.entry(key).or_default().push(i));
        on_pools(|| {
            let folded = input.par_iter().enumerate().fold_by(
                |(_, key)| **key,
                Vec::new,
                |places, (i, _)| places.push(i),
                |places, later| places.extend(later),
            );
            assert_eq!(folded, expected);
        });
    }
}

/// Small sums are made from items before these are scattered. The first and the last place of each key show an
/// order as well.
#[test]
fn folds_to_small_sums_in_order() {
    for input in inputs() {
        let input = &input[..input.len().min(300_000)];
        let mut expected: HashMap<u64, [u32; 2]> = HashMap::new();
        for (place, &key) in (0..).zip(input) {
            expected.entry(key).or_insert([place; 2])[1] = place;
        }
        on_pools(|| {
            let folded = input.par_iter().enumerate().fold_by(
                |(_, key)| **key,
                || [u32::MAX; 2],
                |ends, (i, _)| *ends = [ends[0].min(i as u32), i as u32],
                |ends, later| *ends = [ends[0].min(later[0]), later[1]],
            );
            assert_eq!(folded, expected);
        });
    }
}

#[test]
fn groups_in_order() {
    for input in inputs() {
        let mut expected: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        input
            .iter()
            .enumerate()
            .for_each(|(i, &key)| expected.entry(key).or_default().push(i));
        on_pools(|| {
            let groups = input
                .par_iter()
                .enumerate()
                .map(|(i, &key)| (key, i))
                .group_pairs();
            assert_eq!(groups.len(), expected.len());
            assert_eq!(groups.values_len(), input.len());
            assert!(
                expected
                    .iter()
                    .all(|(key, row)| groups.get(key) == Some(&row[..]))
            );
            assert_eq!(groups.get(&u64::MAX), None);
            let pairs: BTreeMap<u64, Vec<usize>> = groups
                .par_iter()
                .map(|(key, row)| (*key, row.to_vec()))
                .collect();
            assert_eq!(pairs, expected);
            let map = groups.into_map();
            assert!(
                expected
                    .iter()
                    .all(|(key, row)| map.read(key, |r| r == row) == Some(true))
            );
            let owned = input.par_iter().group_by(|key| key.to_string());
            let pairs: Vec<(String, Vec<&u64>)> = owned.into_iter().collect();
            assert_eq!(pairs.len(), expected.len());
            assert!(
                pairs
                    .iter()
                    .all(|(key, row)| row.iter().all(|v| v.to_string() == *key))
            );
        });
    }
}

#[test]
fn distinct_in_order() {
    for input in inputs() {
        let mut seen = HashSet::new();
        let expected: Vec<u64> = input
            .iter()
            .copied()
            .filter(|&key| seen.insert(key))
            .collect();
        on_pools(|| {
            assert_eq!(input.par_iter().copied().distinct(), expected);
            let odd = input.par_iter().copied().filter(|n| n % 2 == 1).distinct();
            assert!(
                odd.into_iter()
                    .eq(expected.iter().copied().filter(|n| n % 2 == 1))
            );
            let halves = input.par_iter().enumerate().distinct_by(|(_, n)| **n / 2);
            let mut seen = HashSet::new();
            let by_hand = input
                .iter()
                .enumerate()
                .filter(|(_, n)| seen.insert(**n / 2));
            assert!(halves.into_iter().eq(by_hand));
        });
    }
}

#[test]
fn histograms() {
    for input in inputs() {
        let mut expected = vec![0; 17];
        input.iter().for_each(|n| expected[(n % 17) as usize] += 1);
        on_pools(|| {
            assert_eq!(
                input.par_iter().histogram(17, |n| (**n % 17) as usize),
                expected
            );
        });
    }
}

#[test]
#[should_panic(expected = "bin 4 of a histogram with 4 bins")]
fn a_bin_too_far() {
    (0..5_usize).into_par_iter().histogram(4, |n| *n);
}

#[test]
fn the_most_frequent() {
    let input = skewed(60_000, 500);
    let counts = input.par_iter().count_by(|&&key| key);
    let mut expected: Vec<(u64, usize)> = counts.into_iter().collect();
    expected.sort_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
    on_pools(|| {
        for k in [0, 1, 10, 499, 500, 501, usize::MAX] {
            let top = input.par_iter().top_k_by_count(k, |&&key| key);
            assert_eq!(top, expected[..k.min(expected.len())]);
        }
    });
}

#[test]
fn joins() {
    fn agree(left: Vec<(u8, u16)>, right: Vec<(u8, u16)>) {
        let same = |l: &(u8, u16)| {
            right
                .iter()
                .filter(|r| r.0 == l.0)
                .copied()
                .collect::<Vec<_>>()
        };
        let join = || {
            left.clone()
                .into_par_iter()
                .join_by(right.clone().into_par_iter(), |l| l.0, |r| r.0)
        };
        let inner: Vec<_> = left
            .iter()
            .flat_map(|l| same(l).into_iter().map(|r| (*l, r)))
            .collect();
        assert_eq!(join().inner(), inner);
        let outer: Vec<_> = left
            .iter()
            .flat_map(|l| match same(l) {
                none if none.is_empty() => vec![(*l, None)],
                some => some.into_iter().map(|r| (*l, Some(r))).collect(),
            })
            .collect();
        assert_eq!(join().left(), outer);
        let (semi, anti): (Vec<_>, Vec<_>) = left.iter().partition(|l| !same(l).is_empty());
        assert_eq!((join().semi(), join().anti()), (semi, anti));
    }
    QuickCheck::new()
        .tests(200)
        .quickcheck(agree as fn(Vec<(u8, u16)>, Vec<(u8, u16)>));
}

/// Stretches of new keys and of known ones, in any order and of any length.
#[test]
fn distinct_of_any_course() {
    fn agree(course: Vec<(u8, u8)>) {
        let mut input: Vec<u64> = Vec::new();
        let mut fresh = 1 << 40;
        for (i, (kind, length)) in course.into_iter().take(6).enumerate() {
            let length = usize::from(length) << (7 + i % 4);
            match kind % 4 {
                0 => input.extend(fresh..fresh + length as u64),
                1 => input.extend(numbers(length, 1 << 20)),
                2 => input.extend(numbers(length, 1000)),
                _ => input.extend_from_within(..length.min(input.len())),
            }
            fresh += length as u64;
        }
        let mut seen = HashSet::new();
        let firsts: Vec<u64> = (input.iter().copied())
            .filter(|&key| seen.insert(key))
            .collect();
        let of_known_length = input.par_iter().copied().distinct();
        assert!(of_known_length == firsts, "{} items", input.len());
        let of_any = input.par_iter().copied().filter(|_| true).distinct();
        assert!(of_any == firsts, "{} items", input.len());
    }
    QuickCheck::new()
        .tests(if cfg!(debug_assertions) { 12 } else { 60 })
        .quickcheck(agree as fn(Vec<(u8, u8)>));
}

/// Keys that own memory, each kept in the result or dropped: in tables that stay, in tables that are given up
/// when they are looked at, and in tables that are given up when they are full.
#[test]
fn owned_keys_are_kept_or_dropped() {
    let count: u64 = if cfg!(debug_assertions) {
        150_000
    } else {
        600_000
    };
    let laws: [fn(u64) -> u64; 5] = [
        |i| i,
        |i| i % 5,
        |i| i % 10_000,
        |i| (i * i) % 90_001,
        |i| if i < 70_000 { i % 18_000 } else { i },
    ];
    for law in laws {
        let mut expected = HashMap::new();
        (0..count).for_each(|i| *expected.entry(law(i)).or_insert(0_usize) += 1);
        let token = Arc::new(());
        let items: Vec<_> = (0..count)
            .map(|i| (law(i).to_string(), token.clone()))
            .collect();
        let key = |item: &(String, Arc<()>)| (item.0.clone(), item.1.clone());
        let counts = items.par_iter().count_by(|item| key(item));
        assert_eq!(Arc::strong_count(&token), items.len() + expected.len() + 1);
        assert_eq!(counts.len(), expected.len());
        drop(counts);
        let counts = items.into_par_iter().map(|item| item.0).count_items();
        assert_eq!(Arc::strong_count(&token), 1);
        let counts: HashMap<u64, usize> = counts
            .into_iter()
            .map(|(key, count)| (key.parse().expect("a number"), count))
            .collect();
        assert_eq!(counts, expected);
    }
}

/// A key that is equal to another now and then, and whose hash is different each time.
struct Liar(usize, Arc<AtomicUsize>);

impl Hash for Liar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.1.fetch_add(1, Relaxed) % 100_000);
    }
}

impl PartialEq for Liar {
    fn eq(&self, _: &Liar) -> bool {
        self.1.fetch_add(1, Relaxed).is_multiple_of(3)
    }
}

impl Eq for Liar {}

/// The results are items in their order, whatever their keys say about themselves.
#[test]
fn distinct_of_liars() {
    for count in [0, 1, 1000, 60_000, 200_000] {
        let lies = Arc::new(AtomicUsize::new(0));
        let all = (0..count).into_par_iter().map(|i| Liar(i, lies.clone()));
        let some = all.filter(|_| true).distinct();
        assert!(some.is_sorted_by(|a, b| a.0 < b.0) && some.len() <= count);
        assert_eq!(Arc::strong_count(&lies), some.len() + 1);
        assert_eq!(some.is_empty(), count == 0);
    }
}

/// More keys than a worker's table should have: at once, after a while, with many repeats, and with hardly any.
#[test]
fn distinct_of_many() {
    let count: u64 = if cfg!(debug_assertions) {
        220_000
    } else {
        400_000
    };
    let laws: [fn(u64) -> u64; 5] = [
        |i| i,
        |i| i / 2,
        |i| if i < 50_000 { i % 50 } else { i },
        |i| if i % 3 == 0 { 7 } else { i },
        |i| if i < 150_000 { i } else { i % 140_000 },
    ];
    for law in laws {
        let mut seen = HashSet::new();
        let expected: Vec<u64> = (0..count)
            .map(law)
            .filter(|&key| seen.insert(key))
            .collect();
        let mut seen = HashSet::new();
        let texts_by_hand: Vec<String> = (0..count / 8)
            .map(|i| law(i * 8).to_string())
            .filter(|text| seen.insert(text.clone()))
            .collect();
        on_pools(|| {
            let found = (0..count).into_par_iter().map(law).distinct();
            assert!(found == expected, "keys {} {}", found.len(), expected.len());
            let texts = (0..count / 8)
                .into_par_iter()
                .map(|i| law(i * 8).to_string());
            assert!(texts.distinct() == texts_by_hand);
        });
    }
}

/// An iterator that says that it has at most `says` items, which may be a lie.
struct Says<I>(I, Option<usize>);

impl<I: Iterator> Iterator for Says<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.1)
    }
}

/// Tables are looked at after the right item, or later if a stretch of items has more than it said: the result
/// is the same. The stretches end just before, at and after the places where something is decided.
#[test]
fn stretches_of_items_that_say_their_length_or_lie() {
    let before: usize = if cfg!(miri) { 300 } else { 1 << 14 };
    let many = if cfg!(miri) { 700 } else { 150_000 };
    for (keys, middle) in [
        (7, before - 2),
        (7, before - 1),
        (1000, before),
        (many, before + 1),
        (many, many as usize),
    ] {
        let ends = [0, 1, middle + 1, middle + 2, 2 * middle + 100];
        let keyed = |at: usize| at.wrapping_mul(0x9E37_79B9) as u64 % keys;
        let mut counts = HashMap::new();
        (0..ends[4]).for_each(|at| *counts.entry(keyed(at)).or_insert(0_usize) += 1);
        let lasts: HashMap<u64, usize> = (0..ends[4]).map(|at| (keyed(at), at)).collect();
        let mut seen = HashSet::new();
        let firsts: Vec<u64> = (0..ends[4])
            .map(keyed)
            .filter(|&k| seen.insert(k))
            .collect();
        let (none, lie) = (|_: usize| None, |_: usize| Some(0));
        let truth = |count: usize| Some(count);
        for says in [
            &none as &(dyn Fn(usize) -> Option<usize> + Sync),
            &lie,
            &truth,
        ] {
            let items = || {
                ends.par_windows(2).flat_map_iter(|ends| {
                    let (from, to) = (ends[0], ends[1]);
                    Says(from..to, says(to - from))
                })
            };
            assert_eq!(items().count_by(|&at| keyed(at)), counts);
            assert_eq!(items().map(keyed).distinct(), firsts);
            let collected: ParHashMap<u64, usize> = items().map(|at| (keyed(at), at)).collect();
            assert_eq!(collected, lasts);
            let last = items().fold_by(
                |&at| keyed(at),
                || 0,
                |all, at| *all = at,
                |all, at| *all = at,
            );
            assert_eq!(last, lasts);
        }
    }
}

/// Inner iterators of one item each, nested and not, and pieces of one item: more of them than one bag has room
/// for.
#[test]
fn pieces_of_single_items_come_to_the_same() {
    let count: u64 = if cfg!(miri) { 600 } else { 20_000 };
    for distinct in [count, 700] {
        let numbers: Vec<u64> = (0..count).map(|n| n * 7 % distinct).collect();
        let places: Vec<(u64, u64)> = numbers.iter().copied().zip(0..).collect();
        let firsts: Vec<u64> = {
            let mut seen = HashSet::new();
            numbers
                .iter()
                .copied()
                .filter(|n| seen.insert(*n))
                .collect()
        };
        let lasts: HashMap<u64, u64> = places.iter().copied().collect();
        let check =
            |kind: &str, found: Vec<u64>, map: ParHashMap<u64, u64>, groups: Vec<Vec<u64>>| {
                assert_eq!(found, firsts, "distinct, {kind}");
                assert_eq!(map.len(), lasts.len(), "map, {kind}");
                assert!(
                    map.iter().all(|(key, value)| lasts[&key] == value),
                    "map, {kind}"
                );
                assert_eq!(groups.len(), firsts.len(), "groups, {kind}");
                assert!(
                    groups.iter().all(|group| group.is_sorted()),
                    "groups, {kind}"
                );
                assert_eq!(
                    groups.iter().map(Vec::len).sum::<usize>() as u64,
                    count,
                    "groups, {kind}"
                );
            };
        macro_rules! all {
            ($kind:literal, $iter:expr) => {
                let found = $iter.map(|pair: (u64, u64)| pair.0).distinct();
                let groups = $iter.group_by(|pair: &(u64, u64)| pair.0);
                let places = |group: &[(u64, u64)]| group.iter().map(|pair| pair.1).collect();
                let groups = groups.iter().map(|(_, group)| places(group)).collect();
                check($kind, found, $iter.collect(), groups);
            };
        }
        all!("single", places.par_iter().copied().with_max_len(1));
        all!("blocks", places.par_iter().copied().by_uniform_blocks(1));
        all!("inner", places.par_iter().flat_map(|&pair| [pair]));
        all!(
            "inner of inner",
            places
                .par_chunks(50)
                .flat_map(|some| some.par_chunks(3).flat_map(|few| few.par_iter().copied()))
        );
        all!(
            "some are empty",
            places
                .par_chunks(2)
                .flat_map(|two| [&two[..0], two, &two[1..1]])
                .flat_map(|some| some.par_iter().copied())
        );
    }
}

/// A source of one item, as another crate may write it: it drops a consumer that it has split off.
#[derive(Clone, Copy)]
struct One(u64);

impl ParallelIterator for One {
    type Item = u64;

    fn drive_unindexed<C: UnindexedConsumer<u64>>(self, consumer: C) -> C::Result {
        drop(consumer.split_off_left());
        consumer.into_folder().consume(self.0).complete()
    }
}

#[test]
fn inner_iterators_that_drop_consumers_lose_nothing() {
    on_pools(|| {
        let items = || (0..1000_u64).into_par_iter().flat_map(One);
        assert_eq!(items().distinct().len(), 1000);
        assert_eq!(items().group_by(|n| n % 10).values_len(), 1000);
        let counts: usize = items()
            .count_by(|n| n % 10)
            .into_iter()
            .map(|(_, n)| n)
            .sum();
        assert_eq!(counts, 1000);
        let map: ParHashMap<_, _> = items().map(|n| (n, n)).collect();
        assert_eq!(map.len(), 1000);
        let joined = items().join_by((0..500_u64).into_par_iter(), |&n| n, |&n| n);
        assert_eq!(joined.inner().len(), 500);
        let joins = (0..100_u64).into_par_iter().flat_map(|n| {
            let right = (n..n + 1).into_par_iter();
            One(n).join_by(right, |&n| n, |&n| n).inner_with(|&l, _| l)
        });
        assert_eq!(joins.distinct().len(), 100);
    });
}
