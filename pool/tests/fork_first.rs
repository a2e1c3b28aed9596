//! A fork while another thread makes its very first parallel call: the child does not wait for what that thread
//! had begun.
//!
//! A separate file, since a process makes its first call once. No call is made in the parent: each try has its
//! own process.
// The thread sanitizer ends a child that starts threads, as not supported.
#![cfg(all(unix, not(miri), not(tine_tsan)))]

#[path = "common/child.rs"]
mod child;

use child::{forked, sum};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// In a fresh process: one thread makes its first call, and another forks `delay` later.
fn first_call_and_fork(delay: Duration) {
    let go = &AtomicUsize::new(0);
    let over = &AtomicBool::new(false);
    let status = thread::scope(|s| {
        s.spawn(|| {
            // It has begun: std has a lock there.
            go.fetch_add(1, SeqCst);
            while go.load(SeqCst) < 2 {
                spin_loop();
            }
            sum(0, 100);
            // The address sanitizer has a lock where a thread ends.
            while !over.load(SeqCst) {
                thread::sleep(Duration::from_micros(100));
            }
        });
        while go.load(SeqCst) < 1 {
            spin_loop();
        }
        go.store(2, SeqCst);
        let begun = Instant::now();
        while begun.elapsed() < delay {
            spin_loop();
        }
        let status = forked(|| assert_eq!(sum(0, 1_000), 499_500));
        over.store(true, SeqCst);
        status
    });
    // SAFETY: no preconditions. Without what else a process does at its end, which is the parent's.
    unsafe { libc::_exit(if status == 0 { 0 } else { 1 }) };
}

#[test]
fn a_child_waits_for_no_thread_of_its_parent() {
    for micros in 0..400 {
        let delay = Duration::from_micros(micros / 2);
        assert_eq!(forked(|| first_call_and_fork(delay)), 0, "after {delay:?}");
    }
}
