//! Tries whether it pays to share the loop of a call that is more than its loop.
//!
//! Each thread that shares such a loop leaves a result, such as a table, and the call merges all of
//! them. So the whole call is timed. The first call of a site says little, since it finds its
//! caches cold. Then one thread does a few calls, which shows what that takes. From then on
//! [`profit`](super::profit) decides.
#![forbid(unsafe_code)]

use super::profit::{COUNT, Class};
use super::site_costs::{self, Entry};
use crate::base::clock;

/// The classes: calls that one thread is expected to do in less than this, in nanoseconds. Longer ones are not tried.
const CLASSES: [u64; COUNT] = [500_000, 1_500_000, 3_000_000];
/// A longer one is tried once, and then by chance after one of N calls, if all threads together took less than this for a call that
/// was shared. This is that time, and N.
const LOOK: u64 = 8_000_000;
const SELDOM: u64 = 1024;
/// A shared call that took half as long again as one thread does counts as this number of tries in vain.
const CLEAR: u32 = 3;
/// After the first call that one thread does, it does this number more.
const AGAIN: u32 = 1;

/// A call of a site, from its begin to its end.
#[derive(Debug)]
pub(crate) struct Whole {
    entry: &'static Entry,
    items: usize,
    start: u64,
    /// What one thread is expected to take, in nanoseconds; 0 for the first call of a site.
    known: u64,
    /// What is known of such calls. `None` for the first call of a site, which may have found nothing in its caches, and for
    /// long ones.
    class: Option<Class<'static>>,
    /// Whether one thread does it, and whether that is the first such call. Other calls may change what the site says meanwhile.
    alone: bool,
    new: bool,
}

impl Whole {
    /// It begins, and is of that number of `items`.
    pub(crate) fn start(site: usize, items: usize) -> Self {
        let entry = site_costs::entry(site);
        let known = entry.predict(items);
        let class = known.and_then(|known| entry.profit.among(CLASSES, known));
        Self {
            entry,
            items,
            start: clock::now(),
            known: known.unwrap_or(0),
            class,
            alone: class.is_some_and(Class::is_alone),
            new: class.is_some_and(Class::is_new),
        }
    }

    /// Whether one thread is to do it, unless others ask for parts.
    pub(crate) fn is_alone(&self) -> bool {
        self.alone
    }

    /// It has come to its end, in a pool of that many `threads`.
    pub(crate) fn end(self, threads: usize) {
        // A random number: low bits of a clock that ticks quickly.
        let chance = self.start >> 7;
        self.took(clock::nanos(clock::since(self.start)), threads, chance);
    }

    /// It took this time. What one thread takes may have been measured in a bad moment: where sharing gained little, the next
    /// calls are one thread's if `chance` is a multiple of 16.
    fn took(&self, nanos: u64, threads: usize, chance: u64) {
        let Some(class) = self.class else {
            return self.took_shared(nanos, threads, chance);
        };
        if self.new {
            self.entry.replace_cost(self.items, nanos);
            class.rest(AGAIN);
        } else if self.alone {
            // A call that was interrupted, or found its caches cold, says little; two such calls in a row say
            // that items have changed.
            let far = nanos > 2 * self.known;
            let believed = self.entry.doubt(far) && far;
            let most = self.known + self.known / 16;
            let nanos = if believed { nanos } else { nanos.min(most) };
            self.entry.replace_cost(self.items, nanos);
            class.alone(1);
        } else if chance.is_multiple_of(16) && (self.known / 2..self.known / 8 * 7).contains(&nanos)
        {
            class.rest(AGAIN);
        } else {
            self.entry.doubt(false);
            let clear = nanos / 3 * 2 > self.known;
            (0..if clear { CLEAR } else { 1 }).for_each(|_| class.shared(self.known, nanos));
        }
    }

    /// A call that is not tried was shared, and took this time. One thread takes no less, and at most as many times that as there
    /// are threads.
    fn took_shared(&self, nanos: u64, threads: usize, chance: u64) {
        let most = nanos.saturating_mul(threads as u64);
        let longest = CLASSES[COUNT - 1];
        let last = self.entry.profit.among(CLASSES, longest - 1);
        let looks = last.is_some_and(Class::is_new) || chance.is_multiple_of(SELDOM);
        if self.known >= longest && most < LOOK && looks {
            // The known time is the time of a cold call, or of threads that hindered each other.
            return self.entry.replace_cost(self.items, longest - 1);
        }
        if nanos > self.known {
            self.entry.replace_cost(self.items, nanos);
        } else if most < self.known {
            self.entry.replace_cost(self.items, most);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::profit::{REST, TRIES};
    use super::{AGAIN, CLEAR, Whole, site_costs};

    const THREADS: usize = 16;

    /// A call of 1,000 items that takes that long in all, by the number of threads. Says whether one did it.
    fn call(site: usize, alone: u64, shared: u64) -> bool {
        let whole = Whole::start(site, 1_000);
        let is_alone = whole.is_alone();
        whole.took(if is_alone { alone } else { shared }, THREADS, 1);
        is_alone
    }

    #[test]
    fn a_whole_call_is_done_as_is_best() {
        let (good, bad) = (0x51_8e10, 0x51_8e20);
        for site in [good, bad] {
            // The first call is slow: it says little.
            assert!(!call(site, 1_000_000, 1_400_000));
            assert!((0..=AGAIN).all(|_| call(site, 1_000_000, 0)));
        }
        assert!((0..1_000).all(|_| !call(good, 1_000_000, 800_000)));
        assert!((0..TRIES).all(|_| !call(bad, 1_000_000, 900_000)));
        assert!((1..1 << REST.0).all(|_| call(bad, 1_000_000, 0)));
        // A call that was interrupted is hardly believed.
        assert!(call(bad, 50_000_000, 0));
        assert!(site_costs::entry(bad).predict(1_000) < Some(1_100_000));
        assert!(!call(bad, 1_000_000, 900_000));
    }

    #[test]
    fn what_is_clearly_in_vain_is_not_tried_as_often() {
        let site = 0x51_8ea0;
        assert!(!call(site, 0, 1_400_000));
        assert!((0..=AGAIN).all(|_| call(site, 1_000_000, 0)));
        assert!((0..TRIES / CLEAR).all(|_| !call(site, 0, 1_600_000)));
        assert!(call(site, 1_000_000, 0));
    }

    #[test]
    fn what_one_thread_takes_is_asked_anew_where_little_is_gained() {
        let site = 0x51_8e40;
        assert!(!call(site, 0, 1_400_000));
        // First interrupted, then not.
        assert!((0..=AGAIN).all(|_| call(site, 1_400_000, 0)));
        assert!(!call(site, 0, 1_000_000));
        Whole::start(site, 1_000).took(1_000_000, THREADS, 16);
        assert!((0..AGAIN).all(|_| call(site, 1_000_000, 0)));
        assert!((0..TRIES).all(|_| !call(site, 0, 1_000_000)));
        assert!(call(site, 1_000_000, 0));
        // If much is gained, it is not asked.
        let site = 0x51_8e50;
        assert!(!call(site, 0, 1_400_000));
        assert!((0..=AGAIN).all(|_| call(site, 1_400_000, 0)));
        Whole::start(site, 1_000).took(500_000, THREADS, 16);
        assert!(!call(site, 0, 500_000));
    }

    #[test]
    fn long_calls_are_shared_though_that_makes_them_short() {
        let site = 0x51_8e30;
        assert!(!call(site, 16_000_000, 2_000_000));
        assert!(call(site, 16_000_000, 2_000_000));
        assert!((0..1_000).all(|_| !call(site, 16_000_000, 2_000_000)));
        // Sixteen threads cannot have gained more than that: now it is a short call.
        let tried = (0..3).any(|_| call(site, 1_000_000, 100_000));
        assert!(tried);
    }

    /// The first call was cold, and threads hinder each other.
    #[test]
    fn what_is_known_of_a_cold_call_is_asked_anew_once() {
        let (short, long) = (0x51_8e80, 0x51_8e90);
        for (site, alone) in [(short, 1_000_000), (long, 4_000_000)] {
            assert!(!call(site, 0, 5_000_000));
            assert!(!call(site, 0, 450_000));
            assert!(call(site, alone, 0));
        }
        // Now it is a call of another class.
        assert!((0..=AGAIN).all(|_| call(short, 1_000_000, 0)));
        assert!((0..TRIES).all(|_| !call(short, 0, 950_000)));
        assert!(call(short, 1_000_000, 0));
        // It is no short call.
        assert!((0..1_000).all(|_| !call(long, 0, 450_000)));
    }

    #[test]
    fn items_that_turned_long_are_believed_the_second_time() {
        let site = 0x51_8e60;
        assert!(!call(site, 0, 1_000_000));
        assert!((0..=AGAIN).all(|_| call(site, 1_000_000, 0)));
        assert!((0..TRIES).all(|_| !call(site, 0, 1_000_000)));
        assert!((0..2).all(|_| call(site, 9_000_000, 0)));
        assert!(!call(site, 9_000_000, 1_000_000));
    }

    /// What a call was begun as counts, whatever other calls of the site have found meanwhile.
    #[test]
    fn a_shared_call_says_nothing_of_one_thread() {
        let site = 0x51_8e70;
        assert!(!call(site, 0, 1_000_000));
        assert!((0..=AGAIN).all(|_| call(site, 1_000_000, 0)));
        let shared = Whole::start(site, 1_000);
        Whole::start(site, 1_000).took(800_000, THREADS, 16);
        assert!(Whole::start(site, 1_000).is_alone());
        shared.took(600_000, THREADS, 1);
        assert_eq!(site_costs::entry(site).predict(1_000), Some(1_000_000));
    }
}
