//! Tries whether it pays to share the joins of a call at all.
//!
//! A tree of joins of some ten microseconds may take longer on all threads than on one: each half
//! that another thread takes costs transfers between caches and a wait, and a join does not know
//! how much work its halves are. So a site of joins tries: some of its outermost calls are shared
//! as usual ([`SHARED`]), and then some are kept on one thread ([`KEPT`]). If the kept ones were
//! hardly slower, the next calls are kept on one thread for a time; otherwise they are shared for a
//! time.
//!
//! A call is kept on one thread for a limited time ([`Call::limit`]), not much longer than such
//! calls are known to take. From its next join on it is then shared like any other. So a wrong
//! guess costs little where joins follow each other. Where they do not, calls are always shared:
//! that is so after a kept call made no joins for long ([`Ended::Flat`]), or may have waited for
//! its other half ([`BLOCKED`]).
//!
//! If each thread of the pool has a call of its own, a thief delays its own call by as much as it
//! helps this one, and a call that waits for a seat is not timed meanwhile. So calls are then kept
//! on one thread for a time, whatever a trial would say, and do not count in one ([`crowded`]).
//!
//! Like everything known about a site, this is a guess: the accesses are Relaxed, and if two
//! threads write at once, one write is lost. Between trials the state is only read.
#![forbid(unsafe_code)]

use super::site_costs;
use crate::base::clock;
#[cfg(not(loom))]
use crate::base::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
#[cfg(loom)]
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Calls that take longer than this when they are shared are always shared, in nanoseconds.
const LONG: u64 = 4_000_000;
/// No call is kept to one thread for longer than the second figure, and in a crowd for no longer than the first.
const KEPT_FOR: (u64, u64) = (500_000, 2_000_000);
/// The calls of a try that are shared: the first ones do not count, since they may wake threads; the others do.
const SHARED: (u32, u32) = (4, 4);
/// Those that are kept to one thread then: the first ones do not count, since threads may still look for work; the others do.
const KEPT: (u32, u32) = (2, 4);
/// A call that was kept to one thread and took that long, in nanoseconds, and far longer than usual, may have waited for
/// its other half, until the looker published that half. Or the system has interrupted it.
const BLOCKED: u64 = 2_000_000;
/// The number of calls between two tries, on average. It doubles each time that a try comes out the same, up to a limit.
/// Both figures are powers of two: the first number, and the limit.
const REST: (u32, u32) = (6, 11);
/// The same after a call that may have waited, or was flat. It doubles with each such call.
const BLOCKED_REST: (u32, u32) = (REST.1 + 1, 16);

/// The steps of a site: calls are shared; the calls of a try; calls are kept to one thread.
const ALL_SHARED: u32 = 0;
const FIRST: u32 = 1;
const LAST_SHARED: u32 = SHARED.0 + SHARED.1;
const LAST: u32 = LAST_SHARED + KEPT.0 + KEPT.1;
const ALL_KEPT: u32 = LAST + 1;
/// The step of a call that is kept because the pool is crowded. No site is ever at this step.
const CROWDED: u32 = u32::MAX;
/// Bits of a step. Above them lies how the last try came out, and how many tries in a row came out so.
const BITS: u32 = 8;

/// How a call is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    step: u32,
    /// For how many nanoseconds it is kept to one thread.
    pub(crate) limit: u64,
}

/// An outermost call of joins of this `site` begins. `chance` is a random number.
pub(crate) fn begin(site: usize, chance: u64) -> Call {
    trial(site).begin(chance)
}

/// The same where each thread has a call of its own; `None` if such calls were seen to be flat, or to wait.
pub(crate) fn crowded(site: usize) -> Option<Call> {
    trial(site).crowded()
}

/// It has come to its end.
pub(crate) fn end(site: usize, call: Call, ended: Ended, chance: u64) {
    trial(site).end(call, ended, chance);
}

/// How it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It took this time, in nanoseconds.
    After(u64),
    /// It was kept to one thread, and was seen to make no joins for long.
    Flat,
}

/// A call while it runs. The holder of the seat alone looks here, so all accesses are Relaxed.
#[derive(Debug)]
pub(crate) struct Tried {
    /// When it began; 0 if there is none.
    start: AtomicU64,
    step: AtomicU32,
    /// For how many nanoseconds it is kept to one thread, and the same in ticks.
    limit: AtomicU64,
    ticks: AtomicU64,
    /// Whether a thread asked for work when it began.
    wanted: AtomicBool,
}

impl Tried {
    pub(crate) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            start: zero(),
            step: AtomicU32::new(0),
            limit: zero(),
            ticks: zero(),
            wanted: AtomicBool::new(false),
        }
    }

    /// No call is tried now: it panicked, or another one lies on top of it.
    #[inline]
    pub(crate) fn forget(&self) {
        if self.start.load(Ordering::Relaxed) != 0 {
            self.start.store(0, Ordering::Relaxed);
        }
    }

    /// It begins.
    pub(crate) fn begin(&self, call: Call, now: u64, wanted: bool) {
        self.start.store(now, Ordering::Relaxed);
        self.step.store(call.step, Ordering::Relaxed);
        self.limit.store(call.limit, Ordering::Relaxed);
        let ticks = clock::ticks(call.limit);
        self.ticks.store(ticks, Ordering::Relaxed);
        self.wanted.store(wanted, Ordering::Relaxed);
    }

    /// Whether it is kept to its thread, and has not taken longer than its limit.
    pub(crate) fn is_kept(&self) -> bool {
        let (start, ticks) = (
            self.start.load(Ordering::Relaxed),
            self.ticks.load(Ordering::Relaxed),
        );
        start != 0 && ticks != 0 && !clock::have_passed(ticks, start, clock::now())
    }

    /// The one that began at `start` has come to its end: which one it was, and whether a thread asked for work when it began.
    pub(crate) fn end(&self, start: u64) -> Option<(Call, bool)> {
        if self.start.load(Ordering::Relaxed) != start {
            return None;
        }
        self.forget();
        let call = Call {
            step: self.step.load(Ordering::Relaxed),
            limit: self.limit.load(Ordering::Relaxed),
        };
        Some((call, self.wanted.load(Ordering::Relaxed)))
    }
}

fn trial(site: usize) -> Trial<'static> {
    let [state, shared, kept] = site_costs::entry(site).profit.words();
    Trial {
        state,
        shared,
        kept,
    }
}

/// What a site has found.
#[derive(Debug, Clone, Copy)]
struct Trial<'a> {
    state: &'a AtomicU32,
    /// What the calls took that count, in nanoseconds: those that were shared, and the others.
    shared: &'a AtomicU32,
    kept: &'a AtomicU32,
}

impl Trial<'_> {
    /// The step, and what lies above. A loop that had the entry before may have left something else there.
    fn state(self) -> (u32, u32) {
        let state = self.state.load(Ordering::Relaxed);
        match state % (1 << BITS) {
            step @ ALL_SHARED..=ALL_KEPT => (step, state >> BITS),
            _ => (ALL_SHARED, 0),
        }
    }

    fn set(self, step: u32, before: u32) {
        self.state.store(before << BITS | step, Ordering::Relaxed);
    }

    fn begin(self, chance: u64) -> Call {
        let (mut step, before) = self.state();
        if step == ALL_KEPT && is_rested(before, chance) {
            step = FIRST;
            self.set(step, before);
        }
        let limit = match step {
            ALL_SHARED..=LAST_SHARED => 0,
            ALL_KEPT => average(self.kept, KEPT) / 2 * 3,
            _ => average(self.shared, SHARED) / 2 * 3,
        };
        let limit = limit.min(KEPT_FOR.1);
        Call { step, limit }
    }

    fn crowded(self) -> Option<Call> {
        let (step, limit) = (CROWDED, KEPT_FOR.0);
        (!is_blocked(self.state().1)).then_some(Call { step, limit })
    }

    fn end(self, call: Call, ended: Ended, chance: u64) {
        let (step, before) = self.state();
        let (nanos, may_have_waited) = match ended {
            Ended::After(nanos) => (nanos, self.may_have_waited(call, nanos)),
            Ended::Flat => (0, true),
        };
        // If several threads call, only calls that began at this step say something about it.
        if step != call.step && call.step != CROWDED {
            return;
        }
        match step {
            _ if call.limit > 0 && may_have_waited => {
                let blocked = (before / 2 + 1).clamp(times(BLOCKED_REST.0), times(BLOCKED_REST.1));
                self.set(ALL_SHARED, blocked << 1);
            }
            _ if call.step == CROWDED => {}
            ALL_SHARED if nanos < LONG && is_rested(before, chance) => self.set(FIRST, before),
            ALL_SHARED => {}
            // The calls may have changed. A call that took a little longer may have been interrupted.
            ALL_KEPT if nanos > 4 * call.limit => self.set(ALL_SHARED, 0),
            ALL_KEPT if nanos > call.limit && chance.is_multiple_of(4) => self.set(ALL_SHARED, 0),
            ALL_KEPT => {}
            FIRST..=LAST_SHARED if nanos >= LONG => self.came_out(before, false),
            FIRST..=LAST_SHARED => self.count(self.shared, step, step - FIRST, SHARED, nanos),
            // The call was shared in the end, and would have taken longer.
            _ if nanos > call.limit => self.came_out(before, false),
            _ => {
                self.count(self.kept, step, step - LAST_SHARED - 1, KEPT, nanos);
                if step == LAST {
                    let (shared, kept) = (average(self.shared, SHARED), average(self.kept, KEPT));
                    self.came_out(before, shared >= kept / 8 * 7);
                }
            }
        }
    }

    /// Whether a call may have waited for its other half: it took twice as long as one that is kept at first and
    /// shared then.
    fn may_have_waited(self, call: Call, nanos: u64) -> bool {
        let usual = match call.step {
            CROWDED => 0,
            _ => 2 * (call.limit + average(self.shared, SHARED)),
        };
        nanos >= BLOCKED.max(usual)
    }

    /// The call of a try counts, unless it is one of the first; the next call is of the next step.
    fn count(self, sum: &AtomicU32, step: u32, nth: u32, calls: (u32, u32), nanos: u64) {
        let before = match nth {
            0 => 0,
            _ => sum.load(Ordering::Relaxed),
        };
        let counts = if nth < calls.0 { 0 } else { nanos.min(LONG) };
        sum.store(before.saturating_add(counts as u32), Ordering::Relaxed);
        self.set(step + 1, self.state().1);
    }

    /// A try has come out. `before` is what the last ones came to.
    fn came_out(self, before: u32, kept: bool) {
        let (last, in_a_row) = (before % 2 == 1, before / 2);
        let in_a_row = if last == kept { in_a_row + 1 } else { 1 };
        let in_a_row = in_a_row.min(times(REST.1));
        let step = if kept { ALL_KEPT } else { ALL_SHARED };
        self.set(step, in_a_row << 1 | u32::from(kept));
    }
}

/// How many tries in a row are followed by a rest of 2 to the power of `rest` calls.
const fn times(rest: u32) -> u32 {
    rest - REST.0 + 1
}

/// Whether all are shared after a call that was flat or may have waited. No try rests for that long.
fn is_blocked(before: u32) -> bool {
    before / 2 >= times(BLOCKED_REST.0)
}

/// Whether the rest after a try is over.
fn is_rested(before: u32, chance: u64) -> bool {
    match before / 2 {
        0 => true,
        // A loop may have left it so.
        in_a_row => chance.is_multiple_of(1 << (REST.0 + in_a_row - 1).min(BLOCKED_REST.1)),
    }
}

fn average(sum: &AtomicU32, calls: (u32, u32)) -> u64 {
    u64::from(sum.load(Ordering::Relaxed) / calls.1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{
        ALL_KEPT, ALL_SHARED, BLOCKED, BLOCKED_REST, Call, Ended, KEPT, KEPT_FOR, LAST, LONG, REST,
        SHARED, Trial, Tried,
    };
    use crate::base::clock;
    use crate::base::sync::{AtomicU32, Ordering};

    /// A number that ends no rest.
    const NO_CHANCE: u64 = 1;

    struct Site([AtomicU32; 3]);

    impl Site {
        fn new() -> Self {
            Self([const { AtomicU32::new(0) }; 3])
        }

        fn trial(&self) -> Trial<'_> {
            let [state, shared, kept] = &self.0;
            Trial {
                state,
                shared,
                kept,
            }
        }

        /// A call that takes this time on one thread, and this one on all. Says whether one did it.
        fn call(&self, kept: u64, shared: u64, chance: u64) -> bool {
            let call = self.trial().begin(chance);
            let is_kept = call.limit > 0;
            let nanos = if is_kept { kept } else { shared };
            self.trial().end(call, Ended::After(nanos), chance);
            is_kept
        }

        /// The number of such calls until the first one that is kept to one thread, or is not.
        fn until(&self, is: bool, (kept, shared): (u64, u64), chance: u64) -> u32 {
            (0..10_000)
                .find(|_| self.call(kept, shared, chance) == is)
                .unwrap_or(10_000)
        }
    }

    /// The calls of a try that are shared, after the one that begins it.
    const TRY: u32 = SHARED.0 + SHARED.1;

    #[test]
    fn calls_that_gain_nothing_are_kept_to_one_thread_until_the_next_try() {
        let (site, slow) = (Site::new(), (10_000, 30_000));
        assert_eq!(site.until(true, slow, NO_CHANCE), 1 + TRY);
        assert_eq!(site.until(false, slow, NO_CHANCE), 10_000);
        // The next try, with the same end.
        assert_eq!(site.until(false, slow, 0), 0);
        assert_eq!(site.until(true, slow, NO_CHANCE), TRY - 1);
        assert_eq!(site.until(false, slow, NO_CHANCE), 10_000);
    }

    #[test]
    fn calls_that_gain_are_shared_after_one_that_was_not() {
        let (site, good) = (Site::new(), (19_000, 10_000));
        assert_eq!(site.until(true, good, NO_CHANCE), 1 + TRY);
        assert_eq!(site.until(true, good, NO_CHANCE), 10_000);
        assert_eq!(site.until(true, good, 0), 1 + TRY);
        // A site that gains a little is shared as well, after all calls of the try.
        let (site, fair) = (Site::new(), (12_500, 10_000));
        assert_eq!(site.until(true, fair, NO_CHANCE), 1 + TRY);
        assert_eq!(site.until(false, fair, NO_CHANCE), KEPT.0 + KEPT.1 - 1);
        assert_eq!(site.until(true, fair, NO_CHANCE), 10_000);
    }

    #[test]
    fn long_calls_are_not_tried() {
        let (site, long) = (Site::new(), (LONG, LONG));
        assert_eq!(site.until(true, long, 0), 10_000);
        assert_eq!(site.0[0].load(Ordering::Relaxed), ALL_SHARED);
        // Nor if only the first call was short.
        assert!(!site.call(0, LONG - 1, 0));
        assert_eq!(site.until(true, long, NO_CHANCE), 10_000);
    }

    #[test]
    fn calls_that_turned_long_end_the_rest() {
        let (site, slow) = (Site::new(), (10_000, 30_000));
        site.until(true, slow, NO_CHANCE);
        assert_eq!(site.until(false, slow, NO_CHANCE), 10_000);
        assert_eq!(site.trial().begin(NO_CHANCE).limit, 15_000);
        // One in four of the longer calls ends it.
        assert!(site.call(15_000, 0, 4));
        assert!(site.call(15_001, 0, NO_CHANCE));
        assert!(site.call(15_001, 0, 4));
        assert!(!site.call(15_001, 0, 4));
        // Each call that takes far longer ends it.
        let (site, slow) = (Site::new(), (10_000, 30_000));
        site.until(true, slow, NO_CHANCE);
        assert_eq!(site.until(false, slow, NO_CHANCE), 10_000);
        assert!(site.call(60_000, 0, NO_CHANCE));
        assert!(site.call(60_001, 0, NO_CHANCE));
        assert!(!site.call(60_001, 0, NO_CHANCE));
    }

    #[test]
    fn rests_grow_as_long_as_tries_come_out_the_same() {
        let site = Site::new();
        let slow = (10_000, 30_000);
        for at in [
            REST.0,
            REST.0 + 1,
            REST.0 + 2,
            REST.0 + 3,
            REST.1 - 1,
            REST.1,
            REST.1,
        ] {
            site.until(true, slow, NO_CHANCE);
            assert_eq!(site.until(false, slow, NO_CHANCE), 10_000);
            assert_eq!(site.until(false, slow, 1 << (at - 1)), 10_000, "{at}");
            assert_eq!(site.until(false, slow, 1 << at), 0, "{at}");
        }
        let fast = (30_000, 10_000);
        site.until(true, fast, NO_CHANCE);
        assert_eq!(site.until(true, fast, 1 << REST.0), 1 + TRY, "as at first");
    }

    #[test]
    fn a_site_whose_halves_may_wait_for_each_other_is_hardly_tried_again() {
        for blocks_at_once in [true, false] {
            let (site, slow) = (Site::new(), (10_000, 30_000));
            let blocks = (BLOCKED, 30_000);
            site.until(true, if blocks_at_once { blocks } else { slow }, NO_CHANCE);
            if !blocks_at_once {
                assert!(site.call(BLOCKED, 0, NO_CHANCE));
            }
            for rest in (BLOCKED_REST.0..=BLOCKED_REST.1).chain([BLOCKED_REST.1]) {
                assert_eq!(site.until(true, slow, 1 << (rest - 1)), 10_000);
                assert_eq!(site.until(true, slow, 1 << rest), 1 + TRY);
                assert!(site.call(BLOCKED, 0, NO_CHANCE));
            }
        }
    }

    #[test]
    fn a_long_call_that_is_kept_at_first_has_not_waited() {
        let shared = LONG - 1;
        let (site, good) = (Site::new(), (KEPT_FOR.1 + shared, shared));
        for rest in [REST.0, REST.0 + 1] {
            assert_eq!(site.until(true, good, 1 << rest), 1 + TRY);
        }
        // It has, if it took twice that.
        let blocks = (2 * (KEPT_FOR.1 + shared), shared);
        site.until(true, blocks, 0);
        assert_eq!(site.until(true, good, 1 << REST.1), 10_000);
    }

    /// They are kept, whatever a try has found, and are no part of one; not where one of them may have waited.
    #[test]
    fn calls_of_a_crowd_are_kept_and_not_tried() {
        let (site, good) = (Site::new(), (30_000, 10_000));
        site.until(true, good, NO_CHANCE);
        let state = || site.0[0].load(Ordering::Relaxed);
        let before = state();
        let crowded = || site.trial().crowded();
        for _ in 0..2 * LAST {
            let call = crowded().expect("none has waited");
            assert!(call.limit > 0);
            site.trial().end(call, Ended::After(30_000), 0);
        }
        assert_eq!(state(), before);
        for ended in [Ended::Flat, Ended::After(BLOCKED)] {
            let call = crowded().expect("none has waited");
            site.trial().end(call, ended, NO_CHANCE);
            assert_eq!(crowded(), None);
            // At last a try ends that.
            site.until(true, good, 0);
        }
    }

    #[test]
    fn a_call_is_kept_for_as_long_as_its_limit() {
        let (tried, hour) = (Tried::new(), 3_600_000_000_000);
        let begin = |limit, ago| {
            let now = clock::now().saturating_sub(clock::ticks(ago)).max(1);
            tried.begin(Call { step: LAST, limit }, now, true);
            now
        };
        assert!(!tried.is_kept());
        let start = begin(hour, 0);
        assert!(tried.is_kept());
        assert_eq!(tried.end(start - 1), None, "another one");
        let call = Call {
            step: LAST,
            limit: hour,
        };
        assert_eq!(tried.end(start), Some((call, true)));
        assert_eq!((tried.end(start), tried.is_kept()), (None, false));
        begin(1, 1_000_000);
        assert!(!tried.is_kept(), "its time is over");
        begin(0, 0);
        assert!(!tried.is_kept(), "a shared one");
        let start = begin(hour, 0);
        tried.forget();
        assert_eq!((tried.end(start), tried.is_kept()), (None, false));
    }

    /// A loop of which the entry was may still write to it.
    #[test]
    fn whatever_lies_there_a_site_comes_to_its_senses() {
        for left in [
            u32::MAX,
            1 << 16 | 262,
            5 << 16 | 2_054,
            255,
            ALL_KEPT + 1,
            u32::MAX - 255 + LAST,
        ] {
            let site = Site(std::array::from_fn(|_| AtomicU32::new(left)));
            for _ in 0..200 {
                assert!(site.trial().begin(NO_CHANCE).limit <= KEPT_FOR.1);
                site.call(10_000, 30_000, NO_CHANCE);
            }
            assert!(
                site.until(true, (10_000, 30_000), 0) <= 1 + TRY,
                "{left:#x}"
            );
        }
    }

    /// A call says something only of the step at which it began.
    #[test]
    fn of_calls_at_the_same_time_one_counts() {
        let site = Site::new();
        site.call(0, 10_000, NO_CHANCE);
        let calls = [(); 3].map(|()| site.trial().begin(NO_CHANCE));
        for call in calls {
            site.trial().end(call, Ended::After(10_000), NO_CHANCE);
        }
        assert_eq!(site.until(true, (10_000, 10_000), NO_CHANCE), TRY - 1);
    }
}
