//! What each call site has cost.
//!
//! A site is the address of a monomorphised function: one join of two closures, one loop over one
//! chain of adapters. The table is fixed, and its entries are plain atomics. Two sites that meet in
//! one entry push each other out, and the linker may fold two sites into one address, so nothing
//! here is more than a guess. So a prediction only chooses how to begin, never whether work is
//! offered in the end.
#![forbid(unsafe_code)]

// The model checker's atomics cannot be in a static, and a wrong guess is no error.
#[cfg(not(loom))]
use crate::base::sync::{AtomicU32, AtomicUsize, Ordering};
#[cfg(loom)]
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const ENTRIES: usize = 1024;
/// This many short calls in a row prove a site short.
const PROOF: u32 = 4;
/// Fractional bits of a cost per item.
const FRACTION: u32 = 8;

static TABLE: [Entry; ENTRIES] = [const { Entry::new() }; ENTRIES];

/// The record of one site.
#[derive(Debug)]
#[repr(align(16))]
pub(crate) struct Entry {
    site: AtomicUsize,
    /// Short calls in a row.
    streak: AtomicU32,
    /// Moving average of nanoseconds per item, with `FRACTION` fractional bits; 0: not known.
    cost: AtomicU32,
}

/// The entry of a site.
#[inline]
pub(crate) fn entry(site: usize) -> &'static Entry {
    let hash = (site as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    let entry = &TABLE[hash as usize & (ENTRIES - 1)];
    if entry.site.load(Ordering::Relaxed) != site {
        entry.start(site);
    }
    entry
}

impl Entry {
    const fn new() -> Self {
        Self {
            site: AtomicUsize::new(0),
            streak: AtomicU32::new(0),
            cost: AtomicU32::new(0),
        }
    }

    #[cold]
    fn start(&self, site: usize) {
        self.site.store(site, Ordering::Relaxed);
        self.streak.store(0, Ordering::Relaxed);
        self.cost.store(0, Ordering::Relaxed);
    }

    /// Whether the last few calls were all short.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.streak.load(Ordering::Relaxed) >= PROOF
    }

    /// Notes the wall time of a whole call, waits included. One long call ends a row of short ones.
    pub(crate) fn record_call(&self, short: bool) {
        let old = self.streak.load(Ordering::Relaxed);
        let streak = if short { (old + 1).min(PROOF) } else { 0 };
        if streak == old {
            return;
        }
        self.streak.store(streak, Ordering::Relaxed);
    }

    /// Nanoseconds that `items` items are expected to take.
    #[inline]
    pub(crate) fn predict(&self, items: usize) -> Option<u64> {
        let cost = self.cost.load(Ordering::Relaxed);
        (cost != 0).then(|| (u64::from(cost)).saturating_mul(items as u64) >> FRACTION)
    }

    /// Notes the time of a call's own blocks, without waits and wakes. One interrupted call must
    /// not make a site heavy: the average rises by at most half of itself, and falls half of the
    /// way. A time within an eighth of the average changes nothing.
    pub(crate) fn record_cost(&self, items: usize, nanos: u64) {
        if items == 0 {
            return;
        }
        let seen = (nanos.saturating_mul(1 << FRACTION) / items as u64).clamp(1, u32::MAX.into());
        let old = u64::from(self.cost.load(Ordering::Relaxed));
        let new = match old {
            0 => seen,
            // Near enough: not worth writing a line that many threads read.
            _ if seen.abs_diff(old) <= old / 8 => return,
            _ if seen > old => seen.min(old + old / 2 + 1),
            _ => old - (old - seen) / 2,
        };
        self.cost.store(new as u32, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Entry, PROOF};

    #[test]
    fn four_short_calls_prove_and_one_long_call_revokes() {
        let entry = Entry::new();
        for _ in 0..PROOF {
            assert!(!entry.is_short());
            entry.record_call(true);
        }
        assert!(entry.is_short());
        entry.record_call(false);
        assert!(!entry.is_short());
    }

    #[test]
    fn one_interrupted_call_does_not_make_a_site_heavy() {
        let entry = Entry::new();
        assert_eq!(entry.predict(100), None);
        entry.record_cost(1000, 1000);
        assert_eq!(entry.predict(100), Some(100));
        entry.record_cost(1000, 10_000_000);
        assert!(entry.predict(100).unwrap() <= 151);
        entry.record_cost(1000, 0);
        assert!(entry.predict(100).unwrap() <= 76);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let entry = Entry::new();
        entry.record_cost(1, u64::MAX);
        assert!(entry.predict(usize::MAX).is_some());
        entry.record_cost(0, 5);
        entry.record_cost(usize::MAX, 0);
        assert!(entry.predict(1).is_some());
    }
}
