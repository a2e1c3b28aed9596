//! How the holder of a seat waits.
//!
//! A waiting worker runs only what its own wait depends on:
//!
//! * **A join** whose job was stolen helps the thief: it takes nested jobs that the thief
//!   pushed while running that job, and tasks of scopes that the thief opened inside it. The
//!   job's [`Taken`] note says above which depth and since which stamp.
//! * **A scope** runs its own tasks, wherever they lie: on top of its own deque, on top of
//!   others', in the injector, behind strangers. Once they are all started it helps those who
//!   run them, in the same way as a join.
//! * **Mail**, a broadcast's closure for this very thread, is read while waiting for whatever:
//!   nobody else can, and the broadcast may be part of what is waited for.
//! * **A wait for another pool**, `yield_now` and a pool built for greedy waiting run anything.
//!
//! Before a waiter sleeps it leaves word with those it helps (`waiters`), asks them to publish,
//! fences and looks again; they publish, fence, and read who left word. Whoever moves tasks from
//! one place to another tells their scopes' owners afterwards, since these may have looked for them
//! meanwhile.

use crate::deque::spawned::Entry;
use crate::deque::steal::Steal;
use crate::job::{Parcel, State, Taken, Word};
use crate::latch::Latch;
use crate::park::Parker;
use crate::patience::Patience;
use crate::seat::{Context, Holder, Seat};
use crate::sync::{Ordering, fence, relax};
use crate::sys;
use crate::trace::{self, Act};
use crate::unwind::AbortOnUnwind;
use crate::worker::{Worker, tag};
use std::time::Duration;

/// After so long a waiter publishes for the thief that it waits for.
const STUCK: Duration = Duration::from_millis(10);
/// How long a waiter looks around before it sleeps.
const WAIT_PATIENCE: u64 = 10_000;

/// What a scope's waiter needs to know of the scope.
#[derive(Clone, Copy)]
pub(crate) struct ScopeWait<'a> {
    pub(crate) tag: u64,
    pub(crate) latch: &'a Latch,
    /// Where the owner's deque stood when the scope was opened.
    pub(crate) mark: u32,
    /// Says what has been done at home: called whenever there is nothing to run.
    pub(crate) settle: &'a dyn Fn(),
}

impl Worker<'_> {
    // ---- waiting for a join -----------------------------------------------------------------

    /// Waits until the job behind `word`, pushed by this worker and stolen, is done.
    pub(crate) fn wait_for_job(&self, word: &Word, taken: impl Fn() -> Taken) {
        let _span = trace::span(self.seat.index, Act::Wait);
        let guard = AbortOnUnwind;
        let mut patience = Patience::new(WAIT_PATIENCE);
        loop {
            match word.state() {
                State::Done => break,
                // Won, but the thief has not said so yet.
                State::Untaken => relax(),
                State::Taken => {
                    let by = taken();
                    if self.help_anyone_or(|| self.help_with(word, by)) {
                        patience = Patience::new(WAIT_PATIENCE);
                    } else if !patience.wait() {
                        self.sleep_on_job(word, by);
                    }
                }
            }
        }
        guard.disarm();
    }

    fn sleep_on_job(&self, word: &Word, by: Taken) {
        let thief = &self.shared.seats[by.seat];
        self.leave_word(thief);
        // SeqCst: pairs with the fence in `publish`.
        fence(Ordering::SeqCst);
        if self.help_anyone_or(|| self.help_with(word, by)) {
            return;
        }
        // A thief that is long in one piece of user code may have private jobs that it cannot
        // publish itself: they are pieces of what is waited for here.
        if word.sleep_on(self.seat.pillow())
            && !self.seat.pillow().park_timeout(STUCK)
            && thief.nested.has_private()
            && thief.nested.publish_for_owner(sys::barrier_everywhere) > 0
        {
            self.shared.wake_waiters(thief);
        }
    }

    /// Leaves word with the holder of `seat` that this worker would help, and asks for work.
    fn leave_word(&self, seat: &Seat) {
        // Relaxed: ordered by the fence that follows.
        seat.waiters
            .fetch_or(1 << (self.seat.index % 64), Ordering::Relaxed);
        seat.nested.want();
    }

    /// Runs mail, which nobody else can; else, in a pool built for greedy waiting, anything;
    /// else what `kin` finds.
    fn help_anyone_or(&self, kin: impl FnOnce() -> bool) -> bool {
        self.see_to_mail()
            || if self.shared.greedy {
                self.run_any()
            } else {
                kin()
            }
    }

    /// Has the mail of this seat read, by this thread if it is the seat's own, else by lending
    /// the seat; says whether there was any.
    fn see_to_mail(&self) -> bool {
        let (shared, seat) = (self.shared, self.seat);
        if shared.desks[seat.index].mailbox.is_empty() {
            return false;
        }
        if self.guest && seat.thread.exists() {
            shared.sleep.lend(seat);
            if shared.ring(seat) {
                while seat.word.load() == Holder::Lent {
                    seat.pillow().park();
                }
                return true;
            }
            shared.sleep.give_back(seat);
        }
        self.take_mail().map(|entry| self.run(entry)).is_some()
    }

    /// Runs all letters to this seat's thread that this worker may read.
    pub(crate) fn read_mail(&self) {
        while let Some(entry) = self.take_mail() {
            self.run(entry);
        }
    }

    /// Reads the mail of a seat that a guest has lent, and gives it back.
    pub(crate) fn read_mail_on_loan(&self) {
        self.read_mail();
        let pillow = self.seat.pillow();
        self.shared.sleep.give_back(self.seat);
        pillow.unpark();
    }

    /// Runs the job spawned last on this seat; says whether there was one.
    pub(crate) fn run_own(&self) -> bool {
        self.take_own().map(|entry| self.run(entry)).is_some()
    }

    /// Runs any job; says whether there was one.
    pub(crate) fn run_any(&self) -> bool {
        self.take_any().map(|entry| self.run(entry)).is_some()
    }

    /// Runs a piece of the job that `by` describes, while `word` says that it is being run.
    fn help_with(&self, word: &Word, by: Taken) -> bool {
        self.help(by, || word.state() == State::Taken)
    }

    /// Runs a piece of what `by` describes, while `still` says that it is being run.
    fn help(&self, by: Taken, still: impl Fn() -> bool) -> bool {
        let thief = &self.shared.seats[by.seat];
        match thief.nested.steal_if(by.base, &still) {
            Steal::Taken(job) => {
                self.run_stolen(Entry { job, tag: 0 }, thief);
                return true;
            }
            Steal::Retry => return still(),
            Steal::Private => thief.nested.want(),
            Steal::Empty => {}
        }
        // A task of a scope that the thief opened after it began: the scope is part of the job
        // if the job was still being run when the task was seen, and the task was still there
        // when it was taken.
        let kin = |t: u64| tag::opened_since(t, by.seat, by.since) && still();
        match thief.spawned.steal_if(kin) {
            Steal::Taken(entry) => {
                self.run_stolen(entry, thief);
                true
            }
            Steal::Retry => still(),
            _ => false,
        }
    }

    // ---- waiting for a scope ----------------------------------------------------------------

    /// Waits until a scope that was opened on this seat is over.
    pub(crate) fn wait_for_scope(&self, scope: ScopeWait<'_>) {
        let _span = trace::span(self.seat.index, Act::Wait);
        let guard = AbortOnUnwind;
        let mut patience = Patience::new(WAIT_PATIENCE);
        while !scope.latch.is_set() {
            if self.help_anyone_or(|| self.help_scope(scope)) {
                patience = Patience::new(WAIT_PATIENCE);
                continue;
            }
            (scope.settle)();
            if !patience.wait() && scope.latch.get_sleepy() {
                let found = self.sleep_on_scope(scope);
                scope.latch.wake_up();
                if let Some(entry) = found {
                    self.run(entry);
                }
            }
        }
        guard.disarm();
    }

    /// Sleeps until something happens to the scope, unless a last look finds work.
    fn sleep_on_scope(&self, scope: ScopeWait<'_>) -> Option<Entry> {
        for (seat, _) in self.working_on(scope.tag) {
            self.leave_word(seat);
        }
        if self.shared.greedy {
            self.shared.go_abroad(self.seat.pillow());
        }
        let mut found = None;
        if scope.latch.fall_asleep() {
            // SeqCst: pairs with the fence after a spawn into the scope, and with the one in
            // `publish`.
            fence(Ordering::SeqCst);
            found = if self.shared.greedy {
                self.take_any()
            } else {
                self.fetch_scope_task(scope)
            };
            if found.is_none() {
                self.seat.pillow().park();
            }
        }
        if self.shared.greedy {
            self.shared.come_home(self.seat.pillow());
        }
        found
    }

    /// Other seats that run a task of this scope.
    fn working_on(&self, tag: u64) -> impl Iterator<Item = (&Seat, Context)> {
        let me = self.seat.index;
        let others = self.shared.seats.iter().filter(move |s| s.index != me);
        others.filter_map(move |s| Some((s, s.context().filter(|c| c.tag == tag)?)))
    }

    fn help_scope(&self, scope: ScopeWait<'_>) -> bool {
        if let Some(entry) = self.fetch_scope_task(scope) {
            self.run(entry);
            return true;
        }
        // All are started. Help those who run them.
        self.working_on(scope.tag).any(|(seat, context)| {
            let by = Taken {
                seat: seat.index,
                base: context.base,
                since: context.since,
            };
            self.help(by, || seat.is_at(context))
        })
    }

    /// Takes a task of this scope from wherever it lies.
    fn fetch_scope_task(&self, scope: ScopeWait<'_>) -> Option<Entry> {
        self.fetch_own(scope)
            .or_else(|| self.fetch_from_others(scope.tag))
            .or_else(|| self.shared.injector.take_tagged(scope.tag))
    }

    /// From this seat's own deque, newest first. Strangers above it are moved to the injector,
    /// where anybody may take them; strangers alone are left where they are.
    fn fetch_own(&self, scope: ScopeWait<'_>) -> Option<Entry> {
        let own = &self.seat.spawned;
        if own.mark().wrapping_sub(scope.mark) as i32 <= 0 || own.is_empty() {
            return None;
        }
        // SAFETY: this worker holds the seat.
        if unsafe { own.last_tag() } == Some(scope.tag) {
            return self.take_own();
        }
        own.find(|t| t == scope.tag)?;
        while let Some(entry) = self.take_own() {
            if entry.tag == scope.tag {
                return Some(entry);
            }
            self.move_to_injector(entry);
        }
        None
    }

    /// From other seats: what lies on top, else what lies behind strangers.
    fn fetch_from_others(&self, tag: u64) -> Option<Entry> {
        let seats = || {
            self.shared
                .seats
                .iter()
                .filter(|s| s.index != self.seat.index)
        };
        for seat in seats() {
            if let Steal::Taken(entry) = seat.spawned.steal_if(|t| t == tag) {
                return self.stolen(entry, seat);
            }
        }
        for seat in seats() {
            while seat.spawned.find(|t| t == tag).is_some() {
                match seat.spawned.steal() {
                    Steal::Taken(entry) if entry.tag == tag => return self.stolen(entry, seat),
                    Steal::Taken(entry) => self.move_to_injector(entry),
                    Steal::Retry => relax(),
                    _ => break,
                }
            }
        }
        None
    }

    fn move_to_injector(&self, entry: Entry) {
        let run = |entry| {
            Worker::with(|worker| match worker {
                Some(worker) => worker.run(entry),
                None => unreachable!("a queued job was run by no worker"),
            });
        };
        // SAFETY: just taken, and left to whoever takes it next.
        self.shared.inject(unsafe { Parcel::of_entry(entry, run) });
        self.tell_owners([&entry]);
    }

    // ---- waiting for a task, for mail -------------------------------------------------------

    /// What a job that starts here and now says of itself.
    pub(crate) fn here(&self) -> Taken {
        // Scopes opened before this belong to something else: hence a new stamp. And what is
        // public now does not belong to it: hence the turn.
        let since = self.seat.notes.next_stamp();
        self.nested().turn();
        Taken {
            seat: self.seat.index,
            base: self.nested().depth(),
            since,
        }
    }

    /// Waits for a task until it is `done`, helping whoever runs it (`by`). `leave_word` asks
    /// for a parker to be woken at the end, and says false if that has come.
    pub(crate) fn wait_for_task(
        &self,
        done: impl Fn() -> bool,
        by: impl Fn() -> Option<Taken>,
        leave_word: impl Fn(&'static Parker) -> bool,
    ) {
        let _span = trace::span(self.seat.index, Act::Wait);
        let guard = AbortOnUnwind;
        let mut patience = Patience::new(WAIT_PATIENCE);
        let help = || {
            let by = by().filter(|by| by.seat != self.seat.index);
            self.help_anyone_or(|| by.is_some_and(|by| self.help(by, || !done())))
        };
        while !done() {
            if help() {
                patience = Patience::new(WAIT_PATIENCE);
            } else if !patience.wait() {
                if let Some(by) = by() {
                    self.leave_word(&self.shared.seats[by.seat]);
                }
                // SeqCst: pairs with the fence in `publish`.
                fence(Ordering::SeqCst);
                if leave_word(self.seat.pillow()) && !help() {
                    self.seat.pillow().park();
                }
            }
        }
        guard.disarm();
    }

    /// Waits for a latch, reading mail and nothing else.
    pub(crate) fn wait_for_mail(&self, latch: &Latch) {
        let _span = trace::span(self.seat.index, Act::Wait);
        let guard = AbortOnUnwind;
        while !latch.is_set() {
            if !self.see_to_mail() && latch.get_sleepy() {
                if latch.fall_asleep() {
                    self.seat.pillow().park();
                }
                latch.wake_up();
            }
        }
        guard.disarm();
    }

    // ---- waiting for anything else ----------------------------------------------------------

    /// Waits for a latch on which others, in this pool or another, may need this worker.
    pub(crate) fn wait_greedily(&self, latch: &Latch) {
        let _span = trace::span(self.seat.index, Act::Wait);
        let guard = AbortOnUnwind;
        let mut patience = Patience::new(WAIT_PATIENCE);
        while !latch.is_set() {
            if self.run_any() {
                patience = Patience::new(WAIT_PATIENCE);
            } else if !patience.wait() && latch.get_sleepy() {
                self.shared.go_abroad(self.seat.pillow());
                if !self.shared.has_news(self.seat.index) && latch.fall_asleep() {
                    self.seat.pillow().park();
                }
                latch.wake_up();
                self.shared.come_home(self.seat.pillow());
            }
        }
        guard.disarm();
    }
}
