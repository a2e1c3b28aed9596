//! Looks at the clock when very short loops begin: few looks, since each costs a good part of such
//! a loop, but enough to notice soon that the loops are no longer short.
#![forbid(unsafe_code)]

use crate::base::clock;
use crate::base::sync::{AtomicU64, Ordering};

/// One of a few loops begins with a look: at least one in this number.
const EVERY: u64 = 16;
/// If the last look was this long ago, in nanoseconds, the next loop begins with a look too.
const LATE: u64 = 20_000;

/// What a look told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glance {
    pub(crate) now: u64,
    /// Whether the one before was long ago: a loop in between may have taken long, or there is time for another look.
    pub(crate) late: bool,
}

/// How many more loops begin on a seat without a look, and when the last one was. The holder of the seat alone looks
/// here, so all accesses are Relaxed.
#[derive(Debug)]
pub(crate) struct Glances {
    left: AtomicU64,
    at: AtomicU64,
}

impl Glances {
    pub(crate) fn new() -> Self {
        let (left, at) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { left, at }
    }

    /// A loop begins.
    #[inline]
    pub(crate) fn next(&self, random: impl FnOnce() -> u64) -> Option<Glance> {
        match self.left.load(Ordering::Relaxed) {
            0 => Some(self.look(random)),
            left => {
                self.left.store(left - 1, Ordering::Relaxed);
                None
            }
        }
    }

    fn look(&self, random: impl FnOnce() -> u64) -> Glance {
        let now = clock::now();
        let late = now.saturating_sub(self.at.load(Ordering::Relaxed)) > clock::ticks(LATE);
        let left = if late { 0 } else { random() % EVERY };
        self.at.store(now, Ordering::Relaxed);
        self.left.store(left, Ordering::Relaxed);
        Glance { now, late }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{EVERY, Glances};
    use crate::base::clock;
    use crate::base::sync::Ordering;

    #[test]
    fn after_a_long_time_each_is_looked_at_and_else_a_few() {
        let glances = Glances::new();
        let long_ago = || glances.at.store(1, Ordering::Relaxed);
        long_ago();
        assert!(glances.next(|| 5).unwrap().late);
        long_ago();
        assert!(glances.next(|| 5).unwrap().late);
        glances.at.store(
            clock::now() + clock::ticks(1_000_000_000),
            Ordering::Relaxed,
        );
        assert!(!glances.next(|| EVERY - 1).unwrap().late);
        assert!((1..EVERY).all(|_| glances.next(|| 0).is_none()));
        assert!(glances.next(|| 0).is_some());
    }
}
