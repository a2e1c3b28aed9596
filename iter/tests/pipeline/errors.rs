//! Errors: the first error in order wins, and stages in order see exactly the items before it.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tine_iter::pipeline;
use tine_iter::prelude::*;

use crate::kit::{Census, POOLS, in_pools_of};

#[test]
fn each_kind_at_each_position() {
    in_pools_of(POOLS, || {
        for at in [0, 1, 2, 63, 500, 999] {
            for stage in 0..4 {
                for limit in [1, 9, 200] {
                    let census = Census::default();
                    let fail = |here: usize, value: crate::kit::Counted| {
                        if here == stage && value.number == at {
                            Err(value.number)
                        } else {
                            Ok(value)
                        }
                    };
                    let mut seen = 0;
                    let outcome = pipeline((0..1000).map(|n| census.value(n)), limit)
                        .try_map(|value| fail(0, value))
                        .try_in_order(|value| fail(1, value))
                        .try_any_order(|value| fail(2, value))
                        .map(|value| value)
                        .try_for_each(|value| {
                            assert_eq!(value.number, seen);
                            let value = fail(3, value)?;
                            seen += 1;
                            drop(value);
                            Ok(())
                        });
                    assert_eq!((outcome, seen), (Err(at), at));
                    assert_eq!(census.alive(), 0);
                }
            }
        }
    });
}

#[test]
fn the_first_of_many() {
    in_pools_of(POOLS, || {
        for limit in [1, 4, 100] {
            // A later item fails at once, an earlier one after a while; and each item in another stage.
            let outcome = pipeline(0..400_usize, limit)
                .try_map(|n| match n {
                    200 => {
                        thread::sleep(Duration::from_millis(2));
                        Err(n)
                    }
                    n if n > 200 && n % 3 == 0 => Err(n),
                    n => Ok(n),
                })
                .map(|n| n)
                .try_in_order(|n| if n > 200 && n % 3 == 1 { Err(n) } else { Ok(n) })
                .try_for_each(|n| if n == 201 { Err(n) } else { Ok(()) });
            assert_eq!(outcome, Err(200));
        }
    });
}

#[test]
fn a_later_stage_fails_at_an_earlier_item_of_the_same_batch() {
    in_pools_of(POOLS, || {
        let outcome = pipeline(0..5000_usize, 2000)
            .try_map(|n| if n == 4001 { Err(n) } else { Ok(n) })
            .try_in_order(|n| if n == 4000 { Err(n) } else { Ok(n) })
            .try_for_each(|n| if n == 3999 { Err(n) } else { Ok(()) });
        assert_eq!(outcome, Err(3999));
    });
}

#[test]
fn after_an_error_little_is_drawn() {
    in_pools_of(POOLS, || {
        let drawn = AtomicUsize::new(0);
        let source = (0..).inspect(|_| {
            drawn.fetch_add(1, Ordering::Relaxed);
        });
        let outcome = pipeline(source, 64)
            .try_map(|n: usize| if n == 1000 { Err("no") } else { Ok(n) })
            .sum::<usize>();
        assert_eq!(outcome, Err("no"));
        assert!(drawn.into_inner() <= 1001 + 64);
    });
}

#[test]
fn all_ends_return_it() {
    let failing = || {
        (0..100_usize)
            .par_bridge_ordered(8)
            .try_map(|n| if n == 50 { Err(n) } else { Ok(n) })
    };
    assert_eq!(failing().run(), Err(50));
    assert_eq!(failing().count(), Err(50));
    assert_eq!(failing().sum::<usize>(), Err(50));
    assert_eq!(failing().collect::<Vec<_>>(), Err(50));
    assert_eq!(failing().fold(0, |a, b| a + b), Err(50));
    assert_eq!(failing().reduce(|| 0, |a, b| a + b), Err(50));
    assert_eq!(failing().for_each(drop), Err(50));
    assert_eq!(failing().filter(|n| *n < 40).run(), Err(50));
    assert_eq!(failing().enumerate().map(|(n, _)| n).count(), Err(50));
}

/// A disk that is full after this many bytes.
struct Full(usize, Vec<u8>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(self.0).min(1000);
        self.0 -= taken;
        self.1.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writers_fail() {
    in_pools_of(POOLS, || {
        for room in [0, 1, 65_536, 300_000] {
            let mut disk = Full(room, Vec::new());
            let outcome = pipeline(0..100_000_u32, 64)
                .map(|n| format!("{n}\n"))
                .write_to(&mut disk);
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::StorageFull);
            assert_eq!(disk.1.len(), room);
            let whole: String = (0..100_000).map(|n| format!("{n}\n")).collect();
            assert!(whole.as_bytes().starts_with(&disk.1));
        }
    });
}

#[test]
fn what_comes_before_an_error_is_written() {
    in_pools_of(POOLS, || {
        for at in [0, 1, 20_000] {
            let mut text = Vec::new();
            let outcome = pipeline(0..30_000_u32, 64)
                .try_map(|n| {
                    if n == at {
                        Err(io::Error::other("here"))
                    } else {
                        Ok(format!("{n}\n"))
                    }
                })
                .write_to(&mut text);
            assert_eq!(outcome.unwrap_err().to_string(), "here");
            let expected: String = (0..at).map(|n| format!("{n}\n")).collect();
            assert_eq!(text, expected.into_bytes());
        }
    });
}
