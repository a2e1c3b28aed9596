//! `step_by`: the first item of every N.

use std::iter;

use crate::iter::IndexedParallelIterator;
use crate::kit::reshape::{Reshape, most_groups, reach, reshape, reshaped};
use crate::plumbing::{Again, Producer, ProducerCallback};

/// What [`step_by`](IndexedParallelIterator::step_by) returns.
///
/// ```
/// use tine::{iter::StepBy, prelude::*};
///
/// let thirds: StepBy<_> = (0..7).into_par_iter().step_by(3);
/// assert_eq!(thirds.collect::<Vec<i32>>(), [0, 3, 6]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct StepBy<I> {
    base: I,
    step: usize,
}

impl<I> StepBy<I> {
    #[track_caller]
    pub(crate) fn new(base: I, step: usize) -> Self {
        assert!(step != 0, "step_by was asked for steps of zero");
        StepBy { base, step }
    }
}

reshaped! {
    [I] StepBy<I> => I::Item, where [I: IndexedParallelIterator],
    |this| this.base.len().div_ceil(this.step),
    |this, callback| {
        let (len, step) = (this.base.len(), this.step);
        reshape(this.base, Stride { len, step }, callback)
    }
}

struct Stride {
    len: usize,
    step: usize,
}

impl<T> Reshape<T, T> for Stride {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        let Stride { len, step } = self;
        callback.callback(Strided { base, len, step })
    }
}

/// Every `step`th of `len` items, the first included.
struct Strided<P> {
    base: P,
    len: usize,
    step: usize,
}

impl<P: Producer> Producer for Strided<P> {
    type Item = P::Item;
    type IntoIter = iter::StepBy<P::IntoIter>;

    const WHOLE: bool = P::WHOLE;
    const AGAIN: Again = P::AGAIN;

    fn again(&self) -> Self {
        let base = self.base.again();
        Strided { base, ..*self }
    }

    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().step_by(self.step)
    }

    fn min_len(&self) -> usize {
        self.base.min_len().div_ceil(self.step)
    }

    fn max_len(&self) -> usize {
        most_groups(self.base.max_len(), self.step)
    }

    fn is_over(&self) -> bool {
        self.base.is_over()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let step = self.step;
        let cut = reach(index, step, self.len);
        let (left, right) = self.base.split_at(cut);
        let with = |base, len| Strided { base, len, step };
        (with(left, cut), with(right, self.len - cut))
    }
}
