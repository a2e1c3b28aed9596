//! Of the jobs that other threads are in the middle of: which belong, even remotely, to what a
//! thread waits for, and what that thread may take of them.
//!
//! ```text
//!   seat 0   scope O, waits
//!   seat 1   task of O │ opens scope I, waits │ task of I │ join
//!   seat 2   the join's half │ …
//! ```
//!
//! Each job says what it is part of ([`tag`]): a scope that was opened on a certain seat at a
//! certain time, or the job that lay there at a certain depth. Below that lie the jobs that it is
//! part of in turn. So [`Kin::has`] climbs from seat to seat until it meets what the thread waits
//! for, or until the chain ends.
//!
//! What the seats say may be outdated by the time it is put together. It is still right if the job
//! at which the climb began is still running at the end: all jobs that it is part of must wait for
//! it. What the thread waits for may end by itself, so it is checked in between.
//!
//! Whatever lies above such a part, on the same seat, must end before the part can. So it counts as
//! a part too.
//!
//! Of the public halves on a seat only the outermost can be taken. If that half belongs to a
//! stranger, the waiter, after a nap, moves it to the injector, and then the next half, until it
//! meets its own. A moved half may go on to the deque of a thread that takes a whole lot. So its
//! owner, which finds it taken and not begun, looks for it in all those places, and so do threads
//! that depend on it.
#![forbid(unsafe_code)]

use super::worker::{Worker, nested_entry, tag};
use crate::base::sync::relax;
use crate::queue::job::Taken;
use crate::queue::spawned::Entry;
use crate::queue::steal::Steal;
use crate::seat::Seat;
use crate::seat::context::Context;
use std::cell::RefCell;

/// What a thread waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Root {
    /// The tasks of the scope with this tag.
    Scope(u64),
    /// What is, or was, run there.
    Job(Taken),
}

/// The jobs of a seat of which something is a part: the lowest ones, up to a certain one.
#[derive(Debug, Clone, Copy)]
enum Below {
    /// Those that began when the stack of nested jobs was not deeper than this.
    Depth(usize),
    /// Those that began before the scope with this tag was opened there.
    Scope(u64),
}

impl Below {
    /// The seat and the jobs there, of what has this tag.
    fn of(tag: u64) -> Option<(usize, Self)> {
        // A stolen half lay above the base of each job that it is a part of. When it is done, the owner comes
        // back to the depth of the half.
        let stolen = tag::is_stolen(tag).map(|(seat, depth)| (seat, Self::Depth(depth)));
        stolen.or_else(|| Some((tag::home(tag)?, Self::Scope(tag))))
    }

    /// Whether a job of that seat with this base and this stamp is among them.
    fn has(self, seat: usize, base: usize, since: u64) -> bool {
        match self {
            Self::Depth(depth) => base <= depth,
            Self::Scope(tag) => tag::opened_since(tag, seat, since),
        }
    }
}

/// For each seat, the stamp of the last job there that was asked in vain. All jobs below it were
/// asked in vain too. No climb needs to ask them again.
#[derive(Debug, Default)]
struct Asked(Vec<u64>);

impl Asked {
    /// Notes that job. False if it was noted before.
    fn note(&mut self, seat: usize, since: u64) -> bool {
        if self.0.len() <= seat {
            self.0.resize(seat + 1, 0);
        }
        let new = self.0[seat] < since;
        if new {
            self.0[seat] = since;
        }
        new
    }
}

/// What a thread waits for, and whether that still runs; for one look.
pub(super) struct Kin<'a> {
    root: Root,
    lasts: &'a dyn Fn() -> bool,
    asked: RefCell<Asked>,
}

impl<'a> Kin<'a> {
    pub(super) fn new(root: Root, lasts: &'a dyn Fn() -> bool) -> Self {
        Self {
            root,
            lasts,
            asked: RefCell::default(),
        }
    }

    /// Whether it has one of those jobs, or what has this tag.
    fn is_met(&self, tag: u64) -> bool {
        match self.root {
            Root::Scope(of) if of == tag => true,
            Root::Scope(_) => false,
            Root::Job(by) => Below::of(tag)
                .is_some_and(|(seat, below)| seat == by.seat && below.has(seat, by.base, by.since)),
        }
    }

    /// Whether `job`, which runs on the seat `on`, belongs to it. Those below it do not.
    fn has(&self, worker: &Worker<'_>, job: Context, on: usize) -> bool {
        let seats = &worker.shared.seats;
        let mut asked = self.asked.borrow_mut();
        if !asked.note(on, job.since) {
            return false;
        }
        let mut open = vec![job.tag];
        while let Some(tag) = open.pop() {
            if self.is_met(tag) {
                // What has just been noted may belong to it too.
                *asked = Asked::default();
                return true;
            }
            let Some((seat, below)) = Below::of(tag) else {
                continue;
            };
            let jobs = seats[seat].jobs().unwrap_or_default();
            let jobs = jobs
                .iter()
                .take_while(|job| below.has(seat, job.base, job.since));
            let new = jobs.filter(|job| asked.note(seat, job.since));
            open.extend(new.map(|job| job.tag));
        }
        false
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
            let job = jobs.find(|&job| kin.has(self, job, seat.index))?;
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
            piece.or_else(|| self.take_behind(by(seat, job), &still))
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
        // The scope is part of the job if the job was still running when the task was seen, and the task was
        // still there when it was taken.
        let kin = |t: u64| tag::opened_since(t, by.seat, by.since) && still();
        loop {
            match thief.spawned.steal_if(kin) {
                Steal::Taken(entry) => return self.stolen(entry, thief),
                Steal::Retry if still() => relax(),
                _ => return None,
            }
        }
    }

    /// Takes such a piece from behind strangers; or from where another thread has moved it, which took a piece of its own
    /// from behind it.
    pub(super) fn take_behind(&self, by: Taken, still: impl Fn() -> bool) -> Option<Entry> {
        if by.seat == self.seat.index {
            return None;
        }
        let half = self.take_half_behind(by, &still);
        half.or_else(|| self.take_moved(by, &still))
    }

    /// Takes a nested job from behind public ones that lie lower on the same seat. Those are moved to the injector; their
    /// owner may take them back from there: [`Self::take_back_half`].
    fn take_half_behind(&self, by: Taken, still: impl Fn() -> bool) -> Option<Entry> {
        let owner = &self.shared.seats[by.seat];
        let mut strangers = Vec::new();
        let mut found = None;
        while found.is_none() && owner.nested.reaches(by.base) && still() {
            match owner.nested.steal_if(0, &still) {
                Steal::Taken(won) if won.depth < by.base => {
                    strangers.push(nested_entry(won, owner))
                }
                Steal::Taken(won) => {
                    self.nested().weights().took(won.weight);
                    found = Some(nested_entry(won, owner));
                }
                Steal::Retry => relax(),
                _ => break,
            }
        }
        if !strangers.is_empty() {
            owner.note_moved();
            self.shared
                .move_to_injector(strangers, Some(self.seat.index));
            // They may have looked for one of these jobs meanwhile.
            self.shared.wake_waiters(owner);
        }
        let found = found?;
        self.note_stolen(owner);
        Some(found)
    }

    /// Takes a task of a scope that was opened inside what `by` describes. It may lie in three places:
    ///
    /// * on the seat of `by`, behind strangers that were stolen, or taken in one lot; these are moved to the injector;
    /// * on any other seat, this one among them, if a thread has brought it there in such a lot;
    /// * in the injector, if a thread that looked behind it has moved it there.
    ///
    /// A nested job that a thread has moved lies in one of these places too.
    pub(super) fn take_moved(&self, by: Taken, still: impl Fn() -> bool) -> Option<Entry> {
        // As above: the job is still running when the task is seen, and the task is still there when it is
        // taken.
        let kin = |t: u64| {
            let half = tag::is_stolen(t).is_some_and(|(s, depth)| s == by.seat && depth >= by.base);
            (half || tag::opened_since(t, by.seat, by.since)) && still()
        };
        let entry = self.take_from_anywhere(by.seat, kin)?;
        self.note_stolen(&self.shared.seats[by.seat]);
        Some(entry)
    }

    /// Takes the half that this worker has pushed last and found stolen, if it was only moved.
    pub(super) fn take_back_half(&self) -> Option<Entry> {
        if !self.seat.has_moved() {
            return None;
        }
        let last = self.nested().depth().checked_sub(1)?;
        let at = Some((self.seat.index, last));
        self.take_from_anywhere(self.seat.index, |t| tag::is_stolen(t) == at)
    }

    /// Takes a job out of the deques of tasks, that of the seat `first` before others, or out of the injector.
    fn take_from_anywhere(&self, first: usize, wanted: impl Fn(u64) -> bool) -> Option<Entry> {
        let behind = |seat| {
            self.shared
                .fetch_from_behind(seat, &wanted, Some(self.seat.index))
        };
        let mut others = self.beginning_at(first);
        others
            .find_map(behind)
            .or_else(|| behind(self.seat))
            .or_else(|| self.shared.injector.take_if(&wanted))
    }
}

impl Kin<'_> {
    /// Whether `job` is still a part of it. The first look asks whether what is waited for still runs. If the job runs
    /// after that look, it belonged to it at the time of the look.
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
