//! Comparisons that are no total order: no sort panics because of them or loses an element, whatever the
//! elements are like. A panic of the comparison itself comes out; and a sort at a place whose comparison has
//! lied before still sorts, stably, when the comparison does not lie.

use std::cell::Cell;
use std::cmp::Ordering::{self, Equal, Less};
use std::cmp::Reverse;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tine_iter::prelude::*;
use tine_iter::smallest::Smallest;
use tine_iter::sort::{ParallelDedup, ParallelSort, Total};

/// Lengths on both sides of every way to sort; fewer large lengths in unoptimised builds.
const LENGTHS: &[usize] = if cfg!(debug_assertions) {
    &[2, 20, 33, 200, 2_000]
} else {
    &[2, 20, 33, 200, 700, 5000, 19_000, 20_500, 60_000]
};

fn number(seed: usize) -> u64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 7
}

/// What a comparison answers instead of the truth.
type Lie = fn(u64, u64, usize) -> Ordering;

const LIES: [Lie; 5] = [
    |_, _, call| number(call).cmp(&(u64::MAX >> 8)),
    |a, b, call| {
        if number(call).is_multiple_of(50) {
            b.cmp(&a)
        } else {
            a.cmp(&b)
        }
    },
    // As floats compare if some of them are NaN.
    |a, b, _| {
        if a.is_multiple_of(7) || b.is_multiple_of(7) {
            Equal
        } else {
            a.cmp(&b)
        }
    },
    |_, _, _| Less,
    |a, b, _| (a % 3).cmp(&((b + 1) % 3)),
];

/// All elements in an order that shows whether they are the same as before.
fn sorted<T: Ord + Clone>(v: &[T]) -> Vec<T> {
    let mut v = v.to_vec();
    v.sort_unstable();
    v
}

/// All sorts, with every lie, of elements that are made from numbers and show those numbers.
fn lied_to<T>(make: fn(u64) -> T, tell: fn(&T) -> u64)
where
    T: Ord + Clone + Debug + Send + Sync,
{
    for &len in LENGTHS {
        let input: Vec<T> = (0..len).map(|i| make(number(i))).collect();
        let all = sorted(&input);
        for (nth, lie) in LIES.into_iter().enumerate() {
            let calls = AtomicUsize::new(0);
            let lie = |a: &T, b: &T| lie(tell(a), tell(b), calls.fetch_add(1, Relaxed));
            let keeps = |what: &str, sort: &dyn Fn(&mut Vec<T>)| {
                let mut v = input.clone();
                sort(&mut v);
                assert!(sorted(&v) == all, "{what}, {len}, lie {nth}");
            };
            keeps("stable", &|v| v.par_sort_by(lie));
            keeps("unstable", &|v| v.par_sort_unstable_by(lie));
            keeps("merge", &|v| v.par_merge_by(len / 3, lie));
            keeps("select", &|v| {
                v.par_select_nth_unstable_by(len / 2, lie);
            });
            let key = |x: &T| Lying(tell(x), &calls, LIES[nth]);
            keeps("stable by key", &|v| v.par_sort_by_key(key));
            keeps("unstable by key", &|v| v.par_sort_unstable_by_key(key));
            keeps("by cached key", &|v| v.par_sort_by_cached_key(key));
            let few = input.par_iter().k_smallest_by(len / 4, |a, b| lie(a, b));
            assert_eq!(few.len(), len / 4);
            let mut rest = input.clone();
            rest.par_dedup_by(|a, b| lie(a, b).is_eq());
            assert!(rest.len() <= len);
        }
        // The same places, and no lie.
        let honest = |a: &T, b: &T| tell(a).cmp(&tell(b));
        let mut v = input.clone();
        v.par_sort_by(honest);
        assert!(v.is_sorted_by_key(tell));
        let mut v = input.clone();
        v.par_sort_unstable_by(honest);
        assert!(v.is_sorted_by_key(tell));
    }
}

/// A key whose order is a lie.
struct Lying<'c>(u64, &'c AtomicUsize, Lie);

impl PartialEq for Lying<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Lying<'_> {}

impl PartialOrd for Lying<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Lying<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.2)(self.0, other.0, self.1.fetch_add(1, Relaxed))
    }
}

#[test]
fn narrow_elements() {
    lied_to(|n| n as u8, |n| u64::from(*n));
    lied_to(|n| n as u32, |n| u64::from(*n));
    lied_to(|n| (n as u32, n as u8), |n| u64::from(n.0));
}

#[test]
fn words() {
    lied_to(|n| n, |n| *n);
    lied_to(|n| [n as u32, 1, 2], |n| u64::from(n[0]));
}

#[test]
fn owners() {
    lied_to(Box::new, |n| **n);
    lied_to(|n| n.to_string(), |n| n.parse().unwrap());
}

#[test]
fn wide_elements() {
    lied_to(|n| [n; 2], |n| n[0]);
    lied_to(|n| [n; 9], |n| n[4]);
}

/// The line that thousands of programs contain.
#[test]
fn floats_that_are_no_numbers() {
    for &len in LENGTHS {
        for every in [2, 10, 1000] {
            let nan = |i: usize| i.is_multiple_of(every);
            let input: Vec<f64> = (0..len)
                .map(|i| if nan(i) { f64::NAN } else { number(i) as f64 })
                .collect();
            let bits = |v: &[f64]| sorted(&v.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            let order = |a: &f64, b: &f64| a.partial_cmp(b).unwrap_or(Equal);
            let (mut stable, mut unstable) = (input.clone(), input.clone());
            stable.par_sort_by(order);
            unstable.par_sort_unstable_by(order);
            assert!(bits(&stable) == bits(&input) && bits(&unstable) == bits(&input));
        }
    }
}

/// At one place, lies and truth in turn: if the comparison did not lie, all elements are in order, equal
/// elements too.
#[test]
fn truth_after_a_lie() {
    let lies = Cell::new(false);
    // One closure, so one place; on one thread, which a `Cell` asks for.
    let sort = |v: &mut [(u32, u32)], lying: bool| {
        let calls = AtomicUsize::new(0);
        v.par_sort_by(|a, b| {
            if lying {
                LIES[0](0, 0, calls.fetch_add(1, Relaxed))
            } else {
                a.0.cmp(&b.0)
            }
        });
    };
    for &len in LENGTHS {
        for _ in 0..4 {
            let mut v: Vec<(u32, u32)> = (0..len)
                .map(|i| (number(i) as u32 % 100, i as u32))
                .collect();
            sort(&mut v, lies.get());
            if !lies.get() {
                assert!(v.is_sorted(), "{len}");
            }
            lies.set(!lies.get());
        }
    }
}

/// A panic of the comparison comes out for the caller to catch: once at any call, and with exactly std's
/// message if the comparison goes on to throw it.
#[test]
fn a_panic_of_the_comparison_travels() {
    const STD: &str =
        "user-provided comparison function does not correctly implement a total order";
    fn throws<T: Clone + Send + Sync>(input: &[T], tell: impl Fn(&T) -> u64 + Sync + Copy) {
        for nth in [0, 1, 15, 300] {
            for words in ["on purpose", STD] {
                let calls = AtomicUsize::new(0);
                let order = |a: &T, b: &T| {
                    let call = calls.fetch_add(1, Relaxed);
                    if call == nth || (words == STD && call > nth) {
                        std::panic::panic_any(words);
                    }
                    tell(a).cmp(&tell(b))
                };
                for stable in [false, true] {
                    calls.store(0, Relaxed);
                    let mut v = input.to_vec();
                    let panic = catch_unwind(AssertUnwindSafe(|| match stable {
                        true => v.par_sort_by(order),
                        false => v.par_sort_unstable_by(order),
                    }));
                    let panic = panic.expect_err("the comparison panicked");
                    assert_eq!(panic.downcast_ref::<&str>().copied(), Some(words));
                }
            }
        }
    }
    for len in [400, 5000, 30_000] {
        let numbers: Vec<u64> = (0..len).map(number).collect();
        throws(&numbers, |n| *n);
        throws(&numbers.iter().map(|n| [*n; 3]).collect::<Vec<_>>(), |n| {
            n[2]
        });
    }
}

/// Short slices of every kind of word, which are sorted in another way than long slices, against std.
#[test]
fn short_slices_of_primitives_are_sorted_as_std_sorts_them() {
    fn check<T: Ord + Send + Copy + Debug>(make: fn(u64) -> T) {
        for len in (0..40).chain([100, 511, 512, 513, 600]) {
            for pattern in 0..5 {
                let numbers = (0..len).map(|i| match pattern {
                    0 => i as u64,
                    1 => !(i as u64),
                    2 => number(i) % 3,
                    3 => number(i) << 7,
                    _ => (number(i) % 2).wrapping_sub(1) ^ (i as u64 / 9),
                });
                let input: Vec<T> = numbers.map(make).collect();
                let mut expected = input.clone();
                expected.sort();
                let (mut unstable, mut stable) = (input.clone(), input);
                unstable.par_sort_unstable();
                stable.par_sort();
                assert_eq!(unstable, expected);
                assert_eq!(stable, expected);
            }
        }
    }
    check(|n| n as u8);
    check(|n| n as i8);
    check(|n| n as u16);
    check(|n| n as i16);
    check(|n| n as u32);
    check(|n| n as i32);
    check(|n| n);
    check(|n| n as i64);
    check(|n| n as usize);
    check(|n| n as isize);
    check(|n| u128::from(n) << 64 | u128::from(n));
    check(|n| (i128::from(n) << 65) - i128::from(n));
    check(|n| n & 1 == 1);
    check(|n| char::from(n as u8));
    check(Reverse::<u64>);
    check(|n| Reverse(n as i64));
    check(|n| Reverse(n as i32));
    check(|n| Total(f64::from_bits(n)));
    check(|n| Total(f32::from_bits(n as u32)));
    check(|n| Reverse(Total(f64::from_bits(n))));
}
