//! Jobs of threads with a time limit: a job that stands still ends the tests, with the name of its test.
#![allow(dead_code, reason = "each test file uses its own part")]

#[path = "../../../pool/tests/common/watched.rs"]
mod watchdog;

use std::time::Duration;
use std::{env, thread};
use tine_cluster::{Cluster, Error};
use watchdog::Watched;

/// How long a job may run: far more than any takes, on a busy machine.
const LIMIT: Duration = Duration::from_secs(100);

/// With this variable set, a job may run for that number of milliseconds instead.
pub(crate) const LESS: &str = "TINE_TEST_WATCH";

/// Watches a job of this thread's test.
fn watched() -> Watched {
    let less = env::var(LESS).ok().and_then(|less| less.parse().ok());
    let limit = less.map_or(LIMIT, Duration::from_millis);
    Watched::new(thread::current().name().unwrap_or("a test"), limit)
}

/// Like the library's function, with a time limit.
pub(crate) fn run_threads<F>(ranks: usize, body: F) -> Result<(), Error>
where
    F: Fn(&Cluster) -> Result<(), Error> + Sync,
{
    ThreadRanks::new(ranks).run(body)
}

/// Like the library's functions, with a time limit.
#[derive(Clone, Copy)]
pub(crate) struct ThreadRanks(tine_cluster::ThreadRanks);

impl ThreadRanks {
    pub(crate) fn new(ranks: usize) -> Self {
        ThreadRanks(tine_cluster::ThreadRanks::new(ranks))
    }

    pub(crate) fn round(self, bytes: usize) -> Self {
        ThreadRanks(self.0.round(bytes))
    }

    pub(crate) fn run<F>(self, body: F) -> Result<(), Error>
    where
        F: Fn(&Cluster) -> Result<(), Error> + Sync,
    {
        let _watch = watched();
        self.0.run(body)
    }
}
