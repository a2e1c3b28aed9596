//! Dropping repeated neighbours of a vector, piece by piece.
//!
//! Each piece removes its own repeats. Before the pieces part, the first element of each is compared with the
//! last element of the piece before. Afterwards the gaps between the pieces are closed. If a closure panics,
//! the elements that it has not been asked about stay.

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tine_pool::current_num_threads;

use super::fork;

/// Shorter vectors are left to std.
const CUTOFF: usize = if cfg!(miri) { 64 } else { 20_000 };

/// Removes all but the first of consecutive elements that `same` relates.
pub(super) fn dedup_by<T, F>(v: &mut Vec<T>, same: &F)
where
    T: Send,
    F: Fn(&mut T, &mut T) -> bool + Sync,
{
    if v.len() < CUTOFF {
        return v.dedup_by(same);
    }
    let grain = fork::grain(v.len(), current_num_threads());
    let mut repeats = vec![false];
    for at in (grain..v.len()).step_by(grain) {
        let (before, from) = v.split_at_mut(at);
        repeats.push(same(&mut from[0], &mut before[at - 1]));
    }
    let mut pieces = Pieces::new(v, grain);
    let Pieces { vec, kept, len, .. } = &mut pieces;
    let all = ptr::slice_from_raw_parts_mut(vec.as_mut_ptr(), *len);
    // SAFETY: the vector's own elements; its length is zero, so `pieces` alone
    // speaks for them until it is dropped.
    let all = unsafe { &mut *all };
    let kept = &*kept;
    fork::each_slice(all, grain, &|at, piece: &mut [T]| {
        let piece_number = at / grain;
        within(piece, repeats[piece_number], &kept[piece_number], same);
    });
}

/// A vector in pieces. The first few elements of each piece are left, and their number is known.
struct Pieces<'a, T> {
    vec: &'a mut Vec<T>,
    len: usize,
    grain: usize,
    kept: Vec<AtomicUsize>,
}

impl<'a, T> Pieces<'a, T> {
    fn new(vec: &'a mut Vec<T>, grain: usize) -> Self {
        let len = vec.len();
        let size = |at: usize| AtomicUsize::new(grain.min(len - at));
        let kept = (0..len).step_by(grain).map(size).collect();
        // SAFETY: fewer than before; `drop` speaks for the elements again.
        unsafe { vec.set_len(0) };
        Pieces {
            vec,
            len,
            grain,
            kept,
        }
    }
}

impl<T> Drop for Pieces<'_, T> {
    /// Closes the gaps between the pieces.
    fn drop(&mut self) {
        let start = self.vec.as_mut_ptr();
        let mut end = 0;
        for (number, kept) in self.kept.iter_mut().enumerate() {
            let kept = *kept.get_mut();
            let from = start.wrapping_add(number * self.grain);
            // SAFETY: the elements left in this piece are moved to where the pieces before it end: not beyond
            // its own start.
            unsafe { ptr::copy(from, start.wrapping_add(end), kept) };
            end += kept;
        }
        // SAFETY: `end` elements stand side by side now.
        unsafe { self.vec.set_len(end) };
    }
}

/// Removes repeats from a piece, and its first element if that `repeats` the piece before. Records how many
/// elements are left, also if a closure panics.
fn within<T, F>(piece: &mut [T], repeats: bool, kept: &AtomicUsize, same: &F)
where
    F: Fn(&mut T, &mut T) -> bool,
{
    /// `[0, left)` are kept, `[next, len)` have not been asked about yet; what was between has been dropped.
    struct Gap<'a, T> {
        start: *mut T,
        left: usize,
        next: usize,
        len: usize,
        kept: &'a AtomicUsize,
    }
    impl<T> Drop for Gap<'_, T> {
        fn drop(&mut self) {
            let rest = self.len - self.next;
            let from = self.start.wrapping_add(self.next);
            let to = self.start.wrapping_add(self.left);
            // SAFETY: both within the piece; these elements are there.
            unsafe { ptr::copy(from, to, rest) };
            self.kept.store(self.left + rest, Relaxed);
        }
    }
    let (start, len) = (piece.as_mut_ptr(), piece.len());
    let mut gap = Gap {
        start,
        left: 1,
        next: 1,
        len,
        kept,
    };
    while gap.next < len {
        let this = start.wrapping_add(gap.next);
        let last = start.wrapping_add(gap.left - 1);
        // SAFETY: an element that has not been asked about yet.
        let candidate = unsafe { &mut *this };
        // SAFETY: the last of those kept, which is before it.
        let retained = unsafe { &mut *last };
        let repeated = same(candidate, retained);
        gap.next += 1;
        if repeated {
            // SAFETY: `next` has passed it, so no other code sees it again.
            unsafe { ptr::drop_in_place(this) };
        } else {
            // SAFETY: to the first place of the gap, or onto itself.
            unsafe { ptr::copy(this, start.wrapping_add(gap.left), 1) };
            gap.left += 1;
        }
    }
    if repeats {
        // The others move up by one. The first is dropped at the very end, since they were compared
        // with it.
        // SAFETY: the first of the kept is moved out …
        let first = unsafe { ptr::read(start) };
        gap.left -= 1;
        // SAFETY: … and the others take its place.
        unsafe { ptr::copy(start.wrapping_add(1), start, gap.left) };
        drop(gap);
        drop(first);
    }
}
