//! What a pool's own threads do between jobs: search for a while, go to bed, and sleep until
//! somebody has work for them. One of the sleepers looks after the others.
#![forbid(unsafe_code)]

use crate::clock;
use crate::patience::Patience;
use crate::seat::{Holder, Seat};
use crate::sleep::Bedtime;
use crate::sync::{Ordering, fence};
use crate::sys;
use crate::trace::{self, Act};
use crate::worker::Worker;
use std::time::Duration;

/// How long to look around before going to sleep, in nanoseconds: at least and at most. A thread
/// that was woken soon after it fell asleep looks longer next time, one that slept long looks
/// less.
const PATIENCE: (u64, u64) = (2_000, 20_000);
/// What counts as soon, and as long.
const NAP: (u64, u64) = (50_000, 200_000);
/// How often somebody looks after those who are stuck. In a pool at rest each look comes four
/// times later than the one before, up to the greatest interval, and after the last of so many
/// they stop.
const LOOK_AFTER: Duration = Duration::from_millis(10);
const LOOK_AFTER_AT_MOST: Duration = Duration::from_secs(1);
const LOOKS_AT_REST: u32 = 8;

impl Worker<'_> {
    // ---- the life of a thread ---------------------------------------------------------------

    /// Works until the pool ends. The seat is AWAKE, or NOTIFIED or LENT if the thread was started
    /// by a call for help.
    pub(crate) fn work(&self) {
        debug_assert!(!self.guest);
        if self.seat.word.load() != Holder::Awake {
            self.block();
            self.search();
        }
        loop {
            if self.shared.step_down(self.seat) {
                self.block();
            } else if let Some(entry) = self.take_any() {
                self.run(entry);
                continue;
            } else {
                self.shared.sleep.start_search(self.seat);
            }
            if !self.search() {
                break;
            }
        }
        self.go();
    }

    /// Leaves the seat for good, and no letter on it.
    fn go(&self) {
        let seat = self.seat;
        seat.thread.set_gone();
        loop {
            seat.word.swap(Holder::Vacant);
            // SeqCst: pairs with the fence in `post`: a letter left before its writer saw the
            // seat vacant is seen here. One left after that is read by its writer.
            fence(Ordering::SeqCst);
            let empty = self.shared.desks[seat.index].mailbox.is_empty();
            if empty || !seat.word.step(Holder::Vacant, Holder::Awake) {
                return;
            }
            self.read_mail();
        }
    }

    /// Looks for work, and sleeps while there is none; the seat is SEARCHING. True once awake
    /// with a reason to look; false if the pool has ended. Either way the seat is held again.
    fn search(&self) -> bool {
        let (shared, seat) = (self.shared, self.seat);
        let _span = trace::span(seat.index, Act::Search);
        let sleep = &shared.sleep;
        let look = || shared.has_news(seat.index) || shared.could_end();
        let wake = || {
            shared.wake_one();
        };
        loop {
            shared.end_if_idle();
            match self.look_around() {
                Looked::Displaced => {
                    sleep.displaced(look, wake);
                    self.block();
                }
                Looked::News => {
                    if sleep.end_search(seat) {
                        return self.take_up_work();
                    }
                }
                Looked::Nothing => {
                    let announced = sleep.announce();
                    if look() {
                        continue;
                    }
                    let arm = || shared.seats.iter().for_each(|s| s.nested.want());
                    // Before it is counted asleep: those who push rely on there being a looker
                    // whenever somebody sleeps.
                    let looker = sleep.try_look_after(seat);
                    if sleep.go_to_bed(seat, announced, arm, look, wake) == Bedtime::Block {
                        shared.trim_spares();
                        self.block();
                    } else if looker {
                        sleep.stop_looking_after();
                    }
                }
            }
        }
    }

    /// Awake again: sees to it that somebody else is if there is more than one can do.
    fn take_up_work(&self) -> bool {
        let shared = self.shared;
        if shared.is_over() {
            return false;
        }
        let more =
            shared.seats.iter().map(Seat::public_jobs).sum::<usize>() + shared.injector.len();
        if more > 1 {
            self.wake_one();
        }
        true
    }

    /// Looks for news for a while. At most half of the threads do so at a time.
    fn look_around(&self) -> Looked {
        let (shared, seat) = (self.shared, self.seat);
        let mut patience = Patience::new(seat.notes.patience.get());
        loop {
            if seat.word.load() != Holder::Searching {
                return Looked::Displaced;
            }
            if shared.has_news(seat.index) {
                return Looked::News;
            }
            for other in shared.seats.iter().filter(|s| s.nested.has_private()) {
                other.nested.want();
            }
            let crowded = shared.sleep.census().searching() > shared.len().div_ceil(2);
            if crowded || !patience.wait() {
                return Looked::Nothing;
            }
        }
    }

    /// Sleeps until the seat is promised to its thread, then searches.
    fn block(&self) {
        let (shared, seat) = (self.shared, self.seat);
        let _span = trace::span(seat.index, Act::Sleep);
        seat.counters.parks.add(1);
        shared.lie_down(seat.index);
        let start = clock::now();
        let (mut looks, mut activity) = (0, 0);
        loop {
            if seat.word.step(Holder::Notified, Holder::Searching) {
                if let Some(rung) = shared.sleep.rung_at() {
                    let delay = clock::nanos(clock::since(rung));
                    shared.sleep.record_delay(delay);
                }
                break;
            }
            if seat.word.load() == Holder::Lent {
                self.read_mail_on_loan();
                continue;
            }
            let looker = shared.sleep.looks_after(seat)
                || (looks < LOOKS_AT_REST && shared.sleep.try_look_after(seat));
            if !looker {
                seat.bell().park();
                looks = 0;
                continue;
            }
            if seat.bell().park_timeout(interval(looks)) {
                continue;
            }
            let now = self.look_after_others();
            looks = if now == activity { looks + 1 } else { 0 };
            activity = now;
            if looks == LOOKS_AT_REST {
                shared.sleep.stop_looking_after();
            }
            if shared.has_news(seat.index) {
                if shared.sleep.rise(seat) {
                    break;
                }
                self.wake_one();
            }
        }
        if shared.sleep.looks_after(seat) {
            shared.sleep.stop_looking_after();
            // Whoever else sleeps takes over.
            shared.sleep.nudge_one(&shared.seats);
        }
        self.learn_from_nap(clock::nanos(clock::since(start)));
        shared.get_up(seat.index);
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

    /// Publishes for owners who have been asked and did not answer. Gives a number that changes
    /// while the pool is in use.
    fn look_after_others(&self) -> u64 {
        let mut activity = 0;
        for other in &self.shared.seats {
            let stuck = other.nested.has_private() && other.nested.is_wanted();
            if stuck && other.nested.publish_for_owner(sys::barrier_everywhere) > 0 {
                self.shared.wake_waiters(other);
            }
            other.nested.want();
            activity = other.activity().wrapping_add(activity);
        }
        activity
    }
}

/// How long to wait before the next look, after so many at a pool at rest.
fn interval(looks: u32) -> Duration {
    (LOOK_AFTER * 4_u32.pow(looks.min(4))).min(LOOK_AFTER_AT_MOST)
}

/// What looking around showed.
enum Looked {
    News,
    Nothing,
    Displaced,
}
