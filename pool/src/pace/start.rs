//! How a call of a loop begins: by what is known of its site, and by the state of the pool.
//!
//! Many calls are far shorter than the state with which a longer loop is run. So that state is built only for a loop
//! that needs it: from a [`Start`], which says at once whether the loop is *plain*, that is so short that each of its pieces
//! is a block. (The tests are those of the pace.)
#![forbid(unsafe_code)]

use super::glance::Glance;
use super::loop_pace::{DEAR, FEW, JOURNEY, Pace, Seed, TINY, View};
use super::profit::Class;
use super::site_costs::{Entry, Known};
use crate::base::clock;

/// Of calls that are expected to be shorter than a journey, one in N is noted. This is N for those shorter than
/// [`TINY`], and for the others. Longer calls that are not shared are counted like those shorter than [`TINY`]:
/// many threads may call at one site. A call is checked for being far longer than known if it is noted, if it is
/// expected to take [`TINY`] or more, or if the last call was far longer.
const TIMED: (u64, u64) = (Pace::COUNTED, 4);

/// A loop that is known to be shorter than this, in nanoseconds, is laid out in at most [`COARSE`] pieces.
const SHORT: u64 = 5_000;
const COARSE: usize = 16;
/// A loop that is not to be shared and is expected to be shorter than this is run in pieces of one block.
const PLAIN: u64 = 40_000;

/// What is known of a call by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    /// Of its site.
    pub(crate) entry: &'static Entry,
    /// The number of its items.
    pub(crate) len: usize,
    /// Where another folder costs much: parts are worth giving away from that number of nanoseconds on.
    pub(crate) worth: u64,
    /// Whether it may be that a short one is not shared.
    pub(crate) tries: bool,
    /// Whether it is part of another call of its loop.
    pub(crate) inner: bool,
    /// In the pool where it is made.
    pub(crate) threads: usize,
}

/// A call of a loop that begins.
///
/// It is used where it was made, behind a reference: copied just after its parts were written, it would cost more than
/// the rest of a short call.
#[derive(Debug)]
pub(crate) struct Start {
    entry: &'static Entry,
    known: Known,
    threads: usize,
    pieces: usize,
    /// What the call is expected to take, in nanoseconds; 0 if that is not known.
    whole: u64,
    /// When it began, if that is looked at; else 0.
    at: u64,
    is_plain: bool,
    open: bool,
    alone: bool,
    brief: bool,
    counts: bool,
    /// The first items, and the ticks that they took, if that was far longer than expected.
    overturned: Option<(usize, u64)>,
}

impl Start {
    /// That call, in a pool that looks like this.
    #[inline]
    pub(crate) fn new(call: &Call, view: &impl View) -> Self {
        let Call {
            entry,
            len,
            worth,
            tries,
            inner,
            threads,
        } = *call;
        let known = entry.read();
        let expected = known.predict(len);
        // A call that is too short for a second folder need not look whether other threads want a part.
        let kept = worth > JOURNEY && expected.is_some_and(|nanos| nanos < worth.min(DEAR.0));
        let tries = tries && threads > 1 && !kept && !inner && view.is_outermost();
        let class = expected.filter(|_| tries).and_then(|n| entry.profit.of(n));
        let alone = kept || class.is_some_and(Class::is_alone);
        let pieces = match expected {
            _ if threads == 1 => 1,
            // At least one item for each thread, since items may wait for each other.
            Some(_) if alone => (2 * threads).min(COARSE.max(threads)),
            Some(nanos) if nanos < SHORT => (2 * threads).min(COARSE),
            _ => 2 * threads,
        };
        // One piece leaves nothing beside it.
        let watched = pieces == 1 || view.watched();
        // No other thread would come in time for a part of the call, so it need not look whether a thread
        // would.
        let most = if alone { PLAIN } else { JOURNEY };
        let plain = expected.filter(|&nanos| watched && nanos < most);
        let every = match plain {
            // About one in 16, as often as each call that runs alone.
            Some(_) if !alone => TIMED.1,
            _ => TIMED.0,
        };
        // A look at the clock costs much, compared with the shortest calls. Most inner calls are far shorter
        // than the average of their depth.
        let seldom = |nanos| (nanos < TINY || inner) && !known.is_doubted();
        let (look, late) = match plain {
            Some(nanos) if seldom(nanos) => match view.glance() {
                Some(Glance { now, late }) => (now, late),
                None => (0, false),
            },
            Some(_) => (clock::now(), true),
            None => (u64::from(alone), false),
        };
        let counts = look > 0 && (view.chance(every) || alone && class.is_some_and(Class::is_new));
        Self {
            entry,
            known,
            threads,
            pieces,
            whole: expected.unwrap_or(0),
            at: if counts || late { look } else { 0 },
            is_plain: plain.is_some(),
            open: expected.is_none() && len < FEW || !watched,
            alone,
            brief: class.is_some(),
            counts,
            overturned: None,
        }
    }

    /// If the loop is plain: the number of pieces in which it is laid out.
    #[inline]
    pub(crate) fn plain(&self) -> Option<usize> {
        self.is_plain.then_some(self.pieces)
    }

    /// Whether the time of a plain loop is looked at.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.at != 0
    }

    /// All `len` items of a plain loop have been run; its time is looked at.
    pub(crate) fn record(&self, len: usize) {
        let nanos = clock::nanos(clock::since(self.at));
        if self.counts || self.known.is_doubted() || self.known.is_overturned(len, nanos) {
            self.note(len, nanos);
        }
    }

    #[cold]
    fn note(&self, len: usize, nanos: u64) {
        self.pace().note_plain(len, nanos);
    }

    /// The first `items` of a plain loop have been run, whose time is looked at. If they took far longer than
    /// expected, the loop is no longer plain.
    pub(crate) fn overturns(&mut self, items: usize) -> bool {
        let ticks = clock::since(self.at);
        let is = self.known.is_overturned(items, clock::nanos(ticks));
        if is {
            self.overturned = Some((items, ticks));
        }
        is
    }

    /// As if it had begun this number of nanoseconds ago.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn began(&mut self, nanos: u64) {
        self.at = clock::now() - clock::ticks(nanos);
    }

    /// What a thread needs to know to take over a part.
    pub(crate) fn seed(&self) -> Seed {
        Seed {
            entry: self.entry,
            known: self.known,
            least: JOURNEY,
            crew: self.threads as u64,
            levels: self.pieces.next_power_of_two().trailing_zeros(),
            open: self.open,
            long: false,
            brief: self.brief,
        }
    }

    /// The pace at which it is run.
    pub(crate) fn pace(&self) -> Pace {
        let mut pace = Pace::begun(self.seed(), self.whole, self.alone, self.counts);
        if let Some((items, ticks)) = self.overturned {
            pace.overturn(items, ticks);
        }
        pace
    }
}
