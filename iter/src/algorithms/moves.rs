//! Moving elements within a slice and between two: reversing, rotating, exchanging.
//!
//! All of it exchanges chunks with chunks. If one thread can move all bytes of a slice before
//! another thread comes, the slice is left to std.
#![forbid(unsafe_code)]

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::both;
use crate::sources::slice::ParallelSliceMut;

/// Shorter slices, in bytes, are moved by this thread.
const ALONE: usize = if cfg!(any(test, miri)) {
    1 << 8
} else {
    1 << 17
};
/// The bytes of a chunk.
const CHUNK: usize = if cfg!(any(test, miri)) {
    1 << 5
} else {
    1 << 13
};
/// A rotation is cut into this many pieces. It is done piece by piece only if each hands at most
/// a `PART`th of its length to the next.
const PIECES: usize = 16;
const PART: usize = 4;

/// Whether a slice of `len` elements is too short to be shared.
fn short<T>(len: usize) -> bool {
    len.saturating_mul(size_of::<T>()) < ALONE
}

/// The elements of a chunk.
fn chunk<T>() -> usize {
    (CHUNK / size_of::<T>().max(1)).max(1)
}

/// Reverses a slice.
pub(super) fn reverse<T: Send>(v: &mut [T]) {
    if short::<T>(v.len()) {
        return v.reverse();
    }
    let half = v.len() / 2;
    let (front, from_middle) = v.split_at_mut(half);
    // With an odd length the middle element stays where it is.
    let middle = from_middle.len() - half;
    let back = &mut from_middle[middle..];
    let pairs = front.par_chunks_mut(chunk::<T>());
    let pairs = pairs.zip(back.par_rchunks_mut(chunk::<T>()));
    pairs.for_each(|(front, back)| {
        let last = front.len().min(back.len());
        let (front, back) = (&mut front[..last], &mut back[..last]);
        for at in 0..last {
            std::mem::swap(&mut front[at], &mut back[last - 1 - at]);
        }
    });
}

/// Exchanges the elements of two slices of equal length.
pub(super) fn swap<T: Send>(a: &mut [T], b: &mut [T]) {
    if short::<T>(a.len()) {
        return a.swap_with_slice(b);
    }
    let pairs = a.par_chunks_mut(chunk::<T>());
    let pairs = pairs.zip(b.par_chunks_mut(chunk::<T>()));
    pairs.for_each(|(a, b)| a.swap_with_slice(b));
}

/// Moves the element at `mid` to the front, and those before it behind all others.
pub(super) fn rotate<T: Send>(mut v: &mut [T], mut mid: usize) {
    // Euclid's method: exchange the shorter side with its counterpart at the far end, where it is then in
    // place, and go on with the rest.
    loop {
        let len = v.len();
        let shorter = mid.min(len - mid);
        if shorter == 0 || short::<T>(len) {
            return v.rotate_left(mid);
        }
        if shorter <= len / (PIECES * PART) {
            return by_pieces(v, mid);
        }
        if mid == shorter {
            // A B C, where C is as long as A: C B A; then C must still move behind B.
            let (front, back) = v.split_at_mut(len - mid);
            swap(&mut front[..mid], back);
            v = front;
        } else {
            // A B C, where A is as long as C: C B A; then A must still move before B.
            let (front, rest) = v.split_at_mut(shorter);
            let at = rest.len() - shorter;
            swap(front, &mut rest[at..]);
            v = rest;
            mid -= shorter;
        }
    }
}

/// Rotates where one side is short. Each piece is rotated by itself. Then its end holds what
/// belongs to the end of the piece before it (or to the front of the one after). At last these ends
/// are handed on.
fn by_pieces<T: Send>(v: &mut [T], mid: usize) {
    let (len, shorter) = (v.len(), mid.min(v.len() - mid));
    let size = len.div_ceil(PIECES);
    let forward = mid == shorter;
    // If the last piece is shorter than what is handed on, it becomes part of the piece before.
    let whole = len / size * size;
    let cut = if len - whole < shorter {
        whole - size
    } else {
        whole
    };
    let (even, last) = v.split_at_mut(cut);
    let turn = |piece: &mut [T]| match forward {
        true => piece.rotate_left(shorter),
        false => piece.rotate_right(shorter),
    };
    both(|| even.par_chunks_mut(size).for_each(turn), || turn(last));
    let mut pieces: Vec<&mut [T]> = even.chunks_mut(size).collect();
    pieces.extend((!last.is_empty()).then_some(last));
    if forward {
        // The end of each piece holds its own front, and needs that of the next piece.
        let mut ends: Vec<&mut [T]> = pieces
            .into_iter()
            .map(|mut piece| {
                piece
                    .split_off_mut(piece.len() - shorter..)
                    .expect("long enough")
            })
            .collect();
        hand_on(&mut ends);
    } else {
        let mut fronts: Vec<&mut [T]> = pieces
            .into_iter()
            .map(|piece| &mut piece[..shorter])
            .collect();
        fronts.reverse();
        hand_on(&mut fronts);
    }
}

/// Each slice takes the content of the next, and the last that of the first. All are equally long.
fn hand_on<T: Send>(slices: &mut [&mut [T]]) {
    let len = slices.first().map_or(0, |first| first.len());
    if short::<T>(len * slices.len()) || len < 2 {
        for at in 1..slices.len() {
            let (before, from) = slices.split_at_mut(at);
            before[at - 1].swap_with_slice(from[0]);
        }
        return;
    }
    let halves = slices.iter_mut().map(|slice| slice.split_at_mut(len / 2));
    let (mut near, mut far): (Vec<_>, Vec<_>) = halves.unzip();
    both(|| hand_on(&mut near), || hand_on(&mut far));
}
