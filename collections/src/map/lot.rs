//! Where threads sleep that wait for a lock, or for readers that have none: a mutex and a condition variable
//! chosen by an address, so that neither takes room in what is waited for.
#![forbid(unsafe_code)]

use crate::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
use std::ptr;

/// Where the threads sleep that wait for a lock, or for readers that have none.
pub(super) struct Lot {
    mutex: Mutex<()>,
    condvar: Condvar,
}

impl Lot {
    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Lot {
            mutex: Mutex::new(()),
            condvar: Condvar::new(),
        }
    }

    /// The lot of what lies at this address.
    #[cfg(not(loom))]
    pub(super) fn of<T>(what: &T) -> &'static Lot {
        const LOTS: usize = 64;
        static TOWN: [Lot; LOTS] = [const {
            Lot {
                mutex: Mutex::new(()),
                condvar: Condvar::new(),
            }
        }; LOTS];
        // Neighbouring shards lie 64 bytes apart: the bits above tell them apart.
        &TOWN[(ptr::from_ref(what).addr() >> 6) % LOTS]
    }

    fn quiet(&self) -> MutexGuard<'_, ()> {
        self.mutex
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }

    /// Sleeps for as long as `must` says so, which is asked under the mutex each time that the lot is woken.
    pub(super) fn wait_while(&self, must: impl Fn() -> bool) {
        let mut quiet = self.quiet();
        while must() {
            quiet = self
                .condvar
                .wait(quiet)
                .unwrap_or_else(|broken| broken.into_inner());
        }
    }

    /// Wakes all threads in the lot, after what they wait for has come to pass.
    #[cold]
    pub(super) fn wake(&self) {
        drop(self.quiet());
        self.condvar.notify_all();
    }
}
