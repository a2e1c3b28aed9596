//! The pace of a loop: how large a block, when to share, and whether a thread is woken for it.
//!
//! A loop is first *laid out*: its farther half, then the farther half of the rest, and so on until
//! about 2 × threads pieces are told apart, go into the deque as private jobs, the nearest piece last.
//! That costs next to nothing, and should an item block, the other pieces are there to be published
//! for the owner. The layout is public from the start where nothing is known of a loop of few items,
//! since each of them may be long, and where no thread looks after stuck owners.
//!
//! A piece is run in blocks of about three microseconds, the first small, each at most four times the
//! one before, none more than an eighth of what remains. Between blocks it asks whether part of the
//! rest is to be given away, and to which thread:
//!
//! * one that **waits** for this very loop and is hungry, or one that **searches**, if the rest is worth
//!   a journey;
//! * one that **sleeps**, if the rest is worth a wake-up: five times what wake-ups have
//!   been seen to cost their caller here, and three times what sleepers have been seen to take to
//!   come. Of less than the latter the first loop goes without: but not a second one soon after,
//!   since a thread that is woken for that is awake for those that follow;
//! * none, while what was given away before still lies there.
//!
//! What the rest takes is told by the blocks run so far, and before the first by the site's costs.
#![forbid(unsafe_code)]

use super::site_costs::{self, Entry};
use super::wakes::Wakes;
use crate::base::clock;
use std::mem::take;

/// What a block should take, in nanoseconds.
const BLOCK: u64 = 3_000;
/// No block is so short for being only an eighth of what is left.
const LEAST: u64 = 1_000;
/// What must be left for a thread that is awake, in nanoseconds.
const JOURNEY: u64 = 4_000;
/// What must be left for a sleeper: this many times as long as it takes to come.
const LATE: u64 = 3;
/// A loop that begins within this many times that after another has one woken all the same.
const SOON: u64 = 4;
/// A loop with fewer items at a site that is not known yet is laid out in public.
const FEW: usize = 256;
/// A call expected to be shorter than this is not timed but once in a while.
const TINY: u64 = 1_000;

/// A loop that is known to be shorter than this is laid out in [`COARSE`] pieces at most.
const SHORT: u64 = 5_000;
const COARSE: usize = 16;

/// What the pace was before a part of a loop was offered to others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Laid {
    levels: u32,
    beyond: usize,
    /// Whether that part is offered in public.
    pub(crate) open: bool,
}

/// The pace of a loop for a thread that takes a part of it over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed {
    entry: &'static Entry,
    least: u64,
    levels: u32,
    open: bool,
}

impl Seed {
    /// The pace there.
    pub(crate) fn grow(self) -> Pace {
        Pace {
            entry: self.entry,
            levels: self.levels,
            open: self.open,
            beyond: 0,
            block: 0,
            begun: 0,
            least: self.least,
            fresh: true,
            plain: false,
            probes: false,
            wakes: None,
            items: 0,
            ticks: 0,
        }
    }
}

/// What the pace must see of the pool.
pub(crate) trait View {
    /// How many threads the pool has.
    fn threads(&self) -> usize;
    /// Whether stuck owners are looked after.
    fn watched(&self) -> bool;
    /// True once in `n` times.
    fn chance(&self, n: u64) -> bool;
    /// Who would take work; `None` where work offered before still lies there, or cannot be offered.
    fn demand(&self) -> Option<Demand>;
    /// What wake-ups cost; called only after `demand` has told of sleepers.
    fn with_wakes<R>(&self, f: impl FnOnce(&Wakes) -> R) -> R;
}

/// Who would take work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// A thread that is awake: it waits for this loop, or searches.
    Awake,
    /// Only threads that sleep.
    Asleep,
    /// None.
    None,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Run a block of this many items.
    Run(usize),
    /// Give part of what is left away.
    Share,
}

/// The pace of one loop on one contiguous piece.
#[derive(Debug)]
pub(crate) struct Pace {
    entry: &'static Entry,
    /// How often the loop is still to be halved as it is laid out.
    levels: u32,
    /// Whether the layout is public.
    open: bool,
    /// How many items of this loop lie laid out behind the piece.
    beyond: usize,
    /// The size of the block under way, zero before the first, and when it began.
    block: usize,
    begun: u64,
    /// What must be left to be given away at all, in nanoseconds.
    least: u64,
    /// Whether nothing has been laid out yet.
    fresh: bool,
    /// Whether the loop is so short that each piece is one block that nobody times.
    plain: bool,
    /// Whether the first block may be all that is needed, so that nothing is shared before it.
    probes: bool,
    /// Whether a thread is woken for a rest that would be over soon after it came, once that has
    /// been asked.
    wakes: Option<bool>,
    /// What earlier blocks came to: items, and ticks.
    items: usize,
    ticks: u64,
}

impl Pace {
    /// The pace of a call: `site` is the address of the loop, which is the same for the same
    /// closures, and `len` the number of items.
    pub(crate) fn start(site: usize, len: usize, view: &impl View) -> Self {
        let entry = site_costs::entry(site);
        let expected = entry.predict(len);
        let threads = view.threads();
        let pieces = match expected {
            _ if threads == 1 => 1,
            Some(nanos) if nanos < SHORT => (2 * threads).min(COARSE),
            _ => 2 * threads,
        };
        let seed = Seed {
            entry,
            least: JOURNEY,
            levels: pieces.next_power_of_two().trailing_zeros(),
            open: expected.is_none() && len < FEW || !view.watched(),
        };
        seed.grow()
    }

    /// The pace of a loop that is run in blocks by one thread.
    pub(crate) fn alone(site: usize) -> Self {
        let seed = Seed {
            entry: site_costs::entry(site),
            least: u64::MAX,
            levels: 0,
            open: false,
        };
        seed.grow()
    }

    /// Whether a piece of `len` items is to be halved before it is run. If so, its farther half is laid
    /// out behind the nearer one, and [`Self::go_on`] is to be called before that is begun here.
    #[inline]
    pub(crate) fn lay_out(&mut self, len: usize, view: &impl View) -> Option<Laid> {
        let levels = self.levels.checked_sub(1)?;
        if self.fresh {
            self.consider(len, view);
        }
        self.levels = levels;
        Some(self.hand_out(len - len / 2, self.open))
    }

    /// Before anything is laid out: is the loop a plain one?
    #[inline(never)]
    fn consider(&mut self, len: usize, view: &impl View) {
        self.fresh = false;
        self.plain = self.estimate(len).is_some_and(|n| n < TINY) && !view.chance(16);
    }

    /// Whether a piece is one block that is not timed.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Half of a piece, `far` items, is offered to others.
    #[inline]
    pub(crate) fn hand_out(&mut self, far: usize, open: bool) -> Laid {
        let laid = Laid {
            levels: self.levels,
            beyond: self.beyond,
            open,
        };
        self.beyond += far;
        laid
    }

    /// The nearer half is done, and the farther one is begun by the same thread.
    #[inline]
    pub(crate) fn go_on(&mut self, laid: Laid) {
        self.levels = laid.levels;
        self.beyond = laid.beyond;
    }

    /// The last block of a piece has come to its end.
    #[inline]
    pub(crate) fn pause(&mut self) {
        if !self.plain {
            self.end_block();
        }
    }

    /// What was run in a row has come to its end: what it took is noted.
    #[inline]
    pub(crate) fn flush(&mut self) {
        if self.plain {
            return;
        }
        self.end_block();
        if self.items > 0 {
            self.entry.record_cost(self.items, clock::nanos(self.ticks));
        }
        self.drop_notes();
    }

    /// It was left in the middle of a block, which tells nothing.
    pub(crate) fn flush_all_but_the_last(&mut self) {
        self.block = 0;
        self.flush();
    }

    fn drop_notes(&mut self) {
        (self.block, self.begun) = (0, 0);
        (self.items, self.ticks) = (0, 0);
    }

    /// The same for a call whose pieces are worth giving away only if they take so many
    /// nanoseconds, since each takes more than a journey.
    #[must_use]
    pub(crate) fn worth(self, nanos: u64) -> Self {
        Self {
            least: nanos.max(JOURNEY),
            ..self
        }
    }

    /// The same for a call that may end long before its last item, as a search does: a known
    /// site runs a block before it shares anything.
    #[must_use]
    pub(crate) fn searching(self) -> Self {
        Self {
            probes: true,
            ..self
        }
    }

    /// What a thread needs to know that takes a piece over.
    #[inline]
    pub(crate) fn seed(&self) -> Seed {
        Seed {
            entry: self.entry,
            least: self.least,
            levels: self.levels,
            open: self.open,
        }
    }

    /// What to do with a piece of which `left` items are left.
    pub(crate) fn next(&mut self, left: usize, view: &impl View) -> Step {
        self.end_block();
        let rest = self.estimate(left + self.beyond);
        if self.items == 0 && rest.is_some_and(|nanos| nanos < TINY) {
            return Step::Run(self.begin(left));
        }
        let probes = take(&mut self.probes);
        match rest {
            Some(nanos) if nanos >= self.least && !probes && self.worth_sharing(nanos, view) => {
                return self.share();
            }
            Some(nanos) if nanos >= self.least => {}
            // Nobody would come for what is left: so say this very call and those before it.
            Some(_) if self.items > 0 && self.entry.predict(left).is_some_and(|n| n < JOURNEY) => {
                return Step::Run(self.begin(left));
            }
            _ => {}
        }
        Step::Run(self.block(left))
    }

    /// What happens until the next block is none of its time.
    fn share(&mut self) -> Step {
        self.begun = 0;
        Step::Share
    }

    /// The size of the next block, where sharing is out of the question.
    pub(crate) fn block(&mut self, left: usize) -> usize {
        self.end_block();
        let lasting = |goal: u64| {
            let size = self.per_item().map_or(1, |cost| (goal << 8) / cost.max(1));
            (size as usize).max(1)
        };
        // What the ledger says is trusted for the first block, but not far.
        let most = if self.items == 0 {
            1024
        } else {
            self.items.saturating_mul(3)
        };
        let size = lasting(BLOCK)
            .min(left / 8)
            .max(lasting(LEAST))
            .min(most)
            .min(left);
        self.begin(size)
    }

    /// Begins a block.
    fn begin(&mut self, size: usize) -> usize {
        // The end of one block is the beginning of the next.
        if self.begun == 0 {
            self.begun = clock::now();
        }
        self.block = size;
        size
    }

    fn end_block(&mut self) {
        if self.block > 0 {
            let now = clock::now();
            let ticks = now.saturating_sub(self.begun);
            #[cfg(not(loom))]
            crate::base::trace::block(ticks);
            self.ticks += ticks;
            self.begun = now;
            self.items += self.block;
            self.block = 0;
        }
    }

    /// Nanoseconds an item, with eight fractional bits.
    fn per_item(&self) -> Option<u64> {
        match self.items {
            0 => self.entry.predict(1 << 8),
            items => Some((clock::nanos(self.ticks) << 8) / items as u64),
        }
    }

    /// Nanoseconds that this many items may take.
    fn estimate(&self, items: usize) -> Option<u64> {
        self.per_item()
            .map(|cost| cost.saturating_mul(items as u64) >> 8)
    }

    /// Whether there is a thread for which work of this many nanoseconds is worth giving away.
    fn worth_sharing(&mut self, nanos: u64, view: &impl View) -> bool {
        match view.demand() {
            Some(Demand::Awake) => true,
            Some(Demand::Asleep) => view.with_wakes(|wakes| self.worth_a_wake(nanos, wakes)),
            Some(Demand::None) | None => false,
        }
    }

    /// Whether work of this many nanoseconds is worth a wake-up.
    fn worth_a_wake(&mut self, nanos: u64, wakes: &Wakes) -> bool {
        let delay = wakes.delay();
        nanos > 5 * wakes.cost()
            && (nanos > LATE * delay
                || *self.wakes.get_or_insert_with(|| {
                    let now = clock::now();
                    now.saturating_sub(wakes.spare(now)) < clock::ticks(SOON * delay)
                }))
    }
}

/// How many items of the loop `site` take no longer than it takes other threads to come, as far as is
/// known; else 0.
pub(crate) fn few(site: usize) -> usize {
    site_costs::entry(site)
        .predict(1 << 8)
        .map_or(0, |cost| (JOURNEY << 8) / cost.max(1)) as usize
}

/// Notes what all `items` of the loop `site` took, on `threads` threads that worked all the time.
pub(crate) fn note(site: usize, items: usize, ticks: u64, threads: usize) {
    let nanos = clock::nanos(ticks).saturating_mul(threads as u64);
    site_costs::entry(site).record_cost(items, nanos);
}
