//! The kit for sinks that make one value of all items: `for_each`, `reduce`,
//! `sum`, `find_any` and the like. They are shared by reference, and only the
//! reference is split.

use std::marker::PhantomData;

use super::gather::Gather;
use crate::iter::ParallelIterator;
use crate::plumbing::{
    Consumer, Folder, Producer, Reducer, UnindexedConsumer, bridge_producer_consumer,
};

/// How the values of two neighbouring pieces become one.
pub(crate) trait Sink<T>: Gather<T> {
    /// Joins two neighbours.
    fn merge(&self, left: Self::Out, right: Self::Out) -> Self::Out;
}

/// Runs `iter` into `sink`.
pub(crate) fn drain<I, S>(iter: I, sink: &S) -> S::Out
where
    I: ParallelIterator,
    S: Sink<I::Item>,
    S::Out: Send,
{
    iter.drive_unindexed(Shared::new(sink))
}

/// The sink that drops its items.
pub(crate) struct Nothing;

impl<T> Gather<T> for Nothing {
    type State = ();
    type Out = ();

    fn start(&self) {}

    fn take(&self, (): (), _: T) {}

    fn finish(&self, (): ()) {}
}

impl<T> Sink<T> for Nothing {
    fn merge(&self, (): (), (): ()) {}
}

/// Runs a producer of `len` items for its side effects.
pub(crate) fn exhaust<P: Producer>(len: usize, producer: P) {
    bridge_producer_consumer(len, producer, Shared::new(&Nothing))
}

/// A sink as a consumer and as a reducer.
pub(crate) struct Shared<'s, S, T> {
    sink: &'s S,
    takes: PhantomData<fn(T)>,
}

impl<'s, S, T> Shared<'s, S, T> {
    pub(crate) fn new(sink: &'s S) -> Self {
        let takes = PhantomData;
        Shared { sink, takes }
    }
}

impl<'s, T, S: Sink<T>> Consumer<T> for Shared<'s, S, T>
where
    S::Out: Send,
{
    type Folder = Piece<'s, S, S::State>;
    type Reducer = Self;
    type Result = S::Out;

    const ADVANCES: bool = true;
    const ENDS: bool = S::ENDS;
    const STEADY: bool = !S::ENDS;

    fn split_at(self, _: usize) -> (Self, Self, Self) {
        (Shared::new(self.sink), Shared::new(self.sink), self)
    }

    fn into_folder(self) -> Self::Folder {
        Piece {
            sink: self.sink,
            state: self.sink.start(),
        }
    }

    fn full(&self) -> bool {
        self.sink.done()
    }

    fn advance(self, _: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let folder = folder.unwrap_or_else(|| Shared::new(self.sink).into_folder());
        (folder, self)
    }
}

impl<T, S: Sink<T>> UnindexedConsumer<T> for Shared<'_, S, T>
where
    S::Out: Send,
{
    fn split_off_left(&self) -> Self {
        Shared::new(self.sink)
    }

    fn to_reducer(&self) -> Self {
        Shared::new(self.sink)
    }
}

impl<T, S: Sink<T>> Reducer<S::Out> for Shared<'_, S, T> {
    fn reduce(self, left: S::Out, right: S::Out) -> S::Out {
        self.sink.merge(left, right)
    }
}

/// A sink at work on one contiguous piece.
pub(crate) struct Piece<'s, S, A> {
    sink: &'s S,
    state: A,
}

impl<T, S: Sink<T>> Folder<T> for Piece<'_, S, S::State> {
    type Result = S::Out;

    #[inline]
    fn consume(self, item: T) -> Self {
        let state = self.sink.take(self.state, item);
        Piece { state, ..self }
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        if !S::ENDS {
            return self.consume_block(items);
        }
        for item in items {
            self = self.consume(item);
            if self.full() {
                break;
            }
        }
        self
    }

    #[inline]
    fn consume_block<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        let state = self.sink.take_all(self.state, items.into_iter());
        Piece { state, ..self }
    }

    fn complete(self) -> S::Out {
        self.sink.finish(self.state)
    }

    #[inline]
    fn full(&self) -> bool {
        self.sink.full(&self.state)
    }
}
