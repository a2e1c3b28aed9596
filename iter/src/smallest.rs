//! The few smallest or largest items of any parallel iterator, in one pass, with memory for a few
//! times that number.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use crate::iter::ParallelIterator;
use crate::order::TotalOrder;
use crate::sort::{nth_alone, par_sort_unstable_by};

/// Shorter candidate lists are not worth shortening.
const FEW: usize = 64;

/// The few smallest or largest items of a parallel iterator.
///
/// Which of several equal items are returned is not specified.
///
/// ```
/// use tine::prelude::*;
///
/// let scores = [3, 1, 4, 1, 5];
/// assert_eq!(scores.into_par_iter().k_smallest(2), [1, 1]);
/// assert_eq!(scores.into_par_iter().k_largest(2), [5, 4]);
/// ```
pub trait Smallest: ParallelIterator {
    /// The `k` smallest items, smallest first; all of them if there are fewer.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let best = (0..1000_u32).into_par_iter().map(|x| x * 7 % 1000).k_smallest(3);
    /// assert_eq!(best, [0, 1, 2]);
    /// ```
    fn k_smallest(self, k: usize) -> Vec<Self::Item>
    where
        Self::Item: TotalOrder,
    {
        self.k_smallest_by(k, Ord::cmp)
    }

    /// The `k` items that come first in the order of `compare`, in that order.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let v = vec![0.5, -1.0, 3.0];
    /// assert_eq!(v.into_par_iter().k_smallest_by(2, f64::total_cmp), [-1.0, 0.5]);
    /// ```
    fn k_smallest_by<F>(self, k: usize, compare: F) -> Vec<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        let room = k.saturating_mul(2).max(FEW);
        let add = |mut best: Best<Self::Item>, item| {
            if best.takes(&item, k, &compare) {
                best.some.push(item);
                if best.some.len() >= room {
                    best.shorten(k, &compare);
                }
            } else {
                // If this panics, the best are dropped too.
                drop(item);
            }
            best
        };
        let both = |mut best: Best<Self::Item>, mut others: Best<Self::Item>| {
            best.some.append(&mut others.some);
            best.shorten(k, &compare);
            best
        };
        let best = self.fold(Best::new, add).reduce_with(both);
        let mut smallest = best.map_or_else(Vec::new, |best| best.some);
        par_sort_unstable_by(&mut smallest, &compare);
        smallest.truncate(k);
        smallest
    }

    /// The `k` largest items, largest first; all of them if there are fewer.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let words = ["fork", "join", "tine", "prong"];
    /// assert_eq!(words.par_iter().k_largest(2), [&"tine", &"prong"]);
    /// ```
    fn k_largest(self, k: usize) -> Vec<Self::Item>
    where
        Self::Item: TotalOrder,
    {
        self.k_smallest_by(k, |a, b| b.cmp(a))
    }

    /// The `k` items that come last in the order of `compare`, the last first.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let v = vec![0.5, -1.0, 3.0];
    /// assert_eq!(v.into_par_iter().k_largest_by(2, f64::total_cmp), [3.0, 0.5]);
    /// ```
    fn k_largest_by<F>(self, k: usize, compare: F) -> Vec<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        self.k_smallest_by(k, |a, b| compare(b, a))
    }
}

impl<I: ParallelIterator> Smallest for I {}

/// Candidates of one piece.
struct Best<T> {
    some: Vec<T>,
    /// Whether they have been shortened before. Then the first `k` are the least so far, the
    /// greatest of these last.
    shortened: bool,
}

impl<T> Best<T> {
    fn new() -> Self {
        Best {
            some: Vec::new(),
            shortened: false,
        }
    }

    /// Whether an item can be among the `k` smallest. Most items of a long input cannot, and one
    /// comparison shows it.
    #[inline]
    fn takes(&self, item: &T, k: usize, compare: impl Fn(&T, &T) -> Ordering) -> bool {
        !self.shortened
            || k.checked_sub(1)
                .and_then(|last| self.some.get(last))
                .is_some_and(|last| compare(item, last).is_lt())
    }

    /// Leaves the `k` smallest.
    fn shorten(&mut self, k: usize, compare: impl Fn(&T, &T) -> Ordering) {
        if self.some.len() >= k {
            if k > 0 {
                nth_alone(&mut self.some, k - 1, &compare);
            }
            self.some.truncate(k);
            self.shortened = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Smallest;
    use crate::prelude::*;

    #[test]
    fn as_sorting_and_taking() {
        for len in [0_u64, 1, 63, 64, 65, 1000, 50_000] {
            let v: Vec<u64> = (0..len)
                .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A) % 5003)
                .collect();
            let mut sorted = v.clone();
            sorted.sort();
            for k in [0, 1, 2, 31, 100, 5000, usize::MAX] {
                let expected = &sorted[..k.min(sorted.len())];
                assert_eq!(
                    v.par_iter().copied().k_smallest(k),
                    expected,
                    "{k} of {len}"
                );
                let largest: Vec<u64> = sorted.iter().rev().take(k).copied().collect();
                assert_eq!(
                    v.clone().into_par_iter().k_largest(k),
                    largest,
                    "{k} of {len}"
                );
            }
        }
    }
}
