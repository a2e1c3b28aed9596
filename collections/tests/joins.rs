//! Joins against the same by hand: right sides of few items and of many, of keys that come once and of keys
//! that come often, gathered by the join or built before.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use quickcheck::QuickCheck;
use tine_collections::prelude::*;
use tine_collections::{FrozenMap, ParHashMap};
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

/// Above this many items a right side is scattered, on every pool.
const MANY: u64 = 40_000;

fn on_pools(check: impl Fn() + Send + Sync) {
    for threads in [1, 2, 5] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(&check);
    }
}

/// What a loop makes from both sides: all pairs of the outer join, and which left items have a partner.
struct ByHand<L, R> {
    left: Vec<(L, Option<R>)>,
    alone: Vec<R>,
    semi: Vec<L>,
    anti: Vec<L>,
}

fn by_hand<K: Ord + Clone, L: Clone, R: Clone>(
    left: &[(K, L)],
    right: &[(K, R)],
) -> ByHand<(K, L), (K, R)> {
    let mut rows: BTreeMap<&K, Vec<&(K, R)>> = BTreeMap::new();
    right
        .iter()
        .for_each(|r| rows.entry(&r.0).or_default().push(r));
    let mut found = ByHand {
        left: Vec::new(),
        alone: Vec::new(),
        semi: Vec::new(),
        anti: Vec::new(),
    };
    for l in left {
        let Some(row) = rows.get(&l.0) else {
            found.left.push((l.clone(), None));
            found.anti.push(l.clone());
            continue;
        };
        let pairs = row.iter().map(|r| (l.clone(), Some((*r).clone())));
        found.left.extend(pairs);
        found.semi.push(l.clone());
    }
    left.iter().for_each(|l| drop(rows.remove(&l.0)));
    found.alone = rows.into_values().flatten().cloned().collect();
    found
}

/// All kinds of join, loose and on groups.
fn agree<K, L, R>(left: &[(K, L)], right: &[(K, R)])
where
    K: Ord + Hash + Clone + Debug + Send + Sync,
    L: Ord + Clone + Debug + Send + Sync,
    R: Ord + Clone + Debug + Send + Sync,
{
    let expected = by_hand(left, right);
    let inner: Vec<_> = (expected.left.iter().cloned())
        .filter_map(|(l, r)| Some((l, r?)))
        .collect();
    #[allow(clippy::type_complexity)] // as `outer` itself
    let outer = |mut pairs: Vec<(Option<(K, L)>, Option<(K, R)>)>| {
        let alone = pairs.split_off(expected.left.len());
        let left = expected.left.iter().cloned().map(|(l, r)| (Some(l), r));
        assert!(pairs.into_iter().eq(left));
        assert!(alone.iter().all(|pair| pair.0.is_none()));
        let mut alone: Vec<_> = alone.into_iter().filter_map(|pair| pair.1).collect();
        // The order of their keys is not specified; the order within a key is.
        alone.sort_by(|a, b| a.0.cmp(&b.0));
        assert!(alone == expected.alone);
    };
    let groups = &right.par_iter().cloned().group_by(|r| r.0.clone());
    on_pools(|| {
        let loose = || {
            let right = right.par_iter().cloned();
            (left.par_iter().cloned()).join_by(right, |l| l.0.clone(), |r| r.0.clone())
        };
        let built = || {
            left.par_iter()
                .cloned()
                .join_on(groups, |l: &(K, L)| l.0.clone())
        };
        assert!(loose().inner() == inner && built().inner() == inner);
        assert!(loose().left() == expected.left && built().left() == expected.left);
        assert!(loose().semi() == expected.semi && built().semi() == expected.semi);
        assert!(loose().anti() == expected.anti && built().anti() == expected.anti);
        outer(loose().outer());
        outer(built().outer());
        let first = loose().inner_with(|l, r| (l.clone(), r.clone()));
        let first = first.find_first(|pair| pair.0.0 >= left[left.len() / 2].0);
        let mut pairs = inner.iter();
        let by_loop = pairs.find(|pair| pair.0.0 >= left[left.len() / 2].0);
        assert!(first.as_ref() == by_loop);
    });
}

/// Keys that look random.
fn spread(i: u64) -> u64 {
    i.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 20
}

#[test]
fn many_rows_of_each_kind() {
    type Law = fn(u64) -> u64;
    let laws: [Law; 6] = [
        |i| i,
        spread,
        // Some keys twice; each key often; a key that a third of the items share; a single key.
        |i| spread(i % (MANY / 10 * 9)),
        |i| spread(i % 300),
        |i| if i % 3 == 0 { 7 } else { spread(i) },
        |_| 7,
    ];
    for (nth, law) in laws.into_iter().enumerate() {
        let right: Vec<_> = (0..MANY).map(|i| (law(i), i)).collect();
        let few = [2000, 2000, 2000, 100, 5, 2][nth];
        let left: Vec<_> = (0..few).map(|i| (law(i * 31 + nth as u64), i)).collect();
        let strange = (0..few).map(|i| (spread(i + (1 << 40)), i));
        let left: Vec<_> = left.into_iter().chain(strange).collect();
        agree(&left, &right);
    }
    let right: Vec<_> = (0..MANY).map(|i| (i as u32, i as u8)).collect();
    agree(&[(3, 'a'), (u32::MAX, 'b'), (3, 'c'), (9, 'd')], &right);
}

#[test]
fn keys_that_own_and_items_that_are_large() {
    let right: Vec<_> = (0..MANY).map(|i| (i.to_string(), i)).collect();
    let left: Vec<_> = (0..2000).map(|i| ((i * 50).to_string(), i)).collect();
    agree(&left, &right);
    let right: Vec<_> = (0..MANY).map(|i| (i, [i; 12])).collect();
    let left: Vec<_> = (0..2000).map(|i| (i * 50, i)).collect();
    agree(&left, &right);
}

#[test]
fn few_rows() {
    fn check(left: Vec<(u8, u16)>, right: Vec<(u8, u16)>) {
        if !left.is_empty() {
            agree(&left, &right);
        }
    }
    QuickCheck::new()
        .tests(60)
        .quickcheck(check as fn(Vec<(u8, u16)>, Vec<(u8, u16)>));
}

/// The outer join on a map that stays, and on a map that is given away.
#[test]
fn outer_on_a_map() {
    for (count, threads) in [(0, 1), (1, 2), (300, 2), (MANY, 1), (MANY, 3)] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| {
            let pairs = (0..count).into_par_iter().map(|i| (i, spread(i)));
            let map: FrozenMap<u64, u64> = pairs.collect::<ParHashMap<_, _>>().freeze();
            let left: Vec<u64> = (0..count / 2 + 5).map(|i| i * 3).collect();
            let met: HashSet<u64> = left.iter().copied().collect();
            let check = |mut pairs: Vec<(Option<u64>, Option<u64>)>| {
                let alone = pairs.split_off(left.len());
                let expected = left
                    .iter()
                    .map(|&l| (Some(l), (l < count).then(|| spread(l))));
                assert!(pairs.into_iter().eq(expected));
                let mut alone: Vec<_> = alone.into_iter().map(|pair| pair.1).collect();
                let strangers = (0..count).filter(|i| !met.contains(i));
                let mut expected: Vec<_> = strangers.map(|i| Some(spread(i))).collect();
                alone.sort_unstable();
                expected.sort_unstable();
                assert!(alone == expected);
            };
            // Twice: marks are those of one join.
            check(left.par_iter().copied().join_on(&map, |&l| l).outer());
            check(left.par_iter().copied().join_on(&map, |&l| l).outer());
            let mut thawed = map.clone().thaw();
            check(
                left.par_iter()
                    .copied()
                    .join_on(&mut thawed, |&l| l)
                    .outer(),
            );
            assert!(thawed.freeze() == map);
            check(left.par_iter().copied().join_on(map, |&l| l).outer());
        });
    }
}

/// A map through `&mut` while it grows: small and wide, joined in between, in each way.
#[test]
fn joins_on_a_map_that_goes_on() {
    on_pools(|| {
        let mut map = ParHashMap::new();
        for upto in [0, 10, 3000, 20_000] {
            (0..upto).into_par_iter().for_each(|i| {
                map.insert(i.to_string(), i);
            });
            let keys = 0..upto + 40;
            macro_rules! join {
                () => {
                    keys.clone()
                        .into_par_iter()
                        .join_on(&mut map, u64::to_string)
                };
            }
            assert!(join!().semi().into_iter().eq(0..upto));
            assert!(join!().anti().into_iter().eq(upto..upto + 40));
            assert!(join!().inner().into_iter().eq((0..upto).map(|i| (i, i))));
            let left = keys.clone().map(|i| (i, (i < upto).then_some(i)));
            assert!(join!().left().into_iter().eq(left));
            // What a closure panics over stays in the map.
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let with = |_: &u64, &r: &u64| assert!(r != 7, "on purpose");
                join!().inner_with(with).count()
            }));
            assert_eq!(panicked.is_err(), upto > 7);
            assert_eq!(map.len() as u64, upto);
        }
    });
}

/// Items that come alone are looked up at once: each is sent when the previous item has been answered.
#[test]
fn no_item_of_a_bridge_waits_for_a_later_one() {
    let map = ParHashMap::from([(1, "one"), (2, "two"), (3, "three")]).freeze();
    let (answer, answers) = mpsc::channel();
    let mut sent = 0;
    let requests = std::iter::from_fn(move || {
        // The limit is for a test that fails. It hangs otherwise.
        let limit = Duration::from_secs(60);
        let before = (sent == 0).then_some(0);
        let before = before.or_else(|| answers.recv_timeout(limit).ok());
        assert_eq!(before, Some(sent), "no answer to the request before");
        sent += 1;
        (sent <= 100).then_some(sent)
    });
    let key = |n: &usize| *n as i32 % 5;
    let joined = requests.par_bridge().join_on(&map, key);
    let joined = joined.left_with(|n, name| (*n, name.copied()));
    joined.for_each(|(n, name)| {
        assert_eq!(name, map.get(&key(&n)).copied());
        answer.send(n).unwrap();
    });
}

/// Every item is dropped once, also if a closure panics on the way.
#[test]
fn nothing_is_lost() {
    let token = Arc::new(());
    for law in [|i: u64| i, |i: u64| i % 100] {
        let items = |count: u64| {
            let token = &token;
            (0..count)
                .into_par_iter()
                .map(move |i| (law(i), i, token.clone()))
        };
        for angry in [u64::MAX, 0, 100, 1999, 30_000] {
            for side in 0..3 {
                let look = |of: u64, i: u64| assert!(of != side || i != angry, "on purpose");
                let joined = catch_unwind(AssertUnwindSafe(|| {
                    let left_key = |l: &(u64, u64, Arc<()>)| {
                        look(0, l.1);
                        l.0
                    };
                    let right_key = |r: &(u64, u64, Arc<()>)| {
                        look(1, r.1);
                        r.0
                    };
                    let join = items(2000).join_by(items(MANY), left_key, right_key);
                    let pairs = join.inner_with(|l, r| {
                        look(2, l.1);
                        r.2.clone()
                    });
                    pairs.count()
                }));
                let last = if side == 1 { MANY } else { 2000 };
                assert_eq!(joined.is_err(), angry < last);
                assert_eq!(Arc::strong_count(&token), 1);
            }
        }
    }
}
