//! Whether it pays to share the loop of a call that is more than its loop.
//!
//! Each thread that shares such a loop leaves something, a table say, and the call makes one of all. So it is the whole call that is
//! timed: the first one of a site says little, as it finds its caches cold. Then one thread does a few, which says what that takes. What
//! follows goes by [`profit`](super::profit).
#![forbid(unsafe_code)]

use super::profit::{COUNT, Class};
use super::site_costs::{self, Entry};
use crate::base::clock;

/// The classes: calls that one thread is expected to do in less than this, in nanoseconds. Longer ones are not tried.
const CLASSES: [u64; COUNT] = [500_000, 1_500_000, 3_000_000];
/// After the first call that one thread does, it does this number more.
const AGAIN: u32 = 1;

/// A call of a site, from its begin to its end.
#[derive(Debug)]
pub(crate) struct Whole {
    entry: &'static Entry,
    items: usize,
    start: u64,
    /// What it takes one thread, in nanoseconds, and what is known of such calls. `None` for the first call of a site, which may
    /// have found nothing in its caches, and for long ones.
    tried: Option<(u64, Class<'static>)>,
}

impl Whole {
    /// It begins, and is of that number of `items`.
    pub(crate) fn start(site: usize, items: usize) -> Self {
        let entry = site_costs::entry(site);
        let nanos = entry.predict(items);
        Self {
            entry,
            items,
            start: clock::now(),
            tried: nanos.and_then(|nanos| Some((nanos, entry.profit.among(CLASSES, nanos)?))),
        }
    }

    /// Whether one thread is to do it.
    pub(crate) fn is_alone(&self) -> bool {
        self.tried.is_some_and(|(_, class)| class.is_alone())
    }

    /// It has come to its end. If it was worth little to share it, it is asked anew what one thread takes, if this says so `again`.
    pub(crate) fn end(self, again: bool) {
        self.took(clock::nanos(clock::since(self.start)), again);
    }

    fn took(&self, nanos: u64, again: bool) {
        let Some((known, class)) = self.tried else {
            return self.entry.record_cost(self.items, nanos);
        };
        if class.is_new() {
            self.entry.replace_cost(self.items, nanos);
            class.rest(AGAIN);
        } else if class.is_alone() {
            // One that was interrupted, or found its caches cold, says little.
            let most = known + known / 16;
            self.entry.replace_cost(self.items, nanos.min(most));
            class.alone(1);
        } else if again && (known / 2..known / 8 * 7).contains(&nanos) {
            class.rest(AGAIN);
        } else {
            class.shared(known, nanos);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::profit::{REST, TRIES};
    use super::{AGAIN, CLASSES, Whole, site_costs};

    /// A call of 1,000 items that takes that long in all, by the number of threads. Says whether one did it.
    fn call(site: usize, alone: u64, shared: u64) -> bool {
        let whole = Whole::start(site, 1_000);
        let is_alone = whole.is_alone();
        whole.took(if is_alone { alone } else { shared }, false);
        is_alone
    }

    #[test]
    fn a_whole_call_is_done_as_is_best() {
        let (good, bad) = (0x51_8e10, 0x51_8e20);
        for site in [good, bad] {
            // The first one is slow: it says little.
            assert!(!call(site, 1_000_000, 1_400_000));
            assert!((0..=AGAIN).all(|_| call(site, 1_000_000, 0)));
        }
        assert!((0..1_000).all(|_| !call(good, 1_000_000, 800_000)));
        assert!((0..TRIES).all(|_| !call(bad, 1_000_000, 900_000)));
        assert!((1..1 << REST.0).all(|_| call(bad, 1_000_000, 0)));
        // One that was interrupted is hardly believed.
        assert!(call(bad, 50_000_000, 0));
        assert!(site_costs::entry(bad).predict(1_000) < Some(1_100_000));
        assert!(!call(bad, 1_000_000, 900_000));
    }

    #[test]
    fn what_one_thread_takes_is_asked_anew_where_little_is_gained() {
        let site = 0x51_8e40;
        assert!(!call(site, 0, 1_400_000));
        // Interrupted, and then not.
        assert!((0..=AGAIN).all(|_| call(site, 1_400_000, 0)));
        assert!(!call(site, 0, 1_000_000));
        Whole::start(site, 1_000).took(1_000_000, true);
        assert!((0..AGAIN).all(|_| call(site, 1_000_000, 0)));
        assert!((0..TRIES).all(|_| !call(site, 0, 1_000_000)));
        assert!(call(site, 1_000_000, 0));
        // What gains much is not asked.
        let site = 0x51_8e50;
        assert!(!call(site, 0, 1_400_000));
        assert!((0..=AGAIN).all(|_| call(site, 1_400_000, 0)));
        Whole::start(site, 1_000).took(500_000, true);
        assert!(!call(site, 0, 500_000));
    }

    #[test]
    fn long_calls_are_not_tried_until_they_are_short() {
        let (site, long) = (0x51_8e30, CLASSES[2]);
        assert!((0..100).all(|_| !call(site, 0, 2 * long)));
        // It is believed bit by bit.
        let tried = (0..100).position(|_| call(site, long / 8, long / 8));
        assert!(tried.is_some_and(|calls| calls > 1), "{tried:?}");
    }
}
