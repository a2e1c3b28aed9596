//! How far a pool has come in its life, and how many of its threads exist. `end.rs` says what
//! follows from that.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How far it has come.
#[derive(Debug)]
pub(crate) struct Lifetime {
    /// Whether seat 0 belongs to a thread that is not the pool's own and never ends with it.
    pub(super) resident: bool,
    pub(super) ending: AtomicBool,
    pub(super) over: AtomicBool,
    /// Threads that the system refused.
    pub(super) refused: AtomicUsize,
    pub(super) threads: Arc<Threads>,
}

/// The threads that have not ended yet. Apart from the pool, so that a thread lets go of that before it is counted out.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    alive: Mutex<usize>,
    ended: Condvar,
}

impl Threads {
    fn alive(&self) -> MutexGuard<'_, usize> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, started: bool) {
        let mut alive = self.alive();
        *alive = if started { *alive + 1 } else { *alive - 1 };
        if *alive == 0 {
            self.ended.notify_all();
        }
    }

    /// Waits until there are none.
    pub(super) fn wait_until_ended(&self) {
        let mut alive = self.alive();
        while *alive > 0 {
            alive = self
                .ended
                .wait(alive)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A thread that was counted, until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted(pub(super) Arc<Threads>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count(false);
    }
}

impl Lifetime {
    pub(super) fn new(resident: bool) -> Self {
        Self {
            resident,
            ending: AtomicBool::new(false),
            over: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
            threads: Arc::default(),
        }
    }
}
