//! Spare seats: which thread works while one that holds a seat blocks outside this library.
//!
//! ```text
//!             a thread blocks                    wake_one
//!   CLOSED ───────────────────► PARKED ─────────────────────► NOTIFIED ─► as any other seat
//!     ▲ ▲      it is back         │
//!     │ └─────────────────────────┘
//!     └──── AWAKE, between two jobs ◄── the spare thread, once there are too many
//! ```
//!
//! A thread that blocks keeps its seat: frames below it point there. In its place a spare seat is
//! **opened**: from CLOSED to PARKED, where it is a seat like all others, whose thread is started
//! when it is first woken. When the thread comes back it goes on at once, whichever thread works on the
//! spare seat: to wait for that one could be to wait for a job that waits for the thread itself.
//! So for a while one more thread may work than there are seats, and a spare seat has an index
//! of its own, beyond all others.
//!
//! The balance counts in one word how many are `open` and how many `needed`. A seat is closed
//! only by a thread that has counted down `open` first, and only while that is greater. *A thread that comes
//! back counts down `needed`, fences, and looks for a spare seat that is PARKED; a spare thread goes
//! to PARKED, fences, and looks at the balance*: one of the two sees that it may be closed. To
//! fail here would cost no more than a thread too many.
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

/// How many spare seats are open and how many are needed.
#[derive(Debug)]
pub(crate) struct Spares(AtomicU64);

impl Spares {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A thread is about to block. Opens a seat among `closed` for it, if one can be had.
    pub(crate) fn replace<'a>(
        &self,
        sleep: &Sleep,
        closed: impl IntoIterator<Item = &'a Seat>,
    ) -> Option<&'a Seat> {
        // Relaxed, here and below: what matters is the order of this one word, and the fences.
        self.0.fetch_add(OPEN + NEEDED, Ordering::Relaxed);
        let opened = closed
            .into_iter()
            .find(|seat| is_closed(seat) && seat.thread.exists() && sleep.take(seat, Step::Open));
        if opened.is_none() {
            self.forget();
        }
        // SeqCst: pairs with the fence in `post`: work that was there before is seen by the look
        // that follows.
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

    /// It is back. Says whether a seat was closed.
    pub(crate) fn dismiss<'a>(
        &self,
        sleep: &Sleep,
        spare: impl Iterator<Item = &'a Seat> + Clone,
    ) -> bool {
        self.0.fetch_sub(NEEDED, Ordering::Relaxed);
        // SeqCst: pairs with the fence in `go_to_bed`.
        fence(Ordering::SeqCst);
        self.trim(sleep, spare)
    }

    /// Closes seats whose threads sleep, while too many are open; says whether it closed any.
    pub(crate) fn trim<'a>(
        &self,
        sleep: &Sleep,
        spare: impl Iterator<Item = &'a Seat> + Clone,
    ) -> bool {
        let mut closed = false;
        loop {
            let parked = |seat: &&Seat| seat.word.load().holder() == Holder::Parked;
            let Some(seat) = spare.clone().find(parked) else {
                return closed;
            };
            if !self.claim() {
                return closed;
            }
            if sleep.take(seat, Step::Close) {
                closed = true;
            } else {
                // Woken meanwhile.
                self.0.fetch_add(OPEN, Ordering::Relaxed);
                // SeqCst: as in `dismiss`.
                fence(Ordering::SeqCst);
            }
        }
    }

    /// Takes the right to close one seat, if too many are open.
    pub(crate) fn claim(&self) -> bool {
        let mut now = self.0.load(Ordering::Relaxed);
        while now / OPEN > now % OPEN {
            let less = now - OPEN;
            match self
                .0
                .compare_exchange(now, less, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(seen) => now = seen,
            }
        }
        false
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

fn is_closed(seat: &Seat) -> bool {
    seat.word.load().holder() == Holder::Closed
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Holder, Seat, Sleep, Spares};

    fn closed_seat() -> ([Seat; 1], Sleep) {
        ([Seat::new(0, 1, Holder::Closed)], Sleep::new(1, 1))
    }

    #[test]
    fn a_seat_is_there_while_a_thread_blocks() {
        let (seats, sleep) = closed_seat();
        let spares = Spares::new();
        assert!(spares.replace(&sleep, &seats).is_some());
        assert_eq!(seats[0].word.load().holder(), Holder::Parked);
        assert!(spares.dismiss(&sleep, seats.iter()));
        assert_eq!(seats[0].word.load().holder(), Holder::Closed);
        assert!(!spares.claim());
    }

    #[test]
    fn a_seat_is_not_opened_for_a_thread_that_was_refused() {
        let (seats, sleep) = closed_seat();
        seats[0].thread.set_gone();
        let spares = Spares::new();
        assert!(spares.replace(&sleep, &seats).is_none());
        assert_eq!(seats[0].word.load().holder(), Holder::Closed);
        assert!(!spares.dismiss(&sleep, seats.iter()));
        assert!(!spares.claim());
    }
}
