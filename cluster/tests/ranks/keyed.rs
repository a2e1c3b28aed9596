//! Counting, folding, grouping and joining, against tine on one machine.

use crate::kit::{
    RANKS, SPREADS, Spread, numbers, same_and_even, shapes, small_rounds, spread, tagged,
};
use quickcheck::quickcheck;
use std::collections::BTreeMap;
use tine_cluster::{Cluster, DistMap, DistVec, Travel};
use tine_collections::ParallelGrouping;
use tine_iter::prelude::*;

/// All entries, on every rank, by key.
fn all<K, V>(map: DistMap<K, V>) -> BTreeMap<K, V>
where
    K: Travel + Eq + std::hash::Hash + Ord + Clone + Sync,
    V: Travel + Clone + Sync,
{
    let len = map.len();
    let entries = map.into_vec().all_gather();
    let found: BTreeMap<K, V> = entries.into_iter().collect();
    assert_eq!(found.len(), len, "each key once");
    found
}

fn sorted<T>(v: DistVec<T>) -> Vec<T>
where
    T: Ord + Travel + Clone,
{
    let mut items = v.all_gather();
    items.sort();
    items
}

/// Keys of all shapes, on any ranks, spread in every way; `twin` is what one machine makes from them, once for
/// all.
fn each<E: Sync>(
    twin: impl Fn(&[u64]) -> E,
    test: impl Fn(&Cluster, Spread, &[u64], &E, &str) + Sync,
) {
    for count in [0, 1, 6, 2500] {
        for (shape, keys) in shapes(count) {
            let twin = twin(&keys);
            for &ranks in RANKS {
                small_rounds(ranks, |c| {
                    for &how in SPREADS {
                        test(c, how, &keys, &twin, &format!("{count} {shape} {how:?}"));
                    }
                });
            }
        }
    }
}

#[test]
fn counts() {
    let twin = |keys: &[u64]| {
        let mut expected = BTreeMap::new();
        keys.iter()
            .for_each(|key| *expected.entry(*key).or_insert(0_usize) += 1);
        let top = keys.par_iter().top_k_by_count(3, |key| **key);
        let bins = keys.par_iter().histogram(4, |key| **key as usize % 4);
        (expected, top, bins)
    };
    each(twin, |c, how, keys, (expected, top, bins), what| {
        let v = how.part(c, keys);
        assert_eq!(all(v.par_iter().count_by(|key| **key)), *expected, "{what}");
        let texts = v.par_iter().count_by(|key| key.to_string());
        assert_eq!(texts.len(), expected.len());
        assert_eq!(texts.get("3"), expected.get(&3).copied(), "{what}");
        assert_eq!(
            all(v.par_iter().copied().count_items()),
            *expected,
            "{what}"
        );
        assert_eq!(all(v.par_iter().count_refs()), *expected, "{what}");
        let lines = v.par_iter().map(|key| format!("{key} a{key} b")).collect();
        let words = lines.par_iter().flat_map_iter(|line| line.split(' '));
        let words = all(words.count_refs());
        assert_eq!(words.get("b").copied().unwrap_or(0), keys.len(), "{what}");
        assert_eq!(words.get("a3"), expected.get(&3), "{what}");
        assert_eq!(
            words.len(),
            2 * expected.len() + usize::from(!keys.is_empty())
        );
        let pairs = v.par_iter().count_by(|key| (**key as u8, **key));
        assert_eq!(pairs.get(&(3, 3)), expected.get(&3).copied());
        let found = v.par_iter().top_k_by_count(3, |key| **key);
        assert_eq!(found, *top, "{what}");
        assert_eq!(v.par_iter().count_by(|key| **key).top_k(3), *top);
        let found = v.par_iter().histogram(4, |key| **key as usize % 4);
        assert_eq!(found, *bins);
    });
}

/// Folding by key sees the items in their order, though the fold does not commute.
#[test]
fn folds() {
    let twin = |keys: &[u64]| {
        let at: Vec<(u64, u32)> = keys
            .iter()
            .zip(0..)
            .map(|(key, at)| (key % 50, at))
            .collect();
        let mut lists: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        at.iter()
            .for_each(|(key, at)| lists.entry(*key).or_default().push(*at));
        let sums: BTreeMap<u64, u32> = lists
            .iter()
            .map(|(key, row)| (*key, row.iter().sum()))
            .collect();
        (at, lists, sums)
    };
    each(twin, |c, how, _, (at, expected, totals), what| {
        let v = how.part(c, at);
        let lists = v.par_iter().fold_by(
            |item| item.0,
            Vec::new,
            |list, item| list.push(item.1),
            |list, mut more| list.append(&mut more),
        );
        assert_eq!(all(lists), *expected, "{what}");
        let items = || v.par_iter().copied();
        assert_eq!(all(items().group_pairs()), *expected, "{what}");
        let rows = items()
            .group_by(|item| item.0)
            .map_values(|row| row.into_iter().map(|item| item.1).collect::<Vec<u32>>());
        assert_eq!(all(rows), *expected, "{what}");
        let sums = items().fold_by(
            |item| item.0,
            || 0_u32,
            |sum, item| *sum += item.1,
            |a, b| *a += b,
        );
        assert_eq!(all(sums), *totals, "{what}");
    });
}

#[test]
fn distinct_items_come_in_their_order() {
    let twin = |keys: &[u64]| {
        let texts: Vec<String> = keys.iter().map(u64::to_string).collect();
        let few = texts.par_iter().cloned().distinct();
        (keys.par_iter().copied().distinct(), texts, few)
    };
    each(twin, |c, how, keys, (numbers, texts, few), what| {
        let found = how.part(c, keys).into_par_iter().distinct();
        same_and_even(&found, numbers, what);
        let found = how.part(c, texts).into_par_iter().distinct();
        same_and_even(&found, few, what);
    });
}

#[test]
fn shuffles_bring_keys_together() {
    let twin = |keys: &[u64]| {
        let items: Vec<(u64, u64)> = keys.iter().copied().zip(0..).collect();
        let mut sorted = items.clone();
        sorted.sort();
        (items, sorted)
    };
    each(twin, |c, how, _, (items, in_order), what| {
        let v = how
            .part(c, items)
            .into_par_iter()
            .shuffle_by(|item| item.0 % 9);
        let here: Vec<u64> = (0..9)
            .map(|key| {
                let row: Vec<&(u64, u64)> =
                    v.local().iter().filter(|item| item.0 % 9 == key).collect();
                assert!(row.is_sorted_by_key(|item| item.1), "{what}");
                u64::from(!row.is_empty())
            })
            .collect();
        let owners = c.from_local(vec![here]).all_gather();
        for key in 0..9 {
            assert!(
                owners.iter().map(|here| here[key]).sum::<u64>() <= 1,
                "{what}"
            );
        }
        assert_eq!(sorted(v), *in_order);
    });
}

/// Small and large right sides, light and heavy keys.
#[test]
fn joins() {
    for count in [0, 1, 30, 900] {
        for (shape, keys) in shapes(count) {
            let left: Vec<(u64, u64)> = keys.iter().map(|key| key % 40).zip(0..).collect();
            for rows in [0, 3, 60] {
                let right: Vec<(u64, String)> = tagged(&numbers(21, rows))
                    .into_iter()
                    .map(|(key, tag)| (key % 55, tag))
                    .collect();
                let join = || {
                    left.par_iter()
                        .copied()
                        .join_by(right.par_iter().cloned(), |l| l.0, |r| r.0)
                };
                let mut inner = join().inner();
                let mut outer = join().left();
                let mut semi = join().semi();
                let mut anti = join().anti();
                inner.sort();
                outer.sort();
                semi.sort();
                anti.sort();
                for ranks in [1, 2, 5] {
                    small_rounds(ranks, |c| {
                        for how in SPREADS {
                            let what = format!("{count} {shape}, {rows} rows, {how:?} on {ranks}");
                            let (l, r) = (how.part(c, &left), Spread::Even.part(c, &right));
                            let join = || {
                                l.par_iter().copied().join_by(
                                    r.par_iter().cloned(),
                                    |l| l.0,
                                    |r| r.0,
                                )
                            };
                            assert_eq!(sorted(join().inner()), inner, "{what}");
                            assert_eq!(sorted(join().left()), outer, "{what}");
                            assert_eq!(sorted(join().semi()), semi, "{what}");
                            assert_eq!(sorted(join().anti()), anti, "{what}");
                        }
                    });
                }
            }
        }
    }
}

/// A heavy key's left items stay where they are.
#[test]
fn heavy_keys_stay() {
    let left: Vec<u64> = numbers(2, 4000)
        .iter()
        .map(|n| if n % 10 < 8 { 1 } else { n % 300 })
        .collect();
    let right: Vec<(u64, u64)> = (0..300).map(|key| (key, key * key)).collect();
    small_rounds(4, |c| {
        let (l, r) = (Spread::Even.part(c, &left), Spread::Even.part(c, &right));
        let joined = l
            .into_par_iter()
            .join_by(r.into_par_iter(), |l| *l, |r| r.0)
            .inner();
        let mine = joined.local().len();
        assert_eq!(joined.len(), 4000);
        assert!(
            (500..1500).contains(&mine),
            "{mine} of 4000 on rank {}",
            c.rank()
        );
        assert!(joined.local().iter().all(|(l, r)| r.1 == l * l));
    });
}

#[test]
fn maps_meet_where_they_are() {
    let keys = numbers(9, 2000);
    for &ranks in RANKS {
        small_rounds(ranks, |c| {
            let v = Spread::Falling.part(c, &keys);
            let a = || v.par_iter().filter(|n| **n % 3 != 0).count_by(|n| **n % 70);
            let b = || v.par_iter().filter(|n| **n % 5 != 0).count_by(|n| **n % 90);
            let twin = |of: u64, by: u64| {
                let mut counts = BTreeMap::new();
                let kept = keys.iter().filter(|n| **n % of != 0);
                kept.for_each(|n| *counts.entry(n % by).or_insert(0_usize) += 1);
                counts
            };
            let (ta, tb) = (twin(3, 70), twin(5, 90));
            let both: BTreeMap<u64, usize> = ta
                .iter()
                .filter_map(|(k, n)| Some((*k, n * tb.get(k)?)))
                .collect();
            let (sent, n) = (|| c.stats().total().sent, a());
            let (m, before) = (b(), sent());
            let joined = n.join(m, |x, y| x * y);
            assert_eq!(sent(), before, "maps are joined where they are");
            assert_eq!(all(joined), both);
            let left: BTreeMap<u64, usize> = tb
                .iter()
                .map(|(k, n)| (*k, n + ta.get(k).unwrap_or(&1000)))
                .collect();
            assert_eq!(all(b().left_join(a(), |x, y| x + y.unwrap_or(1000))), left);
            let mut sums = ta.clone();
            tb.iter()
                .for_each(|(k, n)| *sums.entry(*k).or_insert(0) += n);
            assert_eq!(all(a().merge_with(b(), |x, y| *x += y)), sums);
            let few: BTreeMap<u64, usize> = ta
                .iter()
                .filter(|(k, _)| **k < 9)
                .map(|(k, n)| (*k, *n))
                .collect();
            assert_eq!(all(a().filter(|k, _| *k < 9)), few);
            let total = a().into_par_iter().map(|(_, n)| n).sum::<usize>();
            assert_eq!(total, ta.values().sum::<usize>());
            assert_eq!(a().par_iter().count(), ta.len());
            let gathered = a()
                .gather()
                .map(|entries| entries.into_iter().collect::<BTreeMap<_, _>>());
            assert_eq!(gathered, c.is_root().then_some(ta));
        });
    }
}

/// The order of a map's entries is the order of the keys' hashes: the same on any number of ranks.
#[test]
fn entries_lie_alike_on_any_number_of_ranks() {
    let keys = numbers(10, 500);
    let expected = std::sync::Mutex::new(None);
    for &ranks in RANKS {
        small_rounds(ranks, |c| {
            let counts = Spread::Even
                .part(c, &keys)
                .into_par_iter()
                .count_by(|n| n % 100);
            let entries = counts.into_vec().all_gather();
            let mut expected = expected.lock().unwrap();
            assert_eq!(*expected.get_or_insert_with(|| entries.clone()), entries);
        });
    }
}

#[test]
fn scans() {
    for count in [0, 1, 5, 3000, 20_000] {
        let all = numbers(17, count);
        let mut sum = 0_u64;
        let sums: Vec<u64> = all
            .iter()
            .map(|n| {
                sum = sum.wrapping_add(*n);
                sum
            })
            .collect();
        let texts: Vec<String> = all.iter().take(60).map(|n| (n % 10).to_string()).collect();
        let mut so_far = "x".to_owned();
        let before: Vec<String> = texts
            .iter()
            .map(|t| {
                let b = so_far.clone();
                so_far += t;
                b
            })
            .collect();
        for &ranks in RANKS {
            small_rounds(ranks, |c| {
                for how in SPREADS {
                    let v = how.part(c, &all).scan(|a, b| a.wrapping_add(*b));
                    assert_eq!(v.all_gather(), sums);
                    let v = how
                        .part(c, &texts)
                        .scan_exclusive("x".into(), |a, b| format!("{a}{b}"));
                    assert_eq!(v.all_gather(), before);
                    let small: Vec<u64> = all.iter().map(|n| n % 9).collect();
                    let v = how.part(c, &small).prefix_sum();
                    assert_eq!(
                        v.all_gather().last().copied(),
                        small.iter().copied().reduce(|a, b| a + b)
                    );
                }
            });
        }
    }
}

/// More keys than a table has room for.
#[test]
fn tables_overflow() {
    let distinct = 20_000_u64;
    let keys: Vec<u64> = numbers(5, 60_000).iter().map(|n| n % distinct).collect();
    let mut expected = vec![0; distinct as usize];
    keys.iter().for_each(|key| expected[*key as usize] += 1);
    let present = expected.iter().filter(|n| **n > 0).count();
    let ran = crate::watch::run_threads(2, |c| {
        let v = Spread::Even.part(c, &keys);
        let counts = v.par_iter().count_by(|key| [**key; 32]).into_vec();
        let right = |(key, count): &([u64; 32], usize)| expected[key[0] as usize] == *count;
        assert!(counts.local().iter().all(right));
        let sums = v.par_iter().fold_by(
            |key| [**key; 32],
            || 0_usize,
            |n, _| *n += 1,
            |n, m| *n += m,
        );
        let sums = sums.into_vec();
        assert!(sums.local().iter().all(right));
        assert_eq!((counts.len(), sums.len()), (present, present));
        Ok(())
    });
    ran.unwrap();
}

quickcheck! {
    fn any_lengths_of_parts(weights: Vec<u8>, keys: Vec<u16>) -> bool {
        let mut weights: Vec<usize> = weights.into_iter().take(6).map(usize::from).collect();
        weights.push(1);
        let keys: Vec<u64> = keys.into_iter().map(|key| u64::from(key % 64)).collect();
        let mut expected = BTreeMap::new();
        keys.iter().for_each(|key| *expected.entry(*key).or_insert(0_usize) += 1);
        let distinct = keys.par_iter().copied().distinct();
        small_rounds(weights.len(), |c| {
            let v = spread(c, &keys, &weights);
            assert_eq!(all(v.par_iter().count_by(|key| **key)), expected);
            let there = v.par_iter().copied().distinct();
            same_and_even(&there, &distinct, "distinct");
            let pairs = v.par_iter().copied().join_by(v.par_iter().copied(), |l| *l, |r| *r);
            let squares = expected.values().map(|n| n * n).sum::<usize>();
            assert_eq!(pairs.inner().len(), squares);
        });
        true
    }
}
