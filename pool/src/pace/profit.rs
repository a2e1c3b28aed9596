//! Tries whether it pays to share the short loops of a site.
//!
//! The time until other threads come for a part depends on how many there are, what they must
//! fetch, and whether they sleep. No figure fits all loops, so a site tries, for each of a few
//! classes of lengths. One thread runs the first loop; that shows what the loop takes. Then
//! [`TRIES`] of them are shared. If none of these was over much sooner, one thread runs each of the
//! next loops, for a time, and then the site tries again. There is more than one try, since threads
//! that are woken for the first are awake for those that follow.
//!
//! Calls that are more than their loop are tried as a whole: `whole.rs`. Trees of joins are tried by `join_trial.rs`, which keeps its
//! state in the same words.
//!
//! Like everything known about a site, this is a guess: the accesses are Relaxed, and if two
//! threads write at once, one write is lost.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
use crate::base::sync::{AtomicU32, Ordering};
#[cfg(loom)]
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of classes.
pub(super) const COUNT: usize = 3;
/// The classes: loops that are expected to take less than this, in nanoseconds, and not less than the figure before.
const CLASSES: [u64; COUNT] = [FIRST_CLASS, 60_000, SHORT];
pub(crate) const FIRST_CLASS: u64 = 16_000;
/// Longer ones are not tried.
pub(crate) const SHORT: u64 = 200_000;
/// Of loops shared in vain, this number in a row is enough.
pub(super) const TRIES: u32 = 6;
/// Then a number of loops is not shared, and twice as many each time that a try comes out so again, up to a limit. Both
/// figures are powers of two: the first number, and the limit.
pub(super) const REST: (u32, u32) = (8, 11);
/// The bits of the phase. Above them lies how many times in a row tries came out so.
const BITS: u32 = 16;
const PHASE: u32 = (1 << BITS) - 1;
/// The phases: no loop was run alone yet; tries; behind these, the loops that are left of a rest.
const NEW: u32 = 0;
const FIRST: u32 = 1;
const LAST: u32 = TRIES;

/// What one site has found.
#[derive(Debug)]
pub(crate) struct Profit([AtomicU32; COUNT]);

impl Profit {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(NEW) }; COUNT])
    }

    pub(crate) fn start(&self) {
        self.0
            .iter()
            .for_each(|class| class.store(NEW, Ordering::Relaxed));
    }

    /// The words, for a site of joins: see `join_trial.rs`. A loop that had the entry before may still write to them.
    pub(super) fn words(&self) -> &[AtomicU32; COUNT] {
        &self.0
    }

    /// What is known of loops that are expected to take `nanos`; `None` if these are not tried.
    #[inline]
    pub(crate) fn of(&self, nanos: u64) -> Option<Class<'_>> {
        self.among(CLASSES, nanos)
    }

    /// The same of other classes.
    #[inline]
    pub(super) fn among(&self, ends: [u64; COUNT], nanos: u64) -> Option<Class<'_>> {
        let class = ends.iter().position(|&end| nanos < end)?;
        Some(Class(&self.0[class]))
    }
}

/// The same of one class of lengths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Class<'a>(&'a AtomicU32);

impl Class<'_> {
    fn get(self) -> (u32, u32) {
        let state = self.0.load(Ordering::Relaxed);
        (state >> BITS, state & PHASE)
    }

    fn set(self, level: u32, phase: u32) {
        self.0.store(level << BITS | phase, Ordering::Relaxed);
    }

    /// Whether none has been run alone yet.
    pub(crate) fn is_new(self) -> bool {
        self.get().1 == NEW
    }

    /// Whether one is not shared for now.
    #[inline]
    pub(crate) fn is_alone(self) -> bool {
        !(FIRST..=LAST).contains(&self.get().1)
    }

    /// One was not shared for that reason, or this number of `loops`.
    pub(crate) fn alone(self, loops: u32) {
        match self.get() {
            (_, FIRST..=LAST) => {}
            (level, rest) if rest > LAST + loops => self.set(level, rest - loops),
            (level, _) => self.set(level, FIRST),
        }
    }

    /// One that was not shared took far longer than was expected when they were tried: so they are tried again, soon.
    pub(crate) fn misjudged(self) {
        let (level, phase) = self.get();
        if phase > LAST {
            self.set(level, FIRST);
        }
    }

    /// The next ones are not shared, that number of them.
    pub(super) fn rest(self, loops: u32) {
        self.set(self.get().0, LAST + loops);
    }

    /// One that a thread alone would have run in `nanos` was shared, and took this time.
    pub(crate) fn shared(self, nanos: u64, took: u64) {
        let (level, phase) = self.get();
        if !(FIRST..=LAST).contains(&phase) {
            return;
        }
        if took < nanos / 8 * 7 {
            if (level, phase) != (0, FIRST) {
                self.set(0, FIRST);
            }
        } else if phase < LAST {
            self.set(level, phase + 1);
        } else {
            let rest = 1 << (REST.0 + level).min(REST.1);
            self.set((level + 1).min(REST.1 - REST.0), LAST + rest);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Class, FIRST_CLASS, Profit, REST, SHORT, TRIES};

    /// The number of loops that are run alone until one is shared again.
    fn rest(of: Class<'_>) -> u32 {
        let mut count = 0;
        while of.is_alone() {
            of.alone(1);
            count += 1;
        }
        count
    }

    fn in_vain(of: Class<'_>) {
        (0..TRIES).for_each(|_| of.shared(10_000, 10_000));
    }

    #[test]
    fn a_new_site_runs_one_loop_of_each_class_alone() {
        let site = Profit::new();
        for nanos in [0, FIRST_CLASS, SHORT - 1] {
            let class = site.of(nanos).unwrap();
            assert!(class.is_new());
            assert_eq!(rest(class), 1);
            assert!(!class.is_new() && !class.is_alone());
        }
        assert!(site.of(SHORT).is_none());
    }

    #[test]
    fn loops_that_are_shared_in_vain_are_not_for_a_time_and_then_for_longer() {
        let site = Profit::new();
        let class = site.of(10_000).unwrap();
        class.alone(1);
        for at in [REST.0, REST.0 + 1, REST.0 + 2, REST.1, REST.1, REST.1] {
            in_vain(class);
            assert_eq!(rest(class), 1 << at);
        }
        class.shared(10_000, 5_000);
        in_vain(class);
        assert_eq!(rest(class), 1 << REST.0, "as at first");
        in_vain(class);
        site.start();
        assert!(class.is_new());
    }

    #[test]
    fn one_that_was_worth_it_begins_the_tries_anew() {
        let site = Profit::new();
        let class = site.of(10_000).unwrap();
        class.alone(1);
        for _ in 0..10 {
            (1..TRIES).for_each(|_| class.shared(10_000, 10_000));
            class.shared(9_000, 5_000);
            assert!(!class.is_alone());
        }
    }

    #[test]
    fn what_was_misjudged_is_tried_again() {
        let site = Profit::new();
        let class = site.of(10_000).unwrap();
        class.misjudged();
        assert!(class.is_new());
        class.alone(1);
        in_vain(class);
        class.misjudged();
        assert!(!class.is_alone());
        class.misjudged();
        in_vain(class);
        assert_eq!(
            rest(class),
            1 << (REST.0 + 1),
            "a rest grows as it does else"
        );
    }

    #[test]
    fn a_rest_ends_whatever_is_counted() {
        let site = Profit::new();
        let class = site.of(10_000).unwrap();
        class.alone(7);
        in_vain(class);
        (0..100).for_each(|_| class.alone(7));
        assert!(!class.is_alone());
    }
}
