//! Slices of primitives, whose own bytes are their keys.

use std::mem::MaybeUninit;

use super::alone::{self, End};
use super::together;
use super::word::{RadixBits, Record};
use crate::sort::scratch::Scratch;

/// Shorter slices are better off with a comparison sort.
pub(crate) const SHORTEST: usize = if cfg!(miri) { 128 } else { 512 };
/// Slices of at most this many bytes are sorted by one thread without a scatter. They and their copies fit a
/// second-level cache, and two threads would take as long to start and to meet. Tests share earlier.
const CACHED: usize = if cfg!(test) { 1 << 18 } else { 3 << 18 };

/// Sorts plain records, unless there is no memory for it.
pub(crate) fn sort<R: Record>(v: &mut [R], threads: impl FnOnce() -> usize) -> bool {
    let threads = if size_of_val(v) <= CACHED {
        1
    } else {
        threads()
    };
    let Some(mut scratch) = Scratch::new(v.len()) else {
        return false;
    };
    sort_by_way_of(v, scratch.room(), threads);
    true
}

/// Sorts `v` through `room`, which is as long.
pub(crate) fn sort_by_way_of<R: Record>(v: &mut [R], room: &mut [MaybeUninit<R>], threads: usize) {
    if size_of_val(v) > CACHED {
        return together::sort(v, room, End::Here, threads);
    }
    for (place, record) in room.iter_mut().zip(&*v) {
        place.write(*record);
    }
    // SAFETY: there are as many places as records, and all of them have just been written.
    let room = unsafe { &mut *(std::ptr::from_mut(room) as *mut [R]) };
    alone::sort(v, room, End::Here, R::Bits::WIDTH);
}
