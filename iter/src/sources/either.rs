//! One of two iterators, decided at run time.
#![forbid(unsafe_code)]

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use either::Either::{self, Left, Right};

/// An `Either` iterates over the side that is there.
impl<L, R> ParallelIterator for Either<L, R>
where
    L: ParallelIterator,
    R: ParallelIterator<Item = L::Item>,
{
    type Item = L::Item;

    const KEEPS_ALL: bool = L::KEEPS_ALL && R::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<L::Item>>(self, consumer: C) -> C::Result {
        match self {
            Left(iter) => iter.drive_unindexed(consumer),
            Right(iter) => iter.drive_unindexed(consumer),
        }
    }

    crate::kit::go_on::goes_on! {
        |it, to, folder| match it {
            Left(iter) => iter.go_on(to, folder),
            Right(iter) => iter.go_on(to, folder),
        }
    }

    fn opt_len(&self) -> Option<usize> {
        match self {
            Left(iter) => iter.opt_len(),
            Right(iter) => iter.opt_len(),
        }
    }

    fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
    where
        CB: ProducerCallback<L::Item>,
    {
        match self {
            Left(iter) => iter.with_items(make),
            Right(iter) => iter.with_items(make),
        }
    }
}

impl<L, R> IndexedParallelIterator for Either<L, R>
where
    L: IndexedParallelIterator,
    R: IndexedParallelIterator<Item = L::Item>,
{
    fn drive<C: Consumer<L::Item>>(self, consumer: C) -> C::Result {
        match self {
            Left(iter) => iter.drive(consumer),
            Right(iter) => iter.drive(consumer),
        }
    }

    fn len(&self) -> usize {
        match self {
            Left(iter) => iter.len(),
            Right(iter) => iter.len(),
        }
    }

    fn with_producer<CB: ProducerCallback<L::Item>>(self, callback: CB) -> CB::Output {
        match self {
            Left(iter) => iter.with_producer(callback),
            Right(iter) => iter.with_producer(callback),
        }
    }
}
