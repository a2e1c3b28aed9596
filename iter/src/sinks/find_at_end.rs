//! `find_first`, `find_last` and their `_map` forms: once an item is found, items behind it are not looked at.
//!
//! Each piece knows the range of places that it, and the pieces split from it, may occupy. Places are indices
//! if those are known, and otherwise shares of what is left of a `usize`. The first piece that is split off at
//! the left takes half of it, the next piece a third of the rest, then a quarter. So a tree is halved, and the
//! millionth piece of a list still has 2²³ places for its own pieces. Places only order pieces: when they run
//! out, two pieces share a place, and neither stops the other. The reducer decides, from left to right, which
//! of two found items counts.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::iter::ParallelIterator;
use crate::kit::keep::{earlier, find_map};
use crate::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};

/// Which of the found items is wanted.
#[derive(Clone, Copy, PartialEq)]
enum End {
    First,
    Last,
}

/// The search, shared by all pieces.
struct Search<F> {
    op: F,
    end: End,
    /// For the first item: pieces after this place need not be looked at. For the last: pieces
    /// before it.
    best: AtomicUsize,
}

impl<F> Search<F> {
    fn new(op: F, end: End) -> Self {
        let best = AtomicUsize::new(match end {
            End::First => usize::MAX,
            End::Last => 0,
        });
        Search { op, end, best }
    }

    /// Notes that a piece at `places` has found an item. Even if every second item matches, most calls change
    /// nothing, and then no other thread is disturbed.
    fn found(&self, places: Places) {
        let best = self.best.load(Relaxed);
        match self.end {
            End::First if places.low < best => self.best.fetch_min(places.low, Relaxed),
            End::Last if places.high > best => self.best.fetch_max(places.high, Relaxed),
            _ => best,
        };
    }

    /// Whether another piece has beaten any find of a piece at `places`.
    fn beaten(&self, places: Places) -> bool {
        let best = self.best.load(Relaxed);
        match self.end {
            End::First => best < places.low,
            End::Last => best > places.high,
        }
    }
}

/// The places that a piece may occupy, from `low` to `high`.
#[derive(Clone, Copy)]
struct Places {
    low: usize,
    high: usize,
    /// The number of pieces that took a share of these places before, and now lie on the left of them.
    shares: usize,
}

impl Places {
    const ALL: Places = Places {
        low: 0,
        high: usize::MAX,
        shares: 0,
    };

    /// Cuts at an index; if there are too few places, cuts as [`split_off_left`](Self::split_off_left) does.
    fn split_at(self, index: usize, end: End) -> (Places, Places) {
        match self.low.checked_add(index) {
            Some(cut) if cut < self.high => self.cut(cut),
            _ => self.split_off_left(end),
        }
    }

    /// Cuts off the next share for a left part of unknown length. Of the last two places, the side that the
    /// search prefers gets one.
    fn split_off_left(self, end: End) -> (Places, Places) {
        let places = self.high - self.low;
        let next = self.shares.saturating_add(2);
        let share = match end {
            End::First => places.div_ceil(next),
            End::Last => places / next,
        };
        let (left, mut right) = self.cut(self.low + share);
        right.shares = next - 1;
        (left, right)
    }

    fn cut(self, cut: usize) -> (Places, Places) {
        let left = Places {
            high: cut,
            shares: 0,
            ..self
        };
        (left, Places { low: cut, ..self })
    }
}

/// A piece that has not begun.
struct Part<'s, F> {
    search: &'s Search<F>,
    places: Cell<Places>,
}

impl<'s, F> Part<'s, F> {
    fn new(search: &'s Search<F>, places: Places) -> Self {
        let places = Cell::new(places);
        Part { search, places }
    }

    fn begin<R>(&self) -> Hunt<'s, F, R> {
        Hunt {
            search: self.search,
            places: self.places.get(),
            found: None,
        }
    }
}

impl<'s, T, R: Send, F: Fn(T) -> Option<R> + Sync> Consumer<T> for Part<'s, F> {
    type Folder = Hunt<'s, F, R>;
    type Reducer = Winner;
    type Result = Option<R>;

    const ADVANCES: bool = true;
    const ENDS: bool = true;

    fn split_at(self, index: usize) -> (Self, Self, Winner) {
        let (left, right) = self.places.get().split_at(index, self.search.end);
        let with = |places| Part::new(self.search, places);
        (with(left), with(right), Winner(self.search.end))
    }

    fn into_folder(self) -> Hunt<'s, F, R> {
        self.begin()
    }

    fn full(&self) -> bool {
        self.search.beaten(self.places.get())
    }

    fn advance(self, index: usize, folder: Option<Hunt<'s, F, R>>) -> (Hunt<'s, F, R>, Self) {
        let (next, rest) = self.places.get().split_at(index, self.search.end);
        let mut folder = folder.unwrap_or_else(|| self.begin());
        folder.places.high = next.high;
        self.places.set(rest);
        (folder, self)
    }
}

impl<T, R: Send, F: Fn(T) -> Option<R> + Sync> UnindexedConsumer<T> for Part<'_, F> {
    fn split_off_left(&self) -> Self {
        let (left, right) = self.places.get().split_off_left(self.search.end);
        self.places.set(right);
        Part::new(self.search, left)
    }

    fn to_reducer(&self) -> Winner {
        Winner(self.search.end)
    }
}

/// A piece at work.
struct Hunt<'s, F, R> {
    search: &'s Search<F>,
    places: Places,
    found: Option<R>,
}

impl<F, R> Hunt<'_, F, R> {
    fn find(mut self, found: Option<R>) -> Self {
        if found.is_some() {
            self.search.found(self.places);
            self.found = found;
        }
        self
    }

    fn satisfied(&self) -> bool {
        self.search.end == End::First && self.found.is_some()
    }
}

impl<T, R, F: Fn(T) -> Option<R>> Folder<T> for Hunt<'_, F, R> {
    type Result = Option<R>;

    #[inline]
    fn consume(self, item: T) -> Self {
        if self.satisfied() {
            drop(item);
            return self;
        }
        let found = (self.search.op)(item);
        self.find(found)
    }

    #[inline]
    fn consume_block<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        if self.satisfied() {
            drop(items);
            return self;
        }
        let mut items = items.into_iter();
        let mut found = None;
        match self.search.end {
            End::First => found = find_map(&mut items, &self.search.op),
            // Not by `last`: if the drop of an earlier item panics, `last` loses the later one.
            End::Last => {
                let all = items.by_ref().filter_map(&self.search.op);
                all.for_each(|next| drop(found.replace(next)));
            }
        }
        drop(items);
        self.find(found)
    }

    fn complete(self) -> Option<R> {
        self.found
    }

    #[inline]
    fn full(&self) -> bool {
        self.satisfied() || self.search.beaten(self.places)
    }
}

struct Winner(End);

impl<R> Reducer<Option<R>> for Winner {
    fn reduce(self, left: Option<R>, right: Option<R>) -> Option<R> {
        match self.0 {
            End::First => earlier(left, right),
            End::Last => earlier(right, left),
        }
    }
}

fn hunt<I, R, F>(iter: I, op: F, end: End) -> Option<R>
where
    I: ParallelIterator,
    R: Send,
    F: Fn(I::Item) -> Option<R> + Sync,
{
    iter.drive_unindexed(Part::new(&Search::new(op, end), Places::ALL))
}

pub(crate) fn find_map_first<I, R, F>(iter: I, op: F) -> Option<R>
where
    I: ParallelIterator,
    R: Send,
    F: Fn(I::Item) -> Option<R> + Sync,
{
    hunt(iter, op, End::First)
}

pub(crate) fn find_map_last<I, R, F>(iter: I, op: F) -> Option<R>
where
    I: ParallelIterator,
    R: Send,
    F: Fn(I::Item) -> Option<R> + Sync,
{
    hunt(iter, op, End::Last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a list, and the halves of each, have places of their own.
    #[test]
    fn pieces_of_a_list_are_halved_in_turn() {
        for end in [End::First, End::Last] {
            let mut rest = Places::ALL;
            for _ in 0..1000 {
                let mut piece;
                (piece, rest) = rest.split_off_left(end);
                for _ in 0..usize::BITS / 4 {
                    let (left, right) = piece.split_off_left(end);
                    assert!(left.low < left.high && left.high < right.high);
                    piece = left;
                }
            }
        }
    }
}
