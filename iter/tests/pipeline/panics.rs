//! Panics in every closure, and what happens to the values.

use std::sync::atomic::{AtomicBool, Ordering};

use tine_iter::pipeline;

use crate::kit::{Census, Counted, POOLS, in_pools_of, panics};

/// Runs a pipeline that panics in one of its places; everything is dropped once.
fn panicking(place: usize) {
    in_pools_of(POOLS, move || {
        for at in [0, 1, 30, 999] {
            for batched in [true, false] {
                let census = Census::default();
                let fail = |here: usize, value: Counted| {
                    assert!(here != place || value.number != at);
                    value
                };
                let line = || {
                    let line = pipeline((0..1000).map(|n| fail(0, census.value(n))), 37);
                    let line = if batched { line } else { line.one_by_one() };
                    line.map(|value| fail(1, value))
                        .in_order(|value| fail(2, value))
                        .filter(|value| {
                            assert!(place != 3 || value.number != at);
                            true
                        })
                        .any_order(|value| fail(4, value))
                        .flat_map(|value| [fail(5, value)])
                        .fold_parts(Vec::new, |mut all, value| {
                            all.push(fail(6, value));
                            all
                        })
                        .for_each(|values| {
                            for value in values {
                                drop(fail(7, value));
                            }
                        });
                };
                assert!(panics(line));
                assert_eq!(census.alive(), 0);
            }
        }
    });
}

#[test]
fn of_the_source() {
    panicking(0);
}

#[test]
fn of_a_map() {
    panicking(1);
}

#[test]
fn of_a_stage_in_order() {
    panicking(2);
}

#[test]
fn of_a_filter() {
    panicking(3);
}

#[test]
fn of_a_stage_in_any_order() {
    panicking(4);
}

#[test]
fn of_a_flat_map() {
    panicking(5);
}

#[test]
fn of_a_fold() {
    panicking(6);
}

#[test]
fn of_the_end() {
    panicking(7);
}

#[test]
fn of_stop_and_of_drop() {
    in_pools_of(POOLS, || {
        assert!(panics(|| pipeline(0..9, 2)
            .stop_when(|| panic!("on purpose"))
            .run()));
        struct Bomb(bool);
        impl Drop for Bomb {
            fn drop(&mut self) {
                assert!(!self.0 || std::thread::panicking(), "on purpose");
            }
        }
        for at in [0, 5, 99] {
            let bombs = || (0..100).map(|n| Bomb(n == at));
            assert!(panics(|| pipeline(bombs(), 9).run()));
            assert!(panics(|| pipeline(bombs(), 9).filter(|_| false).run()));
            assert!(panics(|| pipeline(bombs(), 9).in_order(drop).run()));
        }
    });
}

#[test]
fn a_panic_wins_over_an_error() {
    in_pools_of(POOLS, || {
        let census = Census::default();
        let both = || {
            pipeline((0..500).map(|n| census.value(n)), 20)
                .try_map(|value| {
                    if value.number == 300 {
                        Err(value)
                    } else {
                        Ok(value)
                    }
                })
                .for_each(|value| assert!(value.number != 250))
        };
        assert!(panics(both));
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn afterwards_the_pool_is_as_before() {
    in_pools_of(POOLS, || {
        for turn in 0..200 {
            let here = AtomicBool::new(false);
            assert!(panics(|| pipeline(0..50, 5)
                .map(|n| assert!(n != turn % 50))
                .inspect(|()| here.store(true, Ordering::Relaxed))
                .run()));
            assert_eq!(pipeline(0..50, 5).sum::<i32>(), 1225);
        }
    });
}
