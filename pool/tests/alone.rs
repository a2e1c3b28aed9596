//! A pool of one thread, whose only seat an ordinary thread takes for each of its calls. No thread is left to
//! help, so no thread is woken; if the pool's own thread were woken, the next call would have to wait for it.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tine_pool::{ThreadPoolBuilder, join, stats};

/// Calls in an attempt, and attempts, at least one of which must succeed: if the caller is kept from running,
/// the thread that looks after stuck owners calls for help.
const CALLS: u64 = 10;
const ATTEMPTS: usize = 500;

/// Joins that are worth a helper, one inside the other.
fn halves(depth: u32) {
    if depth == 0 {
        let start = Instant::now();
        while black_box(start.elapsed()) < Duration::from_micros(20) {}
    } else {
        join(|| halves(depth - 1), || halves(depth - 1));
    }
}

// One test, as there is one global pool.
#[test]
fn calls_are_not_handed_to_the_thread_below() {
    ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .expect("a pool");
    let jobs = || stats().map_or(0, |stats| stats.seats[0].jobs);
    // The first calls may come while the thread still starts.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10)
        && stats().is_none_or(|stats| stats.seats[0].parks == 0)
    {
        halves(1);
    }
    let handed = |_| {
        let before = jobs();
        (0..CALLS).for_each(|_| halves(2));
        jobs() - before
    };
    let none = (0..ATTEMPTS).map(handed).any(|handed| handed == 0);
    assert!(none, "of each {CALLS} calls some were handed over");
}
