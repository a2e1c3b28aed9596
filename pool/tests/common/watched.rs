//! An end to a test that stands still.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use std::{process, thread};

/// Far more than any test takes, on a busy machine and under a sanitizer.
const LIMIT: Duration = Duration::from_secs(300);

/// Ends the process, with the name of the test and a picture of the global pool, if it is not dropped
/// in time.
pub(crate) struct Watched {
    _over: Option<Sender<()>>,
}

/// Watches the test of this thread.
#[must_use = "it is watched for as long as this lives"]
pub(crate) fn watched() -> Watched {
    if cfg!(miri) {
        // It tells of a deadlock itself, and its time is not that of a clock.
        return Watched { _over: None };
    }
    let (over, is_over) = channel();
    let test = thread::current().name().unwrap_or("a test").to_owned();
    thread::spawn(move || {
        if is_over.recv_timeout(LIMIT) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let report = format!("{test} stands still: {}\n", tine_pool::picture());
        // Not by the test's own output, which is caught.
        let _ = std::io::stderr().write_all(report.as_bytes());
        process::abort();
    });
    Watched { _over: Some(over) }
}
