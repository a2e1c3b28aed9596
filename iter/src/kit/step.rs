//! The kit for adapters with any number of items out for each item in, and no state: `filter`,
//! `filter_map`, `flat_map_iter`, `flatten_iter`, `while_some`, `take_any`, `skip_any` and their
//! `_while` forms. Each applies the adapter of `std::iter` with its name to one contiguous piece at
//! a time.

use std::iter::once;

use crate::iter::ParallelIterator;
use crate::plumbing::{Consumer, Folder, UnindexedConsumer, Went};

/// What happens to a run of items on its way.
pub(crate) trait Step<T>: Sync {
    /// The type of the items out.
    type Out;
    /// Whether `done` can ever return `true`.
    const ENDS: bool = false;

    /// The items out for `items`, which are some of a piece.
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = Self::Out>;

    /// Whether no further item will be handed on.
    #[inline]
    fn done(&self) -> bool {
        false
    }
}

/// A consumer of the items in, made of a consumer of the items out.
pub(crate) struct StepConsumer<'s, S, C> {
    step: &'s S,
    base: C,
}

impl<'s, S, C> StepConsumer<'s, S, C> {
    pub(crate) fn new(step: &'s S, base: C) -> Self {
        StepConsumer { step, base }
    }
}

impl<'s, T, S: Step<T>, C: Consumer<S::Out>> Consumer<T> for StepConsumer<'s, S, C> {
    type Folder = StepFolder<'s, S, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = C::ADVANCES;
    const RESUMES: bool = C::RESUMES;
    const ENDS: bool = S::ENDS || C::ENDS;
    const STEADY: bool = !S::ENDS && C::STEADY;

    fn worth(&self) -> u64 {
        self.base.worth()
    }

    fn expect(&mut self, items: usize) {
        self.base.expect(items);
    }

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        let with = |base| StepConsumer::new(self.step, base);
        (with(left), with(right), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        StepFolder {
            step: self.step,
            base: self.base.into_folder(),
        }
    }

    fn full(&self) -> bool {
        self.step.done() || self.base.full()
    }

    fn resume(self, so_far: C::Result) -> Self {
        StepConsumer::new(self.step, self.base.resume(so_far))
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let step = self.step;
        let (base, rest) = self.base.advance(index, folder.map(|folder| folder.base));
        (StepFolder { step, base }, StepConsumer::new(step, rest))
    }
}

impl<T, S: Step<T>, C: UnindexedConsumer<S::Out>> UnindexedConsumer<T> for StepConsumer<'_, S, C> {
    fn split_off_left(&self) -> Self {
        StepConsumer::new(self.step, self.base.split_off_left())
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

/// A `Step` at work on one contiguous piece.
pub(crate) struct StepFolder<'s, S, F> {
    step: &'s S,
    base: F,
}

impl<T, S: Step<T>, F: Folder<S::Out>> Folder<T> for StepFolder<'_, S, F> {
    type Result = F::Result;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.base = self.base.consume_iter(self.step.over(once(item)));
        self
    }

    #[inline]
    fn consume_block<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        self.base = self.base.consume_block(self.step.over(items.into_iter()));
        self
    }

    fn complete(self) -> F::Result {
        self.base.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.step.done() || self.base.full()
    }
}

/// Runs `base` behind the items that `folder` has taken.
pub(crate) fn go_on<I, S, C>(
    base: I,
    step: &S,
    to: impl FnOnce() -> C,
    folder: Option<C::Folder>,
) -> Went<C::Folder, C::Result>
where
    I: ParallelIterator,
    S: Step<I::Item>,
    C: UnindexedConsumer<S::Out>,
{
    let folder = folder.map(|base| StepFolder { step, base });
    let went = base.go_on(|| StepConsumer::new(step, to()), folder);
    went.map(|folder| folder.base)
}

/// Implements `ParallelIterator` for an adapter: its items and their bounds, its base and its
/// `Step`.
macro_rules! step {
    ([$($generics:tt)*] $Adapter:ty => $Item:ty, where [$($bounds:tt)*],
     |$adapter:pat_param| ($base:expr, $step:expr)) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $Adapter
        where
            I: $crate::iter::ParallelIterator,
            $($bounds)*
        {
            type Item = $Item;

            const KNOWS_LEN: Option<bool> = Some(false);
            const KEEPS_ALL: bool = I::KEEPS_ALL;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::plumbing::UnindexedConsumer<$Item>,
            {
                let $adapter = self;
                $base.drive_unindexed($crate::kit::step::StepConsumer::new(&$step, consumer))
            }

            $crate::kit::go_on::goes_on! { |$adapter, to, folder| $crate::kit::step::go_on($base, &$step, to, folder) }
        }
    };
}

pub(crate) use step;
