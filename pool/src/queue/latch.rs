//! What a thread waits on when it waits for a single event: scopes, installs, handles.
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
//! and no wake-up is lost. The setter reads everything it needs before the swap: after the swap,
//! the waiter may return and the latch may be gone. A latch knows a parker, never a pool.
//!
//! There are also counts that set a latch when they come down to zero ([`CountLatch`]), and the
//! counts of a scope ([`ScopeCount`]).

use crate::base::park::Parker;
use crate::base::sync::{AtomicBool, AtomicU32, AtomicUsize, CachePadded, Ordering};
use std::time::Duration;

const UNSET: u32 = 0;
const SLEEPING: u32 = 1;
const SET: u32 = 2;
/// The number of counts that a scope takes at once at home.
const LOT: usize = 64;

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

    /// From now on the waiter counts as asleep, also while it takes its last look. False if the
    /// latch is set.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.step(UNSET, SLEEPING)
    }

    /// The waiter is awake again, for whatever reason.
    pub(crate) fn wake_up(&self) {
        self.step(SLEEPING, UNSET);
    }

    fn step(&self, from: u32, to: u32) -> bool {
        // Relaxed: hands nothing on; for that, `is_set` is asked.
        self.state
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// The waiter's parker if the waiter sleeps, for a thread that has news for it other than the
    /// event itself. The caller fences first, or the answer may be outdated.
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
    #[cfg(test)]
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
        // Release: hands each part's work to the part that comes last. Acquire: gives the last part a view of
        // all parts, which it hands to the waiter by the latch.
        // SAFETY: alive while a count is held.
        let old = unsafe { (*this).count.fetch_sub(by, Ordering::AcqRel) };
        debug_assert!(old >= by);
        if old == by {
            // SAFETY: the waiter cannot have left before the latch is set, here.
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
        // Acquire: pairs with `decrement`: all that came before a decrement that is seen is seen.
        self.count.load(Ordering::Acquire)
    }
}

/// The counts of a scope: its body's, and those of its tasks. "At home" is said of the thread that holds the seat on which the
/// scope was opened, and which waits for it.
///
/// That thread takes many counts in advance, as a credit. Tasks that it spawns use the credit up,
/// and tasks that it ends itself return to it. So tasks that are spawned and run at home cost no
/// read-modify-write; and once all other counts have been given back, the owner leaves without a
/// write.
#[derive(Debug)]
pub(crate) struct ScopeCount {
    /// All counts, the credit among them.
    pub(crate) latch: CountLatch,
    /// Counts taken in advance and not used. Each spawn at home reads this, so it lies on a cache
    /// line of its own.
    credit: CachePadded<AtomicUsize>,
    /// Whether the body has ended, and gives its count back.
    body_ended: AtomicBool,
}

impl ScopeCount {
    /// Of a scope with no home.
    pub(crate) fn outside(waiter: &'static Parker) -> Self {
        Self::new(waiter, 0)
    }

    /// Of a scope with a home, whose thread waits.
    pub(crate) fn at_home(waiter: &'static Parker) -> Self {
        Self::new(waiter, LOT)
    }

    fn new(waiter: &'static Parker, credit: usize) -> Self {
        Self {
            latch: CountLatch::with_count(1 + credit, waiter),
            credit: CachePadded::new(AtomicUsize::new(credit)),
            body_ended: AtomicBool::new(false),
        }
    }

    /// One more, at home.
    pub(crate) fn count_up_at_home(&self) {
        let mut credit = self.credit.load(Ordering::Relaxed);
        if credit == 0 {
            self.latch.increment(LOT);
            credit = LOT;
        }
        self.credit.store(credit - 1, Ordering::Relaxed);
    }

    /// One less, at home: the owner's frame is below this one, and settles before it goes.
    pub(crate) fn count_down_at_home(&self) {
        let credit = self.credit.load(Ordering::Relaxed);
        self.credit.store(credit + 1, Ordering::Relaxed);
    }

    /// The body has ended: its count is given back, by the owner.
    pub(crate) fn end_body(&self, at_home: bool) {
        // Relaxed: a decrement hands it on. At home nothing hands it on: another thread that sees the credit
        // may not yet see this, and finds a task too few (see `unfinished`).
        self.body_ended.store(true, Ordering::Relaxed);
        if at_home {
            self.count_down_at_home();
        } else {
            // SAFETY: the body's own count; the owner, which calls, keeps the scope.
            unsafe { CountLatch::decrement(&raw const self.latch, 1) };
        }
    }

    /// Gives back what was counted ahead. At home only.
    pub(crate) fn settle(&self) {
        let credit = self.credit.load(Ordering::Relaxed);
        if credit > 0 {
            self.credit.store(0, Ordering::Relaxed);
            // SAFETY: the credit's own counts; the owner, which calls, keeps the scope.
            unsafe { CountLatch::decrement(&raw const self.latch, credit) };
        }
    }

    /// Whether all has ended; what the tasks did is then visible. Asked by the owner.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        let credit = self.credit.load(Ordering::Relaxed);
        // If there is a credit, no other thread can have given back the last count, so no thread is about to
        // set the latch. And a thread counts up only while it has a count itself.
        if credit > 0 {
            let count = self.latch.count();
            debug_assert!(count >= credit, "the credit is a part of the count");
            return count == credit;
        }
        self.latch.latch().is_set()
    }

    /// How many tasks have not ended, as far as can be seen.
    pub(crate) fn unfinished(&self) -> usize {
        // The owner sees the exact number. Other threads may see too few or too many while the owner counts
        // ahead, or while its body ends. In this order: a thread that sees the credit settled in the count sees
        // no credit.
        let count = self.latch.count();
        let ahead = self.credit.load(Ordering::Relaxed);
        let body = usize::from(!self.body_ended.load(Ordering::Relaxed));
        count.saturating_sub(ahead + body)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{CountLatch, LOT, ScopeCount};
    use crate::base::park::Lease;

    /// Tasks that are spawned and end at home, more than a lot of them, and some that end elsewhere.
    #[test]
    fn counts_at_home_and_elsewhere() {
        let lease = Lease::new();
        for (tasks, away) in [
            (0, 0),
            (1, 0),
            (LOT, 0),
            (3 * LOT, 0),
            (1, 1),
            (LOT, 3),
            (3 * LOT, 3 * LOT),
        ] {
            for settles in [false, true] {
                let count = ScopeCount::at_home(lease.parker());
                (0..tasks).for_each(|_| count.count_up_at_home());
                assert_eq!(count.unfinished(), tasks);
                assert!(!count.is_done(), "the body runs");
                count.end_body(true);
                assert_eq!(count.unfinished(), tasks);
                for left in (away..tasks).rev() {
                    assert!(!count.is_done());
                    count.count_down_at_home();
                    assert_eq!(count.unfinished(), left);
                }
                if settles {
                    count.settle();
                    assert_eq!(count.unfinished(), away);
                }
                for left in (0..away).rev() {
                    assert!(!count.is_done());
                    // SAFETY: alive, and there is a task left.
                    unsafe { CountLatch::decrement(&raw const count.latch, 1) };
                    assert_eq!(count.unfinished(), left);
                }
                assert!(count.is_done());
                // An owner that goes to sleep does this.
                count.settle();
                assert!(count.is_done() && count.latch.latch().is_set());
            }
        }
    }

    #[test]
    fn a_scope_without_a_home() {
        let lease = Lease::new();
        let count = ScopeCount::outside(lease.parker());
        count.latch.increment(1);
        assert_eq!(count.unfinished(), 1);
        count.end_body(false);
        assert!(!count.is_done());
        // SAFETY: alive, and there is a task left.
        unsafe { CountLatch::decrement(&raw const count.latch, 1) };
        assert!(count.is_done());
    }
}
