//! What the tests of `fork` share: a child process, and a call for it to make.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};
use tine_pool::join;

/// The sum of the numbers from `from` up to `to`, by joins.
pub(crate) fn sum(from: u64, to: u64) -> u64 {
    if to - from < 10 {
        return (from..to).sum();
    }
    let mid = from + (to - from) / 2;
    let (a, b) = join(|| sum(from, mid), || sum(mid, to));
    a + b
}

/// Runs `child` in a child process; says with which status it ended.
pub(crate) fn forked(child: impl FnOnce()) -> i32 {
    // SAFETY: what the child calls allocates and starts threads, which the C libraries that this
    // is run on allow.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: no preconditions. A child that hangs is ended by it.
            unsafe { libc::alarm(60) };
            let ok = catch_unwind(AssertUnwindSafe(child)).is_ok();
            // SAFETY: no preconditions.
            unsafe { libc::_exit(if ok { 0 } else { 1 }) }
        }
        child => {
            let (mut status, begun) = (0, Instant::now());
            loop {
                // SAFETY: `status` is a place for the answer.
                match unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } {
                    0 => thread::sleep(Duration::from_millis(1)),
                    pid => {
                        assert_eq!(pid, child);
                        return status;
                    }
                }
                assert!(begun.elapsed() < Duration::from_secs(90), "the child hangs");
            }
        }
    }
}
