//! `for_each`: keeps nothing.
#![forbid(unsafe_code)]

use crate::iter::ParallelIterator;
use crate::kit::gather::Gather;
use crate::kit::sink::{Sink, drain};

struct Call<F>(F);

impl<T, F: Fn(T) + Sync> Gather<T> for Call<F> {
    type State = ();
    type Out = ();

    fn start(&self) {}

    #[inline]
    fn take(&self, (): (), item: T) {
        (self.0)(item)
    }

    #[inline]
    fn take_all(&self, (): (), items: impl Iterator<Item = T>) {
        items.for_each(&self.0)
    }

    fn finish(&self, (): ()) {}
}

impl<T, F: Fn(T) + Sync> Sink<T> for Call<F> {
    fn merge(&self, (): (), (): ()) {}
}

pub(crate) fn for_each<I: ParallelIterator>(iter: I, op: impl Fn(I::Item) + Sync) {
    drain(iter, &Call(op))
}
