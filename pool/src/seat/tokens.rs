//! What the jobs on a seat work under: for each stretch of its stack of nested jobs, the tokens.
//!
//! The job that a join pushes says nothing about tokens. A thief asks here, by the depth of the
//! job, while the owner waits for the job. Stretches that begin at that depth or below stay as they
//! are until the owner has the job back; stretches that begin above it do not matter. So the answer
//! is right although the owner goes on meanwhile.
#![forbid(unsafe_code)]

use crate::base::stop::Chain;
use crate::base::sync::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The stretches of one seat.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// How many there are. In nearly all programs there are none, and this is all that is read.
    count: AtomicUsize,
    stretches: Mutex<Vec<Stretch>>,
}

/// From this depth on: these tokens, or none.
#[derive(Debug)]
struct Stretch {
    depth: usize,
    chain: Option<Chain>,
}

impl Tokens {
    pub(super) fn new() -> Self {
        Self {
            count: AtomicUsize::new(0),
            stretches: Mutex::default(),
        }
    }

    /// Whether there are none. For the holder, or for a thief of a job from here: a thief sees what
    /// the owner did before the push.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: see above.
        self.count.load(Ordering::Relaxed) == 0
    }

    /// A stretch begins. The holder's alone.
    pub(crate) fn push(&self, depth: usize, chain: Option<Chain>) {
        self.stretches().push(Stretch { depth, chain });
        self.add(1);
    }

    /// The last one ends. The holder's alone.
    pub(crate) fn pop(&self) {
        let last = self.stretches().pop();
        self.add(usize::MAX);
        drop(last);
    }

    /// Nothing is left of all stretches but this one, if it is one. The holder's alone; it has pushed nothing.
    pub(crate) fn begin(&self, below: Option<Option<Chain>>) {
        let first = below.map(|chain| Stretch { depth: 0, chain });
        let count = usize::from(first.is_some());
        let old = std::mem::replace(&mut *self.stretches(), first.into_iter().collect());
        self.count.store(count, Ordering::Relaxed);
        drop(old);
    }

    fn add(&self, n: usize) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(n), Ordering::Relaxed);
    }

    /// What a job at this depth works under.
    pub(crate) fn at(&self, depth: usize) -> Option<Chain> {
        let stretches = self.stretches();
        let below = stretches.iter().rev().find(|s| s.depth <= depth)?;
        below.chain.clone()
    }

    fn stretches(&self) -> MutexGuard<'_, Vec<Stretch>> {
        self.stretches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
