//! Grouping if few keys have most of the values: order, drops, panics and lies.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering::Relaxed};

use quickcheck::{Gen, QuickCheck};
use tine_collections::prelude::*;
use tine_iter::prelude::*;
use tine_pool::{StopToken, ThreadPoolBuilder, with_token};

fn mix(i: u64) -> u64 {
    let x = (i ^ (i >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 20
}

/// A law by which the key of a place is chosen.
type Law = fn(u64) -> u64;

const LAWS: &[(&str, Law)] = &[
    ("one key", |_| 7),
    ("few keys", |i| mix(i) % 50),
    ("hundreds", |i| mix(i) % 900),
    ("nine of ten", |i| match mix(i) % 10 {
        0 => mix(i + 1) % 20_000,
        _ => 7,
    }),
    ("a heavy key and strangers", |i| match mix(i) % 3 {
        0 => 7,
        _ => 100 + i,
    }),
    ("few, then many", |i| match i < 20_000 {
        true => mix(i) % 10,
        false => 5 + mix(i) % 90_000,
    }),
    ("few, and soon others", |i| match i < 5_000 {
        true => mix(i) % 10,
        false => 5 + mix(i) % 4_000,
    }),
    ("many, then few", |i| match i < 40_000 {
        true => mix(i) % 30_000,
        false => mix(i) % 10,
    }),
    ("in order", |i| i / 50),
    ("in turns", |i| match (i >> 14) % 2 {
        0 => mix(i) % 5,
        _ => 5 + mix(i) % 5,
    }),
];

const COUNT: u64 = if cfg!(debug_assertions) {
    100_000
} else {
    600_000
};

fn on_pools(check: impl Fn() + Sync) {
    let sizes: &[usize] = if cfg!(debug_assertions) {
        &[1, 7]
    } else {
        &[1, 2, 7]
    };
    for &threads in sizes {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(&check);
    }
    check();
}

#[test]
fn every_law_in_order() {
    for (name, law) in LAWS {
        let mut expected: HashMap<u64, Vec<u64>> = HashMap::new();
        (0..COUNT).for_each(|i| expected.entry(law(i)).or_default().push(i));
        on_pools(|| {
            let groups = (0..COUNT).into_par_iter().group_by(|&i| law(i));
            assert_eq!(groups.len(), expected.len(), "{name}");
            for (key, row) in &groups {
                assert_eq!(row, expected[key], "{name}");
                assert_eq!(groups.get(key), Some(row));
            }
            let map = groups.into_map();
            assert_eq!(map, expected, "{name}");
        });
        // A filter hides how many there are; strings carry their hashes.
        let odd = (0..COUNT).into_par_iter().filter(|i| i % 2 == 1);
        let groups = odd.group_by(|&i| law(i).to_string());
        for (key, row) in &groups {
            let all = &expected[&key.parse::<u64>().expect("a number")];
            assert!(all.iter().filter(|i| *i % 2 == 1).eq(row), "{name}");
        }
        assert_eq!(groups.values_len() as u64, COUNT / 2, "{name}");
    }
}

/// Inputs that stay on one thread, or are joined from what several threads have: long items are shared.
#[test]
fn moderate_inputs_in_order() {
    for (name, law) in LAWS {
        for count in [2_047, 2_048, 9_000, 16_000, 40_000] {
            let mut expected: HashMap<u64, Vec<u64>> = HashMap::new();
            (0..count).for_each(|i| expected.entry(law(i)).or_default().push(i));
            on_pools(|| {
                let items = || (0..count).into_par_iter();
                let work = |&i: &u64| {
                    let end = if i % 64 == 0 { 2_000 } else { 0 };
                    std::hint::black_box((0..end).map(mix).fold(0, |all, more| all ^ more));
                };
                let all = [
                    items().group_by(|&i| law(i)),
                    items().filter(|_| true).group_by(|&i| law(i)),
                    items().inspect(work).group_by(|&i| law(i)),
                    items().filter(|_| true).inspect(work).group_by(|&i| law(i)),
                ];
                for groups in all {
                    assert_eq!(groups.values_len() as u64, count, "{name}, {count}");
                    for (key, row) in &groups {
                        assert_eq!(groups.get(key), Some(row));
                    }
                    assert_eq!(groups.into_map(), expected, "{name}, {count}");
                }
            });
        }
    }
}

#[test]
fn any_mix_of_laws() {
    fn agree(laws: Vec<(u8, u16)>) {
        let mut keys = Vec::new();
        for (law, len) in laws {
            let (_, law) = LAWS[usize::from(law) % LAWS.len()];
            let from = keys.len() as u64;
            keys.extend((0..u64::from(len)).map(|i| law(from + i)));
        }
        let mut expected: HashMap<u64, Vec<usize>> = HashMap::new();
        let places = keys.iter().enumerate();
        places.for_each(|(i, &key)| expected.entry(key).or_default().push(i));
        let pairs = keys.par_iter().copied().zip(0..keys.len());
        assert_eq!(pairs.group_pairs().into_map(), expected);
    }
    // A part has 32,000 keys on average, and each law changes within the first 40,000.
    let (tests, parts) = if cfg!(debug_assertions) {
        (30, 14)
    } else {
        (100, 100)
    };
    QuickCheck::new()
        .rng(Gen::new(parts))
        .tests(tests)
        .quickcheck(agree as fn(Vec<(u8, u16)>));
}

#[test]
fn values_of_no_size_and_keys_of_no_size() {
    let pairs = (0..COUNT).into_par_iter().map(|i| (mix(i) % 3, ()));
    let groups = pairs.group_pairs();
    let sizes: usize = groups.iter().map(|(_, row)| row.len()).sum();
    assert_eq!((groups.len(), sizes as u64), (3, COUNT));
    let all = (0..COUNT).into_par_iter().group_by(|_| ());
    assert!(all[&()].iter().copied().eq(0..COUNT));
    let few = (0..9_000_u64).into_par_iter().map(|i| (mix(i) % 3, ()));
    let groups = few.group_pairs();
    assert_eq!((groups.len(), groups.values_len()), (3, 9_000));
    let all = (0..9_000).into_par_iter().group_by(|_| ());
    assert!(all[&()].iter().copied().eq(0..9_000));
}

/// What goes wrong, and after how many calls.
struct Fuse {
    hash: AtomicIsize,
    eq: AtomicIsize,
    drop: AtomicIsize,
}

struct Key(u64, Arc<Fuse>);

fn burn(fuse: &AtomicIsize) {
    assert!(fuse.fetch_sub(1, Relaxed) != 0, "on purpose");
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        burn(&self.1.hash);
        self.0.hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        burn(&self.1.eq);
        self.0 == other.0
    }
}

impl Eq for Key {}

impl Drop for Key {
    fn drop(&mut self) {
        burn(&self.1.drop);
    }
}

#[test]
fn nothing_is_lost_where_keys_panic() {
    let alive = Arc::new(());
    let calm = || AtomicIsize::new(isize::MAX);
    // A filter hides how many pairs there are; few are listed as they come.
    let sizes = [(60_000, false), (60_000, true), (9_000, false)].into_iter();
    let laws = || LAWS[1..7].iter();
    for ((count, hidden), (name, law)) in sizes.flat_map(|size| laws().map(move |law| (size, law)))
    {
        for after in [
            0, 100, 3_000, 6_000, 8_000, 17_000, 40_000, 59_000, 61_000, 80_000,
        ] {
            for what in 0..3 {
                let (hash, eq, drop) = (calm(), calm(), calm());
                [&hash, &eq, &drop][what].store(after, Relaxed);
                let fuse = Arc::new(Fuse { hash, eq, drop });
                let pairs = (0..count).into_par_iter();
                let pairs = pairs.map(|i| (Key(law(i), fuse.clone()), alive.clone()));
                let done = catch_unwind(AssertUnwindSafe(|| match hidden {
                    false => pairs.group_pairs(),
                    true => pairs.filter(|_| true).group_pairs(),
                }));
                if let Ok(groups) = done {
                    assert_eq!(groups.values_len() as u64, count);
                    assert_eq!(Arc::strong_count(&alive) as u64, count + 1);
                    // Its own destructors may blow.
                    let _ = catch_unwind(AssertUnwindSafe(move || std::mem::drop(groups)));
                }
                assert_eq!(Arc::strong_count(&fuse), 1, "{name}, {what} after {after}");
                assert_eq!(Arc::strong_count(&alive), 1, "{name}, {what} after {after}");
            }
        }
    }
}

#[test]
fn nothing_is_lost_where_the_closure_panics_or_a_token_stops() {
    let alive = Arc::new(());
    let heavy = LAWS[3].1;
    for at in [0, 20_000, 59_999] {
        let values = (0..60_000).into_par_iter().map(|i| (i, alive.clone()));
        let done = catch_unwind(AssertUnwindSafe(|| {
            values.group_by(|(i, _)| {
                assert!(*i != at, "on purpose");
                heavy(*i)
            })
        }));
        assert!(done.is_err());
        assert_eq!(Arc::strong_count(&alive), 1);
        let token = StopToken::new();
        let values = (0..60_000).into_par_iter().map(|i| (i, alive.clone()));
        let _ = with_token(&token, || {
            values.group_by(|(i, _)| {
                if *i == at {
                    token.stop();
                }
                heavy(*i)
            })
        });
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}

static LIES: AtomicU64 = AtomicU64::new(0);

/// Hashes and compares at random.
struct Liar(u64);

impl Hash for Liar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let dice = mix(LIES.fetch_add(1, Relaxed));
        (if dice.is_multiple_of(9) {
            dice % 4
        } else {
            self.0
        })
        .hash(state);
    }
}

impl PartialEq for Liar {
    fn eq(&self, _: &Liar) -> bool {
        !mix(LIES.fetch_add(1, Relaxed)).is_multiple_of(4)
    }
}

impl Eq for Liar {}

#[test]
fn keys_that_lie_lose_no_value() {
    let alive = Arc::new(());
    let hides = [false, true].into_iter();
    for (hidden, (_, law)) in hides.flat_map(|hides| LAWS.iter().map(move |law| (hides, law))) {
        let items = (0..COUNT / 3).into_par_iter();
        let items = items.map(|i| (Liar(law(i)), (i, alive.clone())));
        let groups = match hidden {
            false => items.group_pairs(),
            true => items.filter(|_| true).group_pairs(),
        };
        let mut seen: Vec<u64> = groups
            .iter()
            .flat_map(|(_, row)| row.iter().map(|(i, _)| *i))
            .collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..COUNT / 3));
        drop(groups);
        assert_eq!(Arc::strong_count(&alive), 1);
    }
}
