//! The pace of a loop: how large a block, when to share, and who is woken for it.
//!
//! This is for `tine-iter` and not part of the promised interface.
//!
//! A loop runs in blocks of about three microseconds, the first small, each at most four times the one
//! before, none more than an eighth of what remains. Between blocks it asks whether half of the
//! rest is to be given away:
//!
//! * to a thread that **searches**, if the rest is worth a journey;
//! * to a thread that **sleeps**, if the rest is worth a wake-up: five times what wake-ups have
//!   been seen to cost their caller here, and three times what sleepers have been seen to take to
//!   come. Of less than the latter the first loop goes without: but not a second one soon after,
//!   since who is woken for that is awake for those that follow;
//! * to nobody, while what was given away before still lies there.
//!
//! What the rest takes is told by the blocks run so far, and before the first by the ledger. A
//! site that nobody knows is shared at once if it has few items, since each of them may be long.
#![forbid(unsafe_code)]

use crate::clock;
use crate::join::{join_context, share};
use crate::ledger::{self, Entry};
use crate::pool;
use crate::sleep::Sleep;
use crate::trace;
use crate::worker::Worker;
use std::mem::take;

/// A block should take about so long, in nanoseconds.
const BLOCK: u64 = 3_000;
/// No block is so short for being only an eighth of what is left.
const LEAST: u64 = 1_000;
/// What must be left for somebody who is awake, in nanoseconds.
const JOURNEY: u64 = 4_000;
/// So many times as long as a sleeper takes to come, and there is enough left for one.
const LATE: u64 = 3;
/// A loop that begins within so many times that after another has one woken all the same.
const SOON: u64 = 4;
/// A loop with fewer items at a site that nobody knows is shared at once.
const FEW: usize = 256;
/// A call expected to be shorter than this is not timed but once in a while.
const TINY: u64 = 1_000;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Run a block of so many items.
    Run(usize),
    /// Give half of what is left away.
    Share,
}

/// The pace of one loop on one contiguous piece.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    entry: &'static Entry,
    /// How often to share before anything is known, halved each time.
    blind: usize,
    /// The size of the block under way, zero before the first, and when it began.
    block: usize,
    begun: u64,
    /// What must be left to be given away at all, in nanoseconds.
    least: u64,
    /// Whether the first block may be all that is needed, so that nothing is shared before it.
    probes: bool,
    /// Whether somebody is woken for a rest that would be over soon after they came, once that
    /// has been asked.
    wakes: Option<bool>,
    /// What earlier blocks came to: items, and ticks.
    items: usize,
    ticks: u64,
}

impl Pace {
    /// The pace of a call: `site` is the address of the loop, which is the same for the same
    /// closures, and `len` the number of items.
    pub fn start(site: usize, len: usize) -> Self {
        let entry = ledger::entry(site);
        let unknown = entry.predict(1).is_none();
        let blind = if unknown && len < FEW {
            pool::current_num_threads()
        } else {
            0
        };
        Self {
            entry,
            blind,
            block: 0,
            begun: 0,
            least: JOURNEY,
            probes: false,
            wakes: None,
            items: 0,
            ticks: 0,
        }
    }

    /// The same for a call whose pieces are worth giving away only if they take so many
    /// nanoseconds, since each takes more than a journey.
    #[must_use]
    pub fn worth(self, nanos: u64) -> Self {
        Self {
            least: nanos.max(JOURNEY),
            ..self
        }
    }

    /// The same for a call that may end long before its last item, as a search does: a known
    /// site runs a block before it shares anything.
    #[must_use]
    pub fn searching(self) -> Self {
        Self {
            probes: true,
            ..self
        }
    }

    /// The pace of a piece that this thread took over from another.
    #[must_use]
    pub fn taken(self) -> Self {
        Self {
            block: 0,
            begun: 0,
            probes: false,
            items: 0,
            ticks: 0,
            ..self
        }
    }

    /// What to do with a piece of which `left` items are left.
    pub fn next(&mut self, left: usize) -> Step {
        self.end_block();
        if self.blind > 0 {
            self.blind /= 2;
            return self.share();
        }
        let rest = self.estimate(left);
        let tiny = self.items == 0 && rest.is_some_and(|nanos| nanos < TINY);
        if tiny {
            return Step::Run(self.whole(left));
        }
        let probes = take(&mut self.probes);
        match rest {
            Some(nanos) if nanos >= self.least && !probes && self.worth_sharing(nanos) => {
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
    pub fn block(&mut self, left: usize) -> usize {
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

    /// The piece has come to its end.
    pub fn end(mut self) {
        self.end_block();
        self.stop();
    }

    /// The piece was left in the middle of a block, which tells nothing.
    pub fn stop(self) {
        if self.items > 0 {
            self.entry.record_cost(self.items, clock::nanos(self.ticks));
        }
    }

    /// All of a short piece at once, timed only now and then.
    fn whole(&mut self, left: usize) -> usize {
        let timed =
            Worker::with(|worker| worker.is_none_or(|w| w.seat.notes.random().is_multiple_of(16)));
        if timed {
            self.begin(left);
        }
        left
    }

    fn end_block(&mut self) {
        if self.block > 0 {
            let now = clock::now();
            let ticks = now.saturating_sub(self.begun);
            trace::block(ticks);
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

    /// Nanoseconds that so many items may take.
    fn estimate(&self, items: usize) -> Option<u64> {
        self.per_item()
            .map(|cost| cost.saturating_mul(items as u64) >> 8)
    }

    /// Whether there is somebody for whom work of so many nanoseconds is worth giving away.
    fn worth_sharing(&mut self, nanos: u64) -> bool {
        Worker::with(|worker| {
            let Some(worker) = worker else { return false };
            if worker.nested().has_public() {
                return false;
            }
            let sleep = &worker.shared.sleep;
            let census = sleep.census();
            census.searching() > 0 || (census.sleeping() > 0 && self.worth_a_wake(nanos, sleep))
        })
    }

    /// Whether work of so many nanoseconds is worth a wake-up.
    fn worth_a_wake(&mut self, nanos: u64, sleep: &Sleep) -> bool {
        let delay = sleep.delay();
        nanos > 5 * sleep.wake_cost()
            && (nanos > LATE * delay
                || *self.wakes.get_or_insert_with(|| {
                    let now = clock::now();
                    now.saturating_sub(sleep.spare(now)) < clock::ticks(SOON * delay)
                }))
    }
}

/// Tells `op` how many items of the loop `site` take no longer than it takes others to come, as far
/// as is known (else 0), and notes what it took for all `items`. Where `op` shares nothing of so
/// few that is exact; else it counts as if every thread had worked all the time.
pub fn known<R>(site: usize, items: usize, op: impl FnOnce(usize) -> R) -> R {
    let entry = ledger::entry(site);
    let few = entry
        .predict(1 << 8)
        .map_or(0, |cost| (JOURNEY << 8) / cost.max(1)) as usize;
    let start = clock::now();
    let result = op(few);
    let nanos = clock::nanos(clock::since(start));
    let threads = if items > few {
        pool::current_num_threads()
    } else {
        1
    };
    entry.record_cost(items, nanos.saturating_mul(threads as u64));
    result
}

/// A part of a loop, whatever its types: so that a program holds what follows once, and not once for
/// each loop. (The table of a `dyn FnMut` would hold each body twice.)
pub trait Part {
    /// Does it; `migrated` says whether on another thread than the one that offered it.
    fn run(&mut self, migrated: bool);
}

/// Does `part` on a thread of a pool: this one, if it is.
#[inline(never)]
pub fn enter(part: &mut (dyn Part + Send)) {
    pool::in_worker(|_, injected| part.run(injected));
}

/// Does both, in parallel if there is somebody to.
#[inline(never)]
pub fn both(a: &mut (dyn Part + Send), b: &mut (dyn Part + Send)) {
    join_context(
        |context| a.run(context.migrated()),
        |context| b.run(context.migrated()),
    );
}

/// Offers `take` to other threads; meanwhile does `keep` here. Returns when both are done, or when
/// `keep` is and nobody took what was offered: then it was not done.
#[inline(never)]
pub fn lend(keep: &mut dyn Part, take: &mut (dyn Part + Send)) {
    share(
        || keep.run(false),
        |stolen| {
            if stolen {
                take.run(true);
            }
        },
    );
}
