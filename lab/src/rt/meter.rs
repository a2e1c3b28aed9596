//! The computing time between two touches of shared memory, in rows where it is measured.
//!
//! The processor's counter is read at both ends of a stretch: that takes some 10 ns, and a stretch may be as
//! short. But the counter goes on while another process has the processor. So after a stretch that seems
//! long, the system is asked how long the one real thread has computed since the last question, and the rest
//! is subtracted.

use super::machine::PS;

/// The system does not take the processor away for a shorter time, in picoseconds.
const LONG: u64 = 20_000 * PS;

pub(super) struct Meter {
    /// The time that two looks at the counter in a row seem to take.
    look: u64,
    /// Picoseconds of 2^16 ticks.
    rate: u64,
    left_at: u64,
    /// The last question to the system: the counter at that time, and the answer in nanoseconds.
    asked_at: u64,
    computed: u64,
}

impl Meter {
    pub(super) fn new() -> Self {
        let mut meter = Self {
            look: 0,
            rate: rate(),
            left_at: 0,
            asked_at: 0,
            computed: 0,
        };
        let mut between = |_| {
            meter.leave();
            ticks() - meter.left_at
        };
        let look = (0..1000).map(&mut between).min().unwrap_or(0);
        meter.look = look;
        meter.ask();
        meter
    }

    /// The machine is left: the time from now on is computing time.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.left_at = ticks();
    }

    /// The computing time since the machine was left, in picoseconds.
    #[inline]
    pub(super) fn passed(&mut self) -> u64 {
        let passed = self.picos((ticks() - self.left_at).saturating_sub(self.look));
        if passed < LONG {
            return passed;
        }
        passed.saturating_sub(self.ask())
    }

    /// Since the system was last asked, the time in which this thread did not run, in picoseconds.
    #[inline(never)]
    fn ask(&mut self) -> u64 {
        let (at, now) = (ticks(), computed());
        let whole = self.picos(at - self.asked_at);
        let ran = (now - self.computed) * PS;
        (self.asked_at, self.computed) = (at, now);
        whole.saturating_sub(ran)
    }

    fn picos(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.rate)) >> 16) as u64
    }
}

/// How long the one running thread has computed in all, in nanoseconds.
fn computed() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let (call, clock) = (libc::SYS_clock_gettime, libc::CLOCK_THREAD_CPUTIME_ID);
    // SAFETY: a place for the answer.
    unsafe { libc::syscall(call, clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: no preconditions.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// If there is no counter that a program may read, the system is asked at both ends.
#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    computed()
}

/// Picoseconds of 2^16 ticks: the counter compared with the clock of this thread's computing time.
/// Of several tries, the one with the fewest interruptions counts.
fn rate() -> u64 {
    let once = |_| {
        let (at, since) = (ticks(), computed());
        while computed() - since < 2_000_000 {}
        let (ticks, nanos) = (ticks() - at, computed() - since);
        u128::from(nanos) * u128::from(PS) * (1 << 16) / u128::from(ticks.max(1))
    };
    (0..8).map(once).max().unwrap_or(0) as u64
}
