//! The few smallest or largest items of any parallel iterator, in one pass and
//! in room for a few times as many.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use crate::iter::ParallelIterator;
use crate::sort::par_sort_unstable_by;

/// Shorter candidate lists are not worth shortening.
const FEW: usize = 64;

/// What any parallel iterator can give beyond its minimum and maximum.
///
/// Which of several equal items are given is not specified.
///
/// ```
/// use tine_iter::prelude::*;
/// use tine_iter::smallest::Smallest;
///
/// let scores = [3, 1, 4, 1, 5];
/// assert_eq!(scores.into_par_iter().k_smallest(2), [1, 1]);
/// assert_eq!(scores.into_par_iter().k_largest(2), [5, 4]);
/// ```
pub trait Smallest: ParallelIterator {
    /// The `k` smallest items, smallest first; all of them if there are fewer.
    ///
    /// ```
    /// use tine_iter::prelude::*;
    /// use tine_iter::smallest::Smallest;
    ///
    /// let best = (0..1000_u32).into_par_iter().map(|x| x * 7 % 1000).k_smallest(3);
    /// assert_eq!(best, [0, 1, 2]);
    /// ```
    fn k_smallest(self, k: usize) -> Vec<Self::Item>
    where
        Self::Item: Ord,
    {
        self.k_smallest_by(k, Ord::cmp)
    }

    /// The `k` items that come first in the order of `compare`, in that order.
    ///
    /// ```
    /// use tine_iter::prelude::*;
    /// use tine_iter::smallest::Smallest;
    ///
    /// let v = vec![0.5, -1.0, 3.0];
    /// assert_eq!(v.into_par_iter().k_smallest_by(2, f64::total_cmp), [-1.0, 0.5]);
    /// ```
    fn k_smallest_by<F>(self, k: usize, compare: F) -> Vec<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        let room = k.saturating_mul(2).max(FEW);
        let add = |mut some: Vec<Self::Item>, item| {
            some.push(item);
            if some.len() >= room {
                shorten(&mut some, k, &compare);
            }
            some
        };
        let both = |mut some: Vec<Self::Item>, mut others: Vec<Self::Item>| {
            some.append(&mut others);
            shorten(&mut some, k, &compare);
            some
        };
        let mut smallest = self.fold(Vec::new, add).reduce(Vec::new, both);
        par_sort_unstable_by(&mut smallest, &compare);
        smallest.truncate(k);
        smallest
    }

    /// The `k` largest items, largest first; all of them if there are fewer.
    ///
    /// ```
    /// use tine_iter::prelude::*;
    /// use tine_iter::smallest::Smallest;
    ///
    /// let words = ["fork", "join", "tine", "prong"];
    /// assert_eq!(words.par_iter().k_largest(2), [&"tine", &"prong"]);
    /// ```
    fn k_largest(self, k: usize) -> Vec<Self::Item>
    where
        Self::Item: Ord,
    {
        self.k_smallest_by(k, |a, b| b.cmp(a))
    }

    /// The `k` items that come last in the order of `compare`, the last first.
    ///
    /// ```
    /// use tine_iter::prelude::*;
    /// use tine_iter::smallest::Smallest;
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

/// Leaves the `k` smallest, in no order.
fn shorten<T>(some: &mut Vec<T>, k: usize, compare: impl Fn(&T, &T) -> Ordering) {
    if some.len() > k {
        if k > 0 {
            some.select_nth_unstable_by(k - 1, compare);
        }
        some.truncate(k);
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
