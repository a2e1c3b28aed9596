//! The numbers of a recording that show why a call is not faster.
#![forbid(unsafe_code)]

use crate::timeline::lanes::{Lane, Timeline};
use crate::timeline::spans;
use std::fmt;
use std::time::Duration;
use tine_pool::loops::global_threads;

/// A recording in numbers, with advice. Its `Display` is a few lines of text.
///
/// ```
/// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
/// let report = timeline.report();
/// assert!(report.effective_cores <= timeline.lanes().len() as f64);
/// assert!(report.to_string().starts_with("took "));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// How long it took.
    pub took: Duration,
    /// The number of seats of the pool in which the recorded call was made; of the global pool, if that was
    /// outside every pool. Seats of other pools are not counted, but the work of their threads is.
    pub seats: usize,
    /// How many cores were at work on average: busy time divided by the time taken.
    pub effective_cores: f64,
    /// How often jobs of joins and loops were put on offer.
    pub offers: usize,
    /// How many jobs changed threads.
    pub steals: usize,
    /// How many threads were woken.
    pub wakes: usize,
    /// The longest block of a loop between two looks at other threads.
    pub longest_block: Duration,
    /// The time in which no thread worked on a seat, added up over all seats.
    pub idle: Duration,
    /// The time in which at most one thread worked: more threads cannot shorten it.
    pub alone: Duration,
}

impl Report {
    pub(super) fn new(timeline: &Timeline) -> Self {
        let took = timeline.took();
        let seats = timeline.seats.unwrap_or_else(global_threads);
        let busy: Duration = timeline.lanes().iter().map(Lane::busy).sum();
        let sum = |of: fn(&Lane) -> usize| timeline.lanes().iter().map(of).sum();
        let blocks = timeline.lanes().iter().map(Lane::longest_block);
        Self {
            took,
            seats,
            effective_cores: busy.as_secs_f64() / took.as_secs_f64().max(1e-9),
            offers: sum(Lane::offers),
            steals: sum(Lane::steals),
            wakes: sum(Lane::wakes),
            longest_block: blocks.max().unwrap_or_default(),
            idle: (took * seats as u32).saturating_sub(busy),
            alone: Duration::from_nanos(spans::one_at_most(
                timeline.lanes().iter().map(|lane| &lane.spans[..]),
                timeline.took,
            )),
        }
    }

    /// The fraction of the seats' time in which no thread worked there: 0 to 1.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| tine::join(|| 6, || 7));
    /// assert!((0.0..=1.0).contains(&timeline.report().idle_share()));
    /// ```
    pub fn idle_share(&self) -> f64 {
        let all = self.took.as_secs_f64() * self.seats as f64;
        (self.idle.as_secs_f64() / all.max(1e-9)).min(1.0)
    }

    /// The fraction of the time in which at most one thread worked: 0 to 1.
    ///
    /// ```
    /// let (_, timeline) = tine::timeline::record(|| std::hint::black_box(6 * 7));
    /// assert_eq!(timeline.report().alone_share(), 1.0);
    /// ```
    pub fn alone_share(&self) -> f64 {
        match self.took.is_zero() {
            true => 1.0,
            false => (self.alone.as_secs_f64() / self.took.as_secs_f64()).min(1.0),
        }
    }

    /// What the numbers mean, in a sentence.
    fn advice(&self) -> &'static str {
        let used = self.effective_cores / self.seats.max(1) as f64;
        if self.seats < 2 {
            "The pool has one seat: nothing can run in parallel."
        } else if used > 0.95 {
            "Every seat was busy nearly all the time: what is left is the work itself."
        } else if self.took < TOO_SHORT {
            "Too short to share: the call was over before another thread could have helped. \
             Give it more work at a time."
        } else if used > 0.85 {
            "Every seat was busy most of the time: what is left is mostly the work itself."
        } else if self.longest_block > self.took / 4 {
            "A large part ran as one block: one item is very long, or the pieces cannot be cut."
        } else if self.offers == 0 && self.steals == 0 {
            "It ran in sequence: nothing was put on offer. Is the work in a parallel call at all?"
        } else if self.steals == 0 {
            "Work was put on offer and no thread took any: the other threads came too late, or are \
             busy elsewhere."
        } else {
            "Part of it ran in sequence, or the threads waited for each other: see the picture."
        }
    }
}

/// A call that ends by then ends before a woken thread can help.
const TOO_SHORT: Duration = Duration::from_micros(50);

/// A number and what it counts: `1 job`, `2 jobs`.
fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: String| writeln!(f, "{name:<16} {value}");
        line("took", format!("{:.1?}", self.took))?;
        let cores = format!("{:.2} of {}", self.effective_cores, self.seats);
        line("effective cores", cores)?;
        let idle = format!("{:.0} % of the seats' time", 100.0 * self.idle_share());
        line("idle", idle)?;
        let alone = format!("{:.0} % of the time", 100.0 * self.alone_share());
        line("on one thread", alone)?;
        line("put on offer", counted(self.offers, "time"))?;
        line("stolen", counted(self.steals, "job"))?;
        line("woken", counted(self.wakes, "thread"))?;
        let longest = if self.longest_block.is_zero() {
            "not measured: no loop ran in blocks".to_owned()
        } else {
            format!("{:.1?}", self.longest_block)
        };
        line("longest block", longest)?;
        write!(f, "{}", self.advice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            took: Duration::from_millis(10),
            seats: 2,
            effective_cores: 1.0,
            offers: 1,
            steals: 1,
            wakes: 2,
            longest_block: Duration::ZERO,
            idle: Duration::from_millis(10),
            alone: Duration::from_millis(3),
        }
    }

    #[test]
    fn seats_are_those_of_the_pool_that_the_call_was_made_in() {
        let pool = |n| {
            let pool = tine_pool::ThreadPoolBuilder::new().num_threads(n).build();
            pool.unwrap()
        };
        let (three, five) = (pool(3), pool(5));
        let record = || crate::timeline::record(|| ()).1;
        let (inside, outside) = (three.install(record), record());
        assert_eq!(inside.report().seats, 3);
        assert_eq!(five.install(|| inside.report()).seats, 3);
        let global = tine_pool::current_num_threads();
        assert_eq!(outside.report().seats, global);
        assert_eq!(five.install(|| outside.report()).seats, global);
    }

    #[test]
    fn numbers_read_as_english() {
        let text = report().to_string();
        for line in [
            "took             10.0ms",
            "effective cores  1.00 of 2",
            "idle             50 % of the seats' time",
            "on one thread    30 % of the time",
            "put on offer     1 time",
            "stolen           1 job",
            "woken            2 threads",
            "longest block    not measured: no loop ran in blocks",
        ] {
            assert!(
                text.lines().any(|l| l == line),
                "{line:?} is not in\n{text}"
            );
        }
    }

    #[test]
    fn advice_tells_one_case_from_the_other() {
        let advised = |change: fn(&mut Report)| {
            let mut report = report();
            change(&mut report);
            report.advice().split([':', ',']).next().unwrap_or_default()
        };
        assert_eq!(advised(|r| r.seats = 1), "The pool has one seat");
        assert_eq!(
            advised(|r| r.effective_cores = 1.92),
            "Every seat was busy nearly all the time"
        );
        assert_eq!(
            advised(|r| r.effective_cores = 1.8),
            "Every seat was busy most of the time"
        );
        assert_eq!(advised(|r| r.took = TOO_SHORT / 2), "Too short to share");
        let alone = |r: &mut Report| (r.offers, r.steals) = (0, 0);
        assert_eq!(advised(alone), "It ran in sequence");
        assert_eq!(
            advised(|r| r.steals = 0),
            "Work was put on offer and no thread took any"
        );
        assert_eq!(
            advised(|r| r.longest_block = r.took / 2),
            "A large part ran as one block"
        );
        assert_eq!(advised(|_| ()), "Part of it ran in sequence");
    }

    #[test]
    fn a_recording_of_nothing_has_no_part_that_is_not_a_number() {
        let mut nothing = report();
        (nothing.took, nothing.idle) = (Duration::ZERO, Duration::ZERO);
        assert_eq!(nothing.idle_share(), 0.0);
    }
}
