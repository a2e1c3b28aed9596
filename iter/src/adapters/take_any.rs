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
    fn gone(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

/// The most tickets that are drawn at once.
const MOST: usize = 64;

/// Draws tickets for a run of items: several at once, but none for which there may be no item. Otherwise other
/// pieces would find none, and end too early.
struct Hand<'t> {
    tickets: &'t Tickets,
    held: usize,
    /// The least number of items that are to come.
    items: usize,
}

impl<'t> Hand<'t> {
    fn new<T>(tickets: &'t Tickets, items: &impl Iterator<Item = T>) -> Self {
        let items = items.size_hint().0;
        Hand {
            tickets,
            held: 0,
            items,
        }
    }

    /// Whether there is a ticket for the next item.
    #[inline]
    fn draw(&mut self) -> bool {
        if self.held == 0 {
            self.draw_more();
        }
        self.items = self.items.saturating_sub(1);
        let any = self.held > 0;
        self.held -= usize::from(any);
        any
    }

    fn draw_more(&mut self) {
        let most = self.items.clamp(1, MOST);
        let fewer = |left: usize| (left > 0).then(|| left.saturating_sub(most));
        if !self.tickets.gone()
            && let Ok(left) = self.tickets.0.fetch_update(Relaxed, Relaxed, fewer)
        {
            self.held = left.min(most);
        }
    }
}

/// Gives back what is left if the run ends early.
impl Drop for Hand<'_> {
    fn drop(&mut self) {
        if self.held > 0 {
            self.tickets.0.fetch_add(self.held, Relaxed);
        }
    }
}

struct TakeTickets(Tickets);

impl<T> Step<T> for TakeTickets {
    type Out = T;

    const ENDS: bool = true;

    #[inline]
    fn over(&self, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        let mut hand = Hand::new(&self.0, &items);
        items.take_while(move |_| hand.draw())
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
        let mut hand = Hand::new(&self.0, &items);
        items.skip_while(move |_| hand.draw())
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

#[cfg(test)]
mod tests {
    use super::{Hand, MOST, Tickets};

    #[test]
    fn no_more_tickets_than_items() {
        let tickets = Tickets(10.into());
        let mut hand = Hand::new(&tickets, &(0..3));
        assert!(hand.draw());
        assert_eq!(tickets.0.load(super::Relaxed), 7);
        drop(hand);
        assert_eq!(tickets.0.load(super::Relaxed), 9);
        // Nothing is known of how many items come.
        let mut hand = Hand::new(&tickets, &(0..3).filter(|_| true));
        assert!(hand.draw());
        assert_eq!(tickets.0.load(super::Relaxed), 8);
        let mut hand = Hand::new(&tickets, &(0..MOST));
        assert_eq!((0..MOST).filter(|_| hand.draw()).count(), 8);
        assert!(tickets.gone());
    }
}
