//! A fork while another thread makes the very first map: the child does not wait for what that thread had begun.
//!
//! A separate file, since a process asks the system once. No map is made in the parent: each try has its own
//! process.
// The thread sanitizer ends a child that starts threads, as not supported.
#![cfg(all(target_os = "linux", not(miri), not(tine_tsan)))]

#[path = "../../pool/tests/common/child.rs"]
mod child;

use child::{forked, sum};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};
use tine_collections::{ParHashMap, ReadMap};

/// Each way to the first question that maps ask the system.
fn use_maps(which: usize) {
    if which == 0 {
        let map = ReadMap::new();
        assert_eq!((map.insert(1, 2), map.get_cloned(&1)), (None, Some(2)));
    } else {
        let map = ParHashMap::from([(1, 2)]);
        assert!((0..1000).all(|_| map.get_cloned(&1) == Some(2)));
        assert_eq!(map.insert(1, 3), Some(2));
    }
}

/// In a fresh process: one thread makes the first map, and another forks `delay` later.
fn first_map_and_fork(which: usize, delay: Duration) {
    let go = &AtomicUsize::new(0);
    let over = &AtomicBool::new(false);
    let status = thread::scope(|s| {
        s.spawn(|| {
            go.fetch_add(1, SeqCst);
            while go.load(SeqCst) < 2 {
                spin_loop();
            }
            use_maps(which);
            // A process of several threads takes longer to register for barriers.
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
        let status = forked(|| {
            use_maps(0);
            use_maps(1);
            assert_eq!(sum(0, 1000), 499_500);
        });
        over.store(true, SeqCst);
        status
    });
    // SAFETY: no preconditions. Without what else a process does at its end, which is the parent's.
    unsafe { libc::_exit(if status == 0 { 0 } else { 1 }) };
}

#[test]
fn a_child_waits_for_no_thread_of_its_parent() {
    for which in 0..2 {
        for step in 0..60_u64 {
            let delay = Duration::from_micros(step * step / 2);
            let status = forked(|| first_map_and_fork(which, delay));
            assert_eq!(status, 0, "way {which}, after {delay:?}");
        }
    }
}
