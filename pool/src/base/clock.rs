//! Ticks: the cheapest clock there is, and how many of them make a nanosecond.
//!
//! A tick is read in about 10 ns where the processor has a counter that any process may read.
//! The rate is measured, not assumed. Time decides only how work is spread, never what is
//! computed, so a clock that jumps does no harm beyond a bad guess.
#![forbid(unsafe_code)]

use crate::base::sys;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A point in time, in ticks. Never zero, so that zero can mean "not taken".
pub(crate) fn now() -> u64 {
    sys::ticks().unwrap_or_else(wall::nanos) | 1
}

/// Ticks from `start` to now.
pub(crate) fn since(start: u64) -> u64 {
    now().saturating_sub(start)
}

/// Whether this many ticks have passed from `start` to `now`. If the counter was set back
/// meanwhile, as may happen while a machine sleeps, the answer is yes: no thread waits for the
/// counter to catch up.
pub(crate) fn have_passed(ticks: u64, start: u64, now: u64) -> bool {
    now.wrapping_sub(start) >= ticks
}

/// Nanoseconds since some point in time, by the system's clock: not cheap, but right.
pub(crate) fn wall() -> u64 {
    wall::nanos()
}

/// The number of ticks in this many nanoseconds.
pub fn ticks(nanos: u64) -> u64 {
    (nanos * per_micro()) / 1000
}

/// The number of nanoseconds in this many ticks.
pub(crate) fn nanos(ticks: u64) -> u64 {
    ticks.saturating_mul(1000) / per_micro()
}

thread_local! {
    /// How often the system had taken the processor from this thread when it was asked last.
    static INTERRUPTIONS: Cell<u64> = const { Cell::new(0) };
}

/// Whether the system, as far as it tells, has taken the processor from this thread since the last
/// call of this. If so, a long time may mean nothing. A system call.
#[cold]
pub(crate) fn was_interrupted() -> bool {
    #[cfg(all(test, not(loom)))]
    let count = tests::PRETENDED.get().or_else(sys::interruptions);
    #[cfg(not(all(test, not(loom))))]
    let count = sys::interruptions();
    count.is_some_and(|count| INTERRUPTIONS.replace(count) != count)
}

/// Ticks in a microsecond, measured at the first call (50 µs).
fn per_micro() -> u64 {
    if cfg!(tine_sched) {
        return 1000;
    }
    static RATE: AtomicU64 = AtomicU64::new(0);
    // Relaxed: the number stands for itself. Two threads may both measure at the same time.
    match RATE.load(Ordering::Relaxed) {
        0 => measure(&RATE),
        rate => rate,
    }
}

/// Fills in the rate, unless another thread was quicker.
#[cold]
fn measure(rate: &AtomicU64) -> u64 {
    let mine = rate_by(|| [now(), wall::nanos(), now()]);
    match rate.compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => mine,
        Err(other) => other,
    }
}

/// The rate by looks at the ticks, the system's clock, and the ticks again.
fn rate_by(mut look: impl FnMut() -> [u64; 3]) -> u64 {
    // The shortest of three looks. A thread may be kept from running for milliseconds between the two clocks:
    // the rate would be wrong by a factor of hundreds, for as long as the process lives.
    let mut both = || {
        let looks = [(); 3].map(|()| look());
        let least = |[before, _, after]: &[u64; 3]| after.saturating_sub(*before);
        looks.into_iter().min_by_key(least).unwrap_or(looks[0])
    };
    let [first, start, _] = both();
    loop {
        let [last, end, _] = both();
        let passed = end.saturating_sub(start);
        if passed >= 50_000 {
            return (last.saturating_sub(first).saturating_mul(1000) / passed).max(1);
        }
        std::hint::spin_loop();
    }
}

/// Microseconds since some point in time, for the crates above: slower than `now`, but needs no
/// rate to be measured first.
pub fn micros() -> u64 {
    wall::nanos() / 1000
}

/// The system's clock. It uses no lock and no state of a "first call": a child that was forked in
/// the middle of either would wait for ever.
#[cfg(unix)]
mod wall {
    use crate::base::sys;

    /// Nanoseconds since some point in time.
    pub(super) fn nanos() -> u64 {
        sys::nanos()
    }
}

/// The system's clock.
#[cfg(not(any(unix, all(target_family = "wasm", target_os = "unknown"))))]
mod wall {
    use std::sync::OnceLock;
    use std::time::Instant;

    /// Nanoseconds since the first call.
    pub(super) fn nanos() -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

/// Without a clock, each look at the time takes a microsecond, so that a wait for a time to pass
/// ends.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod wall {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Nanoseconds since the first call.
    pub(super) fn nanos() -> u64 {
        static LOOKS: AtomicU64 = AtomicU64::new(0);
        1000 * LOOKS.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
pub(crate) mod tests {
    use super::{Cell, have_passed, rate_by, was_interrupted};

    thread_local! {
        /// What the system says of this thread, if a test pretends.
        pub(crate) static PRETENDED: Cell<Option<u64>> = const { Cell::new(None) };
    }

    #[test]
    fn an_interruption_counts_once() {
        for count in [3, 3, 4, 4, 9] {
            let before = PRETENDED.replace(Some(count));
            assert_eq!(was_interrupted(), before != Some(count));
            assert!(!was_interrupted());
        }
    }

    /// The system's own count never falls.
    #[test]
    fn the_system_counts_interruptions() {
        let counts: Vec<_> = (0..3).map(|_| crate::base::sys::interruptions()).collect();
        assert!(counts.is_sorted());
        let tells = cfg!(all(target_os = "linux", not(any(miri, tine_sched))));
        assert_eq!(counts[0].is_some(), tells);
    }

    #[test]
    fn a_wait_is_over_where_the_clock_was_set_back() {
        assert!(!have_passed(10, 1001, 1009) && have_passed(10, 1001, 1011));
        assert!(have_passed(10, 1001, 999));
    }

    /// Whenever the thread is kept from running, and once more later, the rate is about right.
    #[test]
    fn the_rate_is_right_whatever_interrupts_the_measurement() {
        const STALL: u64 = 4_000_000;
        for first in 0..100 {
            for second in first + 6..first + 20 {
                let (mut nanos, mut reads) = (1_000, 0);
                let mut read = |ticks: bool| {
                    nanos += 20;
                    if reads == first || reads == second {
                        nanos += STALL;
                    }
                    reads += 1;
                    if ticks { 7 + 3 * nanos } else { nanos }
                };
                let rate = rate_by(|| [read(true), read(false), read(true)]);
                assert!((2_990..3_010).contains(&rate), "{first}, {second}: {rate}");
            }
        }
    }
}
