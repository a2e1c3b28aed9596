//! The merge of all chunks at once, in short parts.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{PATTERNS, pattern, with_threads};
use crate::sort::scratch::{Scratch, starve};
use crate::sort::spread;

/// Calls the sort with every number of chunks, and parts that are cut often, once or never.
fn each_size(len: usize, f: impl Fn((usize, usize))) {
    let all = [5, 1, 2, 3, 16, len.max(1)];
    for &chunks in if cfg!(miri) { &all[..1] } else { &all[..] } {
        for grain in if cfg!(miri) { 0..1 } else { 0..4 } {
            let grain = [40, 0, 70, len][grain];
            f((chunks, grain));
        }
    }
}

fn sort<T: Send>(
    v: &mut [T],
    sizes: (usize, usize),
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    let mut room = Scratch::new(v.len()).expect("memory");
    let leaf = |chunk: &mut [T]| chunk.sort_by(compare);
    spread::sort(v, room.room(), sizes, 3, compare, &leaf);
}

fn patterns() -> &'static [&'static str] {
    if cfg!(miri) {
        &["random", "few"]
    } else {
        &PATTERNS
    }
}

const LENGTHS: &[usize] = match cfg!(miri) {
    true => &[5, 150],
    false => &[0, 1, 2, 5, 63, 64, 65, 500, 1003],
};

#[test]
fn as_std_does() {
    let all = || {
        for name in patterns() {
            for &len in LENGTHS {
                let keys = pattern(name, len);
                // Boxes, so that what is lost or doubled is noticed.
                let v: Vec<_> = keys.iter().map(|&k| Box::new(k / 3)).zip(0..).collect();
                let mut expected = v.clone();
                expected.sort_by(|a, b| a.0.cmp(&b.0));
                each_size(len, |sizes| {
                    let mut v = v.clone();
                    sort(&mut v, sizes, &|a, b| a.0.cmp(&b.0));
                    assert!(v == expected, "{name} {len} {sizes:?}");
                });
            }
        }
    };
    starve(usize::MAX, || with_threads(3, all));
}

/// Parts that find no memory are sorted in their place.
#[test]
fn without_memory_for_parts() {
    with_threads(3, || {
        for name in patterns() {
            let keys = pattern(name, 150);
            let mut v: Vec<_> = keys.into_iter().zip(0..).collect();
            let mut expected = v.clone();
            expected.sort();
            let mut room = Scratch::new(v.len()).expect("memory");
            let compare = |a: &(u64, i32), b: &(u64, i32)| a.0.cmp(&b.0);
            let leaf = |chunk: &mut [_]| chunk.sort_by(compare);
            starve(0, || {
                spread::sort(&mut v, room.room(), (5, 40), 3, &compare, &leaf)
            });
            assert!(v == expected, "{name}");
        }
    });
}

/// Whatever a comparison says, each element is left once, and what was written into it is left too.
#[test]
fn lies_lose_nothing() {
    let all = || {
        for lie in 0..4 {
            let len = if cfg!(miri) { 120 } else { 700 };
            each_size(len, |sizes| {
                let calls = AtomicUsize::new(0);
                let looks = AtomicUsize::new(0);
                let mut v: Vec<_> = (0..len)
                    .map(|i| (i, Cell::new(Box::new(0_usize))))
                    .collect();
                let look = |x: &(usize, Cell<Box<usize>>)| {
                    looks.fetch_add(1, Relaxed);
                    let seen = *x.1.replace(Box::new(0));
                    x.1.set(Box::new(seen + 1));
                };
                let compare = |a: &_, b: &_| {
                    look(a);
                    look(b);
                    match lie {
                        0 => Ordering::Less,
                        1 => Ordering::Greater,
                        2 => Ordering::Equal,
                        _ => {
                            (calls.fetch_add(1, Relaxed).wrapping_mul(0x9E37_79B9) >> 7 & 3).cmp(&1)
                        }
                    }
                };
                let mut room = Scratch::new(len).expect("memory");
                let leaf = |chunk: &mut [_]| {
                    // Any order is a lie here.
                    chunk.reverse();
                };
                spread::sort(&mut v, room.room(), sizes, 3, &compare, &leaf);
                let seen: usize = v.iter().map(|x| *x.1.replace(Box::new(0))).sum();
                assert_eq!(
                    seen,
                    looks.load(Relaxed),
                    "a look was lost: {lie} {sizes:?}"
                );
                let mut left: Vec<_> = v.iter().map(|x| x.0).collect();
                left.sort_unstable();
                assert!(left.into_iter().eq(0..len), "{lie} {sizes:?}");
            });
        }
    };
    starve(usize::MAX, || with_threads(3, all));
}
