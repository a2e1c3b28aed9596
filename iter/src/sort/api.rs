//! The methods that sorts bring to slices and vectors beyond those of
//! `ParallelSliceMut`.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use tine_pool::current_num_threads;
use tine_pool::loops::quietly;

use super::radix::key::RadixKey;
use super::{dedup, dispatch, fork, parted, partition, runs, select, stable};

/// Radix sorts, merging, partitioning and selecting, for slices of [`Send`] elements.
///
/// # Examples
/// ```
/// use tine::prelude::*;
///
/// let mut v = [1, 4, 7, 2, 3];
/// v.par_merge(3); // two sorted parts
/// assert_eq!(v, [1, 2, 3, 4, 7]);
/// ```
pub trait ParallelSort<T: Send>: AsMut<[T]> {
    /// Sorts a slice by the bits of its elements, stably.
    ///
    /// The bits of each element are computed a few times. Allocates a second buffer of the slice's
    /// length, plus, per thread, two buffers of bits and indices for up to 16,384 elements. If
    /// allocation fails, it sorts by comparing bits.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [0.5, -1.0, f64::INFINITY, -0.0];
    /// v.par_sort_radix();
    /// assert_eq!(v, [-1.0, -0.0, 0.5, f64::INFINITY]);
    /// ```
    fn par_sort_radix(&mut self)
    where
        T: RadixKey,
    {
        quietly(|| {
            if !dispatch::by_type(self.as_mut()) {
                dispatch::by_radix(self.as_mut(), &T::radix_bits);
            }
        });
    }

    /// Sorts a slice by the bits of a key, stably. The key is extracted a few times from each
    /// element. Takes as much memory as [`par_sort_radix`].
    ///
    /// [`par_sort_radix`]: ParallelSort::par_sort_radix
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut people = [("Ann", 171.5), ("Bob", 180.0), ("Cy", 165.2)];
    /// people.par_sort_radix_by_key(|person| person.1);
    /// assert_eq!(people[0].0, "Cy");
    /// ```
    fn par_sort_radix_by_key<K, F>(&mut self, key: F)
    where
        K: RadixKey,
        F: Fn(&T) -> K + Sync,
    {
        quietly(|| dispatch::by_radix(self.as_mut(), &|value| key(value).radix_bits()));
    }

    /// Merges `self[..mid]` and `self[mid..]`, each of them sorted, into one
    /// sorted slice. Stable: of equal elements those of the first come first.
    ///
    /// Takes memory for a second copy of the slice; if there is none, merges in place.
    ///
    /// # Panics
    /// If `mid` is greater than the length.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 4, 6, 2, 3, 5];
    /// v.par_merge(3);
    /// assert_eq!(v, [1, 2, 3, 4, 5, 6]);
    /// ```
    #[track_caller]
    fn par_merge(&mut self, mid: usize)
    where
        T: Ord,
    {
        self.par_merge_by(mid, T::cmp);
    }

    /// [`par_merge`] of slices that are sorted by `compare`.
    ///
    /// [`par_merge`]: ParallelSort::par_merge
    ///
    /// # Panics
    /// If `mid` is greater than the length.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [6, 4, 1, 5, 3, 2];
    /// v.par_merge_by(3, |a, b| b.cmp(a));
    /// assert_eq!(v, [6, 5, 4, 3, 2, 1]);
    /// ```
    #[track_caller]
    fn par_merge_by<F>(&mut self, mid: usize, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let v = self.as_mut();
        let len = v.len();
        assert!(
            mid <= len,
            "merge point (is {mid}) should be <= len (is {len})"
        );
        quietly(|| stable::merge_at(v, mid, &compare));
    }

    /// Moves the elements that satisfy `predicate` to the front, in no particular
    /// order, and returns their number. In place.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v: Vec<u32> = (0..1000).collect();
    /// let even = v.par_partition(|x| x % 2 == 0);
    /// assert_eq!(even, 500);
    /// assert!(v[..even].iter().all(|x| x % 2 == 0));
    /// ```
    fn par_partition<P>(&mut self, predicate: P) -> usize
    where
        P: Fn(&T) -> bool + Sync,
    {
        let v = self.as_mut();
        if v.len() < stable::CUTOFF {
            return partition::partition(v, predicate);
        }
        let grain = fork::grain(v.len(), current_num_threads());
        quietly(|| partition::par_partition(v, grain, &predicate))
    }

    /// Puts at `index` the element that sorting would put there. Returns the elements before it
    /// (none is greater), the element, and those after it (none is less). In place.
    ///
    /// # Panics
    /// If `index` is not less than the length.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [5, 1, 4, 2, 3];
    /// let (_, median, _) = v.par_select_nth_unstable(2);
    /// assert_eq!(*median, 3);
    /// ```
    #[track_caller]
    fn par_select_nth_unstable(&mut self, index: usize) -> (&mut [T], &mut T, &mut [T])
    where
        T: Ord + Sync,
    {
        self.par_select_nth_unstable_by(index, T::cmp)
    }

    /// [`par_select_nth_unstable`] in the order of `compare`.
    ///
    /// [`par_select_nth_unstable`]: ParallelSort::par_select_nth_unstable
    ///
    /// # Panics
    /// If `index` is not less than the length.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [0.5, 0.1, 0.4];
    /// let (_, largest, _) = v.par_select_nth_unstable_by(2, f64::total_cmp);
    /// assert_eq!(*largest, 0.5);
    /// ```
    #[track_caller]
    fn par_select_nth_unstable_by<F>(
        &mut self,
        index: usize,
        compare: F,
    ) -> (&mut [T], &mut T, &mut [T])
    where
        T: Sync,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let v = self.as_mut();
        let len = v.len();
        assert!(
            index < len,
            "select index (is {index}) should be < len (is {len})"
        );
        quietly(|| select::nth(v, index, &compare));
        let (before, from) = v.split_at_mut(index);
        let (nth, after) = from.split_first_mut().expect("selected");
        (before, nth, after)
    }

    /// [`par_select_nth_unstable`] in the order of keys.
    ///
    /// [`par_select_nth_unstable`]: ParallelSort::par_select_nth_unstable
    ///
    /// # Panics
    /// If `index` is not less than the length.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = ["three", "four", "a"];
    /// let (_, shortest, _) = v.par_select_nth_unstable_by_key(0, |s| s.len());
    /// assert_eq!(*shortest, "a");
    /// ```
    #[track_caller]
    fn par_select_nth_unstable_by_key<K, F>(
        &mut self,
        index: usize,
        key: F,
    ) -> (&mut [T], &mut T, &mut [T])
    where
        T: Sync,
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        self.par_select_nth_unstable_by(index, |a, b| key(a).cmp(&key(b)))
    }
}

impl<T: Send> ParallelSort<T> for [T] {}
impl<T: Send> ParallelSort<T> for Vec<T> {}

/// Removes repeated elements from vectors, and splits vectors in two, in parallel.
///
/// # Examples
/// ```
/// use tine::prelude::*;
///
/// let mut words = vec!["Fork", "fork", "tine"];
/// words.par_dedup_by(|a, b| a.eq_ignore_ascii_case(b));
/// assert_eq!(words, ["Fork", "tine"]);
/// ```
pub trait ParallelDedup<T: Send> {
    /// Removes consecutive repeated elements, as [`Vec::dedup`] does.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = vec![1, 1, 2, 3, 3, 1];
    /// v.par_dedup();
    /// assert_eq!(v, [1, 2, 3, 1]);
    /// ```
    fn par_dedup(&mut self)
    where
        T: PartialEq;

    /// Of consecutive elements with equal keys, removes all but the first.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = vec![10, 11, 25, 21, 30];
    /// v.par_dedup_by_key(|x| *x / 10);
    /// assert_eq!(v, [10, 25, 30]);
    /// ```
    fn par_dedup_by_key<K, F>(&mut self, key: F)
    where
        K: PartialEq,
        F: Fn(&mut T) -> K + Sync;

    /// Of consecutive elements that are the `same`, removes all but the first. As in
    /// [`Vec::dedup_by`], the first argument is the element that may be removed. Unlike there, the
    /// element may be compared with its neighbour instead of the last element kept. If `same` is an
    /// equivalence, that makes no difference.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = vec!["a", "A", "b"];
    /// v.par_dedup_by(|a, b| a.eq_ignore_ascii_case(b));
    /// assert_eq!(v, ["a", "b"]);
    /// ```
    fn par_dedup_by<F>(&mut self, same: F)
    where
        F: Fn(&mut T, &mut T) -> bool + Sync;

    /// Splits a vector into the elements that satisfy `predicate` and the others, both in their old
    /// order. Takes one byte for each element, besides the new vectors. For a split in place, in no
    /// particular order, see [`par_partition`].
    ///
    /// [`par_partition`]: ParallelSort::par_partition
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// let v = vec![3, 1, 4, 1, 5, 9, 2, 6];
    /// let (even, odd) = v.par_partition_stable(|x| x % 2 == 0);
    /// assert_eq!(even, [4, 2, 6]);
    /// assert_eq!(odd, [3, 1, 1, 5, 9]);
    /// ```
    fn par_partition_stable<P>(self, predicate: P) -> (Vec<T>, Vec<T>)
    where
        Self: Sized,
        P: Fn(&T) -> bool + Sync;
}

impl<T: Send> ParallelDedup<T> for Vec<T> {
    fn par_dedup(&mut self)
    where
        T: PartialEq,
    {
        quietly(|| dedup::dedup_by(self, &|a: &mut T, b: &mut T| a == b));
    }

    fn par_dedup_by_key<K, F>(&mut self, key: F)
    where
        K: PartialEq,
        F: Fn(&mut T) -> K + Sync,
    {
        quietly(|| dedup::dedup_by(self, &|a: &mut T, b: &mut T| key(a) == key(b)));
    }

    fn par_dedup_by<F>(&mut self, same: F)
    where
        F: Fn(&mut T, &mut T) -> bool + Sync,
    {
        quietly(|| dedup::dedup_by(self, &same));
    }

    fn par_partition_stable<P>(self, predicate: P) -> (Vec<T>, Vec<T>)
    where
        P: Fn(&T) -> bool + Sync,
    {
        quietly(|| parted::into_two(self, &predicate))
    }
}

/// Checks in parallel whether slices of [`Sync`] elements are sorted.
///
/// # Examples
/// ```
/// use tine::prelude::*;
///
/// assert!(["a", "bb", "ccc"].par_is_sorted_by_key(|word| word.len()));
/// ```
pub trait ParallelSorted<T: Sync>: AsRef<[T]> {
    /// Whether no element is less than the one before it. Stops early.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert!([1, 2, 2, 9].par_is_sorted());
    /// assert!(![0.0, f64::NAN].par_is_sorted());
    /// ```
    fn par_is_sorted(&self) -> bool
    where
        T: PartialOrd,
    {
        self.par_is_sorted_by(|a, b| a <= b)
    }

    /// Whether `in_order` holds of every two neighbours. Stops early.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert!([1, 2, 9].par_is_sorted_by(|a, b| a < b));
    /// assert!(![1, 2, 2].par_is_sorted_by(|a, b| a < b));
    /// ```
    fn par_is_sorted_by<F>(&self, in_order: F) -> bool
    where
        F: Fn(&T, &T) -> bool + Sync,
    {
        quietly(|| runs::is_sorted(self.as_ref(), &in_order))
    }

    /// Whether the keys of the elements are in order. Stops early.
    ///
    /// # Examples
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert!(["a", "bb", "cc", "ddd"].par_is_sorted_by_key(|s| s.len()));
    /// ```
    fn par_is_sorted_by_key<K, F>(&self, key: F) -> bool
    where
        K: PartialOrd,
        F: Fn(&T) -> K + Sync,
    {
        self.par_is_sorted_by(|a, b| key(a) <= key(b))
    }
}

impl<T: Sync> ParallelSorted<T> for [T] {}
impl<T: Sync> ParallelSorted<T> for Vec<T> {}
