//! Which sleeping thread looks after the others: at most one, in turns.
//!
//! It publishes the private jobs of a stuck owner, but only where the system has a barrier for all threads. Without
//! one it is *blind*: it looks for what was forgotten, and no thread may rely on it.
#![forbid(unsafe_code)]

use super::Seat;
use crate::base::barrier;
use crate::base::sync::{AtomicBool, AtomicUsize, Ordering};

/// The looker's place.
#[derive(Debug)]
pub(crate) struct Looker(
    /// One more than the index of the seat whose thread it is, 0 for none; and [`BLIND`].
    AtomicUsize,
    /// Its looks are seldom, as in a pool at rest.
    AtomicBool,
);

/// Set if the looker can publish nothing. It is the sign bit, so that one comparison tells whether
/// there is a looker that can.
const BLIND: usize = 1 << (usize::BITS - 1);

impl Looker {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0), AtomicBool::new(false))
    }

    /// Makes this seat's thread the looker, if there is none.
    pub(crate) fn try_become(&self, seat: &Seat) -> bool {
        let blind = if barrier::is_refused() { BLIND } else { 0 };
        // Relaxed, here and below: missing a looker for a moment only costs time.
        self.seat().is_none()
            && self
                .0
                .compare_exchange(
                    0,
                    blind | (seat.index + 1),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )
                .is_ok()
    }

    /// Whether there is one that publishes for others.
    #[inline]
    pub(crate) fn sees(&self) -> bool {
        self.0.load(Ordering::Relaxed).cast_signed() > 0
    }

    /// Whether it is this one.
    pub(crate) fn is(&self, seat: &Seat) -> bool {
        self.seat() == Some(seat.index)
    }

    /// The seat whose thread it is.
    pub(crate) fn seat(&self) -> Option<usize> {
        (self.0.load(Ordering::Relaxed) & !BLIND).checked_sub(1)
    }

    /// Whether its looks are far between, from now on.
    pub(crate) fn slow_down(&self, is_slow: bool) {
        if self.1.load(Ordering::Relaxed) != is_slow {
            self.1.store(is_slow, Ordering::Relaxed);
        }
    }

    /// Whether the next look of the present or future looker may take long to come.
    pub(crate) fn is_slow(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }

    /// It is to look soon; says whether it has to be told so.
    pub(crate) fn hurry(&self) -> bool {
        self.is_slow() && self.1.swap(false, Ordering::Relaxed)
    }

    /// The looker stops.
    pub(crate) fn stop(&self) {
        self.slow_down(false);
        self.0.store(0, Ordering::Relaxed);
    }
}
