//! Keys that were met again, and that own memory.
//!
//! A key is dropped on the spot as long as that is quick, as it is where the thread has made the key itself. Two
//! threads that give memory back to one arena of the allocator piece by piece wait for each other's cache line
//! at each piece. Where drops are seen to be slow, keys are kept until there is a row of them, and a row is
//! dropped while no other thread drops one.
#![forbid(unsafe_code)]

use crate::foretaste::drop_ahead;
use std::hash::Hash;
use std::mem;
use std::sync::{Mutex, TryLockError};
use std::time::Instant;

/// This many keys are a row.
const ROW: usize = 256;
/// A row of this many keys is dropped whatever other threads do.
const MOST: usize = 1 << 13;
/// One drop in this many is timed, the first figure until it is known whether drops are slow.
const TIMED: (usize, usize) = (16, 128);
/// After this many of them, more than half of which were slow, keys are kept for rows.
const TRIAL: usize = 32;
/// A drop that takes more nanoseconds is slow. Two looks at the clock take about half of it.
const SLOW: u128 = 60;

/// Keys of one worker that are to be dropped.
pub(super) struct Spent<'a, K> {
    way: Way,
    row: Vec<K>,
    /// The row's length, or the number of keys dropped on the spot, at which something is done.
    due: usize,
    count: usize,
    /// Held while a row is dropped. No thread waits for it.
    turn: &'a Mutex<()>,
}

/// How keys are dropped.
enum Way {
    OnTheSpot { timed: usize, slow: usize },
    InRows,
}

impl<'a, K: Hash> Spent<'a, K> {
    pub(super) fn new(turn: &'a Mutex<()>) -> Self {
        Spent {
            way: Way::OnTheSpot { timed: 0, slow: 0 },
            row: Vec::new(),
            // Some systems without threads have no clock.
            due: if cfg!(target_family = "wasm") {
                usize::MAX
            } else {
                TIMED.0
            },
            count: 0,
            turn,
        }
    }

    /// Drops the key, now or later.
    #[inline]
    pub(super) fn push(&mut self, key: K) {
        if !mem::needs_drop::<K>() {
            return;
        }
        self.count += 1;
        if self.count >= self.due {
            self.act(key);
        } else if let Way::InRows = self.way {
            self.row.push(key);
        }
    }

    #[cold]
    #[inline(never)]
    fn act(&mut self, key: K) {
        match &mut self.way {
            Way::OnTheSpot { timed, slow } => {
                let start = Instant::now();
                drop(key);
                *slow += usize::from(start.elapsed().as_nanos() > SLOW);
                *timed += 1;
                self.due = if *timed < TRIAL { TIMED.0 } else { TIMED.1 };
                self.count = 0;
                if *timed % TRIAL == 0 && mem::take(slow) > TRIAL / 2 {
                    (self.way, self.due) = (Way::InRows, ROW);
                }
            }
            Way::InRows => {
                self.row.push(key);
                self.drop_row();
            }
        }
    }

    fn drop_row(&mut self) {
        let _turn = match self.turn.try_lock() {
            Ok(turn) => Some(turn),
            Err(TryLockError::Poisoned(broken)) => Some(broken.into_inner()),
            Err(TryLockError::WouldBlock) if self.row.len() < MOST => {
                self.due = self.count + ROW;
                return;
            }
            Err(TryLockError::WouldBlock) => None,
        };
        (self.count, self.due) = (0, ROW);
        drop_ahead(&mut self.row);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, ROW, Spent, Way};
    use std::sync::{Arc, Mutex};

    fn in_rows(turn: &Mutex<()>) -> Spent<'_, Arc<usize>> {
        let mut spent = Spent::new(turn);
        (spent.way, spent.due) = (Way::InRows, ROW);
        spent
    }

    #[test]
    fn keys_are_dropped_once() {
        let turn = Mutex::new(());
        let key = Arc::new(0);
        for count in [0, 1, ROW - 1, ROW, 3 * ROW + 1] {
            let mut spent = in_rows(&turn);
            (0..count).for_each(|_| spent.push(key.clone()));
            assert_eq!(Arc::strong_count(&key), 1 + count % ROW);
            drop(spent);
            let mut spent = Spent::new(&turn);
            (0..count).for_each(|_| spent.push(key.clone()));
            drop(spent);
            assert_eq!(Arc::strong_count(&key), 1);
        }
    }

    /// While another thread has the turn, keys are kept; but not any number of them.
    #[test]
    fn rows_wait_for_their_turn() {
        let turn = Mutex::new(());
        let key = Arc::new(0);
        let mut spent = in_rows(&turn);
        let held = turn.lock();
        (1..MOST).for_each(|_| spent.push(key.clone()));
        assert_eq!(Arc::strong_count(&key), MOST);
        spent.push(key.clone());
        assert_eq!(Arc::strong_count(&key), 1);
        (0..ROW).for_each(|_| spent.push(key.clone()));
        assert_eq!(Arc::strong_count(&key), 1 + ROW);
        drop(held);
        (0..ROW).for_each(|_| spent.push(key.clone()));
        assert_eq!(Arc::strong_count(&key), 1);
    }
}
