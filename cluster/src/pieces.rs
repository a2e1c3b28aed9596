//! A loop over a pipeline with a state for each piece of it.
//!
//! `fold` of the pipelines calls a closure for each item and hands the state from call to call.
//! Here a state stays where it is, and a block of items is one plain loop around it. A thread
//! keeps its state from block to block, and begins another one only for a piece that it takes over
//! from another thread.
#![forbid(unsafe_code)]

use tine_iter::iter::ParallelIterator;
use tine_iter::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};

/// What happens to the items of a piece.
pub(crate) trait Piece<T>: Send {
    fn take(&mut self, item: T);

    /// There are no more.
    fn end(&mut self) {}
}

/// The states of all pieces, in the order of the items; at least one.
pub(crate) fn pieces<I, S, N>(iter: I, new: N) -> Vec<S>
where
    I: ParallelIterator,
    S: Piece<I::Item>,
    N: Fn() -> S + Sync,
{
    let mut states = iter.drive_unindexed(Pieces { new: &new });
    if states.is_empty() {
        states.push(new());
    }
    states
}

struct Pieces<'a, N> {
    new: &'a N,
}

struct Taking<S>(S);

struct InOrder;

impl<S> Reducer<Vec<S>> for InOrder {
    fn reduce(self, mut left: Vec<S>, mut right: Vec<S>) -> Vec<S> {
        left.append(&mut right);
        left
    }
}

impl<T, S: Piece<T>, N: Fn() -> S + Sync> Consumer<T> for Pieces<'_, N> {
    type Folder = Taking<S>;
    type Reducer = InOrder;
    type Result = Vec<S>;

    fn split_at(self, _: usize) -> (Self, Self, InOrder) {
        (Pieces { new: self.new }, self, InOrder)
    }

    // One state from block to block; another only for what another thread takes.
    const ADVANCES: bool = true;
    // Another state is filled from nothing, and its lists are appended to others.
    fn worth(&self) -> u64 {
        100_000
    }

    fn advance(self, _: usize, folder: Option<Taking<S>>) -> (Taking<S>, Self) {
        (folder.unwrap_or_else(|| Taking((self.new)())), self)
    }

    fn into_folder(self) -> Taking<S> {
        Taking((self.new)())
    }

    fn full(&self) -> bool {
        false
    }
}

impl<T, S: Piece<T>, N: Fn() -> S + Sync> UnindexedConsumer<T> for Pieces<'_, N> {
    fn split_off_left(&self) -> Self {
        Pieces { new: self.new }
    }

    fn to_reducer(&self) -> InOrder {
        InOrder
    }
}

impl<T, S: Piece<T>> Folder<T> for Taking<S> {
    type Result = Vec<S>;

    fn consume(mut self, item: T) -> Self {
        self.0.take(item);
        self
    }

    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let state = &mut self.0;
        items.into_iter().for_each(|item| state.take(item));
        self
    }

    fn complete(mut self) -> Vec<S> {
        self.0.end();
        vec![self.0]
    }

    fn full(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};
    use tine_iter::prelude::*;

    #[derive(Default)]
    struct Kept {
        items: Vec<usize>,
        ended: usize,
    }

    impl Piece<usize> for Kept {
        fn take(&mut self, item: usize) {
            assert_eq!(self.ended, 0, "no item after the end");
            self.items.push(item);
        }

        fn end(&mut self) {
            self.ended += 1;
        }
    }

    #[test]
    fn pieces_are_in_order() {
        for count in [0, 1, 100, 100_000] {
            let numbers = (0..count).into_par_iter().with_max_len(1000);
            let states = pieces(numbers.filter(|n| n % 3 != 1), Kept::default);
            assert!(!states.is_empty());
            assert!(count == 0 || states.iter().all(|state| state.ended == 1));
            let all = states.into_iter().flat_map(|state| state.items);
            assert!(all.eq((0..count).filter(|n| n % 3 != 1)));
        }
    }
}
