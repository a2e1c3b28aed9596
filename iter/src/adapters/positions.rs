//! `positions`: the indices of the items that satisfy a predicate.

use crate::iter::IndexedParallelIterator;
use crate::kit::debug_base;
use crate::kit::step::{Step, step};

/// What [`positions`](IndexedParallelIterator::positions) returns.
///
/// ```
/// use tine::{iter::Positions, prelude::*};
///
/// let places: Positions<_, _> = [5, 0, 0].par_iter().positions(|&n| n == 0);
/// assert_eq!(places.collect::<Vec<_>>(), [1, 2]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct Positions<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> Positions<I, P> {
    pub(crate) fn new(base: I, predicate: P) -> Self {
        Positions { base, predicate }
    }
}

debug_base!(Positions<I, P>);

struct Where<P>(P);

impl<T, P: Fn(T) -> bool + Sync> Step<(usize, T)> for Where<P> {
    type Out = usize;

    #[inline]
    fn over(&self, items: impl Iterator<Item = (usize, T)>) -> impl Iterator<Item = usize> {
        items.filter_map(|(index, item)| (self.0)(item).then_some(index))
    }
}

step! {
    [I, P] Positions<I, P> => usize,
    where [I: IndexedParallelIterator, P: Fn(I::Item) -> bool + Sync + Send],
    |Positions { base, predicate }| (base.enumerate(), Where(predicate))
}
