//! Ranges, half-open and inclusive.

use crate::kit::{gathered, indexed_twin, pools, twin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use tine_iter::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use tine_iter::prelude::*;

macro_rules! indexed {
    ($($int:ident)*) => {$(
        #[test]
        fn $int() {
            const MIN: $int = $int::MIN;
            const MAX: $int = $int::MAX;
            #[allow(clippy::reversed_empty_ranges)]
            for range in [0..0, 5..5, 5..3, 0..1, 3..9, MIN..MIN + 5, MAX - 5..MAX, MAX..MIN] {
                let make = || range.clone();
                indexed_twin!(let r = make(); r.into_par_iter(), r);
            }
            #[allow(clippy::reversed_empty_ranges)]
            for range in [5..=3, 0..=0, 3..=9, MIN..=MIN + 5, MAX - 5..=MAX, MAX..=MAX, MAX..=MIN] {
                let make = || range.clone();
                twin!(let r = make(); r.into_par_iter(), r);
            }
        }
    )*};
}

macro_rules! unindexed {
    ($($int:ident)*) => {$(
        #[test]
        fn $int() {
            const MIN: $int = $int::MIN;
            const MAX: $int = $int::MAX;
            #[allow(clippy::reversed_empty_ranges)]
            for range in [0..0, 5..5, 5..3, 0..1, 3..900, MIN..MIN + 5, MAX - 500..MAX, MAX..MIN] {
                let make = || range.clone();
                twin!(let r = make(); r.into_par_iter(), r);
                assert!(range.into_par_iter().opt_len().is_some());
            }
            #[allow(clippy::reversed_empty_ranges)]
            for range in [5..=3, 0..=0, 3..=900, MIN..=MIN + 5, MAX - 500..=MAX, MAX..=MIN] {
                let make = || range.clone();
                twin!(let r = make(); r.into_par_iter(), r);
                assert!(range.into_par_iter().opt_len().is_some());
            }
        }
    )*};
}

indexed! { u8 u16 u32 usize i8 i16 i32 isize }
unindexed! { u64 i64 u128 i128 }

#[test]
fn inclusive_and_indexed() {
    macro_rules! check {
        ($($int:ident)*) => {$(
            const { assert!(size_of::<$int>() <= 2) };
            let (min, max) = ($int::MIN, $int::MAX);
            for range in [0..=0, 3..=9, min..=min + 5, max - 5..=max, max..=max] {
                let make = || range.clone();
                indexed_twin!(let r = make(); r.into_par_iter(), r);
            }
        )*};
    }
    check!(u8 i8 u16 i16);
    let mut used_up = 1..=3_u8;
    used_up.by_ref().for_each(drop);
    indexed_twin!(let r = used_up.clone(); r.into_par_iter(), r);
}

#[test]
fn full_ranges() {
    assert_eq!((u8::MIN..=u8::MAX).into_par_iter().len(), 256);
    assert_eq!((i16::MIN..=i16::MAX).into_par_iter().len(), 65_536);
    assert_eq!((i8::MIN..i8::MAX).into_par_iter().len(), 255);
    let sum: i64 = (i8::MIN..=i8::MAX).into_par_iter().map(i64::from).sum();
    assert_eq!(sum, -128);
    assert_eq!((0..usize::MAX).into_par_iter().len(), usize::MAX);
    assert_eq!((isize::MIN..isize::MAX).into_par_iter().len(), usize::MAX);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn lengths_that_fit_and_do_not() {
    let max = u64::MAX;
    assert_eq!((0..max).into_par_iter().opt_len(), Some(usize::MAX));
    assert_eq!((0..=max - 1).into_par_iter().opt_len(), Some(usize::MAX));
    assert_eq!((0..=max).into_par_iter().opt_len(), None);
    assert_eq!((0..=usize::MAX).into_par_iter().opt_len(), None);
    assert_eq!((1..=usize::MAX).into_par_iter().opt_len(), Some(usize::MAX));
    assert_eq!((0..=u32::MAX).into_par_iter().opt_len(), Some(1 << 32));
    assert_eq!(
        (i64::MIN..i64::MAX).into_par_iter().opt_len(),
        Some(usize::MAX)
    );
    assert_eq!(
        (0..u128::from(max)).into_par_iter().opt_len(),
        Some(usize::MAX)
    );
    assert_eq!((0..u128::from(max) + 1).into_par_iter().opt_len(), None);
    assert_eq!((i128::MIN..i128::MAX).into_par_iter().opt_len(), None);
    assert_eq!((u128::MIN..=u128::MAX).into_par_iter().opt_len(), None);
}

#[test]
fn chars() {
    let near = [
        '\0', 'a', 'f', '\u{D7FD}', '\u{D7FF}', '\u{E000}', '\u{E002}',
    ];
    let ends = ['\u{10FFFD}', char::MAX];
    let all: Vec<char> = near.into_iter().chain(ends).collect();
    for &a in &all {
        for &b in &all {
            if (a..b).count() < 10 {
                indexed_twin!(let r = a..b; r.into_par_iter(), r);
                indexed_twin!(let r = a..=b; r.into_par_iter(), r);
            } else {
                assert_eq!((a..b).into_par_iter().len(), (a..b).count());
                assert_eq!((a..=b).into_par_iter().len(), (a..=b).count());
            }
        }
    }
    assert_eq!(gathered(('\0'..=char::MAX).into_par_iter()).len(), 0x10F800);
    let mut used_up = 'a'..='c';
    used_up.by_ref().for_each(drop);
    indexed_twin!(let r = used_up.clone(); r.into_par_iter(), r);
}

/// Takes a few items in all, then is full.
struct Few<'a> {
    left: &'a AtomicUsize,
    enough: &'a AtomicBool,
}

impl<T> Consumer<T> for Few<'_> {
    type Folder = Self;
    type Reducer = Add;
    type Result = usize;

    fn split_at(self, _: usize) -> (Self, Self, Add) {
        (UnindexedConsumer::<T>::split_off_left(&self), self, Add)
    }

    fn into_folder(self) -> Self {
        self
    }

    fn full(&self) -> bool {
        self.enough.load(Relaxed)
    }
}

impl<T> UnindexedConsumer<T> for Few<'_> {
    fn split_off_left(&self) -> Self {
        Few { ..*self }
    }

    fn to_reducer(&self) -> Add {
        Add
    }
}

impl<T> Folder<T> for Few<'_> {
    type Result = usize;

    fn consume(self, _: T) -> Self {
        if self.left.fetch_sub(1, Relaxed) == 1 {
            self.enough.store(true, Relaxed);
        }
        self
    }

    fn complete(self) -> usize {
        1
    }

    fn full(&self) -> bool {
        self.enough.load(Relaxed)
    }
}

struct Add;

impl Reducer<usize> for Add {
    fn reduce(self, left: usize, right: usize) -> usize {
        left + right
    }
}

/// How many folders a consumer that wants ten items feeds from a source.
fn folders<I: ParallelIterator>(iter: I) -> usize {
    let (left, enough) = (AtomicUsize::new(10), AtomicBool::new(false));
    iter.drive_unindexed(Few {
        left: &left,
        enough: &enough,
    })
}

#[test]
fn a_range_beyond_counting_is_not_walked() {
    const OCTILLION: i128 = 1_000_000_000_000_000_000_000_000_000;
    for pool in pools() {
        let used = pool.install(|| {
            [
                folders((0..OCTILLION).into_par_iter()),
                folders((-OCTILLION..=OCTILLION).into_par_iter()),
                folders((u128::MIN..=u128::MAX).into_par_iter()),
                folders((u64::MIN..=u64::MAX).into_par_iter()),
                folders((i64::MIN..i64::MAX).into_par_iter()),
                folders((0..usize::MAX).into_par_iter()),
                folders(tine_iter::iter::repeat(1)),
            ]
        });
        assert!(used.iter().all(|&n| n < 100_000), "{used:?}");
    }
}

#[test]
fn the_type_is_inferred_from_the_items() {
    fn is_even(n: i64) -> bool {
        n % 2 == 0
    }
    let even = (0..10)
        .into_par_iter()
        .map(|n| u8::from(is_even(n)))
        .sum::<u8>();
    assert_eq!(even, 5);
    let even = (0..=10)
        .into_par_iter()
        .map(|n| u8::from(is_even(n)))
        .sum::<u8>();
    assert_eq!(even, 6);
}
