//! How the holder of a seat waits: one loop for every kind of wait.
//!
//! A waiting worker runs only what its own wait depends on. Each kind of wait says what that is
//! ([`Wait`]; `kin.rs` has them all):
//!
//! * **A join** whose job was stolen helps the thief.
//! * **A loop's course** (`course.rs`) that waits for a part does so too. Otherwise it takes any public piece of
//!   the loop, wherever it lies, and after a while it makes more of them public.
//! * **A scope** runs its own tasks, wherever they lie, then helps the threads that run them.
//! * **A task** behind a handle is helped as a join is.
//! * **Mail**, a broadcast's closure for this very thread, is read in every wait: no other thread
//!   can read it, and the wait may depend on the broadcast. A thread that waits for a broadcast of
//!   its own pool helps the threads that read its letters.
//! * **A wait for another pool**, and a pool built for greedy waiting, run anything.
//!
//! What these jobs have pushed or spawned in turn belongs to the wait as well, however remotely
//! (`family.rs`). The owner of a scope or of a broadcast looks there before it sleeps. Other
//! waiters look there after a nap and, once they have found something there, before each sleep:
//! they find most work nearby, and looking at all seats takes long.
//!
//! A waiter that finds nothing is *hungry*: it enters its name with each seat that it helps
//! ([`Seat::add_waiter`]) and asks for private work. A loop that runs there sees the name and offers
//! half of what it has left; a join publishes. Before the waiter sleeps it leaves word with what it
//! waits for, fences and looks again; threads that publish or push fence, and read which are waiting. (In a lull
//! that is over with this fence, threads that push have the waiter's barrier in its place: `seat/lull.rs`.)
//! A thread that moves tasks from one place to another tells their scopes' owners afterwards, since
//! these may have looked for them meanwhile.
#![forbid(unsafe_code)]

use super::family::{Kin, Root};
use super::worker::Worker;
use crate::base::barrier::barrier_everywhere;
use crate::base::park::Parker;
use crate::base::patience::Patience;
use crate::base::trace::{self, Act};
use crate::base::unwind::AbortOnUnwind;
use crate::queue::spawned::Entry;
use crate::seat::Seat;
use crate::seat::word::{Holder, Step};
use std::time::Duration;

/// After this time a waiter publishes for the threads that it waits for, which may be stuck beside private
/// work; then each time after twice as long as before, up to the second figure.
const STUCK: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(160));
/// How long a waiter looks around before it sleeps, in nanoseconds.
const PATIENCE: u64 = 10_000;
/// The same in a small pool, if it waits for another pool. Such calls often go on to a third pool, or come back to this one, and
/// each thread on the way that sleeps must be woken.
const ABROAD: u64 = 30_000;

/// Something that a worker waits for.
pub(crate) trait Wait {
    /// Whether it has come.
    fn is_done(&self) -> bool;

    /// Whether a thread that this wait depends on may be waiting for the waiter's processor. In a small pool the waiter then yields
    /// from the first round on.
    fn needs_room(&self) -> bool {
        false
    }

    /// Takes a job that the wait depends on.
    fn find(&self, worker: &Worker<'_>) -> Option<Entry>;

    /// Takes one from farther away, where that is a long way to look. Called when the waiter has slept
    /// for long.
    fn find_further(&self, _: &Worker<'_>) -> Option<Entry> {
        None
    }

    /// Calls `each` with the other seats from which such jobs may come.
    fn helped(&self, worker: &Worker<'_>, each: &mut dyn FnMut(&Seat));

    /// What to look for beyond those seats.
    fn farther(&self, _: &Worker<'_>) -> Option<Root> {
        None
    }

    /// Whether to look there before the first nap already, and not only after it.
    fn looks_far_at_once(&self) -> bool {
        false
    }

    /// Asks for `parker` to be woken when it has come. False if that need not be waited for: look
    /// again.
    fn leave_word(&self, parker: &'static Parker) -> bool;

    /// Withdraws that.
    fn take_back_word(&self) {}

    /// Called whenever there is nothing to run.
    fn settle(&self) {}

    /// Whether anything may be run meanwhile.
    fn runs_anything(&self) -> bool {
        false
    }
}

/// The seats where a waiter has left its name.
struct Names {
    seats: [usize; Self::MOST],
    count: usize,
}

impl Names {
    const MOST: usize = 8;

    fn new() -> Self {
        Self {
            seats: [0; Self::MOST],
            count: 0,
        }
    }

    /// Leaves the name of `worker` there. Says whether that is new.
    fn leave(&mut self, worker: &Worker<'_>, seat: &Seat) -> bool {
        let known = self.count.min(Self::MOST);
        if !self.seats[..known].contains(&seat.index) {
            if let Some(free) = self.seats.get_mut(self.count) {
                *free = seat.index;
            }
            self.count += 1;
        }
        seat.add_waiter(worker.seat.index)
    }

    /// Takes it back everywhere.
    fn take_back(&self, worker: &Worker<'_>) {
        let me = worker.seat.index;
        let seats = &worker.shared.seats;
        if self.count > Self::MOST {
            return seats.iter().for_each(|seat| seat.remove_waiter(me));
        }
        for &seat in &self.seats[..self.count] {
            seats[seat].remove_waiter(me);
        }
    }
}

/// How a wait has gone so far.
struct Progress {
    names: Names,
    nap: Duration,
    /// Whether to look far before each sleep: at once, or since something was found there.
    far: bool,
}

impl Worker<'_> {
    /// Waits, running what the wait depends on.
    #[inline(never)]
    pub(crate) fn wait(&self, what: &dyn Wait) {
        let _span = trace::span(self.seat.index, Act::Wait);
        let guard = AbortOnUnwind;
        self.shared.sleep.lull.leave(&self.seat.membership);
        let anything = self.shared.greedy || what.runs_anything();
        let fresh = || {
            let is_small = self.shared.is_small();
            let is_abroad = is_small && what.runs_anything();
            let nanos = if is_abroad { ABROAD } else { PATIENCE };
            let mut patience = Patience::new(nanos, &self.shared.yields);
            if is_abroad || is_small && what.needs_room() {
                patience.make_room();
            }
            patience
        };
        let mut patience = fresh();
        let mut so_far = Progress {
            names: Names::new(),
            nap: STUCK.0,
            far: what.looks_far_at_once(),
        };
        while !what.is_done() {
            let found = if self.see_to_mail() {
                // Reading letters may have taken long, and does not count as a yield.
                patience = fresh();
                continue;
            } else if let Some(entry) = self.take_for(what, anything) {
                Some(entry)
            } else {
                // A call that ran on this seat, inside `blocking`, may have left counts of a scope that this
                // very thread waits for.
                self.seat.kept.settle();
                what.settle();
                what.helped(self, &mut |seat| self.get_hungry(seat, &mut so_far.names));
                if patience.wait_unless(|| what.is_done()) {
                    continue;
                }
                let found = self.sleep_on(what, anything, &mut so_far);
                // Whatever woke the thread, more may come soon; at the end of a loop, what it waits for may
                // come: see `rouse`.
                patience = fresh();
                found
            };
            if let Some(entry) = found {
                patience.end(0);
                self.run(entry);
                so_far.nap = STUCK.0;
                patience = fresh();
            }
        }
        patience.end(0);
        so_far.names.take_back(self);
        guard.disarm();
    }

    fn take_for(&self, what: &dyn Wait, anything: bool) -> Option<Entry> {
        if anything {
            self.take_any()
        } else {
            what.find(self)
        }
    }

    fn get_hungry(&self, seat: &Seat, names: &mut Names) {
        names.leave(self, seat);
        seat.nested.want();
    }

    /// Gives `f` what to look for beyond the seats that are helped.
    fn farther<R>(&self, what: &dyn Wait, f: impl FnOnce(&Kin<'_>) -> R) -> Option<R> {
        let root = what.farther(self)?;
        let lasts = &|| !what.is_done();
        Some(f(&Kin::new(root, lasts)))
    }

    /// Sleeps until there is news, unless a last look finds a job.
    fn sleep_on(&self, what: &dyn Wait, anything: bool, so_far: &mut Progress) -> Option<Entry> {
        let parker = self.seat.wait_parker();
        // Jobs that it ran meanwhile may have joined the lull again.
        self.shared.sleep.lull.leave(&self.seat.membership);
        if anything {
            self.shared.abroad.go(parker);
        }
        let mut found = None;
        if what.leave_word(parker) {
            let far = so_far.far;
            if far {
                self.farther(what, |kin| {
                    let family = self.family(kin, |_| true);
                    family.for_each(|(seat, _)| self.get_hungry(seat, &mut so_far.names));
                });
            }
            self.shared.sleep.before_last_look();
            found = self.take_for(what, anything);
            if far && found.is_none() {
                found = self.farther(what, |kin| self.take_of_family(kin)).flatten();
            }
            if found.is_none() {
                // A letter that came meanwhile has left a token.
                found = self.nap(what, parker, so_far);
            }
            what.take_back_word();
        }
        if anything {
            self.shared.abroad.come_home(parker);
        }
        found
    }

    /// Sleeps. The awaited job may be on its way to a thread that does not show it yet; once that
    /// thread has begun, it must know that this one waits. And a thread that stays long in user
    /// code may have private jobs that it cannot publish itself, and that are pieces of what this
    /// thread waits for. So after a while this thread leaves its names anew, and publishes what is
    /// private.
    fn nap(
        &self,
        what: &dyn Wait,
        parker: &'static Parker,
        so_far: &mut Progress,
    ) -> Option<Entry> {
        if what.runs_anything() {
            parker.park();
            return None;
        }
        let Progress { names, nap, far } = so_far;
        while !parker.park_timeout(*nap) {
            *nap = (*nap * 2).min(STUCK.1);
            let mut news = false;
            let mut see = |seat: &Seat| {
                news |= names.leave(self, seat);
                if seat.nested.has_private()
                    && seat.nested.publish_for_owner(barrier_everywhere) > 0
                {
                    news = true;
                    self.shared.wake_waiters(seat);
                }
            };
            what.helped(self, &mut see);
            self.farther(what, |kin| {
                let family = self.family(kin, |_| true);
                family.for_each(|(seat, _)| see(seat));
            });
            let further = what.find_further(self).or_else(|| {
                self.farther(what, |kin| self.take_of_family_behind(kin))
                    .flatten()
            });
            *far |= further.is_some();
            // Under decided schedules the wait goes on: there a lost wake-up must show, and the next look must
            // not make it good.
            if news || further.is_some() || !cfg!(tine_sched) {
                return further;
            }
        }
        None
    }

    // ---- mail -------------------------------------------------------------------------------

    /// Has the mail of this seat read, by this thread if it is the seat's own, else by lending
    /// the seat; says whether there was any.
    fn see_to_mail(&self) -> bool {
        let state = self.seat.word.load();
        if !state.has_mail() {
            return false;
        }
        if state.holder() == Holder::Guest {
            return self.lend();
        }
        self.take_mail().map(|entry| self.run(entry)).is_some()
    }

    /// Lends the seat to its own thread until the mail has been read.
    fn lend(&self) -> bool {
        let (shared, seat) = (self.shared, self.seat);
        let lent = shared.sleep.take(seat, Step::Lend);
        if lent && shared.ring(seat) {
            while seat.word.load().holder() == Holder::Lent {
                seat.loan_parker().park();
            }
        }
        lent
    }

    /// Runs all letters to this seat's thread that this worker may read.
    pub(super) fn read_mail(&self) {
        while self.seat.word.load().has_mail() {
            match self.take_mail() {
                Some(entry) => self.run(entry),
                None if self.seat.word.load().holder() == Holder::Guest => return,
                None => {}
            }
        }
    }

    /// Reads the mail of a seat that a guest has lent, and gives it back.
    pub(super) fn read_mail_on_loan(&self) {
        self.read_mail();
        let lender = self.seat.loan_parker();
        let returned = self.shared.sleep.take(self.seat, Step::Return);
        debug_assert!(returned, "{:?}", self.seat.word.load());
        lender.unpark();
    }
}
