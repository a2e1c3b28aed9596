//! Which jobs that other threads are in the middle of belong to what a thread waits for, however far removed, and what it
//! may take of them.
//!
//! ```text
//!   seat 0   scope O, waits
//!   seat 1   task of O │ opens scope I, waits │ task of I │ join
//!   seat 2   the join's half │ …
//! ```
//!
//! Each job tells of what it is a part ([`tag`]): of a scope that was opened on a certain seat at a certain
//! time, or of what lay there at a certain depth. Below lie the jobs of which that is a part in turn. So
//! [`Kin::has`] climbs from seat to seat until it meets what is waited for, or nothing more is told.
//!
//! What the seats tell may be old by the time it is put together. It is right nevertheless if the job at which
//! the climb began is still being run at the end: all those of which it is a part must wait for it. What is waited
//! for may end by itself, and is asked in between.
//!
//! Whatever lies above a part of what is waited for, on the same seat, must end before that can. So it counts as a part too.
#![forbid(unsafe_code)]

use super::worker::{Worker, tag};
use crate::base::sync::relax;
use crate::queue::job::Taken;
use crate::queue::spawned::Entry;
use crate::queue::steal::Steal;
use crate::seat::Seat;
use crate::seat::context::Context;
use std::cell::{Cell, RefCell};

/// All climbs of a look together read the jobs of this number of seats at most, each of them as often as a climb comes by.
const STEPS: u32 = 256;

/// What a thread waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Root {
    /// The tasks of the scope with this tag.
    Scope(u64),
    /// What is, or was, run there.
    Job(Taken),
}

/// The same, and whether it lasts; for one look.
pub(super) struct Kin<'a> {
    root: Root,
    lasts: &'a dyn Fn() -> bool,
    steps: Cell<u32>,
    /// Jobs that do not belong to it, by seat and stamp.
    strangers: RefCell<Vec<(usize, u64)>>,
}

impl<'a> Kin<'a> {
    pub(super) fn new(root: Root, lasts: &'a dyn Fn() -> bool) -> Self {
        Self {
            root,
            lasts,
            steps: Cell::new(STEPS),
            strangers: RefCell::default(),
        }
    }

    /// Whether `job`, which runs on the seat `on`, belongs to it.
    fn has(&self, worker: &Worker<'_>, job: &Context, on: usize) -> bool {
        if let Root::Scope(tag) = self.root
            && job.tag == tag
        {
            return true;
        }
        let known = (on, job.since);
        if self.strangers.borrow().contains(&known) {
            return false;
        }
        let belongs = if let Some((seat, depth)) = tag::is_stolen(job.tag) {
            // It lay above the base of each job of which it is a part. The owner comes back to its depth when it is done.
            self.has_below(worker, seat, on, |base, _| base <= depth)
        } else if let Some(seat) = tag::home(job.tag) {
            self.has_below(worker, seat, on, |_, since| {
                tag::opened_since(job.tag, seat, since)
            })
        } else {
            false
        };
        if !belongs {
            self.strangers.borrow_mut().push(known);
        }
        belongs
    }

    /// Whether it has one of the jobs on `seat` whose base and stamp are such.
    fn has_below(
        &self,
        worker: &Worker<'_>,
        seat: usize,
        on: usize,
        such: impl Fn(usize, u64) -> bool,
    ) -> bool {
        if let Root::Job(by) = self.root
            && by.seat == seat
            && such(by.base, by.since)
        {
            return true;
        }
        // Those that lie below on the same seat have been asked.
        let left = self.steps.get();
        if seat == on || left == 0 {
            return false;
        }
        self.steps.set(left - 1);
        let Some(jobs) = worker.shared.seats[seat].jobs() else {
            return false;
        };
        let mut below = jobs.iter();
        below.any(|job| such(job.base, job.since) && self.has(worker, job, seat))
    }
}

impl Worker<'_> {
    /// The other seats on which a job is run that belongs to `kin`, with the lowest such job.
    pub(super) fn family<'w>(
        &'w self,
        kin: &'w Kin<'_>,
        worth: impl Fn(&Seat) -> bool + 'w,
    ) -> impl Iterator<Item = (&'w Seat, Context)> {
        let others = self.beginning_at(self.seat.index);
        others.filter(move |seat| worth(seat)).filter_map(|seat| {
            let jobs = seat.jobs()?;
            let mut jobs = jobs.into_iter();
            let job = jobs.find(|job| kin.has(self, job, seat.index))?;
            Some((seat, job))
        })
    }

    /// Takes a piece of the family that is public.
    pub(super) fn take_of_family(&self, kin: &Kin<'_>) -> Option<Entry> {
        let mut family = self.family(kin, Seat::has_work);
        family.find_map(|(seat, job)| self.take_piece(by(seat, job), kin.still(seat, job)))
    }

    /// The same from behind other tasks.
    pub(super) fn take_of_family_behind(&self, kin: &Kin<'_>) -> Option<Entry> {
        let mut family = self.family(kin, |_| true);
        family.find_map(|(seat, job)| {
            let still = kin.still(seat, job);
            let piece = self.take_piece(by(seat, job), &still);
            piece.or_else(|| self.take_task_behind(by(seat, job), &still))
        })
    }

    /// Takes a piece of what `by` describes, while `still` says that it is being run: a nested job
    /// that was pushed inside it, or a task of a scope that was opened inside it.
    pub(super) fn take_piece(&self, by: Taken, still: impl Fn() -> bool) -> Option<Entry> {
        if by.seat == self.seat.index {
            return None;
        }
        let thief = &self.shared.seats[by.seat];
        loop {
            match self.steal_nested(thief, by.base, &still) {
                Steal::Taken(entry) => return Some(entry),
                Steal::Retry if still() => relax(),
                _ => break,
            }
        }
        // The scope is part of the job if the job was still being run when the task was seen, and
        // the task was still there when it was taken.
        let kin = |t: u64| tag::opened_since(t, by.seat, by.since) && still();
        loop {
            match thief.spawned.steal_if(kin) {
                Steal::Taken(entry) => return self.stolen(entry, thief),
                Steal::Retry if still() => relax(),
                _ => return None,
            }
        }
    }

    /// Takes a task of a scope that was opened inside what `by` describes from behind strangers, which lie there if they
    /// were stolen or taken in one lot; they are moved to the injector. Or from any other seat, this one among them, if a
    /// thread has brought it there in such a lot; or from the injector, if a thread that looked behind it has moved it there.
    pub(super) fn take_task_behind(&self, by: Taken, still: impl Fn() -> bool) -> Option<Entry> {
        if by.seat == self.seat.index {
            return None;
        }
        // As above: the job is still being run when the task is seen, which is still there when it is taken.
        let kin = |t: u64| tag::opened_since(t, by.seat, by.since) && still();
        let behind = |seat| {
            self.shared
                .fetch_from_behind(seat, kin, Some(self.seat.index))
        };
        let mut others = self.beginning_at(by.seat);
        let entry = others
            .find_map(behind)
            .or_else(|| behind(self.seat))
            .or_else(|| self.shared.injector.take_if(kin))?;
        self.stolen(entry, &self.shared.seats[by.seat])
    }
}

impl Kin<'_> {
    /// Whether `job` is still a part of it. First what is waited for is asked: a job that is run after that belonged to it then.
    fn still<'s>(&'s self, seat: &'s Seat, job: Context) -> impl Fn() -> bool + 's {
        move || (self.lasts)() && seat.is_at(job)
    }
}

/// What a seat works on, as a thief says it.
pub(super) fn by(seat: &Seat, job: Context) -> Taken {
    Taken {
        seat: seat.index,
        base: job.base,
        since: job.since,
    }
}
