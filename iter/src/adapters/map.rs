//! `map`: `op(item)` for each item.

use crate::kit::debug_base;
use crate::kit::each::{Each, each};
use crate::plumbing::Again;

/// What [`map`](crate::iter::ParallelIterator::map) returns.
///
/// ```
/// use tine::{iter::Map, prelude::*};
///
/// let doubled: Map<_, _> = (0..3).into_par_iter().map(|n| n * 2);
/// assert_eq!(doubled.collect::<Vec<i32>>(), [0, 2, 4]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct Map<I, F> {
    base: I,
    op: F,
}

impl<I, F> Map<I, F> {
    pub(crate) fn new(base: I, op: F) -> Self {
        Map { base, op }
    }
}

debug_base!(Map<I, F>);

struct Call<F>(F);

impl<T, R, F: Fn(T) -> R + Sync> Each<T> for Call<F> {
    type State = ();
    type Out = R;

    const AGAIN: Again = Again::IfPure;

    fn start(&self) {}

    #[inline]
    fn each(&self, (): &mut (), item: T) -> R {
        (self.0)(item)
    }
}

each! {
    [I, F, R] Map<I, F> => R,
    where [F: Fn(I::Item) -> R + Sync + Send, R: Send],
    |Map { base, op }| (base, Call(op))
}
