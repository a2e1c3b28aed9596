//! What wake-ups cost their callers, and how long woken threads take to come. Both are measured
//! while the pool runs, to decide whether work is worth a wake-up.
#![forbid(unsafe_code)]

use crate::base::clock;
use crate::base::sync::{AtomicU64, CachePadded, Ordering};

/// The least rest for which a sleeper is woken: this many times as long as it takes to come.
pub(super) const LATE: u64 = 3;
/// If two loops that are too short for a sleeper follow each other within this many times the time that it takes to come, the
/// second one wakes it all the same, unless that is dear.
const SOON: u64 = 4;
/// A wake-up may cost as much as the loop gains. In a row of loops, a thread that is woken for the first is awake for all. So
/// a row in which loops of at least A nanoseconds have run alone for B times the cost wakes a thread once. These are A, B,
/// and the longest pause between two loops of a row: longer than a thread waits before it sleeps.
const ROW: (u64, u64, u64) = (16_000, 25, 20_000);

/// The figures. All are guesses, so all accesses are Relaxed.
#[derive(Debug)]
pub(crate) struct Wakes {
    /// What a wake-up costs its caller, in nanoseconds: a moving average.
    cost: AtomicU64,
    /// How long a woken thread takes to come, in nanoseconds: a moving average.
    delay: AtomicU64,
    /// When the last wake-up for a loop or a join was begun, until its thread has come, in ticks.
    /// Each wake-up writes it: apart from what threads that offer work read.
    rung: CachePadded<AtomicU64>,
    /// When a loop last did without a wake-up, and when the row of such loops began, in ticks.
    spared: CachePadded<[AtomicU64; 2]>,
}

/// A loop did without a wake-up. In ticks: how long after the loop that did so before it, and how long after the first of
/// their row. A row is loops of which each begins as soon as the one before is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spared {
    since: u64,
    row: u64,
}

/// Brings a moving average nearer to what was seen, by one part in `parts`.
fn average(of: &AtomicU64, parts: u64, seen: u64) {
    let old = of.load(Ordering::Relaxed);
    of.store((old * (parts - 1) + seen) / parts, Ordering::Relaxed);
}

impl Wakes {
    pub(crate) fn new() -> Self {
        Self {
            cost: AtomicU64::new(10_000),
            delay: AtomicU64::new(15_000),
            rung: CachePadded::new(AtomicU64::new(0)),
            spared: CachePadded::new([const { AtomicU64::new(0) }; 2]),
        }
    }

    /// What a wake-up costs its caller here, in nanoseconds.
    pub(crate) fn cost(&self) -> u64 {
        self.cost.load(Ordering::Relaxed)
    }

    /// Notes what a wake-up has cost. An interrupted one counts as at most twice the average.
    pub(crate) fn record_cost(&self, nanos: u64) {
        average(&self.cost, 8, nanos.min(self.cost() * 2).max(100));
    }

    /// Notes that a wake-up begins.
    pub(crate) fn ring_at(&self, ticks: u64) {
        self.rung.store(ticks, Ordering::Relaxed);
    }

    /// When the wake-up of the calling thread began, if that is known.
    pub(crate) fn rung_at(&self) -> Option<u64> {
        match self.rung.load(Ordering::Relaxed) {
            0 => None,
            _ => Some(self.rung.swap(0, Ordering::Relaxed)).filter(|&at| at != 0),
        }
    }

    /// How long a woken thread takes to come, in nanoseconds.
    pub(crate) fn delay(&self) -> u64 {
        self.delay.load(Ordering::Relaxed)
    }

    /// Notes how long a thread took to come. A thread that was held up counts as at most four times
    /// the average.
    pub(crate) fn record_delay(&self, nanos: u64) {
        average(&self.delay, 4, nanos.min(self.delay() * 4).max(1_000));
    }

    /// Whether they are worth work of this many nanoseconds, what is left of a loop. `spared` is kept for the loop.
    pub(crate) fn are_worth(&self, nanos: u64, spared: &mut Option<Spared>) -> bool {
        self.are_worth_at(clock::now, nanos, spared)
    }

    #[inline]
    fn are_worth_at(&self, now: impl Fn() -> u64, nanos: u64, spared: &mut Option<Spared>) -> bool {
        let (cost, delay) = (self.cost(), self.delay());
        let cheap = nanos > 5 * cost;
        if cheap && nanos > LATE * delay {
            return true;
        }
        if !cheap && nanos < ROW.0 {
            return false;
        }
        let spared = spared.get_or_insert_with(|| {
            if cheap {
                self.too_late();
            }
            self.spare(now(), clock::ticks(nanos + ROW.2))
        });
        if cheap && spared.since < clock::ticks(SOON * delay + nanos) {
            return true;
        }
        let worth = spared.row > clock::ticks(ROW.1 * cost);
        if worth {
            spared.row = 0;
            self.begin_row(now());
        }
        worth
    }

    /// Notes that a loop does without a wake-up at the time `now`. It belongs to the row of the loop that last did so, if that
    /// was no more than `pause` before.
    fn spare(&self, now: u64, pause: u64) -> Spared {
        let [last, first] = &*self.spared;
        let since = now.saturating_sub(last.load(Ordering::Relaxed));
        last.store(now, Ordering::Relaxed);
        if since >= pause {
            self.begin_row(now);
            return Spared { since, row: 0 };
        }
        let row = now.saturating_sub(first.load(Ordering::Relaxed));
        Spared { since, row }
    }

    /// A row of such loops begins, at this time.
    fn begin_row(&self, now: u64) {
        self.spared[1].store(now, Ordering::Relaxed);
    }

    /// No thread would come early enough for a loop. The average falls a little, so that a figure from a bad moment is
    /// tested again.
    fn too_late(&self) {
        let old = self.delay();
        self.delay.store(old - old / 256, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Spared, Wakes};
    use crate::base::clock;

    #[test]
    fn averages_follow_what_is_seen_and_survive_extremes() {
        let wakes = Wakes::new();
        for _ in 0..100 {
            wakes.record_cost(200);
            wakes.record_delay(2_000);
        }
        assert!(wakes.cost() < 400 && wakes.delay() < 2_100);
        wakes.record_cost(u64::MAX);
        wakes.record_delay(u64::MAX);
        assert!(wakes.cost() < 800 && wakes.delay() < 8_400);
        for _ in 0..100 {
            wakes.record_cost(0);
            wakes.record_delay(0);
        }
        assert!(wakes.cost() >= 93 && wakes.delay() >= 997);
        assert_eq!(wakes.rung_at(), None);
        wakes.ring_at(5);
        assert_eq!((wakes.rung_at(), wakes.rung_at()), (Some(5), None));
        let delay = wakes.delay();
        wakes.too_late();
        assert!(wakes.delay() < delay);
    }

    #[test]
    fn loops_that_follow_each_other_are_a_row() {
        let wakes = Wakes::new();
        let spare = |now, pause| {
            let Spared { since, row } = wakes.spare(now, pause);
            (since, row)
        };
        assert_eq!(spare(1_000, 100), (1_000, 0));
        assert_eq!(spare(1_090, 100), (90, 90));
        assert_eq!(spare(1_180, 100), (90, 180));
        assert_eq!(spare(1_280, 100), (100, 0), "too late for the row");
        assert_eq!(spare(1_330, 100), (50, 50));
        wakes.begin_row(1_330);
        assert_eq!(spare(1_350, 100), (20, 20));
        assert_eq!(spare(1_340, 100).0, 0, "by another clock");
    }

    /// Which loops of this length, in nanoseconds, wake a thread: each is told of when it begins, in nanoseconds.
    fn woken(wakes: &Wakes, nanos: u64, begin: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let wakes_for = |&begin: &u64| {
            let now = || clock::ticks(1_000_000_000 + begin);
            let mut spared = None;
            let worth = wakes.are_worth_at(now, nanos, &mut spared);
            // Only one thread is woken, unless a wake-up is cheap.
            assert!(!wakes.are_worth_at(now, nanos, &mut spared) || nanos > 5 * wakes.cost());
            worth
        };
        begin.into_iter().filter(wakes_for).collect()
    }

    #[test]
    fn a_row_of_loops_wakes_a_thread_though_none_of_them_is_worth_it() {
        // 10 µs and 15 µs: a row has to run for 250 µs.
        let wakes = Wakes::new();
        let every = |step: u64| (0..20).map(move |k| k * step);
        assert_eq!(woken(&wakes, 40_000, every(41_000)), [287_000, 574_000]);
        let wakes = Wakes::new();
        assert!(woken(&wakes, 40_000, every(61_000)).is_empty(), "pauses");
        let wakes = Wakes::new();
        assert!(woken(&wakes, 15_000, every(16_000)).is_empty(), "short");
    }

    #[test]
    fn two_loops_that_are_over_too_soon_for_a_sleeper_wake_it_if_that_is_cheap() {
        let wakes = Wakes::new();
        (0..100).for_each(|_| wakes.record_cost(1_000));
        assert_eq!(woken(&wakes, 40_000, [0, 99_000, 300_000]), [99_000]);
        assert_eq!(woken(&wakes, 50_000, [900_000]), [900_000], "not too soon");
    }
}
