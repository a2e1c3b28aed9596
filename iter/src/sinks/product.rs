//! `product`: each run of items by the standard library, then the products.
#![forbid(unsafe_code)]

use std::iter::{Product, empty, once};
use std::marker::PhantomData;

use crate::iter::ParallelIterator;
use crate::kit::gather::Gather;
use crate::kit::sink::{Sink, drain};

struct Total<S>(PhantomData<fn() -> S>);

impl<S: Product> Total<S> {
    #[inline]
    fn both(left: S, right: S) -> S {
        [left, right].into_iter().product()
    }
}

impl<T, S: Product<T> + Product> Gather<T> for Total<S> {
    type State = S;
    type Out = S;

    fn start(&self) -> S {
        empty::<S>().product()
    }

    #[inline]
    fn take(&self, so_far: S, item: T) -> S {
        Self::both(so_far, once(item).product())
    }

    #[inline]
    fn take_all(&self, so_far: S, items: impl Iterator<Item = T>) -> S {
        Self::both(so_far, items.product())
    }

    fn finish(&self, total: S) -> S {
        total
    }
}

impl<T, S: Product<T> + Product> Sink<T> for Total<S> {
    fn merge(&self, left: S, right: S) -> S {
        Self::both(left, right)
    }
}

pub(crate) fn product<I, S>(iter: I) -> S
where
    I: ParallelIterator,
    S: Send + Product<I::Item> + Product,
{
    drain(iter, &Total(PhantomData))
}
