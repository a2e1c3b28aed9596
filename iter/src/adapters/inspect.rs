//! `inspect`: `op(&item)`, then the item.

use crate::kit::debug_base;
use crate::kit::each::{Each, each};
use crate::plumbing::Again;

/// What [`inspect`](crate::iter::ParallelIterator::inspect) returns.
///
/// ```
/// use tine::{iter::Inspect, prelude::*};
///
/// let told: Inspect<_, _> = (0..3).into_par_iter().inspect(|n| println!("{n}"));
/// assert_eq!(told.sum::<i32>(), 3);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct Inspect<I, F> {
    base: I,
    op: F,
}

impl<I, F> Inspect<I, F> {
    pub(crate) fn new(base: I, op: F) -> Self {
        Inspect { base, op }
    }
}

debug_base!(Inspect<I, F>);

struct Look<F>(F);

impl<T, F: Fn(&T) + Sync> Each<T> for Look<F> {
    type State = ();
    type Out = T;

    const AGAIN: Again = Again::IfPure;

    fn start(&self) {}

    #[inline]
    fn each(&self, (): &mut (), item: T) -> T {
        (self.0)(&item);
        item
    }
}

each! {
    [I, F] Inspect<I, F> => I::Item,
    where [F: Fn(&I::Item) + Sync + Send],
    |Inspect { base, op }| (base, Look(op))
}
