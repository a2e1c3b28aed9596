//! Going to sleep, being woken, guests: no wake-up is lost, in whatever order threads come.

use super::{beside, check, explore, parker};
use crate::base::park::Parker;
use crate::base::row::Row;
use crate::base::sync::{AtomicBool, AtomicU64, AtomicUsize, Ordering, UnsafeCell, fence};
use crate::queue::latch::CountLatch;
use crate::seat::Seat;
use crate::seat::lull::Membership;
use crate::seat::sleep::{Bedtime, Left, Sleep};
use crate::seat::word::{Holder, Step};
use loom::thread;
use std::sync::Arc;

/// What the workers of a pool share, in small: jobs are just a number.
pub(super) struct Model {
    pub(super) seats: Row<Seat>,
    pub(super) sleep: Sleep,
    jobs: AtomicUsize,
    ending: AtomicBool,
    /// Counts jobs that are posted and not yet done.
    done: CountLatch,
    /// One for each seat; only its holder touches it.
    held: Vec<UnsafeCell<u32>>,
}

// SAFETY: the model checker watches the cells.
unsafe impl Send for Model {}
// SAFETY: as above.
unsafe impl Sync for Model {}

impl Model {
    /// With `seats` seats, whose threads all sleep or are all awake, for `jobs` jobs.
    pub(super) fn new(seats: usize, asleep: bool, jobs: usize) -> Arc<Self> {
        Self::with(Sleep::new, seats, asleep, jobs)
    }

    /// The same, but posters look at the guests that were asked, as they do in pools of many seats.
    fn of_many(seats: usize, asleep: bool, jobs: usize) -> Arc<Self> {
        let sleep = |seats, sleeping| Sleep::new(seats, sleeping).of_many();
        Self::with(sleep, seats, asleep, jobs)
    }

    fn with(
        sleep: impl FnOnce(usize, usize) -> Sleep,
        seats: usize,
        asleep: bool,
        jobs: usize,
    ) -> Arc<Self> {
        let (holder, sleeping) = if asleep {
            (Holder::Parked, seats)
        } else {
            (Holder::Awake, 0)
        };
        Arc::new(Self {
            seats: Row::new((0..seats).map(|i| Seat::new(i, seats, holder))),
            sleep: sleep(seats, sleeping),
            jobs: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            done: CountLatch::with_count(jobs, parker()),
            held: (0..seats).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    /// Spawns the thread of each seat.
    fn start(self: &Arc<Self>) -> Vec<thread::JoinHandle<()>> {
        let one = |index| {
            let model = Arc::clone(self);
            thread::spawn(move || model.work(&model.seats[index]))
        };
        (0..self.seats.count()).map(one).collect()
    }

    fn post(&self) {
        self.post_by(Sleep::post);
    }

    /// Posts as an ordinary thread does that spawns a task.
    fn post_task(&self) {
        self.post_by(Sleep::post_task);
    }

    fn post_by(&self, post: impl FnOnce(&Sleep, usize) -> bool) {
        self.jobs.fetch_add(1, Ordering::Release);
        if post(&self.sleep, self.seats.count()) {
            self.wake_one();
        }
    }

    fn wake_one(&self) {
        if let Some(seat) = self.sleep.choose(&self.seats, 0, None, 1, 0) {
            Self::ring(seat);
        }
    }

    pub(super) fn ring(seat: &Seat) {
        seat.idle_parker().unpark();
    }

    fn has_work(&self) -> bool {
        self.jobs.load(Ordering::Relaxed) > 0
    }

    fn has_news(&self) -> bool {
        self.has_work() || self.ending.load(Ordering::Acquire)
    }

    /// Takes a job and does it, as the holder of the seat.
    fn run_one(&self, seat: &Seat) -> bool {
        self.touch(seat);
        let less = |n: usize| n.checked_sub(1);
        let taken = self
            .jobs
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, less);
        if taken.is_ok() {
            // SAFETY: kept until the end; each job has its count.
            unsafe { CountLatch::decrement(&raw const self.done, 1) };
        }
        taken.is_ok()
    }

    /// Fails if two threads hold a seat, or if a holder does not see what the previous holder did.
    pub(super) fn touch(&self, seat: &Seat) {
        // SAFETY: watched.
        self.held[seat.index].with_mut(|p| unsafe { *p += 1 });
    }

    /// The life of a thread, as in `Worker::work`.
    fn work(&self, seat: &Seat) {
        if seat.word.load().holder() != Holder::Awake {
            self.block(seat);
            if !self.search(seat) {
                return;
            }
        }
        loop {
            while self.run_one(seat) {}
            assert!(self.sleep.take(seat, Step::Search));
            if !self.search(seat) {
                return;
            }
        }
    }

    fn search(&self, seat: &Seat) -> bool {
        loop {
            if seat.word.load().holder() != Holder::Searching {
                self.sleep_displaced(seat);
            } else if self.has_news() {
                if self.sleep.end_search(seat) {
                    break;
                }
            } else {
                self.go_to_bed(seat);
            }
        }
        if self.ending.load(Ordering::Acquire) && !self.has_work() {
            return false;
        }
        if self.jobs.load(Ordering::Relaxed) > 1 {
            self.wake_one();
        }
        true
    }

    fn sleep_displaced(&self, seat: &Seat) {
        self.sleep.before_last_look();
        if self.has_news() {
            self.wake_one();
        }
        self.block(seat);
    }

    /// As in `Worker::go_to_bed`.
    fn go_to_bed(&self, seat: &Seat) {
        let mut bedtime = self.sleep.lie_down(seat);
        if bedtime == Bedtime::Down {
            self.sleep.before_last_look();
            bedtime = self.sleep.after_last_look(seat, self.has_news());
        }
        match bedtime {
            Bedtime::Down | Bedtime::News => {}
            Bedtime::Block => self.block(seat),
            Bedtime::Displaced => self.sleep_displaced(seat),
        }
    }

    pub(super) fn block(&self, seat: &Seat) {
        while !self.sleep.take(seat, Step::Answer) {
            seat.idle_parker().park();
        }
    }

    /// An ordinary thread sits down, if it can, and leaves; `then` is what it does in between.
    pub(super) fn visit(&self, seat: &Seat, then: impl FnOnce()) {
        if self.sleep.sit_down(seat) {
            self.touch(seat);
            then();
            match self.sleep.stand_up(seat, || self.has_news()) {
                Left::Notified => Self::ring(seat),
                _ => {}
            }
        }
    }

    /// Waits for all jobs, without helping; then ends the pool. A lost wake-up is a deadlock.
    fn finish(&self, threads: Vec<thread::JoinHandle<()>>) {
        self.done.latch().wait();
        self.ending.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        for seat in &self.seats {
            if self.sleep.take(seat, Step::Wake) {
                Self::ring(seat);
            }
        }
        threads.into_iter().for_each(|t| t.join().unwrap());
        let census = self.sleep.census();
        assert_eq!((census.sleeping(), census.inactive()), (0, 0));
    }
}

/// Each thread goes to sleep, or is about to, when the job comes.
#[test]
fn one_sleeper_and_two_jobs() {
    check(|| {
        let model = Model::new(1, false, 2);
        let threads = model.start();
        model.post();
        model.post();
        model.finish(threads);
    });
}

#[test]
fn two_sleepers_and_a_poster() {
    two_threads(true, 2, Model::post);
}

#[test]
fn two_that_go_to_bed_and_a_poster() {
    two_threads(false, 1, Model::post);
}

/// The poster looks only at the first group if the thread there searches.
#[test]
fn two_that_go_to_bed_and_two_tasks() {
    two_threads(false, 2, Model::post_task);
}

#[test]
fn two_sleepers_and_two_tasks() {
    two_threads(true, 2, Model::post_task);
}

/// Two threads that sleep, or are about to, when this number of jobs is posted.
fn two_threads(asleep: bool, jobs: usize, post: fn(&Model)) {
    explore(1, move || {
        let model = Model::new(2, asleep, jobs);
        let threads = model.start();
        (0..jobs).for_each(|_| post(&model));
        model.finish(threads);
    });
}

#[test]
fn a_sleeper_and_two_posters() {
    explore(1, || {
        let model = Model::new(1, false, 2);
        let threads = model.start();
        let poster = beside(&model, |model| model.post());
        model.post();
        poster.join().unwrap();
        model.finish(threads);
    });
}

/// A guest sits down on the seat of a thread that searches or sleeps, and leaves, while a job
/// is posted that only the thread can do.
#[test]
fn a_guest_comes_and_goes() {
    check(|| {
        let model = Model::new(1, false, 1);
        let threads = model.start();
        let guest = beside(&model, |model| model.visit(&model.seats[0], || ()));
        model.post();
        guest.join().unwrap();
        model.finish(threads);
    });
}

/// The same, but the guest itself posts the job.
#[test]
fn a_guest_posts() {
    explore(2, || {
        let model = Model::of_many(1, false, 1);
        let threads = model.start();
        let mut posted = false;
        model.visit(&model.seats[0], || {
            posted = true;
            model.post();
        });
        if !posted {
            model.post();
        }
        model.finish(threads);
    });
}

/// A guest was asked to see to a job, runs it itself, and leaves while another job is posted.
#[test]
fn a_guest_that_was_asked_leaves() {
    explore(2, || {
        let model = Model::of_many(1, true, 2);
        let threads = model.start();
        let seat = &model.seats[0];
        assert!(model.sleep.sit_down(seat));
        model.post();
        while model.run_one(seat) {}
        let poster = beside(&model, |model| model.post());
        if model.sleep.stand_up(seat, || model.has_news()) == Left::Notified {
            Model::ring(seat);
        }
        poster.join().unwrap();
        model.finish(threads);
    });
}

/// Two seats; one thread is asleep, and one may have been displaced by a guest.
#[test]
fn a_guest_displaces_a_searcher() {
    explore(1, || {
        let model = Model::of_many(2, true, 1);
        let threads = model.start();
        let guest = beside(&model, |model| model.visit(&model.seats[0], || ()));
        model.post();
        guest.join().unwrap();
        model.finish(threads);
    });
}

/// A guest leaves seat and job to the seat's own thread.
#[test]
fn a_guest_hands_over() {
    explore(2, || {
        let model = Model::new(1, false, 1);
        let threads = model.start();
        let seat = &model.seats[0];
        if model.sleep.sit_down(seat) {
            model.touch(seat);
            model.jobs.fetch_add(1, Ordering::Release);
            assert!(model.sleep.stand_up_and_wake(seat));
            Model::ring(seat);
        } else {
            model.post();
        }
        model.finish(threads);
    });
}

/// How a spawner follows the protocol of a lull.
#[derive(Clone, Copy)]
struct Brisk {
    /// Whether it looks for sleepers again once it is a member.
    asks_again: bool,
    /// Whether it leaves the lull before its last job.
    leaves: bool,
}

impl Model {
    /// As in `Worker::announce_task`.
    fn post_brisk(&self, mine: &Membership, brisk: Brisk) {
        self.jobs.fetch_add(1, Ordering::Release);
        if self.sleep.lull.lasts(mine) {
            return;
        }
        let woke = self.sleep.post(self.seats.count());
        if woke {
            self.wake_one();
        }
        let sleeps = || brisk.asks_again && self.sleep.census().sleeping() > 0;
        self.sleep.lull.consider(mine, woke, || true, sleeps);
    }

    /// Posts jobs as a spawner that relies on a lull.
    fn spawn_in_a_lull(&self, jobs: usize, brisk: Brisk) {
        let mine = Membership::new();
        for job in 0..jobs {
            if brisk.leaves && job + 1 == jobs {
                self.sleep.lull.leave(&mine);
            }
            self.post_brisk(&mine, brisk);
        }
        self.sleep.lull.leave(&mine);
    }
}

const BRISK: Brisk = Brisk {
    asks_again: true,
    leaves: false,
};

/// Threads go to sleep while a spawner joins a lull, relies on it, or leaves it.
fn lull(bound: usize, seats: usize, jobs: usize, brisk: Brisk) {
    explore(bound, move || {
        let model = Model::new(seats, false, jobs);
        let threads = model.start();
        model.spawn_in_a_lull(jobs, brisk);
        model.finish(threads);
    });
}

#[test]
fn a_spawner_in_a_lull() {
    lull(2, 1, 2, BRISK);
}

#[test]
fn a_spawner_in_a_lull_that_leaves() {
    let brisk = Brisk {
        leaves: true,
        ..BRISK
    };
    lull(2, 1, 3, brisk);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_that_joins_beside_a_sleeper() {
    let brisk = Brisk {
        asks_again: false,
        ..BRISK
    };
    lull(2, 1, 2, brisk);
}

/// Two threads go to sleep, and one of them ends the lull.
#[test]
fn two_that_end_a_lull() {
    lull(1, 2, 2, BRISK);
}

/// Two spawners are members of the same lull, and a thread goes to sleep.
#[test]
fn two_spawners_in_a_lull() {
    explore(1, || {
        let model = Model::new(1, false, 4);
        let threads = model.start();
        let other = beside(&model, |model| model.spawn_in_a_lull(2, BRISK));
        model.spawn_in_a_lull(2, BRISK);
        other.join().unwrap();
        model.finish(threads);
    });
}

/// A guest takes the seat of a searching thread: this thread also ends the lull before it sleeps below the
/// guest.
#[test]
fn a_guest_comes_in_a_lull() {
    explore(1, || {
        let model = Model::new(1, false, 2);
        let threads = model.start();
        let guest = beside(&model, |model| model.visit(&model.seats[0], || ()));
        model.spawn_in_a_lull(2, BRISK);
        guest.join().unwrap();
        model.finish(threads);
    });
}

/// Twins of the counters: one sleeper, one poster, one job. `last_look` is the look after
/// registration.
fn twin(last_look: bool) {
    explore(3, move || {
        let shared = Arc::new((AtomicU64::new(0), AtomicUsize::new(0)));
        let parker: &'static Parker = parker();
        let poster = beside(&shared, move |shared| {
            shared.1.store(1, Ordering::Release);
            fence(Ordering::SeqCst);
            if shared.0.load(Ordering::Relaxed) > 0 {
                shared.0.fetch_sub(1, Ordering::Relaxed);
                parker.unpark();
            }
        });
        let look = || shared.1.load(Ordering::Relaxed) > 0;
        if !look() {
            shared.0.fetch_add(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            if !(last_look && look()) {
                parker.park();
            }
        }
        poster.join().unwrap();
    });
}

#[test]
fn twin_with_its_last_look() {
    twin(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_without_its_last_look() {
    twin(false);
}

/// Twin: a waker that believes a bitmap of parked seats, or (`ask`) the seat's word. A guest is on the seat
/// when the job is posted, and leaves.
fn bitmap(ask: bool) {
    explore(2, move || {
        let model = Model::new(1, true, 1);
        let parked = Arc::new(AtomicU64::new(1));
        let threads = model.start();
        let guest = beside(&model, |model| model.visit(&model.seats[0], || ()));
        let seat = &model.seats[0];
        model.jobs.fetch_add(1, Ordering::Release);
        fence(Ordering::SeqCst);
        if ask {
            model.wake_one();
        } else if parked.swap(0, Ordering::Relaxed) == 1 && model.sleep.take(seat, Step::Wake) {
            Model::ring(seat);
        }
        guest.join().unwrap();
        model.finish(threads);
    });
}

#[test]
fn the_word_decides() {
    bitmap(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_that_believes_the_bitmap() {
    bitmap(false);
}
