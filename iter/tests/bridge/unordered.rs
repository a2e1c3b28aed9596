//! `par_bridge`.

use std::collections::HashSet;
use std::iter::from_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Barrier, Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use tine_iter::prelude::*;
use tine_pool::{current_num_threads, join, yield_now};

use crate::kit::{Census, POOLS, in_pools_of, panics};

/// An iterator that makes no promises.
fn hesitant<T>(iter: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    iter.filter(|_| true)
}

#[test]
fn each_item_once() {
    in_pools_of(POOLS, || {
        for size in [0, 1, 2, 5, 100, 10_000] {
            let all: HashSet<usize> = (0..size).collect();
            for items in [
                (0..size).par_bridge().collect::<Vec<_>>(),
                hesitant(0..size).par_bridge().collect(),
                (0..size).par_bridge().batched().collect(),
                hesitant(0..size).par_bridge().batched().collect(),
                vec![(); size]
                    .into_iter()
                    .enumerate()
                    .map(|(n, ())| n)
                    .par_bridge()
                    .collect(),
            ] {
                assert_eq!(items.len(), size);
                assert_eq!(items.into_iter().collect::<HashSet<_>>(), all);
            }
        }
    });
}

#[test]
fn a_hint_may_be_wrong() {
    struct Boaster(usize, (usize, Option<usize>));

    impl Iterator for Boaster {
        type Item = usize;

        fn next(&mut self) -> Option<usize> {
            self.0 = self.0.checked_sub(1)?;
            Some(self.0)
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            self.1
        }
    }

    in_pools_of(POOLS, || {
        for hint in [
            (1, None),
            (usize::MAX, None),
            (10_000, Some(1)),
            (0, Some(0)),
        ] {
            assert_eq!(Boaster(5000, hint).par_bridge().sum::<usize>(), 4999 * 2500);
            let batched = Boaster(5000, hint).par_bridge().batched();
            assert_eq!(batched.sum::<usize>(), 4999 * 2500);
        }
    });
}

#[test]
fn next_waits_until_all_items_have_begun() {
    in_pools_of(&[2, 7, 17, 32], || {
        for pause in [0, 20, 200] {
            let (begun, all_begun) = (Mutex::new(0), Condvar::new());
            let patient = (0..500).inspect(|n| {
                drop(all_begun.wait_while(begun.lock().unwrap(), |begun| *begun < *n));
                thread::sleep(Duration::from_micros(pause * (n % 2)));
            });
            hesitant(patient).par_bridge().for_each(|_| {
                *begun.lock().unwrap() += 1;
                all_begun.notify_all();
            });
            assert_eq!(begun.into_inner().unwrap(), 500);
        }
    });
}

#[test]
fn panics_where_many_threads_wait() {
    in_pools_of(&[17, 24], || {
        for (at, hinting) in [0, 3, 40, 400]
            .into_iter()
            .flat_map(|at| [(at, false), (at, true)])
        {
            let census = Census::default();
            let begun = AtomicUsize::new(0);
            let values = || {
                (0..800).map(|n| {
                    assert!(n != at, "next");
                    census.value(n)
                })
            };
            let run = |_| {
                begun.fetch_add(1, Ordering::Relaxed);
            };
            if hinting {
                assert!(panics(|| values().par_bridge().for_each(run)));
                assert!(begun.into_inner() <= at);
            } else {
                assert!(panics(|| hesitant(values()).par_bridge().for_each(run)));
                // All items that were given have begun.
                assert_eq!(begun.into_inner(), at);
            }
            assert_eq!(census.alive(), 0);
            // An item panics, in the hands of a thread that others draw for.
            let items = hesitant((0..800).map(|n| census.value(n))).par_bridge();
            assert!(panics(
                || items.for_each(|value| assert!(value.number != at))
            ));
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn after_the_end_it_is_over() {
    in_pools_of(POOLS, || {
        let mut calls = 0;
        let blinking = from_fn(move || {
            calls += 1;
            (calls % 10 != 0).then_some(calls)
        });
        assert_eq!(blinking.par_bridge().count(), 9);
    });
}

#[test]
fn requests_wait_for_responses() {
    type Message = (usize, Option<Sender<()>>, Option<Receiver<()>>);

    /// Every item with an even number waits for the item after it.
    fn messages() -> impl Iterator<Item = Message> {
        let mut waiting = None;
        (0..200).map(move |n| match waiting.take() {
            None => {
                let (send, receive) = channel();
                waiting = Some(send);
                (n, None, Some(receive))
            }
            send => (n, send, None),
        })
    }

    fn handle((_, send, receive): Message) {
        if let Some(receive) = receive {
            receive.recv().unwrap();
        }
        if let Some(send) = send {
            send.send(()).unwrap();
        }
    }

    in_pools_of(&[2, 7, 32], || {
        hesitant(messages()).par_bridge().for_each(handle)
    });
}

#[test]
fn the_iterator_waits_for_items() {
    in_pools_of(POOLS, || {
        // Each item sends the next ones; the channel closes when the last item is gone.
        struct Job(u32, Sender<Job>);
        let (send, receive) = channel();
        send.send(Job(10, send.clone())).unwrap();
        drop(send);
        let done = AtomicUsize::new(0);
        receive.into_iter().par_bridge().for_each(|Job(n, queue)| {
            done.fetch_add(1, Ordering::Relaxed);
            for _ in 0..2 {
                if n > 0 {
                    queue.send(Job(n - 1, queue.clone())).unwrap();
                }
            }
        });
        assert_eq!(done.into_inner(), (1 << 11) - 1);
    });
}

#[test]
fn what_was_drawn_ahead_is_not_stuck() {
    in_pools_of(&[2, 7, 32], || {
        // After many quick items, which are drawn in batches, one waits for
        // the one after it.
        for waits in [5_000, 9_000, 9_998] {
            let (send, receive) = sync_channel(1);
            let receive = Mutex::new(receive);
            (0..10_000).par_bridge().for_each(|n| {
                if n == waits {
                    receive.lock().unwrap().recv().unwrap();
                } else if n == waits + 1 {
                    send.send(()).unwrap();
                }
            });
        }
    });
}

#[test]
fn next_may_use_the_pool() {
    in_pools_of(POOLS, || {
        let mut n = 0;
        let joining = from_fn(|| {
            let (a, b) = join(|| n + 1, || n);
            n = a.max(b);
            (n <= 3000).then_some(n)
        });
        assert_eq!(joining.par_bridge().sum::<usize>(), 3000 * 3001 / 2);
    });
}

/// A thread that runs any job inside `next` comes upon pieces of the very same bridge. If it cut a piece in
/// two, another thread could take the half and wait for that `next`.
#[test]
fn next_may_run_any_job() {
    let yields = || {
        (0..500).filter(|n| {
            if n % 4 == 0 {
                yield_now();
            }
            true
        })
    };
    in_pools_of(&[16], move || {
        let rounds = if cfg!(miri) { 1 } else { 1500 };
        for _ in 0..rounds {
            assert_eq!(yields().par_bridge().count(), 500);
            assert_eq!(yields().par_bridge().batched().count(), 500);
        }
    });
}

#[test]
fn bridges_in_bridges() {
    in_pools_of(POOLS, || {
        let inner = |n: usize| hesitant(0..n).par_bridge().sum::<usize>();
        let total: usize = (0..100).par_bridge().map(inner).sum();
        assert_eq!(
            total,
            (0..100).map(|n: usize| n * n.saturating_sub(1) / 2).sum()
        );
    });
}

#[test]
fn every_thread_may_take_part() {
    in_pools_of(&[1, 2, 7], || {
        let seen: Mutex<HashSet<ThreadId>> = Mutex::default();
        let everybody = current_num_threads();
        // Each of the first items waits until there is one for each thread.
        hesitant(0..everybody).par_bridge().for_each(|_| {
            seen.lock().unwrap().insert(thread::current().id());
            while seen.lock().unwrap().len() < everybody {
                thread::yield_now();
            }
        });
    });
}

#[test]
fn folds() {
    in_pools_of(POOLS, || {
        for size in [0, 1, 2, 100, 10_000] {
            let push = |mut all: Vec<usize>, n| {
                all.push(n);
                all
            };
            let append = |mut all: Vec<usize>, mut more: Vec<_>| {
                all.append(&mut more);
                all
            };
            for mut all in [
                (0..size)
                    .par_bridge()
                    .fold(Vec::new, push)
                    .reduce(Vec::new, append),
                hesitant(0..size)
                    .par_bridge()
                    .fold(Vec::new, push)
                    .reduce(Vec::new, append),
                (0..size)
                    .par_bridge()
                    .batched()
                    .fold(Vec::new, push)
                    .reduce(Vec::new, append),
            ] {
                all.sort_unstable();
                assert!(all.into_iter().eq(0..size));
            }
        }
        // Without an end, but for the fold that fails.
        let failed = (0u64..)
            .par_bridge()
            .try_fold(
                || 0,
                |sum, n| if n == 12_345 { None } else { Some(sum + n) },
            )
            .try_reduce(|| 0, |a, b| Some(a + b));
        assert_eq!(failed, None);
        let found = (0u64..)
            .par_bridge()
            .map(|n| n * 3)
            .fold_with(0, |_, n| n)
            .take_any(0)
            .count();
        assert_eq!(found, 0);
    });
}

#[test]
fn early_end() {
    in_pools_of(POOLS, || {
        assert!((0u64..).par_bridge().any(|n| n == 12_345));
        assert_eq!((0u64..).par_bridge().take_any(100).count(), 100);
        assert_eq!((0u64..).par_bridge().take_any(0).count(), 0);
        assert!((0u64..).par_bridge().batched().any(|n| n == 12_345));
        assert_eq!((0u64..).par_bridge().batched().take_any(100).count(), 100);
        let census = Census::default();
        let values = (0..100_000).map(|n| census.value(n));
        let found = values.par_bridge().find_any(|value| value.number > 500);
        assert!(found.unwrap().number > 500);
        assert_eq!(census.alive(), 0);
        let values = (0..100_000).map(|n| census.value(n)).par_bridge();
        let found = values.batched().find_any(|value| value.number > 500);
        assert!(found.unwrap().number > 500);
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn panics_of_next() {
    in_pools_of(POOLS, || {
        for at in [0, 1, 50, 2000] {
            let census = Census::default();
            let values = || {
                (0..5000).map(|n| {
                    assert!(n != at);
                    census.value(n)
                })
            };
            assert!(panics(|| values().par_bridge().for_each(drop)));
            assert!(panics(|| hesitant(values())
                .par_bridge()
                .collect::<Vec<_>>()));
            assert!(panics(|| values().par_bridge().batched().for_each(drop)));
            assert!(panics(|| hesitant(values())
                .par_bridge()
                .batched()
                .collect::<Vec<_>>()));
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn panics_of_items() {
    in_pools_of(POOLS, || {
        for at in [0, 1, 50, 2000] {
            let census = Census::default();
            let done = AtomicBool::new(false);
            let run = |value: crate::kit::Counted| {
                assert!(value.number != at);
                done.fetch_or(value.number == 4999, Ordering::Relaxed);
            };
            let values = || (0..5000).map(|n| census.value(n));
            assert!(panics(|| values().par_bridge().for_each(run)));
            assert!(panics(|| hesitant(values()).par_bridge().for_each(run)));
            assert!(panics(|| values()
                .par_bridge()
                .batched()
                .for_each(|value| assert!(value.number != at))));
            assert_eq!(census.alive(), 0);
            let expected = current_num_threads() > 1;
            assert!(
                done.into_inner() || !expected,
                "other threads go on to the end"
            );
        }
    });
}

#[test]
fn slow_sources() {
    in_pools_of(&[2, 7], || {
        let ticks = hesitant(0..30).inspect(|_| thread::sleep(Duration::from_millis(1)));
        assert_eq!(ticks.par_bridge().map(|n| n * 2).sum::<usize>(), 29 * 30);
    });
}

#[test]
fn state_is_made_once_for_each_thread_at_most() {
    in_pools_of(POOLS, || {
        let made = AtomicUsize::new(0);
        let init = || made.fetch_add(1, Ordering::Relaxed);
        (0..100_000).par_bridge().for_each_init(init, |_, _| ());
        assert!(made.swap(0, Ordering::Relaxed) <= current_num_threads());
        let batched = (0..100_000).par_bridge().batched();
        batched.for_each_init(init, |_, _| ());
        assert!(made.into_inner() <= current_num_threads());
    });
}

#[test]
fn as_many_items_as_threads_wait_for_each_other() {
    in_pools_of(&[1, 2, 4], || {
        let everybody = current_num_threads();
        let meeting = Barrier::new(everybody);
        for _ in 0..1_000 {
            let items: Vec<usize> = (0..everybody).collect();
            items.into_iter().par_bridge().for_each(|_| {
                meeting.wait();
            });
        }
    });
}

#[test]
fn the_last_items_wait_for_each_other() {
    in_pools_of(&[2, 17, 24], || {
        let everybody = current_num_threads();
        let meeting = Barrier::new(everybody);
        for size in [everybody, 100, 20_000] {
            let done = AtomicUsize::new(0);
            // Many quick items, so that many are drawn at once.
            (0..size).par_bridge().for_each(|n| {
                if n + everybody >= size {
                    meeting.wait();
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(done.into_inner(), size);
        }
    });
}
