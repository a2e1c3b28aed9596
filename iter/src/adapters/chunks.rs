//! `chunks`, `fold_chunks` and `fold_chunks_with`: one item for every N
//! that follow one another.

use std::fmt;

use crate::iter::IndexedParallelIterator;
use crate::kit::debug_base;
use crate::kit::reshape::{Reshape, most_groups, reach, reshape, reshaped};
use crate::plumbing::{Folder, Producer, ProducerCallback};

/// What [`chunks`](IndexedParallelIterator::chunks) returns.
///
/// ```
/// use tine::{iter::Chunks, prelude::*};
///
/// let chunks: Chunks<_> = (0..5).into_par_iter().chunks(2);
/// assert_eq!(chunks.collect::<Vec<_>>(), [vec![0, 1], vec![2, 3], vec![4]]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Chunks<I> {
    base: I,
    size: usize,
}

impl<I> Chunks<I> {
    #[track_caller]
    pub(crate) fn new(base: I, size: usize) -> Self {
        assert!(size != 0, "chunk_size must not be zero");
        Chunks { base, size }
    }
}

reshaped! {
    [I] Chunks<I> => Vec<I::Item>, where [I: IndexedParallelIterator],
    |this| this.base.len().div_ceil(this.size),
    |this, callback| chunked(this.base, this.size, Collect, callback)
}

/// What [`fold_chunks`](IndexedParallelIterator::fold_chunks) returns.
///
/// ```
/// use tine::{iter::FoldChunks, prelude::*};
///
/// let sums: FoldChunks<_, _, _> =
///     (0..4).into_par_iter().fold_chunks(2, i32::default, i32::wrapping_add);
/// assert_eq!(sums.collect::<Vec<_>>(), [1, 5]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct FoldChunks<I, ID, F> {
    base: I,
    size: usize,
    init: ID,
    op: F,
}

impl<I, ID, F> FoldChunks<I, ID, F> {
    #[track_caller]
    pub(crate) fn new(base: I, size: usize, init: ID, op: F) -> Self {
        assert!(size != 0, "chunk_size must not be zero");
        FoldChunks {
            base,
            size,
            init,
            op,
        }
    }
}

debug_base!(FoldChunks<I, ID, F>);

reshaped! {
    [I, U, ID, F] FoldChunks<I, ID, F> => U,
    where [
        I: IndexedParallelIterator,
        ID: Fn() -> U + Send + Sync,
        F: Fn(U, I::Item) -> U + Send + Sync,
        U: Send
    ],
    |this| this.base.len().div_ceil(this.size),
    |this, callback| {
        let FoldChunks { base, size, init, op } = this;
        let fold = Fold { init: &init, op: &op };
        chunked(base, size, fold, callback)
    }
}

/// What [`fold_chunks_with`](IndexedParallelIterator::fold_chunks_with) returns.
///
/// ```
/// use tine::{iter::FoldChunksWith, prelude::*};
///
/// let sums: FoldChunksWith<_, _, _> =
///     (0..4).into_par_iter().fold_chunks_with(2, 10, i32::wrapping_add);
/// assert_eq!(sums.collect::<Vec<_>>(), [11, 15]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct FoldChunksWith<I, U, F> {
    base: I,
    size: usize,
    value: U,
    op: F,
}

impl<I, U, F> FoldChunksWith<I, U, F> {
    #[track_caller]
    pub(crate) fn new(base: I, size: usize, value: U, op: F) -> Self {
        assert!(size != 0, "chunk_size must not be zero");
        FoldChunksWith {
            base,
            size,
            value,
            op,
        }
    }
}

impl<I: fmt::Debug, U: fmt::Debug, F> fmt::Debug for FoldChunksWith<I, U, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoldChunksWith")
            .field("base", &self.base)
            .field("size", &self.size)
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

reshaped! {
    [I, U, F] FoldChunksWith<I, U, F> => U,
    where [
        I: IndexedParallelIterator,
        F: Fn(U, I::Item) -> U + Send + Sync,
        U: Send + Clone
    ],
    |this| this.base.len().div_ceil(this.size),
    |this, callback| {
        let FoldChunksWith { base, size, value, op } = this;
        let fold = FoldFrom { value, op: &op };
        chunked(base, size, fold, callback)
    }
}

/// To cut costs 5 to 25 ns. From about this number of items on it pays, since the loop over a slice is quicker than
/// calls of `next`.
const FEW: usize = 12;

/// What a chunk becomes.
trait Chunk<T>: Clone + Send {
    type Out;

    /// The most items of a chunk that are better taken one by one than cut off together.
    const FEW: usize = 0;

    fn chunk(&self, items: impl Iterator<Item = T>) -> Self::Out;
}

#[derive(Clone)]
struct Collect;

impl<T> Chunk<T> for Collect {
    type Out = Vec<T>;

    fn chunk(&self, items: impl Iterator<Item = T>) -> Vec<T> {
        items.collect()
    }
}

struct Fold<'f, ID, F> {
    init: &'f ID,
    op: &'f F,
}

impl<ID, F> Clone for Fold<'_, ID, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<ID, F> Copy for Fold<'_, ID, F> {}

impl<T, U, ID, F> Chunk<T> for Fold<'_, ID, F>
where
    ID: Fn() -> U + Sync,
    F: Fn(U, T) -> U + Sync,
{
    type Out = U;

    const FEW: usize = FEW;

    fn chunk(&self, items: impl Iterator<Item = T>) -> U {
        items.fold((self.init)(), self.op)
    }
}

struct FoldFrom<'f, U, F> {
    value: U,
    op: &'f F,
}

impl<U: Clone, F> Clone for FoldFrom<'_, U, F> {
    fn clone(&self) -> Self {
        let value = self.value.clone();
        FoldFrom { value, ..*self }
    }
}

impl<T, U, F> Chunk<T> for FoldFrom<'_, U, F>
where
    U: Clone + Send,
    F: Fn(U, T) -> U + Sync,
{
    type Out = U;

    const FEW: usize = FEW;

    fn chunk(&self, items: impl Iterator<Item = T>) -> U {
        items.fold(self.value.clone(), self.op)
    }
}

fn chunked<I, K, CB>(base: I, size: usize, kind: K, callback: CB) -> CB::Output
where
    I: IndexedParallelIterator,
    K: Chunk<I::Item>,
    CB: ProducerCallback<K::Out>,
{
    let len = base.len();
    reshape(base, Cut { len, size, kind }, callback)
}

struct Cut<K> {
    len: usize,
    size: usize,
    kind: K,
}

impl<T, K: Chunk<T>> Reshape<T, K::Out> for Cut<K> {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<K::Out>,
    {
        callback.callback(Cuts { base, cut: self })
    }
}

/// The chunks of `cut.len` items, the last of which may be short.
struct Cuts<P, K> {
    base: P,
    cut: Cut<K>,
}

impl<P: Producer, K: Chunk<P::Item>> Producer for Cuts<P, K> {
    type Item = K::Out;
    type IntoIter = CutsIter<P, K>;

    const WHOLE: bool = P::WHOLE;

    fn into_iter(self) -> CutsIter<P, K> {
        CutsIter {
            base: Some(self.base),
            cut: self.cut,
        }
    }

    fn min_len(&self) -> usize {
        self.base.min_len().div_ceil(self.cut.size)
    }

    fn max_len(&self) -> usize {
        most_groups(self.base.max_len(), self.cut.size)
    }

    fn is_over(&self) -> bool {
        self.base.is_over()
    }

    fn fold_with<F: Folder<K::Out>>(self, folder: F) -> F {
        if self.cut.size > K::FEW {
            return folder.consume_iter(self.into_iter());
        }
        let base = self.base.into_iter();
        let cut = self.cut;
        folder.consume_iter(Runs { base, cut })
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Cut { len, size, kind } = self.cut;
        let here = reach(index, size, len);
        let (left, right) = self.base.split_at(here);
        let with = |base, len, kind| Cuts {
            base,
            cut: Cut { len, size, kind },
        };
        (
            with(left, here, kind.clone()),
            with(right, len - here, kind),
        )
    }
}

/// Takes one chunk after the other from the front. That is quicker than cutting, but it does not work from the back.
struct Runs<I, K> {
    base: I,
    cut: Cut<K>,
}

impl<I: Iterator, K: Chunk<I::Item>> Iterator for Runs<I, K> {
    type Item = K::Out;

    #[inline]
    fn next(&mut self) -> Option<K::Out> {
        let Cut { len, size, .. } = self.cut;
        let here = size.min(len);
        if here == 0 {
            return None;
        }
        self.cut.len -= here;
        Some(self.cut.kind.chunk(self.base.by_ref().take(here)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.cut.len.div_ceil(self.cut.size);
        (len, Some(len))
    }
}

impl<I: Iterator, K: Chunk<I::Item>> ExactSizeIterator for Runs<I, K> {}

/// Cuts as it goes; there is no base while one is being cut.
struct CutsIter<P, K> {
    base: Option<P>,
    cut: Cut<K>,
}

impl<P: Producer, K: Chunk<P::Item>> CutsIter<P, K> {
    fn cut(&mut self, index: usize) -> Option<(P, P)> {
        Some(self.base.take()?.split_at(index))
    }
}

impl<P: Producer, K: Chunk<P::Item>> Iterator for CutsIter<P, K> {
    type Item = K::Out;

    fn next(&mut self) -> Option<K::Out> {
        let Cut { len, size, .. } = self.cut;
        if len == 0 {
            return None;
        }
        let (chunk, rest) = self.cut(size.min(len))?;
        self.base = Some(rest);
        self.cut.len = len.saturating_sub(size);
        Some(self.cut.kind.chunk(chunk.into_iter()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.cut.len.div_ceil(self.cut.size);
        (len, Some(len))
    }
}

impl<P: Producer, K: Chunk<P::Item>> DoubleEndedIterator for CutsIter<P, K> {
    fn next_back(&mut self) -> Option<K::Out> {
        let Cut { len, size, .. } = self.cut;
        let rest = len.checked_sub(1)? / size * size;
        let (front, chunk) = self.cut(rest)?;
        self.base = Some(front);
        self.cut.len = rest;
        Some(self.cut.kind.chunk(chunk.into_iter()))
    }
}

impl<P: Producer, K: Chunk<P::Item>> ExactSizeIterator for CutsIter<P, K> {}
