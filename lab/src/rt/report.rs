//! What was counted.

use super::machine::{PS, Times, machine};
use super::names;
use super::stretch::{self, Few};

/// One group of lines: those that the same fields lie in.
#[derive(Clone, Debug)]
pub(crate) struct Contended {
    pub(crate) fields: String,
    /// Part of all stalls for lines.
    pub(crate) share: f64,
    pub(crate) transfers: u64,
    pub(crate) refused: u64,
    pub(crate) lines: usize,
}

/// What happened since the last reset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) times: Times,
    pub(crate) switches: u64,
    pub(crate) contended: Vec<Contended>,
    /// When each thread that worked began to work, in nanoseconds from the reset.
    pub(crate) ramp: Vec<u64>,
    /// What was computed while few cores computed, by place, and for how long few did: in rows that are
    /// measured.
    pub(crate) few: (Vec<Few>, u64),
    /// What threads do, by time, if that is wanted.
    pub(crate) buckets: Vec<String>,
}

/// Forgets what was counted.
pub(crate) fn reset() {
    let Some(mut m) = machine() else { return };
    m.zero = m.here().clock;
    m.threads
        .iter_mut()
        .for_each(|t| t.times = Times::default());
    m.lines.uses.clear();
    m.stretches.clear();
    if let Some(buckets) = &mut m.buckets {
        buckets.clear();
    }
    m.switches = 0;
}

/// How many threads have worked since the reset.
pub(crate) fn threads_in_work() -> usize {
    machine().map_or(0, |m| {
        m.threads
            .iter()
            .filter(|t| t.times.first_work.is_some())
            .count()
    })
}

/// What was counted since the reset.
pub(crate) fn report() -> Report {
    let Some(m) = machine() else {
        return Report::default();
    };
    let mut report = Report {
        switches: m.switches,
        ..Report::default()
    };
    for thread in &m.threads {
        let (all, one) = (&mut report.times, &thread.times);
        all.work += one.work;
        all.stall += one.stall;
        all.hits += one.hits;
        all.spin += one.spin;
        all.system += one.system;
        all.wakes += one.wakes;
        all.sleeps += one.sleeps;
        all.touches += one.touches;
        all.transfers += one.transfers;
        all.refused += one.refused;
        report
            .ramp
            .extend(one.first_work.map(|at| at.saturating_sub(m.zero) / PS));
    }
    report.ramp.sort_unstable();
    report.contended = names::group(&m.lines.uses);
    report.few = stretch::sum(&m.stretches, m.cores.len());
    let buckets = m.buckets.as_ref();
    report.buckets = buckets.map_or_else(Vec::new, |b| b.tell(m.cores.len()));
    report
}
