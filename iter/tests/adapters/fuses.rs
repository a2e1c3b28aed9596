//! `panic_fuse` before adapters that rely on the number of items: the panic that comes out is the user's, and
//! closures never see only a part of what they are promised.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

/// The payload of the one panic on purpose; no hook prints it.
struct OnPurpose;

const LEN: usize = 2000;
/// The item that panics, and the item that waits for that. In a loop of all items they lie in different halves.
const BAD: usize = 1500;
const SLOW: usize = 604;

/// Waits for a flag, but not for ever.
fn until(flag: &AtomicBool) {
    let begun = Instant::now();
    while !flag.load(Relaxed) && begun.elapsed() < Duration::from_secs(1) {
        thread::yield_now();
    }
}

/// A fuse that is about to blow.
#[derive(Default)]
struct Blown(AtomicBool);

impl Blown {
    fn item(&self, n: usize) -> usize {
        struct Set<'s>(&'s Blown);
        impl Drop for Set<'_> {
            fn drop(&mut self) {
                self.0.0.store(true, Relaxed);
            }
        }
        if n == BAD {
            let _set = Set(self);
            resume_unwind(Box::new(OnPurpose));
        }
        if n == SLOW {
            until(&self.0);
            // The fuse itself blows some frames later.
            thread::sleep(Duration::from_millis(2));
        }
        n
    }
}

/// Calls `op` several times with the items' maker; each time it panics as planned, and in no other way.
fn panics_as_planned(op: impl Fn(&(dyn Fn(usize) -> usize + Sync)) + Sync) {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for _ in 0..if cfg!(miri) { 1 } else { 10 } {
        let blown = Blown::default();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| op(&|n| blown.item(n)));
        }));
        let payload = ended.expect_err("an item panics");
        if let Some(other) = payload.downcast_ref::<&str>() {
            panic!("another panic came out: {other}");
        }
        assert!(payload.is::<OnPurpose>());
    }
}

#[test]
fn chunks_are_whole() {
    panics_as_planned(|item| {
        let items = (0..LEN).into_par_iter().map(item).panic_fuse();
        items.chunks(10).with_max_len(1).for_each(|chunk| {
            assert_eq!(chunk.len(), 10, "a part of a chunk");
        });
    });
    panics_as_planned(|item| {
        let items = (0..LEN).into_par_iter().map(item).panic_fuse();
        let counts = items.fold_chunks(10, || 0, |count, _| count + 1);
        counts.with_max_len(1).for_each(|count| {
            assert_eq!(count, 10, "a part of a chunk");
        });
    });
}

#[test]
fn pairs_are_of_the_same_place() {
    panics_as_planned(|item| {
        let items = (0..LEN).into_par_iter().map(item).panic_fuse();
        let pairs = items.zip_eq(0..LEN).with_max_len(250);
        pairs.rev().for_each(|(a, b)| assert_eq!(a, b));
    });
    panics_as_planned(|item| {
        let items = (0..LEN).into_par_iter().map(item).panic_fuse();
        let two = items.interleave(LEN..2 * LEN).with_max_len(250);
        two.enumerate().for_each(|(at, n)| {
            let wanted = at / 2 + if at % 2 == 0 { 0 } else { LEN };
            assert_eq!(n, wanted, "in another place");
        });
    });
}

/// Another thread runs the last items of what has the fuse, and goes on with the items behind.
#[test]
fn what_follows_keeps_its_place() {
    const MIDDLE: usize = LEN / 2;
    let (met, wrong) = (AtomicBool::new(false), AtomicUsize::new(0));
    panics_as_planned(|item| {
        met.store(false, Relaxed);
        let place = |n: usize| match n {
            100 => {
                until(&met);
                item(BAD)
            }
            n if n == MIDDLE + 3 => {
                met.store(true, Relaxed);
                item(SLOW);
                n
            }
            n => n,
        };
        let first = (0..MIDDLE + 5).into_par_iter().map(place).panic_fuse();
        let all = first.chain(MIDDLE + 5..LEN).with_min_len(MIDDLE);
        let all = all.enumerate();
        // The other thread's panic would hide one here.
        all.for_each(|(at, n)| {
            wrong.fetch_add(usize::from(at != n), Relaxed);
        });
    });
    assert_eq!(wrong.into_inner(), 0);
}

/// The other pieces also end where positions count.
#[test]
fn others_stop() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (blown, after) = (Blown::default(), AtomicUsize::new(0));
    let ended = catch_unwind(AssertUnwindSafe(|| {
        pool.install(|| {
            let items = (0..LEN).into_par_iter().map(|n| {
                let blew = blown.0.load(Relaxed);
                if blew && n < BAD {
                    after.fetch_add(1, Relaxed);
                    thread::sleep(Duration::from_millis(1));
                }
                // Each chunk of the first half waits, so the panic comes while one of them is run.
                if n < LEN / 2 && n % 10 == 4 {
                    return blown.item(SLOW);
                }
                blown.item(n)
            });
            let items = items.panic_fuse().zip_eq(0..LEN).chunks(10).enumerate();
            items
                .with_max_len(1)
                .for_each(|(at, chunk)| assert_eq!(chunk[0].0, 10 * at));
        })
    }));
    assert!(ended.is_err_and(|payload| payload.is::<OnPurpose>()));
    // The chunk that has begun is finished, and perhaps another one begins.
    let after = after.into_inner();
    assert!(after <= 100, "{after} items after the panic");
}
