//! Input that is already in order, or exactly reversed, is found before any sorting starts. If there is no
//! order, looking costs a few comparisons.
#![forbid(unsafe_code)]

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::plumbing::halves;
use tine_pool::current_num_threads;

use super::fork;

/// Shorter slices are sorted so quickly that looking for a run does not pay.
pub(super) const PROBED: usize = if cfg!(miri) { 64 } else { 512 };
/// This many elements are looked at, or reversed, in less time than another thread takes to come.
const ALONE: usize = if cfg!(miri) {
    64
} else if cfg!(test) {
    1 << 12
} else {
    1 << 16
};
/// Shorter slices are not shared at all.
const SHARED: usize = 3 * ALONE;
/// The number of elements between two looks at what the other threads have found.
const BLOCK: usize = 512;

/// A whole slice that is one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Run {
    /// No element is less than the one before it.
    Ascending,
    /// Every element is less than the one before it.
    Descending,
}

/// Sorts `v` if it is one run, forwards or strictly backwards. Otherwise leaves it alone and
/// returns `false`. Stable: equal elements are never reversed.
pub(super) fn settle<T, F>(v: &mut [T], compare: &F) -> bool
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    match whole(v, compare) {
        Some(Run::Ascending) => {}
        Some(Run::Descending) => reverse(v),
        None => return false,
    }
    true
}

/// Reverses a slice, in parallel if it is long enough for that.
pub(super) fn reverse<T: Send>(v: &mut [T]) {
    if v.len() < SHARED {
        v.reverse();
    } else {
        fork::reverse(v, fork::grain(v.len(), current_num_threads()));
    }
}

/// The run that `v` as a whole is, if it is one.
pub(super) fn whole<T, F>(v: &mut [T], compare: &F) -> Option<Run>
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let down = matches!(v, [first, second, ..] if compare(second, first).is_lt());
    if down {
        one_run(v, &|a, b| compare(b, a).is_ge()).then_some(Run::Descending)
    } else {
        one_run(v, &|a, b| compare(b, a).is_lt()).then_some(Run::Ascending)
    }
}

/// Whether no two neighbours break the run. A few pairs from all over the slice come first, so that two runs in
/// a row are noticed before half of the slice has been looked at.
fn one_run<T, B>(v: &mut [T], breaks: &B) -> bool
where
    T: Send,
    B: Fn(&T, &T) -> bool + Sync,
{
    const LOOKS: usize = 16;
    let part = (v.len() / LOOKS).max(2);
    let mut at = 0;
    while at + part <= v.len() {
        if breaks(&v[at], &v[at + 1]) {
            return false;
        }
        at += part;
    }
    unbroken(v, breaks)
}

/// Whether no two neighbours break the run.
fn unbroken<T, B>(v: &mut [T], breaks: &B) -> bool
where
    T: Send,
    B: Fn(&T, &T) -> bool + Sync,
{
    let alone = if v.len() < SHARED { v.len() } else { ALONE };
    if scan(&v[..alone], breaks) {
        return false;
    }
    if alone == v.len() {
        return true;
    }
    // From the last seen element on, so that no pair is left out.
    let rest = &mut v[alone - 1..];
    let grain = fork::grain(rest.len(), current_num_threads());
    let broken = AtomicBool::new(false);
    search(rest, grain, &|v: &[T]| scan(v, breaks), &broken);
    !broken.into_inner()
}

/// Whether any two neighbours break the run. Takes a few pairs at a time, since a single branch for all of them
/// is quicker than a branch for each.
fn scan<T>(v: &[T], breaks: &impl Fn(&T, &T) -> bool) -> bool {
    const PAIRS: usize = 8;
    let mut rest = v;
    while let Some(some) = rest.first_chunk::<{ PAIRS + 1 }>() {
        let mut broken = false;
        for i in 0..PAIRS {
            broken |= breaks(&some[i], &some[i + 1]);
        }
        if broken {
            return true;
        }
        rest = &rest[PAIRS..];
    }
    let mut at = 1;
    while at < rest.len() && !breaks(&rest[at - 1], &rest[at]) {
        at += 1;
    }
    at < rest.len()
}

/// Raises `broken` if `scan` finds that any two neighbours break the run. It takes the slice by unique
/// reference because it hands the halves to different threads. The pair at the seam is compared before the
/// halves part.
///
/// `scan` is behind a reference, so that this is compiled once for each type of element: there are two orders
/// for each run, and several for words.
fn search<T: Send>(
    v: &mut [T],
    grain: usize,
    scan: &(dyn Fn(&[T]) -> bool + Sync),
    broken: &AtomicBool,
) {
    if broken.load(Relaxed) {
        return;
    }
    if v.len() <= grain {
        // Blocks overlap by one element, so that the pairs at the seams are looked at.
        let found = (0..v.len().saturating_sub(1)).step_by(BLOCK).any(|at| {
            broken.load(Relaxed) || scan(&v[at..v.len().min(at.saturating_add(BLOCK + 1))])
        });
        if found {
            broken.store(true, Relaxed);
        }
        return;
    }
    let mid = v.len() / 2;
    if scan(&v[mid - 1..=mid]) {
        broken.store(true, Relaxed);
        return;
    }
    let (left, right) = v.split_at_mut(mid);
    halves(
        || search(left, grain, scan, broken),
        || search(right, grain, scan, broken),
    );
}

/// Whether `in_order` holds of every two neighbours.
pub(super) fn is_sorted<T, F>(v: &[T], in_order: &F) -> bool
where
    T: Sync,
    F: Fn(&T, &T) -> bool + Sync,
{
    let probe = v.len().min(BLOCK);
    let breaks = |a: &T, b: &T| !in_order(a, b);
    if v.len() < SHARED || scan(&v[..probe], &breaks) {
        return !scan(v, &breaks);
    }
    let grain = fork::grain(v.len(), current_num_threads());
    let broken = AtomicBool::new(false);
    let pieces = v.len().div_ceil(grain);
    fork::each(0..pieces, &|piece| {
        // One element more than the piece, so that the pair at the seam is looked at.
        let end = grain
            .saturating_mul(piece + 1)
            .saturating_add(1)
            .min(v.len());
        // Blocks overlap by one for the same reason.
        let found = (piece * grain..end.saturating_sub(1))
            .step_by(BLOCK)
            .any(|at| {
                broken.load(Relaxed) || scan(&v[at..end.min(at.saturating_add(BLOCK + 1))], &breaks)
            });
        if found {
            broken.store(true, Relaxed);
        }
    });
    !broken.into_inner()
}
