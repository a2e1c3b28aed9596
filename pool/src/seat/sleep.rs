//! The census of a pool's threads: how many look for work, how many sleep, and which is to be woken.
//!
//! The guarantee rests on this, not on any counter: **a thread that goes to sleep registers
//! everything, fences, and looks everywhere; a thread that posts work pushes it, fences, and reads
//! the census.** If two threads do so at the same time, at least one sees the other. A thread that
//! spawns leaves its fence out in a lull, which the thread that goes to sleep ends: `lull.rs`.
//!
//! The census counts the threads that are `inactive` (without work), and those of them that are
//! `sleeping`; each change is one addition. The difference is the number of threads that search. While
//! there is one, no thread need be woken, because each searcher either finds work (and then looks for
//! more and hands the wake on) or registers and looks. For that to hold the number must never be too
//! high: `word.rs` has the table of what each step counts, and when.
//!
//! A single searcher at a time would wake a large pool one thread after the other. So as many may
//! search, or be on their way, as are at work: each thread at work can have one of its own, and the
//! number of those at work doubles with each journey. A loop or a join that is worth it has several on
//! their way.
//!
//! A thread whose seat was taken by a guest while it searched is *displaced*: it fences, looks
//! everywhere, wakes another thread if there is work, and then sleeps like any other. The guest has
//! registered it.
//!
//! Each group of seats has a word of its own. A thread is counted only in the word of its seat's
//! group. All that is said here about two threads holds for the word of one of them, so a census is
//! read word by word. With a single word, each of 128 threads that end their search at once would
//! wait for all threads that read it.
//!
//! A word has a bit for each of its seats besides, which says that the seat's thread sleeps, perhaps below a guest.
//! That is a hint for finding one quickly: spare seats share the bits of others. The seats' words decide.
//!
//! Nothing here wakes a thread: [`Sleep::choose`] gives a seat whose thread the caller is to rouse.
#![forbid(unsafe_code)]

use super::Seat;
use super::lull::Lull;
use super::word::{Holder, Posted, Step};
#[cfg(not(loom))]
use crate::base::barrier::everywhere_or_later;
use crate::base::row::Row;
use crate::base::sync::{AtomicU64, CachePadded, Ordering, fence};

const SLEEPING: u64 = 1;
const INACTIVE: u64 = 1 << 16;
/// Counts lie below this bit, hints from it on.
const HINTS: u32 = 32;

/// The number of seats in a group, and the greatest number of groups. Further seats share the words of these.
#[cfg(not(loom))]
const GROUP: usize = 16;
#[cfg(loom)]
const GROUP: usize = 1;
const GROUPS: usize = 8;
/// The hints of a group, where they are the lowest bits; and the counts.
const ALL: u64 = (1 << GROUP) - 1;
const COUNTS: u64 = (1 << HINTS) - 1;

/// This number of searching threads is enough for a task, whatever the others do.
const ENOUGH: usize = if cfg!(any(loom, all(tine_sched, not(tine_lab)))) {
    1
} else {
    4
};

/// One reading of the counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Census(u64);

impl Census {
    /// Threads that are registered as asleep; some may have a guest on their seat.
    pub(crate) fn sleeping(self) -> usize {
        (self.0 & 0xffff) as usize
    }
    /// Threads without work.
    pub(crate) fn inactive(self) -> usize {
        (self.0 >> 16) as usize
    }
    /// Threads that look for work.
    pub(crate) fn searching(self) -> usize {
        self.inactive().saturating_sub(self.sleeping())
    }
    /// Whether one of `threads` threads is to be woken for work on offer, where each that is at work may
    /// have this number `each` on their way.
    pub(crate) fn wants_more(self, threads: usize, each: usize) -> bool {
        self.wants_more_beside(0, threads, each)
    }
    /// The same, where that number of searching threads, `hidden`, is not to be relied on.
    pub(crate) fn wants_more_beside(self, hidden: usize, threads: usize, each: usize) -> bool {
        let at_work = threads.saturating_sub(self.inactive());
        let searching = self.searching().saturating_sub(hidden);
        self.sleeping() > 0 && searching < each * at_work.max(1)
    }
}

/// How an attempt to lie down ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bedtime {
    /// The seat is still SEARCHING: there is news.
    News,
    /// Registered, on a seat that is PARKED: look everywhere once more, then tell
    /// [`Sleep::after_last_look`].
    Down,
    /// The seat is promised to the thread already: sleep until it is NOTIFIED.
    Block,
    /// A guest has the seat, or it was closed: make sure that another thread finds what this one
    /// would have found, then sleep until the seat is NOTIFIED.
    Displaced,
}

/// What is to be done by a guest that has left its seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing.
    Quietly,
    /// The seat's thread is to be roused.
    Notified,
    /// The seat has no thread.
    Alone,
}

/// The census, and the hints. The number of words is a power of two.
#[derive(Debug)]
pub(crate) struct Sleep {
    counters: Box<[CachePadded<AtomicU64>]>,
    pub(crate) lull: Lull,
    /// Whether there are more than [`FEW`] seats.
    many: bool,
}

/// In a pool of more than this many seats, a poster first checks whether there is a sleeper that it
/// can wake. In smaller pools the walk that this saves is just as short.
const FEW: usize = if cfg!(all(tine_sched, not(tine_lab))) {
    1
} else {
    8
};

/// What the thread of this seat adds that sleeps.
#[inline(always)]
fn sleeper(index: usize) -> u64 {
    SLEEPING | 1 << (HINTS as usize + index % GROUP)
}

/// The places of the hints of a group that are set.
#[inline]
fn bits(hints: u64) -> impl Iterator<Item = usize> {
    let mut left = hints & ALL;
    std::iter::from_fn(move || {
        let i = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(i)
    })
}

/// The counts in a group's word.
#[inline(always)]
fn counts(word: &AtomicU64) -> u64 {
    // Relaxed, here and below: only the order of changes of each word matters, and the fences around them.
    word.load(Ordering::Relaxed) & COUNTS
}

impl Sleep {
    /// For `seats` seats, the first of whose threads are `asleep` (not started yet), the others awake. Spare seats
    /// may come later.
    pub(crate) fn new(seats: usize, asleep: usize) -> Self {
        let groups = seats.div_ceil(GROUP).next_power_of_two().min(GROUPS);
        let none = |_| CachePadded::new(AtomicU64::new(0));
        let sleep = Self {
            counters: (0..groups).map(none).collect(),
            lull: Lull::new(),
            many: seats > FEW,
        };
        (0..asleep).for_each(|index| sleep.add(index, INACTIVE + sleeper(index)));
        sleep
    }

    /// As in a pool of many seats.
    #[cfg(loom)]
    pub(crate) fn of_many(mut self) -> Self {
        self.many = true;
        self
    }

    /// The counters as they seem to be.
    #[inline]
    pub(crate) fn census(&self) -> Census {
        // The first counter separately: in a small pool it is the only one, and each spawn reads it.
        let (first, others) = self.counters.split_first().expect("at least one");
        let mut all = counts(first);
        for word in others {
            all += counts(word);
        }
        Census(all)
    }

    /// Where the counts are not what the seats add up to, once no thread is left.
    #[cfg(tine_sched)]
    pub(crate) fn miscount<'a>(&self, seats: impl IntoIterator<Item = &'a Seat>) -> Option<String> {
        let mut added = (0, 0);
        for seat in seats {
            let (inactive, sleeping) = seat.word.load().holder().census();
            added = (added.0 + inactive as usize, added.1 + sleeping as usize);
        }
        let census = self.census();
        let counted = (census.inactive(), census.sleeping());
        (counted != added)
            .then(|| format!("inactive and sleeping {counted:?}, by the seats {added:?}"))
    }

    // ---- steps ------------------------------------------------------------------------------

    /// Takes a step of the table, if the seat is where it begins, and counts it.
    #[inline(always)]
    pub(crate) fn take(&self, seat: &Seat, step: Step) -> bool {
        let row = step.row();
        let ((inactive, sleeping), (still_inactive, still_sleeping)) =
            (row.from.census(), row.to.census());
        let (index, one) = (seat.index, sleeper(seat.index));
        let more = |old: u64, new: u64, one: u64| new.saturating_sub(old) * one;
        // Counts are added before the step, and taken away after it.
        let before = more(inactive, still_inactive, INACTIVE) + more(sleeping, still_sleeping, one);
        let after = more(still_inactive, inactive, INACTIVE) + more(still_sleeping, sleeping, one);
        self.add(index, before);
        if !seat.word.step(row) {
            self.sub(index, before);
            return false;
        }
        self.sub(index, after);
        true
    }

    // ---- posting ----------------------------------------------------------------------------

    /// Whether one of `threads` threads is to be woken for work that was pushed just before. The
    /// push is a Release.
    pub(crate) fn post(&self, threads: usize) -> bool {
        // SeqCst: pairs with the fences of threads that go to sleep.
        fence(Ordering::SeqCst);
        self.census().wants_more(threads, 1)
    }

    /// The same for a task of an ordinary thread, which goes on. Where ENOUGH threads search in the groups that it has looked at, it
    /// looks at no other: each of them costs it a miss of the cache for each task.
    pub(crate) fn post_task(&self, threads: usize) -> bool {
        // SeqCst: as in `post`.
        fence(Ordering::SeqCst);
        let mut all = Census(0);
        for word in &self.counters {
            all.0 += counts(word);
            if all.searching() >= ENOUGH {
                return false;
            }
        }
        all.wants_more(threads, 1)
    }

    /// A letter lies in this seat's box: raises the flag. The answer says which thread comes to it.
    pub(crate) fn post_letter(&self, seat: &Seat) -> Posted {
        let posted = seat.word.post();
        // A thread that has announced itself looks at its word once more before it sleeps, and cannot lie down
        // while the flag is up: no counter is needed for that.
        posted
    }

    /// The seat of a thread to be woken, if one sleeps and too few search: it is NOTIFIED. The look
    /// for it begins at the seat `from`, so that threads that wake others do not all meet at one.
    /// `last` is woken only if there is no other. If guests have all seats, each guest is asked to
    /// take care of it when it leaves: it is not known which guest will leave first, or at all. For
    /// `hidden` see [`Census`].
    pub(crate) fn choose<'a>(
        &'a self,
        seats: &'a Row<Seat>,
        from: usize,
        last: Option<usize>,
        each: usize,
        hidden: usize,
    ) -> Option<&'a Seat> {
        loop {
            let census = self.census();
            let wanted = census.wants_more_beside(hidden, seats.first().len(), each);
            if !wanted || (self.many && self.all_are_asked(seats)) {
                return None;
            }
            let (mut spared, mut searched) = (None, false);
            let all = seats.iter().skip(from).chain(seats.iter().take(from));
            for seat in self.hinted(seats, from).chain(all) {
                match seat.word.load().holder() {
                    Holder::Parked if last == Some(seat.index) => spared = Some(seat),
                    Holder::Parked if self.take(seat, Step::Wake) => return Some(seat),
                    Holder::Searching | Holder::Notified => searched = true,
                    // Another thread was faster. Either it woke the sleeper, which then searches, or it is a
                    // guest there, and is asked below.
                    Holder::Parked => {}
                    Holder::Guest | Holder::Lent => {}
                    Holder::Awake | Holder::Alone | Holder::Vacant | Holder::Closed => {}
                }
            }
            match spared {
                Some(seat) if self.take(seat, Step::Wake) => return Some(seat),
                Some(_) => {}
                None if searched || self.ask_guests(seats) => return None,
                None => {}
            }
        }
    }

    /// Whether all that sleep do so below guests that have been asked already, as it often is where a guest has spawned. A guest
    /// that the census does not count took the seat of a thread that searched, which sees to what was posted.
    fn all_are_asked(&self, seats: &Row<Seat>) -> bool {
        let is_asked = |seat: &Seat| {
            let state = seat.word.load();
            state.is_above_its_thread() && state.is_asked_for()
        };
        self.by_hints(seats, |seat| is_asked(seat).then_some(()))
            .is_some()
    }

    /// Asks all guests to take care of it when they leave, but the guest on the caller's `own` seat. False if another thread
    /// sleeps, and no guest lies above it; `None` if the hints do not tell. No guest that was asked leaves without a look at the
    /// caller's seat.
    pub(crate) fn ask_others(&self, seats: &Row<Seat>, own: &Seat) -> Option<bool> {
        let state = own.word.load();
        if state.is_visited() {
            if state.is_above_its_thread() && self.census().sleeping() == 1 {
                return Some(true);
            }
            // SeqCst: pairs with the fence in `stand_up_asked`. Either a guest that was asked before and leaves
            // sees that the caller's seat is held, or this thread sees that the guest is no longer asked.
            // (A thread has fenced when it got up, in `end_search`.)
            fence(Ordering::SeqCst);
        }
        // None is asked in vain: a guest that was asked has more to do when it leaves.
        let (mut sleeps, mut unasked) = (false, false);
        let by_hints = self.by_hints(seats, |seat| {
            let state = seat.word.load();
            sleeps = state.holder() == Holder::Parked;
            unasked |= !state.is_asked_for() && seat.index != own.index;
            state.is_above_its_thread().then_some(())
        });
        match by_hints {
            Some(()) if unasked => {
                let others = |seat: &&Seat| seat.index != own.index;
                Some(self.ask_guests(seats.iter().filter(others)))
            }
            Some(()) => Some(true),
            None if sleeps => Some(false),
            None => None,
        }
    }

    /// Calls `each` for the seats whose threads sleep, by the hints, until it returns `None`. `None` too if the hints do not
    /// name all of them.
    fn by_hints(&self, seats: &Row<Seat>, mut each: impl FnMut(&Seat) -> Option<()>) -> Option<()> {
        for (start, word) in (0..).step_by(GROUP).zip(&self.counters) {
            let word = word.load(Ordering::Relaxed);
            let mut unseen = Census(word & COUNTS).sleeping();
            for i in bits(word >> HINTS) {
                seats.get(start + i).and_then(&mut each)?;
                // Spare seats share bits: then there are fewer of these than sleepers.
                unseen = unseen.wrapping_sub(1);
            }
            if unseen != 0 {
                return None;
            }
        }
        Some(())
    }

    /// Asks all guests to see to what was posted when they leave. False if one has left meanwhile.
    pub(crate) fn ask_guests<'a>(&self, seats: impl IntoIterator<Item = &'a Seat>) -> bool {
        seats.into_iter().all(|seat| {
            let state = seat.word.load();
            match state.holder() {
                Holder::Guest | Holder::Lent => state.is_asked_for() || seat.word.ask(),
                // The guest has left meanwhile.
                Holder::Parked => false,
                _ => true,
            }
        })
    }

    // ---- the thread of a seat ---------------------------------------------------------------

    /// From SEARCHING to AWAKE, before any work is taken. False if displaced. When true, the
    /// caller takes what it can, and looks for more unless others still search.
    pub(crate) fn end_search(&self, seat: &Seat) -> bool {
        let awake = self.take(seat, Step::Begin);
        if awake {
            // SeqCst: pairs with the fence in `post`: the look that follows sees the work of a poster that
            // still counted this thread as searching. And with that in `stand_up_asked`: see `ask_others`.
            fence(Ordering::SeqCst);
        }
        awake
    }

    /// From SEARCHING to PARKED.
    pub(crate) fn lie_down(&self, seat: &Seat) -> Bedtime {
        if self.take(seat, Step::LieDown) {
            return Bedtime::Down;
        }
        if seat.word.load().holder() == Holder::Searching {
            return Bedtime::News;
        }
        // The guest has already counted this thread.
        Bedtime::Displaced
    }

    /// The last look has found work, or not.
    pub(crate) fn after_last_look(&self, seat: &Seat, found: bool) -> Bedtime {
        if !found {
            return Bedtime::Block;
        }
        if self.take(seat, Step::Rise) {
            return Bedtime::News;
        }
        match seat.word.load().holder() {
            Holder::Notified => Bedtime::Block,
            _ => Bedtime::Displaced,
        }
    }

    /// What comes between lying down, when everything is registered, and the last look; and between the word that
    /// a waiter leaves, and its last look.
    pub(crate) fn before_last_look(&self) {
        // SeqCst: pairs with the fences in `post`, after a spawn, in `publish`, in `Lull::join` and in `owe`.
        fence(Ordering::SeqCst);
        self.lull.end(everywhere_or_later);
    }

    // ---- guests -----------------------------------------------------------------------------

    /// Takes the seat for an ordinary thread.
    #[inline]
    pub(crate) fn sit_down(&self, seat: &Seat) -> bool {
        match seat.word.load().holder() {
            Holder::Parked => self.take(seat, Step::Sit),
            Holder::Searching => self.take(seat, Step::Displace),
            Holder::Vacant => self.take(seat, Step::SitAlone),
            _ => false,
        }
    }

    /// The guest leaves a seat with nothing in its deques. `news` says whether there is anything to do for
    /// the seat's thread. It is called only if a poster has asked for the thread: a poster asks all guests at
    /// once, though one thread may be enough.
    #[inline]
    pub(crate) fn stand_up(&self, seat: &Seat, news: impl FnOnce() -> bool) -> Left {
        if self.take(seat, Step::Leave) {
            return Left::Quietly;
        }
        self.stand_up_asked(seat, news)
    }

    #[cold]
    fn stand_up_asked(&self, seat: &Seat, news: impl FnOnce() -> bool) -> Left {
        let state = seat.word.load();
        if state.is_asked_for() && !state.has_mail() {
            seat.word.lower_wake();
            // SeqCst: pairs with the fence in `post`. If a poster found the flag up, the look sees what it has
            // pushed; any other poster raises the flag again, and then the seat is not left quietly.
            fence(Ordering::SeqCst);
            if !news() && self.take(seat, Step::Leave) {
                return Left::Quietly;
            }
        }
        if self.stand_up_and_wake(seat) {
            Left::Notified
        } else {
            Left::Alone
        }
    }

    /// The guest leaves its seat, and the jobs in its deques, to the seat's thread. True if that is
    /// to be roused: the seat is NOTIFIED then. False on a seat without a thread, which is VACANT.
    #[cold]
    pub(crate) fn stand_up_and_wake(&self, seat: &Seat) -> bool {
        let wake = self.take(seat, Step::LeaveAndWake);
        let left = wake || self.take(seat, Step::LeaveAlone);
        debug_assert!(left, "{:?}", seat.word.load());
        wake
    }

    // ---- within -----------------------------------------------------------------------------

    #[inline(always)]
    fn add(&self, index: usize, what: u64) {
        if what != 0 {
            self.word(index).fetch_add(what, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn sub(&self, index: usize, what: u64) {
        if what != 0 {
            self.word(index).fetch_sub(what, Ordering::Relaxed);
        }
    }

    /// Where the thread of this seat is counted.
    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        &self.counters[(index / GROUP) & (self.counters.len() - 1)]
    }

    /// The seats whose threads sleep by the hints, that of `from` first.
    fn hinted<'a>(&'a self, seats: &'a Row<Seat>, from: usize) -> impl Iterator<Item = &'a Seat> {
        let groups = self.counters.len();
        let starts = (0..groups).map(move |i| (from / GROUP + i) % groups * GROUP);
        let first = from % GROUP;
        let of_group = move |start| {
            let hints = self.word(start).load(Ordering::Relaxed) >> HINTS & ALL;
            // Turned, so that the bit of `from` is the first.
            let turned = hints >> first | hints << (GROUP - first);
            bits(turned).map(move |i| start + (first + i) % GROUP)
        };
        starts.flat_map(of_group).filter_map(|i| seats.get(i))
    }
}

/// In models each push is followed by a fence.
#[cfg(loom)]
fn everywhere_or_later() {
    fence(Ordering::SeqCst);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Bedtime, Row, Seat, Sleep};
    use crate::seat::word::{Holder, Step};

    /// The census after any walk along the table is what the holder stands for.
    #[test]
    fn each_step_counts_what_it_changes() {
        for step in Step::ALL {
            let row = step.row();
            for holder in Holder::ALL {
                let (inactive, sleeping) = holder.census();
                let seat = Seat::new(0, 1, holder);
                let sleep = Sleep::new(1, 0);
                sleep.add(0, inactive * super::INACTIVE + sleeping * super::sleeper(0));
                assert_eq!(sleep.take(&seat, step), holder == row.from);
                let now = seat.word.load().holder().census();
                let census = sleep.census();
                let seen = (census.inactive() as u64, census.sleeping() as u64);
                assert_eq!(seen, now, "{step:?} from {holder:?}");
            }
        }
    }

    /// A census is that of all groups, spare seats among them; a waker begins with its own group, at its own seat.
    #[test]
    fn all_groups_are_counted() {
        let holder = |i| {
            if i < 40 {
                Holder::Parked
            } else {
                Holder::Awake
            }
        };
        let seats = Row::new((0..100).map(|i| Seat::new(i, 100, holder(i))));
        let sleep = Sleep::new(40, 40);
        let woken = |from| {
            sleep
                .choose(&seats, from, None, 100, 0)
                .map(|seat| seat.index)
        };
        assert_eq!(sleep.census().sleeping(), 40);
        assert_eq!(
            (woken(35), woken(35), woken(39)),
            (Some(35), Some(36), Some(39))
        );
        assert_eq!(
            (woken(35), woken(35), woken(35)),
            (Some(37), Some(38), Some(32))
        );
        assert!(sleep.take(&seats[70], Step::Search));
        assert_eq!(
            (sleep.census().sleeping(), sleep.census().searching()),
            (34, 7)
        );
        assert!((0..34).all(|_| woken(99).is_some()) && woken(99).is_none());
        assert_eq!(sleep.census().sleeping(), 0);
    }

    /// A poster of a task looks no further than it takes to see four threads that search, and not at sleepers.
    #[test]
    fn four_that_search_are_enough_for_a_task() {
        let seats = Row::new((0..40).map(|i| Seat::new(i, 40, Holder::Awake)));
        let sleep = Sleep::new(40, 0);
        let search = |from: usize, to: usize| {
            (from..to).for_each(|i| assert!(sleep.take(&seats[i], Step::Search)));
        };
        let posts = || (sleep.post_task(40), sleep.post(40));
        assert_eq!(posts(), (false, false), "none sleeps");
        search(30, 40);
        (34..40).for_each(|i| assert!(sleep.take(&seats[i], Step::LieDown)));
        assert_eq!(posts(), (false, true), "four search, 30 are at work");
        assert!(sleep.take(&seats[30], Step::Begin));
        assert_eq!(posts(), (true, true), "three search");
        search(0, 1);
        assert_eq!(posts(), (false, true), "four of two groups");
    }

    /// A seat whose bit is that of a guest's seat (of the only one, or of all, when the bits overflow), or of a seat whose guest
    /// was asked before it was alone there, is found.
    #[test]
    fn guests_that_were_asked_hide_no_sleeper() {
        for guests in [1, 16] {
            let seats = Row::new((0..17).map(|i| Seat::new(i, 17, Holder::Awake)));
            let sleep = Sleep::new(16, 0);
            let step = |index: usize, step| assert!(sleep.take(&seats[index], step), "{step:?}");
            let woken = || sleep.choose(&seats, 5, None, 100, 0).map(|seat| seat.index);
            for guest in 0..guests {
                step(guest, Step::Search);
                step(guest, Step::Displace);
            }
            assert_eq!((woken(), woken()), (None, None));
            assert!(seats[0].word.load().is_asked_for());
            for alone in [false, true] {
                if alone {
                    step(0, Step::Lend);
                    step(0, Step::NoBorrower);
                }
                step(16, Step::Search);
                step(16, Step::LieDown);
                assert_eq!(woken(), Some(16));
                step(16, Step::Answer);
                step(16, Step::Begin);
            }
        }
    }

    /// A thread that was displaced has to see to it that another one finds what it would have found.
    #[test]
    fn a_guest_in_its_place_is_no_news() {
        let seat = Seat::new(0, 1, Holder::Searching);
        let sleep = Sleep::new(1, 0);
        sleep.add(0, super::INACTIVE);
        assert!(sleep.sit_down(&seat));
        assert_eq!(sleep.lie_down(&seat), Bedtime::Displaced);
    }
}
