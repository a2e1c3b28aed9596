//! What a thread waits on when only one event concerns it: scopes, installs, handles.
//!
//! ```text
//!            wait             set
//!   UNSET ────────► SLEEPING ────► SET (and the setter wakes the sleeper)
//!     ▲ │ set          │ woken for something else
//!     │ └────► SET     │
//!     └────────────────┘
//! ```
//!
//! One thread waits, and only it moves between the first two states, each step by an exchange.
//! `set` is a swap. So exactly one of "the waiter sees SET" and "the setter sees SLEEPING" holds,
//! and no wake-up is lost. The setter reads everything it needs before the swap: after it, the
//! waiter may return and the latch be gone. A latch knows a parker, never a pool.

use crate::base::park::Parker;
use crate::base::sync::{AtomicU32, AtomicUsize, CachePadded, Ordering};
use std::time::Duration;

const UNSET: u32 = 0;
const SLEEPING: u32 = 1;
const SET: u32 = 2;

/// How a job tells its owner that it has been run.
pub(crate) trait Signal {
    /// One of the things waited for is done. `this` may be gone when this returns.
    ///
    /// # Safety
    /// `this` is alive at the call, and waits for this signal.
    unsafe fn signal(this: *const Self);
}

impl Signal for Latch {
    unsafe fn signal(this: *const Self) {
        // SAFETY: handed on.
        unsafe { Self::set(this) };
    }
}

impl Signal for CountLatch {
    unsafe fn signal(this: *const Self) {
        // SAFETY: handed on.
        unsafe { Self::decrement(this, 1) };
    }
}

/// A latch with one waiter.
#[derive(Debug)]
pub(crate) struct Latch {
    state: AtomicU32,
    sleeper: &'static Parker,
}

impl Latch {
    /// A latch whose waiter sleeps on `sleeper`.
    pub(crate) fn new(sleeper: &'static Parker) -> Self {
        Self {
            state: AtomicU32::new(UNSET),
            sleeper,
        }
    }

    /// Whether it is set; what happened before is then visible.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        // Acquire: pairs with the swap in `set`.
        self.state.load(Ordering::Acquire) == SET
    }

    /// Sets it and wakes the waiter if that sleeps. `this` may be gone when this returns.
    ///
    /// # Safety
    /// `this` is alive at the call.
    pub(crate) unsafe fn set(this: *const Self) {
        // SAFETY: alive until the swap below.
        let sleeper = unsafe { (*this).sleeper };
        // Release: pairs with `is_set`.
        // SAFETY: alive until this very swap.
        let old = unsafe { (*this).state.swap(SET, Ordering::Release) };
        if old == SLEEPING {
            sleeper.unpark();
        }
    }

    /// The waiter sleeps from now on: what it looks at after this is looked at "asleep". False
    /// if set.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.step(UNSET, SLEEPING)
    }

    /// The waiter is awake again, for whatever reason.
    pub(crate) fn wake_up(&self) {
        self.step(SLEEPING, UNSET);
    }

    fn step(&self, from: u32, to: u32) -> bool {
        // Relaxed: hands nothing over; `is_set` is asked for that.
        self.state
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// The waiter's parker if it sleeps, for a thread that has news for it other than the event
    /// itself. Fence before, or the answer may be old.
    pub(crate) fn sleeper(&self) -> Option<&'static Parker> {
        (self.state.load(Ordering::Relaxed) == SLEEPING).then_some(self.sleeper)
    }

    /// Whether this is what its waiter sleeps on.
    pub(crate) fn wakes(&self, parker: &Parker) -> bool {
        std::ptr::eq(self.sleeper, parker)
    }

    /// Sleeps until set, doing nothing else.
    #[cfg(loom)]
    pub(crate) fn wait(&self) {
        while !self.is_set() {
            if self.fall_asleep() {
                self.sleeper.park();
                self.wake_up();
            }
        }
    }

    /// Sleeps until set, or for at most `limit`. Returns whether it is set.
    pub(crate) fn wait_for(&self, limit: Duration) -> bool {
        if !self.is_set() && self.fall_asleep() {
            self.sleeper.park_timeout(limit);
            self.wake_up();
        }
        self.is_set()
    }
}

/// A latch that is set when a count comes down to zero. All threads write the count. It stands
/// apart from the latch, which threads that have news for the waiter only read.
#[derive(Debug)]
pub(crate) struct CountLatch {
    latch: Latch,
    count: CachePadded<AtomicUsize>,
}

impl CountLatch {
    /// Starts at one: the count of the thread that makes it.
    pub(crate) fn new(sleeper: &'static Parker) -> Self {
        Self::with_count(1, sleeper)
    }

    pub(crate) fn with_count(count: usize, sleeper: &'static Parker) -> Self {
        Self {
            latch: Latch::new(sleeper),
            count: CachePadded::new(AtomicUsize::new(count)),
        }
    }

    /// There are `by` more to wait for. The caller is itself counted, so the count is not zero yet.
    pub(crate) fn increment(&self, by: usize) {
        let old = self.count.fetch_add(by, Ordering::Relaxed);
        debug_assert!(old > 0, "counted up a latch that was already set");
    }

    /// There are `by` less to wait for. `this` may be gone when this returns.
    ///
    /// # Safety
    /// `this` is alive at the call, and the caller has `by` counts.
    pub(crate) unsafe fn decrement(this: *const Self, by: usize) {
        // Release: each part's work, for the part that comes last. Acquire: the last part's view of
        // all parts, which it hands to the waiter by the latch.
        // SAFETY: alive while a count is held.
        let old = unsafe { (*this).count.fetch_sub(by, Ordering::AcqRel) };
        debug_assert!(old >= by);
        if old == by {
            // SAFETY: the waiter cannot have gone before the latch is set, here.
            let latch = unsafe { &raw const (*this).latch };
            // SAFETY: as above.
            unsafe { Latch::set(latch) };
        }
    }

    /// The latch proper.
    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// The number still waited for.
    pub(crate) fn count(&self) -> usize {
        // Acquire: pairs with `decrement`: what went before one that is seen is seen.
        self.count.load(Ordering::Acquire)
    }
}
