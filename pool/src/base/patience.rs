//! How long a thread that has found nothing goes on looking.
#![forbid(unsafe_code)]

use crate::base::clock;
use crate::base::sync::{relax, yield_now};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// A yield that took longer than this, in nanoseconds, gave the processor to another program for a
/// turn of some milliseconds. A shorter yield may have helped a thread of this program, for
/// instance one that hands work to the pool.
const SLOW: u64 = 1_000_000;
/// The same in a pool of more threads than there are processors: there, threads of the pool itself may take a turn meanwhile.
const SLOW_IN_A_CROWD: u64 = 2_000_000;
/// After such a yield, no thread of the pool yields for this time, in nanoseconds.
const DEAR: u64 = 100_000_000;
/// Rounds of pauses before the first yield.
const PAUSES: u32 = 8;

/// How many processors there are, as the system said when it was first asked: it reads files for the answer, which takes as
/// long as making a small pool. 0 if it does not say.
fn processors() -> usize {
    // The processors of the laboratory are not the system's.
    if cfg!(tine_sched) {
        return 1 << 16;
    }
    // 0 before the first answer, then the answer plus 1. No lock: a forked child could find it closed for ever.
    // Relaxed: the number stands for itself.
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    let mut known = KNOWN.load(Ordering::Relaxed);
    if known == 0 {
        known = 1 + available_parallelism().map_or(0, NonZero::get);
        KNOWN.store(known, Ordering::Relaxed);
    }
    known - 1
}

/// Whether the threads of a pool may yield.
#[derive(Debug)]
pub(crate) struct Yields {
    /// How many threads can run at the same time.
    processors: usize,
    /// Whether each thread of the pool may have a processor. If not, threads wait for each other all the time.
    roomy: bool,
    /// The time until which they do not yield, in ticks. A guess: all accesses are Relaxed, and if
    /// two threads write at once, one write is lost.
    dear_until: AtomicU64,
    /// When a job was last queued from outside, in ticks, as far as that is noted. Relaxed: for guesses.
    queued_at: AtomicU64,
}

impl Yields {
    /// Of a pool of that many threads.
    pub(crate) fn new(threads: usize) -> Self {
        let processors = processors();
        Self {
            processors,
            roomy: threads <= processors,
            dear_until: AtomicU64::new(0),
            queued_at: AtomicU64::new(0),
        }
    }

    /// How many of that number of threads can run at the same time. At least one does.
    pub(crate) fn at_once(&self, threads: usize) -> usize {
        threads.min(self.processors.max(1))
    }

    fn are_dear(&self, now: u64) -> bool {
        let until = self.dear_until.load(Ordering::Relaxed);
        // If it is farther off, the clock was set back.
        now < until && until - now <= clock::ticks(DEAR)
    }

    /// A job is about to be queued from outside.
    pub(crate) fn note_queued(&self) {
        self.queued_at.store(clock::now(), Ordering::Relaxed);
    }

    /// When the last such job was queued.
    pub(crate) fn queued_at(&self) -> u64 {
        self.queued_at.load(Ordering::Relaxed)
    }

    fn is_slow(&self, ticks: u64) -> bool {
        ticks > clock::ticks(if self.roomy { SLOW } else { SLOW_IN_A_CROWD })
    }

    fn are_slow(&self, now: u64) {
        self.dear_until
            .store(now + clock::ticks(DEAR), Ordering::Relaxed);
    }
}

/// How long to go on looking: [`PAUSES`] rounds of pauses, unless these are left out, then yields, until the time is up.
///
/// Where other programs want the processor, a thread that yields again and again hardly runs: the
/// system counts each yield as a turn, and when the thread gets its next turn, the work is gone. A
/// thread that sleeps keeps its turns. So after a long yield no thread yields for a while, and the
/// time is up at once.
#[derive(Debug)]
pub(crate) struct Patience<'a> {
    yields: &'a Yields,
    rounds: u32,
    /// When the rounds were over; 0 before that.
    start: u64,
    nanos: u64,
    /// Whether the last yield was slow, and the thread has not waited again since.
    slow: bool,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(nanos: u64, yields: &'a Yields) -> Self {
        Self {
            yields,
            rounds: 0,
            start: 0,
            nanos,
            slow: false,
        }
    }

    /// Yields from the first round on, without pauses before, so that a thread that wants the
    /// processor gets it at once. While yields are expensive, one round of pauses stays: without it
    /// the wait would end before its first look. More of them would keep a thread off the processor
    /// that this thread is about to leave.
    pub(crate) fn make_room(&mut self) {
        let dear = self.yields.are_dear(clock::now());
        self.rounds = PAUSES - u32::from(dear);
    }

    /// The same, if the pool has more threads than there are processors.
    pub(crate) fn make_room_if_scarce(&mut self) {
        if !self.yields.roomy {
            self.make_room();
        }
    }

    /// Lets some time pass. Returns `false` when there is none left.
    pub(crate) fn wait(&mut self) -> bool {
        self.wait_unless(|| false)
    }

    /// The same, but less of it if what is waited for has `come`.
    pub(crate) fn wait_unless(&mut self, come: impl Fn() -> bool) -> bool {
        self.wait_by(come, yield_now)
    }

    /// The same, where `give_way` gives the processor to other threads.
    fn wait_by(&mut self, come: impl Fn() -> bool, give_way: impl FnOnce()) -> bool {
        self.rounds += 1;
        self.slow = false;
        if self.rounds <= PAUSES {
            for _ in 0..8 {
                (0..4).for_each(|_| relax());
                if come() {
                    break;
                }
            }
            return true;
        }
        let now = clock::now();
        if self.start == 0 {
            self.start = now;
        }
        let over = clock::have_passed(clock::ticks(self.nanos), self.start, now);
        if over || self.yields.are_dear(now) {
            return false;
        }
        give_way();
        self.slow = self.yields.is_slow(clock::now().saturating_sub(now));
        true
    }

    /// What the thread looks for has come, at the time `since`, in ticks; 0 if that is not known. If it came early in a slow
    /// yield, no thread of the pool yields for a while. A yield during which nothing came has done no harm: while a
    /// program computes by itself, on the processor of a thread that searches, yields are slow as well.
    pub(crate) fn end(&self, since: u64) {
        if self.slow {
            let now = clock::now();
            if self.yields.is_slow(now.saturating_sub(since)) {
                self.yields.are_slow(now);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{DEAR, Patience, SLOW, SLOW_IN_A_CROWD, Yields, clock};
    use std::thread::sleep;
    use std::time::Duration;

    /// Of pools whose threads have a processor each, and of those that have more threads, with what is slow there.
    const POOLS: [(usize, u64); 2] = [(1, SLOW), (usize::MAX, SLOW_IN_A_CROWD)];

    #[test]
    fn after_a_slow_yield_there_are_none_for_a_while() {
        for (threads, slow) in POOLS {
            let yields = Yields::new(threads);
            assert!(!yields.is_slow(clock::ticks(slow)) && yields.is_slow(clock::ticks(2 * slow)));
            let now = clock::now();
            assert!(!yields.are_dear(now));
            yields.are_slow(now);
            assert!(yields.are_dear(now + clock::ticks(DEAR / 2)));
            assert!(!yields.are_dear(now + clock::ticks(2 * DEAR)));
            // The waiter looks around as before, and then its patience is at its end.
            let mut patience = Patience::new(u64::from(u32::MAX), &yields);
            assert!((0..8).all(|_| patience.wait()));
            assert!(!patience.wait() || !yields.are_dear(clock::now()));
            // A thread that makes room then has one round of them.
            let mut patience = Patience::new(u64::from(u32::MAX), &yields);
            patience.make_room();
            assert!(patience.wait());
            assert!(!patience.wait() || !yields.are_dear(clock::now()));
        }
    }

    #[test]
    fn threads_without_a_processor_do_not_run() {
        let yields = Yields::new(64);
        let most = yields.at_once(usize::MAX);
        assert!(most >= 1 && yields.at_once(most) == most && yields.at_once(0) == 0);
    }

    /// A yield of twice the limit, after which `then` has its turn. Whether yields are known to be slow afterwards.
    fn counts(threads: usize, slow: u64, then: impl FnOnce(&mut Patience<'_>, u64)) -> bool {
        let yields = Yields::new(threads);
        let mut patience = Patience::new(u64::from(u32::MAX), &yields);
        patience.make_room();
        let start = clock::now();
        let long = Duration::from_nanos(2 * slow);
        assert!(patience.wait_by(|| false, || sleep(long)));
        then(&mut patience, start);
        yields.dear_until.load(super::Ordering::Relaxed) != 0
    }

    #[test]
    fn a_slow_yield_counts_if_what_is_looked_for_came_early_in_it() {
        for (threads, slow) in POOLS {
            assert!(counts(threads, slow, |patience, _| patience.end(0)));
            assert!(counts(threads, slow, |patience, start| patience.end(start)));
            assert!(!counts(threads, slow, |_, _| ()));
            // It waited again, in vain, and its time was over.
            assert!(!counts(threads, slow, |patience, _| {
                patience.nanos = 0;
                assert!(!patience.wait_by(|| false, || ()));
                patience.end(0);
            }));
            let late = |patience: &mut Patience<'_>, _| patience.end(clock::now());
            assert!(!counts(threads, slow, late));
        }
    }

    #[test]
    fn a_thread_that_makes_room_yields_at_once() {
        let yields = Yields::new(1);
        let mut patience = Patience::new(u64::from(u32::MAX), &yields);
        patience.make_room();
        let mut yielded = false;
        assert!(patience.wait_by(|| false, || yielded = true));
        assert!(yielded);
    }
}
