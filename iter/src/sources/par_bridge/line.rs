//! Threads that wait for their turn stand in a line, each with a word of its own to look at. The thread
//! that has the turn draws for all of them, so that the iterator stays where it is, and each item goes
//! straight to where it is worked on.
//!
//! A thread in the line looks at nothing but its word, so what is drawn for it is begun at once. If `next`
//! waits, the thread leaves the line, and sleeps on the lock. The drawer sees by the word that it has left, and
//! what was being drawn for it is the drawer's own next item: no item lies there while `next` is called.

use super::turn::Drawn;
use crate::kit::sync::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, spin_loop};
use std::sync::TryLockError;
use std::time::{Duration, Instant};

/// How long a thread looks at its word before it looks whether anything is drawn at all; then twice as long.
const LOOK: Duration = Duration::from_micros(8);

/// How often nothing may have been drawn in that time before a thread sleeps until the lock is free.
const STILL: u32 = 3;

/// In a word: nothing is asked for; the thread in line is to take the turn; its items are being drawn. Else
/// one more than the number of items that are asked for besides the first.
const NOTHING: usize = 0;
const LEAD: usize = usize::MAX;
const DRAWING: usize = usize::MAX - 1;

/// A thread's place in the line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Place(AtomicUsize);

/// Whether a thread draws for those in the line. On a line of its own: while there is a line, it stays as it
/// is.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Led(AtomicBool);

impl Led {
    pub(super) fn begin(&self) {
        // Relaxed: who sees it later finds the lock taken.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Afterwards the lock is given back, and a thread in the line told to [`lead`](Place::lead).
    pub(super) fn end(&self) {
        // SeqCst: pairs with `wait`: a thread that still sees the flag is seen in the line.
        self.0.store(false, Ordering::SeqCst);
    }
}

/// How waiting ended.
pub(super) enum Line<'l, T> {
    /// The thread has the turn.
    Led(MutexGuard<'l, T>),
    /// It has been given items.
    Served,
    /// `next` has panicked. It may have been given items before.
    Over,
}

impl Place {
    /// Waits for the turn, or for items to be drawn. `waited` becomes true if it was not the thread's turn at
    /// once.
    pub(super) fn wait<'l, T>(
        &self,
        more: usize,
        led: &Led,
        lock: &'l Mutex<T>,
        drawn: &Drawn,
        waited: &mut bool,
    ) -> Line<'l, T> {
        // SeqCst: pairs with `end`.
        self.0.store(more.min(DRAWING - 2) + 1, Ordering::SeqCst);
        let mut try_it = !led.0.load(Ordering::SeqCst);
        let (mut still, mut look, mut before) = (0, LOOK, None);
        loop {
            if try_it {
                match lock.try_lock() {
                    // No thread draws for this one any more.
                    Ok(guard) if self.leave() => return Line::Led(guard),
                    Ok(_) => return Line::Served,
                    Err(TryLockError::Poisoned(_)) => {
                        self.leave();
                        return Line::Over;
                    }
                    Err(TryLockError::WouldBlock) => {}
                }
            }
            *waited = true;
            match self.look(more, look) {
                Word::Served => return Line::Served,
                Word::Lead => try_it = true,
                Word::Same => {
                    (try_it, look) = (false, look * 2);
                    let now = Some(drawn.since(0));
                    still = if now == before { still + 1 } else { 0 };
                    before = now;
                }
            }
            if still == STILL {
                return match self.leave() {
                    true => lock.lock().map_or(Line::Over, Line::Led),
                    false => Line::Served,
                };
            }
        }
    }

    /// Looks at the word for so long.
    fn look(&self, more: usize, long: Duration) -> Word {
        let begun = Instant::now();
        while begun.elapsed() < long {
            // Acquire: pairs with `serve`, though the lock of the batch would do.
            match self.0.load(Ordering::Acquire) {
                NOTHING => return Word::Served,
                LEAD => {
                    let again = more.min(DRAWING - 2) + 1;
                    let (all, relaxed) = (Ordering::SeqCst, Ordering::Relaxed);
                    if self.0.compare_exchange(LEAD, again, all, relaxed).is_ok() {
                        return Word::Lead;
                    }
                }
                _ => spin_loop(),
            }
        }
        Word::Same
    }

    /// Leaves the line; false if there are items now.
    fn leave(&self) -> bool {
        // Acquire: as above.
        self.0.swap(NOTHING, Ordering::Acquire) != NOTHING
    }

    /// If the thread is in the line: for how many items it asks besides the first.
    pub(super) fn asks(&self) -> Option<usize> {
        match self.0.load(Ordering::Relaxed) {
            NOTHING => None,
            LEAD => Some(0),
            asks => Some(asks - 1),
        }
    }

    /// The items of this thread are there. False if it has left the line.
    pub(super) fn serve(&self) -> bool {
        // Release: pairs with the looks of the thread in line.
        self.0.swap(NOTHING, Ordering::Release) != NOTHING
    }

    /// Has the thread take the turn, if it is in the line.
    pub(super) fn lead(&self) -> bool {
        // SeqCst: pairs with `wait`: this comes after `end`.
        let asks = self.0.load(Ordering::SeqCst);
        let (relaxed, all) = (Ordering::Relaxed, Ordering::Relaxed);
        asks != NOTHING
            && (asks == LEAD || self.0.compare_exchange(asks, LEAD, relaxed, all).is_ok())
    }
}

/// What a look at the word has shown.
enum Word {
    Served,
    Lead,
    Same,
}
