//! A *lull*: a time in which no thread sleeps, so that threads that spawn need no fence.
//!
//! A thread that spawns fences after each push, and reads the census (`sleep.rs`). While no thread sleeps, that
//! tells it nothing. A spawner that has pushed some tasks in a row, and had to wake no thread for any of them,
//! *joins* the lull: it counts itself in one word, fences, and asks the census once more whether a thread sleeps. If
//! none does, each further push is followed by a plain look at the word alone.
//!
//! A thread that goes to sleep registers, fences, and looks at the word as well ([`Lull::end`]). If
//! it finds a member there, it ends the lull: in one step the number of the lull goes up, and no
//! thread is a member any more. Then it makes all threads pass a barrier, and only then looks
//! everywhere. Either a member's push came before the barrier, and the look sees it. Or the
//! member's look at the word comes after the barrier and sees another number; then the member
//! fences and reads the census as before, where the sleeper is registered.
//!
//! While such a barrier is under way the word says so: another thread that goes to sleep then needs a barrier
//! of its own. A thread that finds neither member nor barrier needs none: a member that left has handed on what
//! it pushed by its Release, and so has the thread that ended the lull of the others.
//!
//! Waiters leave their names, and are told of each push as before, but rely on the same barrier.
//! All this only saves time: where the system has no such barrier, or has refused it once, no
//! thread joins a lull (`barrier.rs`).
#![forbid(unsafe_code)]

use super::notes::Note;
use crate::base::sync::{AtomicU64, CachePadded, Ordering, fence};

/// After this number of pushes in a row a spawner joins.
const BRISK: u64 = if cfg!(loom) { 1 } else { 16 };

const MEMBER: u64 = 1;
const BARRIER: u64 = 1 << 16;
const NUMBER: u64 = 1 << 32;

/// The number of the lull, the barriers under way, and the members.
#[derive(Debug)]
pub(crate) struct Lull(CachePadded<AtomicU64>);

/// What the holder of a seat keeps: how many tasks it has pushed in a row, or from [`BRISK`] on the number of the
/// lull that it is a member of.
#[derive(Debug)]
pub(crate) struct Membership(Note);

impl Membership {
    pub(crate) fn new() -> Self {
        Self(Note::new(0))
    }

    fn number(&self) -> Option<u64> {
        self.0.get().checked_sub(BRISK)
    }
}

impl Lull {
    pub(super) fn new() -> Self {
        Self(CachePadded::new(AtomicU64::new(0)))
    }

    // ---- threads that spawn -----------------------------------------------------------------

    /// After a push: whether no thread sleeps that could miss it.
    #[inline(always)]
    pub(crate) fn lasts(&self, mine: &Membership) -> bool {
        let Some(number) = mine.number() else {
            return false;
        };
        // The push comes before the look. For the machine, the barrier in `end` ensures that; in models a fence
        // does.
        #[cfg(loom)]
        fence(Ordering::SeqCst);
        #[cfg(not(loom))]
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        // Relaxed: as above.
        self.0.load(Ordering::Relaxed) / NUMBER == number
    }

    /// After a push, a fence, and a look at the census. It `woke` a thread, or none slept, or enough
    /// threads search beside one that sleeps. A brisk spawner joins, if then no thread `sleeps`; `can` says whether there is a barrier.
    pub(crate) fn consider(
        &self,
        mine: &Membership,
        woke: bool,
        can: impl FnOnce() -> bool,
        sleeps: impl FnOnce() -> bool,
    ) {
        let kept = mine.0.get();
        // A member that comes here has seen that its lull is over: it is not counted in any lull.
        let pushed = if woke || kept >= BRISK { 0 } else { kept + 1 };
        mine.0.set(pushed);
        if pushed == BRISK {
            mine.0.set(0);
            if can() {
                self.join(mine, sleeps);
            }
        }
    }

    #[cold]
    fn join(&self, mine: &Membership, sleeps: impl FnOnce() -> bool) {
        // Relaxed: the fence orders it.
        let number = self.0.fetch_add(MEMBER, Ordering::Relaxed) / NUMBER;
        mine.0.set(BRISK + number);
        // SeqCst: pairs with the fence before `end`. Either the ending thread finds a member, or this thread
        // sees that it is registered.
        fence(Ordering::SeqCst);
        if sleeps() {
            self.leave(mine);
        }
    }

    /// A thread that will not push for a while leaves the lull, if it is a member: so the next one that goes to sleep
    /// needs no barrier.
    #[inline]
    pub(crate) fn leave(&self, mine: &Membership) {
        if let Some(number) = mine.number() {
            mine.0.set(0);
            self.count_out(number);
        }
    }

    #[cold]
    fn count_out(&self, number: u64) {
        let less = |word: u64| (word / NUMBER == number).then(|| word - MEMBER);
        // Release: pairs with the first load in `end`: a thread that then finds no member sees what this one
        // pushed.
        let _ = self
            .0
            .fetch_update(Ordering::Release, Ordering::Relaxed, less);
    }

    // ---- threads that go to sleep -----------------------------------------------------------

    /// Between the fence of a thread that has registered, and its last look. `barrier` makes all threads pass one.
    #[inline]
    pub(super) fn end(&self, barrier: impl FnOnce()) {
        // Acquire: pairs with `count_out`, and with the end of another thread's barrier.
        let word = self.0.load(Ordering::Acquire);
        if !is_over(word) {
            self.end_with(word, barrier);
        }
    }

    #[cold]
    fn end_with(&self, mut word: u64, barrier: impl FnOnce()) {
        let mut counted = 0;
        while members(word) > 0 {
            let next = (word - members(word) + BARRIER).wrapping_add(NUMBER);
            // Acquire: as in `end`.
            match self
                .0
                .compare_exchange_weak(word, next, Ordering::Acquire, Ordering::Acquire)
            {
                Ok(_) => {
                    counted = BARRIER;
                    break;
                }
                Err(now) => word = now,
            }
        }
        if is_over(word) {
            return;
        }
        barrier();
        // Release: pairs with `end`: a thread that finds the lull ended sees what this barrier showed.
        self.0.fetch_sub(counted, Ordering::Release);
    }
}

fn members(word: u64) -> u64 {
    word % BARRIER
}

/// Whether there is neither member nor barrier.
fn is_over(word: u64) -> bool {
    word as u32 == 0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{BRISK, Lull, Membership};
    use std::cell::Cell;

    /// How many barriers the end of the lull takes.
    fn barriers(lull: &Lull) -> usize {
        let count = Cell::new(0);
        lull.end(|| count.set(count.get() + 1));
        count.get()
    }

    fn joined(lull: &Lull) -> Membership {
        let mine = Membership::new();
        for _ in 0..BRISK {
            assert!(!lull.lasts(&mine));
            lull.consider(&mine, false, || true, || false);
        }
        mine
    }

    #[test]
    fn a_lull_ends_once_for_all_members() {
        let lull = Lull::new();
        assert_eq!(barriers(&lull), 0);
        let (one, other) = (joined(&lull), joined(&lull));
        assert!(lull.lasts(&one) && lull.lasts(&other));
        assert_eq!((barriers(&lull), barriers(&lull)), (1, 0));
        assert!(!lull.lasts(&one) && !lull.lasts(&other));
        // It is not a member of the next lull, and is not counted out of it.
        let next = joined(&lull);
        lull.leave(&one);
        assert!(lull.lasts(&next));
        assert_eq!(barriers(&lull), 1);
        lull.consider(&other, false, || true, || false);
        assert!(!lull.lasts(&other));
    }

    #[test]
    fn a_member_that_leaves_costs_no_barrier() {
        let lull = Lull::new();
        let (one, other) = (joined(&lull), joined(&lull));
        lull.leave(&one);
        assert!(!lull.lasts(&one) && lull.lasts(&other));
        lull.leave(&other);
        lull.leave(&other);
        assert_eq!(barriers(&lull), 0);
    }

    #[test]
    fn none_joins_beside_a_sleeper_or_without_a_barrier() {
        let lull = Lull::new();
        let mine = Membership::new();
        for (woke, can, sleeps) in [
            (true, true, false),
            (false, false, false),
            (false, true, true),
        ] {
            for _ in 0..3 * BRISK {
                lull.consider(&mine, woke, || can, || sleeps);
                assert!(!lull.lasts(&mine));
            }
        }
        assert_eq!(barriers(&lull), 0);
    }

    /// Another thread that goes to sleep while the barrier is under way needs one of its own.
    #[test]
    fn beside_a_barrier_there_is_another() {
        let lull = Lull::new();
        let _mine = joined(&lull);
        let beside = Cell::new(0);
        lull.end(|| beside.set(barriers(&lull)));
        assert_eq!((beside.get(), barriers(&lull)), (1, 0));
    }
}
