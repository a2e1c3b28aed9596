//! A panic that the caller causes names the caller's line.

#[path = "../../pool/tests/common/blame.rs"]
mod blame;

use blame::{blamed, ignore, is_here, names};
use std::collections::VecDeque;
use tine_iter::algorithms::{ParallelAccumulate, ParallelSliceChange};
use tine_iter::pipeline;
use tine_iter::prelude::*;
use tine_iter::readers::{self, over};
use tine_iter::sort::ParallelSort;

#[test]
fn numbers_that_must_not_be_zero() {
    let v = [1, 2, 3];
    is_here(blamed(|| ignore(v.par_iter().step_by(0))));
    is_here(blamed(|| ignore(v.par_iter().chunks(0))));
    is_here(blamed(|| ignore(v.par_chunks(0))));
    is_here(blamed(|| ignore(pipeline(v, 0))));
    is_here(blamed(|| ignore(pipeline(v, 1).limit(0))));
    is_here(blamed(|| ignore(v.into_iter().par_bridge_ordered(0))));
    let lines = || readers::ParallelRead::par_lines(over("a"));
    is_here(blamed(|| ignore(lines().block_size(0))));
    is_here(blamed(|| ignore(lines().limit(0))));
    let records = || readers::ParallelRead::par_records(over("a"), "");
    is_here(blamed(|| ignore(records())));
}

#[test]
fn places_beyond_the_end() {
    let mut v = vec![1, 2, 3];
    is_here(blamed(|| v.par_merge(4)));
    is_here(blamed(|| v.par_merge_by(4, i32::cmp)));
    is_here(blamed(|| ignore(v.par_select_nth_unstable(3))));
    is_here(blamed(|| ignore(v.par_select_nth_unstable_by(3, i32::cmp))));
    is_here(blamed(|| {
        ignore(v.par_select_nth_unstable_by_key(3, |x| -x))
    }));
    is_here(blamed(|| v.par_rotate_left(4)));
    is_here(blamed(|| ignore(v.par_drain(2..5))));
    is_here(blamed(|| {
        ignore(VecDeque::from([1]).par_drain(2..).count())
    }));
    assert_eq!(v, [1, 2, 3]);
}

#[test]
fn a_number_out_of_range_names_the_call() {
    let far = || (0..100_usize).into_par_iter();
    let line = line!() + 1;
    let panic = blamed(|| ignore(far().histogram_array::<4, _>(|n| n)));
    names(panic, line);
    let line = line!() + 1;
    let panic = blamed(|| ignore(far().histogram_channels::<1, 4, _>(|n| [n])));
    names(panic, line);
    for buckets in [4, 5000] {
        let line = line!() + 1;
        let panic = blamed(|| ignore([9000].par_counting_sort_by_key(buckets, |n| *n)));
        names(panic, line);
    }
}
