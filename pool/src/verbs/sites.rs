//! The sites of loops: where what their items take is known, and how calls are watched that are cut in advance.
#![forbid(unsafe_code)]

use super::here::Here;
use crate::base::clock;
use crate::base::sync::{AtomicU64, AtomicUsize, Ordering};
use crate::pace::loop_pace::{self, View};
use crate::pace::site_costs::{self, Entry};

/// Where a call of a loop is made, and what is known of such calls.
///
/// Where items of a loop call the same loop, as in a walk of a tree, those of outer calls take far longer than those of
/// inner ones. So each depth is known by itself, down to some depth.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    pub(super) entry: &'static Entry,
    /// The address of the loop, and in how many calls of it this call is made.
    pub(super) address: usize,
    pub(super) depth: usize,
}

impl Site {
    /// A call of the loop with this `address`, which is the same for the same closures, by the calling thread.
    #[must_use]
    #[inline]
    pub fn here(address: usize) -> Self {
        Self::new(address, Here::with(|here| here.calls_of(address)))
    }

    /// The call whose course runs here.
    #[must_use]
    pub fn inside(address: usize) -> Self {
        let calls = Here::with(|here| here.calls_of(address));
        Self::new(address, calls.saturating_sub(1))
    }

    /// A call of a loop whose depth is not looked for.
    #[must_use]
    pub fn flat(address: usize) -> Self {
        Self::new(address, 0)
    }

    #[inline]
    fn new(address: usize, depth: usize) -> Self {
        Self {
            entry: site_costs::entry(key(address, depth)),
            address,
            depth,
        }
    }

    /// How many times such a call is cut in advance, if it is, in a pool of that number of `threads`.
    ///
    /// So are calls of so few items that each is a piece, unless they are known to be brief. And so are `cheap` inner calls, those with
    /// folders that cost nothing, if their depth takes little time on average. Most of these take far less than that: there are more
    /// calls near the leaves, and few that are long. To cut them costs less than to look at the clock for each block.
    #[must_use]
    #[inline]
    pub fn cuts(self, items: usize, threads: usize, cheap: bool) -> Option<usize> {
        const FEW: usize = 32;
        /// In nanoseconds.
        const SHORT: u64 = 50_000;
        let inner = cheap && self.depth > 0 && items <= FEW;
        // If any four items take no longer than other threads take to come, none is worth a piece of its own.
        let brief = if inner { items } else { items.min(4) };
        if brief <= loop_pace::few(self.entry) {
            return None;
        }
        let most = threads.saturating_mul(2);
        if items <= most {
            return Some(threads);
        }
        let is_short = |nanos| nanos < SHORT;
        // As many pieces as another loop is laid out in.
        (inner && self.entry.predict(items).is_some_and(is_short)).then_some(most - 1)
    }

    /// By which the table knows it.
    #[must_use]
    #[inline]
    pub fn key(self) -> usize {
        key(self.address, self.depth)
    }
}

#[inline]
fn key(address: usize, depth: usize) -> usize {
    /// The bits for the depth: the uppermost, which are the same in most addresses.
    const BITS: u32 = 4;
    address ^ depth.min((1 << BITS) - 1).rotate_right(BITS)
}

/// What the pieces of a call take that is cut in advance.
#[derive(Debug)]
pub struct Timer {
    site: usize,
    /// One piece in N is timed; this is N.
    every: u64,
    items: AtomicUsize,
    ticks: AtomicU64,
}

/// About N pieces of a call are timed, or all if there are fewer than twice as many; this is N.
const TIMED_PIECES: usize = 16;

impl Timer {
    /// For a call of the loop `site` of about that number of `pieces`, once in a while.
    #[must_use]
    pub fn start(site: usize, pieces: usize) -> Option<Self> {
        let watches = loop_pace::is_open(site)
            || Here::with(|here| here.chance(8) || here.glance().is_some());
        watches.then(|| Self {
            site,
            every: (pieces / TIMED_PIECES) as u64,
            items: AtomicUsize::new(0),
            ticks: AtomicU64::new(0),
        })
    }

    /// Does a piece of this number of `items`.
    #[inline]
    pub fn time<R>(&self, items: usize, piece: impl FnOnce() -> R) -> R {
        if self.every > 1 && !Here::with(|here| here.chance(self.every)) {
            return piece();
        }
        let start = clock::now();
        let result = piece();
        self.add(items, clock::since(start));
        result
    }

    fn add(&self, items: usize, ticks: u64) {
        // Relaxed: the join of the pieces orders these before the last look.
        self.items.fetch_add(items, Ordering::Relaxed);
        self.ticks.fetch_add(ticks, Ordering::Relaxed);
    }

    /// Whether the pieces that were timed so far took far longer than is known.
    #[must_use]
    pub fn overturns(&self) -> bool {
        let items = self.items.load(Ordering::Relaxed);
        loop_pace::overturns(self.site, items, self.ticks.load(Ordering::Relaxed))
    }

    /// All pieces have come to their end.
    pub fn end(self) {
        let (items, ticks) = (self.items.into_inner(), self.ticks.into_inner());
        if items > 0 {
            loop_pace::note(self.site, items, ticks);
        }
    }
}

/// How many items of the loop `site` take no longer than it takes other threads to come, as far as is
/// known; else 0.
#[must_use]
pub fn few(site: usize) -> usize {
    loop_pace::few(site_costs::entry(site))
}
