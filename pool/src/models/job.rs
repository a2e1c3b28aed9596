//! The job's word used as its latch.

use super::{Load, alone, beside, check, explore, parker};
use crate::base::sync::{AtomicUsize, Ordering, yield_now};
use crate::queue::job::{StackJob, State, Taken, execute};
use loom::thread;
use std::sync::Arc;

const HERE: Taken = Taken {
    seat: 3,
    base: 2,
    since: 1,
};

/// The owner waits, finds out which thread took the job, and sleeps; `stale` leaves a token meanwhile.
fn waits(stale: bool) {
    check(move || {
        let load = Arc::new(Load::new());
        load.fill();
        let job = {
            let load = Arc::clone(&load);
            Arc::new(StackJob::new(move |_| {
                load.spend();
                7
            }))
        };
        let thief = {
            let job = Arc::clone(&job);
            // SAFETY: taken only here, and kept until the end.
            thread::spawn(move || unsafe { execute(job.erase(), HERE) })
        };
        let parker = parker();
        let late = stale.then(|| {
            thread::spawn(move || {
                parker.unpark();
            })
        });
        loop {
            match job.head().word().state() {
                State::Done => break,
                State::Untaken => yield_now(),
                State::Taken => {
                    // SAFETY: seen to be taken.
                    assert_eq!(unsafe { job.head().taken() }, HERE);
                    if job.head().word().sleep_on(parker) {
                        parker.park();
                    }
                }
            }
        }
        // SAFETY: seen to be done, and taken out once.
        assert_eq!(unsafe { job.take_result() }.unwrap(), 7);
        load.assert_spent();
        thief.join().unwrap();
        late.into_iter().for_each(|l| l.join().unwrap());
    });
}

#[test]
fn taken_slept_on_and_done() {
    waits(false);
}

#[test]
fn slept_on_with_a_stale_token() {
    waits(true);
}

/// An owner does not sleep on an untaken word.
#[test]
fn untaken_words_refuse_sleepers() {
    alone(|| {
        let job = StackJob::new(|_| ());
        assert!(!job.head().word().sleep_on(parker()));
        assert_eq!(job.head().word().state(), State::Untaken);
    });
}

/// Twin: a word with three states and a note. `any` lets the owner leave its note on an untaken word, and the
/// thief then overwrites the note.
fn twin(any: bool) {
    const UNTAKEN: usize = 0;
    const TAKEN: usize = 1;
    const DONE: usize = 2;
    const ASLEEP: usize = 3;
    explore(2, move || {
        let word = Arc::new(AtomicUsize::new(UNTAKEN));
        let parker = parker();
        let thief = beside(&word, |word| {
            word.store(TAKEN, Ordering::Release);
            if word.swap(DONE, Ordering::AcqRel) == ASLEEP {
                parker.unpark();
            }
        });
        loop {
            let now = word.load(Ordering::Acquire);
            let note = |from| {
                word.compare_exchange(from, ASLEEP, Ordering::Release, Ordering::Relaxed)
                    .is_ok()
            };
            match now {
                DONE => break,
                UNTAKEN if !any => yield_now(),
                ASLEEP => parker.park(),
                from if note(from) => parker.park(),
                _ => yield_now(),
            }
        }
        thief.join().unwrap();
    });
}

#[test]
fn twin_that_sleeps_on_taken_words() {
    twin(false);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_that_sleeps_on_any_word() {
    twin(true);
}
