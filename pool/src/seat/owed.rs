//! Threads that block and found no spare seat: each gets one as soon as a spare seat is closed.
//!
//! *A thread that finds none enters here, fences, and looks at the seats once more; a thread that closes a seat fences,
//! and looks whether any thread waits here*: one of the two opens the seat again.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicUsize, Mutex, Ordering};
use std::collections::VecDeque;
use std::sync::PoisonError;

/// Which threads are owed a seat, and which have been given one.
#[derive(Debug)]
pub(crate) struct Owed {
    /// How many are owed one. Written under the lock.
    count: AtomicUsize,
    ledger: Mutex<Ledger>,
}

#[derive(Debug, Default)]
struct Ledger {
    next: u64,
    waiting: VecDeque<u64>,
    given: Vec<(u64, usize)>,
}

impl Owed {
    pub(crate) fn new() -> Self {
        Self {
            count: AtomicUsize::new(0),
            ledger: Mutex::new(Ledger::default()),
        }
    }

    fn with<R>(&self, f: impl FnOnce(&mut Ledger) -> R) -> R {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let result = f(&mut ledger);
        // Relaxed: fences order it; see the head of this file.
        self.count.store(ledger.waiting.len(), Ordering::Relaxed);
        result
    }

    /// A thread has found no seat. Gives the number by which it asks later; a fence is to follow.
    pub(crate) fn add(&self) -> u64 {
        self.with(|ledger| {
            ledger.next += 1;
            ledger.waiting.push_back(ledger.next);
            ledger.next
        })
    }

    /// Whether a thread is owed a seat. After a fence.
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// Gives the thread that has waited longest the seat that `open` opens, if it opens one. Says which.
    pub(crate) fn give(&self, open: impl FnOnce() -> Option<usize>) -> Option<usize> {
        self.with(|ledger| {
            let first = *ledger.waiting.front()?;
            let seat = open()?;
            ledger.waiting.pop_front();
            ledger.given.push((first, seat));
            Some(seat)
        })
    }

    /// The thread goes on. Gives the seat that was opened for it, if one was.
    pub(crate) fn settle(&self, number: u64) -> Option<usize> {
        self.with(|ledger| {
            ledger.waiting.retain(|waiting| *waiting != number);
            let given = ledger.given.iter().position(|(to, _)| *to == number)?;
            Some(ledger.given.swap_remove(given).1)
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Owed;

    #[test]
    fn seats_go_to_the_first_in_line() {
        let owed = Owed::new();
        assert_eq!(owed.give(|| unreachable!("no thread waits")), None);
        let [a, b, c] = [owed.add(), owed.add(), owed.add()];
        assert!(owed.any());
        assert_eq!(owed.give(|| None), None);
        assert_eq!(owed.give(|| Some(7)), Some(7));
        assert_eq!(owed.settle(b), None);
        assert_eq!(owed.give(|| Some(8)), Some(8));
        assert!(!owed.any());
        assert_eq!((owed.settle(c), owed.settle(a)), (Some(8), Some(7)));
        assert_eq!(owed.settle(a), None);
    }
}
