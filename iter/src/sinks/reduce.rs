//! `reduce` and `reduce_with`: a single value from all items, by an associative operation. Also the greater and
//! the lesser of two.
#![forbid(unsafe_code)]

use std::any::TypeId;
use std::mem::needs_drop;

use crate::iter::ParallelIterator;
use crate::kit::accumulate::Accumulate;
use crate::kit::gather::Gather;
use crate::kit::keep::{best, earlier, pick, seldom};
use crate::kit::sink::{Sink, drain};

impl<T, ID, F> Sink<T> for Accumulate<ID, F>
where
    ID: Fn() -> T + Sync,
    F: Fn(T, T) -> T + Sync,
{
    fn merge(&self, left: T, right: T) -> T {
        (self.op)(left, right)
    }
}

pub(crate) fn reduce<I, ID, F>(iter: I, init: ID, op: F) -> I::Item
where
    I: ParallelIterator,
    ID: Fn() -> I::Item + Sync,
    F: Fn(I::Item, I::Item) -> I::Item + Sync,
{
    drain(iter, &Accumulate { init, op })
}

/// Begins with the first item, so a piece without items gives `None`.
struct Pairwise<F>(F);

impl<T, F: Fn(T, T) -> T + Sync> Gather<T> for Pairwise<F> {
    type State = Option<T>;
    type Out = Option<T>;

    fn start(&self) -> Option<T> {
        None
    }

    #[inline]
    fn take(&self, so_far: Option<T>, item: T) -> Option<T> {
        Some(match so_far {
            Some(so_far) => (self.0)(so_far, item),
            None => item,
        })
    }

    #[inline]
    fn take_all(&self, so_far: Option<T>, mut items: impl Iterator<Item = T>) -> Option<T> {
        let first = so_far.or_else(|| items.next())?;
        Some(items.fold(first, |a, b| (self.0)(a, b)))
    }

    fn finish(&self, so_far: Option<T>) -> Option<T> {
        so_far
    }
}

impl<T, F: Fn(T, T) -> T + Sync> Sink<T> for Pairwise<F> {
    fn merge(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some((self.0)(left, right)),
            (left, right) => earlier(left, right),
        }
    }
}

pub(crate) fn reduce_with<I, F>(iter: I, op: F) -> Option<I::Item>
where
    I: ParallelIterator,
    F: Fn(I::Item, I::Item) -> I::Item + Sync,
{
    drain(iter, &Pairwise(op))
}

/// The greater of two; the second if they are equal.
#[inline]
pub(crate) fn greater<T: Ord>(a: T, b: T) -> T {
    if const { needs_drop::<T>() } {
        return pick(b < a, a, b);
    }
    if !branches::<T>() {
        return a.max(b);
    }
    // Equal integers are indistinguishable.
    if b > a {
        seldom();
        b
    } else {
        a
    }
}

/// The lesser of two; the first if they are equal.
#[inline]
pub(crate) fn lesser<T: Ord>(a: T, b: T) -> T {
    if const { needs_drop::<T>() } {
        return best(b < a, a, b);
    }
    if !branches::<T>() {
        return a.min(b);
    }
    if b < a {
        seldom();
        b
    } else {
        a
    }
}

/// Whether to branch on a comparison of integers instead of selecting. If the vector instructions cannot
/// compare them, a vectorised loop that works around that is slower.
#[inline]
fn branches<T>() -> bool {
    let is = |id| typeid::of::<T>() == id;
    cfg!(all(target_arch = "x86_64", not(target_feature = "sse4.2")))
        && size_of::<T>() == 8
        && (is(TypeId::of::<u64>())
            || is(TypeId::of::<i64>())
            || is(TypeId::of::<usize>())
            || is(TypeId::of::<isize>()))
}
