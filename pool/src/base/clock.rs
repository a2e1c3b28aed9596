//! Ticks: the cheapest clock there is, and how many of them make a nanosecond.
//!
//! A tick is read in about 10 ns where the processor has a counter that any process may read.
//! The rate is measured, not assumed. Time decides only how work is spread, never what is
//! computed, so a clock that jumps does no harm beyond a bad guess.
#![forbid(unsafe_code)]

use crate::base::sys;
use std::sync::atomic::{AtomicU64, Ordering};

/// A point in time, in ticks. Never zero, so that zero can mean "not taken".
pub(crate) fn now() -> u64 {
    sys::ticks().unwrap_or_else(wall::nanos) | 1
}

/// Ticks from `start` to now.
pub(crate) fn since(start: u64) -> u64 {
    now().saturating_sub(start)
}

/// Nanoseconds since some point in time, by the system's clock: not cheap, but right.
pub(crate) fn wall() -> u64 {
    wall::nanos()
}

/// The number of ticks in this many nanoseconds.
pub(crate) fn ticks(nanos: u64) -> u64 {
    (nanos * per_micro()) / 1000
}

/// The number of nanoseconds in this many ticks.
pub(crate) fn nanos(ticks: u64) -> u64 {
    ticks.saturating_mul(1000) / per_micro()
}

/// Ticks in a microsecond, measured at the first call (50 µs).
fn per_micro() -> u64 {
    if cfg!(tine_sched) {
        return 1000;
    }
    static RATE: AtomicU64 = AtomicU64::new(0);
    // Relaxed: the number stands for itself. Two threads at once may both measure.
    match RATE.load(Ordering::Relaxed) {
        0 => measure(&RATE),
        rate => rate,
    }
}

/// Fills in the rate, unless another thread was quicker.
#[cold]
fn measure(rate: &AtomicU64) -> u64 {
    let (start, first) = (wall::nanos(), now());
    let mut passed = 0;
    while passed < 50_000 {
        std::hint::spin_loop();
        passed = wall::nanos() - start;
    }
    let ticks = now().saturating_sub(first);
    let mine = (ticks * 1000 / passed).max(1);
    match rate.compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => mine,
        Err(other) => other,
    }
}

/// Microseconds since some point in time, for the crates above: slower than `now`, and without a rate that is found
/// out at first.
pub fn micros() -> u64 {
    wall::nanos() / 1000
}

/// The system's clock. No lock and no "first call": a child that was forked in the middle of one
/// would wait for its end for ever.
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
