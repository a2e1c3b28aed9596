//! The checks: every verb, and some of each kind of iterator, sort and collection.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tine::prelude::*;
use tine::{ParHashMap, ParHashSet, ParVec};

/// Name and function of each.
pub(crate) const CHECKS: &[(&str, fn())] = &[
    ("map and sum", map_and_sum),
    ("collect", collect),
    ("adapters", adapters),
    ("searches", searches),
    ("text", text),
    ("par_bridge", par_bridge),
    ("mutable slices", mutable_slices),
    ("sorts", sorts),
    ("join", join),
    ("scope", scope),
    ("spawn", spawn),
    ("spawn_join", spawn_join),
    ("broadcast", broadcast),
    ("verbs that wait", verbs_that_wait),
    ("pools", pools),
    ("stopping", stopping),
    ("maps", maps),
    ("vectors", vectors),
    ("grouping", grouping),
];

/// Numbers in no particular order.
fn numbers(count: usize) -> Vec<u32> {
    let step = |x: &u32| Some(x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(7), step).take(count).collect()
}

fn map_and_sum() {
    let sum: u64 = (0..100_000_u64).into_par_iter().map(|n| n * n).sum();
    assert_eq!(sum, (0..100_000).map(|n| n * n).sum());
    let most = numbers(10_000).par_iter().copied().max();
    assert_eq!(most, numbers(10_000).into_iter().max());
    let all = (0..10_000)
        .into_par_iter()
        .fold(|| 0, |a, b| a + b)
        .reduce(|| 0, |a, b| a + b);
    assert_eq!(all, 49_995_000);
}

fn collect() {
    let squares: Vec<_> = (0..10_000_u64).into_par_iter().map(|n| n * n).collect();
    assert!(squares.into_iter().eq((0..10_000).map(|n| n * n)));
    let even: Vec<_> = (0..10_000).into_par_iter().filter(|n| n % 2 == 0).collect();
    assert!(even.into_iter().eq((0..10_000).step_by(2)));
    let whole: Result<Vec<_>, _> = (0..100)
        .into_par_iter()
        .map(|n| if n < 90 { Ok(n) } else { Err(n) })
        .collect();
    assert!(whole.is_err_and(|n| n >= 90));
    let by_rest: HashMap<_, _> = (0..10).into_par_iter().map(|n| (n, n % 3)).collect();
    assert_eq!(by_rest[&8], 2);
}

fn adapters() {
    let zipped = [1, 2, 3].par_iter().zip([4, 5, 6]).chain([(&0, 0)]).rev();
    assert_eq!(
        zipped.collect::<Vec<_>>(),
        [(&0, 0), (&3, 6), (&2, 5), (&1, 4)]
    );
    let flat = (0..100_usize)
        .into_par_iter()
        .flat_map_iter(|n| 0..n)
        .count();
    assert_eq!(flat, 4950);
    let chunks = numbers(1000)
        .par_chunks(7)
        .enumerate()
        .map(|(_, chunk)| chunk.len())
        .sum::<usize>();
    assert_eq!(chunks, 1000);
    let cut = (0..1000)
        .into_par_iter()
        .skip(10)
        .step_by(3)
        .take(100)
        .with_max_len(5)
        .sum::<i32>();
    assert_eq!(cut, (10..1000).step_by(3).take(100).sum());
}

fn searches() {
    let numbers = numbers(10_000);
    let first = numbers.par_iter().position_first(|n| n % 1000 == 1);
    assert_eq!(first, numbers.iter().position(|n| n % 1000 == 1));
    assert!(
        numbers
            .par_iter()
            .find_any(|n| **n == numbers[77])
            .is_some()
    );
    assert!(numbers.par_iter().any(|n| *n == 7));
    assert!(!numbers.par_iter().all(|n| *n == 7));
}

fn text() {
    let text = "a fork is\na fork\n\nis a fork\n".repeat(100);
    let words: Vec<_> = text.par_split_whitespace().collect();
    assert!(words.into_iter().eq(text.split_whitespace()));
    assert_eq!(text.par_lines().count(), text.lines().count());
    assert_eq!(text.par_chars().filter(|c| *c == 'k').count(), 300);
}

fn par_bridge() {
    let mut all: Vec<_> = (0..1000).par_bridge().map(|n| n * 2).collect();
    all.sort_unstable();
    assert!(all.into_iter().eq((0..2000).step_by(2)));
}

fn mutable_slices() {
    let mut numbers = numbers(10_000);
    let sum: u64 = numbers.iter().map(|n| u64::from(n / 2)).sum();
    numbers.par_iter_mut().for_each(|n| *n /= 2);
    assert_eq!(numbers.par_iter().map(|n| u64::from(*n)).sum::<u64>(), sum);
    numbers.par_chunks_mut(100).for_each(|chunk| chunk.fill(1));
    assert_eq!(numbers.into_par_iter().sum::<u32>(), 10_000);
}

fn sorts() {
    for count in [0, 1, 20, 1000, 100_000] {
        let given = numbers(count);
        let mut wanted = given.clone();
        wanted.sort_unstable();
        let check = |sort: fn(&mut [u32])| {
            let mut ours = given.clone();
            sort(&mut ours);
            assert!(ours == wanted, "{count} numbers");
        };
        check(|v| v.par_sort());
        check(|v| v.par_sort_unstable());
        check(|v| v.par_sort_by(|a, b| a.cmp(b)));
        check(|v| v.par_sort_unstable_by(|a, b| a.partial_cmp(b).unwrap()));
        check(|v| v.par_sort_by_key(|n| u64::from(*n)));
        check(|v| v.par_sort_by_cached_key(|n| format!("{n:010}")));
    }
    let mut words: Vec<_> = numbers(5000).iter().map(u32::to_string).collect();
    let mut wanted = words.clone();
    wanted.sort();
    words.par_sort();
    assert_eq!(words, wanted);
}

fn join() {
    fn fib(n: u32) -> u32 {
        if n < 2 {
            return n;
        }
        let (a, b) = tine::join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    assert_eq!(fib(20), 6765);
    let (a, b) = tine::join_context(|c| c.migrated(), |c| c.migrated());
    assert_eq!(a, b);
}

fn scope() {
    let sum = AtomicUsize::new(0);
    tine::scope(|s| {
        for n in 0..100 {
            let sum = &sum;
            s.spawn(move |s| {
                s.spawn(move |_| {
                    sum.fetch_add(n, Relaxed);
                });
            });
        }
    });
    assert_eq!(sum.load(Relaxed), 4950);
    let order = Mutex::new(Vec::new());
    tine::scope_fifo(|s| {
        for n in 0..10 {
            let order = &order;
            s.spawn_fifo(move |_| order.lock().unwrap().push(n));
        }
    });
    assert_eq!(order.into_inner().unwrap().len(), 10);
    let here = RefCell::new(0);
    tine::in_place_scope(|s| {
        s.spawn(|_| {
            sum.fetch_add(1, Relaxed);
        });
        *here.borrow_mut() += 1;
    });
    assert_eq!((sum.into_inner(), here.into_inner()), (4951, 1));
}

fn spawn() {
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..10 {
        let done = Arc::clone(&done);
        tine::spawn(move || {
            done.fetch_add(1, Relaxed);
        });
    }
    let more = Arc::clone(&done);
    tine::spawn_many((0..10).map(move |_| {
        let more = Arc::clone(&more);
        move || {
            more.fetch_add(1, Relaxed);
        }
    }));
    // No other thread can have run them: they ran at once, or do when this thread says so.
    while tine::yield_now() == Some(tine::Yield::Executed) {}
    assert_eq!(done.load(Relaxed), 20);
}

fn spawn_join() {
    let handles: Vec<_> = (0..10).map(|n| tine::spawn_join(move || n * n)).collect();
    let sum: i32 = handles
        .into_iter()
        .map(|handle| handle.join().unwrap())
        .sum();
    assert_eq!(sum, 285);
}

fn broadcast() {
    let all = tine::broadcast(|context| (context.index(), context.num_threads()));
    assert_eq!(all, [(0, 1)]);
    assert_eq!(tine::current_num_threads(), 1);
}

fn verbs_that_wait() {
    assert_eq!(tine::blocking(|| 7), 7);
    assert_ne!(tine::yield_local(), Some(tine::Yield::Executed));
    assert!(!tine::picture().is_empty());
    let _ = tine::stats();
}

fn pools() {
    // A pool that a program builds cannot have threads here: that is an error, not a panic.
    assert!(
        tine::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .is_err()
    );
}

fn stopping() {
    let token = tine::StopToken::new();
    let numbers = (0..10_000_u32).into_par_iter();
    assert_eq!(numbers.clone().until(&token).count(), Ok(10_000));
    assert_eq!(
        tine::with_token(&token, || tine::join(|| 1, || 2)),
        Ok((1, 2))
    );
    let seen = AtomicUsize::new(0);
    let ended = numbers.until(&token).for_each(|n| {
        seen.fetch_add(1, Relaxed);
        if n == 100 {
            token.stop();
        }
    });
    assert!(ended.is_err() && seen.into_inner() < 10_000);
    assert!(tine::with_token(&token, || ()).is_err());
    // Panics abort here, so a call that has begun runs to its end.
    sorts_go_on();
    let late = tine::StopToken::new().with_timeout(std::time::Duration::from_millis(1));
    // A clock that each look advances.
    while !late.is_stopped() {}
    let job = tine::spawn_async(|| 7);
    assert_eq!(job.join().unwrap(), Ok(7));
}

fn sorts_go_on() {
    let given = numbers(150_000);
    let mut sorted = given.clone();
    sorted.sort_unstable();
    let sorts: [fn(&mut Vec<u32>); 6] = [
        |v| v.par_sort(),
        |v| v.par_sort_unstable(),
        |v| v.par_sort_by(|a, b| a.cmp(b)),
        |v| v.par_sort_unstable_by(|a, b| a.cmp(b)),
        |v| v.par_sort_by_key(|n| *n),
        |v| v.par_sort_by_cached_key(|n| n.to_string().len() as u64 * (1 << 40) + u64::from(*n)),
    ];
    for sort in sorts {
        let token = tine::StopToken::new();
        let mut v = given.clone();
        let done = tine::with_token(&token, || {
            token.stop();
            sort(&mut v);
        });
        assert!(done == Ok(()) && v == sorted);
    }
}

fn maps() {
    let map = ParHashMap::new();
    (0..10_000_u32).into_par_iter().for_each(|n| {
        map.upsert(n % 100, || 1, |count| *count += 1);
    });
    assert_eq!(map.len(), 100);
    assert!((0..100).all(|n| map.get_cloned(&n) == Some(100)));
    assert_eq!(map.remove(&3), Some(100));
    let sorted: BTreeMap<_, _> = map.into_iter().collect();
    assert_eq!(sorted.len(), 99);
    let set: ParHashSet<_> = numbers(1000).into_par_iter().map(|n| n % 10).collect();
    assert_eq!(set.len(), 10);
}

fn vectors() {
    let vector = ParVec::new();
    (0..10_000).into_par_iter().for_each(|n| {
        vector.push(n);
    });
    let mut all: Vec<_> = vector.into_iter().collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..10_000));
}

fn grouping() {
    let words = ["fork", "prong", "fork", "tine", "fork"];
    let counts = words.par_iter().copied().count_by(|&word| word);
    assert_eq!(counts.get_cloned("fork"), Some(3));
    assert_eq!(numbers(1000).par_iter().map(|n| n % 7).distinct().len(), 7);
}
