//! What a wait depends on, for each kind of wait: which jobs are its kin, where they lie, and from
//! whom they may yet come.

use super::shared::Shared;
use super::wait::Wait;
use super::worker::{Worker, tag};
use crate::base::park::Parker;
use crate::base::sync::{AtomicBool, Ordering, relax};
use crate::queue::job::{Head, State, Taken};
use crate::queue::latch::Latch;
use crate::queue::spawned::Entry;
use crate::queue::steal::Steal;
use crate::seat::Seat;
use crate::seat::context::Context;

impl Worker<'_> {
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
    fn take_task_behind(&self, by: Taken, still: impl Fn() -> bool) -> Option<Entry> {
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
        worker.take_piece(self.runner()?, still)
    }

    fn find_further(&self, worker: &Worker<'_>) -> Option<Entry> {
        let still = || self.word().state() == State::Taken;
        worker.take_task_behind(self.runner()?, still)
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        // Also once it is done: the name that was left is to be taken back there.
        // SAFETY: seen not to be Untaken.
        let by = (self.word().state() != State::Untaken).then(|| unsafe { self.taken() });
        thief(worker, by, each);
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
        worker.take_of_course().or_else(behind)
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        self.0.helped(worker, each);
    }

    fn leave_word(&self, parker: &'static Parker) -> bool {
        self.0.leave_word(parker)
    }
}

/// What a seat works on, as a thief says it.
fn by(seat: &Seat, context: Context) -> Taken {
    Taken {
        seat: seat.index,
        base: context.base,
        since: context.since,
    }
}

/// A scope that was opened on the waiter's seat.
#[derive(Clone, Copy)]
pub(crate) struct ScopeWait<'a> {
    pub(crate) tag: u64,
    pub(crate) latch: &'a Latch,
    /// Whether a task was ever pushed on this seat. Only then, or if one was brought here, is there one to look for:
    /// the walk past what others have pushed may be long.
    pub(crate) at_home: &'a AtomicBool,
    /// Says what has been done at home.
    pub(crate) settle: &'a dyn Fn(),
}

impl ScopeWait<'_> {
    /// Other seats that run a task of this scope.
    fn working<'w>(&self, worker: &'w Worker<'_>) -> impl Iterator<Item = (&'w Seat, Context)> {
        let (me, tag) = (worker.seat.index, self.tag);
        let others = worker.shared.seats.iter().filter(move |s| s.index != me);
        others.filter_map(move |s| Some((s, s.context().filter(|c| c.tag == tag)?)))
    }

    /// From the owner's deque, newest first. Strangers above it are moved to the injector, where
    /// any thread may take them; strangers alone are left where they are.
    fn find_at_home(&self, worker: &Worker<'_>) -> Option<Entry> {
        let own = &worker.seat.spawned;
        // Relaxed: this thread has written it.
        let pushed = self.at_home.load(Ordering::Relaxed);
        if !(pushed || worker.seat.notes.may_have_brought(self.tag)) || own.is_empty() {
            return None;
        }
        // SAFETY: this worker holds the seat.
        if unsafe { own.last_tag() } == Some(self.tag) {
            return worker.take_own();
        }
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
        self.latch.is_set()
    }

    fn find(&self, worker: &Worker<'_>) -> Option<Entry> {
        let shared = worker.shared;
        self.find_at_home(worker)
            .or_else(|| {
                let (entry, from) = shared.fetch_from_seats(self.tag, Some(worker.seat.index))?;
                worker.stolen(entry, from)
            })
            .or_else(|| shared.injector.take_tagged(self.tag))
            .or_else(|| {
                // All are started. Help the threads that run them.
                self.working(worker).find_map(|(seat, context)| {
                    worker.take_piece(by(seat, context), || seat.is_at(context))
                })
            })
    }

    fn find_further(&self, worker: &Worker<'_>) -> Option<Entry> {
        self.working(worker).find_map(|(seat, context)| {
            worker.take_task_behind(by(seat, context), || seat.is_at(context))
        })
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        self.working(worker).for_each(|(seat, _)| each(seat));
    }

    fn leave_word(&self, _: &'static Parker) -> bool {
        self.latch.fall_asleep()
    }

    fn take_back_word(&self) {
        self.latch.wake_up();
    }

    fn settle(&self) {
        (self.settle)();
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
        worker.take_task_behind(self.by()?, || !self.task.is_done())
    }

    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat)) {
        thief(worker, self.by(), each);
    }

    fn leave_word(&self, parker: &'static Parker) -> bool {
        self.task.leave_word(parker)
    }

    fn runs_anything(&self) -> bool {
        !self.at_home
    }
}

/// A wait for a latch that depends on mail alone, or (`anything`) on whatever lies in the waiter's
/// pool.
pub(crate) struct LatchWait<'a> {
    pub(crate) latch: &'a Latch,
    pub(crate) anything: bool,
}

impl Wait for LatchWait<'_> {
    fn is_done(&self) -> bool {
        self.latch.is_set()
    }

    fn find(&self, _: &Worker<'_>) -> Option<Entry> {
        None
    }

    fn helped(&self, _: &Worker<'_>, _: &mut dyn FnMut(&Seat)) {}

    fn leave_word(&self, _: &'static Parker) -> bool {
        self.latch.fall_asleep()
    }

    fn take_back_word(&self) {
        self.latch.wake_up();
    }

    fn runs_anything(&self) -> bool {
        self.anything
    }
}
