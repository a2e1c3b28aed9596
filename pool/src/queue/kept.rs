//! Counts of a scope that a thread keeps for a while.
//!
//! Each task of a scope has a count in the scope's latch. If every task gave its own count back,
//! all threads would write that one word once for each task. So a thread that runs tasks of one
//! scope in a row keeps the counts that they give back, and spends them on tasks that they spawn.
//!
//! While a count is kept the scope cannot be left, so its latch is alive. A thread gives its counts
//! back before it runs any other job, and when it has looked for work in vain, also in the middle
//! of a wait. So a scope's owner waits only for threads that run its tasks.

use super::latch::CountLatch;
use crate::base::sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::ptr;

/// The number of counts that are taken at once for tasks that are about to be spawned.
const LOT: usize = 64;

/// The counts that the thread of a seat keeps. The holder of the seat alone looks here, so all accesses
/// are Relaxed.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The latch that they belong to. If none are kept, the address means nothing.
    of: AtomicPtr<CountLatch>,
    /// The tag of its scope.
    tag: AtomicU64,
    count: AtomicUsize,
    /// Whether the seat's thread runs a job and will look here when it has.
    open: AtomicBool,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self {
            of: AtomicPtr::new(ptr::null_mut()),
            tag: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            open: AtomicBool::new(false),
        }
    }

    /// Calls `run`, which runs a job with nothing below it on the stack. What is counted meanwhile may
    /// be kept: the caller is to [`settle`](Self::settle), or to run another job so.
    #[inline(always)]
    pub(crate) fn keeping(&self, run: impl FnOnce()) {
        self.open.store(true, Ordering::Relaxed);
        run();
        self.open.store(false, Ordering::Relaxed);
    }

    /// A job with this tag is about to run: gives back what is kept for another scope, so that the
    /// owner of that scope does not wait for it.
    #[inline(always)]
    pub(crate) fn turn_to(&self, tag: u64) {
        if self.tag.load(Ordering::Relaxed) != tag {
            self.settle();
        }
    }

    /// Counts one task more of the scope `tag`, which waits on `latch`. The caller is itself counted
    /// there, or part of what is.
    pub(crate) fn count_up(&self, latch: &CountLatch, tag: u64) {
        if !self.open.load(Ordering::Relaxed) {
            return latch.increment(1);
        }
        let mut left = self.count_of(latch);
        if left == 0 {
            self.settle();
            latch.increment(LOT);
            left = LOT;
        }
        self.set(latch, tag, left - 1);
    }

    /// Keeps the caller's own count of the scope `tag`, which waits on `latch`. False if the caller
    /// must give the count back itself.
    ///
    /// # Safety
    /// The caller has this count. If it is kept here it is the caller's no more.
    pub(crate) unsafe fn keep(&self, latch: *const CountLatch, tag: u64) -> bool {
        if !self.open.load(Ordering::Relaxed) {
            return false;
        }
        let before = self.count_of(latch);
        if before == 0 {
            self.settle();
        }
        self.set(latch, tag, before + 1);
        true
    }

    /// Gives back what is kept.
    #[inline]
    pub(crate) fn settle(&self) {
        let count = self.count.load(Ordering::Relaxed);
        if count != 0 {
            self.count.store(0, Ordering::Relaxed);
            let latch = self.of.load(Ordering::Relaxed);
            // SAFETY: these counts are this seat's, so the scope has not been left.
            unsafe { CountLatch::decrement(latch, count) };
        }
    }

    fn count_of(&self, latch: *const CountLatch) -> usize {
        let same = ptr::eq(self.of.load(Ordering::Relaxed), latch);
        if same {
            self.count.load(Ordering::Relaxed)
        } else {
            0
        }
    }

    fn set(&self, latch: *const CountLatch, tag: u64, count: usize) {
        self.of.store(latch.cast_mut(), Ordering::Relaxed);
        self.tag.store(tag, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{CountLatch, Kept};
    use crate::base::park::Lease;

    /// Tasks of three scopes in any order, each of which spawns up to two of its own scope and one of
    /// another: what a latch has beyond the unfinished tasks is what is kept of it, and no latch is set
    /// early.
    #[test]
    fn no_count_is_lost_or_given_back_twice() {
        let lease = Lease::new();
        for seed in 1..=300_u64 {
            let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut random = |below: usize| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                x as usize % below
            };
            let latches = [0; 3].map(|_| CountLatch::new(lease.parker()));
            let mut unfinished = [1_usize; 3];
            let kept = Kept::new();
            for step in 0.. {
                let left = |u: &[usize; 3]| (0..3).filter(|&i| u[i] > 0).collect::<Vec<_>>();
                let open = left(&unfinished);
                if open.is_empty() {
                    break;
                }
                let scope = open[random(open.len())];
                let tag = scope as u64 + 1;
                if step % 8 == 7 {
                    kept.turn_to(0);
                    assert_eq!(latches.each_ref().map(CountLatch::count), unfinished);
                }
                kept.turn_to(tag);
                kept.keeping(|| {
                    let spawns = if step < 200 { random(3) } else { 0 };
                    for spawn in 0..spawns {
                        // A task that spawns into another scope is a part of that scope.
                        let into = if spawn == 0 {
                            scope
                        } else {
                            open[random(open.len())]
                        };
                        kept.count_up(&latches[into], into as u64 + 1);
                        unfinished[into] += 1;
                    }
                    // SAFETY: the task's own count.
                    assert!(unsafe { kept.keep(&raw const latches[scope], tag) });
                    unfinished[scope] -= 1;
                });
                for (latch, &unfinished) in latches.iter().zip(&unfinished) {
                    assert!(latch.count() >= unfinished);
                    assert!(unfinished == 0 || !latch.latch().is_set());
                }
            }
            kept.settle();
            assert!(latches.iter().all(|l| l.count() == 0 && l.latch().is_set()));
        }
    }

    #[test]
    fn nothing_is_kept_outside_a_job() {
        let lease = Lease::new();
        let latch = CountLatch::new(lease.parker());
        let kept = Kept::new();
        kept.count_up(&latch, 1);
        assert_eq!(latch.count(), 2);
        // SAFETY: a task's count.
        assert!(!unsafe { kept.keep(&raw const latch, 1) });
        kept.settle();
        assert_eq!(latch.count(), 2);
    }
}
