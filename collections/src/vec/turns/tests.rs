//! What a thread decides by the looks of a made-up loop. A time is in nanoseconds.

use super::{LEVELS, MEASURE, Point, STEP, TURN, Turns, average, pushed, ticks};
use std::cell::Cell;

const VEC: usize = 64;

/// A thread, and the next look of its made-up loop.
struct Loop {
    turns: Turns,
    time: u64,
    index: usize,
}

impl Loop {
    fn new() -> Self {
        Self {
            turns: Turns::new(),
            time: 1_000_000_000,
            index: 1_000,
        }
    }

    /// That number of values later, each of which took so long, the thread meets others. Whether it waits then: if so, its turn is
    /// over at the next look.
    fn meets(&mut self, values: usize, each: u64) -> bool {
        self.index += values;
        self.time += values as u64 * each;
        let here = Point {
            time: ticks(self.time),
            index: self.index,
        };
        let wait = self.turns.waits(here);
        if wait.is_some() {
            self.turns.end.set(here.time);
            self.turns.first.set(0);
            self.turns.looks.set(0);
        }
        wait.is_some()
    }

    /// How many looks it takes until it waits, `None` if it never does.
    fn looks(&mut self, each: u64) -> Option<u32> {
        (1..3 * MEASURE.1).find(|_| self.meets(2 * STEP, each))
    }
}

#[test]
fn turns_are_tried_and_kept_if_they_pay() {
    let mut it = Loop::new();
    assert!(!it.meets(2 * STEP, 100), "a measurement begins");
    assert!(it.meets(2 * STEP, 100), "a first try");
    // From the wait to the next meeting a value took a tenth.
    let turns = (0..99).take_while(|_| it.meets(600, 10)).count() as u32;
    assert!(
        (MEASURE.0 - 2..=MEASURE.0).contains(&turns),
        "{turns}, then it measures once more"
    );
    assert!(it.meets(2 * STEP, 100));
    // It is quicker without now.
    let stays = (0..100).take_while(|_| it.meets(600, 100)).count();
    assert!((1..30).contains(&stays), "{stays}");
}

#[test]
fn turns_that_do_not_pay_are_tried_seldom() {
    let mut it = Loop::new();
    assert_eq!(it.looks(100), Some(2));
    // With turns a value takes as long.
    let looks = [it.looks(100), it.looks(100)].map(Option::unwrap);
    assert!(looks.iter().all(|&n| n > MEASURE.1 / 2), "{looks:?}");
    let mut far = Loop::new();
    assert_eq!(far.looks(MEASURE.2 + 10), None, "other things take longer");
}

#[test]
fn a_wait_is_longer_where_others_push_in_a_turn() {
    let wait = |it: &mut Loop| {
        it.turns.with.set(1);
        it.turns.without.set(1 << 30);
        it.turns.count.set(0);
        it.index += 100 * STEP;
        it.time += 10 * TURN;
        let here = Point {
            time: ticks(it.time),
            index: it.index,
        };
        let wait = it.turns.waits(here).expect("turns pay");
        it.turns.first.set(it.index);
        wait
    };
    let mut it = Loop::new();
    let turn = ticks(TURN);
    for (level, looks) in [
        (0, 10),
        (1, 10),
        (2, 10),
        (LEVELS, 60),
        (LEVELS, 90),
        (2, 90),
    ] {
        let took = wait(&mut it);
        assert!(
            (turn << level..turn << (level + 1)).contains(&took),
            "{level}"
        );
        it.turns.looks.set(looks);
    }
}

#[test]
fn a_thread_alone_and_another_vector_look_at_no_clock() {
    let turns = Turns::new();
    turns.look(VEC, 0);
    turns.met.set(Point { time: 7, index: 0 });
    (1..10).for_each(|k| turns.look(VEC, k * STEP));
    assert_eq!(turns.met.get(), Point::NONE);
    turns.with.set(5);
    turns.look(VEC, 100 * STEP);
    assert_eq!((turns.met.get().index, turns.with.get()), (100 * STEP, 5));
    turns.look(2 * VEC, 101 * STEP);
    assert_eq!((turns.met.get(), turns.with.get()), (Point::NONE, 0));
    // As indices of two vectors come in turns.
    for k in 0..1000 {
        let vec = [VEC, 2 * VEC][k % 2];
        turns.look(vec, k * STEP);
        assert_eq!(turns.met.get(), Point::NONE);
    }
}

/// Each time before a turn has shown what it gives.
#[test]
fn a_vector_that_is_emptied_again_and_again() {
    for knows in [false, true] {
        let mut it = Loop::new();
        it.turns.vec.set(VEC);
        if knows {
            it.looks(100);
            assert!((0..20).all(|_| it.meets(600, 10)));
        }
        let mut waits = 0;
        for _ in 0..200 {
            it.index = 8;
            it.turns.meet(VEC, 80_000, 0);
            waits += (0..4).filter(|_| it.meets(2 * STEP, 100)).count();
        }
        assert!(
            (1..12).contains(&waits),
            "{waits}, it knows of others: {knows}"
        );
        assert!(!it.turns.pays() && it.turns.level.get() < LEVELS);
    }
}

/// One measurement that is far too small is forgotten.
#[test]
fn averages_rise_again() {
    let of = Cell::new(0);
    average(&of, Some(0));
    (0..100).for_each(|_| average(&of, Some(1_000)));
    assert!(of.get() > 900, "{}", of.get());
    average(&of, None);
    (0..200).for_each(|_| average(&of, Some(0)));
    assert!(of.get() < 10);
    let at = |index| Point { time: 7, index };
    assert_eq!((at(9).each(at(8)), at(8).each(at(9))), (None, Some(0)));
}

#[test]
fn whatever_the_indices_are_no_thread_waits_for_long() {
    let word = |k: usize| k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for k in 0..1_000 {
        let index = [word(k), usize::MAX, 0][k % 3] / STEP * STEP;
        pushed(std::ptr::null::<u8>().wrapping_add(k / 100).cast(), index);
    }
}
