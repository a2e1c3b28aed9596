//! Errors of readers, with their places.

use std::io::{self, ErrorKind, Read};

use tine_iter::readers::{ParallelRead, ReadError, over};

use crate::feeds::{Breaks, Drops, Long};
use crate::kit::{POOLS, in_pools_of};

/// The kind of an error, the number of its record, and the number of bytes before it.
fn place(error: &io::Error) -> (ErrorKind, u64, u64) {
    let place = ReadError::of(error).expect("an error of a reader");
    (
        error.kind(),
        place.record().expect("it is over"),
        place.offset(),
    )
}

/// This number of lines, each containing its own number.
fn text(lines: u64) -> String {
    (0..lines).map(|n| format!("{n}\n")).collect()
}

#[test]
fn a_read_fails_in_the_middle() {
    in_pools_of(POOLS, || {
        for lines in [0, 1, 2, 5000] {
            for tail in ["", "half a li"] {
                for block in [1, 64, 100_000] {
                    let text = text(lines);
                    let whole = format!("{text}{tail}");
                    let mut next = 0;
                    let broken = Breaks(whole.as_bytes(), false)
                        .par_lines()
                        .block_size(block);
                    let error = broken
                        .map(|line| line.parse::<u64>().unwrap())
                        .for_each(|n| {
                            // All whole lines before it come out.
                            assert_eq!(n, next);
                            next += 1;
                        })
                        .unwrap_err();
                    assert_eq!(next, lines);
                    let expected = (ErrorKind::ConnectionReset, lines + 1, text.len() as u64);
                    assert_eq!(place(&error), expected);
                }
            }
        }
    });
}

#[test]
fn text_that_is_none() {
    in_pools_of(POOLS, || {
        for at in [0, 1, 77, 999, 4999] {
            for block in [1, 50, 100_000] {
                let before = text(at);
                let mut bytes = before.clone().into_bytes();
                bytes.extend_from_slice(b"caf\xE9\n");
                bytes.extend_from_slice(text(100).as_bytes());
                bytes.extend_from_slice(b"\xFF\xFF\n");
                let expected = (ErrorKind::InvalidData, at + 1, before.len() as u64);
                let mut seen = 0;
                let lines = bytes.par_lines().block_size(block);
                let error = lines.map(|_| ()).for_each(|()| seen += 1).unwrap_err();
                assert_eq!((place(&error), seen), (expected, at));
                let lines = over(&bytes).par_lines().block_size(block);
                let error = lines.fold(|| 0, |n, _| n + 1).run().unwrap_err();
                assert_eq!(place(&error), expected);
                let lines = bytes.par_lines().numbered().block_size(block);
                let error = lines.map(|(n, _)| n).run().unwrap_err();
                assert_eq!(place(&error), expected);
                // As bytes nothing is wrong with it.
                assert_eq!(bytes.par_byte_lines().count().unwrap(), at + 102);
            }
        }
    });
}

#[test]
fn lines_that_are_too_long() {
    in_pools_of(POOLS, || {
        for at in [0, 1, 300] {
            for block in [1, 16, 100_000] {
                let before = text(at);
                let bytes = format!("{before}0123456789\r\n0123456789x\n1\n");
                let mut seen = 0;
                let lines = bytes.as_bytes().par_lines().longest(10).block_size(block);
                let error = lines.map(|_| ()).for_each(|()| seen += 1).unwrap_err();
                let expected = (ErrorKind::InvalidData, at + 2, before.len() as u64 + 12);
                assert_eq!((place(&error), seen), (expected, at + 1));
                assert!(
                    error.to_string().ends_with("longer than 10 bytes"),
                    "{error}"
                );
            }
        }
        let lines = io::repeat(b'x').par_byte_lines().longest(1 << 20);
        let error = lines.count().unwrap_err();
        assert_eq!(place(&error), (ErrorKind::InvalidData, 1, 0));
        // If a line is far too long, only its beginning is read.
        let mut reader = Long(usize::MAX);
        let error = reader
            .by_ref()
            .par_lines()
            .longest(1 << 20)
            .count()
            .unwrap_err();
        assert_eq!(place(&error), (ErrorKind::InvalidData, 1, 0));
        assert!(usize::MAX - reader.0 <= 4 << 20);
    });
}

/// The end of a record does not count, however long it is and wherever a read breaks off.
#[test]
fn records_of_the_greatest_length() {
    in_pools_of(POOLS, || {
        for separator in ["-", "--", "-----", "-+-+-+-+-"] {
            for block in 1..40 {
                let records = |longest: usize| {
                    let bytes = format!("{}{separator}y", "x".repeat(longest));
                    let read = bytes.as_bytes().par_records(separator).longest(10);
                    let lying = over(&bytes).par_records(separator).longest(10);
                    let read = read.block_size(block).count();
                    assert_eq!(read.is_ok(), lying.block_size(block).count().is_ok());
                    read
                };
                assert_eq!(records(10).unwrap(), 2);
                assert_eq!(place(&records(11).unwrap_err()).1, 1);
            }
        }
    });
}

/// A closure may look at the bytes behind a record.
#[test]
fn closures_that_look_ahead() {
    // A record begins with a `>` behind a line feed, or at the beginning.
    let cutter = |bytes: &[u8]| {
        bytes
            .windows(5)
            .position(|w| w == b"\n>>>>")
            .map(|at| at + 1)
    };
    in_pools_of(POOLS, move || {
        for block in 1..40 {
            let records = |longest: usize| {
                let bytes = format!(">>>>{}\n>>>>y\n", "x".repeat(longest - 5));
                let read = bytes.as_bytes().par_records_by(cutter).longest(10);
                read.block_size(block).count()
            };
            assert_eq!(records(10).unwrap(), 2);
            assert_eq!(place(&records(11).unwrap_err()).1, 1);
        }
        // If a record is far too long, only its beginning is read.
        let mut reader = Long(usize::MAX);
        let records = reader.by_ref().par_records_by(|_| None).longest(1 << 20);
        let error = records.count().unwrap_err();
        assert_eq!(place(&error), (ErrorKind::InvalidData, 1, 0));
        assert!(usize::MAX - reader.0 <= 4 << 20);
    });
}

#[test]
fn the_first_error_wins() {
    in_pools_of(POOLS, || {
        let mut bytes = text(1000).into_bytes();
        bytes.extend_from_slice(b"\xFF\n");
        for block in [1, 100, 100_000] {
            let lines = || Breaks(&bytes, false).par_lines().block_size(block);
            let parse = |bad: &'static str| {
                move |line: &str| match line {
                    line if line == bad => Err(io::Error::other("the user's")),
                    line => Ok(line.len()),
                }
            };
            let error = lines().try_map(parse("999")).run().unwrap_err();
            assert_eq!(error.to_string(), "the user's");
            let error = lines().try_map(parse("x")).run().unwrap_err();
            assert_eq!(place(&error).1, 1001);
        }
    });
}

#[test]
fn errors_of_ones_own() {
    #[derive(Debug)]
    enum Mine {
        Read(io::Error),
        Odd(String),
    }
    impl From<io::Error> for Mine {
        fn from(error: io::Error) -> Self {
            Mine::Read(error)
        }
    }
    let even = |line: &str| match line.len() % 2 {
        0 => Ok(line.len()),
        _ => Err(Mine::Odd(line.to_owned())),
    };
    let sum = over("ab\ncdef\n").par_lines().try_map(even).sum::<usize>();
    assert_eq!(sum.unwrap(), 6);
    let odd = over("ab\ncde\n").par_lines().try_map(even).sum::<usize>();
    assert!(matches!(odd, Err(Mine::Odd(line)) if line == "cde"));
    let broken = over(b"ab\n\xFF\n").par_lines().try_map(even).sum::<usize>();
    assert!(matches!(broken, Err(Mine::Read(error)) if place(&error).1 == 2));
}

#[test]
fn interrupted_is_no_error() {
    in_pools_of(POOLS, || {
        let text = text(500);
        let drops = Drops::new(text.as_bytes(), &[1, 100, 7], 5);
        assert_eq!(drops.par_lines().count().unwrap(), 500);
    });
}
