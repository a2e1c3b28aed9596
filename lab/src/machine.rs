//! The machine on which the rows run: the computed machine or, if built without `--cfg tine_sched`,
//! the real one.

#[cfg(tine_sched)]
pub(crate) use crate::rt::{peek as now, reset, threads_in_work, work};

#[cfg(not(tine_sched))]
pub(crate) use real::{now, reset, threads_in_work, work};

/// Whether this is the computed machine.
pub(crate) const COMPUTED: bool = cfg!(tine_sched);

#[cfg(not(tine_sched))]
pub(crate) use std::sync::atomic::AtomicUsize;
/// A counter that all threads touch.
#[cfg(tine_sched)]
pub(crate) use tine_pool::schedule::AtomicUsize;

#[cfg(not(tine_sched))]
mod real {
    use std::cell::Cell;
    use std::hint::black_box;
    use std::sync::OnceLock;
    use std::time::Instant;

    /// Nanoseconds since the first call.
    pub(crate) fn now() -> u64 {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        BEGUN.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }

    thread_local! {
        /// Where the last chain of this thread ended and the next one begins: otherwise a processor
        /// would work on several items at once.
        static END: Cell<u64> = const { Cell::new(1) };
    }

    fn chain(rounds: u64) {
        END.with(|end| {
            let mut x = end.get();
            for _ in 0..rounds {
                x = black_box(x.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            }
            end.set(x);
        });
    }

    /// The time of a chain in picoseconds: a constant part, and a part for each round. The least of
    /// many tries, so that nothing disturbed it.
    fn rate() -> (u64, u64) {
        static RATE: OnceLock<(u64, u64)> = OnceLock::new();
        *RATE.get_or_init(|| {
            let picos = |rounds: u64| {
                let try_once = |_| {
                    let begun = Instant::now();
                    (0..1_000).for_each(|_| chain(black_box(rounds)));
                    begun.elapsed().as_nanos() as u64
                };
                (0..200).map(try_once).min().unwrap_or(1)
            };
            let (short, long) = (picos(10), picos(110));
            let each = ((long.saturating_sub(short)) / 100).max(1);
            (short.saturating_sub(10 * each), each)
        })
    }

    /// Computes for this many nanoseconds.
    pub(crate) fn work(nanos: u64) {
        let (own, each) = rate();
        chain((nanos * 1000).saturating_sub(own) / each);
    }

    pub(crate) fn reset() {}

    /// Not known here.
    pub(crate) fn threads_in_work() -> usize {
        usize::MAX
    }
}
