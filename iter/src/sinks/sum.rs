//! `sum`: each run of items by the standard library, then the sums.
#![forbid(unsafe_code)]

use std::iter::{Sum, empty, once};
use std::marker::PhantomData;

use crate::iter::ParallelIterator;
use crate::kit::gather::Gather;
use crate::kit::sink::{Sink, drain};

struct Total<S>(PhantomData<fn() -> S>);

impl<S: Sum> Total<S> {
    #[inline]
    fn both(left: S, right: S) -> S {
        [left, right].into_iter().sum()
    }
}

impl<T, S: Sum<T> + Sum> Gather<T> for Total<S> {
    type State = S;
    type Out = S;

    fn start(&self) -> S {
        empty::<S>().sum()
    }

    #[inline]
    fn take(&self, so_far: S, item: T) -> S {
        Self::both(so_far, once(item).sum())
    }

    #[inline]
    fn take_all(&self, so_far: S, items: impl Iterator<Item = T>) -> S {
        Self::both(so_far, items.sum())
    }

    fn finish(&self, total: S) -> S {
        total
    }
}

impl<T, S: Sum<T> + Sum> Sink<T> for Total<S> {
    fn merge(&self, left: S, right: S) -> S {
        Self::both(left, right)
    }
}

pub(crate) fn sum<I, S>(iter: I) -> S
where
    I: ParallelIterator,
    S: Send + Sum<I::Item> + Sum,
{
    drain(iter, &Total(PhantomData))
}
