//! Where threads sleep that wait for a lock, or for readers without a lock: a mutex and a condition
//! variable chosen by an address. So neither takes room in the lock itself.
#![forbid(unsafe_code)]

use crate::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
use std::{
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

#[cfg(not(loom))]
const LOTS: usize = 64;

/// Where the threads sleep that wait for a lock, or for readers without a lock.
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

    /// The lot of the object at this address.
    #[cfg(not(loom))]
    pub(super) fn of<T>(what: &T) -> &'static Lot {
        // Neighbouring shards lie 64 bytes apart: the bits above tell them apart.
        &town(this_process())[(ptr::from_ref(what).addr() >> 6) % LOTS]
    }

    fn quiet(&self) -> MutexGuard<'_, ()> {
        self.mutex
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }

    /// Sleeps for as long as `must` returns `true`. `must` is called under the mutex, each time the
    /// lot is woken.
    pub(super) fn wait_while(&self, must: impl Fn() -> bool) {
        let mut quiet = self.quiet();
        while must() {
            quiet = self
                .condvar
                .wait(quiet)
                .unwrap_or_else(|broken| broken.into_inner());
        }
    }

    /// Wakes all threads in the lot, after the event that they wait for.
    #[cold]
    pub(super) fn wake(&self) {
        drop(self.quiet());
        self.condvar.notify_all();
    }
}

#[cfg(not(loom))]
fn this_process() -> u32 {
    if cfg!(all(unix, not(miri))) {
        std::process::id()
    } else {
        1
    }
}

/// The lots of a process. In a child of `fork`, a lot of the parent may be locked for ever, by a
/// thread that the child does not have. So a child has lots of its own: the first set that no
/// process before it has taken. Late generations share the last set. A child whose number equals
/// its parent's (both the first of a namespace) or a dead ancestor's has that process's lots.
#[cfg(not(loom))]
fn town(process: u32) -> &'static [Lot; LOTS] {
    struct Town {
        process: AtomicU32,
        lots: [Lot; LOTS],
    }
    static TOWNS: [Town; 8] = [const {
        Town {
            process: AtomicU32::new(0),
            lots: [const {
                Lot {
                    mutex: Mutex::new(()),
                    condvar: Condvar::new(),
                }
            }; LOTS],
        }
    }; 8];
    // Relaxed: nothing else is handed on. All threads of a process look in the same order.
    let is_ours = |town: &&Town| {
        let taken = town
            .process
            .compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
        taken.is_ok() || taken == Err(process)
    };
    let ours = TOWNS.iter().find(is_ours);
    &ours.unwrap_or(&TOWNS[TOWNS.len() - 1]).lots
}

/// Runs `run` while a thread holds each lot of this process.
#[cfg(all(test, target_os = "linux", not(any(loom, miri, tine_tsan, tine_asan))))]
pub(super) fn while_held<R>(run: impl FnOnce() -> R) -> R {
    let held: Vec<_> = town(this_process()).iter().map(Lot::quiet).collect();
    let result = run();
    drop(held);
    result
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Lot, this_process, town};
    use std::ptr;

    #[test]
    fn a_child_has_lots_of_its_own() {
        let here = this_process();
        let own = Lot::of(&0);
        assert!(town(here).iter().any(|lot| ptr::eq(lot, own)));
        // In the child, the thread of this process that looks here will never have looked.
        let quiet = town(here)[5].quiet();
        let child = here + 1;
        town(child)[5].wake();
        assert!(ptr::eq(town(child), town(child)) && ptr::eq(town(here), town(here)));
        // As many processes as there may be: each has its own.
        assert!((1..100).all(|more| !ptr::eq(town(here + more), town(here))));
        drop(quiet);
    }
}
