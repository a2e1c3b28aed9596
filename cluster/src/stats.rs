//! What was sent, in how many messages and rounds, and how long ranks waited.
#![forbid(unsafe_code)]

use std::fmt;
use std::time::Duration;

/// What the collectives of a rank have cost so far, from [`Cluster::stats`](crate::Cluster::stats).
///
/// ```
/// tine_cluster::run_threads(2, |c| {
///     c.generate(1000, |i| i as u64).sort_by_key(|&n| std::cmp::Reverse(n));
///     let stats = c.stats();
///     assert_eq!(stats.of("sort_by_key").unwrap().calls, 1);
///     assert_eq!(stats.total().sent, stats.of("sort_by_key").unwrap().sent);
///     Ok(())
/// }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Each collective by its name, in the order of their first calls.
    pub collectives: Vec<(&'static str, Counts)>,
}

/// What one collective has cost a rank, all calls together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// How often it was called.
    pub calls: u64,
    /// Meetings of all ranks: headers, counts, candidates, rounds of an exchange.
    pub rounds: u64,
    /// Messages to one other rank each.
    pub messages: u64,
    /// Bytes of items that were sent to other ranks, in those messages.
    pub sent: u64,
    /// Bytes that this rank contributed to meetings of all ranks: headers, counts, candidates.
    pub met: u64,
    /// Time in the engine: sending, receiving and waiting for the others.
    pub waited: Duration,
}

impl Counts {
    fn add(&mut self, more: &Counts) {
        self.calls += more.calls;
        self.rounds += more.rounds;
        self.messages += more.messages;
        self.sent += more.sent;
        self.met += more.met;
        self.waited += more.waited;
    }
}

impl Stats {
    /// One collective's.
    pub fn of(&self, name: &str) -> Option<Counts> {
        let mut found = self.collectives.iter().filter(|(known, _)| *known == name);
        found.next().map(|(_, counts)| *counts)
    }

    /// All together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.collectives
            .iter()
            .for_each(|(_, counts)| total.add(counts));
        total
    }

    pub(crate) fn note(&mut self, name: &'static str, more: Counts) {
        match self
            .collectives
            .iter_mut()
            .find(|(known, _)| *known == name)
        {
            Some((_, counts)) => counts.add(&more),
            None => self.collectives.push((name, more)),
        }
    }
}

/// A table, a line for each collective.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<18} {:>7} {:>8} {:>9} {:>13} {:>11} {:>10}",
            "collective", "calls", "rounds", "messages", "sent", "met", "waited"
        )?;
        for (name, c) in &self.collectives {
            writeln!(
                f,
                "{name:<18} {:>7} {:>8} {:>9} {:>13} {:>11} {:>7.1} ms",
                c.calls,
                c.rounds,
                c.messages,
                c.sent,
                c.met,
                c.waited.as_secs_f64() * 1e3
            )?;
        }
        Ok(())
    }
}
