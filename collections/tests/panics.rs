//! Panics in everything that a user supplies: nothing is lost, leaked or dropped twice, and the map can be used
//! afterwards.
#![allow(dropping_copy_types)] // what a call returns is beside the point here

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

use tine_collections::map::{LockedEntry, OccupiedEntry};
use tine_collections::prelude::*;
use tine_collections::{Change, ParHashMap, ParVec};
use tine_iter::prelude::*;
use tine_pool::{StopToken, with_token};

/// What goes wrong, and after how many calls.
#[derive(Debug, Default)]
struct Fuse {
    hash: AtomicIsize,
    eq: AtomicIsize,
    clone: AtomicIsize,
    drop: AtomicIsize,
}

impl Fuse {
    /// A fuse that never blows.
    fn new() -> Arc<Fuse> {
        let fuse = Arc::new(Fuse::default());
        fuse.mend();
        fuse
    }

    fn mend(&self) {
        for counter in [&self.hash, &self.eq, &self.clone, &self.drop] {
            counter.store(isize::MAX, Ordering::Relaxed);
        }
    }

    fn burn(counter: &AtomicIsize, what: &str) {
        if counter.fetch_sub(1, Ordering::Relaxed) == 0 {
            panic!("{what} blew");
        }
    }
}

/// A key that counts the living keys, and may panic.
#[derive(Debug)]
struct Key(u32, Arc<Fuse>);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Fuse::burn(&self.1.hash, "hash");
        self.0.hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        Fuse::burn(&self.1.eq, "eq");
        self.0 == other.0
    }
}

impl Eq for Key {}

impl Clone for Key {
    fn clone(&self) -> Key {
        Fuse::burn(&self.1.clone, "clone");
        Key(self.0, self.1.clone())
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            Fuse::burn(&self.1.drop, "drop");
        }
    }
}

fn blows<R>(work: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(work()))).is_err()
}

/// Everything below `len` is there, in a map that still works.
fn intact(map: &ParHashMap<Key, u32>, len: u32, fuse: &Arc<Fuse>) {
    fuse.mend();
    for i in 0..len {
        assert_eq!(
            map.get_cloned(&Key(i, fuse.clone())),
            Some(i),
            "entry {i} of {len}"
        );
    }
    assert_eq!(map.len(), len as usize);
}

#[test]
fn hashing_blows_while_tables_grow() {
    type Map = ParHashMap<Key, u32>;
    let ways: [fn(&Map, Key); 2] = [
        |map, key| {
            let number = key.0;
            assert_eq!(map.insert(key, number), None);
        },
        |map, key| match map.try_lock_entry(key) {
            Ok(LockedEntry::Vacant(entry)) => {
                let number = entry.key().0;
                drop(entry.insert(number));
            }
            _ => panic!("no other thread"),
        },
    ];
    for (after, add) in (0..60).flat_map(|after| ways.map(|add| (after, add))) {
        let fuse = Fuse::new();
        let map = ParHashMap::new();
        for i in 0..3000 {
            // Past the stem's limit at 2049, and at every growth on the way.
            fuse.hash.store(after, Ordering::Relaxed);
            let blew = blows(|| add(&map, Key(i, fuse.clone())));
            if blew {
                intact(&map, i, &fuse);
                add(&map, Key(i, fuse.clone()));
            }
            fuse.mend();
            if blew && i > 2100 {
                break;
            }
        }
        let len = map.len();
        assert_eq!(Arc::strong_count(&fuse), len + 1);
        drop(map);
        assert_eq!(Arc::strong_count(&fuse), 1);
    }
}

#[test]
fn hashing_blows_while_traces_of_removals_are_cleared() {
    for after in [1, 2, 5, 20] {
        let fuse = Fuse::new();
        let map = ParHashMap::new();
        (0..20).for_each(|i| drop(map.insert(Key(i, fuse.clone()), i)));
        for i in 20..2000 {
            fuse.hash.store(after, Ordering::Relaxed);
            if blows(|| map.insert(Key(i, fuse.clone()), i)) {
                intact(&map, 20, &fuse);
            }
            fuse.mend();
            map.remove(&Key(i, fuse.clone()));
        }
        intact(&map, 20, &fuse);
        drop(map);
        assert_eq!(Arc::strong_count(&fuse), 1);
    }
}

/// The traces are in the way when a whole collection is taken in, or when room is requested.
#[test]
fn hashing_blows_while_room_is_made_among_traces() {
    let dug_over = |fuse: &Arc<Fuse>| {
        let mut map = ParHashMap::with_capacity(150_000);
        (10_000..220_000).for_each(|i| drop(map.insert(Key(i, fuse.clone()), i)));
        (0..8000).for_each(|i| drop(map.insert(Key(i, fuse.clone()), i)));
        (10_000..220_000).for_each(|i| drop(map.remove(&Key(i, fuse.clone()))));
        map.reserve(0);
        map
    };
    // Each key is hashed once as it comes; further hashes are of keys that are there.
    let mut extended = vec![];
    for (new, after) in [(40_000, 40_000), (80_000, 80_010), (100_000, 100_200)] {
        let fuse = Fuse::new();
        let mut map = dug_over(&fuse);
        fuse.hash.store(after, Ordering::Relaxed);
        let pairs = (0..new as u32).into_par_iter();
        let pairs = pairs.map(|i| (Key(1_000_000 + i, fuse.clone()), 0));
        extended.push(blows(|| map.par_extend(pairs)));
        fuse.mend();
        (0..8000).for_each(|i| {
            assert_eq!(
                map.get_cloned(&Key(i, fuse.clone())),
                Some(i),
                "{new} {after}"
            );
        });
        drop(map);
        assert_eq!(Arc::strong_count(&fuse), 1);
    }
    assert!(extended.contains(&true), "no key was hashed again");
    // The first room may lie under the traces; for the second every table grows.
    for (room, grows) in [(40_000, false), (400_000, true)] {
        for after in [0, 1, 100, 7000] {
            let fuse = Fuse::new();
            let mut map = dug_over(&fuse);
            fuse.hash.store(after, Ordering::Relaxed);
            let blew = blows(|| map.reserve(room));
            assert!(blew || !grows, "{room} {after}");
            fuse.mend();
            intact(&map, 8000, &fuse);
        }
    }
}

#[test]
fn comparing_and_cloning_blow() {
    let fuse = Fuse::new();
    let map = ParHashMap::new();
    (0..100).for_each(|i| drop(map.insert(Key(i, fuse.clone()), i)));
    let key = || Key(50, fuse.clone());
    let ops: [(&str, &dyn Fn()); 9] = [
        ("insert", &|| drop(map.insert(key(), 50))),
        ("get", &|| drop(map.get_cloned(&key()))),
        ("update", &|| drop(map.update(&key(), |v| *v))),
        ("upsert", &|| drop(map.upsert(key(), || 0, |_| ()))),
        ("remove", &|| drop(map.remove(&key()))),
        ("entry", &|| drop(map.entry(key()).or_insert(0))),
        ("lock_entry", &|| drop(map.lock_entry(key()))),
        ("try_lock_entry", &|| drop(map.try_lock_entry(key()))),
        ("compute", &|| drop(map.compute(key(), |_| Change::Remove))),
    ];
    for (what, op) in ops {
        fuse.eq.store(0, Ordering::Relaxed);
        assert!(blows(op), "{what}");
        intact(&map, 100, &fuse);
    }
    fuse.clone.store(10, Ordering::Relaxed);
    assert!(blows(|| map.clone()));
    intact(&map, 100, &fuse);
    fuse.clone.store(10, Ordering::Relaxed);
    assert!(blows(|| map.keys().count()));
    intact(&map, 100, &fuse);
    assert_eq!(Arc::strong_count(&fuse), 101);
}

#[test]
fn closures_blow() {
    let fuse = Fuse::new();
    let mut map = ParHashMap::new();
    (0..100).for_each(|i| drop(map.insert(Key(i, fuse.clone()), i)));
    let key = |i| Key(i, fuse.clone());
    assert!(blows(|| map.read(&key(1), |_| panic!("closure"))));
    let keys = [1, 2, 3, 2].map(key);
    let mut many = map.read_many(&keys, |&i| assert!(i != 2, "closure"));
    assert_eq!(many.next(), Some(Some(())));
    assert!(blows(|| many.next()));
    // The key that panicked is gone.
    assert_eq!(many.next(), Some(Some(())));
    assert!(blows(|| many.for_each(drop)));
    drop(keys);
    assert!(blows(|| map.update(&key(1), |_| panic!("closure"))));
    assert!(blows(|| map.upsert(key(1), || 1, |_| panic!("closure"))));
    assert!(blows(|| map.upsert(
        key(1000),
        || panic!("closure"),
        |_| ()
    )));
    assert!(blows(|| map
        .entry(key(1))
        .and_modify(|_| panic!("closure"))
        .or_insert(0)));
    assert!(blows(|| map
        .entry(key(1000))
        .or_insert_with(|| panic!("closure"))));
    assert!(blows(|| map.entry(key(1000)).or_try_insert_with(
        || -> Result<u32, ()> { panic!("closure") }
    )));
    assert!(blows(
        || map.remove_if_mut(&key(1), |_, _| panic!("closure"))
    ));
    assert!(blows(|| map.remove_if(&key(1), |_, _| panic!("closure"))));
    assert!(blows(|| map.compute(key(1), |_| panic!("closure"))));
    assert!(blows(|| map.for_each(|_, _| panic!("closure"))));
    assert!(blows(
        || map.find_map(|_, _| -> Option<()> { panic!("closure") })
    ));
    assert!(blows(|| map.retain(|_, _| panic!("closure"))));
    assert!(blows(|| map.par_retain(|_, _| panic!("closure"))));
    assert!(blows(|| map.par_iter_mut().for_each(|_| panic!("closure"))));
    let other = || (0..10).map(|i| (key(i), i)).collect::<ParHashMap<_, _>>();
    assert!(blows(
        || map.par_merge_with(other(), |_, _| panic!("closure"))
    ));
    let broken = || {
        (200..900)
            .into_par_iter()
            .map(|i| (key(i), if i == 700 { panic!("iterator") } else { i }))
    };
    assert!(blows(|| map.par_extend(broken())));
    intact(&map, 100, &fuse);
    assert_eq!(Arc::strong_count(&fuse), 101);
    drop(map);
    assert_eq!(Arc::strong_count(&fuse), 1);
}

/// Items that an iterator gave before it panicked are there, in small maps and in large.
#[test]
fn an_iterator_blows_in_the_middle_of_extend() {
    let fuse = Fuse::new();
    for len in [100, 10_000] {
        let mut map: ParHashMap<Key, u32> = (0..len).map(|i| (Key(i, fuse.clone()), i)).collect();
        let more = (len..2 * len).map(|i| match i - len {
            50 => panic!("iterator"),
            _ => (Key(i, fuse.clone()), i),
        });
        assert!(blows(|| map.extend(more)));
        intact(&map, len + 50, &fuse);
        assert_eq!(Arc::strong_count(&fuse), len as usize + 51);
        drop(map);
        assert_eq!(Arc::strong_count(&fuse), 1);
    }
}

#[test]
fn drops_blow_outside_of_locks() {
    let fuse = Fuse::new();
    let map = ParHashMap::new();
    (0..10).for_each(|i| drop(map.insert(i, Key(i, fuse.clone()))));
    let old = map.insert(3, Key(30, fuse.clone()));
    fuse.drop.store(0, Ordering::Relaxed);
    assert!(blows(|| drop(old)));
    fuse.drop.store(0, Ordering::Relaxed);
    assert!(blows(|| drop(map.remove(&4))));
    // A key that was there already is dropped when nothing is locked any more.
    let keyed = ParHashMap::from([(Key(1, fuse.clone()), 1)]);
    fuse.drop.store(0, Ordering::Relaxed);
    assert!(blows(|| keyed.insert(Key(1, fuse.clone()), 2)));
    fuse.mend();
    assert_eq!(keyed.get_cloned(&Key(1, fuse.clone())), Some(2));
    // So is the key with which an occupied entry was asked for, whatever happens to the entry.
    type Use = fn(OccupiedEntry<'_, Key, u32>) -> u32;
    let uses: [(Use, Option<u32>); 3] = [
        (|entry| *entry.get(), Some(3)),
        (
            |entry| std::mem::replace(&mut *entry.into_mut(), 4),
            Some(3),
        ),
        (|entry| entry.remove_entry().1, None),
    ];
    for (work, left) in uses {
        let keyed = ParHashMap::from([(Key(1, fuse.clone()), 3)]);
        let given = Key(1, fuse.clone());
        assert!(blows(|| match keyed.lock_entry(given) {
            LockedEntry::Occupied(entry) => {
                fuse.drop.store(0, Ordering::Relaxed);
                work(entry)
            }
            LockedEntry::Vacant(_) => unreachable!(),
        }));
        fuse.mend();
        assert_eq!(keyed.get_cloned(&Key(1, fuse.clone())), left);
    }
    assert_eq!(map.len(), 9);
    fuse.drop.store(0, Ordering::Relaxed);
    assert!(blows(|| map.clear()));
    fuse.mend();
    assert!(map.is_empty());
}

/// A map of any size drops all its entries, also those behind an entry whose destructor panics.
#[test]
fn a_drop_blows_and_the_others_are_dropped() {
    type Make = fn(u32, &Arc<Fuse>) -> ParHashMap<Key, Key>;
    let (sizes, fuse) = ([1, 10, 1000, 20_000], Fuse::new());
    for len in sizes {
        for nth in [0, len / 2] {
            let maps: [Make; 2] = [
                |len, fuse| {
                    (0..len)
                        .map(|i| (Key(i, fuse.clone()), Key(i, fuse.clone())))
                        .collect()
                },
                |len, fuse| {
                    let pairs = (0..len).into_par_iter();
                    pairs
                        .map(|i| (Key(i, fuse.clone()), Key(i, fuse.clone())))
                        .collect()
                },
            ];
            for map in maps {
                let map = map(len, &fuse);
                fuse.drop.store(nth as isize, Ordering::Relaxed);
                assert!(blows(|| drop(map)));
                fuse.mend();
                assert_eq!(Arc::strong_count(&fuse), 1, "of {len}, the {nth}th blew");
            }
        }
    }
}

/// What an entry does not need is dropped while its lock is held. If that panics, the lock is let go.
#[test]
fn drops_of_what_an_entry_does_not_need_blow() {
    let fuse = Fuse::new();
    let held = || Key(2, fuse.clone());
    let map = ParHashMap::from([(Key(1, fuse.clone()), held())]);
    let key = || Key(1, fuse.clone());
    let uses: [&dyn Fn(); 4] = [
        // The key, the value, and what is owned by a closure that is not called, and by one that is.
        &|| drop(map.entry(key()).or_insert_with(|| unreachable!())),
        &|| drop(map.entry(key()).or_insert(held())),
        &|| {
            let brought = held();
            drop(map.entry(key()).or_insert_with_key(|_| brought));
        },
        &|| {
            let brought = held();
            let modified = map
                .entry(key())
                .and_modify(move |value| drop((value, brought)));
            drop(modified.or_insert_with(|| unreachable!()));
        },
    ];
    for use_it in uses {
        for nth in 0.. {
            fuse.drop.store(nth, Ordering::Relaxed);
            let blown = blows(use_it);
            fuse.mend();
            // If it were held, this thread would get an error, and another thread would wait for ever.
            assert_eq!(map.update(&key(), |value| value.0), Some(2));
            if !blown {
                assert!(nth > 0, "nothing was dropped");
                break;
            }
        }
    }
}

/// In the middle of scattering, of building, of a second run.
#[test]
fn grouping_blows_anywhere() {
    let fuse = Fuse::new();
    let keys: Vec<Key> = (0..20_000).map(|i| Key(i % 3000, fuse.clone())).collect();
    for after in [0, 5, 1500, 7000, 19_990, 25_000, 42_000] {
        let set = |counter: &AtomicIsize| counter.store(after, Ordering::Relaxed);
        set(&fuse.hash);
        blows(|| keys.par_iter().count_by(|key| Key(key.0, fuse.clone())));
        set(&fuse.eq);
        blows(|| keys.par_iter().group_by(|key| Key(key.0, fuse.clone())));
        set(&fuse.hash);
        blows(|| keys.par_iter().group_by(|key| Key(key.0, fuse.clone())));
        set(&fuse.eq);
        blows(|| {
            keys.par_iter()
                .map(|key| Key(key.0, fuse.clone()))
                .distinct()
        });
        // A filter hides how many there are: many are expected.
        set(&fuse.eq);
        blows(|| {
            let fresh = keys.par_iter().map(|key| Key(key.0, fuse.clone()));
            fresh.filter(|key| key.0 != 7).distinct()
        });
        set(&fuse.hash);
        blows(|| keys.par_iter().distinct_by(|key| Key(key.0, fuse.clone())));
        set(&fuse.clone);
        blows(|| keys.par_iter().cloned().distinct());
        set(&fuse.hash);
        blows(|| {
            let pairs = keys.par_iter().map(|key| (Key(key.0, fuse.clone()), 0));
            pairs.collect::<ParHashMap<Key, u32>>()
        });
        set(&fuse.eq);
        blows(|| {
            let pairs = keys.par_iter().map(|key| (Key(key.0, fuse.clone()), 0));
            pairs.collect::<ParHashMap<Key, u32>>()
        });
        set(&fuse.clone);
        blows(|| {
            keys.par_iter().fold_by(
                |key| key.0,
                Vec::new,
                |sum: &mut Vec<Key>, key| sum.push(key.clone()),
                |sum, more| sum.extend(more),
            )
        });
        fuse.mend();
        assert_eq!(Arc::strong_count(&fuse), 20_001, "after {after}");
    }
    assert!(blows(|| {
        fuse.hash.store(100, Ordering::Relaxed);
        keys.par_iter().count_by(|key| Key(key.0, fuse.clone()))
    }));
}

/// More pairs than stay in one row: in the row, while they are scattered, and while groups are laid out.
#[test]
fn grouping_many_blows_anywhere() {
    let fuse = Fuse::new();
    let count = 140_000;
    let group = || {
        let keys = (0..count).into_par_iter();
        keys.group_by(|i| Key(i % 30_000, fuse.clone()))
    };
    assert_eq!(group().len(), 30_000);
    for after in [0, 100, 70_000, 131_071, 131_073, 139_999, 200_000] {
        for (counter, times) in [
            (&fuse.hash, count),
            (&fuse.eq, 110_000),
            (&fuse.drop, 110_000),
        ] {
            counter.store(after, Ordering::Relaxed);
            let blew = blows(group);
            assert!(blew || after >= times as isize, "after {after}");
            fuse.mend();
            // A destructor that panics keeps back its own part at most.
            assert!(Arc::strong_count(&fuse) < 2000, "after {after}");
        }
    }
}

/// A join on a map that stays: whatever panics, the map has all its entries, and can be joined and changed
/// again.
#[test]
fn joining_on_a_map_blows_anywhere() {
    for len in [20_u32, 5000] {
        let fuse = Fuse::new();
        let mut map = ParHashMap::new();
        (0..len).for_each(|i| drop(map.insert(Key(i, fuse.clone()), i)));
        let left = 0..2 * len;
        let (key, alive) = (|&i: &u32| Key(i, fuse.clone()), len as usize + 1);
        for after in [0, 1, 7, 1999, 9000] {
            let burning = [(&fuse.hash, "hash"), (&fuse.eq, "eq"), (&fuse.drop, "drop")];
            for (counter, what) in burning {
                macro_rules! join {
                    () => {
                        left.clone().into_par_iter().join_on(&mut map, key)
                    };
                }
                macro_rules! blow {
                    ($($end:ident),*) => {
                        $(
                            counter.store(after, Ordering::Relaxed);
                            let blew = blows(|| join!().$end());
                            let times = if what == "eq" { len } else { 2 * len };
                            assert_eq!(blew, after < times as isize, "{what} after {after}");
                            fuse.mend();
                            assert_eq!(Arc::strong_count(&fuse), alive);
                        )*
                    };
                }
                blow!(inner, left, semi, anti, outer);
                assert!(join!().inner().into_iter().eq((0..len).map(|i| (i, i))));
                assert!(join!().anti().into_iter().eq(len..2 * len));
                assert_eq!(map.insert(Key(3, fuse.clone()), 3), Some(3));
                intact(&map, len, &fuse);
            }
        }
        drop(map);
        assert_eq!(Arc::strong_count(&fuse), 1);
    }
}

/// In the first table, when it is looked at, when later items are scattered, and in the parts' tables.
#[test]
fn distinct_blows_while_it_scatters() {
    let fuse = Fuse::new();
    let count = 140_000;
    let firsts = || {
        // A filter hides how many there are: many are expected.
        let keys = (0..count).into_par_iter();
        let keys = keys.map(|i| Key(i % 120_000, fuse.clone()));
        keys.filter(|_| true).distinct()
    };
    assert!(firsts().iter().map(|key| key.0).eq(0..120_000));
    for after in [0, 32_767, 32_768, 33_000, 60_000, 139_999, 150_000] {
        fuse.hash.store(after, Ordering::Relaxed);
        let blew = blows(firsts);
        assert!(blew || after > 139_999, "hash after {after}");
        fuse.mend();
        assert_eq!(Arc::strong_count(&fuse), 1, "hash after {after}");
        fuse.eq.store(after / 10, Ordering::Relaxed);
        assert!(blows(firsts), "eq after {after}");
        fuse.mend();
        assert_eq!(Arc::strong_count(&fuse), 1, "eq after {after}");
        // The first drops are those of keys that came again.
        fuse.drop.store(after / 10, Ordering::Relaxed);
        assert!(blows(firsts), "drop after {after}");
        fuse.mend();
        // A destructor that panics keeps back its own table at most.
        assert!(Arc::strong_count(&fuse) < 2000, "drop after {after}");
    }
}

/// Large maps that were built in parallel are dropped by all threads.
#[test]
fn large_maps_are_dropped_in_parallel() {
    let fuse = Fuse::new();
    let count = 140_000;
    let build = || -> ParHashMap<u32, Key> {
        let keys = (0..count).into_par_iter();
        keys.map(|i| (i, Key(i, fuse.clone()))).collect()
    };
    drop(build());
    assert_eq!(Arc::strong_count(&fuse), 1);
    let some = build();
    some.retain(|key, _| key % 2 == 0);
    assert_eq!(Arc::strong_count(&fuse), 70_001);
    drop(some.into_iter().take(5).count());
    assert_eq!(Arc::strong_count(&fuse), 1);
    // On a thread that is about to end, and in the middle of a panic.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            thread_local!(static LAST: RefCell<Option<ParHashMap<u32, Key>>> = const { RefCell::new(None) });
            LAST.with(|last| *last.borrow_mut() = Some(build()));
        });
    });
    let waited = std::time::Instant::now();
    // The scope does not wait for destructors of thread-locals.
    while Arc::strong_count(&fuse) != 1 {
        assert!(
            waited.elapsed().as_secs() < 60,
            "dropped at the end of the thread"
        );
        std::thread::yield_now();
    }
    assert!(blows(|| {
        let _map = build();
        panic!("on purpose");
    }));
    assert_eq!(Arc::strong_count(&fuse), 1);
    // A destructor that panics keeps nothing back, wherever it comes.
    for after in [0, 1000, 30_000, 139_999] {
        let ends: [fn(ParHashMap<u32, Key>); 4] = [
            drop,
            |mut map| map.par_clear(),
            |map| map.clear(),
            |map| map.retain(|_, _| false),
        ];
        for end in ends {
            let map = build();
            fuse.drop.store(after, Ordering::Relaxed);
            assert!(blows(|| end(map)));
            fuse.mend();
            assert_eq!(Arc::strong_count(&fuse), 1);
        }
    }
}

/// Entries that `retain` and `clear` remove are dropped while no shard is locked: a destructor may enter the
/// map.
#[test]
fn destructors_enter_the_map() {
    type Map = ParHashMap<u32, Entering>;

    struct Entering(Arc<std::sync::OnceLock<Map>>, u32);

    impl Drop for Entering {
        fn drop(&mut self) {
            if let Some(map) = self.0.get() {
                assert!(
                    !map.contains_key(&self.1),
                    "it is removed before it is dropped"
                );
                map.insert(self.1 + 1_000_000, Entering(Arc::default(), 0));
            }
        }
    }

    for count in [10, 5000, 140_000] {
        let home = Arc::new(std::sync::OnceLock::new());
        let entry = |i| (i, Entering(home.clone(), i));
        let map: Map = (0..count).map(entry).collect();
        assert!(home.set(map).is_ok());
        let map = home.get().expect("just set");
        map.retain(|key, _| key % 2 == 0);
        assert_eq!(map.len(), count as usize);
        assert!((0..count).all(|i| map.contains_key(&(i + i % 2 * 1_000_000))));
        map.clear();
        assert_eq!(map.len(), count as usize / 2);
    }
}

#[test]
fn a_token_ends_no_move_and_no_drop() {
    let all = Arc::new(());
    let token = StopToken::new();
    let mut reached = false;
    let _ = with_token(&token, || {
        let many = || (0..200_000_usize).into_par_iter();
        let map: ParHashMap<usize, Arc<()>> = many().map(|i| (i, Arc::clone(&all))).collect();
        let vec = ParVec::new();
        many().for_each(|_| drop(vec.push(Arc::clone(&all))));
        token.stop();
        let plain = vec.into_vec();
        drop(map);
        assert_eq!(Arc::strong_count(&all), plain.len() + 1);
        reached = true;
    });
    assert!(reached, "it was ended halfway");
    assert_eq!(Arc::strong_count(&all), 1);
}

/// Keys are hashed, compared and dropped by workers, by the jobs of parts, and after those.
#[test]
fn counting_owned_keys() {
    let count = 120_000;
    for (which, limits) in [
        ("hash", [5, 60_000, 130_000, 260_000]),
        ("eq", [5, 1000, 20_000, 50_000]),
        ("drop", [5, 1000, 30_000, 59_000]),
    ] {
        for after in limits {
            let fuse = Fuse::new();
            let keys: Vec<Key> = (0..count).map(|i| Key(i % 60_000, fuse.clone())).collect();
            let counter = match which {
                "hash" => &fuse.hash,
                "eq" => &fuse.eq,
                _ => &fuse.drop,
            };
            counter.store(after, Ordering::Relaxed);
            let blew = blows(|| keys.into_par_iter().count_items());
            // Each key is hashed at least once. How often it is hashed again depends on the way taken.
            assert!(blew || after >= count as isize, "{which} {after}");
            fuse.mend();
            assert_eq!(Arc::strong_count(&fuse), 1, "{which} {after}");
        }
    }
}

/// The destructor of an item panics when there is already a key, or the destructor of a key when there is
/// already an item.
#[test]
fn destructors_of_items_blow_beside_their_keys() {
    let (fuse, aside) = (Fuse::new(), Fuse::new());
    let items = || (0..50_u32).into_par_iter().map(|i| Key(i, fuse.clone()));
    let key = |_: &Key| Key(0, aside.clone());
    let uses: [(&str, &dyn Fn()); 3] = [
        ("count_by", &|| drop(items().count_by(key))),
        ("aggregate_by", &|| {
            let first = items().aggregate_by(|_| 0).first(|_| aside.clone());
            drop(first.finish())
        }),
        ("join_by", &|| {
            let left = (0..5_u32).into_par_iter();
            let own = |_: &u32| Key(0, aside.clone());
            drop(left.join_by(items(), own, key).semi())
        }),
    ];
    for (name, use_it) in uses {
        for nth in 0..60 {
            fuse.drop.store(nth, Ordering::Relaxed);
            blows(use_it);
            fuse.mend();
            assert_eq!(Arc::strong_count(&aside), 1, "{name}, drop {nth}");
            assert_eq!(Arc::strong_count(&fuse), 1, "{name}, drop {nth}");
        }
    }
    for nth in 0..60 {
        aside.drop.store(nth, Ordering::Relaxed);
        blows(|| items().distinct_by(key));
        aside.mend();
        assert_eq!(Arc::strong_count(&fuse), 1, "distinct_by, drop {nth}");
    }
}
