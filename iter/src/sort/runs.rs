//! Input that is in order already, or exactly backwards, is found before any
//! sorting starts. Looking costs a few comparisons where there is no order.
#![forbid(unsafe_code)]

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tine_pool::{current_num_threads, join};

use super::fork;

/// The prefix that one thread looks at before others are asked to help.
const PROBE: usize = 512;

/// A whole slice that is one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Run {
    /// No element is less than the one before it.
    Ascending,
    /// Every element is less than the one before it.
    Descending,
}

/// Sorts `v` if it is one run, forwards or strictly backwards; otherwise
/// leaves it alone and says so. Stable: equal elements are never reversed.
pub(super) fn settle<T, F>(v: &mut [T], threads: usize, compare: &F) -> bool
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let grain = fork::grain(v.len(), threads);
    match whole(v, grain, compare) {
        Some(Run::Ascending) => {}
        Some(Run::Descending) => fork::reverse(v, grain),
        None => return false,
    }
    true
}

/// The run that all of `v` is, if it is one.
pub(super) fn whole<T, F>(v: &mut [T], grain: usize, compare: &F) -> Option<Run>
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let run = match v {
        [first, second, ..] if compare(second, first).is_lt() => Run::Descending,
        _ => Run::Ascending,
    };
    let breaks = |a: &T, b: &T| compare(b, a).is_lt() != (run == Run::Descending);
    let probe = v.len().min(PROBE);
    let broken = AtomicBool::new(scan(&v[..probe], &breaks));
    if !broken.load(Relaxed) && v.len() > probe {
        // From the probe's last element on, so that no pair is left out.
        search(&mut v[probe - 1..], grain, &breaks, &broken);
    }
    (!broken.into_inner()).then_some(run)
}

fn scan<T>(v: &[T], breaks: &impl Fn(&T, &T) -> bool) -> bool {
    v.windows(2).any(|pair| breaks(&pair[0], &pair[1]))
}

/// Raises `broken` if any two neighbours break the run. Takes the slice by
/// unique reference because it hands the halves to different threads: the pair
/// at the seam is compared before they part.
fn search<T, B>(v: &mut [T], grain: usize, breaks: &B, broken: &AtomicBool)
where
    T: Send,
    B: Fn(&T, &T) -> bool + Sync,
{
    if broken.load(Relaxed) {
        return;
    }
    if v.len() <= grain {
        let found = v.chunks(PROBE).enumerate().any(|(i, block)| {
            let seam = i > 0 && breaks(&v[i * PROBE - 1], &block[0]);
            seam || broken.load(Relaxed) || scan(block, breaks)
        });
        if found {
            broken.store(true, Relaxed);
        }
        return;
    }
    let mid = v.len() / 2;
    if breaks(&v[mid - 1], &v[mid]) {
        broken.store(true, Relaxed);
        return;
    }
    let (left, right) = v.split_at_mut(mid);
    join(
        || search(left, grain, breaks, broken),
        || search(right, grain, breaks, broken),
    );
}

/// Whether `in_order` holds of every two neighbours.
pub(super) fn is_sorted<T, F>(v: &[T], in_order: &F) -> bool
where
    T: Sync,
    F: Fn(&T, &T) -> bool + Sync,
{
    /// Shorter slices are looked at by one thread.
    const CUTOFF: usize = 50_000;
    let probe = v.len().min(PROBE);
    let breaks = |a: &T, b: &T| !in_order(a, b);
    if v.len() < CUTOFF || scan(&v[..probe], &breaks) {
        return !scan(v, &breaks);
    }
    let grain = fork::grain(v.len(), current_num_threads());
    let broken = AtomicBool::new(false);
    let pieces = v.len().div_ceil(grain);
    fork::each(0..pieces, &|piece| {
        // One more than the piece, so that the seam is looked at.
        let end = ((piece + 1) * grain + 1).min(v.len());
        // Blocks overlap by one for the same reason.
        let found = (piece * grain..end.saturating_sub(1))
            .step_by(PROBE)
            .any(|at| broken.load(Relaxed) || scan(&v[at..(at + PROBE + 1).min(end)], &breaks));
        if found {
            broken.store(true, Relaxed);
        }
    });
    !broken.into_inner()
}
