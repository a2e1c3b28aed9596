//! What each call site has cost.
//!
//! A site is the address of a monomorphised function: one join of two closures, one loop over one
//! chain of adapters. The table is fixed, and its entries are plain atomics. Two sites that share
//! an entry push each other out, and the linker may fold two sites into one address. So everything
//! here is only a guess, and a prediction only decides how a call begins, never whether work is
//! offered in the end.
#![forbid(unsafe_code)]

use super::profit::Profit;
// The model checker's atomics cannot lie in a static, and a wrong guess is no error.
#[cfg(not(loom))]
use crate::base::sync::{AtomicU32, AtomicUsize, Ordering};
use std::cell::Cell;
#[cfg(loom)]
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

const ENTRIES: usize = 4096;
/// This many short calls in a row prove a site short.
const PROOF: u32 = 4;
/// For how many sites a thread counts at a time.
const ROWS: usize = 64;
/// After one uneven row of blocks, this many even ones are needed until the site counts as even again.
const UNEVEN: u32 = 8;
/// The average of an uneven site stands for about this many items.
const MANY: u64 = 1024;
/// A call overturns what is known if it takes this many times as long, and longer than the second
/// figure, in nanoseconds.
const SURPRISE: (u64, u64) = (8, 20_000);
/// Fractional bits of a cost per item.
const FRACTION: u32 = 8;

static TABLE: [Entry; ENTRIES] = [const { Entry::new() }; ENTRIES];

/// The record of one site.
#[derive(Debug)]
#[repr(align(32))]
pub(crate) struct Entry {
    site: AtomicUsize,
    /// Of a join: 1 if the last calls were all short. Of a loop, or of a whole call that one thread did: 1 if the last one that
    /// was noted took far longer than it was expected to.
    mark: AtomicU32,
    /// Moving average of nanoseconds per item, with `FRACTION` fractional bits; 0: not known.
    cost: AtomicU32,
    /// For how many more rows of blocks items of this site are expected to differ much.
    uneven: AtomicU32,
    /// Whether it pays to share short loops.
    pub(crate) profit: Profit,
}

/// What is known of a loop when it begins. Its parts use this copy: the shared line is not read
/// again for each part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    cost: u32,
    uneven: bool,
    doubted: bool,
}

impl Known {
    /// Nanoseconds that `items` items are expected to take.
    #[inline]
    pub(crate) fn predict(self, items: usize) -> Option<u64> {
        (self.cost != 0).then(|| (u64::from(self.cost)).saturating_mul(items as u64) >> FRACTION)
    }

    /// Whether some items are expected to take far longer than others.
    pub(crate) fn is_uneven(self) -> bool {
        self.uneven
    }

    /// Whether the last call that was noted took far longer.
    pub(crate) fn is_doubted(self) -> bool {
        self.doubted
    }

    /// Whether `items` items in this time are no longer what they were.
    #[inline]
    pub(crate) fn is_overturned(self, items: usize, nanos: u64) -> bool {
        nanos > SURPRISE.1 && self.predict(items).is_some_and(|n| nanos / SURPRISE.0 > n)
    }

    /// Whether `items` items in this time are far from that.
    pub(crate) fn is_far_off(self, items: usize, nanos: u64) -> bool {
        self.predict(items)
            .is_none_or(|known| nanos < known / 4 * 3 || nanos > known / 2 * 3)
    }
}

/// The entry of a site.
#[inline]
pub(crate) fn entry(site: usize) -> &'static Entry {
    let hash = (site as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    let entry = &TABLE[hash as usize & (ENTRIES - 1)];
    if entry.site.load(Ordering::Relaxed) != site {
        entry.start(site);
    }
    entry
}

thread_local! {
    /// Sites, and how many short calls in a row this thread has seen of each. Each thread has its
    /// own: the calls of a site differ, and each would write a line that all threads read. So only
    /// a proof, and its end, are written to the shared line.
    static SHORT: [Cell<(usize, u32)>; ROWS] = const { [const { Cell::new((0, 0)) }; ROWS] };
}

fn with_row<R>(site: usize, f: impl FnOnce(&Cell<(usize, u32)>) -> R) -> R {
    let hash = (site as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
    SHORT.with(|rows| f(&rows[hash as usize % ROWS]))
}

/// Whether the last few calls of a site were all short.
pub(crate) fn is_short(site: usize) -> bool {
    entry(site).mark.load(Ordering::Relaxed) == 1
}

/// Notes the wall time of a whole call, waits included: a row of short ones on one thread proves a
/// site, one long call revokes the proof.
pub(crate) fn record_call(site: usize, short: bool) {
    let proof = &entry(site).mark;
    let proven = proof.load(Ordering::Relaxed) == 1;
    if short && proven {
        return;
    }
    with_row(site, |row| {
        let before = row.get();
        let mut calls = match (short, before.0 == site) {
            (true, true) => before.1 + 1,
            (short, _) => u32::from(short),
        };
        if proven {
            proof.store(0, Ordering::Relaxed);
        } else if calls == PROOF {
            calls = 0;
            proof.store(1, Ordering::Relaxed);
        }
        row.set((site, calls));
    });
}

impl Entry {
    const fn new() -> Self {
        Self {
            site: AtomicUsize::new(0),
            mark: AtomicU32::new(0),
            cost: AtomicU32::new(0),
            uneven: AtomicU32::new(0),
            profit: Profit::new(),
        }
    }

    #[cold]
    fn start(&self, site: usize) {
        self.site.store(site, Ordering::Relaxed);
        self.mark.store(0, Ordering::Relaxed);
        self.cost.store(0, Ordering::Relaxed);
        self.uneven.store(0, Ordering::Relaxed);
        self.profit.start();
    }

    /// What is known.
    #[inline]
    pub(crate) fn read(&self) -> Known {
        Known {
            cost: self.cost.load(Ordering::Relaxed),
            uneven: self.uneven.load(Ordering::Relaxed) > 0,
            doubted: self.mark.load(Ordering::Relaxed) == 1,
        }
    }

    /// Nanoseconds that `items` items are expected to take.
    #[inline]
    pub(crate) fn predict(&self, items: usize) -> Option<u64> {
        self.read().predict(items)
    }

    /// Notes whether a row of blocks had an item that took far longer than others.
    pub(crate) fn record_uneven(&self, is: bool) {
        let old = self.uneven.load(Ordering::Relaxed);
        let new = if is { UNEVEN } else { old.saturating_sub(1) };
        if new != old {
            self.uneven.store(new, Ordering::Relaxed);
        }
    }

    /// Notes the time of a call's own blocks, without waits and wakes. One interrupted call must
    /// not make a site heavy: the average rises by at most half of itself, and falls half of the
    /// way. A time within an eighth of the average changes nothing. (At an uneven site the average goes as far as the row's
    /// share of [`MANY`] items, whichever way: a row of all of them that was interrupted is believed until the next one.)
    pub(crate) fn record_cost(&self, items: usize, nanos: u64) {
        if items == 0 {
            return;
        }
        let seen = cost(items, nanos);
        let old = u64::from(self.cost.load(Ordering::Relaxed));
        let new = match old {
            0 => seen,
            // Near enough: it is not worth writing a line that many threads read.
            _ if seen.abs_diff(old) <= old / 8 => return,
            // If items differ much, a row counts in proportion to its items. (If several rows end at once, some
            // are forgotten: with an exchange for each row, 128 threads waited for nothing but this line.)
            _ if self.uneven.load(Ordering::Relaxed) > 0 => {
                let items = (items as u64).min(MANY);
                (old * (MANY - items) + seen * items) / MANY
            }
            _ if seen > old => seen.min(old + old / 2 + 1),
            _ => old - (old - seen) / 2,
        };
        self.cost.store(new as u32, Ordering::Relaxed);
    }

    /// The same for a call. If two calls in a row take far longer than is known, the next probably will too: from then on
    /// the time of the second is what is known.
    pub(crate) fn record_call_cost(&self, items: usize, nanos: u64) {
        let known = self.read();
        let overturned = known.is_overturned(items, nanos);
        if overturned && known.doubted {
            self.replace_cost(items, nanos);
        } else {
            self.record_cost(items, nanos);
        }
        let doubted = overturned && !known.doubted;
        if doubted != known.doubted {
            self.mark.store(doubted.into(), Ordering::Relaxed);
        }
    }

    /// Whether the last call was in doubt; from now on this says so.
    pub(crate) fn doubt(&self, is: bool) -> bool {
        let was = self.mark.load(Ordering::Relaxed) == 1;
        if was != is {
            self.mark.store(is.into(), Ordering::Relaxed);
        }
        was
    }

    /// Notes the time of a part of a short loop that was shared: what sharing costs is in it. So it
    /// says at most that items are cheaper than they were thought to be.
    pub(crate) fn record_shared(&self, items: usize, nanos: u64) {
        if items > 0 && cost(items, nanos) < self.cost.load(Ordering::Relaxed).into() {
            self.record_cost(items, nanos);
        }
    }

    /// Notes the time of a loop that one thread ran, in place of what was known before.
    pub(crate) fn replace_cost(&self, items: usize, nanos: u64) {
        if items > 0 {
            self.cost
                .store(cost(items, nanos) as u32, Ordering::Relaxed);
        }
    }
}

/// The cost of each of `items` items that took `nanos`.
fn cost(items: usize, nanos: u64) -> u64 {
    (nanos.saturating_mul(1 << FRACTION) / items as u64).clamp(1, u32::MAX.into())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Entry, PROOF, is_short, record_call};

    // One test: the table belongs to the process, and the sites of other tests may push these out.
    #[test]
    fn four_short_calls_on_one_thread_prove_and_one_long_call_revokes() {
        for site in 1..8 {
            for _ in 0..2 {
                for _ in 0..PROOF {
                    assert!(!is_short(site));
                    record_call(site, true);
                }
                assert!(is_short(site));
                record_call(site, false);
                assert!(!is_short(site));
            }
        }
        // A proof holds for every thread, but a row of calls from several threads proves nothing.
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| (1..PROOF).for_each(|_| record_call(8, true)));
            }
        });
        assert!(!is_short(8));
        (0..PROOF).for_each(|_| record_call(8, true));
        std::thread::scope(|s| s.spawn(|| assert!(is_short(8))).join().unwrap());
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
