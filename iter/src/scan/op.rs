//! The operation of a scan: an identity and a closure, or addition.

use std::fmt;
use std::iter::{Sum, empty, once};
use std::marker::PhantomData;

/// An associative operation and its identity.
pub trait Operation<T>: Send + Sync {
    /// The neutral value.
    fn identity(&self) -> T;

    /// Joins both values, `left` first.
    fn join(&self, left: T, right: T) -> T;
}

/// Two closures, as `reduce` takes them.
#[derive(Clone)]
pub struct Closures<ID, F> {
    pub(super) identity: ID,
    pub(super) op: F,
}

impl<ID, F> fmt::Debug for Closures<ID, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closures")
    }
}

impl<T, ID, F> Operation<T> for Closures<ID, F>
where
    ID: Fn() -> T + Send + Sync,
    F: Fn(T, T) -> T + Send + Sync,
{
    fn identity(&self) -> T {
        (self.identity)()
    }

    #[inline]
    fn join(&self, left: T, right: T) -> T {
        (self.op)(left, right)
    }
}

/// Addition, as `sum` does it.
pub struct Adding<T> {
    adds: PhantomData<fn(T) -> T>,
}

impl<T> Adding<T> {
    pub(super) fn new() -> Self {
        Adding { adds: PhantomData }
    }
}

impl<T> Clone for Adding<T> {
    fn clone(&self) -> Self {
        Adding::new()
    }
}

impl<T> fmt::Debug for Adding<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Adding")
    }
}

impl<T: Sum> Operation<T> for Adding<T> {
    fn identity(&self) -> T {
        empty::<T>().sum()
    }

    #[inline]
    fn join(&self, left: T, right: T) -> T {
        once(left).chain(once(right)).sum()
    }
}
