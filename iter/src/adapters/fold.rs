//! `fold` and its variants: one value for each contiguous piece.

use std::fmt;
use std::marker::PhantomData;

use crate::kit::accumulate::{Accumulate, TryAccumulate};
use crate::kit::attempt::Try;
use crate::kit::debug_base;
use crate::kit::gather::gather;
use crate::kit::seed::clones_of;

/// What [`fold`](crate::iter::ParallelIterator::fold) returns.
///
/// ```
/// use tine::{iter::Fold, prelude::*};
///
/// let sums: Fold<_, _, _> = (0..100).into_par_iter().fold(i32::default, i32::wrapping_add);
/// assert_eq!(sums.sum::<i32>(), 4950);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct Fold<I, ID, F> {
    base: I,
    init: ID,
    op: F,
}

impl<I, ID, F> Fold<I, ID, F> {
    pub(crate) fn new(base: I, init: ID, op: F) -> Self {
        Fold { base, init, op }
    }
}

debug_base!(Fold<I, ID, F>);

gather! {
    [I, U, ID, F] Fold<I, ID, F> => U,
    where [
        ID: Fn() -> U + Sync + Send,
        F: Fn(U, I::Item) -> U + Sync + Send,
        U: Send
    ],
    |Fold { base, init, op }| (base, Accumulate { init, op })
}

/// What [`fold_with`](crate::iter::ParallelIterator::fold_with) returns.
///
/// ```
/// use tine::{iter::FoldWith, prelude::*};
///
/// let sums: FoldWith<_, _, _> = (0..100).into_par_iter().fold_with(0, i32::wrapping_add);
/// assert_eq!(sums.sum::<i32>(), 4950);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct FoldWith<I, U, F> {
    base: I,
    value: U,
    op: F,
}

impl<I, U, F> FoldWith<I, U, F> {
    pub(crate) fn new(base: I, value: U, op: F) -> Self {
        FoldWith { base, value, op }
    }
}

impl<I: fmt::Debug, U: fmt::Debug, F> fmt::Debug for FoldWith<I, U, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoldWith")
            .field("base", &self.base)
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

gather! {
    [I, U, F] FoldWith<I, U, F> => U,
    where [F: Fn(U, I::Item) -> U + Sync + Send, U: Send + Clone],
    |FoldWith { base, value, op }| (base, Accumulate { init: clones_of(value), op })
}

/// What [`try_fold`](crate::iter::ParallelIterator::try_fold) returns.
///
/// ```
/// use tine::{iter::TryFold, prelude::*};
///
/// let sums: TryFold<_, Option<u8>, _, _> =
///     (0..10).into_par_iter().try_fold(u8::default, u8::checked_add);
/// assert_eq!(sums.try_reduce(u8::default, u8::checked_add), Some(45));
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
pub struct TryFold<I, U, ID, F> {
    base: I,
    init: ID,
    op: F,
    comes_to: PhantomData<U>,
}

impl<I, U, ID, F> TryFold<I, U, ID, F> {
    pub(crate) fn new(base: I, init: ID, op: F) -> Self {
        let comes_to = PhantomData;
        TryFold {
            base,
            init,
            op,
            comes_to,
        }
    }
}

impl<I: Clone, U, ID: Clone, F: Clone> Clone for TryFold<I, U, ID, F> {
    fn clone(&self) -> Self {
        TryFold::new(self.base.clone(), self.init.clone(), self.op.clone())
    }
}

debug_base!(TryFold<I, U, ID, F>);

gather! {
    [I, U, ID, F] TryFold<I, U, ID, F> => U,
    where [
        ID: Fn() -> U::Output + Sync + Send,
        F: Fn(U::Output, I::Item) -> U + Sync + Send,
        U: Try + Send
    ],
    |TryFold { base, init, op, .. }| (base, TryAccumulate { init, op })
}

/// What [`try_fold_with`](crate::iter::ParallelIterator::try_fold_with) returns.
///
/// ```
/// use tine::{iter::TryFoldWith, prelude::*};
///
/// let sums: TryFoldWith<_, Option<u8>, _> =
///     (0..10).into_par_iter().try_fold_with(0, u8::checked_add);
/// assert_eq!(sums.try_reduce(u8::default, u8::checked_add), Some(45));
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
pub struct TryFoldWith<I, U: Try, F> {
    base: I,
    value: U::Output,
    op: F,
}

impl<I, U: Try, F> TryFoldWith<I, U, F> {
    pub(crate) fn new(base: I, value: U::Output, op: F) -> Self {
        TryFoldWith { base, value, op }
    }
}

impl<I: Clone, U: Try<Output: Clone>, F: Clone> Clone for TryFoldWith<I, U, F> {
    fn clone(&self) -> Self {
        TryFoldWith::new(self.base.clone(), self.value.clone(), self.op.clone())
    }
}

impl<I: fmt::Debug, U: Try<Output: fmt::Debug>, F> fmt::Debug for TryFoldWith<I, U, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryFoldWith")
            .field("base", &self.base)
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

gather! {
    [I, U, F] TryFoldWith<I, U, F> => U,
    where [
        F: Fn(U::Output, I::Item) -> U + Sync + Send,
        U: Try<Output: Clone + Send> + Send
    ],
    |TryFoldWith { base, value, op }| (base, TryAccumulate { init: clones_of(value), op })
}
