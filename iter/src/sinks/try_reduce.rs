//! `try_reduce`, `try_reduce_with` and `try_for_each`: a reduction that ends at
//! the first failure that any thread meets.
#![forbid(unsafe_code)]

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::iter::ParallelIterator;
use crate::kit::attempt::Try;
use crate::kit::gather::Gather;
use crate::kit::keep::{earlier, without};
use crate::kit::sink::{Sink, drain};

/// Reduces the values of successes. A piece begins with `init()`, or with its first item if `init` is `None`.
struct TryReduce<ID, F> {
    init: ID,
    op: F,
    failed: AtomicBool,
}

impl<ID, F> TryReduce<ID, F> {
    fn new(init: ID, op: F) -> Self {
        let failed = AtomicBool::new(false);
        TryReduce { init, op, failed }
    }

    /// Tells the other threads of a failure.
    fn note<B, C>(&self, state: ControlFlow<B, C>) -> ControlFlow<B, C> {
        if state.is_break() {
            self.failed.store(true, Relaxed);
        }
        state
    }
}

impl<T, R, ID, F> Gather<R> for TryReduce<ID, F>
where
    R: Try<Output = T>,
    ID: Fn() -> Option<T> + Sync,
    F: Fn(T, T) -> R + Sync,
{
    type State = ControlFlow<R::Residual, Option<T>>;
    type Out = Option<R>;

    const ENDS: bool = true;

    fn start(&self) -> Self::State {
        Continue((self.init)())
    }

    #[inline]
    fn take(&self, state: Self::State, item: R) -> Self::State {
        let state = match (state, item.branch()) {
            (Continue(Some(so_far)), Continue(item)) => {
                (self.op)(so_far, item).branch().map_continue(Some)
            }
            (Continue(None), Continue(item)) => Continue(Some(item)),
            (Break(residual), other) => without(other, Break(residual)),
            (other, Break(residual)) => without(other, Break(residual)),
        };
        self.note(state)
    }

    #[inline]
    fn take_all(&self, state: Self::State, mut items: impl Iterator<Item = R>) -> Self::State {
        let state = match (state, items.next()) {
            (Continue(None), Some(first)) => first.branch().map_continue(Some),
            (state, Some(item)) => self.take(state, item),
            (state, None) => state,
        };
        let op = |so_far, item: R| match item.branch() {
            Continue(item) => (self.op)(so_far, item).branch(),
            Break(residual) => without(so_far, Break(residual)),
        };
        let state = match state {
            Continue(Some(so_far)) => items.try_fold(so_far, op).map_continue(Some),
            state => state,
        };
        drop(items);
        self.note(state)
    }

    fn finish(&self, state: Self::State) -> Option<R> {
        match state {
            Continue(so_far) => so_far.map(R::from_output),
            Break(residual) => Some(R::from_residual(residual)),
        }
    }

    #[inline]
    fn done(&self) -> bool {
        self.failed.load(Relaxed)
    }

    #[inline]
    fn full(&self, state: &Self::State) -> bool {
        state.is_break() || self.failed.load(Relaxed)
    }
}

impl<T, R, ID, F> Sink<R> for TryReduce<ID, F>
where
    R: Try<Output = T>,
    ID: Fn() -> Option<T> + Sync,
    F: Fn(T, T) -> R + Sync,
{
    fn merge(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return earlier(left, right),
        };
        Some(match (left.branch(), right.branch()) {
            (Continue(left), Continue(right)) => (self.op)(left, right),
            (Break(residual), other) => without(other, R::from_residual(residual)),
            (other, Break(residual)) => without(other, R::from_residual(residual)),
        })
    }
}

pub(crate) fn try_reduce<I, T, ID, F>(iter: I, init: ID, op: F) -> I::Item
where
    I: ParallelIterator<Item: Try<Output = T>>,
    ID: Fn() -> T + Sync,
    F: Fn(T, T) -> I::Item + Sync,
{
    let came_to = drain(iter, &TryReduce::new(|| Some(init()), op));
    came_to.expect("a piece that began with a value came to none")
}

pub(crate) fn try_reduce_with<I, T, F>(iter: I, op: F) -> Option<I::Item>
where
    I: ParallelIterator<Item: Try<Output = T>>,
    F: Fn(T, T) -> I::Item + Sync,
{
    drain(iter, &TryReduce::new(|| None, op))
}
