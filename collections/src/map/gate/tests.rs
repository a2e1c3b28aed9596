//! Gates of whole maps: when they open, whom they keep out, and what a reader sees.

use super::{EPOCH, FENCES, OPEN, PHASE, REST, RISING, SHUT, STREAK, micros};
use crate::map::records::{LOOKS, mine, registry};
use crate::map::{ParHashMap, Ref};
use crate::parts::{breadth, part_of};
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

type Map = ParHashMap<u32, (u32, u32)>;

/// A map of the keys below `keys`, in a table or in shards, each with a number and the same number.
fn map(keys: u32, wide: bool) -> Map {
    let map = Map::with_capacity(if wide { 5000 } else { 0 });
    for key in 0..keys {
        map.insert(key, (0, 0));
    }
    map
}

/// Whether they do in this build and on this system.
fn gates_open() -> bool {
    usize::BITS == 64 && (registry().is_light() || FENCES)
}

fn phase(map: &Map) -> usize {
    map.shards.gate.state.load(Ordering::Relaxed) & PHASE
}

fn is_open(map: &Map) -> bool {
    phase(map) == OPEN
}

/// Reads one key until the gate is open. False where no gate opens.
fn open(map: &Map) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..=STREAK {
            assert_eq!(map.read(&0, |pair| pair.0 == pair.1), Some(true));
        }
        let opens = gates_open();
        // Instead, the gates of other tests may have had their turn.
        if is_open(map) || !opens || start.elapsed() > Duration::from_secs(60) {
            assert_eq!(is_open(map), opens);
            break;
        }
        thread::sleep(Duration::from_millis(1));
    }
    is_open(map)
}

#[test]
fn reads_open_and_a_writer_shuts() {
    for wide in [false, true] {
        let map = map(10, wide);
        assert!(!is_open(&map));
        if open(&map) {
            assert_eq!(map.len(), 10);
            assert!(map.get(&3).is_some() && is_open(&map));
            map.update(&3, |pair| *pair = (1, 1));
            assert!(!is_open(&map));
            assert_eq!(map.get_cloned(&3), Some((1, 1)));
        }
    }
}

/// A writer that shuts the gate has not waited for another thread: a small map stays one table.
#[test]
fn shutting_does_not_widen() {
    let map = map(10, false);
    open(&map);
    map.insert(11, (1, 1));
    assert!(!map.shards.is_wide());
}

/// Maps share what barriers cost: many that are read for a short while do not each have their own.
#[test]
fn maps_open_one_after_another() {
    let (start, mut opened) = (micros(), 0);
    for _ in 0..500 {
        let map = map(1, false);
        (0..=STREAK).for_each(|_| assert!(map.contains_key(&0)));
        opened += usize::from(is_open(&map));
    }
    // Each opening is followed by a rest of at least this length.
    assert!(
        FENCES || opened <= 2 + (micros() - start) / REST,
        "{opened}"
    );
}

/// Nobody is let in while the gate rises, so a writer needs no barrier, which may have been refused just now.
#[test]
fn a_writer_while_the_gate_rises() {
    let map = map(10, false);
    map.shards.gate.state.store(RISING, Ordering::Relaxed);
    map.update(&3, |pair| *pair = (1, 1));
    let gate = &map.shards.gate;
    assert_eq!(gate.state.load(Ordering::Relaxed), SHUT + EPOCH);
    assert_eq!(gate.rest.load(Ordering::Relaxed), 0, "no barrier was timed");
}

thread_local! {
    static KEPT: Cell<Option<Late>> = const { Cell::new(None) };
}

/// A guard that outlives the record of its thread, and how far the test is.
struct Late(Ref<'static, u32, (u32, u32)>, &'static AtomicUsize);

/// Relaxed, so that only the gate orders what the threads do.
fn await_step(step: &AtomicUsize, nth: usize) {
    while step.load(Ordering::Relaxed) < nth {
        thread::yield_now();
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        self.1.store(1, Ordering::Relaxed);
        await_step(self.1, 2);
        assert_eq!(*self.0, (0, 0));
    }
}

/// A thread ends with a guard, and another reads meanwhile: not by the record that the first has left, whose first slot
/// names what the guard keeps. Once the guard is gone, a third thread takes that record, and a writer that sees only
/// what the third announces has to come after the first nevertheless.
#[test]
fn a_guard_that_outlives_its_record() {
    static MAPS: LazyLock<[Map; 2]> = LazyLock::new(|| [map(10, false), map(10, false)]);
    static STEP: AtomicUsize = AtomicUsize::new(0);
    let ([first, second], step) = (&*MAPS, &STEP);
    open(first);
    open(second);
    let ends = thread::spawn(|| {
        // Set before the thread has its record, so that it is dropped after the record.
        KEPT.set(None);
        KEPT.set(first.get(&0).map(|guard| Late(guard, step)));
    });
    await_step(step, 1);
    let follows = thread::spawn(|| (0..3).for_each(|_| assert!(second.get(&0).is_some())));
    follows.join().unwrap();
    let writer = thread::spawn(|| {
        first.update(&0, |pair| *pair = (1, 1));
    });
    thread::sleep(Duration::from_millis(20));
    assert!(!writer.is_finished(), "it ran over the guard");
    step.store(2, Ordering::Relaxed);
    let third = thread::spawn(|| {
        // Takes the record, as soon as it is free.
        for _ in 0..50 {
            thread::yield_now();
        }
        let guard = second.get(&0);
        step.store(3, Ordering::Relaxed);
        await_step(step, 4);
        drop(guard);
    });
    await_step(step, 3);
    writer.join().unwrap();
    step.store(4, Ordering::Relaxed);
    third.join().unwrap();
    ends.join().unwrap();
    assert_eq!(first.get_cloned(&0), Some((1, 1)));
}

/// What one thread holds keeps writers of that shard out, and of no other.
#[test]
fn a_guard_keeps_its_shard() {
    let map = map(1000, true);
    open(&map);
    let (done, is_done) = channel();
    let guard = map.get(&0).unwrap();
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            map.update(&0, |pair| *pair = (1, 1));
            done.send(()).unwrap();
        });
        // Other shards first, so that the gate is known to be shut; in the shard of `0` the writer would wait.
        let others = scope.spawn(|| {
            let shard = |key: u32| part_of(map.hash(&key), breadth());
            let others = (0..1000).filter(|&key| shard(key) != shard(0));
            for key in others {
                map.insert(key, (2, 2));
            }
        });
        others.join().unwrap();
        assert!(is_done.recv_timeout(Duration::from_millis(20)).is_err());
        assert_eq!(*guard, (0, 0));
        // The waiting thread must not keep this thread from reading again.
        assert_eq!(map.get_cloned(&0), Some((0, 0)));
        drop(guard);
        writer.join().unwrap();
    });
    assert_eq!(map.get_cloned(&0), Some((1, 1)));
}

/// While a guard is kept, the slots of all threads are looked at once for each shard; once it is left, no longer.
#[test]
fn one_look_for_each_shard_under_a_guard() {
    for forgotten in [false, true] {
        let map = map(1000, true);
        if !open(&map) {
            return;
        }
        let (shard, before) = (|key: u32| part_of(map.hash(&key), breadth()), LOOKS.get());
        let others: Vec<u32> = (0..1000).filter(|&key| shard(key) != shard(0)).collect();
        thread::scope(|scope| {
            // If a check fails, the reader may leave.
            let (leave, is_left) = channel::<()>();
            let (stay, stays) = channel();
            let map = &map;
            let reader = scope.spawn(move || {
                let guard = map.get(&0);
                stay.send(()).unwrap();
                let _ = is_left.recv();
                match forgotten {
                    true => mem::forget(guard),
                    false => drop(guard),
                }
            });
            stays.recv().unwrap();
            for _ in 0..10 {
                for &key in &others {
                    map.update(&key, |pair| *pair = (1, 1));
                }
            }
            let mut shards: Vec<usize> = others.iter().map(|&key| shard(key)).collect();
            shards.sort_unstable();
            shards.dedup();
            assert_eq!(LOOKS.get() - before, shards.len());
            leave.send(()).unwrap();
            reader.join().unwrap();
        });
        // The reader has said that it left; no writer came.
        assert_eq!(phase(&map) == SHUT, !forgotten);
        if !forgotten {
            assert!(open(&map));
            map.update(&0, |pair| *pair = (1, 1));
            assert!(phase(&map) == SHUT);
        }
    }
}

/// More guards than a thread has slots, put back in any order, and some never.
#[test]
fn more_guards_than_slots() {
    let maps: Vec<_> = (0..9).map(|nth| map(10, nth % 2 == 0)).collect();
    for map in &maps {
        open(map);
    }
    let mut guards: Vec<_> = maps.iter().map(|map| map.get(&1).unwrap()).collect();
    while guards.len() > 3 {
        drop(guards.swap_remove(guards.len() / 2));
    }
    guards.into_iter().for_each(mem::forget);
    thread::scope(|scope| {
        scope.spawn(|| {
            let all = maps.iter().map(|map| map.get_cloned(&1));
            assert_eq!(all.flatten().count(), 9);
        });
    });
    // Other maps at the same places.
    drop(maps);
    for nth in 0..9 {
        let map = map(10, nth % 2 == 0);
        open(&map);
        map.update(&1, |pair| *pair = (1, 1));
        assert_eq!(map.get_cloned(&1), Some((1, 1)));
    }
}

/// Gates that open and shut while many read and write: no reader sees half of a write, and no write is lost.
#[test]
fn opening_and_shutting_under_readers() {
    const KEYS: u32 = 8;
    let (rounds, writes) = if cfg!(miri) { (2, 6) } else { (100, 40) };
    let (mut opened, begun) = (0, Instant::now());
    for round in 0..rounds {
        // Next to other processes, a thread that yields may wait for milliseconds each time: then fewer rounds
        // are enough.
        if begun.elapsed() > Duration::from_secs(10) && (opened > 0 || !gates_open()) {
            break;
        }
        let map = map(KEYS, round % 2 == 0);
        let (end, seen) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for thread in 0..2 {
                let (map, end, seen) = (&map, &end, &seen);
                scope.spawn(move || {
                    for nth in 0.. {
                        let key = (nth + thread) % KEYS;
                        let pair = map.get(&key).unwrap();
                        assert_eq!(pair.0, pair.1);
                        if nth % 16 == 0 {
                            // A read inside a read, in another shard.
                            assert_eq!(map.read(&(KEYS - 1), |pair| pair.0 == pair.1), Some(true));
                            thread::yield_now();
                            assert_eq!(pair.0, pair.1);
                        }
                        drop(pair);
                        if is_open(map) {
                            seen.fetch_max(1, Ordering::Relaxed);
                        }
                        if nth % 64 == 0 && end.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
            }
            let writers: Vec<_> = (0..2)
                .map(|thread| {
                    let map = &map;
                    scope.spawn(move || {
                        (0..writes).for_each(|nth| {
                            map.update(&((nth + thread) % KEYS), |pair| {
                                pair.0 += 1;
                                thread::yield_now();
                                pair.1 += 1;
                            });
                            (0..nth * 4 % 64).for_each(|_| thread::yield_now());
                        });
                    })
                })
                .collect();
            writers
                .into_iter()
                .for_each(|writer| writer.join().unwrap());
            end.store(true, Ordering::Relaxed);
        });
        opened += seen.into_inner();
        let mut sum = 0;
        map.for_each(|_, pair| sum += pair.0);
        assert_eq!(sum, 2 * writes);
    }
    assert!(opened > 0 || !gates_open(), "no gate opened");
}

/// A reader that panics is out again.
#[test]
fn a_reader_that_panics() {
    let map = map(10, false);
    open(&map);
    thread::scope(|scope| {
        let reader = scope.spawn(|| map.read(&0, |_| panic!("as it is meant to")));
        assert!(reader.join().is_err());
    });
    map.update(&0, |pair| *pair = (1, 1));
    assert_eq!(map.get_cloned(&0), Some((1, 1)));
}

/// Whether this thread reads nothing, as far as others see.
fn names_nothing() -> bool {
    let record = mine().expect("a record");
    record
        .shards
        .iter()
        .all(|slot| slot.load(Ordering::Relaxed) == 0)
}

/// Maps that are read inside each other's closures and under each other's guards, in any order of leaving.
#[test]
fn maps_inside_of_each_other() {
    for wide in [false, true] {
        let [first, second] = [map(10, wide), map(10, !wide)];
        open(&first);
        open(&second);
        let writes = |map: &Map| panic::catch_unwind(AssertUnwindSafe(|| map.insert(0, (5, 5))));
        for _ in 0..3 {
            // A guard that leaves the closure of another map, and outlives the notes of that map.
            let guard = first.read(&0, |_| {
                assert_eq!(second.get_cloned(&1), Some((0, 0)));
                assert_eq!(first.get_cloned(&1), Some((0, 0)));
                assert!(writes(&first).is_err());
                second.get(&2)
            });
            assert!(guard.is_some() && names_nothing() != gates_open());
            assert!(writes(&second).is_err());
            assert_eq!(first.read(&3, |_| second.contains_key(&99)), Some(false));
            drop(guard);
            assert!(names_nothing());
            // Both are free for other threads and for this thread.
            thread::scope(|scope| {
                scope.spawn(|| [&first, &second].map(|map| map.update(&0, |pair| *pair = (0, 0))));
            });
            assert!(writes(&first).is_ok() && writes(&second).is_ok());
            open(&first);
            open(&second);
        }
    }
}

/// A key that compares itself only as often as it is allowed to.
#[derive(Debug)]
struct Sly(u32);

thread_local! {
    static ALLOWED: Cell<u32> = const { Cell::new(u32::MAX) };
}

impl Hash for Sly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ALLOWED.with(|allowed| assert!(allowed.get() != 1, "as it is meant to"));
        self.0.hash(state);
    }
}

impl PartialEq for Sly {
    fn eq(&self, other: &Self) -> bool {
        ALLOWED.with(|allowed| assert!(allowed.get() != 0, "as it is meant to"));
        self.0 == other.0
    }
}

impl Eq for Sly {}

/// Whatever of the user's code panics in a read: the thread is out again.
#[test]
fn code_that_panics_in_a_read() {
    for wide in [false, true] {
        let map: ParHashMap<Sly, (u32, u32)> =
            ParHashMap::with_capacity(if wide { 5000 } else { 0 });
        map.insert(Sly(0), (0, 0));
        let start = Instant::now();
        while gates_open() && map.shards.gate.state.load(Ordering::Relaxed) & PHASE != OPEN {
            (0..=STREAK).for_each(|_| assert!(map.contains_key(&Sly(0))));
            assert!(start.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(1));
        }
        for allowed in [0, 1] {
            let panics = |read: &dyn Fn()| {
                ALLOWED.set(allowed);
                let outcome = panic::catch_unwind(AssertUnwindSafe(read));
                ALLOWED.set(u32::MAX);
                assert!(outcome.is_err() && names_nothing());
            };
            panics(&|| _ = map.contains_key(&Sly(0)));
            panics(&|| _ = map.get(&Sly(0)));
            panics(&|| _ = map.read(&Sly(0), |_| ()));
        }
        map.insert(Sly(0), (1, 1));
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(map.insert(Sly(0), (2, 2)), Some((1, 1))));
        });
    }
}
