//! The collections at sizes that an interpreter of Rust can run. See `tests/miri.sh`.

use std::sync::Arc;
use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ParHashSet, ParVec, ReadMap, SortedVec};
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

fn two<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(f)
}

#[test]
fn a_vector_that_all_push_to() {
    let all = Arc::new(());
    let vec = ParVec::new();
    two(|| {
        (0..60_usize).into_par_iter().with_max_len(7).for_each(|i| {
            let at = vec.push((Box::new(i), Arc::clone(&all)));
            assert_eq!(*vec.get(at).unwrap().0, i);
        });
        (0..4).into_par_iter().with_max_len(1).for_each(|_| {
            let mut pusher = vec.pusher();
            (60..70).for_each(|i| pusher.push((Box::new(i), Arc::clone(&all))));
        });
    });
    let mut vec = vec;
    assert_eq!(vec.len(), 100);
    vec.truncate(90);
    vec.iter_mut().for_each(|b| *b.0 += 1);
    vec.pop();
    let sum: usize = two(|| vec.par_iter().with_max_len(9).map(|b| *b.0).sum());
    assert!(sum > 0);
    let plain = two(|| vec.into_vec());
    assert_eq!(plain.len(), 89);
    drop(plain);
    assert_eq!(Arc::strong_count(&all), 1);
}

#[test]
fn a_map_that_all_write_to() {
    let all = Arc::new(());
    let map = ParHashMap::new();
    two(|| {
        (0..80_usize).into_par_iter().with_max_len(9).for_each(|i| {
            map.insert((i % 40).to_string(), (Box::new(i), Arc::clone(&all)));
            map.update(&(i % 40).to_string(), |v| *v.0 += 1);
            if i % 8 == 0 {
                map.remove(&(i / 2).to_string());
                let keys = ["7", "none", "9"];
                map.read_many(keys, |v| *v.0).for_each(drop);
            }
            map.read("7", |v| *v.0);
        });
    });
    let mut map = map;
    let len = map.len();
    assert_eq!(two(|| map.par_iter().count()), len);
    two(|| map.par_values_mut().for_each(|v| *v.0 = 1));
    two(|| map.par_retain(|k, _| k.len() == 2));
    assert!(map.get("12").is_none_or(|v| *v.0 == 1));
    let frozen = map.freeze();
    assert!(frozen.iter().all(|(k, v)| k.len() == 2 && *v.0 == 1));
    let drained = two(|| frozen.thaw().par_drain().count());
    assert!(drained <= 40);
    let many = (0..80).map(|i| (i, (Box::new(i), Arc::clone(&all))));
    let mut many: ParHashMap<usize, _> = many.collect();
    two(|| many.par_clear());
    assert!(many.is_empty());
    assert_eq!(Arc::strong_count(&all), 1);
}

/// A map that several threads have built is dropped by several: first its entries leave the tables.
#[test]
fn a_map_that_all_build_and_drop() {
    let all = Arc::new(());
    two(|| {
        // A filter hides how many there are: many are expected.
        let numbers = (0..260_usize).into_par_iter().filter(|&i| i != 7);
        let map: ParHashMap<_, _> = numbers.map(|i| (i, Arc::clone(&all))).collect();
        assert_eq!(Arc::strong_count(&all), 260);
        drop(map);
    });
    assert_eq!(Arc::strong_count(&all), 1);
}

#[test]
fn a_set_and_groups() {
    two(|| {
        let set: ParHashSet<Box<u32>> = (0..50).into_par_iter().map(|i| Box::new(i % 20)).collect();
        assert_eq!(set.len(), 20);
        assert!(set.contains(&Box::new(3)) && set.remove(&Box::new(3)));
        let tally = (0..60_u32)
            .into_par_iter()
            .with_max_len(7)
            .count_by(|i| i % 5);
        assert!(tally.into_iter().all(|(_, n)| n == 12));
        let boxed = (0..60_u32).into_par_iter().with_max_len(7).map(Box::new);
        let groups = boxed.group_by(|b| **b % 5);
        assert!(groups.iter().all(|(k, v)| v.iter().all(|b| **b % 5 == *k)));
        assert_eq!(groups.into_map().len(), 5);
        let boxed = (0..60_u32).into_par_iter().with_max_len(7);
        assert_eq!(boxed.map(|i| Box::new(i % 9)).distinct().len(), 9);
    });
}

/// Both threads lay out values of a heavy key, and of keys that are scattered.
#[test]
fn groups_of_a_heavy_key() {
    two(|| {
        let key = |i: usize| if i.is_multiple_of(10) { i } else { 7 };
        let items = (0..400).into_par_iter().map(|i| (key(i), Box::new(i)));
        let groups = items.group_pairs();
        let heavy: Vec<usize> = groups[&7].iter().map(|i| **i).collect();
        assert!(heavy.into_iter().eq((0..400).filter(|i| i % 10 != 0)));
        assert_eq!((groups.len(), groups.values_len()), (41, 400));
    });
}

#[test]
fn a_map_that_is_published() {
    let all = Arc::new(());
    let map = ReadMap::new();
    two(|| {
        (0..40_usize).into_par_iter().with_max_len(5).for_each(|i| {
            map.insert(i % 6, (Box::new(i), Arc::clone(&all)));
            map.read(&3, |v| assert_eq!(*v.0 % 6, 3));
            map.remove(&(i % 4 + 1));
        });
        let changes = (0..20).into_par_iter();
        map.publish(changes.map(|i| (i, (i > 8).then(|| (Box::new(i), Arc::clone(&all))))));
    });
    assert_eq!(map.len(), 11);
    drop(map.freeze());
    assert_eq!(Arc::strong_count(&all), 1);
}

/// A value lies where another value lay that a reader has just announced.
#[test]
fn addresses_come_again() {
    let map = ReadMap::new();
    map.insert(1_u8, 0_usize);
    let changes = if cfg!(miri) { 60 } else { 5_000 };
    std::thread::scope(|s| {
        s.spawn(|| {
            for n in 1..=changes {
                assert_eq!(map.insert(1, n), Some(n - 1));
            }
        });
        let mut last = 0;
        for _ in 0..8 * changes {
            let now = map.get_cloned(&1).unwrap();
            assert!(now >= last);
            last = now;
        }
    });
}

#[test]
fn joins_and_aggregates() {
    two(|| {
        let side = |n| (0..n).into_par_iter().with_max_len(7).map(Box::new);
        let join = || side(40).join_by(side(30), |l| **l % 7, |r| **r % 9);
        assert_eq!(
            join().inner_with(|l, r| **l + **r).count(),
            join().inner().len()
        );
        assert_eq!(
            join()
                .outer()
                .iter()
                .filter(|pair| pair.0.is_none())
                .count(),
            6
        );
        let sums = side(40)
            .aggregate_by(|b| **b % 5)
            .count()
            .sum(|b| **b)
            .finish();
        assert_eq!(sums.get_cloned(&2), Some((8, 156)));
        let sorted: SortedVec<_> = side(40).collect();
        assert_eq!(sorted.merge(side(9).collect()).len(), 49);
    });
}

/// Its name makes it the last. A pool that is dropped does not wait for its threads, but under Miri the program
/// must not end before them.
#[test]
fn z_threads_end() {
    if cfg!(miri) {
        std::thread::sleep(std::time::Duration::from_secs(15));
    }
}
