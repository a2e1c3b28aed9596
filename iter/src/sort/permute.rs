//! Bringing elements into an order that is given by their numbers.

use std::mem::MaybeUninit;
use std::ptr;

use super::{fork, merge, scratch::Scratch};

/// Values to be read from several threads, each value by one of them.
struct Values<T>(*const T);
// SAFETY: only the address is shared; each value goes to a single thread, which `Send` allows.
unsafe impl<T: Send> Sync for Values<T> {}

/// Moves the element at `from(at)` to the place `at` of `v`, for each `at`, through `room`.
///
/// # Safety
/// `from` is a permutation of the indices of `v`, always the same, and never
/// panics. `room` is as long as `v`.
pub(super) unsafe fn by<T, F>(v: &mut [T], room: &mut [MaybeUninit<T>], grain: usize, from: &F)
where
    T: Send,
    F: Fn(usize) -> usize + Sync,
{
    assert_eq!(v.len(), room.len());
    let values = Values(v.as_ptr());
    let values = &values;
    fork::each_slice(room, grain, &|at, piece: &mut [MaybeUninit<T>]| {
        for (i, place) in piece.iter_mut().enumerate() {
            let value = values.0.wrapping_add(from(at + i));
            // SAFETY: an element of `v`, which no thread writes meanwhile; each element is read by a single
            // thread.
            unsafe { ptr::copy_nonoverlapping(value, place.as_mut_ptr(), 1) };
        }
    });
    let filled = ptr::from_mut(room) as *mut [T];
    // SAFETY: every place of the room has just been written.
    let filled = unsafe { &mut *filled };
    let places = ptr::from_mut(v) as *mut [MaybeUninit<T>];
    // SAFETY: the values of `v` have moved to `filled`, each once, and all come back: no user code runs in
    // between.
    let places = unsafe { &mut *places };
    merge::copy_out(filled, places, grain);
}

/// As [`by`], where `order[at]` is the index of the element for `at`. Also works without memory for a copy.
///
/// # Safety
/// `order` is a permutation of the indices of `v`.
pub(super) unsafe fn by_order<T: Send>(v: &mut [T], order: &mut [usize], grain: usize) {
    if let Some(mut room) = Scratch::new(v.len()) {
        // SAFETY: the caller vouches for the order.
        return unsafe { by(v, room.room(), grain, &|at| order[at]) };
    }
    round(v, order, |&from| from, |place, from| *place = from);
}

/// The same in place, where the indices are `get(&order[at])`: elements are moved along the cycles of the
/// permutation. `set` changes an index.
pub(super) fn round<T, R>(
    v: &mut [T],
    order: &mut [R],
    get: impl Fn(&R) -> usize,
    set: impl Fn(&mut R, usize),
) {
    for at in 0..v.len() {
        // An exchange may have moved the element away. The order says where it went.
        let mut from = get(&order[at]);
        while from < at {
            from = get(&order[from]);
        }
        set(&mut order[at], from);
        v.swap(at, from);
    }
}
