//! Letters: each is read by its seat's own thread, whichever thread sits there, and threads that are to be
//! called later are called.

use super::sleep::Model;
use super::{beside, check, explore, parker};
use crate::base::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::seat::Seat;
use crate::seat::sleep::{Bedtime, Sleep};
use crate::seat::word::{Holder, Posted, Step};
use loom::thread;
use std::sync::Arc;

/// A letter is left for a seat's own thread, which searches, sleeps or works, while a guest comes and goes.
/// `with_flag` says whether the letter's poster raises MAIL, or only looks where the thread is.
fn letter(with_flag: bool) {
    explore(2, move || {
        let model = Model::new(1, false, 0);
        let (letter, read) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let reader = {
            let (model, letter, read) =
                (Arc::clone(&model), Arc::clone(&letter), Arc::clone(&read));
            thread::spawn(move || {
                let seat = &model.seats[0];
                loop {
                    // AWAKE: empties the box.
                    seat.word.lower_mail();
                    if letter.swap(false, Ordering::AcqRel) {
                        read.store(true, Ordering::Release);
                        return;
                    }
                    assert!(model.sleep.take(seat, Step::Search));
                    while !(seat.word.load().has_mail() && model.sleep.end_search(seat)) {
                        if seat.word.load().holder() != Holder::Searching {
                            model.block(seat);
                        } else if !seat.word.load().has_mail() {
                            if model.sleep.lie_down(seat) != Bedtime::News {
                                model.block(seat);
                            }
                        }
                    }
                }
            })
        };
        let guest = beside(&model, |model| model.visit(&model.seats[0], || ()));
        let seat = &model.seats[0];
        // An exchange: loom orders a plain store and an exchange of one word too loosely.
        letter.swap(true, Ordering::Release);
        loop {
            let posted = if with_flag {
                model.sleep.post_letter(seat)
            } else {
                match seat.word.load().holder() {
                    Holder::Parked => Posted::Asleep,
                    holder => Posted::Up(holder),
                }
            };
            match posted {
                Posted::Asleep => {
                    if model.sleep.take(seat, Step::Wake) {
                        Model::ring(seat);
                        if !with_flag {
                            break;
                        }
                    }
                }
                Posted::Up(_) => break,
                Posted::NoThread => unreachable!(),
            }
        }
        guest.join().unwrap();
        reader.join().unwrap();
        assert!(read.load(Ordering::Acquire));
    });
}

#[test]
fn a_letter_is_read_whoever_sits_there() {
    letter(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_that_raises_no_flag() {
    letter(false);
}

/// Posters put a letter into each of two boxes, whose threads sleep, and then call the threads. The first
/// thread helps: once it is up, it calls the second thread if that has not been called yet. If it comes `late`,
/// it first waits for the second thread, as a closure may. `goes_on` says whether posters go on until both
/// threads have been called, or leave the second thread to the helper.
fn letters_to_two(posters: usize, late: bool, goes_on: bool) {
    explore(if posters > 1 { 1 } else { 3 }, move || {
        let model = Model::new(2, true, 0);
        let second_is_done = parker();
        let boxes = Arc::new([(); 2].map(|()| AtomicUsize::new(0)));
        let read = |index: usize| {
            let boxes = Arc::clone(&boxes);
            beside(&model, move |model| {
                let seat = &model.seats[index];
                let mut left = posters;
                if late && index == 0 {
                    second_is_done.park();
                }
                model.block(seat);
                loop {
                    if !(seat.word.load().has_mail() && model.sleep.end_search(seat)) {
                        if model.sleep.lie_down(seat) != Bedtime::News {
                            model.block(seat);
                        }
                        continue;
                    }
                    seat.word.lower_mail();
                    left -= boxes[index].swap(0, Ordering::AcqRel);
                    model.touch(seat);
                    if index == 0 && model.seats[1].take_call() {
                        Model::ring(&model.seats[1]);
                    }
                    if left == 0 {
                        if index == 1 {
                            second_is_done.unpark();
                        }
                        return;
                    }
                    assert!(model.sleep.take(seat, Step::Search));
                }
            })
        };
        let readers = [read(0), read(1)];
        let deliver = move |model: &Model, boxes: &[AtomicUsize; 2]| {
            for index in [1, 0] {
                let seat = &model.seats[index];
                boxes[index].fetch_add(1, Ordering::AcqRel);
                while model.sleep.post_letter(seat) == Posted::Asleep {
                    if model.sleep.take(seat, Step::Wake) {
                        seat.owe_call();
                    }
                }
            }
            let all = if goes_on { 2 } else { 1 };
            for seat in model.seats.iter().take(all).filter(|s| s.take_call()) {
                Model::ring(seat);
            }
        };
        let other = (posters > 1).then(|| {
            let boxes = Arc::clone(&boxes);
            beside(&model, move |model| deliver(model, &boxes))
        });
        deliver(&model, &boxes);
        other.into_iter().for_each(|other| other.join().unwrap());
        readers.into_iter().for_each(|r| r.join().unwrap());
    });
}

#[test]
fn threads_that_are_called_later_are_called() {
    letters_to_two(1, false, true);
    letters_to_two(1, true, true);
}

#[test]
fn two_posters_that_call_later() {
    letters_to_two(2, false, true);
    letters_to_two(2, true, true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn twin_that_leaves_calls_to_a_helper() {
    letters_to_two(1, true, false);
}

/// Two letters come to a waiting thread. If a look into the box misses the second letter, the look comes before
/// the flag that this letter raises, so no letter stays behind without a flag.
#[test]
fn no_letter_is_left_without_its_flag() {
    type Letters = [AtomicBool; 2];
    check(|| {
        let letters: Letters = [false, false].map(AtomicBool::new);
        let model = Arc::new((Seat::new(0, 1, Holder::Awake), Sleep::new(1, 1), letters));
        let posters = [0, 1].map(|i| {
            beside(&model, move |(seat, sleep, letters)| {
                letters[i].store(true, Ordering::Relaxed);
                assert!(matches!(sleep.post_letter(seat), Posted::Up(_)));
                seat.wait_parker().unpark();
            })
        });
        let (seat, _, letters) = &*model;
        let mut read = 0;
        while read < 2 {
            if !seat.word.load().has_mail() {
                seat.wait_parker().park();
                continue;
            }
            seat.word.lower_mail();
            for letter in letters.iter().filter(|l| l.load(Ordering::Relaxed)) {
                letter.store(false, Ordering::Relaxed);
                read += 1;
            }
        }
        posters.into_iter().for_each(|p| p.join().unwrap());
    });
}
