//! `take_any` and `skip_any`: hand on, or leave out, N items from
//! anywhere.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::kit::step::{Step, step};

/// What [`take_any`](crate::iter::ParallelIterator::take_any) returns.
///
/// ```
/// use tine::{iter::TakeAny, prelude::*};
///
/// let some: TakeAny<_> = (0..100).into_par_iter().take_any(5);
/// assert_eq!(some.count(), 5);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct TakeAny<I> {
    base: I,
    count: usize,
}

impl<I> TakeAny<I> {
    pub(crate) fn new(base: I, count: usize) -> Self {
        TakeAny { base, count }
    }
}

/// What [`skip_any`](crate::iter::ParallelIterator::skip_any) returns.
///
/// ```
/// use tine::{iter::SkipAny, prelude::*};
///
/// let most: SkipAny<_> = (0..100).into_par_iter().skip_any(5);
/// assert_eq!(most.count(), 95);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct SkipAny<I> {
    base: I,
    count: usize,
}

impl<I> SkipAny<I> {
    pub(crate) fn new(base: I, count: usize) -> Self {
        SkipAny { base, count }
    }
}

/// Tickets that all pieces draw from.
struct Tickets(AtomicUsize);

impl Tickets {
    fn draw(&self) -> bool {
        !self.gone() && {
            let one_less = |n: usize| n.checked_sub(1);
            self.0.fetch_update(Relaxed, Relaxed, one_less).is_ok()
        }
    }

    fn gone(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

struct TakeTickets(Tickets);

impl<T> Step<T> for TakeTickets {
    type Out = T;

    const ENDS: bool = true;

    #[inline]
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        items.take_while(|_| self.0.draw())
    }

    #[inline]
    fn done(&self) -> bool {
        self.0.gone()
    }
}

struct SkipTickets(Tickets);

impl<T> Step<T> for SkipTickets {
    type Out = T;

    #[inline]
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        items.skip_while(|_| self.0.draw())
    }
}

step! {
    [I] TakeAny<I> => I::Item, where [],
    |TakeAny { base, count }| (base, TakeTickets(Tickets(count.into())))
}

step! {
    [I] SkipAny<I> => I::Item, where [],
    |SkipAny { base, count }| (base, SkipTickets(Tickets(count.into())))
}
