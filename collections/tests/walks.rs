//! Iterators of the collections say how many items are left, stay at their end, and can be cloned where std's
//! can.

use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::iter::FusedIterator;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;
use tine_collections::prelude::*;
use tine_collections::{ParBitSet, ParHashMap, ParHashSet, ParVec};
use tine_iter::prelude::*;
use tine_pool::{StopToken, ThreadPoolBuilder, with_token};

/// Walks in steps: the length counts down, `fold` after any number of steps gives the rest, and the end is
/// final.
fn counts_down<I: ExactSizeIterator + FusedIterator>(make: impl Fn() -> I) {
    let all = make().len();
    for steps in 0..=all {
        let mut walk = make();
        for step in 0..steps {
            assert_eq!(walk.len(), all - step);
            assert!(walk.next().is_some());
        }
        assert_eq!(
            (walk.len(), walk.fold(0, |n, _| n + 1)),
            (all - steps, all - steps)
        );
    }
    let mut walk = make();
    assert_eq!(walk.by_ref().count(), all);
    assert!(walk.next().is_none() && walk.next().is_none() && walk.len() == 0);
}

/// A clone goes on from the same place.
fn can_be_copied<I: Iterator<Item: PartialEq> + Clone>(mut walk: I) {
    for _ in 0..3 {
        walk.next();
        assert!(walk.clone().eq(walk.clone()));
    }
    assert_eq!(walk.clone().count(), walk.count());
}

#[test]
fn of_maps_and_sets() {
    let map = || -> ParHashMap<u32, u32> { (0..20).map(|n| (n, n)).collect() };
    counts_down(|| map().into_keys());
    counts_down(|| map().into_values());
    let mut walked = map();
    assert_eq!(walked.values_mut().len(), 20);
    let frozen = map().freeze();
    counts_down(|| frozen.keys());
    counts_down(|| frozen.values());
    counts_down(|| map().freeze().into_keys());
    counts_down(|| map().freeze().into_values());
    can_be_copied(frozen.keys());
    let mut set: ParHashSet<u32> = (0..20).collect();
    assert_eq!(set.drain().len(), 20);
    let bits = ParBitSet::new(10);
    bits.insert(7);
    let mut walk = bits.iter();
    assert_eq!(
        (walk.next(), walk.next(), walk.next()),
        (Some(7), None, None)
    );
}

#[test]
fn of_groups() {
    for keys in [1, 7, 3000] {
        let groups = (0..10_000_usize).into_par_iter().group_by(|n| n % keys);
        assert_eq!((groups.iter().len(), groups.keys().len()), (keys, keys));
        can_be_copied(groups.iter());
        can_be_copied(groups.keys());
        let values = (&groups).into_iter().map(|(_, row)| row.len());
        assert_eq!(values.sum::<usize>(), 10_000);
        if keys < 10 {
            counts_down(|| groups.iter());
            counts_down(|| groups.keys());
        }
    }
}

#[test]
fn of_vectors() {
    let vec = ParVec::from([0, 1, 2]);
    (3..200).for_each(|n| assert_eq!(vec.push(n), n));
    can_be_copied(vec.iter());
    counts_down(|| vec.iter());
    let mut walk = vec.iter();
    assert_eq!((walk.next(), walk.next_back()), (Some(&0), Some(&199)));
    assert!(walk.clone().eq(&(1..199).collect::<Vec<_>>()));
    assert!(walk.rev().eq(&(1..199).rev().collect::<Vec<_>>()));
}

/// All keys belong to one shard, or to one of two.
#[derive(Default)]
struct Few<const N: u64>(u64);

impl<const N: u64> Hasher for Few<N> {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 += u64::from(byte));
    }

    fn finish(&self) -> u64 {
        (self.0 % N) << 63
    }
}

fn walked_whole<S: BuildHasher + Default + Clone + Sync + Send>(sizes: &[u64]) {
    for (threads, &size) in [1, 2, 20]
        .iter()
        .flat_map(|t| sizes.iter().map(move |s| (*t, s)))
    {
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut map: ParHashMap<u64, u64, S> = (0..size).map(|n| (n, n)).collect();
            let all = size * size.saturating_sub(1) / 2;
            assert_eq!(map.par_iter().map(|(_, n)| n).sum::<u64>(), all);
            map.par_iter_mut().for_each(|(key, n)| *n += key);
            assert_eq!(map.par_values().sum::<u64>(), 2 * all);
            let frozen = map.clone().freeze();
            let keys: Vec<_> = frozen.par_iter().map(|(key, _)| key).collect();
            assert!(keys.into_iter().eq(frozen.keys()));
            assert_eq!(map.par_keys().find_first(|_| true), frozen.keys().next());
            assert_eq!(
                map.clone()
                    .into_par_iter()
                    .filter(|(key, n)| 2 * key == *n)
                    .count() as u64,
                size
            );
            assert_eq!(map.par_drain().map(|(key, _)| key).sum::<u64>(), all);
            assert!(map.is_empty());
        });
    }
}

#[test]
fn walks_of_all_shapes_see_each_entry_once() {
    walked_whole::<RandomState>(&[0, 1, 100, 3_000, 50_000]);
    walked_whole::<BuildHasherDefault<Few<1>>>(&[100, 3_000]);
    walked_whole::<BuildHasherDefault<Few<2>>>(&[100, 3_000]);
}

/// Also in the middle of a table, of which each has some 390 entries here.
#[test]
fn a_token_ends_a_walk_at_once() {
    for (size, threads) in [(1_000, 1), (100_000, 1), (100_000, 2), (100_000, 20)] {
        let mut map: ParHashMap<u32, u32> = (0..size).map(|n| (n, n)).collect();
        let (token, seen) = (StopToken::new(), AtomicUsize::new(0));
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        let ended = pool.build().unwrap().install(|| {
            with_token(&token, || {
                map.par_values().for_each(|_| {
                    if seen.fetch_add(1, Relaxed) == 20 {
                        token.stop();
                    }
                    thread::sleep(Duration::from_micros(50));
                })
            })
        });
        assert!(ended.is_err());
        let seen = seen.into_inner();
        assert!(seen < 21 + 3 * threads, "{seen} of {size}, {threads}");
    }
}
