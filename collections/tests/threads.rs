//! Many threads at the same time: histories that some order must explain, deadlocks that must be messages,
//! stress on more threads than cores.
#![allow(dropping_copy_types)] // what a call returns is beside the point here

#[path = "../../pool/tests/common/watched.rs"]
mod watched;

use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, LazyLock};
use std::thread;

use tine_collections::{Change, ParHashMap, ParHashSet, ParVec};
use watched::watched;

/// An operation on one of few keys, with what it returned, and when.
#[derive(Clone, Copy, Debug)]
struct Event {
    op: Op,
    returned: Option<u8>,
    began: u64,
    ended: u64,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Insert(u8, u8),
    Remove(u8),
    Get(u8),
    Upsert(u8, u8),
    Compute(u8),
}

const KEYS: usize = 2;

/// What the operation would do to a map alone.
fn apply(state: &mut [Option<u8>; KEYS], op: Op) -> Option<u8> {
    match op {
        Op::Insert(k, v) => state[k as usize].replace(v),
        Op::Remove(k) => state[k as usize].take(),
        Op::Get(k) => state[k as usize],
        Op::Upsert(k, v) => {
            let slot = &mut state[k as usize];
            let before = *slot;
            *slot = Some(slot.map_or(v, |old| old.wrapping_mul(3)));
            before.map(|_| 1)
        }
        Op::Compute(k) => match state[k as usize] {
            Some(v) if v % 2 == 0 => state[k as usize].take(),
            Some(v) => state[k as usize].replace(v.wrapping_add(7)),
            None => None,
        },
    }
}

fn perform(map: &ParHashMap<u8, u8>, op: Op) -> Option<u8> {
    match op {
        Op::Insert(k, v) => map.insert(k, v),
        Op::Remove(k) => map.remove(&k),
        Op::Get(k) => map.get_cloned(&k),
        Op::Upsert(k, v) => {
            let fresh = map.upsert(k, || v, |old| *old = old.wrapping_mul(3));
            if fresh { None } else { Some(1) }
        }
        Op::Compute(k) => map.compute(k, |found| match found {
            Some(v) if *v % 2 == 0 => Change::Remove,
            Some(v) => Change::Put(v.wrapping_add(7)),
            None => Change::Keep,
        }),
    }
}

/// Is there an order of the events, consistent with which ended before which began, in which each returns what
/// it did?
fn explained(events: &mut Vec<Event>, state: [Option<u8>; KEYS]) -> bool {
    let Some(first_end) = events.iter().map(|event| event.ended).min() else {
        return true;
    };
    for at in 0..events.len() {
        if events[at].began > first_end {
            continue;
        }
        let mut next = state;
        if apply(&mut next, events[at].op) == events[at].returned {
            let event = events.swap_remove(at);
            let rest = explained(events, next);
            events.push(event);
            let last = events.len() - 1;
            events.swap(at, last);
            if rest {
                return true;
            }
        }
    }
    false
}

fn history(seed: u64, wide: bool) -> Vec<Event> {
    let map = ParHashMap::new();
    if wide {
        // So many that the shards are there; none of the keys in question.
        let fill = ParHashMap::<u8, u8>::with_capacity(10_000);
        assert!(fill.is_empty());
        return record(seed, &fill);
    }
    record(seed, &map)
}

/// `map` has none of the tested keys.
fn record(seed: u64, map: &ParHashMap<u8, u8>) -> Vec<Event> {
    if seed.is_multiple_of(2) {
        // So often that readers may need no locks from here on, until the first change.
        (0..300).for_each(|_| assert!(!map.contains_key(&(KEYS as u8))));
    }
    let clock = AtomicU64::new(0);
    let start = Barrier::new(3);
    let work = |thread: u64| {
        let mut x = seed * 3 + thread + 1;
        let mut random = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 20) as u8
        };
        start.wait();
        let mut events = Vec::new();
        for _ in 0..4 {
            let key = random() % KEYS as u8;
            let op = match random() % 6 {
                0 | 1 => Op::Insert(key, random()),
                2 => Op::Remove(key),
                3 => Op::Get(key),
                4 => Op::Upsert(key, random()),
                _ => Op::Compute(key),
            };
            let began = clock.fetch_add(1, Ordering::SeqCst);
            let returned = perform(map, op);
            let ended = clock.fetch_add(1, Ordering::SeqCst);
            events.push(Event {
                op,
                returned,
                began,
                ended,
            });
            if random() % 3 == 0 {
                thread::yield_now();
            }
        }
        events
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..3)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        handles
            .into_iter()
            .flat_map(|handle| handle.join().unwrap())
            .collect()
    })
}

#[test]
fn histories_are_linearizable() {
    for seed in 0..1500 {
        let mut events = history(seed, seed % 3 == 0);
        assert!(
            explained(&mut events, [None; KEYS]),
            "no order explains {events:#?}"
        );
    }
}

/// The checker must be able to say no.
#[test]
fn impossible_histories_are_refused() {
    let event = |op, returned, began, ended| Event {
        op,
        returned,
        began,
        ended,
    };
    let lost = [
        event(Op::Insert(0, 1), None, 0, 1),
        event(Op::Get(0), None, 2, 3),
    ];
    assert!(!explained(&mut lost.to_vec(), [None; KEYS]));
    let twice = [
        event(Op::Insert(0, 1), None, 0, 1),
        event(Op::Remove(0), Some(1), 2, 5),
        event(Op::Remove(0), Some(1), 3, 4),
    ];
    assert!(!explained(&mut twice.to_vec(), [None; KEYS]));
}

#[test]
fn going_back_in_is_loud() {
    let map: ParHashMap<u32, u32> = (0..1000).map(|i| (i, i)).collect();
    let loud = |what: &str, work: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(work)).expect_err(what);
        let message = panic.downcast_ref::<&str>().expect(what);
        assert!(
            message.contains("it would wait for itself"),
            "{what}: {message}"
        );
        assert_eq!(map.len(), 1000);
    };
    loud("insert under a guard", &|| {
        let _guard = map.get(&1).unwrap();
        map.insert(2, 0);
    });
    loud("read under a writing guard", &|| {
        let _guard = map.lock(&1).unwrap();
        map.contains_key(&2);
    });
    loud("update in an update", &|| {
        drop(map.update(&1, |_| map.update(&2, |_| ())))
    });
    loud("remove in a read", &|| {
        drop(map.read(&1, |_| map.remove(&2)))
    });
    loud("remove in a read of many", &|| {
        drop(map.read_many(&[1], |_| map.remove(&2)).count())
    });
    loud("reads of many go on under a writing guard", &|| {
        let mut many = map.read_many(&[1, 2], |v| *v);
        assert_eq!(many.next(), Some(Some(1)));
        let _guard = map.lock(&1).unwrap();
        many.next();
    });
    loud("len in a retain", &|| map.retain(|_, _| !map.is_empty()));
    loud("entry in an entry", &|| {
        drop(
            map.entry(1)
                .and_modify(|_| drop(map.entry(2).or_default()))
                .or_default(),
        )
    });
    loud("insert under an occupied entry", &|| {
        let _entry = map.lock_entry(1);
        map.insert(2, 0);
    });
    loud("read under a vacant entry", &|| {
        let _entry = map.lock_entry(2000);
        map.contains_key(&2);
    });
    loud("an entry under an entry", &|| {
        let _entry = map.lock_entry(1);
        drop(map.lock_entry(2));
    });
    loud("shrinking in a read", &|| {
        drop(map.read(&1, |_| map.shrink_to_fit()))
    });
    loud("get or insert a key that is there", &|| {
        drop(map.read(&1, |_| map.get_or_insert_with(2, || 0)))
    });
    loud("get or insert a key that is not there", &|| {
        drop(map.read(&1, |_| map.get_or_insert_with(2000, || 0)))
    });
    loud("insert in a walk", &|| {
        map.for_each(|_, _| drop(map.insert(1, 1)))
    });
    // Reading while reading is allowed, and so is another map.
    let other = ParHashMap::from([(1, 1)]);
    let nested = map.read(&1, |a| map.read(&2, |b| a + b));
    assert_eq!(nested, Some(Some(3)));
    let mut sum = |a: &u32| map.read_many(&[2, 3], |b| a + b).flatten().sum::<u32>();
    assert!(map.read_many(&[1, 2], &mut sum).eq([Some(7), Some(9)]));
    // Between two of many reads no shard is locked.
    for value in map.read_many(&[1, 2, 3], |v| *v) {
        map.update(&2, |v| *v = value.unwrap());
    }
    assert_eq!(map.get_cloned(&2), Some(3));
    map.update(&1, |v| other.update(&1, |w| *w = *v + 41));
    assert_eq!(other.get_cloned(&1), Some(42));
    // And a snapshot holds nothing.
    map.iter()
        .for_each(|(key, value)| drop(map.insert(key, value)));
}

/// A forgotten guard keeps its shard for good. Which map that is does not depend on where maps lie: another map
/// in its place is free, and the map itself stays held wherever it moves.
#[test]
fn forgotten_guards() {
    let mut place = ParHashMap::from([(1, 1)]);
    let mut places = vec![];
    for _ in 0..20 {
        mem::forget(place.get(&1));
        let held = mem::replace(&mut place, ParHashMap::from([(1, 1)]));
        assert_eq!(place.insert(2, 2), None);
        assert_eq!(place.remove(&2), Some(2));
        places.push(held);
    }
    for held in &mut places {
        let write = catch_unwind(AssertUnwindSafe(|| held.insert(2, 2)));
        let panic = write.expect_err("a shard is held");
        assert!(
            panic
                .downcast_ref::<&str>()
                .unwrap()
                .contains("wait for itself")
        );
        assert_eq!(held.get_cloned(&1), Some(1));
        // With `&mut` there is nothing to wait for.
        assert_eq!(held.get_mut(&1), Some(&mut 1));
    }
}

/// The destructors of thread-locals run in any order, and may use maps; many at once, too.
#[test]
fn maps_in_destructors_of_threads() {
    let _watch = watched();
    static MAPS: LazyLock<Vec<ParHashMap<u32, u32>>> =
        LazyLock::new(|| (0..20).map(|i| ParHashMap::from([(0, i)])).collect());

    /// Holds all maps at once when it is dropped.
    struct Last(Arc<AtomicU32>);

    impl Drop for Last {
        fn drop(&mut self) {
            let guards: Vec<_> = MAPS.iter().map(|map| map.get(&0).unwrap()).collect();
            let sum = guards.iter().map(|guard| **guard).sum();
            drop(guards);
            MAPS.iter().for_each(|map| drop(map.update(&0, |v| *v)));
            self.0.store(sum, Ordering::Relaxed);
        }
    }

    thread_local! {
        static FIRST: RefCell<Option<Last>> = const { RefCell::new(None) };
    }

    // So often that some of them may be read without a lock.
    for map in &MAPS[..7] {
        (0..300).for_each(|_| assert!(map.contains_key(&0)));
    }
    for before in [0, 2, 20] {
        let sum = Arc::new(AtomicU32::new(0));
        let told = sum.clone();
        let thread = thread::spawn(move || {
            FIRST.set(Some(Last(told)));
            // What these leave behind is registered after that destructor, and is dropped before it.
            drop(
                MAPS[..before]
                    .iter()
                    .map(|map| map.get(&0).unwrap())
                    .collect::<Vec<_>>(),
            );
        });
        thread.join().unwrap();
        assert_eq!(sum.load(Ordering::Relaxed), 190);
    }
}

/// A reader inside a reader must not queue behind a writer that waits.
#[test]
fn nested_readers_pass_waiting_writers() {
    let _watch = watched();
    let map = ParHashMap::from([(1, 0_u64)]);
    (0..300).for_each(|_| assert!(map.contains_key(&1)));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..2000).for_each(|_| drop(map.read(&1, |_| map.read(&1, |v| *v)))));
            scope.spawn(|| (0..2000).for_each(|_| drop(map.update(&1, |v| *v += 1))));
        }
    });
    assert_eq!(map.get_cloned(&1), Some(4000));
}

#[test]
fn stress_with_more_threads_than_cores() {
    let _watch = watched();
    const THREADS: u64 = 32;
    const OPS: u64 = 3000;
    let map = ParHashMap::new();
    let set = ParHashSet::new();
    let added = AtomicU64::new(0);
    let fresh = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (map, set, added, fresh) = (&map, &set, &added, &fresh);
            scope.spawn(move || {
                let mut x = thread * 2 + 1;
                for i in 0..OPS {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    // Few hot keys, many cold ones.
                    let key = if x % 3 == 0 { x % 8 } else { x % 5000 };
                    map.upsert(key, || 1_u64, |n| *n += 1);
                    added.fetch_add(1, Ordering::Relaxed);
                    if set.insert(key) {
                        fresh.fetch_add(1, Ordering::Relaxed);
                    }
                    if i % 7 == 0
                        && let Some(n) = map.remove(&(x % 5000))
                    {
                        added.fetch_sub(n, Ordering::Relaxed);
                    }
                    if i % 1000 == 0 {
                        map.retain(|_, n| *n > 0);
                        assert!(map.iter().all(|(key, n)| key < 5000 && n > 0));
                    }
                }
            });
        }
    });
    let mut sum = 0;
    map.for_each(|_, n| sum += n);
    assert_eq!(sum, added.into_inner());
    assert_eq!(set.len(), fresh.into_inner());
}

#[test]
fn vectors_pushed_to_by_many() {
    let _watch = watched();
    const THREADS: usize = 32;
    const EACH: usize = 2000;
    let vec = ParVec::new();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let vec = &vec;
            scope.spawn(move || {
                let value = |i: usize| Box::new(thread * EACH + i);
                for i in 0..EACH / 2 {
                    let at = vec.push(value(i));
                    assert_eq!(*vec[at], *value(i));
                    let last = vec.len() - 1;
                    assert!(vec.get(last).is_none_or(|v| **v < THREADS * EACH));
                    if i % 256 == 0 {
                        assert!(vec.iter().all(|v| **v < THREADS * EACH));
                    }
                }
                vec.extend((EACH / 2..EACH).map(value));
            });
        }
    });
    let mut all: Vec<usize> = vec.iter().map(|boxed| **boxed).collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..THREADS * EACH));
}
