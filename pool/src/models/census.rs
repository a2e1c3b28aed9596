//! The counts of sleeping and searching threads, next to the words that the counts are kept for: a poster
//! believes only the counts.

use super::{beside, explore};
use crate::base::row::Row;
use crate::base::sync::{AtomicUsize, Ordering};
use crate::seat::Seat;
use crate::seat::sleep::Sleep;
use crate::seat::word::{Holder, Step};
use std::sync::Arc;

struct Pool {
    seats: Row<Seat>,
    sleep: Sleep,
    jobs: AtomicUsize,
}

/// Two seats whose threads sleep.
fn pool() -> Arc<Pool> {
    Arc::new(Pool {
        seats: Row::new((0..2).map(|i| Seat::new(i, 2, Holder::Parked))),
        sleep: Sleep::new(2, 2),
        jobs: AtomicUsize::new(0),
    })
}

/// A thread that ends its search sees a job that was posted, or the job's poster sees that the thread no longer
/// searches. Otherwise the job would lie there as long as the thread is busy with another job.
#[test]
fn who_ends_its_search_is_no_searcher() {
    ends_its_search(|pool| pool.sleep.post(2));
}

/// The same for a poster that reads only the first ENOUGH threads.
#[test]
fn who_ends_its_search_is_no_searcher_for_a_task() {
    ends_its_search(|pool| pool.sleep.post_task(2));
}

fn ends_its_search(post: fn(&Pool) -> bool) {
    explore(2, move || {
        let pool = pool();
        assert!(pool.sleep.take(&pool.seats[0], Step::Rise));
        let searcher = beside(&pool, |pool| {
            assert!(pool.sleep.end_search(&pool.seats[0]));
            pool.jobs.load(Ordering::Relaxed) > 0
        });
        pool.jobs.store(1, Ordering::Release);
        let wakes = post(&pool);
        let seen = searcher.join().unwrap();
        assert!(seen || wakes, "the job is seen by no thread");
    });
}

/// A sleeping thread is counted all the time, whatever is tried in vain with another thread's seat.
#[test]
fn who_sleeps_is_counted() {
    explore(2, || {
        let pool = pool();
        let waker = |pool: &Pool| pool.sleep.take(&pool.seats[0], Step::Wake);
        let wakers = [beside(&pool, waker), beside(&pool, waker)];
        assert_ne!(pool.sleep.census().sleeping(), 0);
        let woke = wakers.map(|waker| waker.join().unwrap());
        assert!(woke[0] != woke[1]);
        assert_eq!(pool.sleep.census().sleeping(), 1);
    });
}
