//! `by_exponential_blocks` and `by_uniform_blocks`: one block after another, each
//! in parallel.

use std::iter::{repeat, successors};

use tine_pool::current_num_threads;

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{
    Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, bridge_producer_consumer,
};

/// What [`by_exponential_blocks`](IndexedParallelIterator::by_exponential_blocks)
/// returns.
///
/// ```
/// use tine::{iter::ExponentialBlocks, prelude::*};
///
/// let blocks: ExponentialBlocks<_> = (0..100).into_par_iter().by_exponential_blocks();
/// assert_eq!(blocks.max(), Some(99));
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct ExponentialBlocks<I> {
    base: I,
}

impl<I> ExponentialBlocks<I> {
    pub(crate) fn new(base: I) -> Self {
        ExponentialBlocks { base }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for ExponentialBlocks<I> {
    type Item = I::Item;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let twice = |&size: &usize| Some(size.saturating_mul(2));
        let sizes = successors(Some(current_num_threads()), twice);
        in_blocks(self.base, sizes, consumer)
    }
}

/// What [`by_uniform_blocks`](IndexedParallelIterator::by_uniform_blocks) returns.
///
/// ```
/// use tine::{iter::UniformBlocks, prelude::*};
///
/// let blocks: UniformBlocks<_> = (0..100).into_par_iter().by_uniform_blocks(10);
/// assert_eq!(blocks.max(), Some(99));
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct UniformBlocks<I> {
    base: I,
    size: usize,
}

impl<I> UniformBlocks<I> {
    #[track_caller]
    pub(crate) fn new(base: I, size: usize) -> Self {
        assert!(size != 0, "block_size must not be zero");
        UniformBlocks { base, size }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for UniformBlocks<I> {
    type Item = I::Item;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        in_blocks(self.base, repeat(self.size), consumer)
    }
}

fn in_blocks<I, C>(base: I, sizes: impl Iterator<Item = usize>, consumer: C) -> C::Result
where
    I: IndexedParallelIterator,
    C: UnindexedConsumer<I::Item>,
{
    let len = base.len();
    base.with_producer(Blocks {
        len,
        sizes,
        consumer,
    })
}

struct Blocks<S, C> {
    len: usize,
    sizes: S,
    consumer: C,
}

impl<T, S, C> ProducerCallback<T> for Blocks<S, C>
where
    S: Iterator<Item = usize>,
    C: UnindexedConsumer<T>,
{
    type Output = C::Result;

    fn callback<P: Producer<Item = T>>(mut self, mut rest: P) -> C::Result {
        let mut came_to = self.consumer.split_off_left().into_folder().complete();
        while self.len > 0 && !self.consumer.full() {
            let size = self
                .sizes
                .next()
                .map_or(self.len, |size| size.min(self.len));
            self.len -= size;
            let (block, after) = rest.split_at(size);
            rest = after;
            let (to_block, to_rest, reducer) = self.consumer.split_at(size);
            self.consumer = to_rest;
            let block = bridge_producer_consumer(size, block, to_block);
            came_to = reducer.reduce(came_to, block);
        }
        drop(rest);
        came_to
    }
}
