//! `filter_map`: the value in `op(item)`, if there is one.

use crate::kit::debug_base;
use crate::kit::step::{Step, step};

/// What [`filter_map`](crate::iter::ParallelIterator::filter_map) returns.
///
/// ```
/// use tine::{iter::FilterMap, prelude::*};
///
/// let numbers: FilterMap<_, _> = ["4", "x"].par_iter().filter_map(|s| s.parse::<i32>().ok());
/// assert_eq!(numbers.sum::<i32>(), 4);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct FilterMap<I, P> {
    base: I,
    op: P,
}

impl<I, P> FilterMap<I, P> {
    pub(crate) fn new(base: I, op: P) -> Self {
        FilterMap { base, op }
    }
}

debug_base!(FilterMap<I, P>);

struct Try<P>(P);

impl<T, R, P: Fn(T) -> Option<R> + Sync> Step<T> for Try<P> {
    type Out = R;

    #[inline]
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = R> {
        items.filter_map(&self.0)
    }
}

step! {
    [I, P, R] FilterMap<I, P> => R,
    where [P: Fn(I::Item) -> Option<R> + Sync + Send, R: Send],
    |FilterMap { base, op }| (base, Try(op))
}
