//! The end of a pool, and the threads that exist until then.
//!
//! A pool that is *ending* is *over* once no thread in it has anything to do. Its threads then go, and
//! the caller that shuts the pool down waits until the last one has.
#![forbid(unsafe_code)]

use super::lifetime::Counted;
use super::shared::Shared;
use crate::base::sync::{Ordering, fence};
use crate::seat::Seat;
use crate::seat::word::{Holder, Step};
use std::sync::Arc;

impl Shared {
    /// From now on the pool is over once there is nothing left to do.
    pub(crate) fn end(&self) {
        // Release: pairs with `is_ending`.
        self.lifetime.ending.store(true, Ordering::Release);
        self.rouse_all();
    }

    fn rouse_all(&self) {
        // SeqCst: pairs with the fences of threads that go to sleep.
        fence(Ordering::SeqCst);
        for seat in &self.seats {
            if self.sleep.take(seat, Step::Wake) {
                self.ring(seat);
            }
        }
        self.end_spares();
    }

    /// In a pool that is over: wakes the threads of spare seats, open or closed, so that they may go.
    /// Called by the thread that ends the pool, and by each that opens or closes such a seat.
    pub(super) fn end_spares(&self) {
        if !self.is_over() {
            return;
        }
        for seat in self.seats.spare() {
            loop {
                let step = match seat.word.load().holder() {
                    Holder::Parked => Step::Wake,
                    Holder::Closed if seat.thread.was_started() => Step::Recall,
                    _ => break,
                };
                if self.sleep.take(seat, step) {
                    if step == Step::Recall {
                        self.spares.remember();
                    }
                    self.ring(seat);
                }
            }
        }
    }

    pub(crate) fn is_ending(&self) -> bool {
        // Acquire: pairs with `end`.
        self.lifetime.ending.load(Ordering::Acquire)
    }

    /// Whether the threads may go. While any thread still runs a job, the others stay: the job may
    /// yet need them.
    pub(crate) fn is_over(&self) -> bool {
        // Acquire: pairs with `end_if_idle`.
        self.lifetime.over.load(Ordering::Acquire)
    }

    /// Ends a pool that is ending if no thread in it has anything to do. Called by searching
    /// threads, and where a seat without a thread is left or given up. The last such call finds
    /// nothing left to do.
    pub(crate) fn end_if_idle(&self) {
        if !self.could_end() {
            return;
        }
        // Two looks, and nothing begun in between: the second look sees work that the first look missed, still
        // in the making or as a job that was run.
        let before = self.idle_since();
        if before.is_some() && before == self.idle_since() {
            // Release: pairs with `is_over`.
            self.lifetime.over.store(true, Ordering::Release);
            self.rouse_all();
        }
    }

    /// Whether a thread should see about the end.
    pub(crate) fn could_end(&self) -> bool {
        self.is_ending() && !self.is_over() && self.idle_since().is_some()
    }

    /// The number of jobs that were begun, if no thread seems to do anything and nothing seems to
    /// be left.
    fn idle_since(&self) -> Option<u32> {
        // SeqCst: pairs with itself. If two threads stop working and come here, the second sees the seat of the
        // first.
        fence(Ordering::SeqCst);
        let own = || self.seats.iter().skip(usize::from(self.lifetime.resident));
        let letters = self.desks.iter().any(|desk| !desk.mailbox.is_empty());
        let idle = !letters && !self.has_work() && !own().any(Seat::is_held);
        idle.then(|| own().fold(0, |sum, s| s.begun().wrapping_add(sum)))
    }

    /// A thread that was to have this seat will never come.
    pub(crate) fn give_up(&self, index: usize) {
        let seat = &self.seats[index];
        seat.thread.set_gone();
        // A letter may lie there: then the seat is left to the threads that read letters for missing threads,
        // and they find it VACANT.
        while !self.sleep.take(seat, Step::Go) {
            seat.word.lower_mail();
        }
    }

    pub(crate) fn count_refusal(&self) {
        self.lifetime.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_thread(&self, started: bool) {
        self.lifetime.threads.count(started);
    }

    /// The count of a thread that lives, to be given back once it has let go of the pool.
    pub(super) fn counted(&self) -> Counted {
        Counted(Arc::clone(&self.lifetime.threads))
    }

    /// Waits until all threads have ended.
    pub(crate) fn wait_until_ended(&self) {
        self.lifetime.threads.wait_until_ended();
    }

    /// Whether the system refused every thread, so that only guests work here.
    pub(crate) fn is_deserted(&self) -> bool {
        self.lifetime.refused.load(Ordering::Relaxed) == self.len()
    }
}

/// A wrong count costs a thread or a wake-up too many or too few, and a job that is never marked as
/// ended misleads helpers. No program notices either. So the schedules check for both once all
/// threads have gone.
#[cfg(tine_sched)]
impl Drop for Shared {
    fn drop(&mut self) {
        let wrong = self.sleep.miscount(&self.seats);
        let wrong = wrong.or_else(|| self.spares.miscount(self.seats.spare()));
        let busy = |seat: &Seat| seat.jobs().is_none_or(|jobs| !jobs.is_empty());
        let wrong = wrong.or_else(|| {
            let busy = self.seats.iter().find(|seat| busy(seat))?;
            Some(format!("seat {} still says that it is at work", busy.index))
        });
        if let Some(wrong) = wrong {
            eprintln!("FAILED: what is wrong when the pool has ended: {wrong}");
            std::process::abort();
        }
    }
}
