//! `partition`: two collections; each item goes to one of them.
#![forbid(unsafe_code)]

use either::Either;

use crate::iter::{ParallelExtend, ParallelIterator};
use crate::plumbing::Folder;
use crate::sinks::pair::{Deal, collect_both};

/// Items that the predicate accepts go to the left.
struct If<P>(P);

impl<T: Send, P: Fn(&T) -> bool + Sync + Send> Deal<T> for If<P> {
    type Left = T;
    type Right = T;

    #[inline(always)] // a call would take both folders through memory
    fn deal<L: Folder<T>, R: Folder<T>>(&self, item: T, left: L, right: R) -> (L, R) {
        if (self.0)(&item) {
            (left.consume(item), right)
        } else {
            (left, right.consume(item))
        }
    }
}

/// The function says which side.
pub(crate) struct By<P>(pub(crate) P);

impl<T, A, B, P> Deal<T> for By<P>
where
    P: Fn(T) -> Either<A, B> + Sync + Send,
    A: Send,
    B: Send,
{
    type Left = A;
    type Right = B;

    #[inline(always)] // a call would take both folders through memory
    fn deal<L: Folder<A>, R: Folder<B>>(&self, item: T, left: L, right: R) -> (L, R) {
        match (self.0)(item) {
            Either::Left(item) => (left.consume(item), right),
            Either::Right(item) => (left, right.consume(item)),
        }
    }
}

pub(crate) fn partition<I, A, B, P>(iter: I, predicate: P) -> (A, B)
where
    I: ParallelIterator,
    A: Default + Send + ParallelExtend<I::Item>,
    B: Default + Send + ParallelExtend<I::Item>,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    collect_both(iter, If(predicate))
}

pub(crate) fn partition_map<I, A, B, P, L, R>(iter: I, predicate: P) -> (A, B)
where
    I: ParallelIterator,
    A: Default + Send + ParallelExtend<L>,
    B: Default + Send + ParallelExtend<R>,
    P: Fn(I::Item) -> Either<L, R> + Sync + Send,
    L: Send,
    R: Send,
{
    collect_both(iter, By(predicate))
}
