//! Pieces of uneven length: between separators, after terminators, and runs of
//! neighbours that belong together.
#![forbid(unsafe_code)]

use crate::plumbing::Folder;
use crate::sources::body::Body;
use crate::sources::kit::unindexed;
use crate::sources::pieces::{Pieces, Rule, fold_pieces};
use std::fmt;
use std::ops::Range;

/// Cuts at each separator, which belongs to neither side.
struct Between<'p, P>(&'p P);

/// Cuts after each terminator, which belongs to the left side.
struct After<'p, P>(&'p P);

/// Cuts between two neighbours that do not belong together.
struct Breaks<'p, P>(&'p P);

macro_rules! copy {
    ($($rule:ident)*) => {$(
        impl<P> Clone for $rule<'_, P> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<P> Copy for $rule<'_, P> {}
    )*};
}
copy! { Between After Breaks }

fn first<T>(slice: &[T], range: Range<usize>, p: impl Fn(&T) -> bool) -> Option<usize> {
    let start = range.start;
    slice[range].iter().position(p).map(|at| start + at)
}

/// A break lies before the second element of a pair.
fn first_break<T>(slice: &[T], range: Range<usize>, p: impl Fn(&T, &T) -> bool) -> Option<usize> {
    let from = range.start.max(1);
    let pairs = slice.get(from - 1..range.end)?.windows(2);
    pairs
        .map(|pair| p(&pair[0], &pair[1]))
        .position(|together| !together)
        .map(|at| from + at)
}

/// The three rules for one type of slice, with std's iterators for the leaves.
macro_rules! rules {
    ($body:ty, $bound:ident, $split:ident, $split_inclusive:ident, $chunk_by:ident) => {
        impl<'data, T: $bound, P: Fn(&T) -> bool + Sync> Rule<$body> for Between<'_, P> {
            fn first(self, body: &$body, range: Range<usize>) -> Option<usize> {
                first(body, range, self.0)
            }

            fn cut(self, body: $body, at: usize) -> ($body, $body) {
                let (left, right) = body.cut(at);
                (left, right.cut(1).1)
            }

            fn fold<F: Folder<$body>>(self, body: $body, open: usize, folder: F) -> F {
                let cut = body[..open].iter().rposition(self.0);
                let pieces = |front: $body| front.$split(self.0);
                fold_pieces(self, body, cut, pieces, Some, folder)
            }
        }

        impl<'data, T: $bound, P: Fn(&T) -> bool + Sync> Rule<$body> for After<'_, P> {
            fn first(self, body: &$body, range: Range<usize>) -> Option<usize> {
                first(body, range, self.0)
            }

            fn cut(self, body: $body, at: usize) -> ($body, $body) {
                body.cut(at + 1)
            }

            fn fold<F: Folder<$body>>(self, body: $body, open: usize, folder: F) -> F {
                let cut = body[..open].iter().rposition(self.0);
                let pieces = |front: $body| front.$split_inclusive(self.0);
                let last = |body: $body| (!body.is_empty()).then_some(body);
                fold_pieces(self, body, cut, pieces, last, folder)
            }
        }

        impl<'data, T: $bound, P: Fn(&T, &T) -> bool + Sync> Rule<$body> for Breaks<'_, P> {
            fn first(self, body: &$body, range: Range<usize>) -> Option<usize> {
                first_break(body, range, self.0)
            }

            fn cut(self, body: $body, at: usize) -> ($body, $body) {
                body.cut(at)
            }

            /// The last run is read a second time. Where runs are short, to have it apart costs more.
            fn fold<F: Folder<$body>>(self, body: $body, _: usize, folder: F) -> F {
                folder.consume_iter(body.$chunk_by(self.0))
            }
        }
    };
}

rules! { &'data [T], Sync, split, split_inclusive, chunk_by }
rules! { &'data mut [T], Send, split_mut, split_inclusive_mut, chunk_by_mut }

/// A public iterator: a slice, a predicate, and its rule.
macro_rules! source {
    ($(#[$meta:meta])*
     $name:ident: [$body:ty] $bound:ident, $rule:ident, Fn($($arg:ty),*)) => {
        $(#[$meta])*
        pub struct $name<'data, T, P> {
            pub(super) slice: $body,
            pub(super) predicate: P,
        }

        impl<T: fmt::Debug, P> fmt::Debug for $name<'_, T, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("slice", &self.slice).finish()
            }
        }

        unindexed! {
            ['data, T: $bound, P: Fn($($arg),*) -> bool + Sync + Send] $name<'data, T, P> => $body;
            stretch(it) Pieces::new(it.slice, $rule(&it.predicate));
        }
    };
}

source! {
    /// Parallel iterator over the pieces between separators.
    ///
    /// Made by [`par_split`](super::ParallelSlice::par_split).
    ///
    /// ```
    /// use tine::{slice::Split, prelude::*};
    ///
    /// let parts: Split<'_, i32, _> = [1, 0, 2].par_split(|&n| n == 0);
    /// assert_eq!(parts.collect::<Vec<_>>(), [[1], [2]]);
    /// ```
    Split: [&'data [T]] Sync, Between, Fn(&T)
}
source! {
    /// Parallel iterator over the exclusive pieces between separators.
    ///
    /// Made by [`par_split_mut`](super::ParallelSliceMut::par_split_mut).
    ///
    /// ```
    /// use tine::{slice::SplitMut, prelude::*};
    ///
    /// let mut v = [1, 2, 0, 3];
    /// let parts: SplitMut<'_, i32, _> = v.par_split_mut(|&n| n == 0);
    /// parts.for_each(|part| part.reverse());
    /// assert_eq!(v, [2, 1, 0, 3]);
    /// ```
    SplitMut: [&'data mut [T]] Send, Between, Fn(&T)
}
source! {
    /// Parallel iterator over pieces that end with their separator.
    ///
    /// Made by [`par_split_inclusive`](super::ParallelSlice::par_split_inclusive).
    ///
    /// ```
    /// use tine::{slice::SplitInclusive, prelude::*};
    ///
    /// let parts: SplitInclusive<'_, i32, _> = [1, 0, 2, 0].par_split_inclusive(|&n| n == 0);
    /// assert_eq!(parts.collect::<Vec<_>>(), [[1, 0], [2, 0]]);
    /// ```
    SplitInclusive: [&'data [T]] Sync, After, Fn(&T)
}
source! {
    /// Parallel iterator over exclusive pieces that end with their separator.
    ///
    /// Made by [`par_split_inclusive_mut`](super::ParallelSliceMut::par_split_inclusive_mut).
    ///
    /// ```
    /// use tine::{slice::SplitInclusiveMut, prelude::*};
    ///
    /// let mut v = [1, 0, 2, 0];
    /// let parts: SplitInclusiveMut<'_, i32, _> = v.par_split_inclusive_mut(|&n| n == 0);
    /// parts.for_each(|part| part.reverse());
    /// assert_eq!(v, [0, 1, 0, 2]);
    /// ```
    SplitInclusiveMut: [&'data mut [T]] Send, After, Fn(&T)
}
source! {
    /// Parallel iterator over runs of neighbours that belong together.
    ///
    /// Made by [`par_chunk_by`](super::ParallelSlice::par_chunk_by).
    ///
    /// ```
    /// use tine::{slice::ChunkBy, prelude::*};
    ///
    /// let runs: ChunkBy<'_, i32, _> = [1, 1, 2].par_chunk_by(|a, b| a == b);
    /// assert_eq!(runs.collect::<Vec<_>>(), [&[1, 1][..], &[2]]);
    /// ```
    ChunkBy: [&'data [T]] Sync, Breaks, Fn(&T, &T)
}
source! {
    /// Parallel iterator over exclusive runs of neighbours that belong together.
    ///
    /// Made by [`par_chunk_by_mut`](super::ParallelSliceMut::par_chunk_by_mut).
    ///
    /// ```
    /// use tine::{slice::ChunkByMut, prelude::*};
    ///
    /// let mut v = [1, 2, 0, 5];
    /// let runs: ChunkByMut<'_, i32, _> = v.par_chunk_by_mut(|a, b| a < b);
    /// runs.for_each(|run| run.reverse());
    /// assert_eq!(v, [2, 1, 5, 0]);
    /// ```
    ChunkByMut: [&'data mut [T]] Send, Breaks, Fn(&T, &T)
}

macro_rules! clone {
    ($($name:ident)*) => {$(
        impl<T, P: Clone> Clone for $name<'_, T, P> {
            fn clone(&self) -> Self {
                $name { slice: self.slice, predicate: self.predicate.clone() }
            }
        }
    )*};
}
clone! { Split SplitInclusive ChunkBy }

#[cfg(test)]
mod tests {
    use super::{After, Between, Breaks, Pieces};
    use crate::sources::stretch::Stretch;
    use crate::sources::stretch::tests::{Keep, agrees};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Block by block, as a loop does it. An element at which a block ends is read by two blocks.
    #[test]
    fn a_long_piece_is_read_once() {
        let slice = [1_u8; 1000];
        let reads = AtomicUsize::new(0);
        let cuts = |n: &u8| {
            reads.fetch_add(1, Relaxed);
            *n == 0
        };
        let mut found = Keep(Vec::new());
        let mut rest = Pieces::new(&slice[..], After(&cuts));
        for _ in 0..10 {
            let block;
            (block, rest) = rest.part(100);
            found = block.feed(found);
        }
        assert_eq!(found.0, [slice]);
        assert!(reads.into_inner() <= 1010);
    }

    #[test]
    fn at_any_place() {
        for slice in [
            &[][..],
            &[0],
            &[1],
            &[0, 0],
            &[1, 2, 0, 3, 0, 0, 4, 4, 4, 0],
            &[7, 7, 7, 7, 0],
        ] {
            agrees(|| Pieces::new(slice, Between(&|n: &u8| *n == 0)));
            agrees(|| Pieces::new(slice, After(&|n: &u8| *n == 0)));
            agrees(|| Pieces::new(slice, Breaks(&|a: &u8, b: &u8| a == b)));
        }
    }
}
