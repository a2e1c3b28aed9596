//! Which sleeping thread looks after the others: at most one, in turns.
#![forbid(unsafe_code)]

use super::Seat;
use crate::base::sync::{AtomicUsize, Ordering};

/// The looker's place.
#[derive(Debug)]
pub(crate) struct Looker(
    /// One more than the index of the seat whose thread it is, 0 for none.
    AtomicUsize,
);

impl Looker {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Makes this seat's thread the looker, if there is none.
    pub(crate) fn try_become(&self, seat: &Seat) -> bool {
        // Relaxed, here and below: a looker that is missed for a moment costs time alone.
        self.seat().is_none()
            && self
                .0
                .compare_exchange(0, seat.index + 1, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Whether it is this one.
    pub(crate) fn is(&self, seat: &Seat) -> bool {
        self.seat() == Some(seat.index)
    }

    /// The seat whose thread it is.
    pub(crate) fn seat(&self) -> Option<usize> {
        self.0.load(Ordering::Relaxed).checked_sub(1)
    }

    /// The looker stops.
    pub(crate) fn stop(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}
