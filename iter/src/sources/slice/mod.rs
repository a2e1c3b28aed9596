//! Parallel iterators over slices.
//!
//! The traits [`ParallelSlice`] and [`ParallelSliceMut`] add their methods to every `[T]`, and so
//! to vectors and arrays. The structs are only needed where they are named.
#![forbid(unsafe_code)]

mod chunks;
mod iter;
mod split;
mod windows;

use std::cmp::Ordering;

use crate::order::TotalOrder;
use crate::sort;

pub use chunks::{
    Chunks, ChunksExact, ChunksExactMut, ChunksMut, RChunks, RChunksExact, RChunksExactMut,
    RChunksMut,
};
pub use iter::{Iter, IterMut};
pub use split::{ChunkBy, ChunkByMut, Split, SplitInclusive, SplitInclusiveMut, SplitMut};
pub use windows::{ArrayWindows, Windows};

/// Panics if the length of a piece is zero.
#[inline]
#[track_caller]
fn at_least_one(size: usize, what: &str) -> usize {
    assert!(size != 0, "{what} must not be zero");
    size
}

/// Parallel iterators over parts of a shared slice: chunks, windows, pieces between separators.
///
/// ```
/// use tine::prelude::*;
///
/// let steps = [1, 2, 4, 7];
/// assert!(steps.par_windows(2).all(|two| two[0] < two[1]));
/// assert_eq!(steps.par_chunks(2).map(|two| two.len()).sum::<usize>(), 4);
/// ```
pub trait ParallelSlice<T: Sync> {
    /// The slice that all other methods read.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert_eq!(vec![1, 2].as_parallel_slice(), &[1, 2]);
    /// ```
    fn as_parallel_slice(&self) -> &[T];

    /// The pieces between the elements that `separator` picks, like
    /// [`slice::split`](https://doc.rust-lang.org/std/primitive.slice.html#method.split).
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let products: Vec<i32> = [1, 2, 0, 2, 4, 0, 3, 6]
    ///     .par_split(|&x| x == 0)
    ///     .map(|numbers| numbers.iter().product())
    ///     .collect();
    /// assert_eq!(products, [2, 8, 18]);
    /// ```
    fn par_split<P>(&self, separator: P) -> Split<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        Split {
            slice: self.as_parallel_slice(),
            predicate: separator,
        }
    }

    /// The pieces that end after each element that `separator` picks; the
    /// separator is the last element of its piece.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let lengths: Vec<usize> =
    ///     [1, 0, 2, 3, 0, 4].par_split_inclusive(|&x| x == 0).map(<[_]>::len).collect();
    /// assert_eq!(lengths, [2, 3, 1]);
    /// ```
    fn par_split_inclusive<P>(&self, separator: P) -> SplitInclusive<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusive {
            slice: self.as_parallel_slice(),
            predicate: separator,
        }
    }

    /// All runs of `window_size` neighbours.
    ///
    /// # Panics
    ///
    /// If `window_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let rises = [1, 3, 2, 4, 5].par_windows(2).filter(|pair| pair[0] < pair[1]).count();
    /// assert_eq!(rises, 3);
    /// ```
    #[track_caller]
    fn par_windows(&self, window_size: usize) -> Windows<'_, T> {
        Windows::new(
            self.as_parallel_slice(),
            at_least_one(window_size, "window_size"),
        )
    }

    /// All runs of `N` neighbours, as arrays.
    ///
    /// # Panics
    ///
    /// If `N` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let steps: Vec<i32> = [1, 4, 9].par_array_windows().map(|[a, b]| b - a).collect();
    /// assert_eq!(steps, [3, 5]);
    /// ```
    #[track_caller]
    fn par_array_windows<const N: usize>(&self) -> ArrayWindows<'_, T, N> {
        at_least_one(N, "window size");
        ArrayWindows::new(self.as_parallel_slice())
    }

    /// Pieces of `chunk_size` elements; the last one may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_chunks(2).map(|c| c.iter().sum()).collect();
    /// assert_eq!(sums, [3, 7, 5]);
    /// ```
    #[track_caller]
    fn par_chunks(&self, chunk_size: usize) -> Chunks<'_, T> {
        Chunks::new(
            self.as_parallel_slice(),
            at_least_one(chunk_size, "chunk_size"),
        )
    }

    /// Pieces of exactly `chunk_size` elements. The rest at the end is [set
    /// aside](ChunksExact::remainder).
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let chunks = [1, 2, 3, 4, 5].par_chunks_exact(2);
    /// assert_eq!(chunks.remainder(), [5]);
    /// assert_eq!(chunks.map(|c| c[0] * c[1]).sum::<i32>(), 14);
    /// ```
    #[track_caller]
    fn par_chunks_exact(&self, chunk_size: usize) -> ChunksExact<'_, T> {
        ChunksExact::new(
            self.as_parallel_slice(),
            at_least_one(chunk_size, "chunk_size"),
        )
    }

    /// Pieces of `chunk_size` elements from the end of the slice; the last
    /// one, at its front, may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let chunks: Vec<&[i32]> = [1, 2, 3, 4, 5].par_rchunks(2).collect();
    /// assert_eq!(chunks, [&[4, 5][..], &[2, 3], &[1]]);
    /// ```
    #[track_caller]
    fn par_rchunks(&self, chunk_size: usize) -> RChunks<'_, T> {
        RChunks::new(
            self.as_parallel_slice(),
            at_least_one(chunk_size, "chunk_size"),
        )
    }

    /// Pieces of exactly `chunk_size` elements from the end of the slice. The rest at its front is
    /// [set aside](RChunksExact::remainder).
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let chunks: Vec<&[i32]> = [1, 2, 3, 4, 5].par_rchunks_exact(2).collect();
    /// assert_eq!(chunks, [&[4, 5][..], &[2, 3]]);
    /// ```
    #[track_caller]
    fn par_rchunks_exact(&self, chunk_size: usize) -> RChunksExact<'_, T> {
        RChunksExact::new(
            self.as_parallel_slice(),
            at_least_one(chunk_size, "chunk_size"),
        )
    }

    /// Runs of neighbours: a new run starts wherever `together` is false for an element and the one
    /// before it.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let runs: Vec<&[i32]> = [1, 1, 2, 3, 3].par_chunk_by(|a, b| a == b).collect();
    /// assert_eq!(runs, [&[1, 1][..], &[2], &[3, 3]]);
    /// ```
    fn par_chunk_by<F>(&self, together: F) -> ChunkBy<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkBy {
            slice: self.as_parallel_slice(),
            predicate: together,
        }
    }
}

impl<T: Sync> ParallelSlice<T> for [T] {
    #[inline]
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}

/// Parallel iterators over exclusive parts of a slice, and its parallel sorts.
///
/// ```
/// use tine::prelude::*;
///
/// let mut image = [[0_u8; 4]; 3];
/// image.as_flattened_mut().par_chunks_mut(4).enumerate().for_each(|(y, row)| row.fill(y as u8));
/// assert_eq!(image[2], [2; 4]);
///
/// let mut words = ["tine", "a", "fork"];
/// words.par_sort();
/// assert_eq!(words, ["a", "fork", "tine"]);
/// ```
pub trait ParallelSliceMut<T: Send> {
    /// The slice that all other methods work on.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = vec![1, 2];
    /// v.as_parallel_slice_mut()[0] = 7;
    /// assert_eq!(v, [7, 2]);
    /// ```
    fn as_parallel_slice_mut(&mut self) -> &mut [T];

    /// The exclusive pieces between the elements that `separator` picks.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [3, 1, 0, 5, 4];
    /// v.par_split_mut(|&x| x == 0).for_each(|piece| piece.sort());
    /// assert_eq!(v, [1, 3, 0, 4, 5]);
    /// ```
    fn par_split_mut<P>(&mut self, separator: P) -> SplitMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitMut {
            slice: self.as_parallel_slice_mut(),
            predicate: separator,
        }
    }

    /// The exclusive pieces that end after each element that `separator` picks.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 0, 3, 0];
    /// v.par_split_inclusive_mut(|&x| x == 0).for_each(|piece| piece.reverse());
    /// assert_eq!(v, [0, 2, 1, 0, 3]);
    /// ```
    fn par_split_inclusive_mut<P>(&mut self, separator: P) -> SplitInclusiveMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusiveMut {
            slice: self.as_parallel_slice_mut(),
            predicate: separator,
        }
    }

    /// Exclusive pieces of `chunk_size` elements; the last one may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4, 5];
    /// v.par_chunks_mut(2).for_each(|c| c.reverse());
    /// assert_eq!(v, [2, 1, 4, 3, 5]);
    /// ```
    #[track_caller]
    fn par_chunks_mut(&mut self, chunk_size: usize) -> ChunksMut<'_, T> {
        ChunksMut::new(
            self.as_parallel_slice_mut(),
            at_least_one(chunk_size, "chunk_size"),
        )
    }

    /// Exclusive pieces of exactly `chunk_size` elements. The rest at the end is [set
    /// aside](ChunksExactMut::into_remainder).
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3];
    /// v.par_chunks_exact_mut(2).for_each(|c| c.reverse());
    /// assert_eq!(v, [2, 1, 3]);
    /// ```
    #[track_caller]
    fn par_chunks_exact_mut(&mut self, chunk_size: usize) -> ChunksExactMut<'_, T> {
        ChunksExactMut::new(
            self.as_parallel_slice_mut(),
            at_least_one(chunk_size, "chunk_size"),
        )
    }

    /// Exclusive pieces of `chunk_size` elements from the end of the slice; the
    /// last one, at its front, may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4, 5];
    /// v.par_rchunks_mut(2).for_each(|c| c.reverse());
    /// assert_eq!(v, [1, 3, 2, 5, 4]);
    /// ```
    #[track_caller]
    fn par_rchunks_mut(&mut self, chunk_size: usize) -> RChunksMut<'_, T> {
        RChunksMut::new(
            self.as_parallel_slice_mut(),
            at_least_one(chunk_size, "chunk_size"),
        )
    }

    /// Exclusive pieces of exactly `chunk_size` elements from the end of the slice. The rest at its
    /// front is [set aside](RChunksExactMut::into_remainder).
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3];
    /// v.par_rchunks_exact_mut(2).for_each(|c| c.reverse());
    /// assert_eq!(v, [1, 3, 2]);
    /// ```
    #[track_caller]
    fn par_rchunks_exact_mut(&mut self, chunk_size: usize) -> RChunksExactMut<'_, T> {
        RChunksExactMut::new(
            self.as_parallel_slice_mut(),
            at_least_one(chunk_size, "chunk_size"),
        )
    }

    /// Exclusive runs of neighbours: a new run starts wherever `together` is false for an element
    /// and the one before it.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 1, 2, 3, 3];
    /// v.par_chunk_by_mut(|a, b| a == b).for_each(|run| run[0] = 0);
    /// assert_eq!(v, [0, 1, 0, 0, 3]);
    /// ```
    fn par_chunk_by_mut<F>(&mut self, together: F) -> ChunkByMut<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkByMut {
            slice: self.as_parallel_slice_mut(),
            predicate: together,
        }
    }

    /// Sorts the slice, keeping equal elements in their order.
    ///
    /// Primitives are sorted by radix, and strings and byte vectors by eight bytes at a time;
    /// neither way calls their `Ord`. Takes memory for a second copy of the slice. Primitives in
    /// nearly ascending order take an eighth more; for each string it takes two records of an
    /// element and a word. If it gets no memory, it merges in place.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [-5, 4, 1, -3, 2];
    /// v.par_sort();
    /// assert_eq!(v, [-5, -3, 1, 2, 4]);
    /// ```
    fn par_sort(&mut self)
    where
        T: TotalOrder,
    {
        sort::par_sort(self.as_parallel_slice_mut());
    }

    /// Sorts the slice by `compare`, keeping equal elements in their order.
    ///
    /// If `compare` panics, or is no total order, the slice holds its elements in some order. If it
    /// is no total order, the panic hook may be called although this call does not panic: std's
    /// sort, used for parts of the slice, may panic, and that panic is caught.
    ///
    /// Takes memory for a second copy of the slice; if there is none, merges in place.
    ///
    /// Under a stop token, the sort checks the token before it sorts or merges each part of the
    /// slice, and not between two comparisons. After a stop, each thread may still make some
    /// thousands of comparisons.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [5, 4, 1, 3, 2];
    /// v.par_sort_by(|a, b| b.cmp(a));
    /// assert_eq!(v, [5, 4, 3, 2, 1]);
    /// ```
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort::par_sort_by(self.as_parallel_slice_mut(), &compare);
    }

    /// Sorts the slice by a key, keeping elements with equal keys in their order.
    ///
    /// A longer slice is sorted by radix if the key is a primitive, or [`Reverse`] of one. Then
    /// each key is extracted a few times. That takes memory for a second copy of the slice, and on
    /// each thread for up to 16,384 keys and their numbers, twice; if there is none, it merges in
    /// place. Other keys are extracted for each comparison, as in [`par_sort_by`].
    ///
    /// [`Reverse`]: std::cmp::Reverse
    /// [`par_sort_by`]: ParallelSliceMut::par_sort_by
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [-5_i32, 4, 1, -3, 2];
    /// v.par_sort_by_key(|k| k.abs());
    /// assert_eq!(v, [1, 2, -3, 4, -5]);
    /// ```
    fn par_sort_by_key<K, F>(&mut self, key: F)
    where
        K: TotalOrder,
        F: Fn(&T) -> K + Sync,
    {
        sort::par_sort_by_key(self.as_parallel_slice_mut(), &key);
    }

    /// Sorts the slice by a key that is computed once for each element, keeping
    /// elements with equal keys in their order.
    ///
    /// Takes memory for all keys with their numbers, and for a second copy of the slice. If the
    /// keys are primitives, takes two records for each element instead, each of the key and the
    /// element (or its number, if the element is larger than 32 bytes). If there is no memory for
    /// the second records, sorts the first in place.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [-5_i32, 4, 32, -3, 2];
    /// v.par_sort_by_cached_key(|k| k.to_string());
    /// assert_eq!(v, [-3, -5, 2, 32, 4]);
    /// ```
    fn par_sort_by_cached_key<K, F>(&mut self, key: F)
    where
        K: TotalOrder + Send,
        F: Fn(&T) -> K + Sync,
    {
        sort::par_sort_by_cached_key(self.as_parallel_slice_mut(), &key);
    }

    /// Sorts the slice; equal elements may end in any order.
    ///
    /// Primitives and strings are sorted as by [`par_sort`]; others in place.
    ///
    /// [`par_sort`]: ParallelSliceMut::par_sort
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [-5, 4, 1, -3, 2];
    /// v.par_sort_unstable();
    /// assert_eq!(v, [-5, -3, 1, 2, 4]);
    /// ```
    fn par_sort_unstable(&mut self)
    where
        T: TotalOrder,
    {
        sort::par_sort_unstable(self.as_parallel_slice_mut());
    }

    /// Sorts the slice by `compare`, in place; equal elements may end in any
    /// order.
    ///
    /// If `compare` panics, or is no total order, the slice holds its elements in some order. If it
    /// is no total order, the panic hook may be called although this call does not panic, as in
    /// [`par_sort_by`](ParallelSliceMut::par_sort_by). After a stop, it goes on for as long as that
    /// method does.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [5, 4, 1, 3, 2];
    /// v.par_sort_unstable_by(|a, b| b.cmp(a));
    /// assert_eq!(v, [5, 4, 3, 2, 1]);
    /// ```
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort::par_sort_unstable_by(self.as_parallel_slice_mut(), &compare);
    }

    /// Sorts the slice by a key; elements with equal keys may end in any order.
    ///
    /// Primitive keys are sorted as in [`par_sort_by_key`], with the same memory. By other keys a
    /// slice is sorted in place.
    ///
    /// [`par_sort_by_key`]: ParallelSliceMut::par_sort_by_key
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [-5_i32, 4, 1, -3, 2];
    /// v.par_sort_unstable_by_key(|k| k.abs());
    /// assert_eq!(v, [1, 2, -3, 4, -5]);
    /// ```
    fn par_sort_unstable_by_key<K, F>(&mut self, key: F)
    where
        K: TotalOrder,
        F: Fn(&T) -> K + Sync,
    {
        sort::par_sort_unstable_by_key(self.as_parallel_slice_mut(), &key);
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    #[inline]
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
