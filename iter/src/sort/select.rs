//! The element that sorting would put at an index, found without sorting: quickselect with a parallel
//! partition.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use tine_pool::current_num_threads;

use super::{fork, leaf, partition, unstable};

/// Shorter slices are left to std. If the comparison is no order, the number of comparisons of std's selection
/// grows nearly with the cube of the length: 6.6 · 10⁸ comparisons, 1.2 s, just below this length.
const SHORT: usize = if cfg!(miri) { 128 } else { 20_000 };
/// Shorter slices, and short rests of longer slices, are partitioned by this thread alone.
const CUTOFF: usize = if cfg!(miri) { 128 } else { 50_000 };
/// A rest of this length or less is left to std.
const FEW: usize = if cfg!(miri) { 64 } else { 500 };

/// Puts at `index` the element that sorting would put there. Nothing before it is greater, nothing after it is
/// less. `index` is less than the length.
pub(super) fn nth<T, F>(v: &mut [T], index: usize, compare: &F)
where
    T: Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let len = v.len();
    if is_for_std(v) {
        v.select_nth_unstable_by(index, compare);
        return;
    }
    let grain = fork::grain(len, current_num_threads());
    narrow(
        v,
        index,
        compare,
        |v, pivot| parted(v, grain, &|x| compare(x, pivot).is_lt()),
        |v, pivot| parted(v, grain, &|x| compare(pivot, x).is_ge()),
        |v| unstable::sort_by(v, compare),
    );
}

/// [`nth`] by this thread alone.
pub(crate) fn nth_alone<T, F>(v: &mut [T], index: usize, compare: &F)
where
    F: Fn(&T, &T) -> Ordering,
{
    if is_for_std(v) {
        v.select_nth_unstable_by(index, compare);
        return;
    }
    narrow(
        v,
        index,
        compare,
        |v, pivot| partition::partition(v, |x| compare(x, pivot).is_lt()),
        |v, pivot| partition::partition(v, |x| compare(pivot, x).is_ge()),
        |v| leaf::unstable(v, compare),
    );
}

fn is_for_std<T>(v: &[T]) -> bool {
    v.len() < SHORT || size_of::<T>() == 0
}

/// Selects; `less` and `no_more` partition a slice: first the elements that are less than a pivot, or that are
/// not greater. `sort` sorts a slice.
fn narrow<T, F>(
    v: &mut [T],
    index: usize,
    compare: &F,
    less: impl Fn(&mut [T], &T) -> usize,
    no_more: impl Fn(&mut [T], &T) -> usize,
    sort: impl FnOnce(&mut [T]),
) where
    F: Fn(&T, &T) -> Ordering,
{
    // Pivots come from samples. If several in a row are bad, the comparison is no order. Then std's selection
    // would drop one element at a time; sorting does not.
    let mut patience = v.len().ilog2();
    let (mut rest, mut index) = (v, index);
    while rest.len() >= FEW {
        if patience == 0 {
            return sort(rest);
        }
        patience -= 1;
        let at = pivot(rest, index, compare);
        rest.swap(0, at);
        let (pivot, others) = rest.split_first_mut().expect("longer than the cut-off");
        let less = less(others, pivot);
        if less == 0 {
            // The pivot is the least element, so those equal to it are in place.
            let equal = no_more(others, pivot);
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

/// Puts the elements that satisfy `left` first and returns their number.
fn parted<T: Send>(v: &mut [T], grain: usize, left: &(impl Fn(&T) -> bool + Sync)) -> usize {
    match v.len() + 1 < CUTOFF {
        true => partition::partition(v, left),
        false => partition::par_partition(v, grain, left),
    }
}

/// The position of an element that belongs near `index`, most likely on the side of it with more elements: then
/// the first partition leaves little more than the wanted elements.
fn pivot<T, F: Fn(&T, &T) -> Ordering>(v: &[T], index: usize, compare: &F) -> usize {
    let count = (v.len() / 512).clamp(64, 1024);
    let stride = v.len() / count;
    // No two positions lie at the same offset in their stretch, so that a pattern in the slice does not show in
    // the sample.
    let place = |k: usize| k * stride + k.wrapping_mul(0x9e37_79b9) % stride;
    let mut sample: Vec<usize> = (0..count).map(place).collect();
    leaf::unstable(&mut sample, &|&a, &b| compare(&v[a], &v[b]));
    let part = index as f64 / v.len() as f64;
    let expected = part * count as f64;
    // Three standard deviations of the sample.
    let slack = 3.0 * (expected * (1.0 - part)).sqrt() + 1.0;
    let rank = if part < 0.5 {
        expected + slack
    } else {
        expected - slack
    };
    sample[(rank.max(0.0) as usize).min(count - 1)]
}
