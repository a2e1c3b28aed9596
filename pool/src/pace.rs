//! What adaptive callers ask: is anybody hungry, is this worth a wake-up, how large a block?
//!
//! A wake-up costs its caller microseconds, so work has to be worth it. For joins:
//!
//! * At a site **proven short** (its last few calls all took less than [`SHORT`]) a push is
//!   private and wakes nobody; one call in [`CALM`] is timed, and one long call revokes the
//!   proof. Should such a call block after all, the thread that looks after others publishes
//!   what it left behind; while there is no such thread, no site counts as short.
//! * At any other site the outermost pushes are public at once, and a thread is woken if one
//!   sleeps and none searches, before user code runs.
//! * Deeper pushes stay private until somebody asks. Requests are answered at intervals of
//!   [`ANSWER`]; while threads sleep, the request that the last of them left stands, so an
//!   owner that runs long with work on offer wakes them.
#![forbid(unsafe_code)]

use crate::clock;
use crate::ledger;
use crate::seat::{Holder, Seat};
use crate::worker::Worker;

/// A call shorter than this is short, in nanoseconds.
const SHORT: u64 = 5_000;
/// So many pushes at one site go without a thought after one that had one.
const CALM: u32 = 64;
/// Requests for work are answered no more often than this, in nanoseconds.
const ANSWER: u64 = 2_000;

/// A job was pushed at `depth` by the join `site`: is it to be published, and for whom? Gives
/// the time if the call is to be timed, else 0.
#[cold]
#[inline(never)]
pub(crate) fn consider(worker: &Worker<'_>, depth: usize, site: usize) -> u64 {
    let nested = worker.nested();
    if nested.is_outermost(depth) {
        if is_short(worker, site) {
            nested.keep_calm(site, CALM);
            return clock::now();
        }
        worker.publish(usize::MAX);
        worker.wake_one();
        return clock::now();
    }
    if nested.is_wanted() && !is_short(worker, site) {
        answer(worker);
    }
    nested.keep_calm(site, CALM / 4);
    0
}

/// A call that was timed has ended.
#[cold]
#[inline(never)]
pub(crate) fn record(site: usize, start: u64) {
    ledger::entry(site).record_call(clock::since(start) < clock::ticks(SHORT));
}

fn is_short(worker: &Worker<'_>, site: usize) -> bool {
    // A thread that goes to sleep from here on looks after the others; one that sleeps below a
    // guest could not do anything for them.
    let shared = worker.shared;
    let parked = |seat: &Seat| seat.word.load() == Holder::Parked;
    let watched = shared.sleep.is_looked_after() || !shared.seats.iter().any(parked);
    watched && ledger::entry(site).is_short()
}

/// Somebody asked for work: gives them the outermost quarter of what is private, unless the
/// last answer was only just given.
fn answer(worker: &Worker<'_>) {
    let (nested, notes) = (worker.nested(), &worker.seat.notes);
    let now = clock::now();
    if now.saturating_sub(notes.answered.get()) < clock::ticks(ANSWER) {
        return;
    }
    notes.answered.set(now);
    nested.take_request();
    worker.publish(1 + nested.private() / 4);
    worker.wake_one();
    if worker.shared.sleep.census().sleeping() > 0 {
        // Taken down first, read after: a sleeper registers first and asks after.
        nested.want();
    }
}
