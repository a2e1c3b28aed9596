//! Maps that are read without a lock: against std's, with threads, with readers that stay, with
//! panics.

#[path = "../../pool/tests/common/watched.rs"]
mod watched;

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, Ordering::SeqCst};
use std::sync::{Barrier, mpsc};
use std::thread;

use quickcheck::QuickCheck;
use tine_collections::{FrozenMap, ParHashMap, ReadMap};
use tine_iter::prelude::*;
use watched::watched;

#[test]
fn as_std_has_it() {
    fn agree(first: Vec<(u8, u16)>, changes: Vec<(u8, Option<u16>)>, at_once: bool) {
        let mut expected: HashMap<u8, u16> = first.iter().copied().collect();
        let map: ReadMap<u8, u16> = first.into_iter().collect();
        if at_once {
            map.publish(changes.clone());
        }
        for (key, value) in changes {
            let (before, found) = match value {
                Some(value) if at_once => (expected.insert(key, value), None),
                None if at_once => (expected.remove(&key), None),
                Some(value) => (expected.insert(key, value), Some(map.insert(key, value))),
                None => (expected.remove(&key), Some(map.remove(&key))),
            };
            assert!(found.is_none_or(|found| found == before));
        }
        assert_eq!(
            (map.len(), map.is_empty()),
            (expected.len(), expected.is_empty())
        );
        for key in 0..=255 {
            assert_eq!(map.get_cloned(&key), expected.get(&key).copied());
            assert_eq!(map.contains_key(&key), expected.contains_key(&key));
        }
        let mut walked = HashMap::new();
        map.for_each(|&key, &value| assert_eq!(walked.insert(key, value), None));
        assert_eq!(walked, expected);
        assert_eq!(map.freeze(), expected);
    }
    QuickCheck::new()
        .tests(100)
        .quickcheck(agree as fn(Vec<(u8, u16)>, Vec<(u8, Option<u16>)>, bool));
}

#[test]
fn large_publications() {
    let _watch = watched();
    let count = if cfg!(miri) { 300 } else { 50_000_u64 };
    let map = ReadMap::new();
    map.publish((0..count).into_par_iter().map(|i| (i.to_string(), Some(i))));
    assert_eq!(map.len() as u64, count);
    // If a key is changed several times, the last change counts.
    let changes = (0..3 * count).into_par_iter().map(|i| {
        let value = (i >= 2 * count && i % 2 == 0).then_some(i);
        ((i % count).to_string(), value)
    });
    map.publish(changes);
    let frozen: FrozenMap<String, u64> = map.freeze();
    assert_eq!(frozen.len() as u64, count / 2);
    assert!(
        frozen
            .iter()
            .all(|(key, value)| key.parse::<u64>() == Ok(value % count))
    );
}

/// Two threads add to one counter each, in one part or in several; readers see counters that only grow. A
/// replaced table that came back, or a lost change, would show.
#[test]
fn no_change_is_lost() {
    let _watch = watched();
    let rounds = if cfg!(miri) { 20 } else { 2_000_u64 };
    let map: ReadMap<u64, u64> = (0..8).map(|key| (key, 0)).collect();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut last = [0; 8];
                    while !done.load(SeqCst) {
                        for key in 0..8 {
                            let now = map.get_cloned(&key).expect("never removed");
                            assert!(now >= last[key as usize]);
                            last[key as usize] = now;
                        }
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let map = &map;
                scope.spawn(move || {
                    for round in 1..=rounds {
                        (writer..8).step_by(2).for_each(|key| {
                            map.insert(key, round);
                        });
                        map.insert(100 + writer, round);
                        assert_eq!(map.remove(&(100 + writer)), Some(round));
                    }
                })
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, SeqCst);
        written.into_iter().for_each(|result| result.unwrap());
        readers
            .into_iter()
            .for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(map.len(), 8);
    assert!((0..8).all(|key| map.get_cloned(&key) == Some(rounds)));
}

static ALIVE: AtomicIsize = AtomicIsize::new(0);

#[derive(Debug, PartialEq)]
struct Counted(u64);

impl Counted {
    fn new(n: u64) -> Self {
        ALIVE.fetch_add(1, SeqCst);
        Counted(n)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

/// A reader that does not leave keeps only the table that it looks at, whatever is published.
#[test]
fn a_reader_that_stays_keeps_one_table() {
    let _watch = watched();
    let entries = 64;
    let map: ReadMap<u64, Counted> = (0..entries).map(|key| (key, Counted::new(0))).collect();
    assert_eq!(ALIVE.load(SeqCst), entries as isize);
    let (inside, entered) = mpsc::channel();
    let (leave, left) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let map = &map;
        let reader = scope.spawn(move || {
            map.read(&0, |value| {
                inside.send(()).unwrap();
                left.recv().unwrap();
                value.0
            })
        });
        entered.recv().unwrap();
        for round in 1..200 {
            map.publish(
                (0..entries)
                    .map(|key| (key, Some(Counted::new(round))))
                    .collect::<Vec<_>>(),
            );
            // The map's own tables, and at most one more.
            assert!(ALIVE.load(SeqCst) <= 2 * entries as isize);
        }
        assert!(
            ALIVE.load(SeqCst) > entries as isize,
            "the reader's table is kept"
        );
        leave.send(()).unwrap();
        assert_eq!(
            reader.join().unwrap(),
            Some(0),
            "what is looked at does not change"
        );
    });
    assert_eq!(ALIVE.load(SeqCst), entries as isize);
    // From inside a read, all is allowed.
    let old = map.read(&1, |value| map.insert(1, Counted::new(value.0 + 1)));
    assert_eq!(old.flatten().map(|old| old.0), Some(199));
    let seen = map.read(&1, |value| map.read(&2, |other| value.0 - other.0));
    assert_eq!(seen.flatten(), Some(1));
    drop(map);
    assert_eq!(ALIVE.load(SeqCst), 0);
}

static COUNTDOWN: AtomicU64 = AtomicU64::new(u64::MAX);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Touchy(u64);

impl Hash for Touchy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let left = COUNTDOWN.fetch_sub(1, SeqCst);
        assert!(left != 0, "on purpose");
        self.0.hash(state);
    }
}

/// A hash that panics while a table grows: the map is as it was.
#[test]
fn panics_change_nothing() {
    let count = if cfg!(miri) { 20 } else { 2_000 };
    let map: ReadMap<Touchy, u64> = (0..count).map(|key| (Touchy(key), key)).collect();
    let mut panicked = 0;
    for at in 0..12 {
        for key in count..count + 40 {
            COUNTDOWN.store(at, SeqCst);
            let result = catch_unwind(AssertUnwindSafe(|| map.insert(Touchy(key), key)));
            COUNTDOWN.store(u64::MAX, SeqCst);
            if result.is_err() {
                panicked += 1;
                assert_eq!(map.get_cloned(&Touchy(key)), None);
            } else {
                map.remove(&Touchy(key));
            }
        }
    }
    assert!(panicked > 40, "a growing table hashes");
    assert_eq!(map.len() as u64, count);
    assert!((0..count).all(|key| map.get_cloned(&Touchy(key)) == Some(key)));
}

#[test]
fn from_all_kinds_of_maps() {
    let _watch = watched();
    for count in [0, 1, 10, 30_000_u64] {
        if cfg!(miri) && count > 10 {
            continue;
        }
        let map: ParHashMap<u64, u64> = (0..count).map(|i| (i, i)).collect();
        let map = ReadMap::from(map.freeze());
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                (0..20).for_each(|i| {
                    map.insert(i, i);
                });
            });
            barrier.wait();
            assert!((20..count).all(|i| map.contains_key(&i)));
        });
        assert_eq!(map.freeze().thaw().len() as u64, count.max(20));
    }
}
