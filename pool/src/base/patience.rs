//! How long a thread that has found nothing goes on looking.
#![forbid(unsafe_code)]

use crate::base::clock;
use crate::base::sync::{relax, yield_now};

/// How long to go on looking: a few rounds of pauses, then yields, until the time is up.
#[derive(Debug)]
pub(crate) struct Patience {
    rounds: u32,
    until: u64,
    nanos: u64,
}

impl Patience {
    pub(crate) fn new(nanos: u64) -> Self {
        Self {
            rounds: 0,
            until: 0,
            nanos,
        }
    }

    /// Lets some time pass. Returns `false` when there is none left.
    pub(crate) fn wait(&mut self) -> bool {
        self.wait_unless(|| false)
    }

    /// The same, but less of it if what is waited for has `come`.
    pub(crate) fn wait_unless(&mut self, come: impl Fn() -> bool) -> bool {
        self.rounds += 1;
        if self.rounds <= 8 {
            for _ in 0..8 {
                (0..4).for_each(|_| relax());
                if come() {
                    break;
                }
            }
            return true;
        }
        let now = clock::now();
        if self.until == 0 {
            self.until = now + clock::ticks(self.nanos);
        }
        if now >= self.until {
            return false;
        }
        yield_now();
        true
    }
}
