//! What a recording comes to: the numbers that tell why something is not faster.
#![forbid(unsafe_code)]

use crate::timeline::lanes::{Lane, Timeline};
use std::fmt;
use std::time::Duration;

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
    /// How many threads the global pool has seats for.
    pub seats: usize,
    /// How many cores were at work on average: busy time by time taken.
    pub effective_cores: f64,
    /// How often jobs of joins and loops were put on offer.
    pub offers: usize,
    /// How many jobs changed threads.
    pub steals: usize,
    /// How many threads were woken.
    pub wakes: usize,
    /// The longest block of a loop that ran without a look at the others.
    pub longest_block: Duration,
    /// Time of all seats in which nobody worked there.
    pub idle: Duration,
}

impl Report {
    pub(super) fn new(timeline: &Timeline) -> Self {
        let (took, seats) = (timeline.took(), tine_pool::current_num_threads());
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
        }
    }

    /// What the numbers say, in a sentence.
    fn advice(&self) -> &'static str {
        let used = self.effective_cores / self.seats.max(1) as f64;
        if self.seats < 2 {
            "There is one seat only: nothing can run beside anything."
        } else if used > 0.85 {
            "Nearly every seat was busy nearly all the time; what is left is the work itself."
        } else if self.took < Duration::from_micros(50) {
            "The call is shorter than a wake-up is worth; give it more work at a time."
        } else if self.longest_block > self.took / 4 {
            "A large part went by in one block: one item is very long, or the pieces cannot be cut."
        } else if self.steals == 0 {
            "Nobody took a part of it: is the work in a parallel call at all?"
        } else {
            "Part of it ran in sequence, or the threads waited for each other: see the picture."
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "took             {:.1?}", self.took)?;
        writeln!(
            f,
            "effective cores  {:.2} of {}",
            self.effective_cores, self.seats
        )?;
        writeln!(f, "idle             {:.1?} of seats' time", self.idle)?;
        writeln!(f, "put on offer     {} times", self.offers)?;
        writeln!(f, "stolen           {} jobs", self.steals)?;
        writeln!(f, "woken            {} threads", self.wakes)?;
        writeln!(f, "longest block    {:.1?}", self.longest_block)?;
        write!(f, "{}", self.advice())
    }
}
