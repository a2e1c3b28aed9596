//! Jobs of threads with an end: a job that stands still ends the tests, by the name of its own.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use std::{env, process, thread};
use tine_cluster::{Cluster, Error};

/// How long a job may run: far more than any takes, on a busy machine.
const LIMIT: Duration = Duration::from_secs(100);

/// With this variable, the number of milliseconds that a job may run in place of that.
pub(crate) const LESS: &str = "TINE_TEST_WATCH";

/// Ends the process if it is not dropped in time.
struct Watch {
    _over: Sender<()>,
}

impl Watch {
    fn new() -> Self {
        let (over, is_over) = channel();
        let test = thread::current().name().unwrap_or("a test").to_owned();
        let less = env::var(LESS).ok().and_then(|less| less.parse().ok());
        let limit = less.map_or(LIMIT, Duration::from_millis);
        thread::spawn(move || {
            if is_over.recv_timeout(limit) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let report = format!("{test}: a job stands still\n");
            // Not by the test's own output, which is caught.
            let _ = std::io::stderr().write_all(report.as_bytes());
            process::abort();
        });
        Watch { _over: over }
    }
}

/// As that of the library, with an end.
pub(crate) fn run_threads<F>(ranks: usize, body: F) -> Result<(), Error>
where
    F: Fn(&Cluster) -> Result<(), Error> + Sync,
{
    ThreadRanks::new(ranks).run(body)
}

/// As those of the library, with an end.
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
        let _watch = Watch::new();
        self.0.run(body)
    }
}
