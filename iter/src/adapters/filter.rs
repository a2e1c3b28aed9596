//! `filter`: the item, if `predicate(&item)`.

use crate::kit::debug_base;
use crate::kit::step::{Step, step};

/// What [`filter`](crate::iter::ParallelIterator::filter) returns.
///
/// ```
/// use tine::{iter::Filter, prelude::*};
///
/// let even: Filter<_, _> = (0..10).into_par_iter().filter(|n| n % 2 == 0);
/// assert_eq!(even.count(), 5);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct Filter<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> Filter<I, P> {
    pub(crate) fn new(base: I, predicate: P) -> Self {
        Filter { base, predicate }
    }
}

debug_base!(Filter<I, P>);

struct Keep<P>(P);

impl<T, P: Fn(&T) -> bool + Sync> Step<T> for Keep<P> {
    type Out = T;

    #[inline]
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        items.filter(&self.0)
    }
}

step! {
    [I, P] Filter<I, P> => I::Item,
    where [P: Fn(&I::Item) -> bool + Sync + Send],
    |Filter { base, predicate }| (base, Keep(predicate))
}
