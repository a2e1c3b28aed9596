//! How an ordinary thread gets work done in a pool: as a guest on one of its seats, or by an
//! errand that the pool's own threads run while it sleeps.

use crate::job::Borrowed;
use crate::latch::Latch;
use crate::park::{Lease, Parker};
use crate::seat::Seat;
use crate::shared::Shared;
use crate::sync::{Ordering, fence};
use crate::sys;
use crate::trace::{self, Act, Span};
use crate::unwind;
use crate::worker::Worker;
use std::cell::Cell;

thread_local! {
    /// The seat that this thread had last.
    static LAST: Cell<usize> = const { Cell::new(0) };
    /// What this thread sleeps on.
    static PILLOW: Lease = Lease::new();
}

/// Calls `f` with the parker that this thread sleeps on.
pub(crate) fn with_pillow<R>(f: impl FnOnce(&'static Parker) -> R) -> R {
    let mut spare = None;
    // A thread whose locals are gone already borrows one for the call.
    let parker = PILLOW
        .try_with(Lease::parker)
        .unwrap_or_else(|_| spare.insert(Lease::new()).parker());
    f(parker)
}

/// An ordinary thread on a seat.
#[derive(Debug)]
pub(crate) struct Guest<'a> {
    worker: Worker<'a>,
    _span: Span,
}

impl<'a> Guest<'a> {
    /// Takes a free seat, the one it had last if it can. None if all are busy, or if guests are
    /// not wanted, or have less stack left than the pool's own threads.
    #[inline]
    pub(crate) fn sit_down(shared: &'a Shared) -> Option<Self> {
        if !shared.guests || !enough_stack(shared) {
            return None;
        }
        let last = LAST.get() % shared.len();
        let mut free = &shared.seats[last];
        if !shared.sleep.sit_down(free) {
            free = shared
                .seats
                .first()
                .iter()
                .find(|seat| shared.sleep.sit_down(seat))?;
            LAST.set(free.index);
        }
        free.nested.keep_calm(0, 0);
        free.counters.guests.add(1);
        free.spawning.set(0);
        let worker = Worker {
            seat: free,
            shared,
            guest: true,
        };
        Some(Self {
            worker,
            _span: trace::span(free.index, Act::Guest),
        })
    }

    pub(crate) fn worker(&self) -> &Worker<'a> {
        &self.worker
    }
}

impl Drop for Guest<'_> {
    #[inline]
    fn drop(&mut self) {
        release(&self.worker);
        if !self.worker.seat.thread.exists() {
            attend(self.worker.shared);
        }
    }
}

#[inline]
fn release(guest: &Worker<'_>) {
    // A guest that has put nothing there need not look: the deque of a free seat with a thread is
    // empty.
    let seat = guest.seat;
    let untouched = seat.spawning.get() == 0 && seat.thread.exists();
    if untouched || seat.spawned.is_empty() || !hand_over(guest) {
        leave(guest);
    }
}

#[inline]
fn leave(guest: &Worker<'_>) {
    let Worker { seat, shared, .. } = *guest;
    let vacant = !seat.thread.exists();
    let wake = || {
        shared.wake_one();
    };
    shared.sleep.stand_up(
        seat,
        vacant,
        |seat| shared.ring(seat),
        || shared.has_work(),
        wake,
    );
}

/// Leaves seat and jobs to the seat's own thread; says whether it did. Where there is no such
/// thread, the jobs are run here.
#[cold]
fn hand_over(guest: &Worker<'_>) -> bool {
    let Worker { seat, shared, .. } = *guest;
    if seat.thread.exists() {
        shared.sleep.hand_over(seat);
        // Refused just now: the jobs are this thread's again, unless another guest has them.
        if shared.ring(seat) || !shared.sleep.sit_down(seat) {
            return true;
        }
    }
    guest.sit(|guest| while guest.run_any() {});
    false
}

/// Whether this thread has about as much stack as a thread of the pool would.
fn enough_stack(shared: &Shared) -> bool {
    const DEFAULT: usize = 2 << 20;
    let need = shared.stack_size.unwrap_or(DEFAULT);
    sys::stack_left().is_none_or(|left| left >= need - need / 8)
}

/// Has `op` run by a thread of this pool, and waits for it. Its argument is the worker that
/// runs it.
pub(crate) fn run_inside<R: Send>(shared: &Shared, op: impl FnOnce(&Worker<'_>) -> R + Send) -> R {
    Worker::with(|here| match here {
        Some(worker) if worker.is_of(shared) => op(worker),
        Some(worker) => errand(shared, worker.seat.pillow(), op, |latch| {
            worker.wait_greedily(latch)
        }),
        None => with_pillow(|pillow| errand(shared, pillow, op, Latch::wait)),
    })
}

/// Queues `op` and waits by `wait` until it has been run.
fn errand<R: Send>(
    shared: &Shared,
    pillow: &'static Parker,
    op: impl FnOnce(&Worker<'_>) -> R + Send,
    wait: impl FnOnce(&Latch),
) -> R {
    let latch = Latch::new(pillow);
    let op = Cell::new(Some(op));
    let result = Cell::new(None);
    let body = || {
        let run = || Worker::with(|w| w.zip(op.take()).map(|(worker, op)| op(worker)));
        result.set(Some(unwind::catch(run)));
    };
    let job = Borrowed::new(&body, &latch);
    // SAFETY: this frame is not left before the latch is set, and `wait` does not unwind. The
    // cells are touched by the thread that runs the job until then, and by this one after.
    let parcel = unsafe { job.parcel() };
    shared.inject(parcel);
    attend_if_deserted(shared);
    wait(&latch);
    match result.take() {
        Some(Ok(Some(result))) => result,
        Some(Err(panic)) => unwind::resume(panic),
        _ => unreachable!("an errand was run by no worker"),
    }
}

/// Does what is left to do and has nobody to do it: letters to threads that were refused, and
/// everything in a pool whose every thread was. Whoever posts work comes here after it, and so
/// does every guest that leaves a seat without a thread; one of the two finds the work.
#[cold]
pub(crate) fn attend(shared: &Shared) {
    // Not on top of what this thread does for the pool already, which is safe from strangers.
    let all = || shared.is_deserted() && Worker::with(|w| !w.is_some_and(|w| w.is_of(shared)));
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
            return;
        };
        let guest = Worker {
            seat,
            shared,
            guest: true,
        };
        let all = all();
        guest.sit(|guest| {
            guest.read_mail();
            while all && guest.run_any() {}
        });
        release(&guest);
    }
}

/// [`attend`] where no thread of the pool is there.
pub(crate) fn attend_if_deserted(shared: &Shared) {
    if shared.is_deserted() {
        attend(shared);
    }
}
