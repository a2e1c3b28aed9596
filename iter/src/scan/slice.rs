//! Scans of slices in place.

use std::iter::Sum;

use super::inplace::{Flags, Keys, Unbroken, scan};
use super::op::{Adding, Closures};

/// Scans of a slice in place: each element is replaced by the result of all elements up to it.
///
/// The operation has to be associative. It takes its operands by value, so elements that own memory
/// can be joined without making new ones. Meanwhile a value of `identity` stands in the element's
/// place. With floats, the results are the same to the last bit on any number of threads.
///
/// If the operation panics, so does the call. The slice then holds some of its old elements, some
/// running values and some identities.
///
/// ```
/// use tine::prelude::*;
///
/// let mut lengths = [3, 1, 4];
/// assert_eq!(lengths.par_prefix_sum_exclusive(), 8);
/// assert_eq!(lengths, [0, 3, 4]);
/// ```
pub trait ParallelScanMut<T: Clone + Send> {
    /// The slice.
    #[doc(hidden)]
    fn as_scan_slice(&mut self) -> &mut [T];

    /// Replaces each element by the sum of all up to and including it; returns the sum of all.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [3, 1, 4];
    /// assert_eq!(v.par_prefix_sum(), 8);
    /// assert_eq!(v, [3, 4, 8]);
    /// ```
    fn par_prefix_sum(&mut self) -> T
    where
        T: Sum,
    {
        let op = Adding::new();
        scan::<_, _, _, false>(self.as_scan_slice(), &op, &Unbroken)
    }

    /// Replaces each element by the sum of all before it; returns the sum of all.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [3, 1, 4];
    /// assert_eq!(v.par_prefix_sum_exclusive(), 8);
    /// assert_eq!(v, [0, 3, 4]);
    /// ```
    fn par_prefix_sum_exclusive(&mut self) -> T
    where
        T: Sum,
    {
        let op = Adding::new();
        scan::<_, _, _, true>(self.as_scan_slice(), &op, &Unbroken)
    }

    /// Replaces each element by the result of `op` over all up to and including it. Returns the
    /// result of all.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut highest = [3, 1, 4, 1, 5];
    /// assert_eq!(highest.par_scan_by(|| 0, i32::max), 5);
    /// assert_eq!(highest, [3, 3, 4, 4, 5]);
    /// ```
    fn par_scan_by<ID, F>(&mut self, identity: ID, op: F) -> T
    where
        ID: Fn() -> T + Sync + Send,
        F: Fn(T, T) -> T + Sync + Send,
    {
        let op = Closures { identity, op };
        scan::<_, _, _, false>(self.as_scan_slice(), &op, &Unbroken)
    }

    /// Replaces each element by the result of `op` over all before it. Returns the result of all.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [2, 3, 4];
    /// assert_eq!(v.par_scan_exclusive_by(|| 1, |a, b| a * b), 24);
    /// assert_eq!(v, [1, 2, 6]);
    /// ```
    fn par_scan_exclusive_by<ID, F>(&mut self, identity: ID, op: F) -> T
    where
        ID: Fn() -> T + Sync + Send,
        F: Fn(T, T) -> T + Sync + Send,
    {
        let op = Closures { identity, op };
        scan::<_, _, _, true>(self.as_scan_slice(), &op, &Unbroken)
    }

    /// Scans each run of equal neighbours among `keys` by itself: replaces each element by the
    /// result of the elements of its run, up to and including it.
    ///
    /// # Panics
    ///
    /// If there are not as many keys as elements.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let (days, mut sales) = (["Mo", "Mo", "Tu", "Tu"], [3, 1, 4, 1]);
    /// sales.par_scan_by_key(&days, || 0, |a, b| a + b);
    /// assert_eq!(sales, [3, 4, 4, 5]);
    /// ```
    #[track_caller]
    fn par_scan_by_key<K, ID, F>(&mut self, keys: &[K], identity: ID, op: F)
    where
        K: PartialEq + Sync,
        ID: Fn() -> T + Sync + Send,
        F: Fn(T, T) -> T + Sync + Send,
    {
        let (slice, op) = (self.as_scan_slice(), Closures { identity, op });
        as_many(slice, keys);
        scan::<_, _, _, false>(slice, &op, &Keys(keys));
    }

    /// As [`par_scan_by_key`](Self::par_scan_by_key), but replaces each element by the result of
    /// the elements before it in its run.
    ///
    /// # Panics
    ///
    /// If there are not as many keys as elements.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let (keys, mut ones) = ([7, 7, 7, 8, 8], [1; 5]);
    /// ones.par_scan_exclusive_by_key(&keys, || 0, |a, b| a + b);
    /// assert_eq!(ones, [0, 1, 2, 0, 1]);
    /// ```
    #[track_caller]
    fn par_scan_exclusive_by_key<K, ID, F>(&mut self, keys: &[K], identity: ID, op: F)
    where
        K: PartialEq + Sync,
        ID: Fn() -> T + Sync + Send,
        F: Fn(T, T) -> T + Sync + Send,
    {
        let (slice, op) = (self.as_scan_slice(), Closures { identity, op });
        as_many(slice, keys);
        scan::<_, _, _, true>(slice, &op, &Keys(keys));
    }

    /// Scans each segment by itself. A flag says that a segment begins at its index.
    ///
    /// # Panics
    ///
    /// If there are not as many flags as elements.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4];
    /// v.par_scan_by_flags(&[false, false, true, false], || 0, |a, b| a + b);
    /// assert_eq!(v, [1, 3, 3, 7]);
    /// ```
    #[track_caller]
    fn par_scan_by_flags<ID, F>(&mut self, flags: &[bool], identity: ID, op: F)
    where
        ID: Fn() -> T + Sync + Send,
        F: Fn(T, T) -> T + Sync + Send,
    {
        let (slice, op) = (self.as_scan_slice(), Closures { identity, op });
        as_many(slice, flags);
        scan::<_, _, _, false>(slice, &op, &Flags(flags));
    }

    /// As [`par_scan_by_flags`](Self::par_scan_by_flags), but replaces each element by the result
    /// of the elements before it in its segment.
    ///
    /// # Panics
    ///
    /// If there are not as many flags as elements.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4];
    /// v.par_scan_exclusive_by_flags(&[true, false, true, false], || 0, |a, b| a + b);
    /// assert_eq!(v, [0, 1, 0, 3]);
    /// ```
    #[track_caller]
    fn par_scan_exclusive_by_flags<ID, F>(&mut self, flags: &[bool], identity: ID, op: F)
    where
        ID: Fn() -> T + Sync + Send,
        F: Fn(T, T) -> T + Sync + Send,
    {
        let (slice, op) = (self.as_scan_slice(), Closures { identity, op });
        as_many(slice, flags);
        scan::<_, _, _, true>(slice, &op, &Flags(flags));
    }
}

impl<T: Clone + Send> ParallelScanMut<T> for [T] {
    fn as_scan_slice(&mut self) -> &mut [T] {
        self
    }
}

#[track_caller]
fn as_many<T, K>(slice: &[T], keys: &[K]) {
    let (elements, keys) = (slice.len(), keys.len());
    assert!(
        elements == keys,
        "a slice of {elements} elements cannot be scanned by {keys} keys or flags"
    );
}
