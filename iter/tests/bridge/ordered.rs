//! `par_bridge_ordered`.

use std::iter::from_fn;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use tine_iter::prelude::*;
use tine_pool::join;

use crate::kit::{Census, Counted, POOLS, in_pools_of, panics};

#[test]
fn in_order() {
    in_pools_of(POOLS, || {
        for size in [0, 1, 2, 10, 5000] {
            let expected: Vec<usize> = (0..size).map(|n| n * n).collect();
            for look_ahead in [1, 2, 5, 1000, usize::MAX] {
                let squares = (0..size).par_bridge_ordered(look_ahead).map(|n| n * n);
                assert_eq!(squares.clone().collect::<Vec<_>>(), expected);
                let join = |mut all: Vec<usize>, square| {
                    all.push(square);
                    all
                };
                assert_eq!(squares.fold(Vec::new(), join), expected);
            }
        }
    });
}

#[test]
fn some_are_late() {
    in_pools_of(POOLS, || {
        let late = |n: u64| {
            if n.is_multiple_of(7) {
                thread::sleep(Duration::from_micros(300));
            }
            n
        };
        let mut next = 0;
        (0..500).par_bridge_ordered(16).map(late).for_each(|n| {
            assert_eq!(n, next);
            next += 1;
        });
        assert_eq!(next, 500);
    });
}

#[test]
fn look_ahead_is_bounded() {
    in_pools_of(POOLS, || {
        for look_ahead in [1, 3, 10] {
            let (drawn, delivered) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let draw = (0..2000).inspect(|_| {
                let ahead = drawn.fetch_add(1, Ordering::SeqCst) + 1;
                assert!(ahead - delivered.load(Ordering::SeqCst) <= look_ahead);
            });
            draw.par_bridge_ordered(look_ahead)
                .map(|n| n)
                .for_each(|n| {
                    if n % 100 == 0 {
                        thread::sleep(Duration::from_millis(1));
                    }
                    delivered.fetch_add(1, Ordering::SeqCst);
                });
            assert_eq!(delivered.into_inner(), 2000);
        }
    });
}

#[test]
#[should_panic(expected = "look-ahead of 0")]
fn no_look_ahead() {
    let _ = (0..3).par_bridge_ordered(0);
}

#[test]
fn errors_end_it() {
    in_pools_of(POOLS, || {
        let mut seen = 0;
        let outcome = (0..)
            .par_bridge_ordered(8)
            .map(|n: usize| n)
            .try_for_each(|n| {
                seen += 1;
                if n == 700 { Err(n) } else { Ok(()) }
            });
        assert_eq!((outcome, seen), (Err(700), 701));
    });
}

#[test]
fn items_within_the_look_ahead_may_wait() {
    in_pools_of(&[2, 7, 32], || {
        let (send, receive) = sync_channel(0);
        let receive = Mutex::new(receive);
        let items = (0..200).par_bridge_ordered(2).map(|n| {
            if n % 2 == 0 {
                receive.lock().unwrap().recv().unwrap();
            } else {
                send.send(()).unwrap();
            }
            n
        });
        assert!(items.collect::<Vec<_>>().into_iter().eq(0..200));
    });
}

#[test]
fn everywhere_the_pool() {
    in_pools_of(POOLS, || {
        let mut n = 0;
        let items = from_fn(|| {
            n = join(|| n + 1, || ()).0;
            (n <= 500).then_some(n)
        });
        let mut sum = 0;
        items
            .par_bridge_ordered(4)
            .map(|n| join(|| n, || n).0)
            .for_each(|n| {
                sum += join(|| n, || 0).0;
            });
        assert_eq!(sum, 500 * 501 / 2);
    });
}

/// Runs a bridge that panics in one of three places; everything is dropped once.
fn panicking(place: usize) {
    in_pools_of(POOLS, move || {
        for at in [0, 1, 30, 999] {
            let census = Census::default();
            let fail = |here: usize, value: Counted| {
                assert!(here != place || value.number != at);
                value
            };
            let line = || {
                (0..1000)
                    .map(|n| fail(0, census.value(n)))
                    .par_bridge_ordered(9)
                    .map(|value| fail(1, value))
                    .for_each(|value| drop(fail(2, value)));
            };
            assert!(panics(line));
            assert_eq!(census.alive(), 0);
        }
    });
}

#[test]
fn panics_of_next() {
    panicking(0);
}

#[test]
fn panics_of_items() {
    panicking(1);
}

#[test]
fn panics_of_the_sink() {
    panicking(2);
}
