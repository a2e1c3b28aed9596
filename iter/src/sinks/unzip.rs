//! `unzip`: two collections, each from one half of the pairs.
#![forbid(unsafe_code)]

use crate::iter::{ParallelExtend, ParallelIterator};
use crate::sinks::pair::{Halves, collect_both};

pub(crate) fn unzip<I, A, B, FromA, FromB>(iter: I) -> (FromA, FromB)
where
    I: ParallelIterator<Item = (A, B)>,
    FromA: Default + Send + ParallelExtend<A>,
    FromB: Default + Send + ParallelExtend<B>,
    A: Send,
    B: Send,
{
    collect_both(iter, Halves)
}
