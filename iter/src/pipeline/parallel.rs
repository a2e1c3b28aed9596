//! Stages whose items may be worked on by all threads at once.
//!
//! The member that has the chunk runs them, one item after the other. Several such stages in a row
//! run as one step for each item, with no buffer in between.
#![forbid(unsafe_code)]

use super::hub::{Held, Post};
use super::stages::{Orders, Outcome, Run, Stages};
use super::station::{Station, Tag};
use std::fmt;
use std::iter::once_with;

/// What a stage makes of items.
pub trait Makes<T> {
    /// What comes out.
    type Out: Send;
}

/// A stage that all threads may run at once.
pub trait Parallel<T, E>: Makes<T> + Send + Sync {
    /// Works on the items as they are asked for; after `fail` nothing more comes.
    fn over(
        &self,
        items: impl Iterator<Item = T>,
        fail: impl Fn(E),
    ) -> impl Iterator<Item = Self::Out>;
}

/// Stages, and a parallel one behind them.
#[derive(Clone)]
pub struct Then<L, P> {
    base: L,
    stage: P,
}

impl<L: fmt::Debug, P> fmt::Debug for Then<L, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Then")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl<L, P> Then<L, P> {
    pub(super) fn new(base: L, stage: P) -> Self {
        Then { base, stage }
    }
}

impl<L: Stages, P: Makes<L::Item>> Stages for Then<L, P> {
    type Item = P::Out;
}

impl<L: Run<E>, P: Parallel<L::Item, E>, E> Run<E> for Then<L, P> {
    fn run<S: Station<P::Out, E> + Send>(self, next: S, orders: Orders<'_>) -> Outcome<E> {
        let stage = self.stage;
        self.base.run(Along { stage, next }, orders)
    }
}

/// A parallel stage at work.
struct Along<P, S> {
    stage: P,
    next: S,
}

impl<T, E, P, S> Station<T, E> for Along<P, S>
where
    P: Parallel<T, E>,
    S: Station<P::Out, E>,
{
    type Local = S::Local;

    fn pass<'h>(
        &self,
        post: &Post<'h, E>,
        local: &mut S::Local,
        tag: Tag,
        items: impl Iterator<Item = T>,
    ) -> Held<'h, E> {
        let items = self.stage.over(items, |error| post.fail(tag.at, error));
        self.next.pass(post, local, tag, items)
    }

    fn advance<'h>(
        &self,
        post: &Post<'h, E>,
        local: &mut S::Local,
        state: Held<'h, E>,
    ) -> (Held<'h, E>, bool) {
        self.next.advance(post, local, state)
    }
}

/// The stages, one row each: a name, its closures, what comes out, and how.
macro_rules! stage {
    (
        $(#[$doc:meta])* $vis:vis $name:ident($($field:ident: $closure:ident),*) [$($generic:ident),*] => $out:ty,
        [$($bound:tt)*], |$stage:ident, $items:ident, $fail:ident: $error:ident| $over:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        $vis struct $name<$($closure),*> {
            $(pub(super) $field: $closure,)*
        }

        impl<$($closure),*> fmt::Debug for $name<$($closure),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<T, $($closure,)* $($generic),*> Makes<T> for $name<$($closure),*>
        where
            $($bound)*
        {
            type Out = $out;
        }

        stage! { @over $name [$($closure),*] [$($generic),*] [$($bound)*] $stage, $items, $fail: $error, $over }
    };
    (@over $name:ident [$($closure:ident),*] [$($generic:ident),*] [$($bound:tt)*]
        $stage:ident, $items:ident, $fail:ident: NONE, $over:expr) => {
        impl<T, E, $($closure,)* $($generic),*> Parallel<T, E> for $name<$($closure),*>
        where
            $($bound)*
        {
            fn over(
                &self,
                $items: impl Iterator<Item = T>,
                _: impl Fn(E),
            ) -> impl Iterator<Item = Self::Out> {
                let $stage = self;
                $over
            }
        }
    };
    (@over $name:ident [$($closure:ident),*] [$($generic:ident),*] [$($bound:tt)*]
        $stage:ident, $items:ident, $fail:ident: $error:ident, $over:expr) => {
        impl<T, $($closure,)* $($generic),*> Parallel<T, $error> for $name<$($closure),*>
        where
            $($bound)*
        {
            fn over(
                &self,
                $items: impl Iterator<Item = T>,
                $fail: impl Fn($error),
            ) -> impl Iterator<Item = Self::Out> {
                let $stage = self;
                $over
            }
        }
    };
}

stage! {
    /// The stage of [`Pipeline::map`](super::Pipeline::map).
    pub Map(op: F) [U] => U,
    [F: Fn(T) -> U + Send + Sync, U: Send],
    |stage, items, fail: NONE| items.map(&stage.op)
}

stage! {
    /// The stage of [`Pipeline::filter`](super::Pipeline::filter).
    pub Filter(op: F) [] => T,
    [F: Fn(&T) -> bool + Send + Sync, T: Send],
    |stage, items, fail: NONE| items.filter(&stage.op)
}

stage! {
    /// The stage of [`Pipeline::filter_map`](super::Pipeline::filter_map).
    pub FilterMap(op: F) [U] => U,
    [F: Fn(T) -> Option<U> + Send + Sync, U: Send],
    |stage, items, fail: NONE| items.filter_map(&stage.op)
}

stage! {
    /// The stage of [`Pipeline::flat_map`](super::Pipeline::flat_map).
    pub FlatMap(op: F) [U] => U::Item,
    [F: Fn(T) -> U + Send + Sync, U: IntoIterator<Item: Send>],
    |stage, items, fail: NONE| items.flat_map(&stage.op)
}

stage! {
    /// The stage of [`Pipeline::inspect`](super::Pipeline::inspect).
    pub Inspect(op: F) [] => T,
    [F: Fn(&T) + Send + Sync, T: Send],
    |stage, items, fail: NONE| items.inspect(|item| (stage.op)(item))
}

stage! {
    /// The stage of [`Pipeline::fold_parts`](super::Pipeline::fold_parts).
    pub FoldParts(init: N, op: F) [A] => A,
    [N: Fn() -> A + Send + Sync, F: Fn(A, T) -> A + Send + Sync, A: Send],
    |stage, items, fail: NONE| once_with(|| items.fold((stage.init)(), &stage.op))
}

stage! {
    /// The stage of [`Pipeline::try_map`](super::Pipeline::try_map).
    pub TryMap(op: F) [U, E] => U,
    [F: Fn(T) -> Result<U, E> + Send + Sync, U: Send],
    |stage, items, fail: E| items.map_while(move |item| (stage.op)(item).map_err(&fail).ok())
}

stage! {
    /// What a sum makes of each chunk.
    pub(super) Whole(op: F) [U] => U,
    [F: Fn(&mut dyn Iterator<Item = T>) -> U + Send + Sync, U: Send],
    |stage, items, fail: NONE| once_with(move || {
        let mut items = items;
        (stage.op)(&mut items)
    })
}
