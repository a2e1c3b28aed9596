//! Work that has no thread to do it: letters to refused threads, and everything in a pool whose
//! threads were all refused.

use super::shared::Shared;
use super::under::sheltered;
use super::worker::Worker;
use crate::base::sync::{Ordering, fence, yield_now};
use crate::base::unwind::AbortOnUnwind;
use crate::queue::injector::Batch;
use crate::queue::job::{self, Taken};
use crate::seat::Seat;
use crate::seat::sleep::Left;

/// Does that work. Each thread that posts work comes here afterwards, and so does every guest that
/// leaves a seat without a thread; one of the two finds the work.
///
/// A thread that already works for the pool does not do it on top: a letter may wait for this
/// thread's own seat, which the thread cannot serve from another seat. In that case a poster reads
/// its own letters where it is ([`read_letters`]).
///
/// A held seat without a thread keeps a pool from ending, and so does a seat whose thread is yet to
/// come. If such a seat is given up here, or was just before, perhaps no thread of the pool is left
/// to check for the end. So this thread checks.
#[cold]
pub(crate) fn attend(shared: &Shared) {
    if Worker::with(|worker| worker.is_some_and(|w| w.is_of(shared))) {
        return;
    }
    let all = || shared.is_deserted();
    let orphaned = |seat: &&Seat| {
        let letters = || !shared.desks[seat.index].mailbox.is_empty();
        !seat.thread.exists() && (letters() || all() && shared.has_work())
    };
    loop {
        // SeqCst: pairs with itself: work before a look at the seats, seats before a look for
        // work.
        fence(Ordering::SeqCst);
        let mut orphans = shared.seats.first().iter().filter(orphaned);
        let Some(seat) = orphans.find(|seat| shared.sleep.sit_down(seat)) else {
            return shared.end_if_idle();
        };
        let guest = Worker {
            seat,
            shared,
            guest: true,
        };
        let all = all();
        guest.sit(|guest| {
            read_for_nobody(shared, seat.index);
            while all && guest.run_any() {}
            // What the letters have spawned.
            while guest.run_own() {}
        });
        if shared.sleep.stand_up(seat, || shared.has_news(seat)) == Left::Notified {
            shared.ring(seat);
        }
    }
}

/// [`attend`] where no thread of the pool is there.
pub(crate) fn attend_if_deserted(shared: &Shared) {
    if shared.is_deserted() {
        attend(shared);
    }
}

/// Reads the letters to a thread that does not exist. It reads them on that thread's seat; or here,
/// if a guest has the seat (perhaps this very thread) or this thread has another seat.
#[cold]
pub(crate) fn read_letters(shared: &Shared, index: usize) {
    attend(shared);
    read_for_nobody(shared, index);
}

fn read_for_nobody(shared: &Shared, index: usize) {
    loop {
        let mut letter = None;
        let mailbox = &shared.desks[index].mailbox;
        let took = mailbox.take(1, |entry| letter = Some(entry));
        if took == Batch::Busy {
            // Another reader has the lock, and may have looked before this thread's letter came.
            yield_now();
            continue;
        }
        let Some(letter) = letter else { return };
        let by = Taken {
            seat: index,
            base: 0,
            since: 0,
        };
        // The letter is no part of what this thread works under.
        sheltered(|| {
            let guard = AbortOnUnwind;
            // SAFETY: letters come out of the mailbox, each to one taker. All letters are broadcasts, which
            // know their index, catch their panics and have no use for `by`.
            unsafe { job::execute(letter.job, by) };
            guard.disarm();
        });
    }
}
