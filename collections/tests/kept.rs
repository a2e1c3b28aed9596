//! How much is kept until a call ends: keys and items that own memory, clones, room in tables.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ParHashSet};
use tine_iter::prelude::*;

/// How many values are alive, and the greatest number that were.
#[derive(Default)]
struct Census {
    alive: AtomicUsize,
    most: AtomicUsize,
}

/// One of these values.
struct Alive<'a>(&'a Census);

impl Census {
    fn born(&self) -> Alive<'_> {
        let alive = self.alive.fetch_add(1, Relaxed) + 1;
        self.most.fetch_max(alive, Relaxed);
        Alive(self)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Relaxed);
    }
}

const ITEMS: usize = if cfg!(miri) { 3_000 } else { 20_000 };

fn two_threads(work: impl FnOnce() + Send) {
    let pool = tine_pool::ThreadPoolBuilder::new().num_threads(2);
    pool.build().unwrap().install(work);
}

/// A key that owns much memory, about which its hash says nothing.
struct Document<'a> {
    id: usize,
    _text: Vec<u8>,
    _alive: Alive<'a>,
}

impl Hash for Document<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl PartialEq for Document<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Document<'_> {}

#[test]
fn keys_that_own_more_than_they_say_are_not_kept() {
    let census = Census::default();
    let document = |id| Document {
        id: id % 50,
        _text: vec![0; 200_000],
        _alive: census.born(),
    };
    two_threads(|| {
        for _ in 0..3 {
            let counts = (0..ITEMS).into_par_iter().map(document).count_items();
            assert_eq!(counts.len(), 50);
            let mut all = 0;
            counts.for_each(|_, count| all += count);
            assert_eq!(all, ITEMS);
        }
    });
    let most = census.most.load(Relaxed);
    assert!(most < ITEMS / 2, "{most} alive");
    assert_eq!(census.alive.load(Relaxed), 0);
}

/// Sums that own nothing are made from items at once, also if there are many keys and nothing is folded before
/// the end.
#[test]
fn items_are_not_kept_where_sums_would_do() {
    let census = Census::default();
    let item = |id: usize| (id, vec![1_u8; 10], census.born());
    two_threads(|| {
        let items = || (0..ITEMS).into_par_iter().map(item);
        let sums = items().fold_by(
            |item| item.0,
            || 0,
            |sum, item| *sum += item.1.len(),
            |sum, more| *sum += more,
        );
        assert_eq!(sums.len(), ITEMS);
        let results = items()
            .aggregate_by(|item| item.0)
            .count()
            .sum(|item| item.1.len())
            .finish();
        assert_eq!(results.len(), ITEMS);
        assert_eq!(results.get_cloned(&7), Some((1, 10)));
    });
    let most = census.most.load(Relaxed);
    assert!(most < ITEMS / 4, "{most} alive");
    assert_eq!(census.alive.load(Relaxed), 0);
}

/// An item that owns memory, and a sum of such items that shows their order.
fn order_of(value: u64) -> (u64, u64) {
    (value, 31)
}

fn behind(first: (u64, u64), later: (u64, u64)) -> (u64, u64) {
    let sum = first.0.wrapping_mul(later.1).wrapping_add(later.0);
    (sum, first.1.wrapping_mul(later.1))
}

/// Sums that take the place of items are the sums of a loop, in its order: with few keys and many, on one
/// thread and on several.
#[test]
fn sums_of_items_that_own_memory_are_those_of_a_loop() {
    let sizes: &[u64] = if cfg!(miri) {
        &[0, 1, 300]
    } else {
        &[0, 1, 300, 40_000]
    };
    for threads in [1, 2, 5] {
        let pool = tine_pool::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        for (&len, keys) in sizes
            .iter()
            .flat_map(|len| [(len, 7), (len, 1_000), (len, 1 << 40)])
        {
            let item = |n: u64| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % keys, Box::new(n));
            let items = || (0..len).into_par_iter().map(item);
            let mut sums: HashMap<u64, (u64, u64)> = HashMap::new();
            let mut ends: HashMap<u64, (u64, u64, usize)> = HashMap::new();
            for (key, n) in (0..len).map(item) {
                let sum = sums.entry(key).or_insert((0, 1));
                *sum = behind(*sum, order_of(*n));
                let end = ends.entry(key).or_insert((*n, *n, 0));
                (end.1, end.2) = (*n, end.2 + 1);
            }
            let (found, results) = pool.install(|| {
                let found = items().fold_by(
                    |item| item.0,
                    || (0, 1),
                    |sum, item| *sum = behind(*sum, order_of(*item.1)),
                    |sum, more| *sum = behind(*sum, more),
                );
                let all = items().aggregate_by(|item| item.0);
                let all = all.first(|item| *item.1).last(|item| *item.1);
                (found, all.count().finish())
            });
            assert_eq!(found, sums, "{len} items of {keys} keys, {threads} threads");
            assert_eq!(
                results, ends,
                "{len} items of {keys} keys, {threads} threads"
            );
        }
    }
}

static CLONES: AtomicUsize = AtomicUsize::new(0);

/// Large, and owns nothing.
#[derive(PartialEq, Eq, Hash)]
struct Large([u64; 100]);

impl Clone for Large {
    fn clone(&self) -> Self {
        CLONES.fetch_add(1, Relaxed);
        Large(self.0)
    }
}

#[test]
fn large_values_are_cloned_only_where_they_are_chosen() {
    let large = |n: u64| Large([n; 100]);
    let all: ParHashSet<Large> = (0..5_000).map(large).collect();
    let few: ParHashSet<Large> = (4_998..5_001).map(large).collect();
    let before = CLONES.load(Relaxed);
    assert_eq!(all.intersection(&few).len(), 2);
    assert_eq!(CLONES.load(Relaxed) - before, 2);
    assert_eq!(few.difference(&all).len(), 1);
    assert_eq!(CLONES.load(Relaxed) - before, 3);
}

/// However often the same keys come.
#[test]
#[cfg_attr(miri, ignore = "large")]
fn room_in_a_map_follows_its_keys() {
    let keys = 20_000;
    let key = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20 & 0xFFFF_FFFF;
    for rows in [200_000_u64, 3_000_000] {
        let pairs = || (0..rows).into_par_iter().map(|n| (key(n * n) % keys, n));
        let map = pairs().collect::<ParHashMap<u64, u64>>();
        assert!(map.len() <= keys as usize);
        assert!(
            map.capacity() <= 4 * map.len(),
            "{} for {}",
            map.capacity(),
            map.len()
        );
        let counts = pairs().count_by(|pair| pair.0);
        assert_eq!(counts.len(), map.len());
        assert!(counts.capacity() <= 4 * map.len(), "{}", counts.capacity());
    }
}

/// If there are many keys, items wait until many have come; then they are folded, and not only at the end.
#[test]
#[cfg(not(miri))]
fn a_long_stream_does_not_gather() {
    const KEYS: usize = 150_000;
    let long = if cfg!(debug_assertions) { 12 } else { 400 } * KEYS;
    let census = Census::default();
    two_threads(|| {
        let all = (0..long).into_par_iter();
        let sums = all
            .filter(|n| n % 64 != 0)
            .map(|n| (n.wrapping_mul(0x9E37_79B9) % KEYS, census.born()))
            .fold_by(
                |item| item.0,
                || (0, None),
                |sum, item| *sum = (sum.0 + 1, Some(item.1)),
                |sum, more| *sum = (sum.0 + more.0, more.1),
            );
        let mut all = 0;
        sums.for_each(|_, sum| all += sum.0);
        assert_eq!(all, long - long.div_ceil(64));
    });
    let most = census.most.load(Relaxed);
    assert!(most < long / 2, "{most} of {long} alive");
    assert_eq!(census.alive.load(Relaxed), 0);
}

/// The same for distinct items and for maps: one item of each key is kept.
#[test]
#[cfg(not(miri))]
fn a_long_stream_of_few_keys_does_not_gather() {
    const KEYS: usize = if cfg!(debug_assertions) {
        250_000
    } else {
        1_000_000
    };
    let long = if cfg!(debug_assertions) { 16 } else { 80 } * KEYS;
    let census = Census::default();
    let mix = |n: usize| {
        n.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize)
            .rotate_left(23)
    };
    let items = || {
        let all = (0..long).into_par_iter().filter(|n| n % 64 != 0);
        all.map(|n| (mix(n) % KEYS, n, census.born()))
    };
    let mut firsts = vec![usize::MAX; KEYS];
    let mut lasts = vec![0; KEYS];
    for n in (0..long).filter(|n| n % 64 != 0) {
        let key = mix(n) % KEYS;
        firsts[key] = firsts[key].min(n);
        lasts[key] = n;
    }
    let keys = firsts.iter().filter(|&&n| n < long).count();
    let few = |what| {
        let most = census.most.swap(0, Relaxed);
        assert!(most < long / 2, "{what}: {most} of {long} alive");
        assert_eq!(census.alive.load(Relaxed), 0);
    };
    two_threads(|| {
        let found = items().distinct_by(|item| item.0);
        assert_eq!(found.len(), keys);
        assert!(found.is_sorted_by(|a, b| a.1 < b.1));
        assert!(found.iter().all(|item| firsts[item.0] == item.1));
        drop(found);
        few("distinct numbers");
        // Keys that are not numbers.
        let found = items().distinct_by(|item| (item.0, ()));
        assert_eq!(found.len(), keys);
        assert!(found.is_sorted_by(|a, b| a.1 < b.1));
        assert!(found.iter().all(|item| firsts[item.0] == item.1));
        drop(found);
        few("distinct keys");
        let map: ParHashMap<_, _> = items().map(|item| (item.0, item)).collect();
        assert_eq!(map.len(), keys);
        map.for_each(|key, item| assert_eq!((item.0, item.1), (*key, lasts[*key])));
        drop(map);
        few("a map");
    });
}
