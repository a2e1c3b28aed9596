//! The methods that change slices.
#![forbid(unsafe_code)]

use std::cmp::Ordering;
use std::mem::needs_drop;
use std::panic::Location;

use super::scatter::{CHANGED, scatter};
use super::{moves, random};
use crate::convert::IntoParallelRefMutIterator;
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::sort::{ParallelSort, par_sort_by_key};
use crate::sources::slice::ParallelSliceMut;

/// With more buckets than this, counting sorts sort by radix.
const BUCKETS: usize = 1 << 12;

/// Elements without a destructor are filled this many at a time.
const FILLED: usize = 1 << 10;

/// Changes slices of [`Send`] elements in parallel: fills, reverses, rotates, shuffles and sorts
/// them in part.
///
/// ```
/// use tine::algorithms::ParallelSliceChange;
///
/// let mut v = [1, 2, 3, 4, 5];
/// v.par_rotate_left(2);
/// assert_eq!(v, [3, 4, 5, 1, 2]);
/// v.par_reverse();
/// assert_eq!(v, [2, 1, 5, 4, 3]);
/// ```
pub trait ParallelSliceChange<T: Send> {
    /// Sets every element to a clone of `value`.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut v = vec![1, 2, 3];
    /// v.par_fill(7);
    /// assert_eq!(v, [7, 7, 7]);
    /// ```
    fn par_fill(&mut self, value: T)
    where
        T: Clone + Sync;

    /// Sets every element to the result of a call of `make`, in no particular order.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut v = vec![String::from("a"); 3];
    /// v.par_fill_with(String::new);
    /// assert_eq!(v, ["", "", ""]);
    /// ```
    fn par_fill_with<F>(&mut self, make: F)
    where
        F: Fn() -> T + Sync;

    /// Sets every element to the result of `make` for its position.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut squares = [0; 5];
    /// squares.par_tabulate(|at| at * at);
    /// assert_eq!(squares, [0, 1, 4, 9, 16]);
    /// ```
    fn par_tabulate<F>(&mut self, make: F)
    where
        F: Fn(usize) -> T + Sync;

    /// Reverses the order of the elements.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut v = [1, 2, 3];
    /// v.par_reverse();
    /// assert_eq!(v, [3, 2, 1]);
    /// ```
    fn par_reverse(&mut self);

    /// Moves the element at `mid` to the front, and those before it behind all others, in place, as
    /// [`rotate_left`](slice::rotate_left) does.
    ///
    /// # Panics
    ///
    /// If `mid` is greater than the length.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut v = ['a', 'b', 'c', 'd'];
    /// v.par_rotate_left(1);
    /// assert_eq!(v, ['b', 'c', 'd', 'a']);
    /// ```
    #[track_caller]
    fn par_rotate_left(&mut self, mid: usize);

    /// Moves the last `k` elements to the front, in place, as [`rotate_right`](slice::rotate_right)
    /// does.
    ///
    /// # Panics
    ///
    /// If `k` is greater than the length.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut v = ['a', 'b', 'c', 'd'];
    /// v.par_rotate_right(1);
    /// assert_eq!(v, ['d', 'a', 'b', 'c']);
    /// ```
    #[track_caller]
    fn par_rotate_right(&mut self, k: usize);

    /// Exchanges all elements with those of another slice.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let (mut a, mut b) = ([1, 2], [3, 4]);
    /// a.par_swap_with_slice(&mut b);
    /// assert_eq!((a, b), ([3, 4], [1, 2]));
    /// ```
    #[track_caller]
    fn par_swap_with_slice(&mut self, other: &mut [T]);

    /// Brings the elements into an order that depends only on `seed` and the length. Each order is
    /// as likely as any other.
    ///
    /// The result is the same for any number of threads. A later version may give another one. Not
    /// for cryptography. For longer slices, takes memory for a second copy of the slice.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut cards: Vec<u32> = (0..52).collect();
    /// cards.par_shuffle(2026);
    /// assert!(!cards.is_sorted());
    /// cards.sort();
    /// assert!(cards.into_iter().eq(0..52));
    /// ```
    fn par_shuffle(&mut self, seed: u64);

    /// Puts the `k` smallest elements first, in order; the others follow in any order. Sorts all if
    /// there are no more than `k`. Equal elements may change places.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut v = [5, 1, 4, 2, 3];
    /// v.par_partial_sort(2);
    /// assert_eq!(v[..2], [1, 2]);
    /// ```
    fn par_partial_sort(&mut self, k: usize)
    where
        T: Ord + Sync;

    /// [`par_partial_sort`](ParallelSliceChange::par_partial_sort) in the order of `compare`.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut v = [0.5_f64, 0.1, 0.9];
    /// v.par_partial_sort_by(2, |a, b| b.total_cmp(a));
    /// assert_eq!(v, [0.9, 0.5, 0.1]);
    /// ```
    fn par_partial_sort_by<F>(&mut self, k: usize, compare: F)
    where
        T: Sync,
        F: Fn(&T, &T) -> Ordering + Sync;

    /// Sorts by a small number, keeping elements of the same number in their order, and returns
    /// where each number begins: those with the number `n` are `v[starts[n]..starts[n + 1]]`
    /// afterwards. So this also groups by index.
    ///
    /// With up to 4096 `buckets`, the number of each element is computed twice; with more, once
    /// more than by [`par_sort_by_key`](ParallelSliceMut::par_sort_by_key). Takes memory for a
    /// second copy of the slice, and for up to `buckets` counters for every few thousand elements.
    ///
    /// # Panics
    ///
    /// If a number is not less than `buckets`, or if the call notices that an element gives another
    /// number the next time. The slice then holds its elements in some order. (If the call does not
    /// notice, the last answers count.) Also if no vector can hold `buckets` counters; the slice is
    /// then unchanged.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceChange;
    ///
    /// let mut people = [("Ann", 2), ("Bob", 0), ("Cy", 2)];
    /// let starts = people.par_counting_sort_by_key(3, |person| person.1);
    /// assert_eq!(people, [("Bob", 0), ("Ann", 2), ("Cy", 2)]);
    /// assert_eq!(starts, [0, 1, 1, 3]);
    /// assert_eq!(people[starts[2]..starts[3]].len(), 2);
    /// ```
    #[track_caller]
    fn par_counting_sort_by_key<F>(&mut self, buckets: usize, key: F) -> Vec<usize>
    where
        F: Fn(&T) -> usize + Sync;
}

impl<T: Send> ParallelSliceChange<T> for [T] {
    fn par_fill(&mut self, value: T)
    where
        T: Clone + Sync,
    {
        if const { needs_drop::<T>() } {
            return self
                .par_iter_mut()
                .for_each(|place| place.clone_from(&value));
        }
        let chunks = self.par_chunks_mut(FILLED);
        chunks.for_each(|chunk| chunk.fill(value.clone()));
    }

    fn par_fill_with<F>(&mut self, make: F)
    where
        F: Fn() -> T + Sync,
    {
        self.par_iter_mut().for_each(|place| *place = make());
    }

    fn par_tabulate<F>(&mut self, make: F)
    where
        F: Fn(usize) -> T + Sync,
    {
        let places = self.par_iter_mut().enumerate();
        places.for_each(|(at, place)| *place = make(at));
    }

    fn par_reverse(&mut self) {
        moves::reverse(self);
    }

    #[track_caller]
    fn par_rotate_left(&mut self, mid: usize) {
        let len = self.len();
        assert!(mid <= len, "mid (is {mid}) should be <= len (is {len})");
        moves::rotate(self, mid);
    }

    #[track_caller]
    fn par_rotate_right(&mut self, k: usize) {
        let len = self.len();
        assert!(k <= len, "k (is {k}) should be <= len (is {len})");
        moves::rotate(self, len - k);
    }

    #[track_caller]
    fn par_swap_with_slice(&mut self, other: &mut [T]) {
        let (len, others) = (self.len(), other.len());
        assert!(len == others, "lengths {len} and {others} should be equal");
        moves::swap(self, other);
    }

    fn par_shuffle(&mut self, seed: u64) {
        random::shuffle(self, seed);
    }

    fn par_partial_sort(&mut self, k: usize)
    where
        T: Ord + Sync,
    {
        if k > 0 && k < self.len() {
            self.par_select_nth_unstable(k - 1);
        }
        let k = k.min(self.len());
        self[..k].par_sort_unstable();
    }

    fn par_partial_sort_by<F>(&mut self, k: usize, compare: F)
    where
        T: Sync,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        if k > 0 && k < self.len() {
            self.par_select_nth_unstable_by(k - 1, &compare);
        }
        let k = k.min(self.len());
        self[..k].par_sort_unstable_by(&compare);
    }

    #[track_caller]
    fn par_counting_sort_by_key<F>(&mut self, buckets: usize, key: F) -> Vec<usize>
    where
        F: Fn(&T) -> usize + Sync,
    {
        // The closure runs on any thread, so the message names the call.
        let call = Location::caller();
        let checked = |element: &T| {
            let bucket = key(element);
            assert!(
                bucket < buckets,
                "number {bucket} in a counting sort by {buckets} buckets, asked for at {call}"
            );
            bucket
        };
        if buckets <= BUCKETS {
            return scatter(self, buckets, &|_, element| checked(element));
        }
        let most = isize::MAX as usize / size_of::<usize>();
        assert!(buckets < most, "no vector holds {buckets} counters");
        par_sort_by_key(self, &checked);
        starts(self, buckets, &checked)
    }
}

/// Where each number begins in a slice that is sorted by them; the length at the end.
fn starts<T: Send>(v: &mut [T], buckets: usize, key: &(impl Fn(&T) -> usize + Sync)) -> Vec<usize> {
    let mut starts = vec![0; buckets + 1];
    let mut keys: Vec<usize> = v.par_iter_mut().map(|element| key(element)).collect();
    keys.push(buckets);
    // An element at which a number begins fills in its start, and the starts of the missing numbers
    // before it.
    let mut rest = &mut starts[..];
    let mut said = 0;
    for (at, &key) in keys.iter().enumerate() {
        // This holds since the elements are sorted.
        assert!(key + 1 >= said, "{CHANGED}");
        if key >= said {
            let some = rest.split_off_mut(..key + 1 - said);
            some.expect("no number is beyond the last").fill(at);
            said = key + 1;
        }
    }
    starts
}
