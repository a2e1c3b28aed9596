//! An end for a test that stands still, for the tests of all packages.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use std::{process, thread};

/// Far more than any test takes, on a busy machine and under a sanitizer.
const LIMIT: Duration = Duration::from_secs(300);

/// Ends the process, with the name of the test and a picture of the global pool, if it is not dropped
/// in time.
#[must_use = "it is watched for as long as this lives"]
pub(crate) struct Watched {
    _over: Option<Sender<()>>,
}

impl Watched {
    pub(crate) fn new(test: &str, limit: Duration) -> Self {
        if cfg!(miri) {
            // The machine reports a deadlock itself, and its time is not that of a clock.
            return Watched { _over: None };
        }
        let (over, is_over) = channel();
        let test = test.to_owned();
        thread::spawn(move || {
            if is_over.recv_timeout(limit) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let report = format!("{test} stands still: {}\n", tine_pool::picture());
            // Not by the test's own output, which is caught.
            let _ = std::io::stderr().write_all(report.as_bytes());
            process::abort();
        });
        Watched { _over: Some(over) }
    }
}

/// Watches the test of this thread.
pub(crate) fn watched() -> Watched {
    Watched::new(thread::current().name().unwrap_or("a test"), LIMIT)
}
