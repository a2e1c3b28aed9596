//! `intersperse`: a clone of one item between every two others.

use std::cell::Cell;
use std::mem::{needs_drop, replace};

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::kit::reshape::{Reshape, reshape};
use crate::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, bridge,
};

/// What [`intersperse`](ParallelIterator::intersperse) returns.
///
/// ```
/// use tine::{iter::Intersperse, prelude::*};
///
/// let spaced: Intersperse<_> = ["a", "b"].into_par_iter().intersperse(" ");
/// assert_eq!(spaced.collect::<String>(), "a b");
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Intersperse<I: ParallelIterator> {
    base: I,
    gap: I::Item,
}

impl<I: ParallelIterator> Intersperse<I> {
    pub(crate) fn new(base: I, gap: I::Item) -> Self {
        Intersperse { base, gap }
    }
}

impl<I: ParallelIterator<Item: Clone>> ParallelIterator for Intersperse<I> {
    type Item = I::Item;

    const KEEPS_ALL: bool = I::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, base: C) -> C::Result {
        let known = self.base.opt_len().is_some();
        let sparse = Sparse::new(base, self.gap, known, false, None);
        self.base.drive_unindexed(sparse).came_to
    }

    fn opt_len(&self) -> Option<usize> {
        with_gaps(self.base.opt_len()?)
    }
}

impl<I: IndexedParallelIterator<Item: Clone>> IndexedParallelIterator for Intersperse<I> {
    fn drive<C: Consumer<I::Item>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn len(&self) -> usize {
        let len = with_gaps(self.base.len());
        len.expect("an interspersed iterator holds more items than a usize counts")
    }

    fn with_producer<CB: ProducerCallback<I::Item>>(self, callback: CB) -> CB::Output {
        let len = self.len();
        let Intersperse { base, gap } = self;
        reshape(base, Gap { gap, len }, callback)
    }
}

fn with_gaps(items: usize) -> Option<usize> {
    items.checked_add(items.saturating_sub(1))
}

/// Consumes a piece. If positions are known, it is known whether a gap comes before the piece. If
/// not, there is a gap unless the piece is empty, or everything before it is. That is known when
/// both are done; until then, room for the gap is set aside.
struct Sparse<C, T> {
    base: C,
    gap: T,
    known: bool,
    led_in: bool,
    room: Cell<Option<C>>,
}

/// The result of a piece, whether it held any item, and the room before it.
struct Stretch<C, R> {
    came_to: R,
    any: bool,
    room: Option<C>,
}

impl<T: Clone + Send, C: UnindexedConsumer<T>> Sparse<C, T> {
    fn new(base: C, gap: T, known: bool, led_in: bool, room: Option<C>) -> Self {
        Sparse {
            base,
            gap,
            known,
            led_in,
            room: Cell::new(room),
        }
    }

    /// The number of items, gaps included, that the first `items` become.
    fn with_gaps(&self, items: usize) -> usize {
        items.saturating_add(if self.led_in {
            items
        } else {
            items.saturating_sub(1)
        })
    }

    fn folder(
        base: C::Folder,
        gap: T,
        led_in: bool,
        room: Option<C>,
    ) -> SparseFolder<C, C::Folder, T> {
        SparseFolder {
            base,
            gap,
            any: led_in,
            room,
        }
    }
}

impl<T: Clone + Send, C: UnindexedConsumer<T>> Consumer<T> for Sparse<C, T> {
    type Folder = SparseFolder<C, C::Folder, T>;
    type Reducer = CloseGap<T, C::Reducer>;
    type Result = Stretch<C, C::Result>;

    const ADVANCES: bool = C::ADVANCES;
    const ENDS: bool = C::ENDS;
    const STEADY: bool = C::STEADY;

    fn worth(&self) -> u64 {
        self.base.worth()
    }

    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer) {
        if !self.known {
            let (left, reducer) = (self.split_off_left(), self.to_reducer());
            return (left, self, reducer);
        }
        let cut = self.with_gaps(index);
        let led_in = self.led_in;
        let (left, right, join) = self.base.split_at(cut);
        let left = Sparse::new(left, self.gap.clone(), true, led_in, None);
        let right = Sparse::new(right, self.gap, true, led_in || index > 0, None);
        (left, right, CloseGap { gap: None, join })
    }

    fn into_folder(self) -> Self::Folder {
        let room = self.room.into_inner();
        Self::folder(self.base.into_folder(), self.gap, self.led_in, room)
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    fn expect(&mut self, items: usize) {
        let items = if self.known {
            self.with_gaps(items)
        } else {
            items
        };
        self.base.expect(items);
    }

    fn advance(mut self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        if !self.known {
            let Some(folder) = folder else {
                let (base, rest) = self.base.advance(index, None);
                let room = self.room.replace(Some(rest.split_off_left()));
                let folder = Self::folder(base, self.gap.clone(), self.led_in, room);
                self.base = rest;
                return (folder, self);
            };
            let (base, rest) = self.base.advance(index, Some(folder.base));
            self.base = rest;
            return (SparseFolder { base, ..folder }, self);
        }
        let cut = self.with_gaps(index);
        let (any, base) = match folder {
            // If dropping the gap panics, the folder is dropped too.
            Some(SparseFolder { base, gap, any, .. }) => {
                drop(gap);
                (Some(any), Some(base))
            }
            None => (None, None),
        };
        let (base, rest) = self.base.advance(cut, base);
        let any = any.unwrap_or(self.led_in);
        let folder = Self::folder(base, self.gap.clone(), any, None);
        self.base = rest;
        self.led_in |= index > 0;
        (folder, self)
    }
}

impl<T: Clone + Send, C: UnindexedConsumer<T>> UnindexedConsumer<T> for Sparse<C, T> {
    fn split_off_left(&self) -> Self {
        let left = self.base.split_off_left();
        let room = self.room.replace(Some(self.base.split_off_left()));
        Sparse::new(left, self.gap.clone(), false, false, room)
    }

    fn to_reducer(&self) -> Self::Reducer {
        let close = (self.gap.clone(), self.base.to_reducer());
        CloseGap {
            gap: Some(close),
            join: self.base.to_reducer(),
        }
    }
}

/// The items with a gap before each; before the first only if there was `any` item before.
struct Gapped<'g, T, I> {
    items: I,
    gap: &'g T,
    any: &'g mut bool,
    /// The item whose gap came last.
    next: Option<T>,
}

impl<'g, T, I> Gapped<'g, T, I> {
    fn new(gap: &'g T, any: &'g mut bool, items: I) -> Self {
        let next = None;
        Gapped {
            items,
            gap,
            any,
            next,
        }
    }
}

impl<T: Clone, I: Iterator<Item = T>> Iterator for Gapped<'_, T, I> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if let Some(item) = self.next.take() {
            return Some(item);
        }
        let item = self.items.next()?;
        if !replace(self.any, true) {
            return Some(item);
        }
        self.next = Some(item);
        Some(self.gap.clone())
    }

    #[inline]
    fn fold<A, F: FnMut(A, T) -> A>(self, init: A, mut f: F) -> A {
        let Gapped {
            mut items,
            gap,
            any,
            next,
        } = self;
        // A copy, where it costs nothing: as far as a compiler knows, what `f` writes could be the gap itself.
        let copy;
        let gap = match const { needs_drop::<T>() } {
            true => gap,
            false => {
                copy = gap.clone();
                &copy
            }
        };
        let mut so_far = next.into_iter().fold(init, &mut f);
        if !*any {
            let Some(item) = items.next() else {
                return so_far;
            };
            *any = true;
            so_far = f(so_far, item);
        }
        items.fold(so_far, |so_far, item| {
            let so_far = f(so_far, gap.clone());
            f(so_far, item)
        })
    }
}

struct SparseFolder<C, F, T> {
    base: F,
    gap: T,
    /// Whether a gap comes before the next item.
    any: bool,
    room: Option<C>,
}

impl<T: Clone, C, F: Folder<T>> Folder<T> for SparseFolder<C, F, T> {
    type Result = Stretch<C, F::Result>;

    fn consume(mut self, item: T) -> Self {
        if self.any {
            self.base = self.base.consume(self.gap.clone());
            if self.base.full() {
                return self;
            }
        }
        self.any = true;
        self.base = self.base.consume(item);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let gapped = Gapped::new(&self.gap, &mut self.any, items.into_iter());
        self.base = self.base.consume_iter(gapped);
        self
    }

    #[inline]
    fn consume_block<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let gapped = Gapped::new(&self.gap, &mut self.any, items.into_iter());
        self.base = self.base.consume_block(gapped);
        self
    }

    fn complete(self) -> Self::Result {
        // If dropping the gap panics, the result has not been made yet, and so is not leaked.
        drop(self.gap);
        Stretch {
            came_to: self.base.complete(),
            any: self.any,
            room: self.room,
        }
    }

    fn full(&self) -> bool {
        self.base.full()
    }
}

/// Joins two stretches, and adds a gap between them if that was left open.
struct CloseGap<T, R> {
    gap: Option<(T, R)>,
    join: R,
}

impl<T, C: Consumer<T>> Reducer<Stretch<C, C::Result>> for CloseGap<T, C::Reducer> {
    fn reduce(
        self,
        left: Stretch<C, C::Result>,
        right: Stretch<C, C::Result>,
    ) -> Stretch<C, C::Result> {
        let mut came_to = left.came_to;
        if let Some((gap, join)) = self.gap
            && left.any
            && right.any
        {
            let room = right
                .room
                .expect("no room was set aside between two pieces");
            let gap = room.into_folder().consume(gap).complete();
            came_to = join.reduce(came_to, gap);
        }
        Stretch {
            came_to: self.join.reduce(came_to, right.came_to),
            any: left.any || right.any,
            room: left.room,
        }
    }
}

struct Gap<T> {
    gap: T,
    len: usize,
}

impl<T: Clone + Send> Reshape<T, T> for Gap<T> {
    fn reshape<P, CB>(self, base: P, callback: CB) -> CB::Output
    where
        P: Producer<Item = T>,
        CB: ProducerCallback<T>,
    {
        callback.callback(Spaced {
            base,
            gap: self.gap,
            len: self.len,
            gap_next: false,
        })
    }
}

/// Items and gaps in turn, `len` of both together.
struct Spaced<P, T> {
    base: P,
    gap: T,
    len: usize,
    gap_next: bool,
}

impl<T: Clone + Send, P: Producer<Item = T>> Producer for Spaced<P, T> {
    type Item = T;
    type IntoIter = Spaced<P::IntoIter, T>;

    const WHOLE: bool = P::WHOLE;

    fn into_iter(self) -> Self::IntoIter {
        Spaced {
            base: self.base.into_iter(),
            gap: self.gap,
            len: self.len,
            gap_next: self.gap_next,
        }
    }

    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    fn is_over(&self) -> bool {
        self.base.is_over()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let len = self.len;
        assert!(index <= len, "{len} items and gaps were cut at {index}");
        let odd = index % 2;
        let items = index / 2 + if self.gap_next { 0 } else { odd };
        let (left, right) = self.base.split_at(items);
        let left = Spaced {
            base: left,
            gap: self.gap.clone(),
            len: index,
            gap_next: self.gap_next,
        };
        let right = Spaced {
            base: right,
            gap: self.gap,
            len: self.len - index,
            gap_next: self.gap_next == (odd == 0),
        };
        (left, right)
    }
}

impl<T: Clone, I: Iterator<Item = T>> Iterator for Spaced<I, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        let gap_now = self.gap_next;
        self.gap_next = !gap_now;
        if gap_now {
            Some(self.gap.clone())
        } else {
            self.base.next()
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<T: Clone, I: DoubleEndedIterator<Item = T>> DoubleEndedIterator for Spaced<I, T> {
    /// With an odd number of turns, the last is like the first.
    fn next_back(&mut self) -> Option<T> {
        let gap_last = self.gap_next == (self.len % 2 == 1);
        self.len = self.len.checked_sub(1)?;
        if gap_last {
            Some(self.gap.clone())
        } else {
            self.base.next_back()
        }
    }
}

impl<T: Clone, I: ExactSizeIterator<Item = T>> ExactSizeIterator for Spaced<I, T> {}
