//! The sites of loops: by what the cost of their items is known, and how calls that are cut in
//! advance are watched.
#![forbid(unsafe_code)]

use super::here::Here;
use crate::base::clock;
use crate::base::sync::{AtomicU64, AtomicUsize, Ordering};
use crate::pace::loop_pace::{self, View};
use crate::pace::site_costs::{self, Entry};
use crate::seat::context::CallOf;

/// Where a call of a loop is made, and what is known of such calls.
///
/// If items of a loop call the same loop, as in a walk of a tree, the items of outer calls take far longer than
/// those of inner calls. So each depth has its own record, down to some depth.
///
/// Items of a short call may take far longer than those of a long one: a transform in passes has few long items in one pass and many
/// short ones in the next, and a row of a large image is longer than one of a small image. So outermost calls are also known
/// by about how many items they have.
#[derive(Debug, Clone, Copy)]
pub struct Site {
    pub(super) entry: &'static Entry,
    pub(super) call: CallOf,
    pub(super) threads: usize,
}

/// A call of a loop, as its course keeps it.
#[derive(Debug, Clone, Copy)]
pub struct Call(pub(super) CallOf);

impl Call {
    /// One of which nothing is to be known.
    pub const NONE: Self = Self(CallOf::NONE);
}

impl Site {
    /// A call, by the calling thread, of the loop with this `address` and that number of items. The
    /// address is the same for the same closures.
    #[must_use]
    #[inline]
    pub fn here(address: usize, items: usize) -> Self {
        Here::with(|here| {
            let depth = here.calls_of(address);
            let class = if depth == 0 { class(items) } else { 0 };
            Self::new(CallOf::new(address, depth, class), here)
        })
    }

    /// The call whose course runs here.
    #[must_use]
    pub fn inside(address: usize) -> Self {
        Here::with(|here| {
            let call = here.call_of(address);
            Self::new(call.unwrap_or(CallOf::new(address, 0, 0)), here)
        })
    }

    /// A call of a loop whose depth is not looked for.
    #[must_use]
    pub fn flat(address: usize, items: usize) -> Self {
        Here::with(|here| Self::new(CallOf::new(address, 0, class(items)), here))
    }

    #[inline]
    fn new(call: CallOf, here: &Here<'_>) -> Self {
        Self {
            entry: site_costs::entry(key(call)),
            call,
            threads: here.threads(),
        }
    }

    /// How many threads the pool has in which the call is made.
    #[must_use]
    #[inline]
    pub fn threads(self) -> usize {
        self.threads
    }

    /// How many times such a call is cut in advance, if at all.
    ///
    /// Calls of so few items that each item is a piece are cut, unless they are known to be brief.
    /// So are `cheap` inner calls, whose folders cost nothing, if calls at their depth take little
    /// time on average. Most of these take far less than the average: there are more calls near the
    /// leaves, and few long ones. Cutting them costs less than reading the clock for each block.
    #[must_use]
    #[inline]
    pub fn cuts(self, items: usize, cheap: bool) -> Option<usize> {
        const FEW: usize = 32;
        /// In nanoseconds.
        const SHORT: u64 = 50_000;
        let inner = cheap && self.call.depth() > 0 && items <= FEW;
        // If four items take no longer than other threads take to come, no item is worth its own piece.
        let brief = if inner { items } else { items.min(4) };
        if loop_pace::are_few(self.entry, brief) {
            return None;
        }
        let most = self.threads.saturating_mul(2);
        if items <= most {
            return Some(self.threads);
        }
        let is_short = |nanos| nanos < SHORT;
        // As many pieces as another loop would have.
        (inner && self.entry.predict(items).is_some_and(is_short)).then_some(most - 1)
    }

    /// Whether such a call is known to be so short that laying it out takes as long as its few items.
    #[must_use]
    #[inline]
    pub fn is_tiny(self, items: usize) -> bool {
        /// In nanoseconds.
        const TINY: u64 = 1_000;
        // If items are long for once, no other thread takes any of a call that was not laid out.
        const FEW: usize = 128;
        if items > FEW {
            return false;
        }
        let known = self.entry.read();
        known.predict(items).is_some_and(|nanos| nanos < TINY) && !known.is_doubted()
    }

    /// What the course of such a call is told.
    #[must_use]
    #[inline]
    pub fn call(self) -> Call {
        Call(self.call)
    }

    /// By which the table knows it.
    #[must_use]
    #[inline]
    pub fn key(self) -> usize {
        key(self.call)
    }
}

/// The uppermost bits of a key are the same in most addresses: this number of them holds the depth,
/// and the bits below hold the class.
const DEPTH_BITS: u32 = 4;
const CLASS_BITS: u32 = 5;

#[inline]
fn key(call: CallOf) -> usize {
    let depth = call.depth().min((1 << DEPTH_BITS) - 1);
    let class = usize::from(call.class());
    call.site ^ depth.rotate_right(DEPTH_BITS) ^ class.rotate_right(DEPTH_BITS + CLASS_BITS)
}

/// The calls of a class have up to four times as many items as the shortest.
#[inline]
fn class(items: usize) -> u8 {
    (items.max(1).ilog2() / 2) as u8
}

/// The time that the pieces take of a call that is cut in advance.
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

    /// Whether the pieces timed so far took far longer than the record says.
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Here, Site, Timer};
    use crate::base::clock;
    use crate::pace::loop_pace;
    use crate::pace::site_costs;
    use crate::seat::context::CallOf;

    const THREADS: usize = 4;

    /// A call of the loop at this address, of which `nanos` are known for each item.
    fn known(site: usize, depth: usize, nanos: u64) -> Site {
        let mut site = Here::with(|here| Site::new(CallOf::new(site, depth, 0), here));
        site.entry.replace_cost(1_000, 1_000 * nanos);
        site.threads = THREADS;
        site
    }

    #[test]
    fn calls_of_few_items_are_cut_in_advance_unless_they_are_brief() {
        let mut site = Site::flat(0x51_8100, 8);
        site.threads = THREADS;
        assert_eq!(site.cuts(8, false), Some(THREADS), "not known yet");
        assert_eq!(site.cuts(9, true), None, "not few");
        let cuts = |nanos, items| known(0x51_8100, 0, nanos).cuts(items, true);
        assert_eq!(cuts(10_000, 1), Some(THREADS));
        assert_eq!(cuts(2_000, 3), Some(THREADS));
        assert_eq!((cuts(2_000, 2), cuts(100, 8)), (None, None), "brief");
    }

    #[test]
    fn short_inner_calls_that_are_cheap_to_cut_are_cut_in_advance() {
        let cuts = |items, cheap| known(0x51_8200, 1, 2_000).cuts(items, cheap);
        assert_eq!(cuts(20, true), Some(2 * THREADS - 1));
        assert_eq!(cuts(20, false), None, "folders cost something");
        assert_eq!((cuts(30, true), cuts(33, true)), (None, None), "long");
        let site = known(0x51_8200, 1, 100);
        assert_eq!(site.cuts(20, true), None, "brief");
    }

    #[test]
    fn pieces_that_take_far_longer_than_is_known_are_noticed() {
        let key = known(0x51_8300, 0, 100).key();
        let timer = |items: usize, nanos| {
            let zero = Timer {
                site: key,
                every: 0,
                items: 0.into(),
                ticks: 0.into(),
            };
            zero.add(items, clock::ticks(nanos));
            zero
        };
        assert!(!timer(0, 0).overturns());
        assert!(!timer(10, 2_000).overturns());
        assert!(!timer(100, 60_000).overturns());
        assert!(timer(10, 60_000).overturns());
        // From then on it is known how long a call took.
        let open = Site::flat(0x51_8400, 8).key();
        assert!(loop_pace::is_open(open));
        let watched = Timer::start(open, 8).expect("nothing is known");
        watched.add(10, clock::ticks(50_000));
        watched.end();
        let known = site_costs::entry(open).predict(10);
        assert!(known.is_some_and(|nanos| (45_000..55_000).contains(&nanos)));
    }
}
