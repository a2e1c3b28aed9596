//! Guards of a map that other threads use by reference, and very many guards of one thread.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use tine_collections::{Change, ParHashMap, ParHashSet};
use tine_iter::prelude::*;

#[test]
fn a_loop_uses_a_guard_of_its_caller() {
    let map: ParHashMap<u64, Vec<u64>> = [(7, (0..1000).collect())].into_iter().collect();
    let guard = map.get(&7).unwrap();
    let sum: u64 = (0..guard.len()).into_par_iter().map(|n| guard[n]).sum();
    assert_eq!(sum, 499_500);
    drop(guard);
    let mut guard = map.entry(7).or_default();
    guard.push(1000);
    let sum: u64 = (0..guard.len()).into_par_iter().map(|n| guard[n]).sum();
    assert_eq!(sum, 500_500);
}

/// A thread holds more guards of two maps than its short list has places, and drops them in other orders.
#[test]
fn guards_of_two_maps_in_any_order() {
    let count = if cfg!(miri) { 40 } else { 2000 };
    let one: ParHashMap<u64, u64> = (0..count).map(|n| (n, n)).collect();
    let other: ParHashMap<u64, u64> = (0..count).map(|n| (n, 2 * n)).collect();
    for stride in [1, 7, 13] {
        let mut guards: Vec<_> = (0..count)
            .flat_map(|n| [one.get(&n).unwrap(), other.get(&n).unwrap()])
            .collect();
        assert!(catch_unwind(AssertUnwindSafe(|| one.insert(count, 0))).is_err());
        while !guards.is_empty() {
            let at = guards.len() * stride / 17 % guards.len();
            drop(guards.swap_remove(at));
        }
        assert_eq!(one.insert(0, 0), Some(0));
        assert_eq!(other.insert(0, 0), Some(0));
    }
}

/// A forgotten guard leaves its note behind. The thread may still use each map that it makes later.
#[test]
fn notes_of_forgotten_guards_hold_up_no_other_map() {
    for n in 0..if cfg!(miri) { 20 } else { 500 } {
        let map: ParHashMap<u64, u64> = [(n, n)].into_iter().collect();
        std::mem::forget(map.get(&n));
        let fresh = ParHashSet::new();
        assert!(fresh.insert(n) && fresh.contains(&n));
        std::mem::forget(map);
    }
}

/// Held entries exclude each other: threads that take numbers from a counter, by looking and then removing or
/// filling, take each number once.
#[test]
fn held_entries_are_held_by_one_thread() {
    use tine_collections::map::LockedEntry;
    let rounds = if cfg!(miri) { 30 } else { 20_000 };
    let map: ParHashMap<u32, u32> = ParHashMap::new();
    let taken: Vec<usize> = std::thread::scope(|s| {
        let turns = || {
            let taken = (0..rounds).filter(|n| match map.lock_entry(n % 5) {
                LockedEntry::Occupied(entry) if entry.get() % 3 == 2 => {
                    entry.remove();
                    true
                }
                LockedEntry::Occupied(mut entry) => {
                    *entry.get_mut() += 1;
                    false
                }
                LockedEntry::Vacant(entry) => {
                    *entry.insert(6) += 1;
                    false
                }
            });
            taken.count()
        };
        let threads = [(); 3].map(|()| s.spawn(turns));
        threads.map(|thread| thread.join().unwrap()).to_vec()
    });
    // Filled with 6, which is 7 at once, counted up to 8, removed: each third turn of a key.
    let turns = 3 * rounds as usize / 5;
    assert_eq!(taken.iter().sum::<usize>(), 5 * (turns / 3));
}

#[test]
fn words_are_counted_by_borrowed_keys() {
    let map: ParHashMap<String, u32> = ParHashMap::new();
    let rounds = if cfg!(miri) { 20 } else { 10_000 };
    (0..rounds).into_par_iter().for_each(|n| {
        let word = ["a", "fork", "is", "a tool"][n % 4];
        match n % 3 {
            0 => *map.entry_ref(word).or_default() += 1,
            1 => drop(map.entry_ref(word).and_modify(|n| *n += 1).or_insert(1)),
            _ => {
                *map.entry_ref(word)
                    .or_insert_with_key(|word| word.len() as u32 - word.len() as u32) += 1
            }
        }
    });
    assert_eq!(map.entry_ref("a").key(), "a");
    let tried = map
        .entry_ref("fork")
        .or_try_insert_with(|| Err("needless"))
        .map(|n| *n);
    assert_eq!(tried, Ok(rounds as u32 / 4));
    assert_eq!(
        map.entry_ref("x").or_try_insert_with(|| Err("vain")).err(),
        Some("vain")
    );
    assert_eq!(map.len(), 4);
    assert!(map.values().all(|count| count == rounds as u32 / 4));
    // No key is made of a word that is there.
    struct Loud(&'static str);
    impl std::borrow::Borrow<str> for Loud {
        fn borrow(&self) -> &str {
            self.0
        }
    }
    impl PartialEq for Loud {
        fn eq(&self, other: &Loud) -> bool {
            self.0 == other.0
        }
    }
    impl Eq for Loud {}
    impl std::hash::Hash for Loud {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }
    impl From<&str> for Loud {
        fn from(_: &str) -> Loud {
            panic!("made")
        }
    }
    let map = ParHashMap::from([(Loud("a"), 1)]);
    *map.entry_ref("a").or_insert(7) += 1;
    assert_eq!(map.get_cloned("a"), Some(2));
    assert!(catch_unwind(AssertUnwindSafe(|| *map.entry_ref("b").or_insert(7))).is_err());
    assert_eq!((map.len(), map.insert(Loud("b"), 3)), (1, None));
}

/// Shards give their memory back while other threads fill and read them.
#[test]
fn a_map_shrinks_while_it_is_used() {
    let map: ParHashMap<u32, u32> = ParHashMap::new();
    let count = if cfg!(miri) { 60 } else { 30_000 };
    std::thread::scope(|s| {
        s.spawn(|| {
            for n in 0..count {
                assert_eq!(map.insert(n, n), None);
                assert_eq!(map.get_cloned(&(n / 2)), Some(n / 2));
            }
        });
        for most in [0, 1, 100, 10_000, usize::MAX] {
            (0..10).for_each(|_| map.shrink_to(most));
        }
        map.shrink_to_fit();
    });
    assert_eq!(map.len(), count as usize);
    map.clear();
    map.shrink_to_fit();
    assert_eq!(map.capacity(), 0);
}

#[test]
fn a_guard_that_is_tried_waits_for_no_thread() {
    use std::sync::Barrier;
    use tine_collections::map::Busy;
    for len in [3, 5000] {
        let map: ParHashMap<u32, u32> = (0..len).map(|n| (n, n)).collect();
        let step = Barrier::new(2);
        std::thread::scope(|s| {
            s.spawn(|| {
                let guard = map.lock(&1).unwrap();
                step.wait();
                step.wait();
                drop(guard);
                // Through the gate or not: the map is read so often that readers stop locking.
                (0..600).for_each(|_| assert_eq!(map.get_cloned(&1), Some(1)));
                let guard = map.get(&1).unwrap();
                step.wait();
                step.wait();
                drop(guard);
                step.wait();
            });
            step.wait();
            assert_eq!(map.try_get(&1).unwrap_err(), Busy);
            assert_eq!(map.try_lock(&1).unwrap_err(), Busy);
            assert_eq!(map.try_lock_entry(1).unwrap_err(), 1);
            step.wait();
            step.wait();
            assert_eq!(*map.try_get(&1).unwrap().unwrap(), 1);
            assert_eq!(map.try_lock(&1).unwrap_err(), Busy);
            assert_eq!(map.try_lock_entry(1).unwrap_err(), 1);
            step.wait();
            step.wait();
            *map.try_lock(&1).unwrap().unwrap() += 1;
        });
        assert_eq!(map.get_cloned(&1), Some(2));
        assert!(map.try_get(&len).unwrap().is_none() && map.try_lock(&len).unwrap().is_none());
        // A thread's own guard makes it fail for every key.
        let read = map.get(&0).unwrap();
        assert_eq!(*map.try_get(&2).unwrap().unwrap(), 2);
        assert!((0..len).all(|n| map.try_lock(&n).is_err()));
        assert!((0..2 * len).all(|n| map.try_lock_entry(n).is_err_and(|key| key == n)));
        drop(read);
        let write = map.lock(&0).unwrap();
        assert!((0..len).all(|n| map.try_get(&n).is_err() && map.try_lock(&n).is_err()));
        let other = ParHashMap::from([(1, 1)]);
        *other.try_lock(&1).unwrap().unwrap() += 1;
        drop(write);
        assert!((0..len).all(|n| map.try_lock(&n).unwrap().is_some()));
    }
}

/// Entries that are tried, from an empty map to many shards.
#[test]
fn an_entry_that_is_tried_makes_room() {
    use tine_collections::map::LockedEntry;
    let map = ParHashMap::new();
    let len = if cfg!(miri) { 3_000 } else { 20_000_u32 };
    for n in (0..len).chain(0..len) {
        match map.try_lock_entry(n).expect("no other thread") {
            LockedEntry::Vacant(entry) => drop(entry.insert(1)),
            LockedEntry::Occupied(mut entry) => *entry.get_mut() += 1,
        }
    }
    assert_eq!(map.len(), len as usize);
    assert!((0..len).all(|n| map.get_cloned(&n) == Some(2)));
}

/// Threads that try, threads that wait and readers without a lock: each change is made once, and no reader sees
/// half of one.
#[test]
fn tried_and_waited_for_guards_exclude_each_other() {
    let rounds = if cfg!(miri) { 20 } else { 20_000 };
    let map = ParHashMap::from([(0_u32, (0_u64, 0_u64)), (1, (0, 0))]);
    let made: u64 = std::thread::scope(|s| {
        let tries = || {
            let tried = (0..rounds).filter(|n| match map.try_lock(&(n % 2)) {
                Ok(Some(mut pair)) => {
                    pair.0 += 1;
                    pair.1 += 1;
                    true
                }
                _ => false,
            });
            tried.count() as u64
        };
        let waits = || {
            (0..rounds).for_each(|n| {
                map.update(&(n % 2), |pair| {
                    pair.0 += 1;
                    pair.1 += 1;
                })
                .unwrap()
            });
            u64::from(rounds)
        };
        let reads = || {
            for n in 0..rounds {
                if let Ok(Some(pair)) = map.try_get(&(n % 2)) {
                    assert_eq!(pair.0, pair.1);
                }
                map.read(&(n % 2), |pair| assert_eq!(pair.0, pair.1));
            }
            0
        };
        let threads = [s.spawn(tries), s.spawn(waits), s.spawn(reads)];
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    });
    assert_eq!(map.values().map(|pair| pair.0).sum::<u64>(), made);
}

/// A key that changes its map when it is dropped, unless the map holds it.
struct Nosy {
    number: u32,
    is_given: bool,
    map: Arc<Nest>,
}

type Nest = OnceLock<ParHashMap<Nosy, Option<Nosy>>>;

thread_local! {
    static LOOKS: Cell<u32> = const { Cell::new(0) };
    /// Comparisons panic.
    static PICKY: Cell<bool> = const { Cell::new(false) };
    /// At the last of this many hashes, the key comes into the map.
    static RIVAL: Cell<u32> = const { Cell::new(0) };
    /// The last of this many clones panics.
    static CLONES: Cell<u32> = const { Cell::new(0) };
}

/// Counts down to 0. Says whether this was the last step.
fn is_last(count: &'static std::thread::LocalKey<Cell<u32>>) -> bool {
    count.replace(count.get().saturating_sub(1)) == 1
}

impl Nosy {
    fn new(number: u32, is_given: bool, map: &Arc<Nest>) -> Nosy {
        let map = map.clone();
        Nosy {
            number,
            is_given,
            map,
        }
    }

    fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Nosy {
    fn drop(&mut self) {
        if let Some(map) = self.map.get().filter(|_| self.is_given) {
            map.retain(|_, _| true);
            LOOKS.set(LOOKS.get() + 1);
        }
    }
}

impl Clone for Nosy {
    fn clone(&self) -> Nosy {
        assert!(!is_last(&CLONES), "on purpose");
        Nosy::new(self.number, true, &self.map)
    }
}

impl PartialEq for Nosy {
    fn eq(&self, other: &Nosy) -> bool {
        assert!(!PICKY.get(), "on purpose");
        self.number == other.number
    }
}

impl Eq for Nosy {}

impl std::hash::Hash for Nosy {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        if is_last(&RIVAL) {
            let map = self.map.get().unwrap();
            map.insert(Nosy::new(self.number, false, &self.map), None);
        }
        self.number.hash(state);
    }
}

impl std::borrow::Borrow<u32> for Nosy {
    fn borrow(&self) -> &u32 {
        assert!(!PICKY.get(), "on purpose");
        &self.number
    }
}

impl From<&u32> for Nosy {
    fn from(_: &u32) -> Nosy {
        panic!("on purpose")
    }
}

/// What a call does not need is dropped where nothing is locked: keys, values, and what closures own.
#[test]
fn what_is_not_needed_may_change_the_map() {
    let shared = Arc::new(Nest::new());
    let map = shared.get_or_init(ParHashMap::new);
    let key = |number| Nosy::new(number, true, &shared);
    map.insert(Nosy::new(1, false, &shared), None);
    let looks = |work: &dyn Fn()| {
        let before = LOOKS.get();
        work();
        LOOKS.get() - before
    };
    let panics =
        |work: &dyn Fn()| looks(&|| assert!(catch_unwind(AssertUnwindSafe(work)).is_err()));
    // A closure that owns a key.
    macro_rules! owns {
        ($key:expr, $closure:expr) => {{
            let key = key($key);
            move |value: &mut Option<Nosy>| {
                let _ = &key;
                $closure(value)
            }
        }};
    }
    // Where the key is there, and where it is not.
    assert_eq!(looks(&|| _ = map.insert(key(1), None)), 1);
    assert_eq!(looks(&|| drop(map.lock_entry(key(1)))), 1);
    assert_eq!(looks(&|| drop(map.lock_entry(key(2)))), 1);
    assert_eq!(looks(&|| drop(map.try_lock_entry(key(1)))), 1);
    assert_eq!(looks(&|| drop(map.try_lock_entry(key(2)))), 1);
    let upsert = |n| map.upsert(key(n), owned(key(8), None), |_| ());
    assert_eq!(looks(&|| assert!(!upsert(1))), 2);
    let kept = |_: Option<&mut Option<Nosy>>| Change::Keep;
    assert_eq!(looks(&|| assert!(map.compute(key(1), kept).is_none())), 1);
    assert_eq!(looks(&|| assert!(map.compute(key(2), kept).is_none())), 1);
    let update = |n: u32| map.update(&n, owns!(8, |_: &mut Option<Nosy>| ()));
    assert_eq!(looks(&|| assert!(update(2).is_none())), 1);
    let read = |n: u32, owner: Nosy| map.read(&n, move |_| owner.number());
    assert_eq!(looks(&|| assert_eq!(read(2, key(8)), None)), 1);
    let doomed = |n: u32, owner: Nosy| map.remove_if(&n, move |_, _| owner.number() == 0);
    assert_eq!(looks(&|| assert!(doomed(2, key(8)).is_none())), 1);
    let get = |n| map.get_or_insert_with(key(n), owned(key(8), None));
    assert_eq!(looks(&|| assert!(get(1).is_none())), 2);
    let modify = |n| {
        map.entry(key(n))
            .and_modify(owns!(8, |_: &mut Option<Nosy>| ()))
    };
    let refused = |n| modify(n).or_try_insert_with(|| Err(9)).map(drop);
    assert_eq!(looks(&|| assert_eq!(refused(2), Err(9))), 2);
    // Another thread is quicker, after the first look.
    RIVAL.set(2);
    assert_eq!(looks(&|| assert!(get(2).is_none())), 2);
    assert_eq!((RIVAL.get(), map.len()), (0, 2));
    map.remove(&2_u32);
    // A closure panics.
    let fails = || -> Option<Nosy> { panic!("on purpose") };
    let by_entry = || drop(modify(2).or_insert_with(fails));
    assert_eq!(panics(&by_entry), 2);
    let by_upsert = || _ = map.upsert(key(2), fails, owns!(8, |_: &mut Option<Nosy>| ()));
    assert_eq!(panics(&by_upsert), 2);
    // No key is made of a borrowed one: the value is there, but no entry.
    let by_value = || drop(map.entry_ref(&2_u32).or_insert(Some(key(8))));
    assert_eq!(panics(&by_value), 1);
    let by_modify = || {
        drop(
            map.entry_ref(&2_u32)
                .and_modify(owns!(8, |_: &mut Option<Nosy>| ()))
                .or_default(),
        )
    };
    assert_eq!(panics(&by_modify), 1);
    // Comparisons panic.
    PICKY.set(true);
    assert_eq!(panics(&|| drop(map.lock_entry(key(1)))), 1);
    assert_eq!(panics(&|| drop(map.try_lock_entry(key(1)))), 1);
    assert_eq!(panics(&|| _ = map.insert(key(1), Some(key(8)))), 2);
    assert_eq!(panics(&|| _ = upsert(1)), 2);
    assert_eq!(panics(&|| _ = map.compute(key(1), kept)), 1);
    assert_eq!(panics(&|| _ = update(1)), 1);
    assert_eq!(panics(&|| _ = get(1)), 2);
    assert_eq!(panics(&|| drop(modify(1).or_insert(Some(key(8))))), 3);
    assert_eq!(panics(&|| _ = read(1, key(8))), 1);
    assert_eq!(panics(&|| _ = doomed(1, key(8))), 1);
    PICKY.set(false);
    // A clone panics: the clones before it are dropped.
    map.insert(Nosy::new(2, false, &shared), None);
    for (nth, dropped) in [(1, 0), (2, 1)] {
        CLONES.set(nth);
        assert_eq!(panics(&|| _ = map.keys().count()), dropped);
        CLONES.set(nth);
        assert_eq!(panics(&|| _ = map.iter().count()), dropped);
    }
    assert_eq!(map.len(), 2);
    // The map holds itself.
    map.clear();
}

/// A closure that owns a key, and returns a value.
fn owned(key: Nosy, value: Option<Nosy>) -> impl FnOnce() -> Option<Nosy> {
    move || {
        drop(key);
        value
    }
}
