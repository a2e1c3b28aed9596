//! What a wait depends on, for each kind of wait: which jobs are its kin, where they lie, and from
//! whom they may yet come.

use super::family::{Root, by};
use super::shared::Shared;
use super::wait::Wait;
use super::worker::Worker;
use crate::base::park::Parker;
use crate::base::sync::{AtomicBool, Ordering};
use crate::base::unwind::AbortOnUnwind;
use crate::queue::job::{Head, State, Taken};
use crate::queue::latch::{Latch, ScopeCount};
use crate::queue::spawned::Entry;
use crate::seat::Seat;
use crate::seat::context::Context;
use std::cell::Cell;

/// The thief's seat, for a wait that helps a thief.
fn thief(worker: &Worker<'_>, by: Option<Taken>, each: &mut dyn FnMut(&Seat)) {
    if let Some(by) = by.filter(|by| by.seat != worker.seat.index) {
        each(&worker.shared.seats[by.seat]);
    }
}

/// A join's second half, which was stolen.
impl Wait for Head {
    fn is_done(&self) -> bool {
        self.word().state() == State::Done
    }

    fn find(&self, worker: &Worker<'_>) -> Option<Entry> {
        let still = || self.word().state() == State::Taken;
        match self.runner() {
            Some(by) => worker.take_piece(by, still),
            None => worker.take_back_half(),
        }
    }

    fn find_further(&self, worker: &Worker<'_>) -> Option<Entry> {
        let still = || self.word().state() == State::Taken;
        worker.take_behind(self.runner()?, still)
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        thief(worker, self.runner(), each);
    }

    fn farther(&self, _: &Worker<'_>) -> Option<Root> {
        self.runner().map(Root::Job)
    }

    /// On an untaken word too the answer is no: the thief has won the job but not yet said so.
    fn leave_word(&self, parker: &'static Parker) -> bool {
        self.word().sleep_on(parker)
    }
}

/// A part of the loop whose course runs on top here, which was stolen.
pub(crate) struct PartWait<'a>(pub(crate) &'a Head);

impl Wait for PartWait<'_> {
    fn is_done(&self) -> bool {
        self.0.is_done()
    }

    fn find(&self, worker: &Worker<'_>) -> Option<Entry> {
        self.0
            .find(worker)
            .or_else(|| worker.take_beside(|| self.is_done()))
    }

    fn find_further(&self, worker: &Worker<'_>) -> Option<Entry> {
        let behind = || self.0.find_further(worker);
        // A piece of the loop may have been moved away from the root's seat, where it lay below what runs
        // there.
        let moved = || {
            let root = worker.course_as_job()?;
            worker.take_moved(root, || !self.is_done())
        };
        worker.take_of_course().or_else(behind).or_else(moved)
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        self.0.helped(worker, each);
    }

    /// The whole loop.
    fn farther(&self, worker: &Worker<'_>) -> Option<Root> {
        worker.course_as_job().map(Root::Job)
    }

    fn leave_word(&self, parker: &'static Parker) -> bool {
        self.0.leave_word(parker)
    }
}

/// Where tasks of a scope were spawned, and so may lie.
pub(crate) struct Lies {
    /// Whether tasks were spawned on its home seat. Only then, or if a task was brought there, is
    /// there a task to look for: the walk past what others have pushed may be long.
    pub(crate) at_home: AtomicBool,
    /// Whether other threads spawned tasks. Only then, or if a task was moved, can a task lie
    /// elsewhere before it begins: each look there writes cache lines of all other threads.
    pub(crate) abroad: AtomicBool,
}

impl Lies {
    /// Of a new scope, or of one of which nothing is known.
    pub(crate) fn new(anywhere: bool) -> Self {
        let [at_home, abroad] = [(); 2].map(|()| AtomicBool::new(anywhere));
        Self { at_home, abroad }
    }
}

/// A scope that was opened on the waiter's seat, or outside the pool.
pub(crate) struct ScopeWait<'a> {
    pub(crate) tag: u64,
    pub(crate) count: &'a ScopeCount,
    pub(crate) lies: &'a Lies,
    /// The seat that was last seen to run a task of the scope, or 0.
    last: Cell<usize>,
}

impl<'a> ScopeWait<'a> {
    pub(crate) fn new(tag: u64, count: &'a ScopeCount, lies: &'a Lies) -> Self {
        let last = Cell::new(0);
        Self {
            tag,
            count,
            lies,
            last,
        }
    }

    /// Other seats that are seen to run a task of this scope: seats where a task is likely to be,
    /// at whatever level, and seats where a task is on top of everything else. There are at most as
    /// many as unfinished tasks. The look ends with the last of them, since it hinders the threads
    /// that it passes.
    fn working<'w>(&self, worker: &'w Worker<'_>) -> impl Iterator<Item = (&'w Seat, Context)> {
        let likely = [self.last.get(), worker.seat.spawned.last_thief()];
        let others = worker.beginning_at(likely[1]);
        let working = others.filter_map(move |seat| {
            let job = match likely.contains(&seat.index) {
                true => seat.job_of(self.tag),
                false => seat.context().filter(|job| job.tag == self.tag),
            };
            Some((seat, job?))
        });
        working
            .take(self.count.unfinished())
            .inspect(|(seat, _)| self.last.set(seat.index))
    }

    fn may_lie_at_home(&self, worker: &Worker<'_>) -> bool {
        // Relaxed: the holder of this seat has written it, and a loan of the seat hands it on.
        let pushed = self.lies.at_home.load(Ordering::Relaxed);
        (pushed || worker.seat.notes.may_have_brought(self.tag)) && !worker.seat.spawned.is_empty()
    }

    /// Takes the newest task at home, if it is this scope's.
    fn take_from_top(&self, worker: &Worker<'_>) -> Option<Entry> {
        // SAFETY: this worker holds the seat.
        if unsafe { worker.seat.spawned.last_tag() } != Some(self.tag) {
            return None;
        }
        worker.take_own()
    }

    /// Runs the tasks that lie on top at home. Most scopes end with that, and need no further wait.
    pub(crate) fn run_at_home(&self, worker: &Worker<'_>) {
        let guard = AbortOnUnwind;
        while !self.is_done() && !worker.seat.word.load().has_mail() && self.may_lie_at_home(worker)
        {
            match self.take_from_top(worker) {
                Some(entry) => worker.run(entry),
                None => break,
            }
        }
        guard.disarm();
    }

    /// From other deques, and from the injector.
    fn find_abroad(&self, worker: &Worker<'_>) -> Option<Entry> {
        // Relaxed: a thread that tells an owner of a task hands this on too.
        let spawned = self.lies.abroad.load(Ordering::Relaxed);
        if !(spawned || worker.seat.may_have_strays(self.tag)) {
            return None;
        }
        let shared = worker.shared;
        let stolen = || {
            let (entry, from) = shared.fetch_from_seats(self.tag, Some(worker.seat.index))?;
            worker.stolen(entry, from)
        };
        stolen().or_else(|| shared.injector.take_tagged(self.tag))
    }

    /// From the owner's deque, newest first. Strangers above it are moved to the injector, where
    /// any thread may take them; strangers alone are left where they are.
    fn find_at_home(&self, worker: &Worker<'_>) -> Option<Entry> {
        if !self.may_lie_at_home(worker) {
            return None;
        }
        if let Some(entry) = self.take_from_top(worker) {
            return Some(entry);
        }
        let own = &worker.seat.spawned;
        own.find(|t| t == self.tag)?;
        let mut strangers = Vec::new();
        let mut found = None;
        while let Some(entry) = worker.take_own() {
            if entry.tag == self.tag {
                found = Some(entry);
                break;
            }
            strangers.push(entry);
        }
        worker
            .shared
            .move_to_injector(strangers, Some(worker.seat.index));
        found
    }
}

impl Wait for ScopeWait<'_> {
    fn is_done(&self) -> bool {
        self.count.is_done()
    }

    fn find(&self, worker: &Worker<'_>) -> Option<Entry> {
        self.find_at_home(worker)
            .or_else(|| self.find_abroad(worker))
            .or_else(|| {
                // All tasks have started. The owner helps the threads that run them.
                self.working(worker).find_map(|(seat, context)| {
                    worker.take_piece(by(seat, context), || seat.is_at(context))
                })
            })
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        self.working(worker).for_each(|(seat, _)| each(seat));
    }

    fn farther(&self, _: &Worker<'_>) -> Option<Root> {
        Some(Root::Scope(self.tag))
    }

    fn looks_far_at_once(&self) -> bool {
        true
    }

    fn leave_word(&self, _: &'static Parker) -> bool {
        self.count.latch.latch().fall_asleep()
    }

    fn take_back_word(&self) {
        self.count.latch.latch().wake_up();
    }

    /// Says what has been done at home.
    fn settle(&self) {
        self.count.settle();
    }
}

/// A task behind a handle.
pub(crate) trait Task {
    /// Whether it has ended.
    fn is_done(&self) -> bool;
    /// The worker that runs it, or ran it.
    fn by(&self) -> Option<Taken>;
    /// The pools in which a part of it lies that no thread has begun.
    fn lies_in(&self) -> [Option<&Shared>; 2];
    /// Asks for `parker` to be woken at the end; false if that has come.
    fn leave_word(&self, parker: &'static Parker) -> bool;
}

/// A wait for a task of the waiter's own pool (`at_home`), or of another.
pub(crate) struct TaskWait<'a> {
    pub(crate) task: &'a dyn Task,
    pub(crate) at_home: bool,
}

impl TaskWait<'_> {
    /// The worker of this pool that runs it.
    fn by(&self) -> Option<Taken> {
        self.task.by().filter(|_| self.at_home)
    }
}

impl Wait for TaskWait<'_> {
    fn is_done(&self) -> bool {
        self.task.is_done()
    }

    fn find(&self, worker: &Worker<'_>) -> Option<Entry> {
        worker.take_piece(self.by()?, || !self.task.is_done())
    }

    fn find_further(&self, worker: &Worker<'_>) -> Option<Entry> {
        worker.take_behind(self.by()?, || !self.task.is_done())
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        thief(worker, self.by(), each);
    }

    fn farther(&self, _: &Worker<'_>) -> Option<Root> {
        self.by().map(Root::Job)
    }

    fn leave_word(&self, parker: &'static Parker) -> bool {
        self.task.leave_word(parker)
    }

    fn runs_anything(&self) -> bool {
        !self.at_home
    }
}

/// A wait for a latch that depends on jobs with a certain tag, which lie in mailboxes, or (`None`) on whatever lies in the
/// waiter's pool.
pub(crate) struct LatchWait<'a> {
    pub(crate) latch: &'a Latch,
    pub(crate) letters: Option<u64>,
}

impl Wait for LatchWait<'_> {
    fn is_done(&self) -> bool {
        self.latch.is_set()
    }

    fn needs_room(&self) -> bool {
        self.letters.is_some()
    }

    fn find(&self, _: &Worker<'_>) -> Option<Entry> {
        None
    }

    fn helped(&self, _: &Worker<'_>, _: &mut dyn FnMut(&Seat)) {}

    /// Pieces of the letters.
    fn farther(&self, _: &Worker<'_>) -> Option<Root> {
        self.letters.map(Root::Scope)
    }

    fn looks_far_at_once(&self) -> bool {
        true
    }

    fn leave_word(&self, _: &'static Parker) -> bool {
        self.latch.fall_asleep()
    }

    fn take_back_word(&self) {
        self.latch.wake_up();
    }

    fn runs_anything(&self) -> bool {
        self.letters.is_none()
    }
}
