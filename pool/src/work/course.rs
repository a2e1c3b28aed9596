//! A loop as seen by the threads that run its *course*: they cut and lend its pieces, run them, and
//! wait for the pieces that others took. The items are not part of the course.
//!
//! ```text
//!   root     … user's code │ course │ course │ wait for a part
//!   thief                  │ course │ item │ user's code │ join │ wait for a half
//! ```
//!
//! A thread that waits in the course of a loop may run any piece of that loop. Whatever lies below
//! on its stack would also lie there if the piece were its own, and above the root there is no code
//! but the loop's. So the thread looks for pieces wherever the loop runs, and not only where its
//! awaited part runs. It takes public pieces at once, and pieces that owners keep private once it
//! has slept for long. Otherwise pieces could lie beside a blocked item for ever, while the last
//! thread that does not block waits for another piece.
//!
//! The root keeps a [`Course`] until its loop has ended. A seat's stack of jobs says which loop's
//! course is the last one there, and a thief of a part writes its address into the context of its
//! seat. Items see the course of their own loop but do not use it: each loop that they call begins
//! a course of its own, and their joins are ordinary joins.
#![forbid(unsafe_code)]

use super::worker::Worker;
use crate::base::barrier::barrier_everywhere;
use crate::queue::job::Taken;
use crate::queue::nested::Nested;
use crate::queue::spawned::Entry;
use crate::seat::Seat;
use crate::seat::context::{CallOf, Course};
use std::ptr;

/// A thread in this many nested waits takes only what its innermost wait depends on. All the jobs
/// on top of each other must end before the outermost wait can, even if what it waits for ended
/// long before.
const HELPS: u64 = 16;

/// A course runs on top of a stack, for as long as this lives.
struct OnTop<'a> {
    nested: &'a Nested,
    before: *mut (),
}

impl Drop for OnTop<'_> {
    fn drop(&mut self) {
        self.nested.set_course(self.before);
    }
}

impl Worker<'_> {
    /// Runs a loop from its root.
    #[inline(always)]
    pub(crate) fn begin_course(&self, call: CallOf, op: impl FnOnce()) {
        let course = Course {
            seat: self.seat.index,
            base: self.nested().depth(),
            since: self.seat.notes.next_stamp(),
            context: self.seat.stamp(),
            call,
            outer: self.nested().course().cast(),
        };
        self.on_top(ptr::from_ref(&course).cast_mut().cast(), op);
    }

    /// Runs a part of a loop that was stolen.
    pub(crate) fn join_course(&self, course: *mut (), op: impl FnOnce()) {
        self.seat.set_course(course.addr());
        self.on_top(course, op);
        if self.seat.is_waited_for() {
            self.shared.rouse(self.seat);
        }
    }

    #[inline(always)]
    fn on_top(&self, course: *mut (), op: impl FnOnce()) {
        let nested = self.nested();
        let _on_top = OnTop {
            nested,
            before: nested.course(),
        };
        nested.set_course(course);
        op();
    }

    /// Takes a piece of the loop whose course runs here, from any seat. Asks owners that keep
    /// private pieces; if they were asked before, publishes the pieces for them.
    pub(super) fn take_of_course(&self) -> Option<Entry> {
        let course = self.course()?;
        let mut others = self.beginning_at(course.seat);
        others.find_map(|seat| self.take_of_course_at(seat, course, true))
    }

    /// The same, of what is public already, until the wait is `done`, and unless this thread is in the middle of many
    /// waits as it is.
    pub(super) fn take_beside(&self, done: impl Fn() -> bool) -> Option<Entry> {
        let course = self.course()?;
        if self.seat.notes.on_top.get() >= HELPS {
            return None;
        }
        let start = self.seat.notes.random() as usize % self.shared.seats.count();
        let mut others = self.beginning_at(start).take_while(|_| !done());
        others.find_map(|seat| match seat.nested.has_public() {
            true => self.take_of_course_at(seat, course, false),
            false => None,
        })
    }

    /// Takes a piece of that loop from this seat, if it is run there; `asks` says whether the owner is asked before.
    fn take_of_course_at(&self, seat: &Seat, course: &Course, asks: bool) -> Option<Entry> {
        let context = seat.context()?;
        let mine = self.nested().course().addr();
        if seat.index != course.seat && context.course != mine {
            return None;
        }
        if asks {
            self.oversee(seat);
        }
        if seat.index == course.seat {
            // The root cannot leave its loop while this thread is in the loop. But while the root waits there,
            // it may read letters.
            let root = root(course);
            let still = || {
                let now = seat.context();
                now.is_some_and(|now| now.since == course.context)
            };
            return self.take_piece(root, still);
        }
        let by = Taken {
            seat: seat.index,
            base: context.base,
            since: context.since,
        };
        self.take_piece(by, || seat.is_at(context))
    }

    /// The loop whose course runs here, as what its root has begun.
    pub(super) fn course_as_job(&self) -> Option<Taken> {
        self.course().map(root)
    }

    /// Publishes for an owner that was asked and did not answer, and says whether it did; asks it.
    pub(super) fn oversee(&self, owner: &Seat) -> bool {
        let stuck = owner.nested.has_private() && owner.nested.is_wanted();
        let published = stuck && owner.nested.publish_for_owner(barrier_everywhere) > 0;
        if published {
            self.shared.wake_waiters(owner);
        }
        owner.nested.want();
        published
    }
}

/// A loop as what its root has begun.
fn root(course: &Course) -> Taken {
    Taken {
        seat: course.seat,
        base: course.base,
        since: course.since,
    }
}
