//! Pieces of equal length: from the front or the back, shared or exclusive,
//! with a short last piece or without.
#![forbid(unsafe_code)]

use crate::sources::body::Even;
use crate::sources::kit::indexed;

/// One chunk iterator: its type of slice, whether it counts from the back,
/// std's iterator for a leaf, and how the number of pieces is rounded.
macro_rules! chunks {
    ($(#[$meta:meta])*
     $name:ident: [$body:ty] $bound:ident, back $back:literal, $each:ident, $round:ident
     $(, $rest:ident)?) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<'data, T> {
            slice: $body,
            size: usize,
            $($rest: $body,)?
        }

        indexed! {
            ['data, T: $bound] $name<'data, T> => $body;
            len(it) $round(it.slice.len(), it.size);
            producer(it) Even::<_, _, $back> {
                body: it.slice,
                step: it.size,
                each: <[T]>::$each,
            };
        }
    };
}

fn up(len: usize, size: usize) -> usize {
    len.div_ceil(size)
}

fn down(len: usize, size: usize) -> usize {
    len / size
}

chunks! {
    /// Parallel iterator over pieces of a slice; the last one may be shorter.
    ///
    /// Made by [`par_chunks`](super::ParallelSlice::par_chunks).
    ///
    /// ```
    /// use tine::{slice::Chunks, prelude::*};
    ///
    /// let parts: Chunks<'_, i32> = [1, 2, 3].par_chunks(2);
    /// assert_eq!(parts.collect::<Vec<_>>(), [&[1, 2][..], &[3]]);
    /// ```
    Chunks: [&'data [T]] Sync, back false, chunks, up
}
chunks! {
    /// Parallel iterator over exclusive pieces of a slice; the last one may be shorter.
    ///
    /// Made by [`par_chunks_mut`](super::ParallelSliceMut::par_chunks_mut).
    ///
    /// ```
    /// use tine::{slice::ChunksMut, prelude::*};
    ///
    /// let mut v = [1, 2, 3];
    /// let parts: ChunksMut<'_, i32> = v.par_chunks_mut(2);
    /// parts.for_each(|part| part.reverse());
    /// assert_eq!(v, [2, 1, 3]);
    /// ```
    ChunksMut: [&'data mut [T]] Send, back false, chunks_mut, up
}
chunks! {
    /// Parallel iterator over pieces of a slice, all of one length.
    ///
    /// Made by [`par_chunks_exact`](super::ParallelSlice::par_chunks_exact).
    ///
    /// ```
    /// use tine::{slice::ChunksExact, prelude::*};
    ///
    /// let parts: ChunksExact<'_, i32> = [1, 2, 3].par_chunks_exact(2);
    /// assert_eq!(parts.collect::<Vec<_>>(), [[1, 2]]);
    /// ```
    ChunksExact: [&'data [T]] Sync, back false, chunks_exact, down, rest
}
chunks! {
    /// Parallel iterator over exclusive pieces of a slice, all of one length.
    ///
    /// Made by [`par_chunks_exact_mut`](super::ParallelSliceMut::par_chunks_exact_mut).
    ///
    /// ```
    /// use tine::{slice::ChunksExactMut, prelude::*};
    ///
    /// let mut v = [1, 2, 3];
    /// let parts: ChunksExactMut<'_, i32> = v.par_chunks_exact_mut(2);
    /// parts.for_each(|part| part.reverse());
    /// assert_eq!(v, [2, 1, 3]);
    /// ```
    ChunksExactMut: [&'data mut [T]] Send, back false, chunks_exact_mut, down, rest
}
chunks! {
    /// Parallel iterator over pieces of a slice from its end; the last one,
    /// at the front of the slice, may be shorter.
    ///
    /// Made by [`par_rchunks`](super::ParallelSlice::par_rchunks).
    ///
    /// ```
    /// use tine::{slice::RChunks, prelude::*};
    ///
    /// let parts: RChunks<'_, i32> = [1, 2, 3].par_rchunks(2);
    /// assert_eq!(parts.collect::<Vec<_>>(), [&[2, 3][..], &[1]]);
    /// ```
    RChunks: [&'data [T]] Sync, back true, rchunks, up
}
chunks! {
    /// Parallel iterator over exclusive pieces of a slice from its end; the
    /// last one, at the front of the slice, may be shorter.
    ///
    /// Made by [`par_rchunks_mut`](super::ParallelSliceMut::par_rchunks_mut).
    ///
    /// ```
    /// use tine::{slice::RChunksMut, prelude::*};
    ///
    /// let mut v = [1, 2, 3];
    /// let parts: RChunksMut<'_, i32> = v.par_rchunks_mut(2);
    /// parts.for_each(|part| part.reverse());
    /// assert_eq!(v, [1, 3, 2]);
    /// ```
    RChunksMut: [&'data mut [T]] Send, back true, rchunks_mut, up
}
chunks! {
    /// Parallel iterator over pieces of a slice from its end, all of one length.
    ///
    /// Made by [`par_rchunks_exact`](super::ParallelSlice::par_rchunks_exact).
    ///
    /// ```
    /// use tine::{slice::RChunksExact, prelude::*};
    ///
    /// let parts: RChunksExact<'_, i32> = [1, 2, 3].par_rchunks_exact(2);
    /// assert_eq!(parts.collect::<Vec<_>>(), [[2, 3]]);
    /// ```
    RChunksExact: [&'data [T]] Sync, back true, rchunks_exact, down, rest
}
chunks! {
    /// Parallel iterator over exclusive pieces of a slice from its end, all of
    /// one length.
    ///
    /// Made by [`par_rchunks_exact_mut`](super::ParallelSliceMut::par_rchunks_exact_mut).
    ///
    /// ```
    /// use tine::{slice::RChunksExactMut, prelude::*};
    ///
    /// let mut v = [1, 2, 3];
    /// let parts: RChunksExactMut<'_, i32> = v.par_rchunks_exact_mut(2);
    /// parts.for_each(|part| part.reverse());
    /// assert_eq!(v, [1, 3, 2]);
    /// ```
    RChunksExactMut: [&'data mut [T]] Send, back true, rchunks_exact_mut, down, rest
}

/// The constructor of the four with a short piece and the four shared ones.
macro_rules! construct {
    ($($name:ident: $body:ty $(, $clone:ident)?;)*) => {$(
        impl<'data, T> $name<'data, T> {
            pub(super) fn new(slice: $body, size: usize) -> Self {
                $name { slice, size }
            }
        }

        $(impl<T> $clone for $name<'_, T> {
            fn clone(&self) -> Self {
                $name { ..*self }
            }
        })?
    )*};
}

construct! {
    Chunks: &'data [T], Clone;
    RChunks: &'data [T], Clone;
    ChunksMut: &'data mut [T];
    RChunksMut: &'data mut [T];
}

impl<'data, T> ChunksExact<'data, T> {
    pub(super) fn new(slice: &'data [T], size: usize) -> Self {
        let (slice, rest) = slice.split_at(slice.len() - slice.len() % size);
        ChunksExact { slice, size, rest }
    }

    /// The elements at the end that fill no chunk: fewer than the chunk size.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4, 5].par_chunks_exact(2).remainder(), [5]);
    /// ```
    pub fn remainder(&self) -> &'data [T] {
        self.rest
    }
}

impl<T> Clone for ChunksExact<'_, T> {
    fn clone(&self) -> Self {
        ChunksExact { ..*self }
    }
}

impl<'data, T> RChunksExact<'data, T> {
    pub(super) fn new(slice: &'data [T], size: usize) -> Self {
        let (rest, slice) = slice.split_at(slice.len() % size);
        RChunksExact { slice, size, rest }
    }

    /// The elements at the front that fill no chunk: fewer than the chunk size.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4, 5].par_rchunks_exact(2).remainder(), [1]);
    /// ```
    pub fn remainder(&self) -> &'data [T] {
        self.rest
    }
}

impl<T> Clone for RChunksExact<'_, T> {
    fn clone(&self) -> Self {
        RChunksExact { ..*self }
    }
}

impl<'data, T> ChunksExactMut<'data, T> {
    pub(super) fn new(slice: &'data mut [T], size: usize) -> Self {
        let (slice, rest) = slice.split_at_mut(slice.len() - slice.len() % size);
        ChunksExactMut { slice, size, rest }
    }

    /// Drops the iterator, and returns the elements at the end that fill no chunk.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4, 5];
    /// v.par_chunks_exact_mut(2).into_remainder()[0] = 0;
    /// assert_eq!(v, [1, 2, 3, 4, 0]);
    /// ```
    pub fn into_remainder(self) -> &'data mut [T] {
        self.rest
    }

    /// The elements at the end that fill no chunk.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3];
    /// assert_eq!(v.par_chunks_exact_mut(2).remainder(), [3]);
    /// ```
    pub fn remainder(&mut self) -> &mut [T] {
        self.rest
    }

    /// Takes the elements at the end that fill no chunk out of the iterator;
    /// afterwards its remainder is empty.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4, 5];
    /// let mut chunks = v.par_chunks_exact_mut(2);
    /// chunks.take_remainder().fill(0);
    /// assert!(chunks.remainder().is_empty());
    /// chunks.for_each(|pair| pair.swap(0, 1));
    /// assert_eq!(v, [2, 1, 4, 3, 0]);
    /// ```
    pub fn take_remainder(&mut self) -> &'data mut [T] {
        std::mem::take(&mut self.rest)
    }
}

impl<'data, T> RChunksExactMut<'data, T> {
    pub(super) fn new(slice: &'data mut [T], size: usize) -> Self {
        let (rest, slice) = slice.split_at_mut(slice.len() % size);
        RChunksExactMut { slice, size, rest }
    }

    /// Drops the iterator, and returns the elements at the front that fill no chunk.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4, 5];
    /// v.par_rchunks_exact_mut(2).into_remainder()[0] = 0;
    /// assert_eq!(v, [0, 2, 3, 4, 5]);
    /// ```
    pub fn into_remainder(self) -> &'data mut [T] {
        self.rest
    }

    /// The elements at the front that fill no chunk.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3];
    /// assert_eq!(v.par_rchunks_exact_mut(2).remainder(), [1]);
    /// ```
    pub fn remainder(&mut self) -> &mut [T] {
        self.rest
    }

    /// Takes the elements at the front that fill no chunk out of the iterator;
    /// afterwards its remainder is empty.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4, 5];
    /// let mut chunks = v.par_rchunks_exact_mut(2);
    /// chunks.take_remainder().fill(0);
    /// assert!(chunks.remainder().is_empty());
    /// chunks.for_each(|pair| pair.swap(0, 1));
    /// assert_eq!(v, [0, 3, 2, 5, 4]);
    /// ```
    pub fn take_remainder(&mut self) -> &'data mut [T] {
        std::mem::take(&mut self.rest)
    }
}
