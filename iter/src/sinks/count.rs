//! `count`.
#![forbid(unsafe_code)]

use crate::iter::ParallelIterator;
use crate::kit::gather::Gather;
use crate::kit::sink::{Sink, drain};

struct Count;

impl<T> Gather<T> for Count {
    type State = usize;
    type Out = usize;

    fn start(&self) -> usize {
        0
    }

    #[inline]
    fn take(&self, so_far: usize, _: T) -> usize {
        so_far + 1
    }

    #[inline]
    fn take_all(&self, so_far: usize, items: impl Iterator<Item = T>) -> usize {
        so_far + items.count()
    }

    fn finish(&self, count: usize) -> usize {
        count
    }
}

impl<T> Sink<T> for Count {
    fn merge(&self, left: usize, right: usize) -> usize {
        left + right
    }
}

pub(crate) fn count<I: ParallelIterator>(iter: I) -> usize {
    drain(iter, &Count)
}
