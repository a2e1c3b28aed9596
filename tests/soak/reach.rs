//! More actions of an actor, on top of loops: pipelines, readers, scans, tables, jobs that are stopped.
//!
//! Most of them use values that count themselves, with a fuse that may burn through in any closure: each value
//! that was made must be dropped once, whatever happens.

use crate::actions::{Action, Common, Random};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tine::iter::ParallelBridge;
use tine::prelude::*;
use tine::readers::{ParallelRead, over};
use tine::{First, ParHashMap, ParHashSet, ParVec, ReadMap, SortedVec, StopToken};

/// Name and function of each.
pub(crate) const REACH: &[(&str, Action)] = &[
    ("scans", scans),
    ("a pipeline", a_pipeline),
    ("a bridge in order", a_bridge_in_order),
    ("lines", lines),
    ("sorts of what owns its key", owned_sorts),
    ("liars", liars),
    ("changes of a slice", changes),
    ("distinct and most frequent", distinct_and_top),
    ("tables of joined rows", joined),
    ("aggregates", aggregates),
    ("a map for readers", a_map_for_readers),
    ("a vector of many pushers", pushers),
    ("sets", sets),
    ("a loop inside an entry", loop_in_entry),
    ("the first of two", first_of_two),
    ("deadlines", deadlines),
];

// ---- values that count themselves, and a fuse -----------------------------------------------------

/// The number of values, and the number of calls left until one unwinds.
struct Trial {
    alive: AtomicI64,
    left: AtomicI64,
}

/// A number that is counted, and owns memory.
struct Counted<'t>(Box<u32>, &'t Trial);

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        self.1.value(*self.0)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.alive.fetch_sub(1, Relaxed);
    }
}

impl Trial {
    fn value(&self, number: u32) -> Counted<'_> {
        self.alive.fetch_add(1, Relaxed);
        Counted(Box::new(number), self)
    }

    fn values(&self, numbers: &[u32]) -> Vec<Counted<'_>> {
        numbers.iter().map(|n| self.value(*n)).collect()
    }

    /// The number of a value, from a call that may unwind.
    fn key(&self, value: &Counted<'_>) -> u32 {
        self.burn();
        *value.0
    }

    /// A call that may unwind.
    fn burn(&self) {
        if self.left.fetch_sub(1, Relaxed) == 0 {
            // The hook, which would print a page each time, is not called.
            resume_unwind(Box::new("the fuse"));
        }
    }
}

/// Runs `act`, half of the time with a fuse that burns through within `calls` calls or not at all. Returns its
/// result, if there is one.
fn tried<R>(random: &mut Random, calls: usize, act: impl FnOnce(&Trial) -> R) -> Option<R> {
    let left = match random.below(2) {
        0 => i64::MAX,
        _ => random.below(calls as u64 * 2 + 1) as i64,
    };
    let trial = Trial {
        alive: AtomicI64::new(0),
        left: AtomicI64::new(left),
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| act(&trial)));
    assert_eq!(trial.alive.load(Relaxed), 0, "lost, or dropped twice");
    match outcome {
        Ok(result) => Some(result),
        Err(panic) => {
            let panic = panic.downcast::<&str>();
            let panic = panic.unwrap_or_else(|other| resume_unwind(other));
            assert_eq!(*panic, "the fuse");
            assert!(left < i64::MAX, "no fuse was set");
            None
        }
    }
}

/// If `act` gives a result, it must be `right`.
fn same<R: PartialEq + std::fmt::Debug>(ours: Option<R>, right: impl FnOnce() -> R) {
    if let Some(ours) = ours {
        assert_eq!(ours, right());
    }
}

// ---- scans and streams -------------------------------------------------------------------------

fn scans(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let ours = tried(random, numbers.len() * 2, |trial| {
        let values = trial.values(&numbers).into_par_iter();
        let sums = values.scan_inclusive(
            || trial.value(0),
            |a, b| {
                trial.burn();
                trial.value(a.0.wrapping_add(*b.0))
            },
        );
        sums.map(|sum| *sum.0).collect::<Vec<_>>()
    });
    same(ours, || {
        let mut sum = 0_u32;
        let add = |n: &u32| {
            sum = sum.wrapping_add(*n);
            sum
        };
        numbers.iter().map(add).collect()
    });
}

fn a_pipeline(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let limit = 1 + random.below(40) as usize;
    let bad = random.below(numbers.len() as u64 * 2 + 1) as usize;
    let ours = tried(random, numbers.len() * 3, |trial| {
        let mut sum = 0_u32;
        let source = trial.values(&numbers).into_iter();
        tine::pipeline(source, limit)
            .map(|value| {
                trial.burn();
                // A loop within a stage.
                let more = (0..*value.0 % 8).into_par_iter().sum::<u32>();
                (value, more)
            })
            .in_order(|(value, more)| {
                trial.burn();
                sum = sum.wrapping_add(*value.0);
                (value, sum ^ more)
            })
            .enumerate()
            .try_map(|(at, (value, mixed))| {
                trial.burn();
                if at == bad {
                    return Err(at);
                }
                Ok((value, mixed))
            })
            .filter(|(value, _)| *value.0 % 3 != 0)
            .map(|(value, mixed)| *value.0 ^ mixed)
            .collect::<Vec<_>>()
    });
    same(ours, || {
        let mut sum = 0_u32;
        let mut all = Vec::new();
        for (at, n) in numbers.iter().enumerate() {
            sum = sum.wrapping_add(*n);
            let more = (0..n % 8).sum::<u32>();
            if at == bad {
                return Err(at);
            }
            if n % 3 != 0 {
                all.push(n ^ sum ^ more);
            }
        }
        Ok(all)
    });
}

fn a_bridge_in_order(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let look_ahead = 1 + random.below(50) as usize;
    let ours = tried(random, numbers.len(), |trial| {
        let values = trial
            .values(&numbers)
            .into_iter()
            .par_bridge_ordered(look_ahead);
        let map = values.map(|value| {
            trial.burn();
            tine::join(|| *value.0 / 2, || *value.0 % 2)
        });
        map.collect::<Vec<_>>()
    });
    same(ours, || numbers.iter().map(|n| (n / 2, n % 2)).collect());
}

fn lines(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let text: String = numbers.iter().map(|n| format!("{n}\n")).collect();
    let ours = tried(random, numbers.len(), |trial| {
        let lines = over(&text).par_lines();
        let sums = lines.fold(
            || (trial.value(0), 0_u64),
            |(count, sum), line| {
                trial.burn();
                let number: u64 = line.parse().unwrap();
                (trial.value(*count.0 + 1), sum + number)
            },
        );
        let parts: Vec<_> = sums.collect().unwrap();
        let parts = parts.iter().map(|(count, sum)| (*count.0, *sum));
        parts.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    });
    same(ours, || {
        let sum = numbers.iter().map(|n| u64::from(*n)).sum();
        (numbers.len() as u32, sum)
    });
}

// ---- slices ------------------------------------------------------------------------------------

fn owned_sorts(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let kind = random.below(4);
    let calls = numbers.len() * 8;
    let ours = tried(random, calls, |trial| {
        let mut values = trial.values(&numbers);
        let key = |value: &Counted<'_>| trial.key(value);
        match kind {
            0 => values.par_sort_by_key(key),
            1 => values.par_sort_unstable_by_key(key),
            2 => values.par_sort_by_cached_key(|value| (key(value), format!("{:010}", value.0))),
            _ => values.par_sort_unstable_by(|a, b| key(a).cmp(&key(b))),
        }
        values.iter().map(|value| *value.0).collect::<Vec<_>>()
    });
    same(ours, || {
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        sorted
    });
}

/// Orders that contradict themselves: any answer is allowed, but the elements stay the same.
fn liars(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let kind = random.below(5);
    let ours = tried(random, numbers.len() * 8, |trial| {
        let count = AtomicU64::new(0);
        let lie = || count.fetch_add(1, Relaxed) as u32 % 5;
        let mut values = trial.values(&numbers);
        let key = |value: &Counted<'_>| trial.key(value) ^ lie();
        match kind {
            0 => values.par_sort_by_key(key),
            1 => values.par_sort_unstable_by_key(key),
            2 => values.par_sort_by(|a, b| key(a).cmp(&key(b))),
            3 => values.par_dedup_by_key(|value| key(value)),
            _ => {
                if !values.is_empty() {
                    let middle = values.len() / 2;
                    values.par_select_nth_unstable_by_key(middle, key);
                }
            }
        }
        let mut all: Vec<_> = values.iter().map(|value| *value.0).collect();
        all.sort_unstable();
        all
    });
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    match ours {
        Some(ours) if kind == 3 => assert!(ours.len() <= sorted.len()),
        ours => same(ours, || sorted),
    }
}

fn changes(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let by = random.below(numbers.len() as u64 + 1) as usize;
    let ours = tried(random, numbers.len() * 2, |trial| {
        let mut values = trial.values(&numbers);
        values.par_rotate_left(by);
        values.par_retain(|value| {
            trial.burn();
            *value.0 % 3 != 0
        });
        let (mut values, even) = values.par_partition_stable(|value| *value.0 % 2 == 1);
        assert!(even.iter().all(|value| *value.0 % 2 == 0));
        values.extend(even);
        values.par_reverse();
        let clones: Vec<_> = values.par_iter().cloned().collect();
        drop(values);
        clones.iter().map(|value| *value.0).collect::<Vec<_>>()
    });
    same(ours, || {
        let mut all = numbers.clone();
        all.rotate_left(by);
        all.retain(|n| n % 3 != 0);
        let (odd, even): (Vec<_>, Vec<_>) = all.into_iter().partition(|n| n % 2 == 1);
        odd.into_iter().chain(even).rev().collect()
    });
}

// ---- tables ------------------------------------------------------------------------------------

fn distinct_and_top(random: &mut Random, _: &Common) {
    let words: Vec<String> = random.numbers().iter().map(|n| format!("w{n}")).collect();
    let distinct = words.clone().into_par_iter().distinct();
    let mut seen = BTreeSet::new();
    let mut theirs = words.clone();
    theirs.retain(|word| seen.insert(word.clone()));
    assert_eq!(distinct, theirs);

    let mut counts: HashMap<&str, usize> = HashMap::new();
    words
        .iter()
        .for_each(|w| *counts.entry(w).or_default() += 1);
    let mut most: Vec<_> = counts.values().copied().collect();
    most.sort_unstable_by(|a, b| b.cmp(a));
    most.truncate(7);
    let top = words.par_iter().top_k_by_count(7, |word| (*word).clone());
    assert!(top.iter().map(|(_, count)| *count).eq(most));
    assert!(
        top.iter()
            .all(|(word, count)| counts[word.as_str()] == *count)
    );

    let ours = tried(random, words.len(), |trial| {
        let owned = words.par_iter().map(|word| {
            trial.burn();
            (word.clone(), trial.value(1))
        });
        let groups = owned.group_pairs();
        groups.iter().map(|(_, values)| values.len()).sum::<usize>()
    });
    same(ours, || words.len());
}

fn joined(random: &mut Random, _: &Common) {
    let small = |random: &mut Random| -> Vec<u32> {
        let len = random.below(400);
        (0..len).map(|_| random.below(200) as u32).collect()
    };
    let (left, right) = (small(random), small(random));
    let ours = tried(random, left.len() + right.len(), |trial| {
        let left = trial.values(&left).into_par_iter();
        let right = trial.values(&right).into_par_iter();
        let key = |value: &Counted<'_>| trial.key(value);
        let pairs = left.join_by(right, key, key).inner();
        let mut pairs: Vec<_> = pairs.iter().map(|(a, b)| (*a.0, *b.0)).collect();
        pairs.sort_unstable();
        pairs
    });
    same(ours, || {
        let mut pairs = Vec::new();
        for a in &left {
            pairs.extend(right.iter().filter(|b| a == *b).map(|b| (*a, *b)));
        }
        pairs.sort_unstable();
        pairs
    });
}

fn aggregates(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let keys = 1 + random.below(300) as u32;
    let ours = tried(random, numbers.len(), |trial| {
        let key = |n: &u32| {
            trial.burn();
            n % keys
        };
        let table = numbers.par_iter().copied().aggregate_by(key);
        let table = table.sum(|n| u64::from(*n)).min(|n| *n).max(|n| *n).count();
        table.finish().into_iter().collect::<BTreeMap<_, _>>()
    });
    same(ours, || {
        let mut all = BTreeMap::new();
        for n in &numbers {
            let (sum, least, most, count) = all.entry(n % keys).or_insert((0, *n, *n, 0));
            *sum += u64::from(*n);
            *least = (*least).min(*n);
            *most = (*most).max(*n);
            *count += 1;
        }
        all
    });
}

/// Values grow while readers look; a reader sees each value whole, and none twice.
fn a_map_for_readers(random: &mut Random, _: &Common) {
    let map = ReadMap::<u64, (u64, String)>::new();
    let keys = 1 + random.below(40);
    let rounds = random.below(5);
    tine::scope(|s| {
        for writer in 0..3 {
            let map = &map;
            s.spawn(move |_| {
                for round in 0..rounds {
                    for key in (0..keys).filter(|key| key % 3 == writer) {
                        map.insert(key, (round, format!("{key} {round}")));
                    }
                }
            });
        }
        (0..keys).into_par_iter().for_each(|key| {
            let whole = |(round, text): &(u64, String)| *text == format!("{key} {round}");
            assert!(map.read(&key, whole) != Some(false));
        });
    });
    let frozen = map.freeze();
    let full = if rounds == 0 { 0 } else { keys };
    assert_eq!(frozen.len() as u64, full);
    assert!(frozen.par_iter().all(|(_, (round, _))| round + 1 == rounds));
}

fn pushers(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let kind = random.below(3);
    let ours = tried(random, numbers.len(), |trial| {
        let vector = ParVec::new();
        numbers.par_chunks(37).for_each(|part| {
            let mut pusher = vector.pusher();
            for n in part {
                trial.burn();
                pusher.push(trial.value(*n));
            }
        });
        let mut all: Vec<_> = match kind {
            0 => vector.into_vec().iter().map(|value| *value.0).collect(),
            1 => vector.into_par_iter().map(|value| *value.0).collect(),
            _ => vector.par_iter().map(|value| *value.0).collect(),
        };
        all.par_sort_unstable();
        all
    });
    same(ours, || {
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        sorted
    });
}

fn sets(random: &mut Random, _: &Common) {
    let (left, right) = (random.numbers(), random.numbers());
    let of = |numbers: &[u32]| numbers.par_iter().copied().collect::<ParHashSet<u32>>();
    let theirs = |numbers: &[u32]| numbers.iter().copied().collect::<BTreeSet<u32>>();
    let (mut ours, also) = (of(&left), of(&right));
    let (a, b) = (theirs(&left), theirs(&right));
    let both: BTreeSet<u32> = ours
        .par_iter()
        .filter(|n| also.contains(*n))
        .map(|n| *n)
        .collect();
    assert_eq!(both, &a & &b);
    let sorted = SortedVec::from(left.clone()).merge(SortedVec::from(right.clone()));
    assert_eq!(
        sorted.range(10..100).len(),
        left.iter()
            .chain(&right)
            .filter(|n| (10..100).contains(*n))
            .count()
    );
}

/// A loop runs while the caller holds an entry of a map, and the loop's items want other maps.
fn loop_in_entry(random: &mut Random, _: &Common) {
    let map = ParHashMap::<u64, Vec<u64>>::new();
    let other = ParHashMap::<u64, u64>::new();
    let rounds = random.below(6);
    (0..rounds).into_par_iter().for_each(|round| {
        let mut entry = map.entry(round % 3).or_default();
        let items = (0..50_u64).into_par_iter().map(|n| {
            other.upsert(n, || 1, |count| *count += 1);
            n + round
        });
        entry.par_extend(items);
    });
    assert_eq!(
        map.iter().map(|(_, items)| items.len() as u64).sum::<u64>(),
        50 * rounds
    );
    assert!(other.iter().all(|(_, count)| count == rounds));
}

// ---- what is stopped ---------------------------------------------------------------------------

fn first_of_two(random: &mut Random, _: &Common) {
    let left = random.below(2) == 0;
    let len = random.below(2000);
    let quick = move || (0..len).into_par_iter().map(|n| n ^ 1).max();
    // It lets other jobs run in between: if jobs that never end had all threads of a pool, no other
    // job would ever begin.
    let slow = || {
        while !tine::stop::requested() {
            (0..100_u32)
                .into_par_iter()
                .for_each(|_| std::thread::yield_now());
            tine::yield_now();
        }
        None::<u64>
    };
    let found = match (left, tine::spawn_async(quick)) {
        (true, job) => match tine::select(job, tine::spawn_async(slow)).join() {
            First::Left(found) => found,
            First::Right(_) => panic!("what never ends was first"),
        },
        (false, job) => match tine::select(tine::spawn_async(slow), job).join() {
            First::Right(found) => found,
            First::Left(_) => panic!("what never ends was first"),
        },
    };
    assert_eq!(found.unwrap().unwrap(), (0..len).map(|n| n ^ 1).max());
}

/// Time runs out in the middle of anything; what was made is dropped, and finished parts are whole.
fn deadlines(random: &mut Random, common: &Common) {
    let token = StopToken::new().with_timeout(Duration::from_micros(random.below(1500)));
    let numbers = random.numbers();
    let kind = random.below(4);
    let pool = &common.pools[random.below(4) as usize];
    let done = Mutex::new(0);
    let ours = tried(random, numbers.len() * 4, |trial| {
        let all = tine::with_token(&token, || {
            let values = trial.values(&numbers);
            let double = |value: Counted<'_>| {
                trial.burn();
                *done.lock().unwrap() += 1;
                trial.value(value.0.wrapping_mul(2))
            };
            let mut values: Vec<_> = match kind {
                0 => values.into_par_iter().map(double).collect(),
                1 => pool.install(|| values.into_par_iter().map(double).collect()),
                2 => tine::pipeline(values, 20).map(double).collect(),
                _ => tine::blocking(|| values.into_par_iter().map(double).collect()),
            };
            values.par_sort_by_key(|value| *value.0);
            let sums = values.into_par_iter().map(|value| *value.0);
            sums.scan_inclusive(|| 0, u32::max).collect::<Vec<_>>()
        });
        all.ok()
    });
    assert!(*done.lock().unwrap() <= numbers.len());
    if let Some(None) = ours {
        assert!(token.is_stopped());
    }
    same(ours.flatten(), || {
        let mut all: Vec<_> = numbers.iter().map(|n| n.wrapping_mul(2)).collect();
        all.sort_unstable();
        all
    });
}
