//! `take_any_while` and `skip_any_while`: hand on, or leave out, items of each
//! piece until an item anywhere fails the predicate.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::kit::debug_base;
use crate::kit::step::{Step, step};

/// What [`take_any_while`](crate::iter::ParallelIterator::take_any_while) returns.
///
/// ```
/// use tine::{iter::TakeAnyWhile, prelude::*};
///
/// let some: TakeAnyWhile<_, _> = (0..100).into_par_iter().take_any_while(|&n| n < 50);
/// assert!(some.all(|n| n < 50));
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct TakeAnyWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> TakeAnyWhile<I, P> {
    pub(crate) fn new(base: I, predicate: P) -> Self {
        TakeAnyWhile { base, predicate }
    }
}

debug_base!(TakeAnyWhile<I, P>);

/// What [`skip_any_while`](crate::iter::ParallelIterator::skip_any_while) returns.
///
/// ```
/// use tine::{iter::SkipAnyWhile, prelude::*};
///
/// let some: SkipAnyWhile<_, _> = (0..100).into_par_iter().skip_any_while(|&n| n < 50);
/// assert!(some.count() >= 50);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct SkipAnyWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> SkipAnyWhile<I, P> {
    pub(crate) fn new(base: I, predicate: P) -> Self {
        SkipAnyWhile { base, predicate }
    }
}

debug_base!(SkipAnyWhile<I, P>);

/// A predicate, and whether some item has failed it.
struct Test<P> {
    predicate: P,
    failed: AtomicBool,
}

impl<P> Test<P> {
    fn new(predicate: P) -> Self {
        let failed = AtomicBool::new(false);
        Test { predicate, failed }
    }

    fn failed(&self) -> bool {
        self.failed.load(Relaxed)
    }

    fn passes<T>(&self, item: &T) -> bool
    where
        P: Fn(&T) -> bool,
    {
        if self.failed() {
            return false;
        }
        let passes = (self.predicate)(item);
        if !passes {
            self.failed.store(true, Relaxed);
        }
        passes
    }
}

struct TakeWhile<P>(Test<P>);

impl<T, P: Fn(&T) -> bool + Sync> Step<T> for TakeWhile<P> {
    type Out = T;

    const ENDS: bool = true;

    #[inline]
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        items.take_while(|item| self.0.passes(item))
    }

    #[inline]
    fn done(&self) -> bool {
        self.0.failed()
    }
}

struct SkipWhile<P>(Test<P>);

impl<T, P: Fn(&T) -> bool + Sync> Step<T> for SkipWhile<P> {
    type Out = T;

    #[inline]
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        items.skip_while(|item| self.0.passes(item))
    }
}

step! {
    [I, P] TakeAnyWhile<I, P> => I::Item,
    where [P: Fn(&I::Item) -> bool + Sync + Send],
    |TakeAnyWhile { base, predicate }| (base, TakeWhile(Test::new(predicate)))
}

step! {
    [I, P] SkipAnyWhile<I, P> => I::Item,
    where [P: Fn(&I::Item) -> bool + Sync + Send],
    |SkipAnyWhile { base, predicate }| (base, SkipWhile(Test::new(predicate)))
}
