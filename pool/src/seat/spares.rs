//! Spare seats: which thread works in place of a seat's holder that blocks outside this library.
//!
//! ```text
//!             a thread blocks                    wake_one
//!   CLOSED ───────────────────► PARKED ─────────────────────► NOTIFIED ─► as any other seat
//!     ▲ ▲      it is back         │
//!     │ └─────────────────────────┘
//!     └──── AWAKE, between two jobs ◄── the spare thread, once that thread is back
//! ```
//!
//! A thread that blocks keeps its seat: frames below it point there. In its place a spare seat is
//! **opened**: from CLOSED to PARKED, where it is a seat like all others, whose thread is started
//! when it is first woken. When the thread comes back it goes on at once, whatever runs on the
//! spare seat: a job there may itself wait for the thread that comes back. So for a while one
//! thread more may work than there are seats, and a spare seat has an index of its own, beyond all
//! others.
//!
//! A spare seat is open for one blocking thread, and is *spent* once that thread is back: then this
//! seat may be closed, and no other in its place. By then the thread on it may itself block, or
//! wait for a blocking thread; that thread relies on the seat that was opened for it, whose thread
//! had nothing to do. A seat is closed only by a thread that has taken its mark. *A thread that
//! comes back marks its spare seat, fences, and looks whether it is PARKED; a spare thread goes to
//! PARKED, fences, and looks at its mark*: one of the two sees that it may be closed. A failure
//! here would cost only one thread too many.
//!
//! No thread is counted as inactive on a CLOSED seat. The opener counts its thread inactive and
//! asleep at once, fences, and looks for work; the closer of a seat from PARKED counts both down at
//! once. So the number of searchers is never too high. A thread that closes its seat
//! while AWAKE leaves what lies in its deques to all, fences, and wakes a sleeper for it.
#![forbid(unsafe_code)]

use super::Seat;
use super::sleep::Sleep;
use super::word::{Holder, Step};
use crate::base::sync::{AtomicU64, Ordering, fence};

const OPEN: u64 = 1 << 32;
const NEEDED: u64 = 1;

/// The number of spare seats that are open, and that of threads that block. The pool's end asks whether none is open.
#[derive(Debug)]
pub(crate) struct Spares(AtomicU64);

impl Spares {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A thread is about to block. Keeps a seat among `spare` open for it that is spent and whose thread has nothing to
    /// do, if there is one.
    pub(crate) fn keep<'a>(
        &self,
        sleep: &Sleep,
        spare: impl IntoIterator<Item = &'a Seat>,
    ) -> Option<&'a Seat> {
        let kept = spare.into_iter().find(|seat| {
            // The mark comes first, the look after it: what the thread begins later may be what the other
            // thread blocks for.
            let marked = is_idle(seat) && take_mark(seat);
            let kept = marked && is_idle(seat);
            if marked && !kept {
                self.spend(sleep, seat);
            }
            kept
        });
        if kept.is_some() {
            self.0.fetch_add(NEEDED, Ordering::Relaxed);
            // SeqCst: as in `replace`.
            fence(Ordering::SeqCst);
        }
        kept
    }

    /// The same with a seat among `closed`, which is opened, if one can be had.
    pub(crate) fn replace<'a>(
        &self,
        sleep: &Sleep,
        closed: impl IntoIterator<Item = &'a Seat>,
    ) -> Option<&'a Seat> {
        self.0.fetch_add(NEEDED, Ordering::Relaxed);
        self.open(sleep, closed)
    }

    /// The same for a thread that is counted already: when it began to block, none could be had.
    pub(crate) fn open<'a>(
        &self,
        sleep: &Sleep,
        closed: impl IntoIterator<Item = &'a Seat>,
    ) -> Option<&'a Seat> {
        // Relaxed, here and below: only the order of changes of each word matters, and the fences.
        self.0.fetch_add(OPEN, Ordering::Relaxed);
        let opened = closed
            .into_iter()
            .find(|seat| is_closed(seat) && seat.thread.exists() && sleep.take(seat, Step::Open));
        if opened.is_none() {
            self.forget();
        }
        // SeqCst: pairs with the fence in `post`: the look that follows sees work that was there before.
        fence(Ordering::SeqCst);
        opened
    }

    /// An ordinary thread that finds every seat blocked is about to work itself: opens a seat among
    /// `closed` for it, if one can be had, on which it is a guest then.
    pub(crate) fn sit<'a>(
        &self,
        sleep: &Sleep,
        closed: impl IntoIterator<Item = &'a Seat>,
    ) -> Option<&'a Seat> {
        self.0.fetch_add(OPEN + NEEDED, Ordering::Relaxed);
        let seat = closed
            .into_iter()
            .find(|seat| is_closed(seat) && sleep.take(seat, Step::SitSpare));
        if seat.is_none() {
            self.0.fetch_sub(OPEN + NEEDED, Ordering::Relaxed);
        }
        seat
    }

    /// It is back. Says whether its seat, if it had one, was closed.
    pub(crate) fn dismiss(&self, sleep: &Sleep, seat: Option<&Seat>) -> bool {
        self.0.fetch_sub(NEEDED, Ordering::Relaxed);
        seat.is_some_and(|seat| self.spend(sleep, seat))
    }

    fn spend(&self, sleep: &Sleep, seat: &Seat) -> bool {
        seat.spent.store(true, Ordering::Relaxed);
        // SeqCst: pairs with the fence in `go_to_bed`.
        fence(Ordering::SeqCst);
        self.trim(sleep, seat)
    }

    /// Closes a seat if it is spent and its thread sleeps; says whether it did.
    pub(crate) fn trim(&self, sleep: &Sleep, seat: &Seat) -> bool {
        while seat.word.load().holder() == Holder::Parked && self.claim(seat) {
            if sleep.take(seat, Step::Close) {
                return true;
            }
            // The thread was woken meanwhile.
            self.0.fetch_add(OPEN, Ordering::Relaxed);
            seat.spent.store(true, Ordering::Relaxed);
            // SeqCst: as in `dismiss`.
            fence(Ordering::SeqCst);
        }
        false
    }

    /// Takes the right to close a seat, if it is spent.
    pub(crate) fn claim(&self, seat: &Seat) -> bool {
        let spent = take_mark(seat);
        if spent {
            self.0.fetch_sub(OPEN, Ordering::Relaxed);
        }
        spent
    }

    /// A seat that was counted as open is not: no thread will ever work there.
    pub(crate) fn forget(&self) {
        self.0.fetch_sub(OPEN, Ordering::Relaxed);
    }

    /// A seat is open that was not counted so: its thread was called back, or was there after all.
    pub(crate) fn remember(&self) {
        self.0.fetch_add(OPEN, Ordering::Relaxed);
    }

    /// How many are open and how many needed.
    #[cfg(any(tine_sched, all(loom, test)))]
    pub(crate) fn balance(&self) -> (usize, usize) {
        let now = self.0.load(Ordering::Relaxed);
        ((now / OPEN) as usize, (now % OPEN) as usize)
    }

    /// What is wrong once no thread is left.
    #[cfg(tine_sched)]
    pub(crate) fn miscount(&self, spare: &[Seat]) -> Option<String> {
        let (open, needed) = self.balance();
        let there = spare.iter().filter(|seat| !is_closed(seat)).count();
        let wrong = needed != 0 || open != there;
        wrong.then(|| format!("{needed} spare seats are needed, {open} open, {there} there"))
    }
}

/// Takes the mark of a seat that is spent.
fn take_mark(seat: &Seat) -> bool {
    seat.spent.load(Ordering::Relaxed) && seat.spent.swap(false, Ordering::Relaxed)
}

/// Whether the thread of a seat has nothing to do.
fn is_idle(seat: &Seat) -> bool {
    let holder = seat.word.load().holder();
    matches!(
        holder,
        Holder::Parked | Holder::Notified | Holder::Searching
    )
}

fn is_closed(seat: &Seat) -> bool {
    seat.word.load().holder() == Holder::Closed
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Holder, Seat, Sleep, Spares, Step};

    fn closed_seat() -> ([Seat; 1], Sleep) {
        ([Seat::new(0, 1, Holder::Closed)], Sleep::new(1, 1))
    }

    #[test]
    fn a_seat_is_there_while_a_thread_blocks() {
        let (seats, sleep) = closed_seat();
        let spares = Spares::new();
        assert!(spares.keep(&sleep, &seats).is_none());
        let seat = spares.replace(&sleep, &seats);
        assert!(seat.is_some());
        assert_eq!(seats[0].word.load().holder(), Holder::Parked);
        assert!(!spares.trim(&sleep, &seats[0]));
        assert!(spares.dismiss(&sleep, seat));
        assert_eq!(seats[0].word.load().holder(), Holder::Closed);
        assert!(!spares.claim(&seats[0]));
    }

    /// A seat that is open still, and whose thread was woken and has nothing to do, is another thread's.
    #[test]
    fn a_seat_that_is_spent_is_kept() {
        let (seats, sleep) = closed_seat();
        let spares = Spares::new();
        let seat = spares.replace(&sleep, &seats);
        assert!(sleep.take(&seats[0], Step::Wake));
        assert!(!spares.dismiss(&sleep, seat));
        let again = spares.keep(&sleep, &seats);
        assert!(again.is_some());
        assert!(!spares.claim(&seats[0]));
        assert!(sleep.take(&seats[0], Step::Answer) && sleep.take(&seats[0], Step::Begin));
        assert!(!spares.dismiss(&sleep, again));
        // The spare thread has begun something.
        assert!(spares.keep(&sleep, &seats).is_none());
        assert!(spares.claim(&seats[0]));
    }

    #[test]
    fn a_seat_is_not_opened_for_a_thread_that_was_refused() {
        let (seats, sleep) = closed_seat();
        seats[0].thread.set_gone();
        let spares = Spares::new();
        assert!(spares.replace(&sleep, &seats).is_none());
        assert_eq!(seats[0].word.load().holder(), Holder::Closed);
        assert!(!spares.dismiss(&sleep, None));
        assert!(!spares.claim(&seats[0]));
    }
}
