//! Whether it pays to share the short loops of a site.
//!
//! What it takes other threads to come for a part depends on how many there are, what they must fetch, and whether
//! they sleep. No figure fits all loops, so a site tries: a short loop is run by one thread first, which tells what it
//! takes. Then [`TRIES`] of them are shared. If none of these was over much sooner, loops of that length and shorter
//! ones are run by one thread for a time, and then it is tried again.
//!
//! As all that a site is known by, it is a guess: the accesses are Relaxed, and of two threads that write at once
//! one is forgotten.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use crate::base::sync::{AtomicU32, Ordering};
#[cfg(loom)]
use std::sync::atomic::{AtomicU32, Ordering};

/// Loops that are expected to take less than this, in nanoseconds, are short.
pub(crate) const SHORT: u64 = 200_000;
/// So many loops in a row are shared in vain before the next are not.
const TRIES: u32 = 4;
/// Then so many are not, and twice as many each time that this comes out again, up to a limit: 2 to this power.
const REST: (u32, u32) = (8, 11);
/// The bits of the phase; what lies above is how many times a rest came out again.
const BITS: u32 = 16;
const PHASE: u32 = (1 << BITS) - 1;
/// The phases: no short loop was run alone yet; tries; behind these, the loops that are left of a rest.
const NEW: u32 = 0;
const FIRST: u32 = 1;
const LAST: u32 = TRIES;

/// What one site has found.
#[derive(Debug)]
pub(crate) struct Profit {
    state: AtomicU32,
    /// Up to what length, in nanoseconds, loops were shared in vain.
    vain: AtomicU32,
}

impl Profit {
    pub(crate) const fn new() -> Self {
        Self {
            state: AtomicU32::new(NEW),
            vain: AtomicU32::new(0),
        }
    }

    pub(crate) fn start(&self) {
        self.state.store(NEW, Ordering::Relaxed);
        self.vain.store(0, Ordering::Relaxed);
    }

    fn state(&self) -> (u32, u32) {
        let state = self.state.load(Ordering::Relaxed);
        (state >> BITS, state & PHASE)
    }

    fn set(&self, level: u32, phase: u32) {
        self.state.store(level << BITS | phase, Ordering::Relaxed);
    }

    /// Whether no short loop has been run alone yet.
    pub(crate) fn is_new(&self) -> bool {
        self.state().1 == NEW
    }

    /// Loops that are expected to take less than this, in nanoseconds, are not shared for now.
    #[inline]
    pub(crate) fn least(&self) -> u64 {
        match self.state().1 {
            NEW => SHORT,
            FIRST..=LAST => 0,
            // Much the same length counts as the same.
            _ => u64::from(self.vain.load(Ordering::Relaxed)) / 4 * 5,
        }
    }

    /// A loop was not shared for that reason, or this number of `loops`.
    pub(crate) fn alone(&self, loops: u32) {
        match self.state() {
            (level, NEW) => self.set(level, FIRST),
            (_, FIRST..=LAST) => {}
            (level, rest) if rest > LAST + loops => self.set(level, rest - loops),
            (level, _) => self.set(level, FIRST),
        }
    }

    /// A loop that one thread would have run in `alone` nanoseconds was shared, and took this time.
    pub(crate) fn shared(&self, alone: u64, took: u64) {
        let (level, phase) = self.state();
        let vain = self.vain.load(Ordering::Relaxed);
        let gains = took < alone / 8 * 7;
        if phase > LAST {
            // A longer loop, or what is known of its items has changed.
            if !gains {
                let most = vain.saturating_mul(2).min(SHORT as u32);
                self.vain.store(
                    vain.max(most.min(alone.min(SHORT) as u32)),
                    Ordering::Relaxed,
                );
            }
            return;
        }
        if gains {
            // A longer one says nothing of shorter ones.
            if alone <= u64::from(vain) && (phase, level) != (FIRST, 0) {
                self.vain.store(0, Ordering::Relaxed);
                self.set(0, FIRST);
            }
            return;
        }
        self.vain
            .store(vain.max(alone.min(SHORT) as u32), Ordering::Relaxed);
        if phase < LAST {
            self.set(level, phase + 1);
        } else {
            let rest = 1 << (REST.0 + level).min(REST.1);
            self.set((level + 1).min(REST.1 - REST.0), LAST + rest);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Profit, REST, SHORT, TRIES};

    /// The number of loops that are run alone until one is shared again.
    fn rest(of: &Profit, nanos: u64) -> u32 {
        let mut count = 0;
        while nanos < of.least() {
            of.alone(1);
            count += 1;
        }
        count
    }

    fn in_vain(of: &Profit, nanos: u64) {
        (0..TRIES).for_each(|_| of.shared(nanos, nanos));
    }

    #[test]
    fn a_new_site_runs_one_short_loop_alone() {
        let site = Profit::new();
        assert!(site.is_new() && SHORT >= site.least());
        assert_eq!(rest(&site, 10_000), 1);
        assert!(!site.is_new());
        assert_eq!(rest(&site, 10_000), 0);
    }

    #[test]
    fn loops_that_are_shared_in_vain_are_not_for_a_time_and_then_for_longer() {
        let site = Profit::new();
        site.alone(1);
        for at in [REST.0, REST.0 + 1, REST.0 + 2, REST.1, REST.1, REST.1] {
            in_vain(&site, 10_000);
            assert_eq!(rest(&site, 20_000), 0, "longer ones are shared");
            assert_eq!(rest(&site, 10_000), 1 << at);
        }
        site.shared(10_000, 5_000);
        in_vain(&site, 10_000);
        assert_eq!(rest(&site, 10_000), 1 << REST.0, "as at first");
    }

    #[test]
    fn one_that_was_worth_it_begins_the_tries_anew() {
        let site = Profit::new();
        site.alone(1);
        for _ in 0..10 {
            (1..TRIES).for_each(|_| site.shared(10_000, 10_000));
            site.shared(9_000, 5_000);
            assert_eq!(rest(&site, 10_000), 0);
        }
        // That a longer one was worth it says nothing of this.
        (0..TRIES).for_each(|_| {
            site.shared(10_000, 10_000);
            site.shared(90_000, 20_000);
        });
        assert_eq!(rest(&site, 10_000), 1 << REST.0);
    }

    #[test]
    fn a_longer_loop_that_is_shared_in_vain_meanwhile_is_not_any_more() {
        let site = Profit::new();
        site.alone(1);
        in_vain(&site, 10_000);
        assert!(site.least() < 15_000);
        site.shared(15_000, 7_000);
        assert!(site.least() < 15_000, "that one was worth it");
        site.shared(15_000, 15_000);
        assert!(site.least() > 15_000);
        // One that was held up says little.
        site.shared(150_000, 150_000);
        assert!(site.least() < 40_000);
    }

    #[test]
    fn a_rest_ends_whatever_is_counted() {
        let site = Profit::new();
        site.alone(1);
        in_vain(&site, u64::MAX);
        assert!(site.least() > 0);
        (0..100).for_each(|_| site.alone(7));
        assert_eq!(site.least(), 0);
    }
}
