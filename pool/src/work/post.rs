//! Posting work: which threads are told of it, and which are woken.
#![forbid(unsafe_code)]

use super::shared::Shared;
use crate::base::barrier;
use crate::base::sync::{Ordering, fence, yield_now};
use crate::base::trace::{self, What};
use crate::queue::job::Parcel;
use crate::seat::Seat;
use crate::seat::word::{Holder, Posted, Step};

/// Where a woken thread may run.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    Anywhere,
    /// Not on the processor of the thread that wakes it.
    Elsewhere,
}

impl Shared {
    /// Queues a job from outside and wakes a thread for it.
    pub(crate) fn inject(&self, job: Parcel) {
        self.queue(job);
        self.announce();
    }

    fn queue(&self, job: Parcel) {
        // In a large pool all posters would wait for that line.
        if self.is_small() {
            self.yields.note_queued();
        }
        self.injector.push(job);
    }

    /// Queues a call of an ordinary thread, which then only waits. The thread that is woken may come to the caller's
    /// processor: the caller leaves it at once.
    pub(super) fn inject_awaited(&self, job: Parcel) {
        self.queue(job);
        if self.sleep.post(self.len()) {
            self.wake(0, 1, 0, Where::Anywhere, || ());
        }
        self.abroad.tell();
    }

    /// Queues a call whose caller found no seat. A thread woken for the call takes one more seat
    /// from such callers. So in a large pool a thread is woken only if none searches: a searcher
    /// finds the call, and wakes the next thread.
    pub(super) fn inject_for_guest(&self, job: Parcel) {
        self.queue(job);
        let wanted = self.sleep.post(self.len());
        if wanted && (self.is_small() || self.sleep.census().searching() == 0) {
            self.wake_one();
        }
        self.abroad.tell();
    }

    /// Tells sleepers of spawned or queued work: at once, with no savings.
    pub(crate) fn announce(&self) {
        if self.sleep.post(self.len()) {
            self.wake_one();
        }
        // The fence in `post` pairs with the one in `Abroad::go`.
        self.abroad.tell();
    }

    /// Queues a task of an ordinary thread, which goes on.
    pub(crate) fn inject_task(&self, task: Parcel) {
        self.queue(task);
        self.announce_tasks();
    }

    /// Tells sleepers of tasks queued by an ordinary thread that goes on: threads that wait for its
    /// processor do not count.
    pub(crate) fn announce_tasks(&self) {
        let wanted = self.sleep.post_task(self.len());
        let hidden = self.hidden();
        if wanted || hidden > 0 {
            self.wake(0, 1, hidden, Where::Elsewhere, || ());
        }
        self.abroad.tell();
    }

    /// How many threads that search, or are on their way, wait for the processor of the caller, as far as they told last; 0
    /// if no thread could be woken instead. In a large pool others are there soon.
    fn hidden(&self) -> usize {
        if !self.is_small() {
            return 0;
        }
        let census = self.sleep.census();
        if census.sleeping() == 0 || census.searching() == 0 {
            return 0;
        }
        let searches = |seat: &&Seat| {
            matches!(
                seat.word.load().holder(),
                Holder::Searching | Holder::Notified
            )
        };
        let seats = self.seats.iter().filter(searches);
        seats
            .filter(|seat| self.desks[seat.index].place.is_here())
            .count()
    }

    /// Wakes a thread if one sleeps and too few search.
    pub(crate) fn wake_one(&self) {
        self.wake_one_after(0, 1, || ());
    }

    /// The same, looking for it from the seat `from` on; calls `begin` once there is one to be roused, and says
    /// whether one was.
    pub(crate) fn wake_one_after(&self, from: usize, each: usize, begin: impl Fn()) -> bool {
        self.wake(from, each, 0, Where::Elsewhere, begin)
    }

    /// The same, where that number of threads, `hidden`, searches and is not to be relied on.
    fn wake(
        &self,
        from: usize,
        each: usize,
        hidden: usize,
        place: Where,
        begin: impl Fn(),
    ) -> bool {
        let choose = |last| self.sleep.choose(&self.seats, from, last, each, hidden);
        while let Some(seat) = choose(self.looker.seat()) {
            begin();
            if self.ring_from(seat, place) {
                return true;
            }
        }
        false
    }

    /// Whether a thread looks after owners that are stuck beside private work, or one will as soon as any could. Where
    /// the system is known to have no barrier for it, none does. `own` is the caller's seat.
    #[inline]
    pub(crate) fn is_watched(&self, own: Option<&Seat>) -> bool {
        self.looker.sees() || self.will_be_watched(own)
    }

    /// From now on the looker is to look as often as in a pool that is at work, though it is at rest.
    #[cold]
    pub(crate) fn hurry_looker(&self) {
        if self.looker.hurry()
            && let Some(seat) = self.looker.seat()
        {
            self.seats[seat].idle_parker().unpark();
        }
    }

    /// Whether no thread sleeps that could look after others; then the next thread that goes to
    /// sleep does. A thread that sleeps below a guest can do nothing for them until the guest
    /// leaves, so guests are asked to take care of it. A caller without a seat cannot be sure of
    /// the present state of the seats.
    #[cold]
    fn will_be_watched(&self, own: Option<&Seat>) -> bool {
        if barrier::is_refused() {
            return false;
        }
        // The words of the census are enough, in most cases. (Loops that are short call others often, and the seats of a large
        // pool are many lines.)
        if let Some(is) = own.and_then(|own| self.sleep.ask_others(&self.seats, own)) {
            return is;
        }
        let is_own = |seat: &&Seat| own.is_some_and(|own| own.index == seat.index);
        let mut guests = false;
        for other in self.seats.iter().filter(|seat| !is_own(seat)) {
            match other.word.load().holder() {
                Holder::Parked => return false,
                Holder::Guest | Holder::Lent => guests = true,
                _ => {}
            }
        }
        if !guests {
            return true;
        }
        // SeqCst: as in `ask_others`.
        fence(Ordering::SeqCst);
        let others = self.seats.iter().filter(|seat| !is_own(seat));
        own.is_some() && self.sleep.ask_guests(others)
    }

    /// Whether threads are at work beside this seat, and no thread looks after them.
    pub(super) fn lacks_looker(&self, own: &Seat) -> bool {
        let works = |other: &Seat| {
            let idle = matches!(
                other.word.load().holder(),
                Holder::Parked | Holder::Vacant | Holder::Closed
            );
            other.index != own.index && !idle
        };
        self.looker.seat().is_none() && self.seats.iter().any(works)
    }

    /// A guest has taken the seat of the calling thread. So another thread must find whatever this
    /// thread was relied on to find. `news` says whether there is anything.
    pub(crate) fn displaced(&self, news: impl FnOnce() -> bool) {
        self.sleep.before_last_look();
        if news() {
            self.wake_one();
        }
    }

    /// Wakes the threads that wait for work that this seat has just published.
    pub(crate) fn wake_waiters(&self, seat: &Seat) {
        let names = seat.take_waiters();
        // Checked first: in most cases there are none.
        if names != 0 {
            self.named(names)
                .for_each(|other| _ = other.wait_parker().unpark());
        }
    }

    /// A part of a loop has been done on that seat, and the thread that waits for it is about to be
    /// told. If that thread sleeps, the loop is running out of work, and the thread will soon be
    /// done with its own part. So the thread that waits for it in turn is woken now; otherwise it
    /// would begin to wake only when the thread below it has come. Threads further up are not
    /// woken: otherwise each part that ends would wake them all.
    ///
    /// This is a guess: a thread named here may wait for what lies below that part, or hold an old
    /// token. Then it is woken in vain, looks around and sleeps again.
    #[cold]
    pub(super) fn rouse(&self, seat: &Seat) {
        for told in self
            .named(seat.waiters())
            .filter(|w| w.wait_parker().is_in_use())
        {
            self.named(told.waiters())
                .for_each(|next| next.wait_parker().rouse());
        }
    }

    /// The seats that are meant by such names of waiters.
    fn named(&self, names: u64) -> impl Iterator<Item = &Seat> {
        let meant = move |place: &usize| names >> (place % 64) & 1 == 1;
        let places = (0..self.seats.count()).filter(meant);
        places.map(|place| &self.seats[place])
    }

    /// Puts a letter into the box of each seat but `own`, and makes sure that the seat's thread
    /// reads it. Returns the seats that have no thread: their letters lie there too, for the caller
    /// to read.
    ///
    /// Waking a thread is a call to the system, which takes some microseconds. So the poster delivers all letters first, and
    /// promises their seats to the threads that sleep. Only then does it call these threads, and each thread that comes to
    /// its letter calls two others before it reads: the number of threads that call doubles with each journey. Nothing
    /// depends on such a helper. The poster itself goes on until every thread has been called, and a helper that has
    /// taken a call makes it at once.
    #[must_use]
    pub(crate) fn deliver_all(
        &self,
        own: Option<usize>,
        letter: impl Fn(usize) -> Parcel,
    ) -> Vec<usize> {
        let mut alone = Vec::new();
        // The last seat first: when a thread comes, the seats that it helps with already have their letters.
        for index in (0..self.len()).rev().filter(|index| Some(*index) != own) {
            if !self.deliver(index, letter(index)) {
                alone.push(index);
            }
        }
        for seat in self.seats.first() {
            Self::call_if_owed(seat);
        }
        alone
    }

    /// Calls the threads of two seats, the ones below `seat` in a tree of all seats, where these are yet to be called.
    pub(super) fn call_two(&self, seat: &Seat) {
        let two = self.seats.first().iter().skip(2 * seat.index + 1).take(2);
        two.for_each(Self::call_if_owed);
    }

    fn call_if_owed(seat: &Seat) {
        if seat.take_call() {
            Self::call(seat);
        }
    }

    /// Puts a letter into a seat's box. The seat's thread reads it, once it has been called if a call is owed. False if there
    /// is no such thread.
    fn deliver(&self, index: usize, letter: Parcel) -> bool {
        let seat = &self.seats[index];
        self.desks[index].mailbox.push(letter);
        loop {
            if !seat.thread.exists() {
                return false;
            }
            match self.sleep.post_letter(seat) {
                Posted::NoThread => return false,
                Posted::Asleep => {
                    if !self.sleep.take(seat, Step::Wake) {
                        continue;
                    }
                    if !self.is_awaited(seat) {
                        seat.owe_call();
                    } else if !self.ring(seat) {
                        return false;
                    }
                }
                // A thread is about to be started, and may be refused: then the caller has to handle the
                // letter.
                Posted::Up(Holder::Notified) if self.is_awaited(seat) => yield_now(),
                // The holder may be waiting for something.
                Posted::Up(_) => {
                    seat.wait_parker().unpark();
                    return true;
                }
            }
        }
    }

    /// Whether the thread of this seat was never asked for.
    pub(super) fn is_new(&self, seat: &Seat) -> bool {
        (self.is_spare(seat) || self.starter.is_some()) && seat.thread.is_new()
    }

    /// Whether the thread of this seat has never been there.
    fn is_awaited(&self, seat: &Seat) -> bool {
        self.starter.is_some() && !seat.thread.is_there()
    }

    /// Rouses the thread of a seat that is NOTIFIED or LENT, starting it if it is not there yet.
    /// False if there is no such thread; a seat that was NOTIFIED is then VACANT, or CLOSED if it is
    /// a spare one, and one that was LENT is the guest's alone.
    pub(crate) fn ring(&self, seat: &Seat) -> bool {
        self.ring_from(seat, Where::Elsewhere)
    }

    /// The same, for a thread that may run there.
    fn ring_from(&self, seat: &Seat, place: Where) -> bool {
        let spare = self.is_spare(seat);
        let starter = if spare {
            self.spare_starter
        } else {
            self.starter
        };
        let start = || starter.is_none_or(|start| start(&self.keep(), seat.index));
        if seat.thread.start_once(start) {
            if place == Where::Elsewhere {
                self.desks[seat.index].place.push_away();
            }
            Self::call(seat);
            return true;
        }
        if self.sleep.take(seat, Step::NoBorrower) {
            self.count_refusal();
        } else if spare {
            self.spares.forget();
            if !self.sleep.take(seat, Step::RefuseSpare) {
                // The thread was there: it has heard that the pool is over, and has gone.
                self.spares.remember();
            }
        } else if self.sleep.take(seat, Step::Refuse) {
            self.count_refusal();
        }
        false
    }

    /// Rouses a thread that is there.
    fn call(seat: &Seat) {
        trace::moment(seat.index, What::Wake(seat.index));
        seat.idle_parker().unpark();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::base::config::Handlers;
    use crate::base::row::Row;
    use crate::seat::Seat;
    use crate::seat::sleep::Sleep;
    use crate::seat::word::{Holder, Step};
    use crate::work::shared::{Plan, Shared};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    /// A pool without threads.
    fn pool(threads: usize) -> Arc<Shared> {
        let plan = Plan {
            threads,
            guests: false,
            greedy: false,
            stack_size: None,
            resident: false,
            starter: None,
            spare_starter: None,
        };
        Shared::new(plan, Handlers::default())
    }

    /// The thread of seat 0 sleeps, that of seat 1 looks for work: on the caller's processor it cannot run, whatever it would do.
    #[test]
    fn a_thread_that_waits_for_the_callers_processor_is_not_relied_on() {
        let woken = |searcher_is_here: bool| {
            let shared = pool(2);
            let holder = |seat: usize| shared.seats[seat].word.load().holder();
            for (seat, step) in [(0, Step::Search), (1, Step::Search), (0, Step::LieDown)] {
                assert!(shared.sleep.take(&shared.seats[seat], step));
            }
            if searcher_is_here {
                shared.desks[1].place.note();
            }
            assert_eq!([0, 1].map(holder), [Holder::Parked, Holder::Searching]);
            shared.announce_tasks();
            match holder(0) {
                Holder::Parked => false,
                Holder::Notified => true,
                other => panic!("{other:?}"),
            }
        };
        assert!(!woken(false));
        // The test's thread may be moved in between, but not each time. If the system does not tell the
        // processor, none is found.
        let found = (0..100).any(|_| woken(true));
        assert_eq!(found, pool(1).desks[0].place.is_told());
    }

    #[test]
    fn of_sleeping_threads_one_is_woken_for_a_task() {
        let shared = pool(2);
        for step in [Step::Search, Step::LieDown] {
            (0..2).for_each(|seat| assert!(shared.sleep.take(&shared.seats[seat], step)));
        }
        shared.announce_tasks();
        let woken = |seat: &&Seat| seat.word.load().holder() == Holder::Notified;
        assert_eq!(shared.seats.iter().filter(woken).count(), 1);
    }

    /// Seat 1 waits for seat 0, and 2 for 1, and 66, of the same name, too. Seat 3 waits for 2, which is too far up. Seat 4,
    /// which waits for 0, is awake, so seat 5, which waits for it, sleeps on.
    #[test]
    fn a_sleeper_above_a_woken_waiter_is_woken() {
        let shared = pool(70);
        let parker = |seat: usize| shared.seats[seat].wait_parker();
        for (seat, waiter) in [(0, 1), (0, 4), (1, 2), (2, 3), (3, 0), (4, 5)] {
            shared.seats[seat].add_waiter(waiter);
        }
        // Parkers come from a list, and may hold tokens that another pool has left.
        for seat in 0..70 {
            parker(seat).unpark();
            parker(seat).park();
        }
        // Seat 1 sleeps or has just been told: a token says the same here.
        parker(1).unpark();
        let long = Duration::from_secs(60);
        std::thread::scope(|s| {
            let woken = [2, 66].map(|seat| s.spawn(move || parker(seat).park_timeout(long)));
            let others = [3, 5].map(|seat| s.spawn(move || parker(seat).park_timeout(long)));
            let begun = Instant::now();
            let asleep = || [2, 66, 3, 5].iter().all(|&seat| parker(seat).is_in_use());
            while !asleep() && begun.elapsed() < long {
                std::thread::yield_now();
            }
            shared.rouse(&shared.seats[0]);
            let woken = woken.map(|thread| thread.join().unwrap());
            // All of them end, whatever the result.
            let left = [3, 5].map(|seat| parker(seat).unpark());
            others.into_iter().for_each(|thread| _ = thread.join());
            assert_eq!((woken, left), ([true; 2], [true; 2]));
        });
        parker(1).park();
        // No token is left with a thread that does not sleep.
        assert!(!parker(4).is_in_use() && !parker(0).is_in_use());
    }

    /// Where no thread looks after the others, the next thread that goes to sleep will, unless one sleeps already.
    #[test]
    fn the_next_thread_that_sleeps_looks_after_the_others() {
        let shared = pool(40);
        let step = |seat: usize, step| assert!(shared.sleep.take(&shared.seats[seat], step));
        let seat = |index: usize| Some(&shared.seats[index]);
        let is_asked = |index: usize| shared.seats[index].word.load().is_asked_for();
        assert!(shared.is_watched(seat(0)), "all are awake");
        step(1, Step::Search);
        assert!(shared.is_watched(seat(0)), "this one may sleep soon");
        step(1, Step::Displace);
        assert!(shared.is_watched(seat(1)));
        assert!(!is_asked(1), "only the guest's own thread sleeps");
        assert!(!shared.is_watched(None));
        assert!(shared.is_watched(seat(0)));
        assert!(is_asked(1), "to take care of it");
        for guest in [17, 33] {
            step(guest, Step::Search);
            step(guest, Step::Displace);
        }
        assert!(shared.is_watched(seat(17)) && is_asked(33));
        assert!(!is_asked(17), "it asks itself nothing");
        assert!(shared.is_watched(seat(1)) && is_asked(17));
        assert!(
            [0, 1, 17, 33]
                .iter()
                .all(|&own| shared.is_watched(seat(own)))
        );
        step(2, Step::Search);
        step(2, Step::LieDown);
        let watched = [0, 1].map(|own| shared.is_watched(seat(own)));
        assert_eq!(watched, [false; 2], "this one sleeps, and looks after none");
        assert!(shared.looker.try_become(&shared.seats[2]) && shared.is_watched(seat(0)));
    }

    /// A guest on a seat without a thread has none below it.
    #[test]
    fn a_guest_alone_is_not_above_the_only_sleeper() {
        let shared = pool(2);
        let step = |seat: usize, step| assert!(shared.sleep.take(&shared.seats[seat], step));
        for (seat, way) in [
            (0, Step::Go),
            (0, Step::SitAlone),
            (1, Step::Search),
            (1, Step::LieDown),
        ] {
            assert!(shared.is_watched(Some(&shared.seats[0])));
            step(seat, way);
        }
        assert!(!shared.is_watched(Some(&shared.seats[0])));
    }

    /// Spare seats share the hints of others: then the seats themselves tell.
    #[test]
    fn a_sleeper_behind_the_hint_of_another_is_seen() {
        let sleep = Sleep::new(16, 0);
        let seats = Row::new((0..33).map(|index| Seat::new(index, 33, Holder::Awake)));
        let step = |seat: usize, step| assert!(sleep.take(&seats[seat], step));
        let asks = || sleep.ask_others(&seats, &seats[0]);
        for guest in [4, 5] {
            step(guest, Step::Search);
            step(guest, Step::Displace);
            assert_eq!(asks(), Some(true));
        }
        // This one shares the bit of the guest on 4, whose bit then looks like that on 5, and so on.
        step(20, Step::Search);
        step(20, Step::LieDown);
        assert_eq!(asks(), None);
        step(20, Step::Wake);
        assert_eq!(asks(), Some(true));
        // The seat with this hint is held.
        step(22, Step::Search);
        step(22, Step::LieDown);
        assert_eq!(asks(), None);
        step(6, Step::Search);
        step(6, Step::LieDown);
        assert_eq!(asks(), None);
    }
}
