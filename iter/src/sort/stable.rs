//! The stable sort by comparison: std's sort on chunks, then parallel merges.
//!
//! ```text
//!   v:       [ q0 | q1 | q2 | q3 ]        each sorted by std
//!              └─┬──┘    └─┬──┘
//!   scratch: [  q0+q1  |  q2+q3  ]        merged into the scratch
//!              └────────┬────────┘
//!   v:       [   everything      ]        merged back
//! ```
//!
//! Two merges make one run out of four, so the result ends where it began. Up to four threads sort 4 chunks, or
//! 16, 64 … under a token. If there are more threads, all chunks are merged at once: `spread.rs`. Extra memory:
//! room for `n` elements, which is requested after std has given back its own. Without it the chunks are merged
//! in place.

use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::ptr;

use crate::plumbing::halves;
use tine_pool::current_num_threads;
use tine_pool::loops::{is_bound, requested};

use super::{fork, inplace, leaf, merge, runs, scratch::Scratch, shape, spread};

/// Shorter slices are left to std: waking a second thread costs more than it
/// saves.
pub(super) const CUTOFF: usize = if cfg!(miri) { 128 } else { 20_000 };
/// Under a token, a chunk that is sorted in one go has at most about this many elements.
const WAIT: usize = 1 << 16;

/// The greatest number of chunks that are merged at once: every cut looks into each chunk.
const MOST_CHUNKS: usize = 256;
/// The least length of such a chunk.
const CHUNK: usize = if cfg!(miri) { 32 } else { 1024 };
/// A part that one thread merges has at most about this many bytes, so that it stays in a near cache.
const NEAR: usize = 1 << 19;

/// Sorts `v`, keeping equal elements in their order.
pub(crate) fn sort_by<T, F>(v: &mut [T], compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let probed = v.len() >= runs::PROBED && size_of::<T>() > 0;
    if probed && runs::settle(v, compare) {
        return;
    }
    if v.len() < CUTOFF || size_of::<T>() == 0 {
        return leaf::stable(v, compare);
    }
    let threads = current_num_threads();
    if threads == 1 {
        return leaf::stable(v, compare);
    }
    if v.len() < shape::FEW_CUTOFF && shape::few(v, compare) {
        return leaf::stable(v, compare);
    }
    in_chunks(v, threads, compare, &|chunk: &mut [T]| {
        leaf::stable(chunk, compare)
    });
}

/// Sorts words that a sample showed to be in runs. Their order is known to be a total order, so std's sort is
/// compiled as it is, and not once more for comparisons that are no order.
pub(super) fn sort_runs<W: Copy + Ord + Send>(v: &mut [W]) {
    let threads = match v.len() < CUTOFF {
        true => 1,
        false => current_num_threads(),
    };
    if threads == 1 {
        return v.sort();
    }
    in_chunks(v, threads, &W::cmp, &|chunk: &mut [W]| chunk.sort());
}

/// Sorts chunks by `leaf` and merges them.
pub(super) fn in_chunks<T, F, L>(v: &mut [T], threads: usize, compare: &F, leaf: &L)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
    L: Fn(&mut [T]) + Sync,
{
    if fork::claims(threads)
        && let Some(mut scratch) = Scratch::new(v.len())
    {
        let sizes = spread_sizes::<T>(v.len(), threads);
        return spread::sort(v, scratch.room(), sizes, threads, compare, leaf);
    }
    let mut levels = 1;
    while (1 << (2 * levels)) < threads && levels < 5 {
        levels += 1;
    }
    // Under a token, chunks are no longer than a caller may have to wait for.
    while is_bound() && v.len() >> (2 * levels) > WAIT && levels < 5 {
        levels += 1;
    }
    chunks(v, levels, leaf);
    match Scratch::new(v.len()) {
        Some(mut scratch) => {
            let grain = fork::grain(v.len(), threads);
            quarters(v, scratch.room(), levels, grain, compare);
        }
        None => rotate(v, levels, compare),
    }
}

/// The number of chunks, and the greatest length of the parts that one thread merges.
fn spread_sizes<T>(len: usize, threads: usize) -> (usize, usize) {
    // More chunks than threads, so that all threads end at about the same time.
    let mut chunks = (2 * threads)
        .next_power_of_two()
        .min(MOST_CHUNKS)
        .min(len / CHUNK);
    if is_bound() {
        chunks = chunks.max((len / WAIT).min(4 * MOST_CHUNKS));
    }
    let near = (NEAR / size_of::<T>()).clamp(CHUNK, WAIT);
    (chunks.max(2), fork::grain(len, threads).min(near))
}

/// Merges the sorted `v[..mid]` and `v[mid..]`, stably. `mid` is no greater than the length.
pub(super) fn merge_at<T, F>(v: &mut [T], mid: usize, compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let len = v.len();
    let sorted = mid == 0 || mid == len || compare(&v[mid], &v[mid - 1]).is_ge();
    if sorted || size_of::<T>() == 0 {
        return;
    }
    let threads = if len < CUTOFF {
        1
    } else {
        current_num_threads()
    };
    match Scratch::new(len) {
        Some(mut scratch) => {
            let grain = if threads == 1 {
                len
            } else {
                fork::grain(len, threads)
            };
            merge::copy_out(v, scratch.room(), grain);
            back(scratch.room(), v, mid, grain, compare);
        }
        None => inplace::merge(v, mid, compare),
    }
}

/// The bounds of four nearly equal parts.
fn cuts(len: usize) -> [usize; 3] {
    let half = len / 2;
    [half / 2, half, half + (len - half) / 2]
}

/// Calls `leaf` for each of the `4^levels` chunks.
fn chunks<T: Send, L: Fn(&mut [T]) + Sync>(v: &mut [T], levels: u32, leaf: &L) {
    if requested() {
        return;
    }
    if levels == 0 {
        return leaf(v);
    }
    four(v, &|part: &mut [T]| chunks(part, levels - 1, leaf));
}

/// Calls `f` for each of four parts.
fn four<T: Send>(v: &mut [T], f: &(dyn Fn(&mut [T]) + Sync)) {
    let [one, two, three] = cuts(v.len());
    let (left, right) = v.split_at_mut(two);
    let (a, b) = left.split_at_mut(one);
    let (c, d) = right.split_at_mut(three - two);
    halves(|| halves(|| f(a), || f(b)), || halves(|| f(c), || f(d)));
}

/// Merges chunks in place.
fn rotate<T, F>(v: &mut [T], levels: u32, compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    if levels == 0 || requested() {
        return;
    }
    four(v, &|part: &mut [T]| rotate(part, levels - 1, compare));
    let [one, two, three] = cuts(v.len());
    let (left, right) = v.split_at_mut(two);
    halves(
        || inplace::merge(left, one, compare),
        || inplace::merge(right, three - two, compare),
    );
    inplace::merge(v, two, compare);
}

/// Merges `4^levels` sorted chunks of `v`, through `room`. If a comparison
/// panics, `v` holds all its elements, in some order.
fn quarters<T, F>(v: &mut [T], room: &mut [MaybeUninit<T>], levels: u32, grain: usize, compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    if levels == 0 {
        return;
    }
    let [one, two, three] = cuts(v.len());
    let (left, right) = v.split_at_mut(two);
    let (room_left, room_right) = room.split_at_mut(two);
    let go = |v: &mut [T], room: &mut [MaybeUninit<T>], mid: usize| {
        let (v0, v1) = v.split_at_mut(mid);
        let (r0, r1) = room.split_at_mut(mid);
        halves(
            || quarters(v0, r0, levels - 1, grain, compare),
            || quarters(v1, r1, levels - 1, grain, compare),
        );
        pair(v, room, mid, grain, compare)
    };
    let (mut left_moved, mut right_moved) = (false, false);
    halves(
        || left_moved = go(left, room_left, one),
        || right_moved = go(right, room_right, three - two),
    );
    let still = !left_moved && !right_moved;
    if still && (requested() || compare(&v[two], &v[two - 1]).is_ge()) {
        return;
    }
    let (left, right) = v.split_at_mut(two);
    let (room_left, room_right) = room.split_at_mut(two);
    if !left_moved {
        merge::copy_out(left, room_left, grain);
    }
    if !right_moved {
        merge::copy_out(right, room_right, grain);
    }
    back(room, v, two, grain, compare);
}

/// Merges two sorted chunks into `room`, or leaves them where they are if they
/// are in order. Returns whether they moved. Until the caller's next step `v`
/// is whole.
fn pair<T, F>(
    v: &mut [T],
    room: &mut [MaybeUninit<T>],
    mid: usize,
    grain: usize,
    compare: &F,
) -> bool
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    if mid == 0 || requested() || compare(&v[mid], &v[mid - 1]).is_ge() {
        return false;
    }
    let (a, b) = v.split_at_mut(mid);
    merge::merge(a, b, room, grain, compare);
    true
}

/// Merges the two sorted halves of `room` into `v`. By now all of `room` holds values, and `v` holds their
/// stale copies.
fn back<T, F>(room: &mut [MaybeUninit<T>], v: &mut [T], mid: usize, grain: usize, compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    /// Whatever happens, the values go home; unmerged if the merge unwinds.
    struct Home<T> {
        from: *const T,
        to: *mut T,
        len: usize,
    }
    impl<T> Drop for Home<T> {
        fn drop(&mut self) {
            // SAFETY: both are slices of `len`, of different memory.
            unsafe { ptr::copy_nonoverlapping(self.from, self.to, self.len) }
        }
    }
    let len = v.len();
    let from = room.as_mut_ptr().cast::<T>();
    // SAFETY: `room` is as long as `v`, and the caller has filled all of it.
    let values = unsafe { std::slice::from_raw_parts_mut(from, len) };
    let to = v.as_mut_ptr();
    // SAFETY: a slice of values may be written as places; `Home` and the merge together leave a value in each.
    let places = unsafe { std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), len) };
    let home = Home { from, to, len };
    let (a, b) = values.split_at_mut(mid);
    merge::merge(a, b, places, grain, compare);
    std::mem::forget(home);
}
