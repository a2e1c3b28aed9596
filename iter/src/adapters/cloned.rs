//! `cloned`: the item behind the reference.

use crate::iter::ParallelIterator;
use crate::kit::each::{Each, each};
use crate::plumbing::Again;

/// What [`cloned`](crate::iter::ParallelIterator::cloned) returns.
///
/// ```
/// use tine::{iter::Cloned, prelude::*};
///
/// let words = [String::from("fork")];
/// let owned: Cloned<_> = words.par_iter().cloned();
/// assert_eq!(owned.collect::<Vec<String>>(), words);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Cloned<I> {
    base: I,
}

impl<I> Cloned<I> {
    pub(crate) fn new(base: I) -> Self {
        Cloned { base }
    }
}

struct Deref;

impl<'a, T: Clone> Each<&'a T> for Deref {
    type State = ();
    type Out = T;

    const AGAIN: Again = Again::IfPure;

    fn start(&self) {}

    #[inline]
    fn each(&self, (): &mut (), item: &'a T) -> T {
        item.clone()
    }
}

each! {
    ['a, I, T] Cloned<I> => T,
    where [I: ParallelIterator<Item = &'a T>, T: Clone + Send + Sync + 'a],
    |Cloned { base }| (base, Deref)
}
