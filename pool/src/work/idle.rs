//! What a pool's own threads do between jobs: search for a while, lie down, and sleep until there
//! is work for them. One of the sleepers looks after the others.
#![forbid(unsafe_code)]

use super::worker::Worker;
use crate::base::barrier;
use crate::base::clock;
use crate::base::patience::Patience;
use crate::base::sync::{Ordering, fence};
use crate::base::trace::{self, Act};
use crate::queue::slab;
use crate::seat::Seat;
use crate::seat::sleep::Bedtime;
use crate::seat::word::{Holder, Step};
use std::time::Duration;

/// How long to look around before going to sleep, in nanoseconds: at least and at most. A thread
/// that was woken soon after it fell asleep looks longer next time, one that slept long looks
/// less.
const PATIENCE: (u64, u64) = (2_000, 20_000);
/// What counts as soon, and as long.
const NAP: (u64, u64) = (50_000, 200_000);
/// How long a thread that has read a letter looks for the next one, for each thread of the pool, in nanoseconds: about what a
/// broadcast takes for each of them. The longest is what counts as long.
const FOR_A_LETTER: u64 = 2_000;
/// How long a thread that has offered its seat leaves it free, in nanoseconds: about as long as it takes to wake the caller.
const OFFER: u64 = 50_000;
/// Where more than this many threads search, they save looks: not every searcher goes after every
/// job that it sees; each reads the census only in one round of [`ROUNDS`], and the queue from
/// outside only in one round of N for N searchers. Otherwise all of them would wait for these cache
/// lines, and so would the thread that offers the jobs.
const CROWD: usize = if cfg!(all(tine_sched, not(tine_lab))) {
    1
} else {
    4
};
const ROUNDS: u32 = 4;
/// How often the looker looks after threads that are stuck. In a pool at rest each look comes four
/// times later than the one before, up to the greatest interval, and after the last of these
/// it stops.
const LOOK_AFTER: Duration = Duration::from_millis(10);
const LOOK_AFTER_AT_MOST: Duration = Duration::from_secs(1);
const LOOKS_AT_REST: u32 = 8;

impl Worker<'_> {
    // ---- the life of a thread ---------------------------------------------------------------

    /// Works until the pool is over. The seat is AWAKE, or NOTIFIED or LENT if the thread was started
    /// by a call for help; afterwards it is AWAKE.
    pub(crate) fn work(&self) {
        debug_assert!(!self.guest);
        if self.seat.word.load().holder() != Holder::Awake {
            self.sleep();
            // A thread that was started to look after the others begins that as soon as it lies down.
            if !self.shared.looker.is(self.seat) {
                self.pass_on_the_looking();
            }
            self.search();
        }
        let freed = slab::collect();
        loop {
            if self.shared.step_down(self.seat) {
                freed.give_back();
                self.block();
            } else if self.seat.notes.offered.get() == 0
                && let Some(entry) = self.take_any()
            {
                self.run_in_turn(entry);
                continue;
            } else {
                self.seat.kept.settle();
                freed.give_back();
                self.shared.sleep.lull.leave(&self.seat.membership);
                let searching = self.shared.sleep.take(self.seat, Step::Search);
                debug_assert!(searching, "{:?}", self.seat.word.load());
            }
            if !self.search() {
                return;
            }
        }
    }

    /// Leaves the seat for good, with nothing on it: runs what was spawned here meanwhile, and
    /// reads the letters. A letter that comes later finds no thread; its poster must run it.
    pub(crate) fn go(&self) {
        self.seat.thread.set_gone();
        loop {
            while self.run_any() {}
            if self.shared.sleep.take(self.seat, Step::Go) {
                return;
            }
        }
    }

    /// Looks for work, and sleeps while there is none; the seat is SEARCHING. True once awake
    /// with a reason to look; false if the pool has ended. Either way the seat is held again.
    fn search(&self) -> bool {
        let (shared, seat) = (self.shared, self.seat);
        let _span = trace::span(seat.index, Act::Search);
        loop {
            shared.end_if_idle();
            match self.look_around() {
                Looked::Displaced => self.sleep_displaced(),
                Looked::News => {
                    if shared.sleep.end_search(seat) {
                        if shared.looker.is(seat) {
                            self.pass_on_the_looking();
                        }
                        return self.take_up_work();
                    }
                }
                Looked::Nothing => self.go_to_bed(),
            }
        }
    }

    /// Whether there is a reason to be awake.
    fn has_reason(&self) -> bool {
        self.shared.has_news(self.seat) || self.shared.could_end()
    }

    /// A guest has the seat.
    fn sleep_displaced(&self) {
        self.shared.displaced(|| self.has_reason());
        self.block();
    }

    /// From SEARCHING to PARKED and, woken, back again; or at once, if there is news.
    fn go_to_bed(&self) {
        let (shared, seat) = (self.shared, self.seat);
        // Before this thread is counted asleep: threads that push rely on a looker whenever a thread sleeps.
        let looker = shared.looker.is(seat) || shared.looker.try_become(seat);
        let mut bedtime = shared.sleep.lie_down(seat);
        if bedtime == Bedtime::Down {
            shared.seats.iter().for_each(|s| s.nested.want());
            shared.sleep.before_last_look();
            bedtime = shared.sleep.after_last_look(seat, self.has_reason());
        }
        match bedtime {
            Bedtime::Down | Bedtime::News => {
                if looker {
                    self.pass_on_the_looking();
                }
            }
            Bedtime::Block => {
                shared.trim_spare(seat);
                self.block();
            }
            Bedtime::Displaced => self.sleep_displaced(),
        }
    }

    /// Awake again: wakes another thread, if there is more to do than this one can.
    fn take_up_work(&self) -> bool {
        let shared = self.shared;
        if shared.is_over() {
            return false;
        }
        if shared.jobs() > 1 {
            self.wake_one();
        }
        true
    }

    /// Looks for news for a while. In a small pool all threads do so, without pauses: an ordinary
    /// thread that hands work to the pool often wants the processor of one of them, and gets it at
    /// the next yield.
    ///
    /// A thread that has offered its seat to a caller looks at no work until the caller has the
    /// seat, or has failed to come.
    ///
    /// If many threads see a few jobs, about two threads for each job, chosen at random, go after
    /// them. The others count as searching and look on, also after their last look, as long as
    /// there is work.
    fn look_around(&self) -> Looked {
        let (shared, seat) = (self.shared, self.seat);
        let mut offer =
            (seat.notes.offered.get() != 0).then(|| Patience::new(OFFER, &shared.yields));
        seat.notes.offered.set(0);
        let mailed = seat.notes.mailed.get() != 0;
        seat.notes.mailed.set(0);
        let mut patience = seat.notes.patience.get();
        if mailed {
            patience = patience.max(FOR_A_LETTER * shared.len() as u64).min(NAP.1);
        }
        let mut patience = Patience::new(patience, &shared.yields);
        if shared.is_small() {
            patience.make_room();
        } else if mailed {
            patience.make_room_if_scarce();
        }
        // Threads that wait for a processor stand in no other thread's way.
        let searching = || shared.yields.at_once(shared.sleep.census().searching());
        let mut beside = searching();
        let mut round = 0_u32;
        loop {
            round += 1;
            // After the first yields: before that, the thread is still where it was.
            if round == 1 || round.is_multiple_of(4) {
                shared.desks[seat.index].place.note();
            }
            if seat.word.load().holder() != Holder::Searching {
                return Looked::Displaced;
            }
            if seat.word.load().has_mail() || shared.is_over() {
                return Looked::News;
            }
            if offer.as_mut().is_some_and(Patience::wait) {
                continue;
            }
            let turn = if beside > CROWD { beside as u32 } else { 1 };
            let its_turn = (round + seat.index as u32).is_multiple_of(turn);
            let queued = if its_turn { shared.injector.len() } else { 0 };
            let found = shared.jobs_at_seats() + queued;
            if found > 0 && (beside <= CROWD || seat.notes.random() as usize % beside < 2 * found) {
                // The time when the last job was queued is known. When jobs at seats were offered is not.
                let queued_at = shared.yields.queued_at();
                patience.end(if queued == found { queued_at } else { 0 });
                return Looked::News;
            }
            let unasked = |s: &&Seat| !s.nested.is_wanted() && s.nested.has_private();
            for other in shared.seats.iter().filter(unasked) {
                other.nested.want();
            }
            if beside <= CROWD || round.is_multiple_of(ROUNDS) {
                beside = searching();
            }
            if !patience.wait() {
                return Looked::Nothing;
            }
        }
    }

    /// Sleeps until the seat is promised to its thread, and no longer looks after the others.
    fn block(&self) {
        barrier::register_if_wanted();
        self.sleep();
        self.pass_on_the_looking();
    }

    /// Sleeps until the seat is promised to its thread, which then searches.
    fn sleep(&self) {
        let (shared, seat) = (self.shared, self.seat);
        let _span = trace::span(seat.index, Act::Sleep);
        let place = &shared.desks[seat.index].place;
        seat.counters.parks.add(1);
        place.lie_down();
        let start = clock::now();
        let (mut looks, mut activity) = (0, 0);
        loop {
            if shared.sleep.take(seat, Step::Answer) {
                if let Some(rung) = shared.wakes.rung_at() {
                    let delay = clock::nanos(clock::since(rung));
                    shared.wakes.record_delay(delay);
                }
                break;
            }
            if seat.word.load().holder() == Holder::Lent {
                place.get_up();
                self.read_mail_on_loan();
                place.lie_down();
                continue;
            }
            place.sleep_on();
            let looker =
                shared.looker.is(seat) || (looks < LOOKS_AT_REST && shared.looker.try_become(seat));
            if !looker {
                seat.idle_parker().park();
                looks = 0;
                continue;
            }
            if seat.idle_parker().park_timeout(interval(looks)) {
                if !shared.looker.is_slow() {
                    looks = 0;
                }
                continue;
            }
            let (now, published) = self.look_after_others();
            looks = if now == activity { looks + 1 } else { 0 };
            activity = now;
            shared.looker.slow_down(looks > 0);
            // If the barrier was refused, the looker begins anew, and no thread relies on it.
            if looks == LOOKS_AT_REST || barrier::is_refused() {
                shared.looker.stop();
            }
            // Under decided schedules a look must not make good a lost wake-up: see `Worker::nap`.
            let relevant = published || !cfg!(tine_sched);
            if relevant && shared.has_news(seat) {
                if shared.sleep.take(seat, Step::Rise) {
                    break;
                }
                self.wake_one();
            }
        }
        place.get_up();
        self.learn_from_nap(clock::nanos(clock::since(start)));
    }

    /// This thread does not sleep, or no longer: it stops looking after the others. If there is
    /// then no looker, it rouses a sleeping thread for a moment, which becomes the looker.
    ///
    /// A thread that gets up and was not the looker does the same: the looker may have roused that
    /// very thread, just when it got up for another reason.
    ///
    /// Threads that saw a looker have left work private, and may block. So if all sleepers are
    /// threads that were never started, a leaving looker starts one, which is the looker from then
    /// on. If all sleepers lie below guests, it asks the guests to take care of it when they leave.
    fn pass_on_the_looking(&self) {
        let shared = self.shared;
        let was = shared.looker.is(self.seat);
        if was {
            shared.looker.stop();
        }
        // SeqCst: pairs with the same fence of another thread that rises, and with `before_last_look` of a
        // thread that lies down. Either this thread sees that the other sleeps, or the other sees that there is
        // no looker.
        fence(Ordering::SeqCst);
        let parked = |s: &&Seat| s.word.load().holder() == Holder::Parked;
        while shared.looker.seat().is_none() {
            let mut all = shared.seats.iter().filter(parked);
            if let Some(seat) = all.clone().find(|seat| !shared.is_new(seat)) {
                seat.idle_parker().unpark();
                return;
            }
            if !was {
                return;
            }
            let Some(seat) = all.next() else {
                if shared.sleep.ask_guests(&shared.seats) {
                    return;
                }
                continue;
            };
            let handed = shared.looker.try_become(seat);
            if handed && !(shared.sleep.take(seat, Step::Wake) && shared.ring(seat)) {
                shared.looker.stop();
            }
        }
    }

    fn learn_from_nap(&self, nanos: u64) {
        let patience = &self.seat.notes.patience;
        let learnt = match nanos {
            n if n < NAP.0 => patience.get() * 2,
            n if n > NAP.1 => patience.get() / 2,
            _ => return,
        };
        patience.set(learnt.clamp(PATIENCE.0, PATIENCE.1));
    }

    /// Runs any job for a caller that yields; says whether there was one.
    ///
    /// A thread that yields in a loop never sleeps, so perhaps no thread looks after the others.
    /// The caller may wait for a private job of a stuck owner. So after some time in vain this
    /// thread looks itself.
    pub(crate) fn yield_to_any(&self) -> bool {
        /// A look at the clock after this number of yields in vain.
        const SOME: u64 = 64;
        let vain = &self.seat.notes.vain;
        if self.run_any() {
            vain.set(0, 0);
            return true;
        }
        let (yields, since) = vain.get();
        if !(yields + 1).is_multiple_of(SOME) {
            vain.set(yields + 1, since);
            return false;
        }
        let now = clock::now();
        let long = clock::ticks(LOOK_AFTER.as_nanos() as u64);
        if since != 0 && !clock::have_passed(long, since, now) {
            vain.set(yields + 1, since);
            return false;
        }
        vain.set(0, now);
        since != 0 && self.look_after_others().1 && self.run_any()
    }

    /// Publishes for owners that have been asked and did not answer, and says whether it did. Gives a
    /// number that changes while the pool is in use.
    fn look_after_others(&self) -> (u64, bool) {
        let (mut activity, mut published) = (0, false);
        for other in &self.shared.seats {
            published |= self.oversee(other);
            activity = other.activity().wrapping_add(activity);
        }
        (activity, published)
    }
}

/// How long to wait before the next look, after `looks` at a pool at rest.
fn interval(looks: u32) -> Duration {
    (LOOK_AFTER * 4_u32.pow(looks.min(4))).min(LOOK_AFTER_AT_MOST)
}

/// What looking around showed.
enum Looked {
    News,
    Nothing,
    Displaced,
}
