//! Arithmetic of a known length, so that work takes CPU time and not only time: two such pieces
//! stacked on one core take twice as long, as real work would.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

static PER_MILLISECOND: AtomicU64 = AtomicU64::new(0);

/// Runs N rounds of dependent arithmetic.
#[inline(never)]
pub fn rounds(count: u64) -> u64 {
    let mut x = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..count {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    black_box(x)
}

/// Runs about N nanoseconds of arithmetic, on an undisturbed core.
pub fn nanoseconds(count: u64) {
    let rate = PER_MILLISECOND.load(Relaxed);
    assert!(rate > 0, "spin::set_rate comes first");
    rounds(count * rate / 1_000_000);
}

/// Measures how many rounds a millisecond holds: the best of many short tries.
pub fn measure_rate() -> u64 {
    const TRY: u64 = 500_000;
    let time = |_| {
        let start = Instant::now();
        rounds(TRY);
        start.elapsed().as_nanos() as u64
    };
    let best = (0..20).map(time).min().expect("20 tries");
    TRY * 1_000_000 / best
}

/// Sets what [`measure_rate`] found, so that all processes of a run agree.
pub fn set_rate(per_millisecond: u64) {
    PER_MILLISECOND.store(per_millisecond, Relaxed);
}
