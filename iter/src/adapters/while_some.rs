//! `while_some`: the values in the items, until some piece meets a `None`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::iter::ParallelIterator;
use crate::kit::step::{Step, step};

/// What [`while_some`](ParallelIterator::while_some) returns.
///
/// ```
/// use tine::{iter::WhileSome, prelude::*};
///
/// let there: WhileSome<_> = [Some(1), Some(2)].into_par_iter().while_some();
/// assert_eq!(there.sum::<i32>(), 3);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct WhileSome<I> {
    base: I,
}

impl<I> WhileSome<I> {
    pub(crate) fn new(base: I) -> Self {
        WhileSome { base }
    }
}

#[derive(Default)]
struct UntilNone {
    met: AtomicBool,
}

impl<T> Step<Option<T>> for UntilNone {
    type Out = T;

    const ENDS: bool = true;

    #[inline]
    fn over(&self, items: impl Iterator<Item = Option<T>>) -> impl Iterator<Item = T> {
        items.map_while(|item| {
            if item.is_none() {
                self.met.store(true, Relaxed);
            }
            item
        })
    }

    #[inline]
    fn done(&self) -> bool {
        self.met.load(Relaxed)
    }
}

step! {
    [I, T] WhileSome<I> => T,
    where [I: ParallelIterator<Item = Option<T>>, T: Send],
    |WhileSome { base }| (base, UntilNone::default())
}
