//! An ordinary thread on a seat: how it sits down, and what becomes of seat and jobs when it leaves.
#![forbid(unsafe_code)]

use super::attend::attend;
use super::shared::Shared;
use super::worker::Worker;
use crate::base::clock;
use crate::base::running;
use crate::base::sync::{Ordering, relax};
use crate::base::sys;
use crate::base::trace::{self, Act, Span};
use crate::seat::Seat;
use crate::seat::sleep::Left;
use crate::seat::word::Holder;
use std::cell::Cell;

/// How long a caller looks for a free seat before it sends an errand, in nanoseconds: about what
/// the errand's wake-ups cost. A thread of the pool that has nothing to do leaves its seat free for
/// the same time.
const LOOK: u64 = 5_000;
/// The most seats of a pool in which it looks once: with two seats, looking longer cost calls of 30 µs a fifth.
const SMALL: usize = 8;

thread_local! {
    /// The seat that this thread had last.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// An ordinary thread on a seat.
#[derive(Debug)]
pub(crate) struct Guest<'a> {
    worker: Worker<'a>,
    _span: Span,
}

impl<'a> Guest<'a> {
    /// Takes a free seat, if possible the seat that the thread had last. None if all are busy, if
    /// the pool takes no guests, or if this thread has less stack left than threads of std have.
    #[inline(always)] // the way of each call of an ordinary thread; the other place of call is a rare one
    pub(crate) fn sit_down(shared: &'a Shared) -> Option<Self> {
        if !may_visit(shared) {
            return None;
        }
        let last = LAST.get() % shared.len();
        let mut free = &shared.seats[last];
        if !shared.sleep.sit_down(free) {
            free = find_seat(shared)?;
            LAST.set(free.index);
        }
        Some(Self::on(shared, free))
    }

    /// The same for a thread that was told of a seat which may be free.
    #[cold]
    pub(super) fn sit_down_near(shared: &'a Shared, seat: usize) -> Option<Self> {
        LAST.set(seat);
        Self::sit_down(shared)
    }

    /// Makes the calling thread the guest on a seat that it has taken.
    #[inline]
    pub(super) fn on(shared: &'a Shared, seat: &'a Seat) -> Self {
        seat.nested.skip_checks(0, 0);
        seat.counters.guests.add(1);
        seat.spawning.set(0);
        if running::ASKED {
            seat.guest.set(running::me());
        }
        let worker = Worker {
            seat,
            shared,
            guest: true,
        };
        Self {
            worker,
            _span: trace::span(seat.index, Act::Guest),
        }
    }

    pub(crate) fn worker(&self) -> &Worker<'a> {
        &self.worker
    }
}

impl Drop for Guest<'_> {
    #[inline]
    fn drop(&mut self) {
        let Worker { seat, shared, .. } = self.worker;
        // A guest that has put nothing there need not look.
        if seat.spawning.get() != 0 && !seat.spawned.is_empty() {
            leave_jobs(&self.worker);
        } else {
            match shared.sleep.stand_up(seat, || needs_thread(shared, seat)) {
                Left::Quietly => {}
                left => see_to(&self.worker, left),
            }
        }
    }
}

/// Whether there is anything to do for the thread of a seat that a guest leaves.
#[cold]
fn needs_thread(shared: &Shared, seat: &Seat) -> bool {
    shared.has_news(seat) || shared.could_end() || shared.lacks_looker(seat)
}

/// Takes any free seat, beginning with the thread's last one, so that callers that look at once do
/// not all try the same seat.
#[cold]
fn find_seat(shared: &Shared) -> Option<&Seat> {
    let (seats, last) = (shared.seats.first(), LAST.get() % shared.len());
    let mut start = None;
    loop {
        let mut seats = seats.iter().skip(last).chain(seats.iter().take(last));
        if let Some(seat) = seats.find(|seat| shared.sleep.sit_down(seat)) {
            return Some(seat);
        }
        if shared.is_small() {
            return None;
        }
        let now = clock::now();
        if clock::have_passed(clock::ticks(LOOK), *start.get_or_insert(now), now) {
            return None;
        }
        for _ in 0..8 {
            relax();
        }
    }
}

impl Worker<'_> {
    /// Offers this thread's seat to the caller of the errand that it has begun, in place of running
    /// it, if it has nothing else to do. The thread then leaves its seat free for a while. So
    /// callers get seats back, and keep them for their next calls; a thread that runs errands would
    /// find the next errand each time. In a pool with fewer seats than callers this would cost a
    /// useless wake-up.
    #[cold]
    pub(super) fn offer_seat(&self) -> bool {
        let (shared, seat) = (self.shared, self.seat);
        if shared.is_small() || self.guest || shared.is_spare(seat) || seat.notes.on_top.get() > 0 {
            return false;
        }
        let seats = shared.seats.first().iter();
        let guests = seats.filter(|seat| seat.word.load().is_visited()).count();
        // Relaxed: a guess.
        let errands = shared.errands.load(Ordering::Relaxed);
        // If other work waits and the caller came late, this thread would go on with that work.
        let idle = seat.spawned.is_empty() && shared.injector.len() < errands;
        let offers = idle && guests + errands <= shared.len();
        seat.notes.offered.set(u64::from(offers));
        offers
    }
}

impl Shared {
    /// Whether the pool has few seats: an errand costs its caller less than looking for one, and threads that
    /// search do not wait for each other.
    pub(super) fn is_small(&self) -> bool {
        // Decided schedules have few threads, and test both ways.
        let is_large = cfg!(all(tine_sched, not(tine_lab))) && self.len() == 2;
        self.len() <= SMALL && !is_large
    }
}

/// Does what a guest must do when it has left its seat.
#[cold]
fn see_to(guest: &Worker<'_>, left: Left) {
    let Worker { seat, shared, .. } = *guest;
    match left {
        Left::Quietly => {}
        Left::Notified => {
            // If the system refuses the thread, another thread finds what it would have found.
            if !shared.ring(seat) {
                shared.displaced(|| shared.has_work());
                attend(shared);
            }
        }
        Left::Alone => attend(shared),
    }
}

/// Leaves seat and jobs to the seat's own thread. Where there is no such thread, or it may not be
/// had, the jobs are left to all.
#[cold]
fn leave_jobs(guest: &Worker<'_>) {
    let Worker { seat, shared, .. } = *guest;
    if shared.is_spare(seat) || seat.word.load().holder() == Holder::Alone {
        let mut jobs = Vec::new();
        while let Some(entry) = guest.take_own() {
            jobs.push(entry);
        }
        jobs.reverse();
        shared.move_to_injector(jobs, Some(seat.index));
        see_to(
            guest,
            shared.sleep.stand_up(seat, || needs_thread(shared, seat)),
        );
        return attend(shared);
    }
    if shared.sleep.stand_up_and_wake(seat) {
        see_to(guest, Left::Notified);
    }
}

/// Whether this thread may be a guest: if the pool takes any, and it has about as much stack as was asked for, or else as a
/// thread of std has. (The pool's own have more. But most callers are threads of std.)
#[inline]
pub(crate) fn may_visit(shared: &Shared) -> bool {
    const DEFAULT: usize = 2 << 20;
    let need = shared.stack_size.unwrap_or(DEFAULT);
    shared.guests && sys::stack_left().is_none_or(|left| left >= need - need / 8)
}

/// Runs `op` on a spare seat, which is opened for it; says whether one could be had. For a thread
/// that may be a guest, and finds every seat blocked.
#[cold]
pub(super) fn visit_spare(shared: &Shared, op: impl FnOnce(&Worker<'_>)) -> bool {
    let Some(seat) = shared.sit_on_spare() else {
        return false;
    };
    let guest = Guest::on(shared, seat);
    guest.worker().sit(op);
    drop(guest);
    shared.leave_spare(Some(seat));
    true
}
