//! Threads that wait for their turn stand in a line, each with a word of its own to look at. The thread
//! that has the turn draws for all of them, so that the iterator stays where it is, and each item goes
//! straight to where it is worked on.
//!
//! A thread in the line looks at nothing but its word, so what is drawn for it is begun at once. If
//! `next` waits, the thread leaves the line, and sleeps on the lock. The drawer sees by the word
//! that the thread has left. The item that was being drawn for it becomes the drawer's own next
//! item: so no item lies there while `next` is called.

use super::turn::Drawn;
use crate::kit::sync::{AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, spin_loop};
use std::sync::TryLockError;
use std::time::{Duration, Instant};

/// How long a thread looks at its word before it looks whether anything is drawn at all; then twice as long.
const LOOK: Duration = Duration::from_micros(8);

/// Pauses between two looks at the word.
const PAUSES: u32 = 8;

/// How often nothing may have been drawn in that time before a thread sleeps until the lock is free.
const STILL: u32 = 3;

/// In a word: the thread is not in the line; it is; it is, and is to take the turn.
const AWAY: usize = 0;
const WAITS: usize = 1;
const LEAD: usize = 2;

/// The low part of an ask: one more than the number of items besides the first. The bits above
/// count asks, so that a drawer recognises a new ask.
const NUMBER: usize = (1 << 17) - 1;

/// What a thread asks for that knows nothing of the items yet.
pub(super) const LIKE_OTHERS: usize = NUMBER - 1;

/// What a thread asks for; only the thread itself writes it. It lies on a cache line of its own:
/// drawers look at all asks, and so disturb no thread at its items.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Ask(AtomicUsize);

impl Ask {
    fn anew(&self, more: usize) {
        let before = self.0.load(Ordering::Relaxed) & !NUMBER;
        let ask = before.wrapping_add(NUMBER + 1) | (more.min(LIKE_OTHERS) + 1);
        // SeqCst: pairs with `Led::end` by way of `wait`; for `is_new`, Release would do.
        self.0.store(ask, Ordering::SeqCst);
    }

    /// What is asked for, if it is not what was asked for when this answer was given.
    pub(super) fn is_new(&self, answered: usize) -> Option<usize> {
        // Acquire: pairs with `anew`: the thread is seen in the line.
        let ask = self.0.load(Ordering::Acquire);
        (ask != answered).then_some(ask)
    }

    /// The number of items besides the first, or [`LIKE_OTHERS`].
    pub(super) fn more(ask: usize) -> usize {
        (ask & NUMBER) - 1
    }

    /// For the thread itself: its last one.
    pub(super) fn last(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A thread's place in the line.
#[derive(Debug, Default)]
pub(super) struct Place(AtomicUsize);

/// Whether a thread draws for the threads in the line, and whether nothing is left to draw. It lies
/// on a cache line of its own: while threads wait in line, it does not change.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Led {
    now: AtomicBool,
    over: AtomicBool,
}

impl Led {
    pub(super) fn begin(&self) {
        // Relaxed: a thread that sees it late finds the lock taken.
        self.now.store(true, Ordering::Relaxed);
    }

    /// Afterwards the lock is given back, and a thread in the line told to [`lead`](Place::lead).
    pub(super) fn end(&self) {
        // SeqCst: pairs with `wait`: a thread that still sees the flag is seen in the line.
        self.now.store(false, Ordering::SeqCst);
    }

    /// Nothing is left, neither to draw nor in any batch. Afterwards all in the line are [dismissed](Place::dismiss).
    pub(super) fn end_for_good(&self) {
        // SeqCst: pairs with `wait`, as `end` does, and with `is_over`.
        self.over.store(true, Ordering::SeqCst);
    }

    /// Whether nothing is left.
    pub(super) fn is_over(&self) -> bool {
        // SeqCst: pairs with `end_for_good`, in `wait`.
        self.over.load(Ordering::SeqCst)
    }
}

/// How waiting ended.
pub(super) enum Line<'l, T> {
    /// The thread has the turn.
    Led(MutexGuard<'l, T>),
    /// It has been given items, or nothing is left to draw.
    Served,
    /// `next` has panicked. It may have been given items before.
    Over,
}

impl Place {
    /// Waits for the turn, or for items to be drawn. `waited` becomes true if it was not the thread's turn at
    /// once.
    pub(super) fn wait<'l, T>(
        &self,
        (ask, more): (&Ask, usize),
        led: &Led,
        lock: &'l Mutex<T>,
        drawn: &Drawn,
        waited: &mut bool,
    ) -> Line<'l, T> {
        // SeqCst: pairs with `end`.
        self.0.store(WAITS, Ordering::SeqCst);
        ask.anew(more);
        let mut try_it = !led.now.load(Ordering::SeqCst);
        if led.is_over() {
            self.leave();
            return Line::Served;
        }
        let (mut still, mut look, mut before) = (0, LOOK, None);
        loop {
            if try_it {
                match lock.try_lock() {
                    // No thread draws for this thread any more.
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
            match self.look(look) {
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

    /// Looks at the word for this long.
    fn look(&self, long: Duration) -> Word {
        let begun = Instant::now();
        while begun.elapsed() < long {
            // Acquire: pairs with `serve`, though the lock of the batch would be enough.
            match self.0.load(Ordering::Acquire) {
                AWAY => return Word::Served,
                LEAD => {
                    let (all, relaxed) = (Ordering::SeqCst, Ordering::Relaxed);
                    if self.0.compare_exchange(LEAD, WAITS, all, relaxed).is_ok() {
                        return Word::Lead;
                    }
                }
                // Each look takes the word's cache line from a drawer that is about to write it.
                _ => (0..PAUSES).for_each(|_| spin_loop()),
            }
        }
        Word::Same
    }

    /// Leaves the line; false if there are items now.
    fn leave(&self) -> bool {
        // Acquire: as above.
        self.0.swap(AWAY, Ordering::Acquire) != AWAY
    }

    /// The items of this thread are there. False if it has left the line.
    pub(super) fn serve(&self) -> bool {
        // Release: pairs with the looks of the thread in line.
        self.0.swap(AWAY, Ordering::Release) != AWAY
    }

    /// Nothing is left to draw, which the thread has not seen if it is in the line.
    pub(super) fn dismiss(&self) {
        // SeqCst: pairs with `wait`: a thread that joins the line after this sees that it is over.
        if self.0.load(Ordering::SeqCst) != AWAY {
            self.0.store(AWAY, Ordering::SeqCst);
        }
    }

    /// Makes the thread take the turn, if it is in the line.
    pub(super) fn lead(&self) -> bool {
        // SeqCst: pairs with `wait`: this comes after `end`.
        let word = self.0.load(Ordering::SeqCst);
        let (relaxed, all) = (Ordering::Relaxed, Ordering::Relaxed);
        word != AWAY && (word == LEAD || self.0.compare_exchange(word, LEAD, relaxed, all).is_ok())
    }
}

/// What a look at the word has shown.
enum Word {
    Served,
    Lead,
    Same,
}
