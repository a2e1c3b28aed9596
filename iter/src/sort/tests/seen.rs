//! Elements that are only `Send` are never looked at by two threads at once,
//! and what a comparison writes into one is not undone.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::{PATTERNS, SLOW, pattern, with_threads};
use crate::prelude::*;
use crate::smallest::Smallest;
use crate::sort::scratch::starve;
use crate::sort::{
    ParallelDedup, ParallelSort, par_sort_by, par_sort_by_cached_key, par_sort_by_key,
    par_sort_unstable_by, par_sort_unstable_by_key,
};

/// Notices a second look while the first is not over. The flag is shared
/// through a reference so that a stale copy of the element is caught as well.
struct Shy<'a> {
    key: u64,
    looked_at: &'a AtomicBool,
    /// Makes the type `!Sync`, and owns memory that a comparison replaces.
    seen: Cell<Option<Box<usize>>>,
}

impl Shy<'_> {
    fn look(&self) -> u64 {
        assert!(
            !self.looked_at.swap(true, Relaxed),
            "looked at by two threads at once"
        );
        let seen = self.seen.take().map_or(0, |seen| *seen);
        self.seen.set(Some(Box::new(seen + 1)));
        self.looked_at.store(false, Relaxed);
        self.key
    }
}

fn compare(a: &Shy<'_>, b: &Shy<'_>) -> Ordering {
    a.look().cmp(&b.look())
}

fn shy_sorts(name: &str, len: usize) {
    let keys = pattern(name, len);
    let check = |sort: &dyn Fn(&mut Vec<Shy<'_>>, &AtomicUsize), sorted: bool| {
        let flags: Vec<AtomicBool> = keys.iter().map(|_| AtomicBool::new(false)).collect();
        let shy = |(&key, looked_at)| Shy {
            key,
            looked_at,
            seen: Cell::new(None),
        };
        let mut v: Vec<Shy<'_>> = keys.iter().zip(&flags).map(shy).collect();
        let looks = AtomicUsize::new(0);
        sort(&mut v, &looks);
        assert!(!sorted || v.is_sorted_by_key(|x| x.key), "{name} {len}");
        let seen: usize = v.iter().map(|x| x.seen.take().map_or(0, |n| *n)).sum();
        assert_eq!(seen, looks.load(Relaxed), "a look was lost: {name} {len}");
    };
    let two = |looks: &AtomicUsize, a: &Shy<'_>, b: &Shy<'_>| {
        looks.fetch_add(2, Relaxed);
        compare(a, b)
    };
    let one = |looks: &AtomicUsize, a: &Shy<'_>| {
        looks.fetch_add(1, Relaxed);
        a.look()
    };
    check(
        &|v, n| par_sort_by(v, &|a: &Shy<'_>, b: &Shy<'_>| two(n, a, b)),
        true,
    );
    check(
        &|v, n| par_sort_unstable_by(v, &|a: &Shy<'_>, b: &Shy<'_>| two(n, a, b)),
        true,
    );
    check(&|v, n| par_sort_by_key(v, &|a: &Shy<'_>| one(n, a)), true);
    check(
        &|v, n| par_sort_unstable_by_key(v, &|a: &Shy<'_>| one(n, a).to_string().len()),
        false,
    );
    check(
        &|v, n| par_sort_by_cached_key(v, &|a: &Shy<'_>| [one(n, a)]),
        true,
    );
    check(
        &|v, n| v.par_merge_by(v.len() / 3, |a, b| two(n, a, b)),
        false,
    );
    check(
        &|v, n| {
            v.par_partition(|a| one(n, a) % 2 == 0);
        },
        false,
    );
    check(&|v, n| v.par_sort_radix_by_key(|a| one(n, a)), true);
    check(
        &|v, n| {
            let (mut even, odd) =
                std::mem::take(v).par_partition_stable(|a| one(n, a).is_multiple_of(2));
            even.extend(odd);
            *v = even;
        },
        false,
    );
    // Elements not among the smallest lose what looks at them write, so all are
    // among them.
    check(
        &|v, n| {
            let len = v.len();
            let items = std::mem::take(v).into_par_iter();
            *v = items.k_smallest_by(len, |a, b| two(n, a, b));
        },
        true,
    );
    // Removed elements lose what looks at them write, so none is removed here.
    check(
        &|v, n| {
            v.par_dedup_by(|a, b| {
                two(n, a, b);
                false
            });
        },
        false,
    );
}

#[test]
fn no_element_is_seen_twice_at_once() {
    with_threads(4, || {
        for (turn, name) in PATTERNS.into_iter().enumerate() {
            shy_sorts(name, 1000);
            if !SLOW || turn % 3 == 0 {
                shy_sorts(name, 25_000);
            }
        }
    });
}

#[test]
fn nor_without_memory() {
    with_threads(4, || starve(1 << 12, || shy_sorts("random", 25_000)));
}

#[test]
fn nor_where_chunks_are_claimed() {
    with_threads(6, || shy_sorts("random", 25_000));
}
