//! The machine on which the rows run: the computed one, or, built without `--cfg tine_sched`, the
//! one at hand.

#[cfg(tine_sched)]
pub(crate) use crate::rt::{peek as now, reset, threads_in_work, work};

#[cfg(not(tine_sched))]
pub(crate) use real::{now, reset, threads_in_work, work};

/// Whether this is the computed one.
pub(crate) const COMPUTED: bool = cfg!(tine_sched);

#[cfg(not(tine_sched))]
pub(crate) use std::sync::atomic::AtomicUsize;
/// A counter that all touch.
#[cfg(tine_sched)]
pub(crate) use tine_pool::schedule::AtomicUsize;

#[cfg(not(tine_sched))]
mod real {
    use std::hint::black_box;
    use std::sync::OnceLock;
    use std::time::Instant;

    /// Nanoseconds since the first call.
    pub(crate) fn now() -> u64 {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        BEGUN.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    fn chain(rounds: u64) {
        let mut x = rounds | 1;
        for _ in 0..rounds {
            x = black_box(x.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
    }

    /// Rounds of the chain in 1024 ns: the most of many tries, when nothing was in the way.
    fn rate() -> u64 {
        static RATE: OnceLock<u64> = OnceLock::new();
        *RATE.get_or_init(|| {
            let try_once = |_| {
                let begun = Instant::now();
                chain(100_000);
                100_000 * 1024 / begun.elapsed().as_nanos().max(1) as u64
            };
            (0..100).map(try_once).max().unwrap_or(1)
        })
    }

    /// Computes for this many nanoseconds.
    pub(crate) fn work(nanos: u64) {
        chain((nanos * rate()) >> 10);
    }

    pub(crate) fn reset() {}

    /// Not known here.
    pub(crate) fn threads_in_work() -> usize {
        usize::MAX
    }
}
