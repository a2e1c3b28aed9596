//! What the tests share: pools, lengths, numbers in no order, values that are counted.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};

use tine_pool::{ThreadPool, ThreadPoolBuilder};

/// Lengths on both sides of every threshold.
pub(crate) const LENGTHS: [usize; 12] =
    [0, 1, 2, 3, 17, 64, 65, 1000, 5000, 40_000, 70_000, 300_001];

/// Runs `test` in pools of several sizes.
pub(crate) fn in_pools(test: impl Fn() + Sync) {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    let build = |n| ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let pools = POOLS.get_or_init(|| [1, 2, 7].map(build).into());
    pools.iter().for_each(|pool| pool.install(&test));
}

/// Numbers below `below`, in no particular order.
pub(crate) fn numbers(len: usize, below: u64) -> Vec<u64> {
    let mut state = len as u64 ^ below << 32;
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) % below
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// A count of values that are alive.
#[derive(Default)]
pub(crate) struct Census {
    alive: AtomicIsize,
    /// The value whose clone or drop panics.
    bomb: AtomicUsize,
}

impl Census {
    pub(crate) fn new() -> Self {
        let census = Census::default();
        census.bomb.store(usize::MAX, SeqCst);
        census
    }

    pub(crate) fn alive(&self) -> isize {
        self.alive.load(SeqCst)
    }

    /// Makes the drop of a value panic.
    pub(crate) fn bomb(&self, number: usize) {
        self.bomb.store(number, SeqCst);
    }

    pub(crate) fn value(&self, number: usize) -> Counted<'_> {
        self.alive.fetch_add(1, SeqCst);
        Counted {
            census: self,
            number,
        }
    }

    pub(crate) fn values(&self, len: usize) -> Vec<Counted<'_>> {
        (0..len).map(|number| self.value(number)).collect()
    }
}

/// A value that is counted while it is alive.
pub(crate) struct Counted<'c> {
    census: &'c Census,
    pub(crate) number: usize,
}

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        if self.census.bomb.load(SeqCst) == self.number {
            resume_unwind(Box::new(OnPurpose));
        }
        self.census.value(self.number)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let before = self.census.alive.fetch_sub(1, SeqCst);
        assert!(before > 0, "a value was dropped twice");
        if self.census.bomb.load(SeqCst) == self.number && !std::thread::panicking() {
            resume_unwind(Box::new(OnPurpose));
        }
    }
}

/// The payload of a panic on purpose; no hook prints it.
pub(crate) struct OnPurpose;

/// Panics for one number.
pub(crate) fn bomb(number: usize, at: usize) {
    if number == at {
        resume_unwind(Box::new(OnPurpose));
    }
}

/// Whether `run` ends with a panic on purpose.
pub(crate) fn panics<R>(run: impl FnOnce() -> R) -> bool {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(_) => false,
        Err(payload) if payload.is::<OnPurpose>() => true,
        Err(payload) => resume_unwind(payload),
    }
}

/// The message of the panic that `run` ends with.
pub(crate) fn message<R>(run: impl FnOnce() -> R) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(run)) else {
        panic!("there was no panic");
    };
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload
            .downcast::<&str>()
            .map_or_else(|_| String::new(), |message| (*message).into()),
    }
}
