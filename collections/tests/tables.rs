//! Joins, aggregates, walked groups, sorted vectors and frozen maps against the same by hand; panics in every
//! closure, with every drop counted.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::SeqCst};

use quickcheck::{QuickCheck, TestResult};
use tine_collections::prelude::*;
use tine_collections::{FrozenMap, ParHashMap, SortedVec};
use tine_iter::prelude::*;

type Pair = (u8, u16);

/// Numbers that look random, the same every time.
fn pairs(count: usize, keys: u64) -> Vec<(u64, u64)> {
    let mut x = 7_u64;
    let mut next = move || {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % keys
    };
    (0..count as u64).map(|i| (next(), i)).collect()
}

fn quick<A: quickcheck::Testable>(check: A) {
    QuickCheck::new().tests(200).quickcheck(check);
}

#[test]
fn outer_joins_and_closures() {
    fn agree(left: Vec<Pair>, right: Vec<Pair>) {
        let join = || {
            let right = right.clone().into_par_iter();
            left.par_iter().copied().join_by(right, |l| l.0, |r| r.0)
        };
        let inner = join().inner();
        let with: Vec<_> = join().inner_with(|l, r| (*l, *r)).collect();
        assert_eq!(with, inner);
        let with: Vec<_> = join().left_with(|l, r| (*l, r.copied())).collect();
        assert_eq!(with, join().left());

        let mut outer = join().outer();
        let alone = outer.split_off(with.len());
        let both: Vec<_> = with.into_iter().map(|(l, r)| (Some(l), r)).collect();
        assert_eq!(outer, both);
        let mut alone: Vec<Pair> = alone
            .into_iter()
            .map(|(l, r)| {
                assert_eq!(l, None);
                r.expect("an item of the right side")
            })
            .collect();
        let mut expected: Vec<Pair> = right.clone();
        expected.retain(|r| left.iter().all(|l| l.0 != r.0));
        // Of one key, in order.
        alone.sort_by_key(|r| r.0);
        expected.sort_by_key(|r| r.0);
        assert_eq!(alone, expected);
    }
    quick(agree as fn(Vec<Pair>, Vec<Pair>));
}

#[test]
fn joins_on_what_is_built() {
    fn agree(left: Vec<Pair>, right: Vec<Pair>) {
        let by = |right: &[Pair]| {
            let right = right.to_vec().into_par_iter();
            left.par_iter().copied().join_by(right, |l| l.0, |r| r.0)
        };
        let groups = right.par_iter().copied().group_by(|r| r.0);
        let on = || left.par_iter().copied().join_on(&groups, |l| l.0);
        assert_eq!(on().inner(), by(&right).inner());
        assert_eq!(on().left(), by(&right).left());
        assert_eq!(on().semi(), by(&right).semi());
        let anti = by(&right).anti();
        assert_eq!(on().anti(), anti);
        assert_eq!(
            left.par_iter().copied().join_on(groups, |l| l.0).anti(),
            anti
        );

        let map: HashMap<u8, u16> = right.iter().copied().collect();
        let frozen: FrozenMap<u8, u16> = right.par_iter().copied().collect();
        let found: Vec<_> = left.iter().map(|l| (l.1, map.get(&l.0).copied())).collect();
        let join = left.par_iter().join_on(&frozen, |l| l.0);
        let with: Vec<_> = join.left_with(|l, v| (l.1, v.copied())).collect();
        assert_eq!(with, found);
        let mut map = frozen.clone().thaw();
        let join = left.par_iter().join_on(&mut map, |l| l.0);
        let with: Vec<_> = join.left_with(|l, v| (l.1, v.copied())).collect();
        assert_eq!(with, found);
        let join = left.par_iter().copied().join_on(&mut map, |l| l.0);
        assert_eq!(join.anti(), anti);
        assert_eq!(map, frozen.clone().thaw());
        let join = left.par_iter().copied().join_on(frozen, |l| l.0);
        assert_eq!(join.anti(), anti);
    }
    quick(agree as fn(Vec<Pair>, Vec<Pair>));
}

/// Enough rows for several parts, with keys of two kinds.
#[test]
fn large_joins() {
    let (left, right) = (pairs(30_000, 20_000), pairs(25_000, 20_000));
    let mut rows: HashMap<u64, Vec<u64>> = HashMap::new();
    right
        .iter()
        .for_each(|&(k, v)| rows.entry(k).or_default().push(v));
    let row = |key: &u64| rows.get(key).map_or(&[][..], |row| row);
    let expected: Vec<(u64, u64)> = left
        .iter()
        .flat_map(|&(k, v)| row(&k).iter().map(move |&r| (v, r)))
        .collect();
    let join = left.par_iter().join_by(&right, |l| l.0, |r| r.0);
    let found: Vec<_> = join.inner_with(|l, r| (l.1, r.1)).collect();
    assert_eq!(found, expected);
    let join = left
        .par_iter()
        .join_by(&right, |l| l.0.to_string(), |r| r.0.to_string());
    let found: Vec<_> = join.inner_with(|l, r| (l.1, r.1)).collect();
    assert_eq!(found, expected);
    let outer = left.par_iter().join_by(&right, |l| l.0, |r| r.0).outer();
    let strangers = outer.iter().filter(|(l, _)| l.is_none()).count();
    let keys: std::collections::HashSet<u64> = left.iter().map(|l| l.0).collect();
    let alone = right.iter().filter(|r| !keys.contains(&r.0)).count();
    assert_eq!(strangers, alone);
    // Ends early, and without a look at most of the items.
    let join = left.par_iter().join_by(&right, |l| l.0, |r| r.0);
    assert!(
        join.inner_with(|l, r| (l.1, r.1))
            .any(|pair| pair == expected[0])
    );
}

static ALIVE: AtomicIsize = AtomicIsize::new(0);
static ARMED: AtomicBool = AtomicBool::new(false);
static COUNTDOWN: AtomicIsize = AtomicIsize::new(0);

/// A key that is counted, and panics after a number of calls.
#[derive(Debug)]
struct Counted(u64);

fn tick() {
    if ARMED.load(SeqCst) && COUNTDOWN.fetch_sub(1, SeqCst) == 0 {
        panic!("on purpose");
    }
}

impl Counted {
    fn new(n: u64) -> Self {
        ALIVE.fetch_add(1, SeqCst);
        Counted(n)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        tick();
        Counted::new(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        tick();
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        tick();
        self.0.hash(state);
    }
}

#[test]
fn panics_lose_nothing() {
    let make = |count: u64, keys: u64| -> Vec<(Counted, Counted)> {
        let pair = |i| (Counted::new(i % keys), Counted::new(i));
        (0..count).map(pair).collect()
    };
    type Work<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let (left, right) = (make(300, 40), make(200, 50));
    let join = || {
        let right = right.par_iter().cloned();
        left.par_iter().cloned().join_by(
            right,
            |l| {
                tick();
                l.0.clone()
            },
            |r| {
                tick();
                r.0.clone()
            },
        )
    };
    let work: Vec<Work<'_>> = vec![
        ("inner", Box::new(|| drop(join().inner()))),
        ("outer", Box::new(|| drop(join().outer()))),
        ("semi", Box::new(|| drop(join().semi()))),
        (
            "inner_with",
            Box::new(|| {
                let with = |l: &(Counted, Counted), _: &_| {
                    tick();
                    l.1.clone()
                };
                drop(join().inner_with(with).collect::<Vec<_>>());
            }),
        ),
        (
            "aggregate_by",
            Box::new(|| {
                let groups = left.par_iter().aggregate_by(|l| {
                    tick();
                    l.0.clone()
                });
                let both = groups.count().first(|l| l.1.clone()).last(|l| l.1.clone());
                drop(both.finish());
            }),
        ),
        (
            "fold_groups",
            Box::new(|| {
                let groups = left.par_iter().cloned().group_pairs();
                drop(groups.fold_groups(
                    Vec::new,
                    |all, value| {
                        tick();
                        all.push(value.clone())
                    },
                    |all, later| {
                        tick();
                        all.extend(later)
                    },
                ));
            }),
        ),
        (
            "fold_pairs",
            Box::new(|| {
                let pairs = left.par_iter().cloned();
                drop(pairs.fold_pairs(
                    |v| {
                        tick();
                        vec![v]
                    },
                    |all, v| {
                        tick();
                        all.push(v)
                    },
                    |all, later| {
                        tick();
                        all.extend(later)
                    },
                ));
            }),
        ),
    ];
    let before = ALIVE.load(SeqCst);
    for (name, work) in &work {
        let mut survived = 0;
        for at in (0..40).chain((40..4000).step_by(97)) {
            COUNTDOWN.store(at, SeqCst);
            ARMED.store(true, SeqCst);
            let result = catch_unwind(AssertUnwindSafe(work));
            ARMED.store(false, SeqCst);
            survived += usize::from(result.is_ok());
            assert_eq!(ALIVE.load(SeqCst), before, "{name} at {at}");
        }
        assert!(survived < 60, "{name} has hardly panicked");
    }
}

/// Keys that differ each time they are asked for: any answer is allowed, but no crash and no lost value.
#[test]
fn keys_that_lie() {
    let asked = AtomicUsize::new(0);
    let lie = || asked.fetch_add(1, SeqCst) % 7;
    let values: Vec<usize> = (0..20_000).collect();
    let join = || {
        values
            .par_iter()
            .join_by(&values[..500], |_| lie(), |_| lie())
    };
    assert!(join().semi().len() + join().anti().len() > 0);
    assert!(join().left().len() >= values.len());
    let counts = values.par_iter().aggregate_by(|_| lie()).count().finish();
    assert_eq!(counts.into_values().sum::<usize>(), values.len());
    let sorted: SortedVec<usize> = values.par_iter().copied().collect();
    assert!(sorted.join_by_key(&sorted, |_| lie(), |_| lie()).count() < usize::MAX);
}

#[test]
fn aggregates() {
    fn agree(items: Vec<Pair>) {
        let mut expected: BTreeMap<u8, Vec<u16>> = BTreeMap::new();
        items
            .iter()
            .for_each(|&(k, v)| expected.entry(k).or_default().push(v));
        let found = items
            .par_iter()
            .aggregate_by(|item| item.0)
            .count()
            .sum(|item| u64::from(item.1))
            .min(|item| item.1)
            .max(|item| item.1)
            .mean(|item| f64::from(item.1))
            .first(|item| item.1)
            .last(|item| item.1)
            .finish();
        assert_eq!(found.len(), expected.len());
        found.for_each(|key, found| {
            let row = &expected[key];
            let sum: u64 = row.iter().map(|&n| u64::from(n)).sum();
            let mean = sum as f64 / row.len() as f64;
            let (least, most) = (*row.iter().min().unwrap(), *row.iter().max().unwrap());
            let (first, last) = (row[0], row[row.len() - 1]);
            // Sums of whole numbers below 2^53 do not round.
            assert_eq!(*found, (row.len(), sum, least, most, mean, first, last));
        });
        let single = items
            .par_iter()
            .aggregate_by(|item| item.0)
            .min(|item| item.1)
            .finish();
        single.for_each(|key, least| assert_eq!(expected[key].iter().min(), Some(least)));
        let none = items
            .par_iter()
            .aggregate_by(|item| item.0)
            .count()
            .finish();
        assert_eq!(none.into_values().sum::<usize>(), items.len());
    }
    quick(agree as fn(Vec<Pair>));
    agree(
        pairs(60_000, 200)
            .into_iter()
            .map(|(k, v)| (k as u8, v as u16))
            .collect(),
    );
}

#[test]
fn owned_keys() {
    let words: Vec<String> = pairs(40_000, 9_000)
        .iter()
        .map(|p| p.0.to_string())
        .collect();
    let mut expected = HashMap::new();
    words
        .iter()
        .for_each(|word| *expected.entry(word.clone()).or_insert(0) += 1);
    assert_eq!(words.clone().into_par_iter().count_items(), expected);
    let ones = words.into_par_iter().map(|word| (word, 1));
    let sums = ones.fold_pairs(|n| n, |sum, n| *sum += n, |sum, more| *sum += more);
    assert_eq!(sums, expected);
}

#[test]
fn groups_by_reference() {
    for (count, keys) in [(0, 1), (1, 1), (100, 7), (40_000, 3), (40_000, 30_000)] {
        let input = pairs(count, keys);
        let groups = input.par_iter().copied().group_pairs();
        let walked: Vec<_> = (&groups).into_iter().collect();
        assert!(walked.iter().copied().eq(groups.iter()));
        assert_eq!((&groups).into_par_iter().collect::<Vec<_>>(), walked);
        assert!(groups.keys().eq(walked.iter().map(|(key, _)| *key)));
        assert!(groups.keys().all(|key| groups.contains_key(key)));
        assert!(!groups.contains_key(&u64::MAX));
        // In order, however a long group is cut.
        let folded = groups.fold_groups(
            Vec::new,
            |all, &v| all.push(v),
            |all, later| all.extend(later),
        );
        assert_eq!(folded.len(), walked.len());
        for ((key, all), (other, row)) in folded.iter().zip(&walked) {
            assert!(key == other && all == row);
        }
    }
}

#[test]
fn sorted_vectors() {
    fn agree(left: Vec<Pair>, right: Vec<Pair>, from: u8, to: u8) -> TestResult {
        let sorted: SortedVec<Pair> = left.par_iter().copied().collect();
        let mut expected = left.clone();
        expected.sort();
        assert_eq!(*sorted, expected[..]);
        assert_eq!(
            SortedVec::from_sorted(expected.clone()).as_ref(),
            Ok(&sorted)
        );
        assert_eq!(
            SortedVec::from_sorted(left.clone()).is_ok(),
            left.is_sorted()
        );
        let keys: SortedVec<u8> = left.iter().map(|l| l.0).collect();
        let by_hand =
            |f: &dyn Fn(u8) -> bool| keys.iter().copied().filter(|&k| f(k)).collect::<Vec<_>>();
        assert_eq!(keys.range(from..to), by_hand(&|k| from <= k && k < to));
        assert_eq!(keys.range(from..=to), by_hand(&|k| from <= k && k <= to));
        assert_eq!(keys.range(..to), by_hand(&|k| k < to));
        assert_eq!(keys.range(from..), by_hand(&|k| from <= k));
        assert_eq!(keys.equal_to(&from), by_hand(&|k| k == from));
        assert_eq!(keys.contains(&from), left.iter().any(|l| l.0 == from));

        let other: SortedVec<Pair> = right.par_iter().copied().collect();
        let joined: Vec<_> = sorted.join_by_key(&other, |l| l.0, |r| r.0).collect();
        let by_hand: Vec<_> = sorted
            .iter()
            .flat_map(|l| other.iter().filter(|r| r.0 == l.0).map(move |r| (l, r)))
            .collect();
        assert_eq!(joined, by_hand);
        expected.extend(&right);
        expected.sort();
        assert_eq!(sorted.clone().merge(other).into_vec(), expected);
        TestResult::passed()
    }
    quick(agree as fn(Vec<Pair>, Vec<Pair>, u8, u8) -> TestResult);
}

/// Across the steps into which a join of sorted vectors is cut.
#[test]
fn long_sorted_joins() {
    let left: SortedVec<_> = pairs(9_000, 2_000).into();
    let right: SortedVec<_> = pairs(3_000, 2_000).into();
    let mut rows: HashMap<u64, Vec<&(u64, u64)>> = HashMap::new();
    right
        .iter()
        .for_each(|r| rows.entry(r.0).or_default().push(r));
    let expected: Vec<_> = left
        .iter()
        .flat_map(|l| rows.get(&l.0).into_iter().flatten().map(move |r| (l, *r)))
        .collect();
    let joined: Vec<_> = left.join_by_key(&right, |l| l.0, |r| r.0).collect();
    assert_eq!(joined, expected);
}

#[test]
fn frozen_maps() {
    fn agree(pairs: Vec<(u16, u8)>) {
        let expected: HashMap<u16, u8> = pairs.iter().copied().collect();
        let frozen: FrozenMap<u16, u8> = pairs.par_iter().copied().collect();
        assert_eq!(frozen, expected);
        assert_eq!(frozen, pairs.iter().copied().collect::<FrozenMap<_, _>>());
        assert_eq!(frozen.clone(), frozen);
        assert_eq!(frozen.iter().len(), expected.len());
        let mut walk = frozen.iter();
        let first = walk.next();
        assert_eq!(walk.len(), expected.len().saturating_sub(1));
        assert_eq!(walk.count() + first.iter().count(), expected.len());
        for (key, value) in &frozen {
            assert_eq!(expected.get(key), Some(value));
            assert_eq!(frozen.get_key_value(key), Some((key, value)));
        }
        let mut other = expected.clone();
        other.insert(1, 1);
        other.insert(2, 2);
        assert_eq!(frozen == other, expected == other);
        assert_eq!(frozen.par_keys().count(), expected.len());
        let sum = |values: &mut dyn Iterator<Item = u64>| values.sum::<u64>();
        let values = sum(&mut expected.values().map(|&v| u64::from(v)));
        assert_eq!(
            frozen.par_values().map(|&v| u64::from(v)).sum::<u64>(),
            values
        );
        assert_eq!(
            sum(&mut frozen.clone().into_values().map(u64::from)),
            values
        );
        assert_eq!(frozen.clone().into_keys().count(), expected.len());
        let thawed: ParHashMap<u16, u8> = frozen.into();
        assert_eq!(FrozenMap::from(thawed), expected);
    }
    quick(agree as fn(Vec<(u16, u8)>));
    // Wide, with charts of several tables.
    agree((0..30_000).map(|i| (i, i as u8)).collect());
    assert!(FrozenMap::<u8, u8>::default().is_empty());
}
