//! Threads that push one by one at the same time take turns.
//!
//! If other cores push too, each push moves the lines of the counter, of the value, and of its flag from core to core. That
//! takes several times as long as the push itself, so N threads together may push less than one of them alone. A thread that
//! meets others waits for 8 to 128 µs, and then has its *turn*, in which it does not wait, while the others do.
//!
//! Whether that pays depends on what the threads do between two pushes. The indices tell, since they count the pushes of all
//! threads: a thread that looks at the clock now and then knows how long a value takes with turns, and how long without. This
//! decides. All of it is a guess, and each thread guesses for the vector that it pushed to last. On many cores the turn of one
//! thread is no help, since the others are still in each other's way, and turns are given up.
#![forbid(unsafe_code)]

use crate::sync::spin_loop;
use std::cell::Cell;
use tine_pool::loops::{now, ticks};

/// Only the thread that pushes the value of every N-th index looks around; this is N.
const STEP: usize = 8;
/// How long a turn takes, and at least the wait before it, in nanoseconds. A wait is up to twice as long, by chance.
const TURN: u64 = 8_000;
/// The wait doubles if in a turn others pushed most of the values, up to that power of two times as long as at first. It is
/// halved if they pushed less than a quarter.
const LEVELS: u32 = 3;
/// How long a value takes without turns is measured again after A turns. If turns do not pay, they are tried at one of B looks,
/// but not where a value takes longer than C nanoseconds: then other things take longer than pushes.
const MEASURE: (u32, u32, u64) = (32, 1024, 150);

/// A time, in ticks, and the index that was pushed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    time: u64,
    index: usize,
}

impl Point {
    const NONE: Self = Self { time: 0, index: 0 };

    /// The ticks that each value took from here to `end`, with eight fractional bits, if that can be said.
    fn each(self, end: Self) -> Option<u64> {
        let values = end.index.checked_sub(self.index)? as u64;
        let took = end.time.checked_sub(self.time)?;
        (self != Self::NONE && took < 1 << 40).then(|| (took << 8) / values.max(1))
    }
}

/// What a thread knows of the vector that it pushed to last.
#[derive(Debug)]
struct Turns {
    /// The address of the vector.
    vec: Cell<usize>,
    /// The index at which the thread looked around last.
    seen: Cell<usize>,
    /// Where it met others at that look, with no turn of its own.
    met: Cell<Point>,
    /// When it began to wait for its turn, until what that gave is noted.
    began: Cell<Point>,
    /// When the turn is over, the index at its beginning, and the looks in it.
    end: Cell<u64>,
    first: Cell<usize>,
    looks: Cell<usize>,
    /// How often the wait was doubled.
    level: Cell<u32>,
    /// The ticks for each value, of all threads, with turns and without, with eight fractional bits: moving averages, or 0.
    with: Cell<u64>,
    without: Cell<u64>,
    /// The turns since the latter was measured, or the looks at which no turn was tried.
    count: Cell<u32>,
}

thread_local! {
    static TURNS: Turns = const { Turns::new() };
}

/// This thread has pushed the value of that index to the vector at that address.
#[inline]
pub(super) fn pushed(vec: *const (), index: usize) {
    if index.is_multiple_of(STEP) {
        TURNS.with(|turns| turns.look(vec.addr(), index));
    }
}

fn average(of: &Cell<u64>, seen: Option<u64>) {
    match (of.get(), seen) {
        (_, None) => {}
        (0, Some(seen)) => of.set(seen.max(1)),
        // Rounded up: what is too little for a moment must not stay so.
        (old, Some(seen)) => of.set((7 * old + seen.min(4 * old)).div_ceil(8)),
    }
}

impl Turns {
    const fn new() -> Self {
        Self {
            vec: Cell::new(0),
            seen: Cell::new(0),
            met: Cell::new(Point::NONE),
            began: Cell::new(Point::NONE),
            end: Cell::new(0),
            first: Cell::new(0),
            looks: Cell::new(0),
            level: Cell::new(0),
            with: Cell::new(0),
            without: Cell::new(0),
            count: Cell::new(0),
        }
    }

    /// The thread looks around.
    #[inline]
    fn look(&self, vec: usize, index: usize) {
        let seen = self.seen.replace(index);
        self.looks.set(self.looks.get().wrapping_add(1));
        if seen.wrapping_add(STEP) == index && self.vec.get() == vec {
            self.met.set(Point::NONE);
        } else {
            self.meet(vec, seen, index);
        }
    }

    /// Since the last look, at the index `seen`, other threads have pushed, or this one to another vector, or the vector was
    /// emptied.
    #[cold]
    fn meet(&self, vec: usize, seen: usize, index: usize) {
        if self.vec.replace(vec) != vec {
            return self.forget();
        }
        if index <= seen {
            return self.begin_anew();
        }
        let time = now();
        if let Some(wait) = self.waits(Point { time, index }) {
            while now().wrapping_sub(time) < wait {
                (0..4).for_each(|_| spin_loop());
            }
            self.first.set(0);
            self.looks.set(0);
            self.end.set(now() + ticks(TURN));
        }
    }

    /// The vector was emptied. A turn that was not over did not pay.
    fn begin_anew(&self) {
        if self.began.replace(Point::NONE) != Point::NONE {
            average(&self.with, Some(2 * self.without.get()));
        }
        self.met.set(Point::NONE);
        self.first.set(0);
        self.looks.set(0);
    }

    fn forget(&self) {
        self.met.set(Point::NONE);
        self.began.set(Point::NONE);
        self.level.set(0);
        self.count.set(0);
        self.end.set(0);
        self.with.set(0);
        self.without.set(0);
    }

    /// How long the thread waits, in ticks, before its turn, if it does.
    fn waits(&self, here: Point) -> Option<u64> {
        if self.first.get() == 0 {
            self.first.set(here.index);
        }
        if here.time < self.end.get() {
            self.met.set(Point::NONE);
            return None;
        }
        let began = self.began.replace(Point::NONE);
        average(&self.with, began.each(here));
        let (turns, looks, far) = MEASURE;
        let count = self.count.get();
        self.count.set(count.wrapping_add(1));
        let each = self.met.replace(here).each(here);
        average(&self.without, each);
        if self.pays() {
            if each.is_some() {
                self.count.set(0);
            } else if count >= turns {
                return None;
            }
        } else if each.is_none()
            || (self.with.get() != 0 && !count.is_multiple_of(looks))
            || self.without.get() > ticks(far) << 8
        {
            return None;
        }
        self.adapt(began, here);
        self.began.set(here);
        self.met.set(Point::NONE);
        let turn = ticks(TURN).max(1);
        Some((turn + (here.time >> 3) % turn) << self.level.get())
    }

    /// A turn is over, or there was none.
    fn adapt(&self, began: Point, here: Point) {
        let own = self.looks.get().saturating_mul(STEP);
        let all = here.index.saturating_sub(self.first.get());
        let level = self.level.get();
        if began == Point::NONE || own >= all / 4 * 3 {
            self.level.set(level.saturating_sub(1));
        } else if own < all / 2 {
            self.level.set((level + 1).min(LEVELS));
        }
    }

    /// Whether turns pay, as far as is known.
    fn pays(&self) -> bool {
        let (with, without) = (self.with.get(), self.without.get());
        with != 0 && with < without / 4 * 3
    }
}

#[cfg(test)]
mod tests;
