//! The two ways in which the sorts divide their work: by slices and by part numbers. Everything here halves and
//! calls `join`.
//!
//! A piece is long, so the calls down to it take the closure by reference: the halving is compiled once for
//! each type of element, and not for each closure.
#![forbid(unsafe_code)]

use std::ops::Range;

use std::sync::PoisonError;

use crate::kit::sync::Mutex;
use crate::plumbing::{both, crew, halves};
pub(super) use crate::plumbing::{course, open};

/// The number of pieces for each thread when a pass over memory is cut. It is large enough that a late thread
/// does not hold up the others, and small enough that a piece is long.
const PIECES_PER_THREAD: usize = 4;
/// The shortest piece that is worth a job.
const SHORTEST: usize = if cfg!(miri) { 32 } else { 1024 };

/// The length of a piece when `len` elements are shared by `threads` threads.
pub(super) fn grain(len: usize, threads: usize) -> usize {
    if threads == 1 {
        return len.max(1);
    }
    (len / (threads * PIECES_PER_THREAD)).max(SHORTEST)
}

/// Calls `f` once for every number in `parts`, in parallel.
pub(super) fn each(parts: Range<usize>, f: &(dyn Fn(usize) + Sync)) {
    match parts.len() {
        0 => {}
        1 => f(parts.start),
        len => {
            let mid = parts.start + len / 2;
            halves(|| each(parts.start..mid, f), || each(mid..parts.end, f));
        }
    }
}

/// Whether the threads are to claim their pieces: if there are more than four. Two threads lose time by it.
pub(super) fn claims(threads: usize) -> bool {
    threads > 4
}

/// Calls `f` with whatever `next` gives, until it gives nothing, on up to `threads` threads. For few long
/// pieces: a thread holds no piece but the one that it works on, so no piece waits while another thread has
/// nothing to do.
pub(super) fn claimed<P>(
    threads: usize,
    next: impl FnMut() -> Option<P> + Send,
    f: &(impl Fn(P) + Sync),
) {
    let next = Mutex::new(next);
    // If `next` has panicked, that panic is already unwinding.
    let claim = || (next.lock().unwrap_or_else(PoisonError::into_inner))();
    crew(threads, &|| {
        while let Some(piece) = claim() {
            f(piece);
        }
    });
}

/// Calls `f` with consecutive pieces of `v`, none longer than `grain`, and
/// the index at which each starts.
pub(super) fn each_slice<T: Send>(v: &mut [T], grain: usize, f: &(dyn Fn(usize, &mut [T]) + Sync)) {
    fn go<T: Send>(at: usize, v: &mut [T], grain: usize, f: &(dyn Fn(usize, &mut [T]) + Sync)) {
        if v.len() <= grain {
            return f(at, v);
        }
        // A multiple of the grain, so that only the last piece is short.
        let mid = (v.len().div_ceil(grain) / 2) * grain;
        let (left, right) = v.split_at_mut(mid);
        halves(|| go(at, left, grain, f), || go(at + mid, right, grain, f));
    }
    go(0, v, grain.max(1), f);
}

/// Reverses a slice, in parallel.
pub(super) fn reverse<T: Send>(v: &mut [T], grain: usize) {
    let half = v.len() / 2;
    let rest = v.len() - half;
    let (front, back) = v.split_at_mut(half);
    // With an odd length the middle element stays where it is.
    let back = &mut back[rest - half..];
    fn go<T: Send>(front: &mut [T], back: &mut [T], grain: usize) {
        if front.len() <= grain {
            let pairs = front.iter_mut().zip(back.iter_mut().rev());
            return pairs.for_each(|(a, b)| std::mem::swap(a, b));
        }
        let mid = front.len() / 2;
        let (f0, f1) = front.split_at_mut(mid);
        let (b0, b1) = back.split_at_mut(back.len() - mid);
        halves(|| go(f0, b1, grain), || go(f1, b0, grain));
    }
    go(front, back, grain.max(1));
}

/// Folds pieces of `v` in parallel, and `merge`s the results in order.
pub(super) fn fold<T, R, F, M>(v: &[T], grain: usize, piece: &F, merge: &M) -> R
where
    T: Sync,
    R: Send,
    F: Fn(&[T]) -> R + Sync,
    M: Fn(R, R) -> R + Sync,
{
    if v.len() <= grain {
        return piece(v);
    }
    let (left, right) = v.split_at(v.len() / 2);
    let (a, b) = both(
        || fold(left, grain, piece, merge),
        || fold(right, grain, piece, merge),
    );
    merge(a, b)
}
