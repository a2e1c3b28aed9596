//! How work is cut: how often state is made, how small and how large pieces
//! are, and which items may wait for which.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use tine_iter::prelude::*;
use tine_pool::{ThreadPool, ThreadPoolBuilder};

const MANY: u32 = 1_000_000;

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// Runs `op` on a separate thread, and gives up on it after five minutes.
fn in_time<R: Send + 'static>(op: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, wait) = channel();
    let worker = thread::spawn(move || done.send(op()).unwrap());
    let result = wait
        .recv_timeout(Duration::from_secs(300))
        .expect("the test hangs, or panicked");
    worker.join().unwrap();
    result
}

/// Counts how often it is called.
#[derive(Default)]
struct Calls(AtomicUsize);

impl Calls {
    fn call(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    fn take(&self) -> usize {
        self.0.swap(0, Relaxed)
    }
}

/// Counts how often it is cloned.
struct Seed<'c>(&'c Calls);

impl Clone for Seed<'_> {
    fn clone(&self) -> Self {
        self.0.call();
        Seed(self.0)
    }
}

/// What was done, how many states that made, and how many pieces were stolen meanwhile.
type Made = (&'static str, usize, usize);

/// How often each adapter and sink that makes states made one.
fn states_made(pool: &ThreadPool, calls: &Calls) -> Vec<Made> {
    let init = || calls.call();
    let all = || (0..MANY).into_par_iter();
    let mut made = Vec::new();
    let stolen = || pool.stats().total().stolen as usize;
    let mut before = stolen();
    let mut note = |what| {
        let now = stolen();
        made.push((what, calls.take(), now - before));
        before = now;
    };

    assert_eq!(
        all().map_init(init, |(), n| n).collect::<Vec<_>>().len(),
        MANY as usize
    );
    note("map_init, collected in place");
    assert_eq!(
        all()
            .map_init(init, |(), n| n)
            .filter(|n| n % 2 == 0)
            .collect::<Vec<_>>()
            .len(),
        MANY as usize / 2
    );
    note("map_init, filtered, collected");
    assert_eq!(
        all()
            .map_with(Seed(calls), |_, n| u64::from(n))
            .sum::<u64>(),
        499_999_500_000
    );
    note("map_with, summed");
    let both: (Vec<u32>, Vec<u32>) = all().map_init(init, |(), n| (n, n)).unzip();
    assert_eq!(both.0, both.1);
    note("map_init, unzipped");
    all().for_each_init(init, |(), _| ());
    note("for_each_init");
    all().for_each_with(Seed(calls), |_, _| ());
    note("for_each_with");
    all().try_for_each_init(init, |(), _| Some(())).unwrap();
    note("try_for_each_init");
    all()
        .try_for_each_with(Seed(calls), |_, _| Some(()))
        .unwrap();
    note("try_for_each_with");
    all().fold(init, |(), _| ()).for_each(|()| ());
    note("fold");
    assert!(!all().fold(init, |(), _| ()).collect::<Vec<_>>().is_empty());
    note("fold, collected");
    all().fold_with(Seed(calls), |seed, _| seed).for_each(drop);
    note("fold_with");
    all().try_fold(init, |(), _| Some(())).for_each(drop);
    note("try_fold");
    all()
        .try_fold_with(Seed(calls), |seed, _| Some(seed))
        .for_each(drop);
    note("try_fold_with");
    all().reduce(
        || {
            calls.call();
            0
        },
        |a, b| a ^ b,
    );
    note("reduce");
    all()
        .flat_map_iter(|n| n..n + 2)
        .map_init(init, |(), n| n)
        .count();
    note("map_init after flat_map_iter");
    all()
        .enumerate()
        .rev()
        .map_init(init, |(), n| n)
        .find_first(|(_, n)| *n == 0);
    note("map_init after rev, before find_first");
    all().map_init(init, |(), n| n).find_last(|n| *n == 0);
    note("map_init before find_last");
    all().step_by(3).map_init(init, |(), n| n).max();
    note("map_init after step_by");
    all()
        .chunks(3)
        .map_init(init, |(), items| items.len())
        .max();
    note("map_init after chunks");
    let sums = all().fold_chunks(3, || 0, |sum, n| sum ^ n);
    sums.map_init(init, |(), sum| sum).max();
    note("map_init after fold_chunks");
    let sums = all().fold_chunks_with(3, 0, |sum, n| sum ^ n);
    sums.map_init(init, |(), sum| sum).max();
    note("map_init after fold_chunks_with");
    made
}

#[test]
fn one_thread_makes_one_state() {
    let calls = Calls::default();
    let pool = pool(1);
    for (what, made, _) in pool.install(|| states_made(&pool, &calls)) {
        assert_eq!(made, 1, "{what}");
    }
}

/// The piece that a call begins with, and each piece that another thread took from it: a thread that goes on
/// with a half that no other thread took goes on with the same state.
#[test]
fn a_state_for_each_piece_that_changed_hands() {
    for threads in [2, 8] {
        in_time(move || {
            let calls = Calls::default();
            let pool = pool(threads);
            for (what, made, stolen) in pool.install(|| states_made(&pool, &calls)) {
                assert!(
                    (1..=1 + stolen).contains(&made),
                    "{what}: {made} states, though {stolen} pieces were stolen"
                );
            }
        });
    }
}

/// Each state sees a contiguous run of the items, and all of them together see each item once.
#[test]
fn a_state_sees_a_contiguous_piece() {
    let pieces = Mutex::new(Vec::new());

    struct Piece<'p>(Range<u32>, &'p Mutex<Vec<(u32, u32)>>);

    impl Drop for Piece<'_> {
        fn drop(&mut self) {
            self.1.lock().unwrap().push((self.0.start, self.0.end));
        }
    }

    pool(8).install(|| {
        (0..MANY).into_par_iter().for_each_init(
            || Piece(0..0, &pieces),
            |piece, n| {
                if piece.0.is_empty() {
                    piece.0 = n..n;
                }
                assert_eq!(piece.0.end, n, "a piece has a gap");
                piece.0.end += 1;
            },
        )
    });
    let mut pieces = pieces.into_inner().unwrap();
    pieces.sort();
    assert_eq!(pieces.first().unwrap().0, 0);
    assert_eq!(pieces.last().unwrap().1, MANY);
    assert!(pieces.windows(2).all(|two| two[0].1 == two[1].0));
}

fn fold_lens(iter: impl IndexedParallelIterator) -> Vec<usize> {
    iter.fold(|| 0, |items, _| items + 1).collect()
}

#[test]
fn no_folder_of_fewer_than_min_len() {
    for threads in [1, 2, 7] {
        for len in [1, 9, 10, 19, 20, 21, 1000, 12_345] {
            for min in [1, 2, 10, 100] {
                let lens =
                    pool(threads).install(|| fold_lens((0..len).into_par_iter().with_min_len(min)));
                assert_eq!(lens.iter().sum::<usize>(), len as usize);
                assert!(
                    lens.iter().all(|n| *n >= min.min(len as usize)),
                    "{len} {min}: {lens:?}"
                );
            }
        }
    }
}

#[test]
fn no_folder_of_more_than_max_len() {
    for threads in [1, 2, 7] {
        for len in [1, 9, 10, 19, 20, 21, 1000, 12_345] {
            for max in [1, 2, 10, 100] {
                let lens =
                    pool(threads).install(|| fold_lens((0..len).into_par_iter().with_max_len(max)));
                assert_eq!(lens.iter().sum::<usize>(), len as usize);
                assert!(lens.iter().all(|n| *n <= max), "{len} {max}: {lens:?}");
            }
        }
    }
}

#[test]
fn a_panic_in_one_piece_does_not_stop_the_others() {
    for (threads, max) in [(1, 1), (2, 1), (2, 10), (7, 10)] {
        let ran = AtomicUsize::new(0);
        let result = std::panic::catch_unwind(|| {
            pool(threads).install(|| {
                (0..1000_usize)
                    .into_par_iter()
                    .with_max_len(max)
                    .for_each(|n| {
                        assert!(n % 500 != 250, "on purpose");
                        ran.fetch_add(1, Relaxed);
                    })
            })
        });
        assert!(result.is_err());
        assert!(ran.into_inner() >= 1000 - 2 * max);
    }
}

/// Every so often, in one call, as many items as threads wait for each other; in the `before` calls between, no
/// item waits.
fn meet(threads: usize, before: usize) {
    in_time(move || {
        pool(threads).install(|| {
            let barrier = Barrier::new(threads);
            for call in (0..=before).cycle().take(10 * (before + 1)) {
                (0..threads).into_par_iter().for_each(|_| {
                    if call == before {
                        barrier.wait();
                    }
                });
            }
        });
    });
}

#[test]
fn items_that_meet() {
    for threads in [1, 2, 4] {
        meet(threads, 0);
    }
}

#[test]
fn items_that_meet_at_a_short_loop() {
    for threads in [2, 4, 8] {
        meet(threads, 99);
    }
}

#[test]
fn a_search_that_ends_early_drops_the_rest() {
    let alive = Arc::new(());
    let items: Vec<_> = (0..10_000).map(|n| (n, alive.clone())).collect();
    let found = pool(3).install(|| items.into_par_iter().find_any(|(n, _)| *n == 17));
    assert_eq!(found.unwrap().0, 17);
    assert_eq!(Arc::strong_count(&alive), 1);
}
