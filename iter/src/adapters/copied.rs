//! `copied`: the item behind the reference.

use crate::iter::ParallelIterator;
use crate::kit::each::{Each, each};
use crate::plumbing::Again;

/// What [`copied`](crate::iter::ParallelIterator::copied) returns.
///
/// ```
/// use tine::{iter::Copied, prelude::*};
///
/// let numbers: Copied<_> = [1, 2].par_iter().copied();
/// assert_eq!(numbers.collect::<Vec<i32>>(), [1, 2]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Copied<I> {
    base: I,
}

impl<I> Copied<I> {
    pub(crate) fn new(base: I) -> Self {
        Copied { base }
    }
}

struct Deref;

impl<'a, T: Copy> Each<&'a T> for Deref {
    type State = ();
    type Out = T;

    const AGAIN: Again = Again::Always;

    fn start(&self) {}

    #[inline]
    fn each(&self, (): &mut (), item: &'a T) -> T {
        *item
    }
}

each! {
    ['a, I, T] Copied<I> => T,
    where [I: ParallelIterator<Item = &'a T>, T: Copy + Send + Sync + 'a],
    |Copied { base }| (base, Deref)
}
