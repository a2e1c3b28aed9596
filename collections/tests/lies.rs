//! Keys whose hash, equality and order are whatever a counter says: the result may be anything, but the call
//! ends, within bounds, and each value is dropped once.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ReadMap, SortedVec};
use tine_iter::algorithms::{ParallelAccumulate, ParallelSortedSets};
use tine_iter::prelude::*;
use tine_iter::scan::ParallelScan;
use tine_iter::sort::ParallelSort;

/// Answers with the next number, and holds a count of itself.
#[derive(Clone)]
struct Lie(Arc<AtomicI64>, Box<u32>);

impl Lie {
    fn next(&self) -> i64 {
        let at = self.0.fetch_add(1, Relaxed);
        at.wrapping_mul(0x5851_F42D_4C95_7F2D) >> 40
    }
}

impl Hash for Lie {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.next() % 64).hash(state);
    }
}

impl PartialEq for Lie {
    fn eq(&self, _: &Lie) -> bool {
        self.next() % 3 == 0
    }
}

impl Eq for Lie {}

impl PartialOrd for Lie {
    fn partial_cmp(&self, other: &Lie) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Lie {
    fn cmp(&self, _: &Lie) -> Ordering {
        (self.next() % 3 - 1).cmp(&0)
    }
}

const LENS: [u32; 3] = [5, 300, if cfg!(miri) { 400 } else { 50_000 }];

/// Calls `check` for each length, with a maker of lies; afterwards no value is left.
fn each(check: impl Fn(usize, &(dyn Fn(u32) -> Lie + Sync))) {
    for len in LENS {
        let count = Arc::new(AtomicI64::new(i64::from(len)));
        check(len as usize, &|n| Lie(count.clone(), Box::new(n)));
        assert_eq!(Arc::strong_count(&count), 1, "of {len}");
    }
}

fn lies(len: usize, lie: &(dyn Fn(u32) -> Lie + Sync)) -> Vec<Lie> {
    (0..len as u32).map(lie).collect()
}

#[test]
fn joins() {
    each(|len, lie| {
        // Both ways, since the right side is gathered by its size. Lies that are said to be equal make many pairs.
        let few = len.min(300);
        for (left, right) in [(len, few), (few, len)] {
            macro_rules! join {
                () => {
                    (lies(left, lie).into_par_iter()).join_by(
                        lies(right, lie),
                        Lie::clone,
                        Lie::clone,
                    )
                };
            }
            assert!(join!().semi().len() <= left);
            assert!(join!().anti().len() <= left);
            let kept = join!().inner_with(|l, r| drop((l, r.clone()))).count();
            assert!(kept <= left * right);
            assert!(join!().outer().len() >= left.max(right));
        }
    });
}

/// The right side is a map, which keeps its entries.
#[test]
fn joins_with_a_map() {
    each(|len, lie| {
        let few = len.min(5_000);
        let mut map: ParHashMap<Lie, usize> = (0..few).map(|i| (lie(0), i)).collect();
        let there = map.len();
        for _ in 0..3 {
            macro_rules! join {
                () => {
                    (0..2 * few)
                        .into_par_iter()
                        .join_on(&mut map, |_: &usize| lie(1))
                };
            }
            assert!(join!().inner().iter().all(|&(_, of)| of < few));
            assert_eq!(join!().left().len(), 2 * few);
            assert!(join!().semi().len() <= 2 * few);
            assert!(join!().anti().len() <= 2 * few);
            // Each item alone or paired once, and each entry that no item met.
            let outer = join!().outer();
            assert!((2 * few..=2 * few + there).contains(&outer.len()));
            assert_eq!(map.len(), there);
        }
    });
}

#[test]
fn groups_and_folds() {
    each(|len, lie| {
        let items = || lies(len, lie).into_par_iter();
        let rows = items().aggregate_by(Lie::clone).count().finish();
        let rows: Vec<_> = rows.into_iter().collect();
        assert!(rows.len() <= len);
        let folded = items().fold_by(Lie::clone, || 0, |n, _| *n += 1, |a, b| *a += b);
        assert_eq!(folded.into_iter().map(|(_, n)| n).sum::<usize>(), len);
        assert!(items().distinct().len() <= len);
    });
}

#[test]
fn a_frozen_map() {
    each(|len, lie| {
        let map: ParHashMap<Lie, usize> = (0..len).map(|i| (lie(0), i)).collect();
        let frozen = map.freeze();
        let keys = lies(len, lie);
        assert!(frozen.get_many(&keys).flatten().all(|&i| i < len));
        assert_eq!(frozen.get_many(&keys).count(), len);
    });
}

/// Std's sort may panic with the message that an order is no total order.
#[test]
fn sorted_vectors() {
    each(|len, lie| {
        let may_panic = |work: &dyn Fn()| drop(catch_unwind(AssertUnwindSafe(work)));
        may_panic(&|| {
            let a = SortedVec::from(lies(len, lie));
            assert_eq!(a.len(), len);
        });
        // With only a few items, no sort finds out.
        let few = || SortedVec::from(lies(len.min(8), lie));
        may_panic(&|| assert_eq!(few().merge(few()).len(), 2 * len.min(8)));
        may_panic(&|| {
            let (a, b) = (few(), few());
            assert!(a.join_by_key(&b, Lie::clone, Lie::clone).count() <= a.len() * b.len());
            let _ = (a.contains(&lie(0)), a.equal_to(&lie(1)).len());
        });
    });
}

#[test]
fn a_read_map() {
    each(|len, lie| {
        let map: ParHashMap<Lie, usize> = (0..len).map(|i| (lie(0), i)).collect();
        let map = ReadMap::from(map);
        let few = len.min(20);
        lies(few, lie).into_par_iter().for_each(|key| {
            assert!(map.read(&key, |&i| i < len).is_none_or(|good| good));
            map.insert(key.clone(), 0);
            map.remove(&key);
        });
        let changes = lies(len, lie).into_par_iter().enumerate();
        map.publish(changes.map(|(i, key)| (key, (i % 2 == 0).then_some(i))));
        assert!(map.len() <= 2 * len + few);
    });
}

/// Elements that are sorted or merged all stay there, whatever the order.
#[test]
fn sorts_and_merges() {
    type Sort<'a> = &'a dyn Fn(&mut Vec<Lie>);

    each(|len, lie| {
        let all = |v: &[Lie]| {
            let mut numbers: Vec<u32> = v.iter().map(|lie| *lie.1).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..len as u32));
        };
        let sorts: [Sort<'_>; 5] = [
            &|v| v.par_sort(),
            &|v| v.par_sort_unstable(),
            &|v| v.par_sort_by_cached_key(Lie::clone),
            &|v| v.par_sort_by_key(Lie::next),
            &|v| v.par_merge(len / 3),
        ];
        for sort in sorts {
            let mut v = lies(len, lie);
            sort(&mut v);
            all(&v);
        }
        let few = lies(len.min(300), lie);
        assert_eq!(lies(len, lie).par_merged(&few).len(), len + few.len());
        assert!(lies(len, lie).par_intersection(&few).len() <= len);
        assert!(lies(len, lie).into_par_iter().min_max().is_some());
    });
}

#[test]
fn neighbours_and_scans() {
    each(|len, lie| {
        let v = lies(len, lie);
        let chunks: Vec<_> = v.par_chunk_by(Lie::eq).map(<[_]>::len).collect();
        assert_eq!(chunks.into_iter().sum::<usize>(), len);
        let scanned = v.into_par_iter().scan_inclusive(|| lie(0), Lie::max);
        assert_eq!(scanned.collect::<Vec<_>>().len(), len);
    });
}

/// An iterator that says another number of items each time it is asked.
#[test]
fn bridges_and_pipelines() {
    struct Says(std::vec::IntoIter<Lie>, Lie);

    impl Iterator for Says {
        type Item = Lie;

        fn next(&mut self) -> Option<Lie> {
            (self.1.next() % 40 != 0).then(|| self.0.next()).flatten()
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            let most = 2 * self.0.len() as i64 + 9;
            let say = || self.1.next().rem_euclid(most) as usize;
            (say(), (say() % 2 == 0).then(say))
        }
    }

    each(|len, lie| {
        let says = || Says(lies(len, lie).into_iter(), lie(0));
        assert!(says().par_bridge().collect::<Vec<_>>().len() <= len);
        assert!(says().par_bridge().batched().count() <= len);
        let ordered = says().par_bridge_ordered(7).collect::<Vec<_>>();
        assert!(ordered.is_sorted_by_key(|lie| *lie.1));
        let map: ParHashMap<Lie, usize> = says().map(|lie| (lie, 0)).collect();
        assert!(map.len() <= len);
    });
}
