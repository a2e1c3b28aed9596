//! What wake-ups cost their callers, and how long woken threads take to come. Both are measured
//! while the pool runs, to decide whether work is worth a wake-up.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicU64, CachePadded, Ordering};

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
    /// When a loop last did without a wake-up, in ticks.
    spared: CachePadded<AtomicU64>,
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
            spared: CachePadded::new(AtomicU64::new(0)),
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

    /// Notes that a loop does without a wake-up at this time, since no thread would come early
    /// enough. Returns the time when a loop last did so. The average falls a little, so that a
    /// figure from a bad moment is tested again.
    pub(crate) fn spare(&self, now: u64) -> u64 {
        let old = self.delay();
        self.delay.store(old - old / 256, Ordering::Relaxed);
        self.spared.swap(now, Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Wakes;

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
        assert_eq!((wakes.spare(7), wakes.spare(9)), (0, 7));
    }
}
