//! The decisions of a join: is its second half offered, and is that worth a wake-up?
//!
//! A wake-up costs its caller microseconds, so work has to be worth it. For joins:
//!
//! * At a site **proven short** (the last few calls of one thread all took less than [`SHORT`]) a push is private
//!   and wakes no thread. One call in [`SKIPS`] is timed, and one long call revokes the proof. If
//!   such a call blocks after all, the looker publishes what it left behind; while no thread looks
//!   after the others, no site counts as short.
//! * At any other site the outermost pushes are public at once, and a thread is woken if one
//!   sleeps and too few search, before user code runs.
//! * Deeper pushes stay private until a thread asks. Requests are answered at intervals of
//!   [`ANSWER`]. While threads sleep, the request that the last of them left stands, so an owner
//!   that runs long with work on offer wakes them.
#![forbid(unsafe_code)]

use super::site_costs;
use crate::base::clock;

/// A call shorter than this is short, in nanoseconds.
const SHORT: u64 = 5_000;
/// This many pushes at one site go without a check after one that had one.
const SKIPS: u32 = 64;
/// Requests for work are answered no more often than this, in nanoseconds.
const ANSWER: u64 = 2_000;

/// What is known of a push.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Push {
    /// The address of its join.
    pub(crate) site: usize,
    /// Whether pushes at its depth are public even without a request.
    pub(crate) outermost: bool,
    /// Whether a thread has asked for work.
    pub(crate) wanted: bool,
}

/// What is to be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Nothing; this many further pushes at the site need no check. `timed` asks for
    /// [`record`] at the end.
    Nothing { skips: u32, timed: bool },
    /// Everything is published, a thread woken, and the call timed.
    Everything,
    /// A part is published, if the last answer was long enough ago ([`is_due`]); then as `Nothing`.
    Part { skips: u32 },
}

/// Decides. `watched` says whether a thread looks after stuck owners.
pub(crate) fn decide(push: Push, watched: impl FnOnce() -> bool) -> Offer {
    let is_short = || watched() && site_costs::is_short(push.site);
    if push.outermost {
        if is_short() {
            return Offer::Nothing {
                skips: SKIPS,
                timed: true,
            };
        }
        return Offer::Everything;
    }
    let skips = SKIPS / 4;
    if push.wanted && !is_short() {
        return Offer::Part { skips };
    }
    Offer::Nothing {
        skips,
        timed: false,
    }
}

/// Whether a request may be answered now, if the last one was at `answered`.
pub(crate) fn is_due(now: u64, answered: u64) -> bool {
    now.saturating_sub(answered) >= clock::ticks(ANSWER)
}

/// How many of the private jobs are published for a request.
pub(crate) fn part(private: usize) -> usize {
    1 + private / 4
}

/// A call that was timed has ended.
#[cold]
#[inline(never)]
pub(crate) fn record(site: usize, start: u64) {
    site_costs::record_call(site, clock::since(start) < clock::ticks(SHORT));
}
