//! Values that own memory: each is dropped once, whatever panics and wherever.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};
use std::thread::panicking;

use tine_iter::prelude::*;
use tine_iter::scan::{ParallelScan, ParallelScanMut};

use crate::pools;

/// One test counts at a time.
static COUNTING: Mutex<()> = Mutex::new(());
static ALIVE: AtomicIsize = AtomicIsize::new(0);
/// How many more calls until one panics.
static FUSE: AtomicUsize = AtomicUsize::new(usize::MAX);
/// How many more values are dropped until a destructor panics.
static DROPS: AtomicUsize = AtomicUsize::new(usize::MAX);

/// A sum on the heap that counts itself.
#[derive(Debug)]
struct Sum(Box<u64>);

impl Sum {
    fn new(n: u64) -> Sum {
        ALIVE.fetch_add(1, Relaxed);
        Sum(Box::new(n))
    }
}

impl Clone for Sum {
    fn clone(&self) -> Sum {
        burn();
        Sum::new(*self.0)
    }
}

impl Drop for Sum {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
        if !panicking() && DROPS.fetch_sub(1, Relaxed) == 1 {
            resume_unwind(Box::new(OnPurpose));
        }
    }
}

/// The payload of a panic on purpose; no hook prints it.
struct OnPurpose;

fn burn() {
    if FUSE.fetch_sub(1, Relaxed) == 1 {
        resume_unwind(Box::new(OnPurpose));
    }
}

fn zero() -> Sum {
    burn();
    Sum::new(0)
}

fn plus(mut a: Sum, b: Sum) -> Sum {
    burn();
    *a.0 += *b.0;
    a
}

const LEN: u64 = if cfg!(miri) { 40 } else { 6_000 };

fn some() -> Vec<Sum> {
    (0..LEN).map(Sum::new).collect()
}

type Pipeline = fn(Vec<Sum>);

const PIPELINES: &[(&str, Pipeline)] = &[
    ("kept, collect", |v| {
        drop(
            v.into_par_iter()
                .scan_inclusive(zero, plus)
                .collect::<Vec<_>>(),
        )
    }),
    ("walked twice, filter", |v| {
        let scan = v.par_iter().cloned().pure().scan_exclusive(zero, plus);
        drop(scan.filter(|n| *n.0 % 2 == 0).collect::<Vec<_>>())
    }),
    ("by position", |v| {
        let scan = v
            .par_iter()
            .cloned()
            .pure()
            .scan_inclusive(zero, plus)
            .blocks_of(100);
        drop(scan.rev().collect::<Vec<_>>())
    }),
    ("kept, by position", |v| {
        let scan = v.into_par_iter().scan_inclusive(zero, plus).blocks_of(100);
        drop(scan.chunks(7).collect::<Vec<_>>())
    }),
    ("applied once", |v| {
        let scan = v.into_par_iter().scan_inclusive(zero, plus).blocks_of(100);
        drop(scan.exact().collect::<Vec<_>>())
    }),
    ("in a row", |v| {
        let scan = v.into_par_iter().scan_inclusive(zero, plus);
        let mut total = Sum::new(1);
        drop(
            scan.scan_exclusive(zero, plus)
                .total(&mut total)
                .collect::<Vec<_>>(),
        )
    }),
    ("a map that panics", |v| {
        let scan = v.into_par_iter().map(|n| {
            burn();
            n
        });
        scan.scan_inclusive(zero, plus).for_each(drop)
    }),
    ("what follows panics", |v| {
        let scan = v.into_par_iter().scan_inclusive(zero, plus);
        scan.for_each(|_| burn())
    }),
    ("unindexed", |v| {
        let scan = v
            .into_par_iter()
            .filter(|n| *n.0 != 3)
            .scan_inclusive(zero, plus);
        drop(scan.collect::<Vec<_>>())
    }),
    ("search", |v| {
        let scan = v.into_par_iter().scan_inclusive(zero, plus);
        drop(scan.find_any(|n| *n.0 == u64::MAX))
    }),
    ("in place", |mut v| drop(v.par_scan_by(zero, plus))),
    ("in place, exclusive", |mut v| {
        drop(v.par_scan_exclusive_by(zero, plus))
    }),
    ("in place, by key", |mut v| {
        let keys: Vec<_> = (0..v.len()).map(|i| i / 700).collect();
        v.par_scan_by_key(&keys, zero, plus)
    }),
];

/// Runs `op` with a fuse that burns for `calls` calls. Returns how many calls were left.
fn fused(calls: usize, op: impl FnOnce()) -> Result<usize, ()> {
    FUSE.store(calls, Relaxed);
    let result = catch_unwind(AssertUnwindSafe(op));
    let left = FUSE.swap(usize::MAX, Relaxed);
    match result {
        Ok(()) => Ok(left),
        Err(panic) if panic.is::<OnPurpose>() => Err(()),
        Err(panic) => resume_unwind(panic),
    }
}

#[test]
fn every_value_is_dropped_once_whatever_panics() {
    let _alone = COUNTING.lock().unwrap();
    for pool in pools() {
        for &(name, pipeline) in PIPELINES {
            let plenty = usize::MAX / 2;
            let left = fused(plenty, || pool.install(|| pipeline(some())));
            let calls = plenty - left.expect("a fuse that did not burn down");
            assert_eq!(ALIVE.load(Relaxed), 0, "{name}, no panic");
            assert!(calls > LEN as usize, "{name} calls nothing");
            for part in [0, 1, 2, 5, 8, 9] {
                let at = 1 + calls * part / 10;
                // A call that waits for no thread may make fewer calls than the one counted.
                let _ = fused(at, || pool.install(|| pipeline(some())));
                assert_eq!(ALIVE.load(Relaxed), 0, "{name}, panic at {at} of {calls}");
            }
        }
    }
}

/// Carries and tallies are dropped when the results are already there.
#[test]
fn a_destructor_that_panics_loses_no_results() {
    let _alone = COUNTING.lock().unwrap();
    let zero = || Sum::new(0);
    let plus = |mut a: Sum, b: Sum| {
        *a.0 += *b.0;
        drop(b);
        a
    };
    let keys: Vec<_> = (0..LEN).map(|i| i / 7).collect();
    let scans: [(&str, &(dyn Fn() -> Vec<Sum> + Sync)); 4] = [
        ("collect", &|| {
            let scan = some().into_par_iter().scan_inclusive(zero, plus);
            scan.collect()
        }),
        ("in place", &|| {
            let mut v = some();
            let last = v.par_scan_by(zero, plus);
            v.push(last);
            v
        }),
        ("in place, by key", &|| {
            let mut v = some();
            v.par_scan_by_key(&keys, zero, plus);
            v
        }),
        ("in place, exclusive, by key", &|| {
            let mut v = some();
            v.par_scan_exclusive_by_key(&keys, zero, plus);
            v
        }),
    ];
    // Where no other thread helps, the same is dropped each time.
    let one = &pools()[0];
    for (name, scan) in scans {
        let plenty = usize::MAX / 2;
        DROPS.store(plenty, Relaxed);
        let all = one.install(scan);
        let drops = plenty - DROPS.swap(usize::MAX, Relaxed);
        drop(all);
        for nth in (1..40).chain(drops - 40..=drops) {
            DROPS.store(nth, Relaxed);
            let result = catch_unwind(AssertUnwindSafe(|| drop(one.install(scan))));
            DROPS.store(usize::MAX, Relaxed);
            assert!(result.is_err(), "{name}, drop {nth} of {drops}");
            assert_eq!(ALIVE.load(Relaxed), 0, "{name}, drop {nth} of {drops}");
        }
    }
}

#[test]
fn a_panic_reaches_the_caller() {
    let _alone = COUNTING.lock().unwrap();
    for pool in pools() {
        for &(name, pipeline) in PIPELINES {
            let burnt = fused(LEN as usize / 2, || pool.install(|| pipeline(some())));
            assert!(burnt.is_err(), "{name}");
            assert_eq!(ALIVE.load(Relaxed), 0, "{name}");
        }
    }
}

#[test]
fn closures_before_a_scan_are_called_once() {
    let calls = AtomicUsize::new(0);
    let count = |n: usize| {
        calls.fetch_add(1, Relaxed);
        n
    };
    let len = if cfg!(miri) { 50 } else { 100_000 };
    for pool in pools() {
        let scan = || {
            (0..len)
                .into_par_iter()
                .map(count)
                .prefix_sum::<usize>()
                .blocks_of(64)
        };
        let twice = || pool.install(|| (scan().sum::<usize>(), scan().rev().count()));
        assert_eq!(twice().1, len);
        assert_eq!(calls.swap(0, Relaxed), 2 * len);
    }
}

#[test]
fn the_operation_is_called_at_most_twice() {
    let len = if cfg!(miri) { 50 } else { 100_000 };
    let calls = AtomicUsize::new(0);
    for pool in pools() {
        for size in [1, 10, 1000] {
            let add = |a: u64, b: u64| {
                calls.fetch_add(1, Relaxed);
                a + b
            };
            let scan = (0..len)
                .into_par_iter()
                .scan_inclusive(|| 0, add)
                .blocks_of(size);
            let count = pool.install(|| scan.count());
            assert_eq!(count, len as usize);
            let most = 2 * len as usize + 2 * (len as usize).div_ceil(size) + 2;
            let calls = calls.swap(0, Relaxed);
            assert!(
                calls <= most,
                "{calls} calls for {len} items in blocks of {size}"
            );
        }
    }
}

/// If no other thread can help, a scan whose brackets do not matter is a loop.
#[test]
fn one_thread_applies_the_operation_once() {
    let len = if cfg!(miri) { 50 } else { 100_000 };
    let calls = AtomicUsize::new(0);
    let add = |a: u64, b: u64| {
        calls.fetch_add(1, Relaxed);
        a + b
    };
    let both = |(a, b): (u64, u64), (c, d)| (add(a, c), b + d);
    let one = &pools()[0];
    assert_eq!(one.current_num_threads(), 1);
    let scan = || (0..len).into_par_iter().scan_inclusive(|| 0, add);
    let pairs = || (0..len).into_par_iter().map(|n| (n, n));
    let mut v: Vec<u64> = (0..len).collect();
    let counted = |op: &mut (dyn FnMut() + Send)| {
        for _ in 0..3 {
            one.install(&mut *op);
            assert_eq!(calls.swap(0, Relaxed), len as usize);
        }
    };
    counted(&mut || assert_eq!(scan().count(), len as usize));
    counted(&mut || drop(scan().filter(|n| n % 2 == 0).collect::<Vec<_>>()));
    counted(&mut || {
        drop(
            pairs()
                .scan_inclusive(|| (0, 0), both)
                .exact()
                .collect::<Vec<_>>(),
        )
    });
    counted(&mut || {
        v.fill(1);
        assert_eq!(v.par_scan_by(|| 0, add), len);
    });
}
