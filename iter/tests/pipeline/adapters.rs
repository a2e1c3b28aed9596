//! The methods that may follow a pipeline, each against its twin in std.

use quickcheck::TestResult;
use tine_iter::pipeline;
use tine_iter::prelude::*;

use crate::kit::{POOLS, in_pools_of};

/// Runs a check over a bridge in order and over a pipeline.
macro_rules! twins {
    ($($name:ident: |$line:ident| $ours:expr, |$seq:ident| $theirs:expr;)*) => {
        $(#[test]
        fn $name() {
            in_pools_of(POOLS, || {
                for size in [0, 1, 2, 10, 1500_u32] {
                    let $seq = 0..size;
                    let expected = $theirs;
                    for limit in [1, 3, 64] {
                        let $line = (0..size).par_bridge_ordered(limit);
                        assert_eq!($ours, expected);
                        let $line = pipeline(0..size, limit);
                        assert_eq!($ours, expected);
                        let $line = (0..size).par_bridge_ordered(limit).batched();
                        assert_eq!($ours, expected);
                    }
                }
            });
        })*
    };
}

twins! {
    map: |line| line.map(|n| n ^ 5).collect::<Vec<_>>(), |seq| seq.map(|n| n ^ 5).collect::<Vec<_>>();
    filter: |line| line.filter(|n| n % 3 == 1).collect::<Vec<_>>(),
        |seq| seq.filter(|n| n % 3 == 1).collect::<Vec<_>>();
    filter_map: |line| line.filter_map(|n| n.checked_sub(700)).collect::<Vec<_>>(),
        |seq| seq.filter_map(|n| n.checked_sub(700)).collect::<Vec<_>>();
    flat_map: |line| line.flat_map(|n| (0..n % 4).map(move |m| (n, m))).collect::<Vec<_>>(),
        |seq| seq.flat_map(|n| (0..n % 4).map(move |m| (n, m))).collect::<Vec<_>>();
    enumerate: |line| line.filter(|n| n % 2 == 0).enumerate().map(|pair| pair).collect::<Vec<_>>(),
        |seq| seq.filter(|n| n % 2 == 0).enumerate().collect::<Vec<_>>();
    count: |line| line.filter(|n| n % 7 == 0).count(), |seq| seq.filter(|n| n % 7 == 0).count();
    sum: |line| line.map(u64::from).sum::<u64>(), |seq| seq.map(u64::from).sum::<u64>();
    fold: |line| line.fold(7_u32, |hash, n| hash.wrapping_mul(31) ^ n),
        |seq| seq.fold(7_u32, |hash, n| hash.wrapping_mul(31) ^ n);
    reduce: |line| line.map(|n| n.to_string()).reduce(String::new, |all, n| all + &n),
        |seq| seq.map(|n| n.to_string()).collect::<String>();
    strings: |line| line.map(|n| n.to_string()).collect::<String>(),
        |seq| seq.map(|n| n.to_string()).collect::<String>();
    parts: |line| line.fold_parts(Vec::new, |mut all, n| { all.push(n); all }).fold(Vec::new(), |mut all, mut part| {
        all.append(&mut part);
        all
    }), |seq| seq.collect::<Vec<_>>();
    results: |line| line.try_map(|n| if n < 900 { Ok(n) } else { Err(n) }).collect::<Vec<_>>(),
        |seq| seq.map(|n| if n < 900 { Ok(n) } else { Err(n) }).collect::<Result<Vec<_>, _>>();
    writes: |line| {
        let mut text = Vec::new();
        let written = line.map(|n| "x".repeat(n as usize % 40)).write_to(&mut text).unwrap();
        assert_eq!(written, text.len() as u64);
        text
    }, |seq| seq.map(|n| "x".repeat(n as usize % 40)).collect::<String>().into_bytes();
    zero_sized: |line| line.map(|_| ()).collect::<Vec<()>>().len(), |seq| seq.len();
}

#[test]
fn whole_programs() {
    fn check(items: Vec<u16>, limit: usize, modulus: u16) -> TestResult {
        let (limit, modulus) = (limit % 50 + 1, modulus % 9 + 1);
        let expected: Vec<(usize, u32)> = items
            .iter()
            .filter(|&n| n % modulus != 0)
            .flat_map(|&n| [u32::from(n), 1])
            .enumerate()
            .collect();
        let ours: Vec<(usize, u32)> = pipeline(items, limit)
            .filter(|n| n % modulus != 0)
            .flat_map(|n| [u32::from(n), 1])
            .enumerate()
            .collect();
        TestResult::from_bool(ours == expected)
    }
    quickcheck::QuickCheck::new()
        .tests(300)
        .quickcheck(check as fn(Vec<u16>, usize, u16) -> TestResult);
}

#[test]
fn large_and_small_writes() {
    in_pools_of(&[1, 4], || {
        let sizes = [0, 1, 70_000, 3, 65_535, 65_536, 65_537, 2];
        let part = |(n, size): (usize, usize)| vec![n as u8; size];
        let mut all = Vec::new();
        let written = pipeline(sizes.into_iter().enumerate(), 3)
            .map(part)
            .write_to(&mut all);
        let expected = sizes.into_iter().enumerate().flat_map(part);
        assert_eq!(written.unwrap(), all.len() as u64);
        assert!(all.into_iter().eq(expected));
    });
}
