//! `flat_map_iter` and `flatten_iter`: the items of a sequential iterator made from each item.

use std::convert::identity;

use crate::iter::ParallelIterator;
use crate::kit::debug_base;
use crate::kit::step::{Step, step};

/// What [`flat_map_iter`](ParallelIterator::flat_map_iter) returns.
///
/// ```
/// use tine::{iter::FlatMapIter, prelude::*};
///
/// let letters: FlatMapIter<_, _> = ["ab", "c"].par_iter().flat_map_iter(|word| word.chars());
/// assert_eq!(letters.collect::<String>(), "abc");
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct FlatMapIter<I, F> {
    base: I,
    op: F,
}

impl<I, F> FlatMapIter<I, F> {
    pub(crate) fn new(base: I, op: F) -> Self {
        FlatMapIter { base, op }
    }
}

debug_base!(FlatMapIter<I, F>);

/// What [`flatten_iter`](ParallelIterator::flatten_iter) returns.
///
/// ```
/// use tine::{iter::FlattenIter, prelude::*};
///
/// let all: FlattenIter<_> = vec![Some(1), None, Some(3)].into_par_iter().flatten_iter();
/// assert_eq!(all.collect::<Vec<i32>>(), [1, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct FlattenIter<I> {
    base: I,
}

impl<I> FlattenIter<I> {
    pub(crate) fn new(base: I) -> Self {
        FlattenIter { base }
    }
}

struct Unfold<F>(F);

impl<T, SI: IntoIterator, F: Fn(T) -> SI + Sync> Step<T> for Unfold<F> {
    type Out = SI::Item;

    #[inline]
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = SI::Item> {
        items.flat_map(&self.0)
    }
}

step! {
    [I, F, SI] FlatMapIter<I, F> => SI::Item,
    where [F: Fn(I::Item) -> SI + Sync + Send, SI: IntoIterator<Item: Send>],
    |FlatMapIter { base, op }| (base, Unfold(op))
}

step! {
    [I, SI] FlattenIter<I> => SI::Item,
    where [I: ParallelIterator<Item = SI>, SI: IntoIterator<Item: Send> + Send],
    |FlattenIter { base }| (base, Unfold(identity::<SI>))
}
