//! Numbers that no memory and no `usize` can hold: the same panic, with and without checks, before anything
//! moves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use tine_iter::algorithms::{ParallelFlat, ParallelSliceChange};
use tine_iter::iter::IndexedParallelIterator;

/// The message of the panic of a call.
fn said<R>(call: impl FnOnce() -> R) -> String {
    let Err(why) = catch_unwind(AssertUnwindSafe(call)) else {
        panic!("it went on");
    };
    let text: Option<&&str> = why.downcast_ref();
    let owned: Option<&String> = why.downcast_ref();
    (text.map(ToString::to_string).or(owned.cloned())).expect("a message")
}

#[test]
fn more_buckets_than_memory() {
    for buckets in [
        usize::MAX,
        usize::MAX - 1,
        usize::MAX / 2 + 1,
        usize::MAX / 16,
    ] {
        let mut v = [2, 0, 1];
        let message = said(|| v.par_counting_sort_by_key(buckets, |&n| n));
        assert_eq!(message, format!("no vector holds {buckets} counters"));
        assert_eq!(v, [2, 0, 1]);
        assert!(said(|| [0; 0].par_counting_sort_by_key(buckets, |&n| n)).contains("no vector"));
    }
}

#[test]
fn more_values_of_no_size_than_a_usize_counts() {
    let many = |len| vec![(); len];
    let half = usize::MAX / 2 + 1;
    for lens in [&[usize::MAX, 1][..], &[half, half], &[half, half - 1, 0, 1]] {
        let slices: Vec<_> = lens.iter().map(|&len| many(len)).collect();
        assert!(said(|| slices.par_concat()).contains("more items than a usize counts"));
        assert!(said(|| slices.par_flat()).contains("more items than a usize counts"));
    }
    assert_eq!([many(half), many(half - 1)].par_flat().len(), usize::MAX);
}
