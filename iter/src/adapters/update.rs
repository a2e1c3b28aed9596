//! `update`: `op(&mut item)`, then the item.

use crate::kit::debug_base;
use crate::kit::each::{Each, each};
use crate::plumbing::Again;

/// What [`update`](crate::iter::ParallelIterator::update) returns.
///
/// ```
/// use tine::{iter::Update, prelude::*};
///
/// let longer: Update<_, _> = vec![vec![1]].into_par_iter().update(|v| v.push(2));
/// assert_eq!(longer.collect::<Vec<_>>(), [[1, 2]]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct Update<I, F> {
    base: I,
    op: F,
}

impl<I, F> Update<I, F> {
    pub(crate) fn new(base: I, op: F) -> Self {
        Update { base, op }
    }
}

debug_base!(Update<I, F>);

struct Touch<F>(F);

impl<T, F: Fn(&mut T) + Sync> Each<T> for Touch<F> {
    type State = ();
    type Out = T;

    const AGAIN: Again = Again::IfPure;

    fn start(&self) {}

    #[inline]
    fn each(&self, (): &mut (), mut item: T) -> T {
        (self.0)(&mut item);
        item
    }
}

each! {
    [I, F] Update<I, F> => I::Item,
    where [F: Fn(&mut I::Item) + Sync + Send],
    |Update { base, op }| (base, Touch(op))
}
