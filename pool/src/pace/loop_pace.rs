//! The pace of a loop: how large a block, when to share, and whether a thread is woken for it.
//!
//! A loop is first *laid out*. Its farther half, then the farther half of the rest, and so on, go
//! into the deque as private jobs, the nearest piece last, until there are about 2 × threads
//! pieces. That costs next to nothing. If an item blocks, the other pieces are there to be
//! published for the owner. The layout is public from the start in two cases: if nothing is known
//! of a loop of few items, since each of them may be long, and if no thread looks after stuck
//! owners.
//!
//! A piece is run in blocks of about three microseconds, or twelve while the pool is crowded. The first is small, each is at most four
//! times the one before, and none is more than an eighth of the rest. Between blocks the loop asks
//! whether to give part of the rest away, and to which thread:
//!
//! * a thread that **waits** for this very loop and is hungry, or a thread that **searches**, if
//!   the rest is worth the journey;
//! * a thread that **sleeps**, if the rest is worth a wake-up: five times what wake-ups have cost
//!   their caller here, and three times what sleepers have needed to come. If the rest is less than
//!   the latter, the first loop wakes no thread. A second loop soon after wakes one, since that
//!   thread is then awake for the loops that follow;
//! * no thread, while an earlier offer still lies there. But up to four sleepers are woken one
//!   after the other, if what is left for the last of them is worth it: sleepers come late, and
//!   more come if more threads wake others. Then, between blocks, more are woken for what is
//!   offered ([`AHEAD`]);
//! * no thread that searches or sleeps, while about as many ordinary threads have calls under way
//!   as the pool has threads: each has something to do.
//!
//! In a pool of more than eight threads, a loop that finds no thread in want of work asks again after a few microseconds,
//! not at each block ([`CONTENT`]).
//!
//! An owner inside a long item answers no request. So where few long items are left, or where a
//! long item may come at any time among short ones, an owner publishes all that it has before the
//! next block ([`Pace::bare`]).
//!
//! For a short loop, the pace first tries whether it pays to share it at all ([`profit`]).
//!
//! The blocks run so far predict the time of the rest; before the first block, the site's costs do.
#![forbid(unsafe_code)]

mod view;

use super::profit::{self, Class};
use super::site_costs::{self, Entry, Known};
use super::wakes::Spared;
use crate::base::clock;
use std::mem::take;

pub use view::{Bare, Step};
pub(crate) use view::{Demand, View};

/// The time that a block should take, in nanoseconds.
const BLOCK: u64 = 3_000;
/// The same while the pool is crowded: no thread would take what is left.
const CROWDED: u64 = 12_000;
/// Down to this time, in nanoseconds, a block is not cut to an eighth of the rest. The first figure
/// holds until a thread has worked for [`LONG`], and then the second, when looking more often costs
/// next to nothing.
const LEAST: (u64, u64) = (1_000, 250);
const LONG: u64 = 15_000;
/// A thread that spends this long in one item, in nanoseconds, keeps threads waiting that ask it for work.
const STUCK: u64 = 20_000;
/// Where all items are that long, this matters only near the end of a loop: if this many are left for each thread.
const FEW_EACH: u64 = 32;
/// Items of a site differ much if one item takes that long, and this many times as long as the others. A row of
/// blocks that takes as long as the second figure, in nanoseconds, would have met such an item.
const OUTLIER: u64 = 8;
const TELLING: u64 = 200_000;
/// The least rest that is given to a thread that is awake, in nanoseconds.
pub(super) const JOURNEY: u64 = 4_000;
/// The least rest of a piece that is divided, in nanoseconds, where all behind it may be gone.
const HERE: u64 = 2_000;
/// Where another folder costs much, work of this length is given away all the same if each of its items
/// takes at least this long, both in nanoseconds: then the folder is the lesser part of it.
pub(super) const DEAR: (u64, u64) = (100_000, 150);
/// Where another folder costs much, a loop is shared while it has this many items, or takes this many nanoseconds.
/// A shorter time is not enough: threads that fill new tables take several times as long for each item.
const SHARED: (usize, u64) = (1 << 14, 2_000_000);
/// Where another folder costs much, a part must at first take a certain time. In a loop that takes A times that
/// time, parts may be shorter, so that each thread may have B parts, but no shorter than a C-th of that time. This
/// is A, B, C.
const DEAR_PARTS: (u64, u64, u64) = (4, 8, 8);
/// In the time that one deep sleeper takes to come, an owner wakes N of them; this is N. For each thread at work, N may
/// be on their way, if each would come early enough for an Nth of what is offered.
pub(crate) const AHEAD: usize = 10;
/// A pool that was seen to be crowded counts as crowded for this many times as long as the look took, but for at
/// most as many nanoseconds as the second figure says.
const PAUSE: (u64, u64) = (256, 50_000);
/// In a pool of more than [`MANY`] threads, a thread that finds that no other wants work reads the census again
/// only after this time, unless a thread waits for it: each thread that counts itself there waits for all threads
/// that read. The first figure, in nanoseconds, is for parts that a thief took, the second for calls.
const MANY: u64 = 8;
const CONTENT: (u64, u64) = (1_000, 4_000);
/// A loop with fewer items at a site that is not known yet is laid out in public.
pub(super) const FEW: usize = 256;
/// A piece expected to be shorter than this is one block.
pub(super) const TINY: u64 = 1_000;
/// What the pace was before a part of a loop was offered to others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Laid {
    levels: u32,
    beyond: usize,
    /// Whether that part is offered in public.
    pub(crate) open: bool,
    /// What it will take, in nanoseconds, if that is known.
    pub(crate) nanos: Option<u64>,
}

/// The pace of a loop for a thread that takes over a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed {
    pub(super) entry: &'static Entry,
    pub(super) known: Known,
    pub(super) least: u64,
    pub(super) crew: u64,
    pub(super) levels: u32,
    pub(super) open: bool,
    pub(super) long: bool,
    pub(super) brief: bool,
}

impl Seed {
    /// The pace there.
    pub(crate) fn grow(self) -> Pace {
        Pace {
            entry: self.entry,
            known: self.known,
            part: true,
            peak: 0,
            levels: self.levels,
            open: self.open,
            long: self.long,
            beyond: 0,
            block: 0,
            begun: 0,
            least: self.least,
            crew: self.crew,
            whole: 0,
            brief: self.brief,
            alone: false,
            taken: false,
            idlers: false,
            counts: false,
            start: 0,
            shared: false,
            probes: false,
            spared: None,
            crowded: 0,
            content: 0,
            items: 0,
            ticks: 0,
            last: 0,
            aside: (0, 0),
        }
    }
}

/// The pace of one loop on one contiguous piece.
#[derive(Debug)]
pub(crate) struct Pace {
    entry: &'static Entry,
    /// What was known of the site when the call began; and whether this is a part that a thief took.
    known: Known,
    part: bool,
    /// The longest time that an item of a block took on average, in ticks with eight fractional bits.
    peak: u64,
    /// How many times the loop is still to be halved as it is laid out.
    levels: u32,
    /// Whether the layout is public.
    open: bool,
    /// Whether this call has taken a thread longer than [`LONG`].
    long: bool,
    /// How many items of this loop lie laid out behind the piece.
    beyond: usize,
    /// The size of the block under way, zero before the first, and when it began.
    block: usize,
    begun: u64,
    /// The least rest that is given away at all, in nanoseconds.
    least: u64,
    /// The number of threads, until `least` has been adapted to it; then 0.
    crew: u64,
    /// What the call is expected to take, in nanoseconds; 0 if that is not known.
    whole: u64,
    /// Whether it is a short loop of which it is asked whether it pays to share it; whether it is not shared
    /// for now; whether a part of it was taken; whether there were threads that could; whether it counts for
    /// several that are not shared; and when its first block began.
    brief: bool,
    alone: bool,
    taken: bool,
    idlers: bool,
    counts: bool,
    start: u64,
    /// Whether part of it was given away on this thread's own account.
    shared: bool,
    /// Whether the first block may be all that is needed, so that nothing is shared before it.
    probes: bool,
    /// What was said when the loop did without a wake-up; `None` if it did not.
    spared: Option<Spared>,
    /// Until then, in ticks, the pool counts as crowded; and as one whose threads want no work.
    crowded: u64,
    content: u64,
    /// The items and the ticks of earlier blocks.
    items: usize,
    ticks: u64,
    /// The time of an item of the last block, in ticks with eight fractional bits.
    last: u64,
    /// The items and the ticks of a long block that was interrupted, until the next block tells what to make of it.
    aside: (usize, u64),
}

impl Pace {
    /// Of calls that are not shared, one in N counts for all; this is N.
    pub(super) const COUNTED: u64 = 16;

    /// The pace of a call that begins: `whole` is what it is expected to take; it is `alone` if it is not to be shared, and
    /// `counts` for several such.
    pub(crate) fn begun(seed: Seed, whole: u64, alone: bool, counts: bool) -> Self {
        Self {
            part: false,
            alone,
            counts,
            whole,
            ..seed.grow()
        }
    }

    /// The pace of a loop that one thread runs in blocks.
    pub(crate) fn alone(entry: &'static Entry) -> Self {
        let seed = Seed {
            entry,
            known: entry.read(),
            least: u64::MAX,
            crew: 0,
            levels: 0,
            open: false,
            long: false,
            brief: false,
        };
        Pace {
            part: false,
            ..seed.grow()
        }
    }

    /// All `len` items of a plain loop took this time.
    pub(crate) fn note_plain(&self, len: usize, nanos: u64) {
        self.note_alone(len, nanos);
        if let Some(class) = self.class().filter(|_| self.alone && self.counts) {
            self.was_alone(class, nanos);
        }
    }

    /// One of those that count was not shared. If it took far longer than was expected, the calls that were shared in vain
    /// may have been as long; they were judged by what was expected.
    fn was_alone(&self, class: Class<'_>, nanos: u64) {
        let is_far = self.whole > 0 && nanos > self.whole.saturating_mul(4) / 3;
        if is_far && !clock::was_interrupted() {
            class.misjudged();
        }
        class.alone(Self::COUNTED as u32);
    }

    /// The first `items` of a plain loop took so long that it is no longer plain.
    pub(crate) fn overturn(&mut self, items: usize, ticks: u64) {
        (self.items, self.ticks, self.last) = (items, ticks, (ticks << 8) / items as u64);
        (self.alone, self.brief, self.long) = (false, false, true);
    }

    /// Whether a piece of `len` items is to be halved before it is run. If so, its farther half is
    /// laid out behind the nearer one, and [`Self::go_on`] is to be called before this thread
    /// begins that.
    #[inline]
    pub(crate) fn lay_out(&mut self, len: usize) -> Option<Laid> {
        self.levels = self.levels.checked_sub(1)?;
        Some(self.hand_out(len - len / 2, self.open))
    }

    /// Half of a piece, `far` items, is offered to others.
    #[inline]
    pub(crate) fn hand_out(&mut self, far: usize, open: bool) -> Laid {
        let laid = Laid {
            levels: self.levels,
            beyond: self.beyond,
            open,
            nanos: self.estimate(far),
        };
        self.beyond += far;
        laid
    }

    /// The nearer half is done, and the same thread begins the farther one.
    #[inline]
    pub(crate) fn go_on(&mut self, laid: Laid) {
        self.levels = laid.levels;
        self.beyond = laid.beyond;
    }

    /// The last block of a piece has come to its end.
    #[inline]
    pub(crate) fn pause(&mut self) {
        self.end_if_long();
    }

    /// A row of blocks has come to its end: notes what it took.
    #[inline]
    pub(crate) fn flush(&mut self) {
        self.end_block();
        if self.items == 0 {
            // Nothing else is known of the row.
            (self.items, self.ticks) = self.aside;
        }
        if self.items > 0 {
            self.note_row();
        }
        self.drop_notes();
    }

    /// A block was left in the middle, and so says nothing.
    pub(crate) fn flush_all_but_the_last(&mut self) {
        self.block = 0;
        self.flush();
    }

    /// Parts that are as expected are not noted: all threads would wait for the line. Nor are parts that
    /// thieves took from a short loop: they show only what it costs to be a part.
    fn note_row(&mut self) {
        let nanos = clock::nanos(self.ticks);
        match (self.part, self.brief) {
            _ if self.least > JOURNEY && (self.part || self.shared) => {
                self.note_shared_dear(nanos);
            }
            (true, true) => {}
            (false, true) if self.taken && nanos < profit::SHORT => {
                self.entry.record_shared(self.items, nanos);
            }
            (false, _) => self.note_alone(self.items, nanos),
            (true, false) if self.known.is_far_off(self.items, nanos) => {
                self.entry.record_cost(self.items, nanos);
            }
            (true, false) => {}
        }
        let uneven = self.is_uneven();
        if uneven || (self.known.is_uneven() && nanos > TELLING) {
            self.entry.record_uneven(uneven);
        }
    }

    /// Notes a row of a loop of dear folders that is shared. The folders of other threads are no cost of the items: if they
    /// counted, the next call would be shared for that alone.
    fn note_shared_dear(&self, nanos: u64) {
        let known = self.known.predict(self.items);
        if known.is_some_and(|known| nanos < known) || (known.is_none() && !self.part) {
            self.entry.record_cost(self.items, nanos);
        }
    }

    fn note_alone(&self, items: usize, nanos: u64) {
        if self.alone && self.class().is_some_and(Class::is_new) {
            self.entry.replace_cost(items, nanos);
        } else {
            self.entry.record_call_cost(items, nanos);
        }
    }

    /// A part of this piece was taken.
    pub(crate) fn taken(&mut self) {
        self.taken = true;
        self.flush_all_but_the_last();
    }

    /// What is known of calls of that length, if such ones are tried.
    fn class(&self) -> Option<Class<'_>> {
        self.entry.profit.of(self.whole).filter(|_| self.brief)
    }

    /// The call has come to its end.
    pub(crate) fn conclude(&self) {
        self.conclude_by(|| clock::nanos(clock::since(self.start)));
    }

    /// The same, if the loop took the nanoseconds that `took` says: it is asked only where they count.
    #[inline]
    fn conclude_by(&self, took: impl FnOnce() -> u64) {
        let Some(class) = self.class() else {
            return;
        };
        if self.alone {
            if self.counts {
                let took = if self.start == 0 { 0 } else { took() };
                self.was_alone(class, took);
            }
        // A very short call looked for other threads in vain if no thread came although some were idle.
        } else if self.taken || (self.idlers && self.whole < profit::FIRST_CLASS) {
            let took = took();
            // A call that takes longer than any class is no longer short, or was interrupted.
            if took < profit::SHORT {
                class.shared(self.whole, took);
            }
        }
    }

    /// Whether an item was met that took far longer than others.
    fn is_uneven(&self) -> bool {
        let peak = clock::nanos(self.peak >> 8);
        let far = |mean: Option<u64>| mean.is_some_and(|mean| peak >= OUTLIER * (mean >> 8));
        // A row may be a single long item.
        peak >= STUCK && (far(self.per_item()) || far(self.known.predict(1 << 8)))
    }

    fn drop_notes(&mut self) {
        (self.block, self.begun) = (0, 0);
        (self.items, self.ticks, self.last, self.peak) = (0, 0, 0, 0);
        self.aside = (0, 0);
    }

    /// Sets from how many nanoseconds on a part of the loop is `worth` giving away, unless its items
    /// are dear (see [`DEAR`]), and whether the loop `ends` long before its last item, as a search may.
    #[inline]
    pub(crate) fn set_kind(&mut self, worth: u64, ends: bool) {
        self.least = worth.max(JOURNEY);
        self.probes = ends;
        self.adapt(self.whole);
    }

    /// A loop of dear folders that takes this many nanoseconds is to be shared. Each thread makes its own
    /// folder at most once, and while one does, so may all others: the more threads there are, the shorter a part
    /// may be. Two threads gain nothing by it.
    fn adapt(&mut self, nanos: u64) {
        let (many, parts, part) = DEAR_PARTS;
        if self.least <= JOURNEY || nanos / many < self.least || self.crew <= 2 {
            return;
        }
        let floor = self.least / (self.crew / 2).min(part);
        self.least = self.least.min(floor.max(nanos / (parts * self.crew)));
        self.crew = 0;
    }

    /// What a thread needs to take over a piece.
    #[inline]
    pub(crate) fn seed(&self) -> Seed {
        Seed {
            entry: self.entry,
            known: self.known,
            least: self.least,
            crew: self.crew,
            levels: self.levels,
            open: self.open,
            long: self.long,
            brief: self.brief,
        }
    }

    /// The next step for a piece with `left` items left.
    pub(crate) fn next(&mut self, left: usize, view: &impl View) -> Step {
        self.end_if_long();
        let rest = self.rest(left);
        if self.items == 0 && rest.is_some_and(|nanos| nanos < TINY) {
            return Step::Run(self.begin(left));
        }
        if self.alone && self.stays_alone(rest, view) {
            return Step::Run(self.size(left));
        }
        let probes = take(&mut self.probes);
        match rest {
            Some(nanos)
                if self.is_enough(nanos, left)
                    && !probes
                    && self.worth_sharing(nanos, left, view) =>
            {
                self.adapt(nanos);
                return self.share();
            }
            Some(nanos) if self.is_enough(nanos, left) => {}
            // No thread would come for the rest: the times of this call and of earlier calls say so.
            Some(_) if !self.long && self.items > 0 && self.was_short(left) => {
                return Step::Run(self.begin(left));
            }
            _ => {}
        }
        Step::Run(self.size(left))
    }

    /// Whether a loop that is not to be shared is as short as it was taken for, and no thread waits for it.
    fn stays_alone(&mut self, rest: Option<u64>, view: &impl View) -> bool {
        self.alone = !view.is_waited_for() && rest.is_none_or(|nanos| nanos < profit::SHORT);
        self.alone
    }

    /// Whether what lies behind the next block is to be public before that is run. The piece, of which `left` items
    /// are left, may be halved if it `divides`.
    pub(crate) fn bare(&mut self, left: usize, divides: bool, view: &impl View) -> Bare {
        if self.crew < 2 || self.least > JOURNEY || self.alone {
            return Bare::No;
        }
        self.end_if_long();
        let Some(cost) = self.per_item().map(|cost| cost >> 8) else {
            return Bare::No;
        };
        let long = cost >= STUCK;
        if !long && !self.known.is_uneven() {
            return Bare::No;
        }
        // If all items are long, this matters only near the end. A long item among short items may come at any
        // time, and the next long item may follow closely.
        if long && (left + self.beyond) as u64 > FEW_EACH * self.crew {
            return Bare::No;
        }
        // Long items may lie together, behind short items.
        let known = self.known.predict(1).filter(|_| self.known.is_uneven());
        let cost = cost.max(known.unwrap_or(0));
        let time = |items: usize| cost.saturating_mul(items as u64);
        let rest = time(left + self.beyond);
        if divides && time(left) >= STUCK {
            return Bare::Halve;
        }
        // If threads sleep but are not worth a wake-up, all stays private: then the looker sees it, in case an
        // item blocks.
        match view.kept() {
            None => Bare::No,
            Some(_) if !self.has_room(view) => Bare::No,
            Some(true) if !view.with_wakes(|wakes| wakes.are_worth(rest / 2, &mut self.spared)) => {
                Bare::No
            }
            Some(wakes) => Bare::Publish { wakes },
        }
    }

    /// What the rest of the loop takes, in nanoseconds: `left` items here, and what lies behind them.
    #[inline]
    fn rest(&self, left: usize) -> Option<u64> {
        let all = left + self.beyond;
        // A folder that costs much is a table: when it grows, one block takes long, and the next blocks do not.
        // The first blocks fill it, so earlier calls know better until the loop has run for a while.
        if self.least > JOURNEY {
            let known = match self.ticks < clock::ticks(DEAR.0) {
                true => self.known.predict(all),
                false => None,
            };
            let mean = self.estimate(all)?;
            return Some(known.map_or(mean, |nanos| nanos.min(mean)));
        }
        self.time(all, left)
    }

    /// What `all` items take, of which `left` come next. Heavy items may lie together, so the last ones count if they
    /// took more.
    #[inline]
    fn time(&self, all: usize, left: usize) -> Option<u64> {
        let last = clock::nanos(self.last.saturating_mul(left as u64) >> 8);
        self.estimate(all).map(|mean| mean.max(last))
    }

    /// Whether work of this many nanoseconds, of which `left` items lie here, may be given away at all.
    #[inline]
    fn is_enough(&self, nanos: u64, left: usize) -> bool {
        if self.least <= JOURNEY {
            return nanos >= self.least;
        }
        let many = || left + self.beyond >= SHARED.0 || nanos >= SHARED.1;
        nanos >= self.least && many()
            || (nanos >= DEAR.0 && self.least < u64::MAX && self.is_dear())
    }

    #[cold]
    fn is_dear(&self) -> bool {
        self.per_item().is_some_and(|cost| cost >> 8 >= DEAR.1)
    }

    /// Whether this many items took less than a journey in earlier calls.
    fn was_short(&self, items: usize) -> bool {
        self.known.predict(items).is_some_and(|n| n < JOURNEY)
    }

    /// The time until the next block does not count as its time.
    fn share(&mut self) -> Step {
        self.shared = true;
        self.end_block();
        self.begun = 0;
        Step::Share
    }

    /// The size of the next block, where sharing is out of the question.
    pub(crate) fn block(&mut self, left: usize) -> usize {
        self.end_block();
        self.size(left)
    }

    fn size(&mut self, left: usize) -> usize {
        let lasting = |goal: u64| {
            let size = self.per_item().map_or(1, |cost| (goal << 8) / cost.max(1));
            (size as usize).max(1)
        };
        // The rest is not given away.
        if self.alone {
            return self.begin(lasting(BLOCK).min(self.most()).min(left));
        }
        let least = if self.long { LEAST.1 } else { LEAST.0 };
        let goal = if self.is_crowded() { CROWDED } else { BLOCK };
        let size = lasting(goal)
            .min((left + self.beyond) / 8)
            .max(lasting(least))
            .min(self.most())
            .min(left);
        self.begin(size)
    }

    /// The site's costs decide the first block, but not far.
    fn most(&self) -> usize {
        match self.items {
            0 => 1024,
            items => items.saturating_mul(3),
        }
    }

    /// Begins a block.
    fn begin(&mut self, size: usize) -> usize {
        // The end of one block is the beginning of the next.
        if self.begun == 0 {
            self.begun = clock::now();
            if self.start == 0 {
                self.start = self.begun;
            }
        }
        self.block += size;
        size
    }

    /// The block has come to its end, unless it is too short to be timed alone: then it goes on in the
    /// next piece.
    #[inline]
    fn end_if_long(&mut self) {
        let short = |cost: u64| cost.saturating_mul(self.block as u64) >> 8 < LEAST.1;
        if self.block > 0 && !self.per_item().is_some_and(short) {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        if self.block > 0 {
            let now = clock::now();
            let ticks = now.saturating_sub(self.begun);
            #[cfg(not(loom))]
            crate::base::trace::block(ticks);
            if ticks > clock::ticks(STUCK) {
                if self.sets_aside(ticks) {
                    (self.block, self.begun) = (0, clock::now());
                    return;
                }
            } else {
                self.aside = (0, 0);
            }
            self.ticks += ticks;
            self.begun = now;
            self.long |= self.ticks > clock::ticks(LONG);
            self.items += self.block;
            self.last = (ticks << 8) / self.block as u64;
            self.peak = self.peak.max(self.last);
            self.block = 0;
        }
    }

    /// Whether a long block took far longer than was expected and was interrupted: then it says nothing. If it counted, it would
    /// count for the whole row: after some milliseconds, thousands of items would be blocks of their own. But where a second
    /// one follows at once, items are long, and both count.
    #[cold]
    fn sets_aside(&mut self, ticks: u64) -> bool {
        let nanos = clock::nanos(ticks);
        let is_far = |known| nanos >= OUTLIER.saturating_mul(known);
        let (items, before) = take(&mut self.aside);
        if items == 0 && self.estimate(self.block).is_some_and(is_far) && clock::was_interrupted() {
            self.aside = (self.block, ticks);
            return true;
        }
        self.items += items;
        self.ticks += before;
        false
    }

    /// Nanoseconds for each item, with eight fractional bits.
    fn per_item(&self) -> Option<u64> {
        match self.items {
            0 => self.known.predict(1 << 8),
            items => Some((clock::nanos(self.ticks) << 8) / items as u64),
        }
    }

    /// Nanoseconds that this many items may take.
    fn estimate(&self, items: usize) -> Option<u64> {
        self.per_item()
            .map(|cost| cost.saturating_mul(items as u64) >> 8)
    }

    /// Whether there is a thread for which work of this many nanoseconds is worth giving away.
    fn worth_sharing(&mut self, nanos: u64, left: usize, view: &impl View) -> bool {
        // The block before this has just ended.
        if self.begun != 0 && self.begun < self.content && !view.is_waited_for() {
            return false;
        }
        let demand = view.demand();
        self.idlers |= demand.is_some_and(|demand| demand != Demand::None);
        let worth = match demand {
            Some(Demand::Waiting) => self.is_there(left, view),
            Some(Demand::Awake) => self.is_there(left, view) && self.has_room(view),
            Some(Demand::Asleep { offered }) => {
                // Each offer is about half of the rest.
                view.with_wakes(|wakes| wakes.are_worth(nanos >> offered, &mut self.spared))
                    && self.has_room(view)
            }
            Some(Demand::Later { offered }) => {
                // Each offer is about half of the rest.
                let all = nanos.saturating_mul(1 << offered.min(16));
                if view.with_wakes(|wakes| wakes.are_worth(all / AHEAD as u64, &mut self.spared))
                    && self.has_room(view)
                {
                    view.wake_ahead();
                }
                false
            }
            Some(Demand::None) | None => false,
        };
        if !worth && self.crew > MANY {
            let nanos = if self.part { CONTENT.0 } else { CONTENT.1 };
            self.content = self.begun + clock::ticks(nanos);
        }
        worth
    }

    /// Whether what is worth sharing is still here. Others may have taken all that lies behind the piece; then half of
    /// what is left of it would be given away again and again.
    fn is_there(&self, left: usize, view: &impl View) -> bool {
        self.least > JOURNEY || view.keeps() || self.time(left, left).is_none_or(|t| t >= HERE)
    }

    /// Whether threads have time for parts of this loop. Where each has a call of its own, what is given
    /// away delays another call by as much as it furthers this one.
    fn has_room(&mut self, view: &impl View) -> bool {
        if self.is_crowded() {
            return false;
        }
        let crowded = view.is_crowded();
        if crowded {
            let end = clock::now();
            // The time since the end of the block before this, or since its beginning if it was too short to be
            // timed: rather too much than too little.
            let start = if self.begun == 0 { end } else { self.begun };
            let pause = PAUSE.0.saturating_mul(end.saturating_sub(start));
            self.crowded = end + pause.min(clock::ticks(PAUSE.1));
        }
        !crowded
    }

    /// Whether the pool was crowded a short while before the last block ended.
    fn is_crowded(&self) -> bool {
        self.begun != 0 && self.begun < self.crowded
    }
}

/// Whether this number of items at a site are known to take no longer than other threads take to come.
#[inline]
pub(crate) fn are_few(entry: &Entry, items: usize) -> bool {
    let cost = entry.predict(1 << 8);
    cost.is_some_and(|cost| cost.saturating_mul(items as u64) <= JOURNEY << 8)
}

/// The number of items at a site that take no longer than other threads take to come, as
/// far as is known; else 0.
#[inline]
pub(crate) fn few(entry: &Entry) -> usize {
    entry
        .predict(1 << 8)
        .map_or(0, |cost| (JOURNEY << 8) / cost.max(1)) as usize
}

/// Whether nothing is known of the loop `site`, or what is known is in doubt.
pub(crate) fn is_open(site: usize) -> bool {
    let known = site_costs::entry(site).read();
    known.is_doubted() || known.predict(1 << 8).is_none()
}

/// Whether this number of `items` of the loop `site` took far longer than is known.
pub(crate) fn overturns(site: usize, items: usize, ticks: u64) -> bool {
    let known = site_costs::entry(site).read();
    known.is_overturned(items, clock::nanos(ticks))
}

/// Notes what this number of `items` of the loop `site` took.
pub(crate) fn note(site: usize, items: usize, ticks: u64) {
    site_costs::entry(site).record_call_cost(items, clock::nanos(ticks));
}

#[cfg(all(test, not(loom)))]
mod tests;
