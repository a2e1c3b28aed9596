//! `deterministic`: the same tree of pieces, whichever threads run them.
#![forbid(unsafe_code)]

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Producer, ProducerCallback, UnindexedConsumer, bridge_fixed};

/// See [`IndexedParallelIterator::deterministic`].
///
/// ```
/// use tine::{iter::Deterministic, prelude::*};
///
/// let halves: Deterministic<_> = [0.5, 0.25].par_iter().deterministic();
/// assert_eq!(halves.sum::<f64>(), 0.75);
/// ```
#[derive(Clone, Debug)]
#[must_use = "parallel iterators do nothing until they are consumed"]
pub struct Deterministic<I> {
    base: I,
}

impl<I> Deterministic<I> {
    pub(crate) fn new(base: I) -> Self {
        Deterministic { base }
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for Deterministic<I> {
    type Item = I::Item;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        struct Fixed<C> {
            len: usize,
            consumer: C,
        }

        impl<T, C: UnindexedConsumer<T>> ProducerCallback<T> for Fixed<C> {
            type Output = C::Result;

            fn callback<P: Producer<Item = T>>(self, producer: P) -> C::Result {
                bridge_fixed(self.len, producer, self.consumer)
            }
        }

        let len = self.base.len();
        self.base.with_producer(Fixed { len, consumer })
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.base.len())
    }
}
