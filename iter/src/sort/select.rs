//! The element that sorting would put at an index, without sorting: quickselect
//! whose partition is parallel.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use tine_pool::current_num_threads;

use super::{fork, partition, unstable};

/// Shorter slices are left to std.
const CUTOFF: usize = if cfg!(miri) { 128 } else { 50_000 };

/// Puts at `index` what sorting would put there. Nothing before it is greater, nothing after it is
/// less.
///
/// # Panics
/// If `index` is not less than the length.
pub(super) fn nth<T, F>(v: &mut [T], index: usize, compare: &F)
where
    T: Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let len = v.len();
    assert!(
        index < len,
        "select index (is {index}) should be < len (is {len})"
    );
    if len < CUTOFF || size_of::<T>() == 0 {
        v.select_nth_unstable_by(index, compare);
        return;
    }
    let grain = fork::grain(len, current_num_threads());
    let (mut rest, mut index) = (v, index);
    // Pivots are medians of samples. If several in a row are bad, the order is no order. Then std's
    // selection would drop one element at a time, and sorting does not.
    let mut patience = len.ilog2();
    while rest.len() >= CUTOFF {
        if patience == 0 {
            return unstable::sort_by(rest, compare);
        }
        patience -= 1;
        let at = unstable::pivot(rest, compare);
        rest.swap(0, at);
        let (pivot, others) = rest.split_first_mut().expect("longer than the cut-off");
        let pivot = &*pivot;
        let less = partition::par_partition(others, grain, &|x| compare(x, pivot).is_lt());
        if less == 0 {
            // The pivot is the least element, so those equal to it are in place.
            let equal = partition::par_partition(others, grain, &|x| compare(pivot, x).is_ge());
            if index <= equal {
                return;
            }
            (rest, index) = (&mut rest[1 + equal..], index - 1 - equal);
            continue;
        }
        rest.swap(0, less);
        match index.cmp(&less) {
            Ordering::Less => rest = &mut rest[..less],
            Ordering::Equal => return,
            Ordering::Greater => {
                (rest, index) = (&mut rest[less + 1..], index - less - 1);
            }
        }
    }
    rest.select_nth_unstable_by(index, compare);
}
