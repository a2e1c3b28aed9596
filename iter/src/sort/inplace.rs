//! The fallback when there is no memory: merging by rotation. `O(n log n)`
//! moves, no allocation, no unsafe code.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use crate::plumbing::halves;

/// Below this length a fork costs more than it saves.
const FORK: usize = if cfg!(miri) { 64 } else { 8192 };

/// Merges the sorted `v[..mid]` and `v[mid..]`, stably.
///
/// The middle element of the longer side is the pivot. One rotation exchanges
/// what belongs before it and what belongs after it. The pivot is then final,
/// so each step is shorter by at least one, whatever `compare` says.
pub(super) fn merge<T, F>(v: &mut [T], mid: usize, compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    if mid == 0 || mid == v.len() || compare(&v[mid], &v[mid - 1]).is_ge() {
        return;
    }
    let (left, right) = (mid, v.len() - mid);
    // `i` elements of the left side and `j` of the right precede the pivot.
    let (i, j, left_mid, right_mid);
    if left >= right {
        i = left / 2;
        j = v[mid..].partition_point(|x| compare(x, &v[i]).is_lt());
        v[i..mid + j].rotate_left(mid - i);
        (left_mid, right_mid) = (i, mid - i - 1);
    } else {
        j = right / 2;
        i = v[..mid].partition_point(|x| compare(&v[mid + j], x).is_ge());
        v[i..=mid + j].rotate_left(mid - i);
        (left_mid, right_mid) = (i, mid - i);
    }
    let fork = v.len() >= FORK;
    let (front, back) = v.split_at_mut(i + j);
    let back = &mut back[1..];
    if fork {
        halves(
            || merge(front, left_mid, compare),
            || merge(back, right_mid, compare),
        );
    } else {
        merge(front, left_mid, compare);
        merge(back, right_mid, compare);
    }
}
