//! What other threads see of a seat: its context is seen whole or not at all, its thread is started once, and a
//! seat that is lent comes back. A guest does not leave a thread that relies on it.

use super::{beside, check, explore};
use crate::base::row::Row;
use crate::base::sync::{AtomicUsize, Ordering, UnsafeCell};
use crate::queue::nested::Pop;
use crate::queue::steal::Steal;
use crate::seat::Seat;
use crate::seat::context::Context;
use crate::seat::sleep::{Left, Sleep};
use crate::seat::word::{Holder, Posted, Step};
use loom::thread;
use std::sync::Arc;

/// Tag, base and stamp of a job.
type Job = (u64, usize, u64);

/// The jobs of a seat as another thread sees them, if it sees them.
fn jobs(seat: &Seat) -> Option<Vec<Job>> {
    let words = |job: &Context| (job.tag, job.base, job.since);
    Some(seat.jobs()?.iter().map(words).collect())
}

/// A reader of the contexts meets a holder that begins jobs on top of each other, and ends them: the reader
/// sees whole contexts.
#[test]
fn contexts_are_seen_whole() {
    const SEEN: [&[Job]; 3] = [&[], &[(7, 0, 1)], &[(7, 0, 1), (8, 1, 2)]];
    check(|| {
        let seat = Arc::new(Seat::new(0, 1, Holder::Awake));
        let holder = beside(&seat, |seat| {
            let (_, outer) = seat.begin(7);
            seat.nested.push(0, std::ptr::null_mut());
            let (_, seven) = seat.begin(8);
            seat.nested.pop(0);
            seat.end(seven);
            seat.end(outer);
        });
        if let Some(seen) = jobs(&seat) {
            assert!(SEEN.contains(&&*seen), "{seen:?}");
        }
        holder.join().unwrap();
        assert_eq!(jobs(&seat), Some(vec![]));
    });
}

/// More jobs than there are slots: the last slot has the job on top, and after its end the job below again.
#[test]
fn the_last_slot_is_given_back() {
    const SEEN: [&[Job]; 2] = [&[(7, 0, 1), (8, 0, 2)], &[(7, 0, 1), (9, 0, 3)]];
    check(|| {
        let seat = Arc::new(Seat::new(0, 1, Holder::Awake));
        let _ = (seat.begin(7), seat.begin(8));
        let holder = beside(&seat, |seat| {
            let (_, eight) = seat.begin(9);
            seat.end(eight);
        });
        if let Some(seen) = jobs(&seat) {
            assert!(SEEN.contains(&&*seen), "{seen:?}");
        }
        holder.join().unwrap();
        assert_eq!(jobs(&seat).as_deref(), Some(SEEN[0]));
    });
}

/// What a holder tells other threads between the awaited job and the job that it pushes next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tells {
    Nothing,
    TheEnd,
    TheNextJob,
}

/// A helper that goes by the context takes no job of a later context, if the holder announces that context.
fn helps_by_context(tells: Tells) {
    explore(3, move || {
        const MINE: *mut () = std::ptr::without_provenance_mut(8);
        const STRANGE: *mut () = std::ptr::without_provenance_mut(16);
        let seat = Arc::new(Seat::new(0, 2, Holder::Awake));
        let push = |seat: &Seat, job| {
            seat.nested.push(0, job);
            seat.nested.publish(1);
        };
        let holder = {
            let seat = Arc::clone(&seat);
            let (_, covered) = seat.begin(7);
            push(&seat, MINE);
            thread::spawn(move || {
                if seat.nested.pop(0) == Pop::Stolen {
                    // A holder waits until the helper is done, and the slot stays as it is.
                    return;
                }
                if tells != Tells::Nothing {
                    seat.end(covered);
                }
                if tells == Tells::TheNextJob {
                    let _ = seat.begin(9);
                }
                push(&seat, STRANGE);
            })
        };
        if let Some(context) = seat.context().filter(|c| c.tag == 7) {
            let found = seat
                .nested
                .steal_if(context.base, || seat.is_at(context))
                .map(|won| won.job);
            let told = tells != Tells::Nothing;
            assert_ne!(
                found,
                Steal::Taken(STRANGE),
                "took {}",
                if told {
                    "a stranger's job"
                } else {
                    "what it was not told of"
                }
            );
        }
        holder.join().unwrap();
    });
}

#[test]
fn a_helper_goes_by_the_context() {
    helps_by_context(Tells::TheNextJob);
}

#[test]
fn a_helper_sees_that_a_job_has_ended() {
    helps_by_context(Tells::TheEnd);
}

#[test]
#[should_panic(expected = "took what it was not told of")]
fn twin_that_does_not_tell() {
    helps_by_context(Tells::Nothing);
}

/// Two wakers want the thread: it is started once, for both.
#[test]
fn a_thread_is_started_once() {
    check(|| {
        let shared = Arc::new((Seat::new(0, 1, Holder::Parked), AtomicUsize::new(0)));
        let start = |shared: &(Seat, AtomicUsize)| {
            let started = || shared.1.fetch_add(1, Ordering::Relaxed) == 0;
            assert!(shared.0.thread.start_once(started));
        };
        let other = beside(&shared, move |shared| start(shared));
        start(&shared);
        other.join().unwrap();
        assert_eq!(shared.1.load(Ordering::Relaxed), 1);
    });
}

/// A guest lends its seat to the seat's thread for its mail, and gets it back.
#[test]
fn a_seat_is_lent_and_given_back() {
    struct Model {
        seat: Seat,
        sleep: Sleep,
        held: UnsafeCell<u32>,
    }
    // SAFETY: the model checker watches the cell.
    unsafe impl Sync for Model {}
    // SAFETY: as above.
    unsafe impl Send for Model {}
    impl Model {
        fn touch(&self) {
            // SAFETY: watched.
            self.held.with_mut(|p| unsafe { *p += 1 });
        }
    }
    check(|| {
        let model = Arc::new(Model {
            seat: Seat::new(0, 1, Holder::Parked),
            sleep: Sleep::new(1, 1),
            held: UnsafeCell::new(0),
        });
        let thread = beside(&model, |model| {
            let Model { seat, sleep, .. } = &*model;
            while seat.word.load().holder() != Holder::Lent {
                seat.idle_parker().park();
            }
            seat.word.lower_mail();
            model.touch();
            // The thread may sleep on the holder's parker meanwhile, but not on the lender's.
            assert!(sleep.take(seat, Step::Return));
            seat.loan_parker().unpark();
            while !sleep.take(seat, Step::Answer) {
                seat.idle_parker().park();
            }
            assert!(sleep.end_search(seat));
            model.touch();
        });
        let Model { seat, sleep, .. } = &*model;
        assert!(sleep.sit_down(seat));
        model.touch();
        assert!(matches!(sleep.post_letter(seat), Posted::Up(Holder::Guest)));
        assert!(sleep.take(seat, Step::Lend));
        seat.idle_parker().unpark();
        while seat.word.load().holder() == Holder::Lent {
            seat.loan_parker().park();
        }
        model.touch();
        // Mail: so leaving wakes the thread.
        assert!(matches!(sleep.post_letter(seat), Posted::Up(Holder::Guest)));
        assert_eq!(sleep.stand_up(seat, || false), Left::Notified);
        seat.idle_parker().unpark();
        thread.join().unwrap();
        assert_eq!(model.seat.word.load().holder(), Holder::Awake);
        assert_eq!(
            (sleep.census().sleeping(), sleep.census().inactive()),
            (0, 0)
        );
    });
}

/// A thread gets up, or an ordinary thread sits down, and relies on a guest that was asked. If that guest leaves then, it sees
/// that the other seat is held.
fn relied_on(hold: fn(&Sleep, &Seat) -> bool) {
    explore(2, move || {
        let seats = Row::new((0..2).map(|index| Seat::new(index, 2, Holder::Parked)));
        let model = Arc::new((seats, Sleep::new(2, 2)));
        let (seats, sleep) = &*model;
        assert!(sleep.sit_down(&seats[0]) && sleep.ask_guests([&seats[0]]));
        let relies = beside(&model, move |(seats, sleep)| {
            assert!(hold(sleep, &seats[1]));
            sleep.ask_others(seats, &seats[1]) == Some(true)
        });
        let is_held = || seats[1].word.load().holder() != Holder::Parked;
        let left = sleep.stand_up(&seats[0], is_held);
        assert!(!relies.join().unwrap() || left != Left::Quietly);
    });
}

#[test]
fn a_guest_sees_a_thread_that_relies_on_it() {
    relied_on(|sleep, seat| sleep.take(seat, Step::Rise) && sleep.end_search(seat));
}

#[test]
fn a_guest_sees_a_guest_that_relies_on_it() {
    relied_on(Sleep::sit_down);
}
