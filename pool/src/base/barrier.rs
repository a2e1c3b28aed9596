//! A barrier that all threads of the process pass, if the system has one: what is known about it,
//! and when the process registers for it.
//!
//! Registering takes some µs if the process has one thread, and some ms if it has more. No caller
//! waits for that. The first pool registers if its builder is the only thread. Otherwise a thread
//! that goes to sleep registers, once a spawner would have used the barrier.
#![forbid(unsafe_code)]

use super::sys;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

const UNKNOWN: u8 = 0;
/// Not known, and of use.
const WANTED: u8 = 1;
const THERE: u8 = 2;
/// Refused when it was asked for, after it had been granted.
const DOUBTFUL: u8 = 3;
const NONE: u8 = 4;

/// Relaxed throughout: it says nothing of other memory, and to register twice does no harm.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

fn state() -> u8 {
    STATE.load(Ordering::Relaxed)
}

fn register() -> u8 {
    let now = if sys::register_for_barriers() {
        THERE
    } else {
        NONE
    };
    STATE.store(now, Ordering::Relaxed);
    now
}

/// Makes every running thread of the process pass a full memory barrier. False where the system
/// offers no such thing, or refuses it.
pub fn barrier_everywhere() -> bool {
    let known = match state() {
        UNKNOWN | WANTED => register(),
        known => known,
    };
    known != NONE && sys::pass_barrier_everywhere()
}

/// The same, but never fails, if the barrier has been granted before. Where the system now refuses
/// it, this waits instead: no processor holds a store back for a millisecond. From then on no code
/// uses the barrier that can do without.
pub(crate) fn everywhere_or_later() {
    if !barrier_everywhere() {
        STATE.store(DOUBTFUL, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether the system has the barrier, as far as is known. If that is not known, a thread that has
/// time finds out.
pub(crate) fn is_there() -> bool {
    match state() {
        UNKNOWN => {
            // A thread may have registered meanwhile.
            let _ = STATE.compare_exchange(UNKNOWN, WANTED, Ordering::Relaxed, Ordering::Relaxed);
            false
        }
        known => known == THERE,
    }
}

/// Whether it is known that there is no barrier. On systems other than Linux this is known at
/// compile time.
pub(crate) fn is_refused() -> bool {
    !sys::MAY_PASS_BARRIERS || state() > THERE
}

/// Called by the builder of a pool.
pub(crate) fn register_if_alone() {
    // Under decided schedules nothing is slow, and how soon the system forgets a thread must not matter.
    if state() == UNKNOWN && (cfg!(tine_sched) || sys::has_one_thread()) {
        register();
    }
}

/// Called by a thread that has nothing to do.
pub(crate) fn register_if_wanted() {
    if state() == WANTED {
        register();
    }
}
