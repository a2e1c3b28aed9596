//! What has become of a seat's own thread: not asked for yet, being started, there, or refused.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicU32, Ordering, yield_now};

/// What has become of a seat's own thread.
#[derive(Debug)]
pub(crate) struct ThreadState(AtomicU32);

impl ThreadState {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(Self::NONE))
    }

    const NONE: u32 = 0;
    const STARTING: u32 = 1;
    const THERE: u32 = 2;
    const REFUSED: u32 = 3;

    /// Starts it by `start` if no thread has; says whether it is there then.
    pub(crate) fn start_once(&self, start: impl FnOnce() -> bool) -> bool {
        // Relaxed, here and below: the seat's word hands on whatever must be handed on.
        // An exchange, so that STARTING never takes the place of an answer.
        if self.0.load(Ordering::Relaxed) == Self::NONE
            && self
                .0
                .compare_exchange(
                    Self::NONE,
                    Self::STARTING,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )
                .is_ok()
        {
            let state = if start() { Self::THERE } else { Self::REFUSED };
            // If this fails, the thread has gone meanwhile.
            let _ = self.0.compare_exchange(
                Self::STARTING,
                state,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
        self.settled() == Self::THERE
    }

    /// Whether it is there, or has not been asked for yet.
    pub(crate) fn exists(&self) -> bool {
        self.settled() != Self::REFUSED
    }

    /// It has ended, or will never come.
    pub(crate) fn set_gone(&self) {
        self.0.store(Self::REFUSED, Ordering::Relaxed);
    }

    /// Whether it is there, now that no thread is in the middle of starting it.
    pub(crate) fn was_started(&self) -> bool {
        self.settled() == Self::THERE
    }

    /// Whether it was never asked for.
    pub(crate) fn is_new(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::NONE
    }

    /// Whether it has been started.
    pub(crate) fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::THERE
    }

    /// The state, once no thread is in the middle of starting it.
    fn settled(&self) -> u32 {
        loop {
            match self.0.load(Ordering::Relaxed) {
                Self::STARTING => yield_now(),
                state => return state,
            }
        }
    }
}
