//! The decisions of a join: is its second half offered, and is that worth a wake-up?
//!
//! A wake-up costs its caller microseconds, so work has to be worth it. For joins:
//!
//! * At a site **proven short** (the last few calls of one thread all took less than [`SHORT`]) a
//!   push is private and wakes no thread. One call in [`SKIPS`] is timed, and one long call revokes
//!   the proof. If such a call blocks after all, the looker publishes its private jobs. While no
//!   thread looks after the others, no site counts as short.
//! * At any other site the outermost pushes are public at once, and a thread is woken if one
//!   sleeps and too few search, before user code runs.
//! * Deeper pushes stay private until a thread asks. Requests are answered at intervals of
//!   [`ANSWER`], at sites proven short too: their calls are short, but much may lie below them.
//!   While threads sleep, the request that the last of them left stands, so an owner that runs long
//!   with work on offer wakes them.
//! * For outermost calls of any other site that take up to 500 µs, the pace tries whether sharing
//!   pays (`join_trial.rs`). A call that is kept on one thread pushes as at a site proven short,
//!   and answers no request, for a limited time. A call that begins while each thread has a call of
//!   its own is kept too, whatever the trial found.
//! * While a thread asks and the owner pushes [`BRISK`]ly, outermost pushes are published only as
//!   answers to requests, except a job's first push. The owner will soon push again, and publishing
//!   each push would cost more than the work between two pushes.
#![forbid(unsafe_code)]

use super::site_costs;
use crate::base::clock;
use crate::base::sync::{AtomicU64, Ordering};

/// A call shorter than this is short, in nanoseconds.
const SHORT: u64 = 5_000;
/// This many pushes at one site go without a check after one that had one.
const SKIPS: u32 = 64;
/// The least time between two answers to requests for work, in nanoseconds, and between two checks
/// whether to answer.
const ANSWER: u64 = 4_000;
/// No more than this many pushes go without a look.
const MOST: u64 = 256;
/// An owner pushes briskly if this many pushes of one site in a row take less than this time each, in nanoseconds.
const BRISK: (u64, u64) = (16, 3_000);

/// What is known of a push.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Push {
    /// The address of its join.
    pub(crate) site: usize,
    /// Whether it is the first one of the job that runs here.
    pub(crate) first: bool,
    /// Whether pushes at its depth are public even without a request.
    pub(crate) outermost: bool,
    /// Whether a thread has asked for work.
    pub(crate) wanted: bool,
    /// Whether the owner pushes briskly; not asked if no thread wants work.
    pub(crate) brisk: bool,
    /// Whether the call is kept to one thread for now (`join_trial.rs`).
    pub(crate) alone: bool,
}

/// What is to be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Nothing. This many further pushes at the site need no check; where the call is kept to one thread,
    /// [`Rhythm::look`] says how many. `timed` asks for [`record`] at the end.
    Nothing { skips: u32, timed: bool },
    /// Everything is published, and a thread woken.
    Everything { timed: bool },
    /// A part is published, if the last answer was long enough ago ([`is_due`]). [`Rhythm::look`] says how many
    /// pushes then need no check.
    Part { timed: bool },
}

/// Decides. `watched` says whether a thread looks after stuck owners.
pub(crate) fn decide(push: Push, watched: impl Fn() -> bool) -> Offer {
    let goes_on = push.wanted && push.brisk && !push.first;
    // Whether this push is public at once, unless its site is short.
    let timed = push.outermost && !(goes_on && watched());
    if timed && !push.alone && !(site_costs::is_short(push.site) && watched()) {
        return Offer::Everything { timed: push.first };
    }
    if push.wanted {
        return Offer::Part { timed };
    }
    let skips = if timed { SKIPS } else { SKIPS / 4 };
    Offer::Nothing { skips, timed }
}

/// Whether a request may be answered now, if the last one was at `answered`.
pub(crate) fn is_due(now: u64, answered: u64) -> bool {
    clock::have_passed(clock::ticks(ANSWER), answered, now)
}

/// Whether that is a long time for a call without further joins.
pub(crate) fn is_long(nanos: u64) -> bool {
    nanos > 4 * ANSWER
}

/// How many of the private jobs are published for a request.
pub(crate) fn part(private: usize) -> usize {
    1 + private / 4
}

/// A call that was timed has ended, after that number of ticks. Only the `first` call of a job
/// proves anything: calls inside a long call of the same site are shorter, and a proof that comes
/// and goes makes all threads wait for its cache line.
pub(crate) fn record(site: usize, ticks: u64, first: bool) {
    let short = ticks < clock::ticks(SHORT);
    if first || !short {
        site_costs::record_call(site, short);
    }
}

/// How quickly the owner of a seat pushes while it is asked for work, or its call is kept to one thread. The holder of
/// the seat alone looks here, so all accesses are Relaxed.
#[derive(Debug)]
pub(crate) struct Rhythm {
    site: AtomicU64,
    /// When the last look was, and how many pushes were to go without one.
    at: AtomicU64,
    skips: AtomicU64,
    /// What was counted: how many pushes, and since when.
    pushes: AtomicU64,
    since: AtomicU64,
    brisk: AtomicU64,
}

impl Rhythm {
    pub(crate) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            site: zero(),
            at: zero(),
            skips: zero(),
            pushes: zero(),
            since: zero(),
            brisk: zero(),
        }
    }

    /// A job begins with a push at this site.
    pub(crate) fn begin(&self, site: usize, now: u64) {
        let set = |what: &AtomicU64, value| what.store(value, Ordering::Relaxed);
        set(&self.site, site as u64);
        set(&self.brisk, 0);
        set(&self.pushes, 0);
        set(&self.since, now);
        set(&self.at, now);
        set(&self.skips, 0);
    }

    /// Looks at a push. Says whether the owner pushes briskly, and how many pushes may go without a look.
    pub(crate) fn look(&self, site: usize, now: u64) -> (bool, u32) {
        let get = |what: &AtomicU64| what.load(Ordering::Relaxed);
        let set = |what: &AtomicU64, value| what.store(value, Ordering::Relaxed);
        if get(&self.site) != site as u64 {
            self.begin(site, now);
            return (false, 0);
        }
        let passed = |from: &AtomicU64| clock::nanos(now.saturating_sub(get(from)));
        let count = get(&self.skips) + 1;
        let pushes = get(&self.pushes) + count;
        if pushes >= BRISK.0 {
            set(&self.brisk, (passed(&self.since) < pushes * BRISK.1).into());
            set(&self.pushes, 0);
            set(&self.since, now);
        } else {
            set(&self.pushes, pushes);
        }
        let each = passed(&self.at) / count;
        let skips = (ANSWER / each.max(1)).min(2 * count).min(MOST);
        set(&self.at, now);
        set(&self.skips, 0);
        (get(&self.brisk) == 1, skips as u32)
    }

    /// When the last look was.
    pub(crate) fn looked_at(&self) -> u64 {
        self.at.load(Ordering::Relaxed)
    }

    /// The next `skips` pushes go without a look.
    pub(crate) fn skip(&self, skips: u32) {
        self.skips.store(skips.into(), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{BRISK, MOST, Rhythm, clock};

    /// `pushes` of one site, each `nanos` nanoseconds after the one before; looks where it is told to.
    fn push(rhythm: &Rhythm, site: usize, pushes: u64, nanos: u64, now: &mut u64) -> (bool, u32) {
        let (mut last, mut left) = ((false, 0), 0);
        for _ in 0..pushes {
            *now += clock::ticks(nanos);
            if left > 0 {
                left -= 1;
            } else {
                last = rhythm.look(site, *now);
                left = last.1;
                rhythm.skip(left);
            }
        }
        last
    }

    #[test]
    fn an_owner_is_brisk_as_long_as_it_pushes_often() {
        let (rhythm, mut now) = (Rhythm::new(), clock::now());
        assert!(!push(&rhythm, 8, BRISK.0 - 1, 100, &mut now).0);
        assert!(push(&rhythm, 8, 3 * BRISK.0, 100, &mut now).0);
        // A job that begins may have long parts, whatever the job before it had: all loops have one site.
        now += clock::ticks(1_000_000);
        rhythm.begin(8, now);
        assert!(push(&rhythm, 8, 3 * BRISK.0, 100, &mut now).0);
        assert!(!push(&rhythm, 8, 2 * BRISK.0, 10_000, &mut now).0);
        assert!(push(&rhythm, 8, 3 * BRISK.0, 1_000, &mut now).0);
        assert!(!push(&rhythm, 16, 1, 1_000, &mut now).0, "another site");
    }

    /// Pushes that the last job was spared do not count for the next one, all of whose halves may be long.
    #[test]
    fn a_new_job_counts_its_own_pushes() {
        let (rhythm, mut now) = (Rhythm::new(), clock::now());
        assert!(push(&rhythm, 8, 1_000, 10, &mut now).0);
        rhythm.begin(8, now);
        for nth in 1..BRISK.0 {
            now += clock::ticks(100);
            assert!(!rhythm.look(8, now).0, "{nth}");
        }
        assert!(rhythm.look(8, now).0);
    }

    #[test]
    fn looks_are_as_rare_as_answers() {
        let (rhythm, mut now) = (Rhythm::new(), clock::now());
        let skips = push(&rhythm, 8, 1_000, 100, &mut now).1;
        assert!((20..80).contains(&skips), "{skips}");
        assert!(push(&rhythm, 8, 100_000, 1, &mut now).1 <= MOST as u32);
        assert_eq!(push(&rhythm, 8, 600, 10_000, &mut now).1, 0);
    }
}
