//! Going to sleep, and being woken.
//!
//! The guarantee, stronger than any counter: **who goes to sleep registers everything, fences,
//! and looks everywhere; who posts work pushes it, fences, and reads who is registered.** Of
//! two threads that meet like this, at least one sees the other.
//!
//! [`Counters`] holds in one word how many threads are `inactive` (not working), how many of
//! those are `sleeping`, and the jobs event counter (JEC). The difference of the first two is
//! the number of threads that search; while there is one, nobody is woken, because each of them
//! either finds work (and then looks for more and hands the wake on) or registers and looks.
//! For that to hold the number must never be too high:
//!
//! * a thread counts itself `sleeping` before it moves its seat to PARKED;
//! * a guest that takes the seat of a searching thread counts it `sleeping` before it does so;
//! * whoever moves a seat from PARKED to NOTIFIED or SEARCHING, and nobody else, counts down
//!   `sleeping`, after it has done so.
//!
//! The JEC spares needless looks. Even: somebody announced itself sleepy since the last post.
//! Odd: work was posted since. *Announcing makes an odd counter even, posting makes an even
//! counter odd*, so a post between announcement and sleep always changes it.
//!
//! A thread whose seat was taken by a guest while it searched is *displaced*: it fences, looks
//! everywhere, wakes somebody if there is work, and then sleeps like any other, having been
//! registered by the guest.
//!
//! The bitmap of parked seats is a hint for finding one quickly. The seats' words decide.
#![forbid(unsafe_code)]

use crate::row::Row;
use crate::seat::{Holder, Seat};
use crate::sync::{AtomicU64, AtomicUsize, CachePadded, Ordering, fence};

const SLEEPING: u64 = 1;
const INACTIVE: u64 = 1 << 16;
const JEC: u64 = 1 << 32;

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
        (self.0 >> 16 & 0xffff) as usize
    }
    /// Threads that look for work.
    pub(crate) fn searching(self) -> usize {
        self.inactive().saturating_sub(self.sleeping())
    }
    /// The jobs event counter.
    fn jec(self) -> u32 {
        (self.0 >> 32) as u32
    }
    fn with_next_jec(self) -> Self {
        Self(self.0.wrapping_add(JEC))
    }
}

/// What a sleepy thread remembers: the JEC when it announced itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Announced(u32);

/// How going to sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bedtime {
    /// The seat is SEARCHING again: there is work, or there was news.
    Search,
    /// Registered, and nothing seen: block until the seat is NOTIFIED.
    Block,
}

/// How a thief of idleness is counted and found.
#[derive(Debug)]
pub(crate) struct Sleep {
    counters: CachePadded<AtomicU64>,
    parked: Box<[AtomicU64]>,
    /// What a wake-up costs its caller, in nanoseconds: a moving average.
    wake_cost: AtomicU64,
    /// How long somebody who is woken takes to come, in nanoseconds: a moving average.
    delay: AtomicU64,
    /// When the last wake-up for a loop or a join was begun, until its thread has come, in ticks.
    rung: AtomicU64,
    /// When a loop last did without one, in ticks.
    spared: AtomicU64,
    /// One more than the index of the seat whose thread looks after the others, 0 for none.
    looker: AtomicUsize,
}

/// Brings a moving average nearer to what was seen, by one part in so many.
fn average(of: &AtomicU64, parts: u64, seen: u64) {
    let old = of.load(Ordering::Relaxed);
    of.store((old * (parts - 1) + seen) / parts, Ordering::Relaxed);
}

impl Sleep {
    /// For so many seats, all of whose threads are `asleep` (not started yet) or awake.
    pub(crate) fn new(seats: usize, asleep: usize) -> Self {
        let asleep = asleep as u64;
        Self {
            counters: CachePadded::new(AtomicU64::new(asleep * (SLEEPING + INACTIVE))),
            parked: (0..seats.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            wake_cost: AtomicU64::new(10_000),
            delay: AtomicU64::new(15_000),
            rung: AtomicU64::new(0),
            spared: AtomicU64::new(0),
            looker: AtomicUsize::new(0),
        }
    }

    /// The counters as they seem to be.
    #[inline]
    pub(crate) fn census(&self) -> Census {
        Census(self.counters.load(Ordering::Relaxed))
    }

    // ---- posting ----------------------------------------------------------------------------

    /// Tells sleepers of work that was pushed just before; says whether somebody is to be woken
    /// for it. The push is a Release.
    pub(crate) fn post(&self) -> bool {
        // SeqCst: pairs with the fences of those who go to sleep.
        fence(Ordering::SeqCst);
        let mut census = self.census();
        if census.inactive() == 0 {
            return false;
        }
        while census.jec().is_multiple_of(2) {
            match self.exchange(census, census.with_next_jec()) {
                Ok(()) => break,
                Err(now) => census = now,
            }
        }
        census.sleeping() > 0 && census.searching() == 0
    }

    /// Wakes one thread if one sleeps and none searches. `ring` rouses the thread of a seat that
    /// is NOTIFIED; if it says false, there is no such thread (the seat is VACANT by then), and
    /// another is tried. Says whether somebody was roused.
    pub(crate) fn wake_one(&self, seats: &Row<Seat>, ring: impl Fn(&Seat) -> bool) -> bool {
        loop {
            let census = self.census();
            if census.sleeping() == 0 || census.searching() > 0 {
                return false;
            }
            let mut guest = None;
            let mut looker = None;
            let mut pending = false;
            let mut missed = false;
            for seat in self.hinted(seats).chain(seats) {
                match seat.word.load() {
                    // The one who looks after the others is woken when there is no other.
                    Holder::Parked if self.looks_after(seat) => looker = Some(seat),
                    Holder::Parked if self.notify(seat) => {
                        if ring(seat) {
                            return true;
                        }
                        missed = true;
                    }
                    Holder::Parked => missed = true,
                    Holder::Searching | Holder::Notified => return false,
                    Holder::Guest => guest = Some(seat),
                    Holder::GuestPending | Holder::Lent => pending = true,
                    Holder::Awake | Holder::Vacant | Holder::Closed => {}
                }
            }
            if let Some(seat) = looker.filter(|_| !missed) {
                if self.notify(seat) && ring(seat) {
                    return true;
                }
                continue;
            }
            if missed {
                continue;
            }
            match guest {
                _ if pending => return false,
                Some(seat) if seat.word.step(Holder::Guest, Holder::GuestPending) => return false,
                Some(_) => continue,
                None => return false,
            }
        }
    }

    /// Claims the right to wake this seat's thread.
    pub(crate) fn notify(&self, seat: &Seat) -> bool {
        let claimed = seat.word.step(Holder::Parked, Holder::Notified);
        if claimed {
            self.sub(SLEEPING);
            self.hint(seat.index, false);
        }
        claimed
    }

    /// What a wake-up costs its caller here, in nanoseconds.
    pub(crate) fn wake_cost(&self) -> u64 {
        self.wake_cost.load(Ordering::Relaxed)
    }

    /// Notes what one has cost. An interrupted one counts as at most twice the average.
    pub(crate) fn record_wake(&self, nanos: u64) {
        average(&self.wake_cost, 8, nanos.min(self.wake_cost() * 2).max(100));
    }

    /// Notes that one begins, or that it did not come to one (0).
    pub(crate) fn ring_at(&self, ticks: u64) {
        self.rung.store(ticks, Ordering::Relaxed);
    }

    /// When the wake-up was begun that roused the calling thread, if that is known.
    pub(crate) fn rung_at(&self) -> Option<u64> {
        match self.rung.load(Ordering::Relaxed) {
            0 => None,
            _ => Some(self.rung.swap(0, Ordering::Relaxed)).filter(|&at| at != 0),
        }
    }

    /// How long somebody who is woken takes to come, in nanoseconds.
    pub(crate) fn delay(&self) -> u64 {
        self.delay.load(Ordering::Relaxed)
    }

    /// Notes how long somebody took. One who was held up counts as at most four times the average.
    pub(crate) fn record_delay(&self, nanos: u64) {
        average(&self.delay, 4, nanos.min(self.delay() * 4).max(1_000));
    }

    /// Notes that a loop does without a wake-up at this time, since nobody would come early
    /// enough; gives the time when the last one did. The average falls a little, so that what
    /// was learnt in a bad hour is looked at again.
    pub(crate) fn spare(&self, now: u64) -> u64 {
        let old = self.delay();
        self.delay.store(old - old / 256, Ordering::Relaxed);
        self.spared.swap(now, Ordering::Relaxed)
    }

    // ---- the thread of a seat ---------------------------------------------------------------

    /// From AWAKE to SEARCHING.
    pub(crate) fn start_search(&self, seat: &Seat) {
        self.add(INACTIVE);
        let old = seat.word.swap(Holder::Searching);
        debug_assert!(old == Holder::Awake);
    }

    /// From SEARCHING to AWAKE, before any work is taken. False if displaced. When true, the
    /// caller takes what it can, and looks for more unless others still search.
    pub(crate) fn end_search(&self, seat: &Seat) -> bool {
        let awake = seat.word.step(Holder::Searching, Holder::Awake);
        if awake {
            self.sub(INACTIVE);
            // SeqCst: pairs with the fence in `post`: a poster that still counted this thread
            // as searching is seen by the look that follows.
            fence(Ordering::SeqCst);
        }
        awake
    }

    /// The thread is sleepy: it will look once more and then go to bed.
    pub(crate) fn announce(&self) -> Announced {
        let mut census = self.census();
        while census.jec() % 2 == 1 {
            match self.exchange(census, census.with_next_jec()) {
                Ok(()) => census = census.with_next_jec(),
                Err(now) => census = now,
            }
        }
        Announced(census.jec())
    }

    /// From SEARCHING to PARKED, unless work was posted since the announcement or is seen by
    /// `look`, which looks at everything that a woken thread could take. `arm` is called once
    /// the thread is registered.
    pub(crate) fn go_to_bed(
        &self,
        seat: &Seat,
        announced: Announced,
        arm: impl FnOnce(),
        look: impl Fn() -> bool,
        wake: impl Fn(),
    ) -> Bedtime {
        let mut census = self.census();
        loop {
            if census.jec() != announced.0 {
                return Bedtime::Search;
            }
            match self.exchange(census, Census(census.0 + SLEEPING)) {
                Ok(()) => break,
                Err(now) => census = now,
            }
        }
        if !seat.word.step(Holder::Searching, Holder::Parked) {
            // Displaced: the guest has counted this thread already.
            self.sub(SLEEPING);
            return self.displaced(look, wake);
        }
        self.hint(seat.index, true);
        arm();
        // SeqCst: pairs with the fence in `post`. All registration is done.
        fence(Ordering::SeqCst);
        if !look() {
            return Bedtime::Block;
        }
        if self.rise(seat) {
            return Bedtime::Search;
        }
        if seat.word.load() == Holder::Notified {
            return Bedtime::Block;
        }
        self.displaced(look, wake)
    }

    /// From PARKED back to SEARCHING of the thread's own accord. False if somebody was faster.
    pub(crate) fn rise(&self, seat: &Seat) -> bool {
        let risen = seat.word.step(Holder::Parked, Holder::Searching);
        if risen {
            self.sub(SLEEPING);
            self.hint(seat.index, false);
        }
        risen
    }

    /// A guest has the seat: whatever this thread was relied on to find, somebody else must.
    pub(crate) fn displaced(&self, look: impl Fn() -> bool, wake: impl Fn()) -> Bedtime {
        // SeqCst: pairs with the fence in `post`.
        fence(Ordering::SeqCst);
        if look() {
            wake();
        }
        Bedtime::Block
    }

    // ---- guests -----------------------------------------------------------------------------

    /// Takes the seat for an ordinary thread.
    #[inline]
    pub(crate) fn sit_down(&self, seat: &Seat) -> bool {
        match seat.word.load() {
            Holder::Parked => seat.word.step(Holder::Parked, Holder::Guest),
            Holder::Vacant => seat.word.step(Holder::Vacant, Holder::Guest),
            Holder::Searching => {
                // Counted before: see the top of this file.
                self.add(SLEEPING);
                let mine = seat.word.step(Holder::Searching, Holder::Guest);
                if !mine {
                    self.sub(SLEEPING);
                }
                mine
            }
            _ => false,
        }
    }

    /// The guest leaves a seat with nothing in its deques. `ring`, `look` and `wake` as above;
    /// `vacant` if the seat has no thread.
    #[inline]
    pub(crate) fn stand_up(
        &self,
        seat: &Seat,
        vacant: bool,
        ring: impl Fn(&Seat) -> bool,
        look: impl Fn() -> bool,
        wake: impl Fn(),
    ) {
        let to = if vacant {
            Holder::Vacant
        } else {
            Holder::Parked
        };
        let old = seat.word.swap(to);
        debug_assert!(matches!(old, Holder::Guest | Holder::GuestPending));
        if old == Holder::GuestPending && !(self.notify(seat) && ring(seat)) {
            self.displaced(look, wake);
        }
    }

    /// The guest lends its seat to the seat's thread.
    pub(crate) fn lend(&self, seat: &Seat) {
        let old = seat.word.swap(Holder::Lent);
        debug_assert!(matches!(old, Holder::Guest | Holder::GuestPending));
    }

    /// The thread gives it back. PENDING, since nobody could say so while it was lent.
    pub(crate) fn give_back(&self, seat: &Seat) {
        let old = seat.word.swap(Holder::GuestPending);
        debug_assert!(old == Holder::Lent);
    }

    /// The guest leaves a seat with jobs in its deques: its thread inherits both.
    pub(crate) fn hand_over(&self, seat: &Seat) {
        let old = seat.word.swap(Holder::Notified);
        debug_assert!(matches!(old, Holder::Guest | Holder::GuestPending));
        self.sub(SLEEPING);
        self.hint(seat.index, false);
    }

    // ---- spare seats: see `spares.rs` ------------------------------------------------------

    /// From CLOSED to PARKED: the thread counts as asleep. False if it was not closed.
    pub(crate) fn open(&self, seat: &Seat) -> bool {
        self.add(INACTIVE + SLEEPING);
        let opened = seat.word.step(Holder::Closed, Holder::Parked);
        if opened {
            self.hint(seat.index, true);
        } else {
            self.sub(INACTIVE + SLEEPING);
        }
        opened
    }

    /// From PARKED to CLOSED. False if it was not parked.
    pub(crate) fn close(&self, seat: &Seat) -> bool {
        let closed = seat.word.step(Holder::Parked, Holder::Closed);
        if closed {
            self.sub(INACTIVE + SLEEPING);
            self.hint(seat.index, false);
        }
        closed
    }

    /// From AWAKE to CLOSED, by the seat's own thread.
    pub(crate) fn step_down(&self, seat: &Seat) {
        let old = seat.word.swap(Holder::Closed);
        debug_assert!(old == Holder::Awake);
        // SeqCst: pairs with the fence in `post`: a poster that still saw this thread awake is
        // seen by the look that follows.
        fence(Ordering::SeqCst);
    }

    /// From CLOSED to NOTIFIED, so that the thread may see that the pool is over.
    pub(crate) fn recall(&self, seat: &Seat) -> bool {
        self.add(INACTIVE);
        let recalled = seat.word.step(Holder::Closed, Holder::Notified);
        if !recalled {
            self.sub(INACTIVE);
        }
        recalled
    }

    // ---- the looker -------------------------------------------------------------------------

    /// Makes this seat's thread the one that looks after the others, if there is none.
    pub(crate) fn try_look_after(&self, seat: &Seat) -> bool {
        self.looker
            .compare_exchange(0, seat.index + 1, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Whether it is this one.
    pub(crate) fn looks_after(&self, seat: &Seat) -> bool {
        self.looker.load(Ordering::Relaxed) == seat.index + 1
    }

    /// This seat's thread does so no more.
    pub(crate) fn stop_looking_after(&self) {
        self.looker.store(0, Ordering::Relaxed);
    }

    /// Whether somebody looks after those who are stuck.
    pub(crate) fn is_looked_after(&self) -> bool {
        self.looker.load(Ordering::Relaxed) != 0
    }

    /// Rouses a sleeping thread for a moment, so that it may take over looking after the others.
    pub(crate) fn nudge_one(&self, seats: &Row<Seat>) {
        if self.census().sleeping() > 0
            && let Some(seat) = self.hinted(seats).find(|s| s.word.load() == Holder::Parked)
        {
            seat.bell().unpark();
        }
    }

    /// A thread that was refused or has ended is no longer counted.
    pub(crate) fn forget_thread(&self) {
        self.sub(INACTIVE);
    }

    // ---- within -----------------------------------------------------------------------------

    fn add(&self, what: u64) {
        // Relaxed, here and below: what matters is the place in the order of this one word, and
        // the fences around.
        self.counters.fetch_add(what, Ordering::Relaxed);
    }

    fn sub(&self, what: u64) {
        self.counters.fetch_sub(what, Ordering::Relaxed);
    }

    fn exchange(&self, old: Census, new: Census) -> Result<(), Census> {
        self.counters
            .compare_exchange(old.0, new.0, Ordering::Relaxed, Ordering::Relaxed)
            .map(drop)
            .map_err(Census)
    }

    fn hint(&self, index: usize, parked: bool) {
        let (word, bit) = (&self.parked[index / 64], 1 << (index % 64));
        if parked {
            word.fetch_or(bit, Ordering::Relaxed);
        } else {
            word.fetch_and(!bit, Ordering::Relaxed);
        }
    }

    /// The seats that the bitmap calls parked, one of each word.
    fn hinted<'a>(&'a self, seats: &'a Row<Seat>) -> impl Iterator<Item = &'a Seat> {
        let one = |(i, word): (usize, &AtomicU64)| {
            let bits = word.load(Ordering::Relaxed);
            (bits != 0).then(|| i * 64 + bits.trailing_zeros() as usize)
        };
        self.parked
            .iter()
            .enumerate()
            .filter_map(one)
            .filter_map(|i| seats.get(i))
    }
}
