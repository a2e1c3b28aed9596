//! The workloads. A new one is a file here and a line in [`rows`].
#![forbid(unsafe_code)]

pub mod flat;
pub mod idle;
pub mod latency;
pub mod nested;
pub mod search;
pub mod spawns;
pub mod tree;

use crate::row::Row;
use std::time::{Duration, Instant};

/// Every row, in the order of the table.
pub fn rows() -> Vec<Row> {
    [
        tree::ROWS,
        flat::ROWS,
        latency::ROWS,
        spawns::ROWS,
        idle::ROWS,
        search::ROWS,
        nested::ROWS,
    ]
    .concat()
}

/// A pause after which every pool that knows how to sleep is asleep.
pub(crate) const NAP: Duration = Duration::from_millis(3);

/// Nanoseconds that `work` takes, divided by `parts`.
pub(crate) fn nanoseconds_each(parts: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / parts as f64
}
