//! Spare seats: while a thread blocks, there is a thread for every job. When it is back, there is
//! one thread too many for no longer than a job takes.

use super::{alone, beside, explore, parker};
use crate::base::row::Row;
use crate::base::sync::{AtomicBool, AtomicUsize, Ordering, fence};
use crate::queue::latch::CountLatch;
use crate::seat::Seat;
use crate::seat::owed::Owed;
use crate::seat::sleep::{Bedtime, Sleep};
use crate::seat::spares::Spares;
use crate::seat::word::{Holder, Step};
use loom::thread;
use std::sync::Arc;

/// A pool of one seat, whose thread is the model's own thread and blocks, and of one spare seat.
struct Model {
    seats: Row<Seat>,
    sleep: Sleep,
    spares: Spares,
    owed: Owed,
    /// Whether a thread that closes a seat looks for threads that found no seat.
    pays: AtomicBool,
    jobs: AtomicUsize,
    ending: AtomicBool,
    done: CountLatch,
    /// Whether the spare thread was called back to a seat that was already closed.
    recalled: AtomicBool,
}

impl Model {
    fn new(jobs: usize) -> Arc<Self> {
        let seats = Row::new([Seat::new(0, 1, Holder::Awake)]);
        seats.extend(1, |i| Seat::new(i, 1, Holder::Closed));
        seats.show(1);
        Arc::new(Self {
            seats,
            sleep: Sleep::new(2, 0),
            spares: Spares::new(),
            owed: Owed::new(),
            pays: AtomicBool::new(true),
            jobs: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            done: CountLatch::with_count(jobs, parker()),
            recalled: AtomicBool::new(false),
        })
    }

    /// The thread of the spare seat, which has been there before.
    fn start(self: &Arc<Self>) -> thread::JoinHandle<()> {
        let model = Arc::clone(self);
        thread::spawn(move || model.work(&model.seats[1]))
    }

    fn post(&self) {
        self.jobs.fetch_add(1, Ordering::Release);
        if self.sleep.post(self.seats.count()) {
            self.wake_one();
        }
    }

    fn wake_one(&self) {
        if let Some(seat) = self.sleep.choose(&self.seats, 0, None, 1, 0) {
            seat.idle_parker().unpark();
        }
    }

    fn has_work(&self) -> bool {
        self.jobs.load(Ordering::Relaxed) > 0
    }

    fn has_news(&self) -> bool {
        self.has_work() || self.ending.load(Ordering::Acquire)
    }

    fn run_one(&self) -> bool {
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

    /// Called before the only thread blocks. `look` is the rule that this thread looks for work once the spare
    /// seat is open.
    fn replace(&self, look: bool) {
        if self.spares.keep(&self.sleep, self.seats.spare()).is_none() {
            self.spares.replace(&self.sleep, self.seats.spare());
        }
        if look && self.has_work() && self.sleep.post(self.seats.count()) {
            self.wake_one();
        }
    }

    fn dismiss(&self) {
        if self.spares.dismiss(&self.sleep, Some(&self.seats[1])) {
            self.closed();
        }
    }

    /// The same as `replace`, for a thread that waits for a seat if it finds none.
    fn replace_or_owe(&self) -> Option<u64> {
        let kept = self.spares.keep(&self.sleep, self.seats.spare());
        let found = kept.or_else(|| self.spares.replace(&self.sleep, self.seats.spare()));
        let number = found.is_none().then(|| self.owed.add());
        fence(Ordering::SeqCst);
        self.pay();
        if self.has_work() && self.sleep.post(self.seats.count()) {
            self.wake_one();
        }
        number
    }

    fn dismiss_owed(&self, number: Option<u64>) {
        match number.map(|number| self.owed.settle(number)) {
            None | Some(Some(_)) => self.dismiss(),
            Some(None) => assert!(!self.spares.dismiss(&self.sleep, None)),
        }
    }

    fn closed(&self) {
        fence(Ordering::SeqCst);
        if self.pays.load(Ordering::Relaxed) {
            self.pay();
        }
    }

    fn pay(&self) {
        let open = || {
            self.spares
                .open(&self.sleep, self.seats.spare())
                .map(|seat| seat.index)
        };
        if self.owed.any() && self.owed.give(open).is_some() {
            self.sleep.before_last_look();
            if self.has_work() && self.sleep.post(self.seats.count()) {
                self.wake_one();
            }
        }
    }

    /// The life of the spare thread, as in `Worker::work`.
    fn work(&self, seat: &Seat) {
        self.block(seat);
        while self.search(seat) {
            loop {
                if self.spares.claim(seat) {
                    assert!(self.sleep.take(seat, Step::StandDown));
                    self.sleep.before_last_look();
                    if self.pays.load(Ordering::Relaxed) {
                        self.pay();
                    }
                    if self.has_work() && self.sleep.post(self.seats.count()) {
                        self.wake_one();
                    }
                    let over = self.ending.load(Ordering::Acquire);
                    if !(over && self.sleep.take(seat, Step::Resume)) {
                        self.block(seat);
                    } else {
                        self.recalled.store(true, Ordering::Relaxed);
                        assert!(self.sleep.take(seat, Step::Search));
                    }
                    break;
                }
                if !self.run_one() {
                    assert!(self.sleep.take(seat, Step::Search));
                    break;
                }
            }
        }
    }

    fn search(&self, seat: &Seat) -> bool {
        let look = || self.has_news();
        loop {
            if look() {
                assert!(self.sleep.end_search(seat));
                return self.has_work() || !self.ending.load(Ordering::Acquire);
            }
            let mut bedtime = self.sleep.lie_down(seat);
            if bedtime == Bedtime::Down {
                self.sleep.before_last_look();
                bedtime = self.sleep.after_last_look(seat, look());
            }
            if bedtime == Bedtime::Displaced {
                // The seat has just been closed.
                self.sleep.before_last_look();
                if look() {
                    self.wake_one();
                }
                self.block(seat);
            }
            if bedtime == Bedtime::Block {
                if self.spares.trim(&self.sleep, seat) {
                    self.closed();
                }
                self.block(seat);
            }
        }
    }

    fn block(&self, seat: &Seat) {
        while !self.sleep.take(seat, Step::Answer) {
            seat.idle_parker().park();
        }
    }

    /// Ends the spare thread, whatever it is doing, as `Shared::rouse_all` does.
    fn finish(&self, thread: thread::JoinHandle<()>) {
        self.ending.store(true, Ordering::Release);
        self.sleep.post(self.seats.count());
        let seat = &self.seats[1];
        let wake = self.sleep.take(seat, Step::Wake);
        let recall = !wake && self.sleep.take(seat, Step::Recall);
        if wake || recall {
            seat.idle_parker().unpark();
        }
        thread.join().unwrap();
        // One seat is there, and is counted unless it was closed before.
        let closed = recall || self.recalled.load(Ordering::Relaxed);
        assert_eq!(self.spares.balance(), (usize::from(!closed), 0));
        let census = self.sleep.census();
        assert_eq!((census.sleeping(), census.inactive()), (0, 0));
    }
}

/// The only thread blocks until a job is done that was already there.
fn blocked(look: bool) {
    explore(2, move || {
        let model = Model::new(1);
        let thread = model.start();
        model.post();
        model.replace(look);
        model.done.latch().wait();
        model.dismiss();
        model.finish(thread);
    });
}

#[test]
fn what_was_there_is_done() {
    blocked(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_that_does_not_look() {
    blocked(false);
}

/// The job comes from outside while the seat is being opened.
#[test]
fn what_comes_meanwhile_is_done() {
    explore(2, || {
        let model = Model::new(1);
        let thread = model.start();
        let poster = beside(&model, |model| model.post());
        model.replace(true);
        model.done.latch().wait();
        model.dismiss();
        poster.join().unwrap();
        model.finish(thread);
    });
}

/// The thread blocks and is back at once, twice. Whichever thread is then on the spare seat, no job is lost,
/// and at the end the seat is closed: by the thread that comes back, or by its own.
#[test]
fn back_before_anybody_came() {
    explore(2, || {
        let model = Model::new(1);
        let thread = model.start();
        model.replace(true);
        model.post();
        model.dismiss();
        // The pool's own thread does the work that the spare thread has left.
        while model.run_one() {}
        fence(Ordering::SeqCst);
        model.replace(true);
        model.done.latch().wait();
        model.dismiss();
        model.finish(thread);
    });
}

/// A poster wakes the spare thread while the thread that is back closes its seat: the right to close the seat,
/// which was taken in vain, is given back.
#[test]
fn woken_while_it_is_closed() {
    explore(2, || {
        let model = Model::new(1);
        let thread = model.start();
        model.replace(true);
        let poster = beside(&model, |model| model.post());
        model.dismiss();
        poster.join().unwrap();
        while model.run_one() {}
        model.done.latch().wait();
        model.finish(thread);
    });
}

/// An ordinary thread that finds no closed seat leaves no count behind.
#[test]
fn no_seat_to_sit_on() {
    alone(|| {
        let model = Model::new(0);
        let seat = model.spares.sit(&model.sleep, model.seats.spare());
        assert!(seat.is_some());
        assert!(
            model
                .spares
                .sit(&model.sleep, model.seats.spare())
                .is_none()
        );
        assert_eq!(model.spares.balance(), (1, 1));
    });
}

/// The only thread blocks again while the only spare seat is taken by a job that was begun for the thread's
/// first call. The job that it blocks for comes later. That job is done: the seat that is closed after the
/// first job is opened again. `pays` is the rule that the thread that closes it opens it again.
fn blocked_again(pays: bool) {
    explore(2, move || {
        let model = Model::new(2);
        model.pays.store(pays, Ordering::Relaxed);
        let thread = model.start();
        model.replace(true);
        model.post();
        model.dismiss();
        let number = model.replace_or_owe();
        let poster = beside(&model, |model| model.post());
        model.done.latch().wait();
        poster.join().unwrap();
        model.dismiss_owed(number);
        model.finish(thread);
    });
}

#[test]
fn a_seat_that_is_closed_is_opened_for_a_thread_that_found_none() {
    blocked_again(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_that_closes_it_for_good() {
    blocked_again(false);
}
