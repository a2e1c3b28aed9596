//! Adapters that keep an iterator indexed.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use quickcheck::quickcheck;
use tine_iter::prelude::*;

use crate::same_indexed;
use crate::{in_pools, same_collected};

const LENS: [usize; 7] = [0, 1, 2, 3, 6, 7, 9];

fn numbers(len: usize) -> Vec<u32> {
    (0..len as u32).map(|n| n * 7 % 11).collect()
}

#[test]
fn one_for_one() {
    for len in LENS {
        same_indexed!(let v = numbers(len); v.par_iter().map(|n| n + 1), v.iter().map(|n| n + 1));
        same_indexed!(let v = numbers(len);
            v.par_iter().inspect(|n| assert!(**n < 11)), v.iter());
        same_indexed!(let v = numbers(len);
            v.into_par_iter().update(|n| *n *= 2), v.into_iter().map(|n| n * 2));
        same_indexed!(let v = numbers(len); v.par_iter().cloned(), v.iter().cloned());
        same_indexed!(let v = numbers(len); v.par_iter().copied(), v.iter().copied());
        same_indexed!(let v = numbers(len); v.par_iter().panic_fuse(), v.iter());
        same_indexed!(let v = numbers(len);
            v.par_iter().map_init(|| 3, |three, n| n + *three), v.iter().map(|n| n + 3));
        same_indexed!(let v = numbers(len);
            v.par_iter().map_with(3, |three, n| n + *three), v.iter().map(|n| n + 3));
    }
}

#[test]
fn positions_move() {
    for len in LENS {
        same_indexed!(let v = numbers(len); v.par_iter().enumerate(), v.iter().enumerate());
        same_indexed!(let v = numbers(len); v.par_iter().rev(), v.iter().rev());
        same_indexed!(let v = numbers(len); v.par_iter().with_min_len(2), v.iter());
        same_indexed!(let v = numbers(len); v.par_iter().with_max_len(2), v.iter());
        for n in [0, 1, 3, 9, 10, usize::MAX] {
            same_indexed!(let v = numbers(len); v.par_iter().skip(n), v.iter().skip(n));
            same_indexed!(let v = numbers(len); v.par_iter().take(n), v.iter().take(n));
        }
        for n in [1, 2, 3, 9, 10, usize::MAX] {
            same_indexed!(let v = numbers(len); v.par_iter().step_by(n), v.iter().step_by(n));
            same_indexed!(let v = numbers(len);
                v.into_par_iter().step_by(n), v.into_iter().step_by(n));
            same_indexed!(let v = numbers(len);
                v.into_par_iter().rev().step_by(n), v.into_iter().rev().step_by(n));
            same_indexed!(let v = numbers(len); v.par_iter().chunks(n), v.chunks(n).map(Vec::from_iter));
            same_indexed!(let v = numbers(len);
                v.par_iter().fold_chunks(n, || 5, |a, b| a + b),
                v.chunks(n).map(|chunk| chunk.iter().fold(5, |a, b| a + b)));
            same_indexed!(let v = numbers(len);
                v.par_iter().fold_chunks_with(n, 5, |a, b| a + b),
                v.chunks(n).map(|chunk| chunk.iter().fold(5, |a, b| a + b)));
        }
    }
}

/// Short chunks are taken item by item, and longer ones cut off.
#[test]
fn chunks_of_many_items() {
    for n in [5, 12, 13, 100] {
        for len in [996, 1000] {
            same_collected!(let v = numbers(len);
                (&v, &v).into_par_iter().map(|(a, b)| a + b).fold_chunks(n, || 5, |a, b| a * 3 % 1009 + b),
                v.chunks(n).map(|chunk| chunk.iter().fold(5, |a, b| a * 3 % 1009 + 2 * b)));
            same_collected!(let v = numbers(len);
                v.par_iter().fold_chunks_with(n, 5, |a, b| a * 3 % 1009 + b).rev(),
                v.chunks(n).rev().map(|chunk| chunk.iter().fold(5, |a, b| a * 3 % 1009 + b)));
        }
    }
}

fn interspersed(v: &[u32], gap: u32) -> Vec<u32> {
    let mut all: Vec<u32> = v.iter().flat_map(|&n| [n, gap]).collect();
    all.pop();
    all
}

#[test]
fn gaps() {
    for len in [0, 1, 2, 3, 4, 5] {
        same_indexed!(let v = numbers(len);
            v.par_iter().copied().intersperse(99), interspersed(&v, 99));
    }
    same_collected!(let v = numbers(1000);
        v.par_iter().copied().intersperse(99), interspersed(&v, 99));
}

fn alternated(a: &[u32], b: &[u32]) -> Vec<u32> {
    let both = a.len().min(b.len());
    let turns = a[..both].iter().zip(&b[..both]).flat_map(|(&a, &b)| [a, b]);
    turns
        .chain(a[both..].iter().chain(&b[both..]).copied())
        .collect()
}

fn alternated_shortest(a: &[u32], b: &[u32]) -> Vec<u32> {
    let both = a.len().min(b.len());
    let a = &a[..a.len().min(both + 1)];
    alternated(a, &b[..both])
}

#[test]
fn two_become_one() {
    for len in [0, 1, 2, 3, 5] {
        for other in [0, 1, 2, 4, 5] {
            same_indexed!(let (v, w) = (numbers(len), numbers(other));
                v.par_iter().zip(&w), v.iter().zip(&w));
            same_indexed!(let (v, w) = (numbers(len), numbers(other));
                v.par_iter().chain(&w), v.iter().chain(&w));
            same_indexed!(let (v, w) = (numbers(len), numbers(other));
                v.par_iter().copied().interleave(w.par_iter().copied()), alternated(&v, &w));
            same_indexed!(let (v, w) = (numbers(len), numbers(other));
                v.par_iter().copied().interleave_shortest(w.par_iter().copied()),
                alternated_shortest(&v, &w));
        }
        same_indexed!(let (v, w) = (numbers(len), numbers(len));
            v.par_iter().zip_eq(&w), v.iter().zip(&w));
    }
}

#[test]
fn nested_adapters() {
    for len in LENS {
        same_indexed!(let v = numbers(len);
            v.par_iter().rev().enumerate().skip(1).step_by(2).rev(),
            v.iter().rev().enumerate().skip(1).step_by(2).rev());
        same_indexed!(let v = numbers(len);
        v.par_iter().copied().chain(v.par_iter().copied()).rev().chunks(2),
        {
            let all: Vec<u32> = v.iter().chain(&v).rev().copied().collect();
            all.chunks(2).map(Vec::from).collect::<Vec<_>>()
        });
        same_indexed!(let v = numbers(len);
            v.par_iter().map(|n| n + 1).zip(v.par_iter().rev()).map(|(a, b)| a * b),
            v.iter().map(|n| n + 1).zip(v.iter().rev()).map(|(a, b)| a * b));
        same_indexed!(let v = numbers(len);
            v.par_iter().map_init(|| 1, |one, n| n + *one).enumerate().take(5),
            v.iter().map(|n| n + 1).enumerate().take(5));
    }
}

quickcheck! {
    fn long_ones(v: Vec<u8>, n: usize, k: usize) -> bool {
        let (n, k) = (n % 40, k % 7 + 1);
        same_collected!(let () = (); v.par_iter().enumerate().skip(n).step_by(k).rev(),
            v.iter().enumerate().skip(n).step_by(k).rev());
        same_collected!(let () = (); v.par_iter().chunks(k).take(n), v.chunks(k).take(n).map(Vec::from_iter));
        true
    }
}

#[test]
fn skipped_items_are_made() {
    let made = AtomicUsize::new(0);
    for got in in_pools(|| {
        let count = |_: &u32| {
            made.fetch_add(1, Relaxed);
        };
        (0..100_u32).into_par_iter().inspect(count).skip(60).count()
    }) {
        assert_eq!(got, 40);
        assert_eq!(made.swap(0, Relaxed) % 100, 0);
    }
}

#[test]
fn nothing_runs_before_it_is_asked_for() {
    let never = |_: u32| -> u32 { panic!("an adapter called its closure") };
    let iter = (0..10_u32)
        .into_par_iter()
        .map(never)
        .enumerate()
        .rev()
        .chunks(3)
        .skip(1);
    assert_eq!(iter.len(), 3);
    assert_eq!(iter.opt_len(), Some(3));
    let never_init = || -> u32 { panic!("an adapter called its init") };
    drop(iter);
    drop(
        (0..10_u32)
            .into_par_iter()
            .map_init(never_init, |a, b| *a + b),
    );
    drop((0..10_u32).into_par_iter().fold(never_init, |a, b| a + b));
}

#[test]
#[should_panic(expected = "iterators must have the same length")]
fn zip_eq_of_unequal_lengths() {
    let _ = (0..2).into_par_iter().zip_eq(0..3);
}

#[test]
#[should_panic(expected = "chunk_size must not be zero")]
fn chunks_of_none() {
    let _ = (0..2).into_par_iter().chunks(0);
}

#[test]
#[should_panic(expected = "chunk_size must not be zero")]
fn fold_chunks_of_none() {
    let _ = (0..2).into_par_iter().fold_chunks(0, || 0, |a, b| a + b);
}

#[test]
#[should_panic(expected = "chunk_size must not be zero")]
fn fold_chunks_with_of_none() {
    let _ = (0..2).into_par_iter().fold_chunks_with(0, 0, |a, b| a + b);
}

#[test]
#[should_panic(expected = "block_size must not be zero")]
fn blocks_of_none() {
    let _ = (0..2).into_par_iter().by_uniform_blocks(0);
}

#[test]
#[should_panic(expected = "steps of zero")]
fn steps_of_none() {
    let _ = (0..2).into_par_iter().step_by(0);
}

/// Skipped items are not made if nothing can see whether they are. With more items than can be made, this ends.
#[test]
fn skipping_a_range_or_a_slice_takes_no_time() {
    let numbers = (0..usize::MAX).into_par_iter().skip(usize::MAX - 2);
    let found: Vec<_> = numbers.collect();
    assert_eq!(found, [usize::MAX - 2, usize::MAX - 1]);
    let units = vec![(); usize::MAX];
    let zipped = units.par_iter().copied().enumerate().rev();
    assert_eq!(zipped.skip(usize::MAX - 3).count(), 3);
}
