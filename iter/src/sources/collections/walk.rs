//! Sharing a walk that only goes forward, and whose iterator is cheap to clone.
//!
//! std's iterators over maps and sets cannot be split, but they can be cloned at any point. So one
//! walk ahead leaves a copy at every few items, and each piece is walked from the nearest copy. The
//! walk ahead touches no item. It reads a hash table's control bytes or a tree's edges, and takes a
//! fraction of the time and memory that a vector of references takes.
#![forbid(unsafe_code)]

use crate::plumbing::{Consumer, Producer, bridge_producer_consumer};

/// How many items lie between two copies.
const STEP: usize = 128;

/// Runs a sequential iterator into a consumer.
pub(super) fn drive<I, C>(iter: I, consumer: C) -> C::Result
where
    I: ExactSizeIterator<Item: Send> + Clone + Send + Sync,
    C: Consumer<I::Item>,
{
    let len = iter.len();
    let mut ahead = iter.clone();
    let mut marks = Vec::with_capacity(len / STEP + 1);
    marks.push(iter);
    for _ in 1..len.div_ceil(STEP) {
        ahead.nth(STEP - 1);
        marks.push(ahead.clone());
    }
    let walk = Walk {
        marks: &marks,
        skip: 0,
        len,
    };
    bridge_producer_consumer(len, walk, consumer)
}

/// Produces `len` items: those after the first `skip` from the first mark.
struct Walk<'m, I> {
    marks: &'m [I],
    skip: usize,
    len: usize,
}

impl<I> Producer for Walk<'_, I>
where
    I: ExactSizeIterator<Item: Send> + Clone + Send + Sync,
{
    type Item = I::Item;
    type IntoIter = Piece<I>;

    fn into_iter(self) -> Piece<I> {
        let mut iter = self.marks[0].clone();
        if self.skip > 0 && self.len > 0 {
            iter.nth(self.skip - 1);
        }
        let left = self.len;
        Piece { iter, left }
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Walk { marks, skip, len } = self;
        assert!(index <= len, "a walk of {len} items was cut at {index}");
        let mark = ((skip + index) / STEP).min(marks.len() - 1);
        let right = Walk {
            marks: &marks[mark..],
            skip: skip + index - mark * STEP,
            len: len - index,
        };
        (
            Walk {
                marks,
                skip,
                len: index,
            },
            right,
        )
    }
}

/// The next `left` items of an iterator.
struct Piece<I> {
    iter: I,
    left: usize,
}

impl<I: Iterator> Iterator for Piece<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.iter.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator + Clone> DoubleEndedIterator for Piece<I> {
    /// Walks the whole piece. A producer must be able to walk backwards. But a source that is
    /// shared like this is never indexed, and so never reversed.
    fn next_back(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.iter.clone().nth(self.left)
    }
}

impl<I: Iterator + Clone> ExactSizeIterator for Piece<I> {}

/// A source that is walked in place: the struct, its traits, and the collection that it borrows.
macro_rules! walked {
    ($(#[$meta:meta])*
     pub struct $name:ident [$($param:tt)*]($inner:ty);
     [$($bound:tt)*] yields $item:ty;
     from [$($extra:tt)*] $from:ty;) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name<$($param)*> {
            inner: $inner,
        }

        $crate::sources::kit::clone_inner! { [$($param)*] $name<$($param)*> }

        impl<$($bound)*> $crate::iter::ParallelIterator for $name<$($param)*> {
            type Item = $item;

            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<$item>,
            {
                super::walk::drive(self.inner, consumer)
            }

            fn opt_len(&self) -> Option<usize> {
                Some(self.inner.len())
            }
        }

        $crate::sources::kit::into_par! {
            [$($bound)* $($extra)*] $from => $name<$($param)*>: $item;
            (from) $name { inner: from.iter() }
        }
    };
}
pub(super) use walked;

#[cfg(test)]
mod tests {
    use super::{STEP, Walk};
    use crate::plumbing::Producer;

    #[test]
    fn every_split_of_a_walk() {
        for len in [1, 2, STEP - 1, STEP, STEP + 1, 3 * STEP, 3 * STEP + 5] {
            let items = 0..len;
            let marks: Vec<_> = (0..len).step_by(STEP).map(|at| at..len).collect();
            let walk = || Walk {
                marks: &marks,
                skip: 0,
                len,
            };
            assert!(walk().into_iter().eq(items.clone()));
            assert!(walk().into_iter().rev().eq(items.rev()));
            for at in 0..=len {
                for more in [0, 1, STEP, len - at] {
                    let more = more.min(len - at);
                    let (left, right) = walk().split_at(at);
                    let (middle, right) = right.split_at(more);
                    assert!(left.into_iter().eq(0..at));
                    assert!(middle.into_iter().eq(at..at + more));
                    assert!(right.into_iter().eq(at + more..len));
                }
            }
        }
    }
}
