//! What the tests share: pools under a watchdog, and values that are counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use tine_pool::ThreadPoolBuilder;

/// Runs `test` in pools of several sizes. A test that takes two minutes hangs, and so would the whole run: the
/// process ends here.
pub(crate) fn in_pools_of(threads: &[usize], test: impl Fn() + Send + Sync + 'static) {
    let test = Arc::new(test);
    for &threads in threads {
        let test = test.clone();
        let (done, end) = channel();
        let run = thread::spawn(move || {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| test())));
            done.send(()).unwrap();
            outcome
        });
        if end.recv_timeout(Duration::from_secs(120)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("hangs with {threads} threads");
            std::process::abort();
        }
        run.join().unwrap().expect("the test passes");
    }
}

pub(crate) const POOLS: &[usize] = &[1, 2, 7, 32];

/// Counts values that are alive.
#[derive(Clone, Default)]
pub(crate) struct Census(Arc<AtomicIsize>);

impl Census {
    pub(crate) fn alive(&self) -> isize {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn value(&self, number: usize) -> Counted {
        self.0.fetch_add(1, Ordering::SeqCst);
        Counted {
            census: self.clone(),
            number,
        }
    }
}

/// A value that is counted while it is alive.
pub(crate) struct Counted {
    census: Census,
    pub(crate) number: usize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.census.0.fetch_sub(1, Ordering::SeqCst);
        assert!(before > 0, "a value was dropped twice");
    }
}

/// Whether `run` panics.
pub(crate) fn panics<R>(run: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}
