//! How keys are computed that are each asked for once: in parallel where they are dear, however few there are.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::with_threads;
use crate::sort::par_sort_by_cached_key;

/// Counts threads that compute keys. The first waits for a second, up to a limit.
#[derive(Default)]
struct Meeting {
    inside: AtomicUsize,
    met: AtomicUsize,
}

impl Meeting {
    fn key(&self) {
        const LIMIT: Duration = Duration::from_secs(10);
        let here = self.inside.fetch_add(1, Relaxed) + 1;
        self.met.fetch_max(here, Relaxed);
        let start = Instant::now();
        while self.met.load(Relaxed) < 2 && start.elapsed() < LIMIT {
            thread::yield_now();
        }
        if self.met.load(Relaxed) < 2 {
            // In vain: the others need not wait as well.
            self.met.store(usize::MAX, Relaxed);
        }
        self.inside.fetch_sub(1, Relaxed);
    }

    fn took_place(self) -> bool {
        self.met.into_inner() != usize::MAX
    }
}

/// A key that takes long keeps no other thread from the next ones.
fn others_compute_keys_too<T, K>(lens: &[usize], make: fn(usize) -> T, key: fn(&T) -> K)
where
    T: Send + Ord + Clone + std::fmt::Debug,
    K: Ord + Send,
{
    for &len in lens {
        let mut v: Vec<T> = (0..len).rev().map(make).collect();
        let mut expected = v.clone();
        expected.sort();
        let meeting = Meeting::default();
        par_sort_by_cached_key(&mut v, &|value: &T| {
            meeting.key();
            key(value)
        });
        assert!(
            meeting.took_place(),
            "{len} keys were computed by one thread"
        );
        assert_eq!(v, expected);
    }
}

#[test]
fn dear_keys_are_computed_in_parallel() {
    with_threads(3, || {
        let text = |n: &String| n.clone();
        others_compute_keys_too(&[2, 20, 1500, 2500], |n| format!("{n:06}"), text);
        others_compute_keys_too(&[2, 20, 1500, 2500, 20_000], |n| n as u32, |&n| n);
        others_compute_keys_too(&[2, 2500, 20_000], |n| (n, [n; 6]), |pair| pair.0);
        // Nothing is sorted, but keys are asked for.
        others_compute_keys_too(&[2, 2500], |_| (), |&unit| unit);
    });
}

/// A site whose keys were cheap for long is no reason to compute dear ones alone.
#[test]
fn keys_that_become_dear_are_computed_in_parallel() {
    with_threads(3, || {
        let dear = AtomicBool::new(false);
        let threads = Mutex::new(HashSet::new());
        let key = |n: &u32| {
            if dear.load(Relaxed) {
                threads.lock().unwrap().insert(thread::current().id());
                thread::sleep(Duration::from_millis(1));
            }
            n.to_string()
        };
        let sort = || {
            let mut v: Vec<u32> = (0..50).rev().collect();
            par_sort_by_cached_key(&mut v, &key);
            assert!(v.is_sorted_by_key(u32::to_string));
        };
        (0..200).for_each(|_| sort());
        dear.store(true, Relaxed);
        // Some calls, so that a thread comes that the machine is slow to run.
        let came = (0..100).any(|_| {
            sort();
            threads.lock().unwrap().len() > 1
        });
        assert!(came, "dear keys were computed by one thread");
    });
}
