//! The sort that computes each key once and keeps it.

use std::mem::MaybeUninit;
use std::ptr;

use crate::plumbing::both;
use tine_pool::current_num_threads;

use super::dispatch::{self, ONCE};
use super::{fork, permute, unstable};

/// Shorter slices are not worth asking what type their keys have.
const CUTOFF: usize = if cfg!(miri) { 64 } else { 2048 };

/// Sorts stably by keys that are each computed once.
pub(super) fn sort_by_key<T, K, F>(v: &mut [T], key: &F)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Sync,
{
    if size_of::<T>() == 0 {
        return v.iter().for_each(|value| drop(key(value)));
    }
    let order = |a: &T, b: &T| key(a).cmp(&key(b));
    if v.len() >= CUTOFF && dispatch::by_key_type::<ONCE, _, _, _, _>(v, key, &order) {
        return;
    }
    let grain = match v.len() {
        len @ ..CUTOFF => len,
        len => fork::grain(len, current_num_threads()),
    };
    let mut keys: Vec<(K, usize)> = Vec::with_capacity(v.len());
    let filled = fill(0, v, keys.spare_capacity_mut(), grain, key).release();
    assert_eq!(filled, v.len(), "every element has a key");
    // SAFETY: `fill` has written the first `filled` keys, and released them.
    unsafe { keys.set_len(filled) };
    // The number makes equal keys differ, so the sort is stable.
    unstable::sort_by(&mut keys, &|a: &(K, usize), b: &(K, usize)| a.cmp(b));
    let mut order: Vec<usize> = keys.into_iter().map(|(_, index)| index).collect();
    // SAFETY: every index is there once; sorting, whatever a comparison says,
    // only moves them.
    unsafe { permute::by_order(v, &mut order, grain) };
}

/// Keys that have been computed: the first `len` of a room. Drops them unless they are released.
struct Filled<'a, K> {
    room: &'a mut [MaybeUninit<(K, usize)>],
    len: usize,
}

impl<K> Filled<'_, K> {
    /// Gives up the keys and returns their number.
    fn release(self) -> usize {
        std::mem::ManuallyDrop::new(self).len
    }
}

impl<K> Drop for Filled<'_, K> {
    fn drop(&mut self) {
        let keys = ptr::from_mut(&mut self.room[..self.len]) as *mut [(K, usize)];
        // SAFETY: the first `len` are initialised, and no one else's.
        unsafe { ptr::drop_in_place(keys) }
    }
}

/// Computes the keys of `v` into `room`, with numbers from `at` on.
fn fill<'a, T, K, F>(
    at: usize,
    v: &mut [T],
    room: &'a mut [MaybeUninit<(K, usize)>],
    grain: usize,
    key: &F,
) -> Filled<'a, K>
where
    T: Send,
    K: Send,
    F: Fn(&T) -> K + Sync,
{
    let mut filled = Filled { room, len: 0 };
    if v.len() <= grain {
        for (i, value) in v.iter().enumerate() {
            filled.room[i].write((key(value), at + i));
            filled.len += 1;
        }
        return filled;
    }
    let mid = v.len() / 2;
    let (v0, v1) = v.split_at_mut(mid);
    let (r0, r1) = filled.room.split_at_mut(mid);
    let (left, right) = both(
        || fill(at, v0, r0, grain, key),
        || fill(at + mid, v1, r1, grain, key),
    );
    filled.len = left.release() + right.release();
    filled
}
