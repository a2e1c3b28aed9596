//! The two gathers made of an identity and an operation: one that cannot fail,
//! for `fold` and `reduce`, and one that can, for their `try_` forms.

use std::ops::ControlFlow::{self, Continue};

use super::attempt::{Try, close};
use super::gather::Gather;
use super::keep::without;

/// `op(op(init(), a), b) …`
pub(crate) struct Accumulate<ID, F> {
    pub(crate) init: ID,
    pub(crate) op: F,
}

impl<T, U, ID, F> Gather<T> for Accumulate<ID, F>
where
    ID: Fn() -> U + Sync,
    F: Fn(U, T) -> U + Sync,
{
    type State = U;
    type Out = U;

    fn start(&self) -> U {
        (self.init)()
    }

    #[inline]
    fn take(&self, state: U, item: T) -> U {
        (self.op)(state, item)
    }

    #[inline]
    fn take_all(&self, state: U, items: impl Iterator<Item = T>) -> U {
        // Not by reference: a call through a reference is not inlined, and each item then moves the state.
        items.fold(state, |state, item| (self.op)(state, item))
    }

    fn finish(&self, state: U) -> U {
        state
    }
}

/// As [`Accumulate`], until `op` fails.
pub(crate) struct TryAccumulate<ID, F> {
    pub(crate) init: ID,
    pub(crate) op: F,
}

impl<T, U, R, ID, F> Gather<T> for TryAccumulate<ID, F>
where
    R: Try<Output = U>,
    ID: Fn() -> U + Sync,
    F: Fn(U, T) -> R + Sync,
{
    type State = ControlFlow<R::Residual, U>;
    type Out = R;

    const ENDS: bool = true;

    fn start(&self) -> Self::State {
        Continue((self.init)())
    }

    #[inline]
    fn take(&self, state: Self::State, item: T) -> Self::State {
        match state {
            Continue(acc) => (self.op)(acc, item).branch(),
            broken => broken,
        }
    }

    #[inline]
    fn take_all(&self, state: Self::State, mut items: impl Iterator<Item = T>) -> Self::State {
        let acc = match state {
            Continue(acc) => acc,
            broken => return without(items, broken),
        };
        let state = items.try_fold(acc, |acc, item| (self.op)(acc, item).branch());
        drop(items);
        state
    }

    fn finish(&self, state: Self::State) -> R {
        close(state)
    }

    #[inline]
    fn full(&self, state: &Self::State) -> bool {
        state.is_break()
    }
}
