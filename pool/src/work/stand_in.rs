//! Spare seats as the pool uses them: for a thread that blocks, and for an ordinary thread that finds
//! every seat blocked.
#![forbid(unsafe_code)]

use super::shared::{Desk, SPARES, Shared};
use super::worker::Worker;
use crate::base::sync::{Ordering, fence};
use crate::queue::nested::CAPACITY;
use crate::seat::Seat;
use crate::seat::word::{Holder, Step};

/// A thread that blocks, for as long as this lives. All threads may take what it has pushed, and a
/// spare seat is open in its place.
pub(crate) struct Replaced<'a> {
    shared: &'a Shared,
    /// The spare seat, if one could be had.
    seat: Option<&'a Seat>,
    /// The number by which it asks for a seat that was opened for it later.
    owed: Option<u64>,
}

impl<'a> Replaced<'a> {
    pub(crate) fn new(worker: &Worker<'a>) -> Self {
        worker.publish(CAPACITY);
        Self::of(worker.shared)
    }

    /// The same for a thread that holds no seat of the pool: a thread more works meanwhile.
    pub(crate) fn of(shared: &'a Shared) -> Self {
        let seat = shared.replace_one();
        let owed = (seat.is_none() && shared.spare_starter.is_some()).then(|| shared.owe());
        Self { shared, seat, owed }
    }
}

impl Drop for Replaced<'_> {
    fn drop(&mut self) {
        if self.shared.spare_starter.is_some() {
            let later = || {
                let given = self.shared.owed.settle(self.owed?)?;
                Some(&self.shared.seats[given])
            };
            self.shared.leave_spare(self.seat.or_else(later));
        }
    }
}

impl Shared {
    /// The spare seats, each shown to threads that walk along the seats once it is asked for.
    fn spare_seats(&self) -> impl Iterator<Item = &Seat> {
        let threads = self.len();
        self.desks.extend(SPARES, |_| Desk::new());
        let seats = self
            .seats
            .extend(SPARES, |i| Seat::new(i, threads, Holder::Closed));
        seats.iter().inspect(|seat| self.seats.show(seat.index))
    }

    /// Opens a spare seat, and wakes a thread if there is anything to do.
    fn replace_one(&self) -> Option<&Seat> {
        let opened = match self.spare_starter {
            Some(_) => self
                .spares
                .keep(&self.sleep, self.seats.spare())
                .or_else(|| self.spares.replace(&self.sleep, self.spare_seats())),
            None => None,
        };
        // A seat may have been closed meanwhile.
        self.pay();
        self.attend_to(opened);
        opened
    }

    /// All spare seats are taken: the blocking thread gets the next seat that is closed, or a seat
    /// that was closed just now.
    #[cold]
    fn owe(&self) -> u64 {
        let number = self.owed.add();
        // SeqCst: pairs with the fences in `end_closed` and `before_last_look`: either a thread that closes a
        // seat sees this debt, or this thread sees the seat.
        fence(Ordering::SeqCst);
        self.pay();
        number
    }

    /// Opens closed seats for threads that found none. After a seat was closed, and a fence.
    fn pay(&self) {
        while self.owed.any() {
            let open = || {
                let opened = self.spares.open(&self.sleep, self.spare_seats())?;
                Some(opened.index)
            };
            let Some(given) = self.owed.give(open) else {
                return;
            };
            self.attend_to(Some(&self.seats[given]));
        }
    }

    /// Wakes a thread if there is anything to do, now that a seat was opened, or none could be.
    fn attend_to(&self, opened: Option<&Seat>) {
        // Threads that push may have work that they did not offer because there was no sleeper.
        self.seats.iter().for_each(|s| s.nested.want());
        self.sleep.before_last_look();
        if self.has_work() {
            self.announce();
        }
        // A sleeper is to look after threads that are stuck beside private work.
        if let Some(seat) = opened
            && self.looker.seat().is_none()
            && self.sleep.take(seat, Step::Wake)
        {
            self.ring(seat);
        }
        self.end_spares();
    }

    /// A spare seat for an ordinary thread, which is a guest there. [`Self::leave_spare`] is to
    /// follow.
    pub(crate) fn sit_on_spare(&self) -> Option<&Seat> {
        self.spare_starter?;
        self.spares.sit(&self.sleep, self.spare_seats())
    }

    /// The thread is back for which a spare seat was opened, or the guest has left it.
    pub(crate) fn leave_spare(&self, seat: Option<&Seat>) {
        let closed = self.spares.dismiss(&self.sleep, seat);
        self.end_closed(closed);
    }

    /// Closes the seat of a thread that sleeps, if it is a spare one and spent.
    pub(crate) fn trim_spare(&self, seat: &Seat) {
        let closed = self.spares.trim(&self.sleep, seat);
        self.end_closed(closed);
    }

    /// Follows the closing of a seat whose thread was lying down, and could not see that the pool is over
    /// with its seat gone.
    fn end_closed(&self, closed: bool) {
        if closed {
            // SeqCst: pairs with the fence in `rouse_all`: either this sees that the pool is over, or the
            // thread that ends it sees the seat closed. And with the fence in `owe`.
            fence(Ordering::SeqCst);
            self.pay();
            self.end_spares();
        }
    }

    /// Closes a spare seat between two jobs of its own thread, if it is spent. True if the
    /// thread is to sleep until the seat is NOTIFIED.
    pub(crate) fn step_down(&self, seat: &Seat) -> bool {
        if !self.is_spare(seat) || !self.spares.claim(seat) {
            return false;
        }
        let closed = self.sleep.take(seat, Step::StandDown);
        debug_assert!(closed, "{:?}", seat.word.load());
        // The look that follows sees the work of a poster that still saw this thread awake, and the debt of a
        // thread that found no closed seat.
        self.sleep.before_last_look();
        self.pay();
        if self.has_work() {
            self.announce();
        }
        self.end_if_idle();
        // Either this sees that the pool is over, or the thread that ends it sees the seat closed.
        let resumed = self.is_over() && self.sleep.take(seat, Step::Resume);
        if resumed {
            self.spares.remember();
        }
        !resumed
    }
}
