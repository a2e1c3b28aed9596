//! Sorted slices as sets: union, intersection and the like.
//!
//! Both slices are cut at the same values, so that equal elements stay together, and the parts are
//! walked side by side.
#![forbid(unsafe_code)]

use std::cmp::Ordering;
use std::ops::Range;

use tine_pool::current_num_threads;

use crate::convert::IntoParallelIterator;
use crate::iter::ParallelIterator;

/// The fewest elements of a part, and about how many parts there are for each thread.
const PART: usize = if cfg!(miri) { 1 << 5 } else { 1 << 12 };
const PER_THREAD: usize = 16;

/// Combining two sorted slices.
///
/// An element may occur several times, as in C++. If it occurs `m` times in the first slice and `n`
/// times in the second, the union has it `max(m, n)` times and the intersection `min(m, n)` times.
/// The difference has it `m - n` times, or not at all. The symmetric difference has it `m - n` or
/// `n - m` times, whichever is positive. Results are sorted. Where elements of both slices are
/// equal, those of the first are taken. If a slice is not sorted, the result is some of the
/// elements.
///
/// ```
/// use tine::algorithms::ParallelSortedSets;
///
/// let (a, b) = ([1, 2, 3, 5], [2, 3, 4]);
/// assert_eq!(a.par_union(&b), [1, 2, 3, 4, 5]);
/// assert_eq!(a.par_intersection(&b), [2, 3]);
/// assert_eq!(a.par_difference(&b), [1, 5]);
/// assert_eq!(a.par_symmetric_difference(&b), [1, 4, 5]);
/// assert!(a.par_includes(&[1, 5]));
/// ```
pub trait ParallelSortedSets<T: Sync> {
    /// All elements of both slices, sorted.
    ///
    /// ```
    /// use tine::algorithms::ParallelSortedSets;
    ///
    /// assert_eq!([1, 3].par_merged(&[1, 2]), [1, 1, 2, 3]);
    /// ```
    fn par_merged(&self, other: &[T]) -> Vec<T>
    where
        T: Ord + Clone + Send,
    {
        self.par_combined_by(other, Combine::All, T::cmp)
    }

    /// The elements that are in either slice.
    ///
    /// ```
    /// use tine::algorithms::ParallelSortedSets;
    ///
    /// assert_eq!([1, 1, 3].par_union(&[1, 2]), [1, 1, 2, 3]);
    /// ```
    fn par_union(&self, other: &[T]) -> Vec<T>
    where
        T: Ord + Clone + Send,
    {
        self.par_combined_by(other, Combine::Union, T::cmp)
    }

    /// The elements that are in both slices.
    ///
    /// ```
    /// use tine::algorithms::ParallelSortedSets;
    ///
    /// assert_eq!([1, 1, 3].par_intersection(&[1, 2, 3]), [1, 3]);
    /// ```
    fn par_intersection(&self, other: &[T]) -> Vec<T>
    where
        T: Ord + Clone + Send,
    {
        self.par_combined_by(other, Combine::Intersection, T::cmp)
    }

    /// The elements that are only in this slice.
    ///
    /// ```
    /// use tine::algorithms::ParallelSortedSets;
    ///
    /// assert_eq!([1, 1, 3].par_difference(&[1, 2, 3]), [1]);
    /// ```
    fn par_difference(&self, other: &[T]) -> Vec<T>
    where
        T: Ord + Clone + Send,
    {
        self.par_combined_by(other, Combine::Difference, T::cmp)
    }

    /// The elements that are in exactly one of the two slices.
    ///
    /// ```
    /// use tine::algorithms::ParallelSortedSets;
    ///
    /// assert_eq!([1, 1, 3].par_symmetric_difference(&[1, 2, 3]), [1, 2]);
    /// ```
    fn par_symmetric_difference(&self, other: &[T]) -> Vec<T>
    where
        T: Ord + Clone + Send,
    {
        self.par_combined_by(other, Combine::SymmetricDifference, T::cmp)
    }

    /// Whether every element of `other` is in this slice, at least as often.
    ///
    /// ```
    /// use tine::algorithms::ParallelSortedSets;
    ///
    /// assert!([1, 1, 3].par_includes(&[1, 3]));
    /// assert!(![1, 3].par_includes(&[1, 1]));
    /// ```
    fn par_includes(&self, other: &[T]) -> bool
    where
        T: Ord,
    {
        self.par_includes_by(other, T::cmp)
    }

    /// The combination that `what` names, of slices that are sorted by `compare`. Each argument of
    /// `compare` may be an element of either slice.
    ///
    /// ```
    /// use tine::algorithms::{Combine, ParallelSortedSets};
    ///
    /// let (a, b) = ([0.5, 1.5], [1.5, 2.5]);
    /// let both = a.par_combined_by(&b, Combine::Intersection, f64::total_cmp);
    /// assert_eq!(both, [1.5]);
    /// ```
    fn par_combined_by<F>(&self, other: &[T], what: Combine, compare: F) -> Vec<T>
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> Ordering + Sync;

    /// [`par_includes`](ParallelSortedSets::par_includes) of slices that are sorted by `compare`.
    ///
    /// ```
    /// use tine::algorithms::ParallelSortedSets;
    ///
    /// assert!([3, 2, 1].par_includes_by(&[3, 1], |a, b| b.cmp(a)));
    /// ```
    fn par_includes_by<F>(&self, other: &[T], compare: F) -> bool
    where
        F: Fn(&T, &T) -> Ordering + Sync;
}

/// Which elements of two sorted slices are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// All elements of both.
    All,
    /// Elements that are in either.
    Union,
    /// Elements that are in both.
    Intersection,
    /// Elements that are only in the first.
    Difference,
    /// Elements that are in exactly one.
    SymmetricDifference,
}

impl<T: Sync> ParallelSortedSets<T> for [T] {
    fn par_combined_by<F>(&self, other: &[T], what: Combine, compare: F) -> Vec<T>
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        match what {
            Combine::All => combined::<_, _, true, true, true, false>(self, other, &compare),
            Combine::Union => combined::<_, _, true, true, true, true>(self, other, &compare),
            Combine::Intersection => {
                combined::<_, _, false, true, false, true>(self, other, &compare)
            }
            Combine::Difference => {
                combined::<_, _, true, false, false, true>(self, other, &compare)
            }
            Combine::SymmetricDifference => {
                combined::<_, _, true, false, true, true>(self, other, &compare)
            }
        }
    }

    fn par_includes_by<F>(&self, other: &[T], compare: F) -> bool
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let parts = parts(self, other, &compare).into_par_iter();
        parts.all(|(in_a, in_b)| includes(&self[in_a], &other[in_b], &compare))
    }
}

/// The elements only in the first slice if `FIRST`, those in both if `BOTH`, those only in the
/// second if `SECOND`. With `PAIRED`, an element that is in both stands for two, one of each slice.
fn combined<T, F, const FIRST: bool, const BOTH: bool, const SECOND: bool, const PAIRED: bool>(
    a: &[T],
    b: &[T],
    compare: &F,
) -> Vec<T>
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let parts = parts(a, b, compare);
    let walk = |(in_a, in_b): (Range<usize>, Range<usize>)| {
        walk::<T, F, FIRST, BOTH, SECOND, PAIRED>(&a[in_a], &b[in_b], compare)
    };
    if parts.len() == 1 {
        return parts.into_iter().map(walk).next().unwrap_or_default();
    }
    parts.into_par_iter().flat_map_iter(walk).collect()
}

fn walk<T, F, const FIRST: bool, const BOTH: bool, const SECOND: bool, const PAIRED: bool>(
    mut a: &[T],
    mut b: &[T],
    compare: &F,
) -> Vec<T>
where
    T: Clone,
    F: Fn(&T, &T) -> Ordering,
{
    let most = match (FIRST, SECOND) {
        (true, true) => a.len() + b.len(),
        (true, false) => a.len(),
        _ => a.len().min(b.len()),
    };
    let mut out = Vec::with_capacity(most);
    let (mut at_a, mut at_b) = (0, 0);
    while at_a < a.len() && at_b < b.len() {
        let (x, y) = (&a[at_a], &b[at_b]);
        let order = compare(x, y);
        let taken = match order {
            Ordering::Less => FIRST,
            Ordering::Equal => BOTH,
            Ordering::Greater => SECOND,
        };
        // It is hard to predict which one is less, so this is no branch. Of equal elements the first is taken.
        let from_a = order.is_le();
        if taken {
            out.push(if from_a { x } else { y }.clone());
        }
        at_a += usize::from(from_a);
        at_b += usize::from(order.is_gt() || PAIRED && order.is_eq());
    }
    (a, b) = (&a[at_a..], &b[at_b..]);
    if FIRST {
        out.extend_from_slice(a);
    }
    if SECOND {
        out.extend_from_slice(b);
    }
    out
}

fn includes<T, F: Fn(&T, &T) -> Ordering>(mut a: &[T], b: &[T], compare: &F) -> bool {
    for y in b {
        loop {
            let Some((x, more)) = a.split_first() else {
                return false;
            };
            a = more;
            match compare(x, y) {
                Ordering::Less => {}
                Ordering::Equal => break,
                Ordering::Greater => return false,
            }
        }
    }
    true
}

/// Cuts both slices at the same values, into at least one pair of parts.
fn parts<T, F>(a: &[T], b: &[T], compare: &F) -> Vec<(Range<usize>, Range<usize>)>
where
    F: Fn(&T, &T) -> Ordering,
{
    let longer = if a.len() < b.len() { b } else { a };
    let cuts = (a.len() + b.len()) / PART;
    let cuts = cuts.min(current_num_threads() * PER_THREAD);
    let step = longer.len().div_ceil(cuts + 1).max(1);
    let mut parts = Vec::with_capacity(cuts + 1);
    let (mut in_a, mut in_b) = (0, 0);
    for value in longer.iter().skip(step).step_by(step) {
        // Not before the last cut, whatever the comparison says.
        let before = |element: &T| compare(element, value).is_lt();
        let at_a = in_a + a[in_a..].partition_point(before);
        let at_b = in_b + b[in_b..].partition_point(before);
        if (at_a, at_b) != (in_a, in_b) {
            parts.push((in_a..at_a, in_b..at_b));
            (in_a, in_b) = (at_a, at_b);
        }
    }
    parts.push((in_a..a.len(), in_b..b.len()));
    parts
}
