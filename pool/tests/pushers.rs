//! Tasks that many ordinary threads push at the same time: each is run once, and its closure is dropped once;
//! if one thread runs them, the tasks of one pusher run in its order.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use tine_pool::ThreadPoolBuilder;

const PUSHERS: usize = 8;
const TASKS: usize = if cfg!(miri) { 6 } else { 600 };

/// What a task owns: it counts its drop.
struct Owned(Arc<AtomicUsize>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Calls `push` on this number of threads at the same time, with the number of each.
fn all_at_once(push: impl Fn(usize) + Sync) {
    let start = Barrier::new(PUSHERS);
    thread::scope(|s| {
        for i in 0..PUSHERS {
            let (start, push) = (&start, &push);
            s.spawn(move || {
                start.wait();
                push(i);
            });
        }
    });
}

#[test]
fn each_task_is_run_once() {
    let pools: &[usize] = if cfg!(miri) { &[2] } else { &[1, 3, 20] };
    for &threads in pools {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (ran, dropped) = (Arc::default(), Arc::default());
        let task = || {
            let (ran, owned) = (Arc::<AtomicUsize>::clone(&ran), Owned(Arc::clone(&dropped)));
            move || {
                let _owned = owned;
                ran.fetch_add(1, SeqCst)
            }
        };
        let detached = || {
            let task = task();
            move || _ = task()
        };
        all_at_once(|i| match i % 4 {
            0 => (0..TASKS).for_each(|_| pool.spawn(detached())),
            1 => (0..TASKS).for_each(|_| pool.spawn_fifo(detached())),
            2 => (0..TASKS / 3).for_each(|_| pool.spawn_many((0..3).map(|_| detached()))),
            _ => {
                let all: Vec<_> = (0..TASKS).map(|_| pool.spawn_join(task())).collect();
                let seen = all.into_iter().map(|job| job.join().unwrap());
                assert!(seen.max() < Some(PUSHERS * TASKS));
            }
        });
        pool.shutdown();
        let counts = [&ran, &dropped].map(|count| count.load(SeqCst));
        assert_eq!(counts, [PUSHERS * TASKS; 2], "{threads} threads");
    }
}

#[test]
fn one_thread_runs_what_each_has_pushed_in_its_order() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let done: Arc<Mutex<Vec<Vec<usize>>>> = Arc::new(Mutex::new(vec![Vec::new(); PUSHERS]));
    let task = |i: usize, n: usize| {
        let done = Arc::clone(&done);
        move || done.lock().unwrap()[i].push(n)
    };
    all_at_once(|i| {
        for n in (0..TASKS).step_by(3) {
            pool.spawn(task(i, n));
            pool.spawn_many([n + 1, n + 2].map(|n| task(i, n)));
        }
    });
    pool.shutdown();
    for (i, order) in done.lock().unwrap().iter().enumerate() {
        assert!(order.iter().copied().eq(0..TASKS), "pusher {i}: {order:?}");
    }
}
