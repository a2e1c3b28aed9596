//! The unstable sort by comparison: quicksort in place, its halves in
//! parallel, std's sort at the leaves. Extra memory: the stack.
//!
//! A pivot, like every element, is looked at by one thread at a time. It is passed by unique reference to the
//! side whose left neighbour it is.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use crate::plumbing::halves;
use tine_pool::current_num_threads;
use tine_pool::loops::{is_bound, requested};

use super::{leaf, nearly, partition, runs, shape};

/// Shorter slices are left to std: waking a second thread costs more than it saves.
pub(super) const CUTOFF: usize = if cfg!(miri) { 128 } else { 20_000 };

/// Wider elements are sorted by blocks down to the leaves: std moves them with a branch for each.
const WIDE: usize = 32;
/// Shorter parts are not worth a fork.
const SHORTEST: usize = if cfg!(any(test, miri)) { 32 } else { 2048 };
/// At this length blocks no longer pay, and std sorts by insertion.
const SMALL: usize = 20;
/// Before a part of more elements than this, the sort asks whether it is to end.
const ENDS: usize = if cfg!(miri) { 64 } else { 1024 };
/// This many elements are sorted, to see whether the slice is nearly in order.
const PROBE: usize = 2048;

/// Sorts `v`; equal elements may end in any order.
pub(crate) fn sort_by<T, F>(v: &mut [T], compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    // There may be more values of size zero than can be looked at, and all their orders are the same.
    if size_of::<T>() == 0 {
        return;
    }
    if v.len() < CUTOFF {
        let nearly = v.len() >= runs::PROBED && (runs::settle(v, compare) || nearly(v, compare));
        if !nearly {
            leaf::unstable(v, compare);
        }
        return;
    }
    if runs::settle(v, compare) {
        return;
    }
    if v.len() < shape::FEW_CUTOFF && shape::few(v, compare) {
        return leaf::unstable(v, compare);
    }
    in_parts(v, current_num_threads(), compare);
}

/// Sorts `v`, in which no order is expected, on this number of threads.
pub(super) fn in_parts<T, F>(v: &mut [T], threads: usize, compare: &F)
where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let wide = size_of::<T>() > WIDE;
    let tidy = tidy(v, compare);
    if threads == 1 && !wide && !tidy && !is_bound() {
        return leaf::unstable(v, compare);
    }
    let fork = (v.len() / (threads * 8)).clamp(SHORTEST, 1 << 16);
    let plan = Plan {
        compare,
        shared: v.len() / threads,
        fork,
        leaf: if wide { SMALL } else { fork },
        tidy,
        mixed: shape::mixed(v, compare),
    };
    quicksort(v, None, v.len().ilog2(), &plan);
}

/// Sorts `v` if it is in order except for a few elements.
fn nearly<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) -> bool {
    tidy(v, compare) && nearly::sort(v, compare)
}

/// Whether `v` is likely to be in order except for a few elements.
fn tidy<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) -> bool {
    let some = v.len().min(PROBE);
    size_of::<T>() <= WIDE && shape::tidy(v, compare) && nearly::sort(&mut v[..some], compare)
}

/// What all forks of one sort share.
struct Plan<'a, F> {
    compare: &'a F,
    /// While parts are longer than this, there are fewer parts than threads.
    shared: usize,
    /// At this length a part is sorted by one thread.
    fork: usize,
    /// At this length a part is no longer partitioned.
    leaf: usize,
    /// Whether parts are likely to be in order except for a few elements.
    tidy: bool,
    /// Whether there is no order at all that partitioning one by one would undo.
    mixed: bool,
}

impl<F> Plan<'_, F> {
    /// Partitions `rest` by `left`.
    fn part<T>(&self, rest: &mut [T], left: impl FnMut(&T) -> bool) -> usize {
        if self.tidy {
            partition::sparse(rest, left)
        } else if self.mixed {
            partition::partition(rest, left)
        } else {
            partition::by_blocks(rest, left)
        }
    }

    /// Sorts a part that is no longer partitioned.
    fn finish<T>(&self, v: &mut [T])
    where
        F: Fn(&T, &T) -> Ordering,
    {
        if !(self.tidy && nearly::sort(v, self.compare)) {
            leaf::unstable(v, self.compare);
        }
    }
}

/// Sorts `v`, none of whose elements is less than `before`.
fn quicksort<'v, T, F>(
    mut v: &'v mut [T],
    mut before: Option<&'v mut T>,
    mut patience: u32,
    plan: &Plan<'_, F>,
) where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let compare = plan.compare;
    while v.len() > plan.leaf {
        if v.len() > ENDS && requested() {
            return;
        }
        if patience == 0 {
            break;
        }
        let at = pivot(v, compare);
        v.swap(0, at);
        let alone = v.len() <= plan.shared || before.is_some();
        let parted = (!alone).then(|| partition::in_two(v, compare)).flatten();
        if let Some(less) = parted {
            let (left, right) = v.split_at_mut(less);
            let (pivot, right) = right.split_first_mut().expect("the pivot is there");
            halves(
                || quicksort(left, None, patience - 1, plan),
                || quicksort(right, Some(&mut *pivot), patience - 1, plan),
            );
            return;
        }
        let (pivot, rest) = v.split_first_mut().expect("longer than a leaf");
        if before
            .as_deref()
            .is_some_and(|before| compare(before, pivot).is_ge())
        {
            // The pivot is the least element, so those equal to it are in place at once.
            // By blocks, whatever the order: each way of partitioning is compiled for each closure, and there
            // are few such passes.
            let equal = partition::by_blocks(rest, |x| compare(pivot, x).is_ge());
            if equal < rest.len() / 8 {
                patience -= 1;
            }
            v = &mut v[1 + equal..];
            continue;
        }
        let less = plan.part(rest, partition::before(compare, pivot));
        let len = v.len();
        if less.min(len - less) < len / 8 {
            patience -= 1;
        }
        v.swap(0, less);
        let (left, right) = v.split_at_mut(less);
        let (pivot, right) = right.split_first_mut().expect("the pivot is there");
        if len > plan.fork {
            halves(
                || quicksort(left, before.as_deref_mut(), patience, plan),
                || quicksort(right, Some(&mut *pivot), patience, plan),
            );
            return;
        }
        quicksort(left, before.as_deref_mut(), patience, plan);
        (v, before) = (right, Some(pivot));
    }
    if v.len() <= ENDS || !requested() {
        plan.finish(v);
    }
}

/// The index of an element near the middle: medians of three of medians of three, from a sample that grows with
/// the slice.
pub(super) fn pivot<T, F: Fn(&T, &T) -> Ordering>(v: &[T], compare: &F) -> usize {
    let depth = match v.len() {
        0..64 => 0,
        64..1024 => 1,
        1024..16_384 => 2,
        16_384..262_144 => 4,
        _ => 5,
    };
    median(v, v.len() / 6, v.len() / 3, depth, compare)
}

/// The median of three positions, `stride` apart, from `first` on. Each of the three is itself a median of the
/// three around it, to the given depth.
fn median<T, F: Fn(&T, &T) -> Ordering>(
    v: &[T],
    first: usize,
    stride: usize,
    depth: u32,
    compare: &F,
) -> usize {
    let at = |k: usize| {
        let near = first + k * stride;
        match depth {
            0 => near,
            _ => median(v, near - stride / 3, stride / 3, depth - 1, compare),
        }
    };
    let (a, b, c) = (at(0), at(1), at(2));
    let less = |i: usize, j: usize| compare(&v[i], &v[j]).is_lt();
    match (less(a, b), less(b, c), less(a, c)) {
        (true, true, _) | (false, false, _) => b,
        (true, false, true) | (false, true, false) => c,
        _ => a,
    }
}
