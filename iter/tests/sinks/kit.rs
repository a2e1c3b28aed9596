//! What the tests share: pools, iterators that hide their length, values that
//! are counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicIsize, Ordering};

use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

/// Sizes around every threshold that a sink might have.
pub(crate) const SIZES: [usize; 12] = [0, 1, 2, 3, 10, 63, 64, 129, 1000, 20_000, 100_000, 300_001];

/// Runs `test` in pools of several sizes.
pub(crate) fn in_pools(test: impl Fn() + Sync) {
    for threads in [1, 2, 7] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(&test);
    }
}

/// Items in order, of unknown number.
pub(crate) fn hidden<T: Send>(items: Vec<T>) -> impl ParallelIterator<Item = T> {
    items.into_par_iter().filter(|_| true)
}

/// A count of values that are alive.
#[derive(Default)]
pub(crate) struct Census(AtomicIsize);

impl Census {
    pub(crate) fn alive(&self) -> isize {
        self.0.load(Ordering::SeqCst)
    }

    /// A value that is counted.
    pub(crate) fn value(&self, number: usize) -> Counted<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Counted {
            census: self,
            number,
        }
    }
}

/// A value that is counted while it is alive.
pub(crate) struct Counted<'c> {
    census: &'c Census,
    pub(crate) number: usize,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let before = self.census.0.fetch_sub(1, Ordering::SeqCst);
        assert!(before > 0, "a value was dropped twice");
    }
}

/// The message of the panic with which `run` must end.
pub(crate) fn panic_of<R>(run: impl FnOnce() -> R) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(run)) else {
        panic!("there was no panic");
    };
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload
            .downcast::<&str>()
            .map_or_else(|_| String::new(), |s| (*s).into()),
    }
}
