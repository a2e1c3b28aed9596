//! First items of their keys, most of which are numbers: compared with the same by hand, and with values that must not be lost.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

use tine_collections::prelude::*;
use tine_iter::prelude::*;
use tine_pool::{StopToken, ThreadPoolBuilder, with_token};

/// A worker looks at its table when it holds this many keys.
const TRIED: u64 = if cfg!(debug_assertions) {
    1 << 15
} else {
    1 << 17
};

/// From this number of keys on, four times as many items are enough for all tests here.
const MANY: u64 = 4 * TRIED;

fn mix(i: u64) -> u64 {
    let x = (i ^ (i >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 20
}

fn by_hand<K: Hash + Eq + Copy>(keys: impl Iterator<Item = K>) -> Vec<K> {
    let mut seen = HashSet::new();
    keys.filter(|&key| seen.insert(key)).collect()
}

/// With a known number of items, and with a hidden one.
fn agree<K: Hash + Eq + Copy + Send + Sync + Debug>(keys: &[K]) {
    let expected = by_hand(keys.iter().copied());
    assert!(
        keys.par_iter().copied().distinct() == expected,
        "{} items",
        keys.len()
    );
    let hidden = keys.par_iter().copied().filter(|_| true);
    assert!(hidden.distinct() == expected, "{} items", keys.len());
    let placed = keys.par_iter().enumerate().filter(|_| true);
    let firsts = placed.distinct_by(|&(_, &key)| key);
    assert!(firsts.iter().map(|&(_, key)| *key).eq(expected));
    assert!(firsts.is_sorted_by(|a, b| a.0 < b.0));
}

#[test]
fn lengths_around_each_limit() {
    for threads in [1, 2, 5] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            let short = 1 << 17;
            for len in [0, 1, 2, 3] {
                agree(&(0..len).collect::<Vec<u64>>());
                agree(&vec![7_u64; len as usize]);
            }
            for len in [TRIED, short, 2 * TRIED, MANY] {
                for len in [len - 1, len, len + 1] {
                    agree(&(0..len).map(mix).collect::<Vec<_>>());
                }
            }
        });
    }
}

#[test]
fn numbers_of_each_kind() {
    let all = || (0..MANY).map(|i| mix(i) % (MANY / 2));
    agree(&all().map(|i| i as i64 - 1000).collect::<Vec<_>>());
    agree(&all().map(|i| i as u32).collect::<Vec<_>>());
    agree(&all().map(|i| -(i as i32)).collect::<Vec<_>>());
    agree(&all().map(|i| i as usize).collect::<Vec<_>>());
    let letters = all().filter_map(|i| char::from_u32(i as u32));
    agree(&letters.collect::<Vec<_>>());
    agree(&all().map(|i| i as u16).collect::<Vec<_>>());
    agree(&all().map(|i| i as u8).collect::<Vec<_>>());
}

/// Words in pieces of one item each: hardly any piece has a word that the pieces before it lack.
#[test]
fn words_in_many_pieces() {
    let names: Vec<String> = (0..40).map(|i| format!("name {i}")).collect();
    let len = 50_000;
    for threads in [1, 2, 5] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| {
            for (most, count) in [(1, 3), (1, 40), (7, 40), (300, 40)] {
                let name = |i: usize| names[mix(i as u64) as usize % count].as_str();
                let items = (0..len).into_par_iter().with_max_len(most);
                let firsts = items.map(|i| (i, name(i))).distinct_by(|item| item.1);
                let mut seen = HashSet::new();
                let all = (0..len).map(|i| (i, name(i)));
                let expected: Vec<_> = all.filter(|item| seen.insert(item.1)).collect();
                assert_eq!(firsts, expected, "{count} words, {threads} threads");
            }
        });
    }
}

/// First, items that a worker knows already are dropped on the spot, and later no longer; and the other way
/// round.
#[test]
fn known_keys_come_late_or_early() {
    let laws: [fn(u64) -> u64; 4] = [
        |i| {
            if i < 2 * TRIED { i } else { mix(i) % TRIED }
        },
        |i| if i % 4 == 0 { i } else { mix(i) % TRIED },
        |i| {
            if i < TRIED || i % 2 == 0 {
                i
            } else {
                i - TRIED
            }
        },
        |i| mix(i % (2 * TRIED)),
    ];
    for law in laws {
        agree(&(0..MANY).map(law).collect::<Vec<_>>());
    }
}

/// Counts the living values, and panics at one of its drops.
struct Value(u64, Arc<AtomicIsize>);

impl Drop for Value {
    fn drop(&mut self) {
        assert!(self.1.fetch_sub(1, Relaxed) != 0, "on purpose");
    }
}

/// Values that are not the first of their key are dropped once, and so are all values if a destructor, or the
/// closure that reads keys, panics.
#[test]
fn values_are_kept_or_dropped() {
    let count = MANY as i64;
    let fuse = Arc::new(AtomicIsize::new(isize::MAX));
    let values = |bad: u64| {
        let items = (0..MANY).into_par_iter().filter(|_| true);
        let values = items.map(|i| Value(i, fuse.clone()));
        values.distinct_by(move |value| {
            assert_ne!(value.0, bad, "on purpose");
            mix(value.0) % (MANY / 2)
        })
    };
    let expected = {
        let mut seen = HashSet::new();
        let all = (0..MANY).filter(move |&i| seen.insert(mix(i) % (MANY / 2)));
        all.collect::<Vec<_>>()
    };
    let firsts = values(MANY);
    assert!(
        firsts
            .iter()
            .map(|value| value.0)
            .eq(expected.iter().copied())
    );
    assert_eq!(Arc::strong_count(&fuse), expected.len() + 1);
    assert_eq!(
        isize::MAX - fuse.load(Relaxed),
        (count as usize - expected.len()) as isize
    );
    drop(firsts);
    let gone = count as usize - expected.len();
    for nth in [0, 1, 1000, gone / 2, gone - 1] {
        fuse.store(nth as isize, Relaxed);
        assert!(catch_unwind(AssertUnwindSafe(|| values(MANY))).is_err());
        fuse.store(isize::MAX, Relaxed);
        assert_eq!(Arc::strong_count(&fuse), 1, "drop {nth}");
    }
    for bad in [0, 1, TRIED, 2 * TRIED, MANY - 1] {
        assert!(catch_unwind(AssertUnwindSafe(|| values(bad))).is_err());
        assert_eq!(Arc::strong_count(&fuse), 1, "key {bad}");
    }
    let token = StopToken::new();
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        with_token(&token, || {
            let values = (0..MANY).into_par_iter().filter(|_| true);
            let values = values.map(|i| Value(i, fuse.clone()));
            values.distinct_by(|value| {
                if value.0 == MANY / 2 {
                    token.stop();
                }
                mix(value.0)
            })
        })
    }));
    drop(stopped);
    assert_eq!(Arc::strong_count(&fuse), 1);
}
