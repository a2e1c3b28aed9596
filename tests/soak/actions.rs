//! The actions of an actor. Each knows its right result, and checks it.

use crate::watch::Painter;
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tine::prelude::*;
use tine::{ParHashMap, ParVec, ThreadPool, ThreadPoolBuilder};

pub(crate) type Action = fn(&mut Random, &Common);

/// Name and function of each.
pub(crate) const ACTIONS: &[(&str, Action)] = &[
    ("joins", joins),
    ("a scope", a_scope),
    ("a scope in order", a_scope_in_order),
    ("spawns", spawns),
    ("handles", handles),
    ("a broadcast", a_broadcast),
    ("indexed loops", indexed_loops),
    ("unindexed loops", unindexed_loops),
    ("text", text),
    ("a bridge", a_bridge),
    ("stable sorts", stable_sorts),
    ("unstable sorts", unstable_sorts),
    ("a map of one's own", own_map),
    ("the common map", common_map),
    ("the common vector", common_vector),
    ("grouping", grouping),
    ("blocking", blocking),
    ("a lock across a call", lock_across_a_call),
    ("panics", panics),
    ("tokens", tokens),
    ("pools that come and go", pools),
];

/// What all actors share.
pub(crate) struct Common {
    pub(crate) pools: [ThreadPool; 4],
    map: ParHashMap<u64, u64>,
    /// What was added to the map and pushed to the vector.
    added: AtomicU64,
    vector: ParVec<u64>,
    pushed: AtomicU64,
    lock: Mutex<u64>,
}

impl Common {
    pub(crate) fn new(pools: [ThreadPool; 4]) -> Self {
        Self {
            pools,
            map: ParHashMap::new(),
            added: AtomicU64::new(0),
            vector: ParVec::new(),
            pushed: AtomicU64::new(0),
            lock: Mutex::new(0),
        }
    }

    pub(crate) fn painters(&self) -> Vec<Painter> {
        let painter = |pool: &ThreadPool| -> Painter { Box::new(pool.painter()) };
        self.pools.iter().map(painter).collect()
    }

    /// No value that was put in may be missing or doubled.
    pub(crate) fn check(self) {
        let sum: u64 = self.map.iter().map(|(_, count)| count).sum();
        assert_eq!(sum, self.added.into_inner());
        assert_eq!(self.vector.len() as u64, self.pushed.into_inner());
    }
}

/// Random numbers that follow from a seed.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn split(&mut self) -> Self {
        Self::new(self.next())
    }

    /// A length: mostly small, now and then large.
    fn length(&mut self) -> usize {
        let most = [10, 100, 1000, 5000][self.below(4) as usize];
        self.below(most) as usize
    }

    pub(crate) fn numbers(&mut self) -> Vec<u32> {
        let mask = [0xf, 0xff, 0xffff, u32::MAX][self.below(4) as usize];
        (0..self.length())
            .map(|_| self.next() as u32 & mask)
            .collect()
    }
}

// ---- the verbs ------------------------------------------------------------------------------

fn joins(random: &mut Random, _: &Common) {
    fn sum(low: u64, high: u64) -> u64 {
        if high - low < 2 {
            return low;
        }
        let middle = low + (high - low) / 2;
        let (a, b) = tine::join(|| sum(low, middle), || sum(middle, high));
        a + b
    }
    let count = 1 + random.below(500);
    assert_eq!(sum(0, count), count * (count - 1) / 2);
}

/// A computation of every kind of call, stopped from anywhere at any time, with nothing lost.
fn tokens(random: &mut Random, common: &Common) {
    struct Counted<'c>(&'c AtomicU64);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Relaxed);
        }
    }
    let token = tine::StopToken::new();
    let (calls, alive) = (AtomicU64::new(0), AtomicU64::new(0));
    let at = random.below(3000);
    let item = || {
        if calls.fetch_add(1, Relaxed) == at {
            token.stop();
        }
        alive.fetch_add(1, Relaxed);
        Counted(&alive)
    };
    let pool = &common.pools[random.below(4) as usize];
    let result = tine::with_token(&token, || {
        let loops = || (0..500).into_par_iter().map(|_| item()).collect::<Vec<_>>();
        let here = tine::join(loops, || {
            tine::scope(|s| (0..20).for_each(|_| s.spawn(|_| drop(item()))));
            let mut some: Vec<_> = (0..700_u32).rev().map(|n| (n, item())).collect();
            some.par_sort_by_key(|(n, _)| *n);
            some
        });
        (here, pool.install(loops))
    });
    assert!(result.is_ok() || token.is_stopped());
    drop(result);
    assert_eq!(alive.into_inner(), 0);
}

fn a_scope(random: &mut Random, _: &Common) {
    let (outer, inner) = (random.below(20), random.below(10));
    let done = AtomicU64::new(0);
    tine::scope(|s| {
        for _ in 0..outer {
            s.spawn(|s| {
                for _ in 0..inner {
                    s.spawn(|_| add_one(&done));
                }
            });
        }
    });
    assert_eq!(done.into_inner(), outer * inner);
}

fn add_one(count: &AtomicU64) {
    count.fetch_add(1, Relaxed);
}

fn a_scope_in_order(random: &mut Random, _: &Common) {
    let count = random.below(50);
    let seen = Mutex::new(Vec::new());
    tine::scope_fifo(|s| {
        for n in 0..count {
            let seen = &seen;
            s.spawn_fifo(move |_| seen.lock().unwrap().push(n));
        }
    });
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..count));
}

fn spawns(random: &mut Random, _: &Common) {
    let (send, receive) = mpsc::channel();
    let count = random.below(30);
    for n in 0..count {
        let send = send.clone();
        let job = move || send.send(n).unwrap();
        if n % 3 == 0 {
            tine::spawn_fifo(job);
        } else {
            tine::spawn(job);
        }
    }
    drop(send);
    // A worker that waits outside tine says so. Otherwise there might be no thread left to run
    // them.
    let sum: u64 = tine::blocking(|| receive.iter().sum());
    assert_eq!(sum, (0..count).sum());
}

fn handles(random: &mut Random, _: &Common) {
    let count = random.below(20);
    let handles: Vec<_> = (0..count)
        .map(|n| tine::spawn_join(move || (0..n).into_par_iter().sum::<u64>()))
        .collect();
    for (n, handle) in (0..).zip(handles) {
        assert_eq!(handle.join().unwrap(), (0..n).sum());
    }
}

fn a_broadcast(random: &mut Random, _: &Common) {
    if random.below(4) > 0 {
        return;
    }
    let count = tine::current_num_threads();
    let all = tine::broadcast(|context| context.index());
    assert!(all.into_iter().eq(0..count));
}

// ---- loops ----------------------------------------------------------------------------------

fn indexed_loops(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let doubled: Vec<_> = numbers.par_iter().map(|n| u64::from(*n) * 2).collect();
    assert!(
        doubled.iter().eq(numbers
            .iter()
            .map(|n| u64::from(*n) * 2)
            .collect::<Vec<_>>()
            .iter())
    );
    let sum: u64 = doubled
        .par_iter()
        .zip(&numbers)
        .map(|(a, b)| a - u64::from(*b))
        .sum();
    assert_eq!(sum, numbers.iter().map(|n| u64::from(*n)).sum());
    let mut changed = numbers.clone();
    changed
        .par_chunks_mut(7)
        .enumerate()
        .for_each(|(at, chunk)| chunk.fill(at as u32));
    assert!(
        changed
            .iter()
            .enumerate()
            .all(|(at, n)| *n as usize == at / 7)
    );
    let place = numbers.par_iter().position_first(|n| n % 16 == 5);
    assert_eq!(place, numbers.iter().position(|n| n % 16 == 5));
}

fn unindexed_loops(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let odd: Vec<_> = numbers
        .par_iter()
        .filter(|n| *n % 2 == 1)
        .map(Box::new)
        .collect();
    assert!(
        odd.into_iter()
            .eq(numbers.iter().filter(|n| *n % 2 == 1).map(Box::new))
    );
    let some = numbers.par_iter().find_any(|n| *n % 4 == 3);
    assert_eq!(some.is_some(), numbers.iter().any(|n| n % 4 == 3));
    let counted = numbers
        .par_iter()
        .fold(|| 0, |count, _| count + 1)
        .sum::<usize>();
    assert_eq!(counted, numbers.len());
    let all = numbers.par_iter().flat_map_iter(|n| 0..n % 4).count();
    assert_eq!(all, numbers.iter().map(|n| (n % 4) as usize).sum());
}

fn text(random: &mut Random, _: &Common) {
    let words = ["a", "fork", "\n", "  ", "\u{e9}t\u{e9}", ","];
    let count = random.below(200);
    let text: String = (0..count)
        .map(|_| words[random.below(6) as usize])
        .collect();
    let ours: Vec<_> = text.par_split(',').collect();
    assert!(ours.into_iter().eq(text.split(',')));
    let ours: Vec<_> = text.par_split_whitespace().collect();
    assert!(ours.into_iter().eq(text.split_whitespace()));
}

fn a_bridge(random: &mut Random, _: &Common) {
    let count = random.below(300);
    let sum: u64 = (0..count).par_bridge().map(|n| n * 2).sum();
    assert_eq!(sum, (0..count).map(|n| n * 2).sum());
}

// ---- sorts ----------------------------------------------------------------------------------

fn stable_sorts(random: &mut Random, _: &Common) {
    let mut pairs: Vec<_> = random.numbers().into_iter().enumerate().collect();
    let mut wanted = pairs.clone();
    wanted.sort_by_key(|(_, n)| *n);
    match random.below(3) {
        0 => pairs.par_sort_by_key(|(_, n)| *n),
        1 => pairs.par_sort_by(|(_, a), (_, b)| a.cmp(b)),
        _ => pairs.par_sort_by_cached_key(|(_, n)| format!("{n:010}")),
    }
    assert_eq!(pairs, wanted);
}

fn unstable_sorts(random: &mut Random, _: &Common) {
    let mut numbers = random.numbers();
    let mut wanted = numbers.clone();
    wanted.sort_unstable();
    match random.below(3) {
        0 => numbers.par_sort_unstable(),
        1 => numbers.par_sort_unstable_by(|a, b| a.cmp(b)),
        _ => numbers.par_sort(),
    }
    assert_eq!(numbers, wanted);
}

// ---- collections ----------------------------------------------------------------------------

fn own_map(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let ours: ParHashMap<_, _> = numbers.par_iter().map(|n| (n % 100, n / 100)).collect();
    let theirs: HashMap<_, _> = numbers.iter().map(|n| (n % 100, n / 100)).collect();
    assert_eq!(ours.len(), theirs.len());
    assert!(
        theirs
            .iter()
            .all(|(key, value)| ours.get_cloned(key) == Some(*value))
    );
}

fn common_map(random: &mut Random, common: &Common) {
    let keys: Vec<_> = (0..random.below(300)).map(|_| random.below(64)).collect();
    common.added.fetch_add(keys.len() as u64, Relaxed);
    keys.par_iter().for_each(|key| {
        common.map.upsert(*key, || 1, |count| *count += 1);
    });
    // What is taken out is put back under another key.
    if let Some(count) = common.map.remove(&random.below(64)) {
        common
            .map
            .upsert(64 + random.below(64), || count, |sum| *sum += count);
    }
    assert!(common.map.len() <= 128);
}

fn common_vector(random: &mut Random, common: &Common) {
    let count = random.below(100);
    common.pushed.fetch_add(count, Relaxed);
    (0..count).into_par_iter().for_each(|n| {
        let place = common.vector.push(n);
        assert_eq!(common.vector.get(place), Some(&n));
    });
}

fn grouping(random: &mut Random, _: &Common) {
    let numbers = random.numbers();
    let ours: BTreeMap<_, _> = numbers
        .par_iter()
        .count_by(|n| **n % 50)
        .into_iter()
        .collect();
    let mut theirs = BTreeMap::new();
    numbers
        .iter()
        .for_each(|n| *theirs.entry(n % 50).or_insert(0) += 1);
    assert_eq!(ours, theirs);
}

// ---- what makes trouble ---------------------------------------------------------------------

fn blocking(random: &mut Random, _: &Common) {
    // Two halves that wait for each other, and one that is asleep for a while.
    let (send, receive) = mpsc::channel();
    let pause = Duration::from_micros(random.below(500));
    let ((), got) = tine::join(
        || {
            tine::blocking(|| std::thread::sleep(pause));
            send.send(7).unwrap();
        },
        move || tine::blocking(|| receive.recv().unwrap()),
    );
    assert_eq!(got, 7);
}

fn lock_across_a_call(random: &mut Random, common: &Common) {
    let count = random.below(200);
    let mut held = common.lock.lock().unwrap();
    *held += (0..count).into_par_iter().filter(|n| n % 2 == 0).count() as u64;
    let (a, b) = tine::join(|| *held, || count);
    drop(held);
    assert!(a >= b / 2);
}

fn panics(random: &mut Random, _: &Common) {
    let at = random.below(100);
    let alive = Arc::new(());
    let guards = || vec![Arc::clone(&alive); 100];
    let kind = random.below(5);
    // The hook, which would print a page each time, is not called.
    let fail = || -> () { resume_unwind(Box::new(at)) };
    let outcome = catch_unwind(AssertUnwindSafe(|| match kind {
        0 => guards().into_par_iter().enumerate().for_each(|(n, _)| {
            if n as u64 == at {
                fail();
            }
        }),
        1 => drop(tine::join(guards, fail)),
        2 => tine::scope(|s| {
            let kept = guards();
            s.spawn(|_| fail());
            s.spawn(|_| drop(kept));
        }),
        3 => {
            let kept = guards();
            let handle = tine::spawn_join(move || {
                let _kept = kept;
                resume_unwind(Box::new(at))
            });
            let () = handle.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        _ => {
            let count = AtomicUsize::new(0);
            guards().par_sort_by(|_, _| {
                if count.fetch_add(1, Relaxed) as u64 == at {
                    fail();
                }
                std::cmp::Ordering::Equal
            });
            fail();
        }
    }));
    assert_eq!(*outcome.unwrap_err().downcast::<u64>().unwrap(), at);
    assert_eq!(
        Arc::strong_count(&alive),
        1,
        "kind {kind}: not all were dropped"
    );
}

fn pools(random: &mut Random, _: &Common) {
    if random.below(4) > 0 {
        return;
    }
    let builder = ThreadPoolBuilder::new().num_threads(1 + random.below(4) as usize);
    let pool = builder.build().unwrap();
    let (send, receive) = mpsc::channel();
    let count = random.below(10);
    for n in 0..count {
        let send = send.clone();
        pool.spawn(move || {
            tine::spawn(move || send.send(n).unwrap());
        });
    }
    drop(send);
    let sum: u64 = pool.install(|| (0..100_u64).into_par_iter().sum());
    assert_eq!(sum, 4950);
    if random.below(2) == 0 {
        pool.shutdown();
    } else {
        drop(pool);
    }
    let sum: u64 = tine::blocking(|| receive.iter().sum());
    assert_eq!(sum, (0..count).sum());
}
