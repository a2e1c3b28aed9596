//! Parallel iterators over `a..b`.
//!
//! Ranges of integers up to 32 bits, of `usize` and `isize`, and of `char` are indexed. Ranges of
//! `u64`, `i64`, `u128` and `i128` may hold more items than a `usize` counts, so they are not
//! indexed. A short one still runs as if it were. A long one is cut in halves, and never walked
//! further than the consumer asks.
#![forbid(unsafe_code)]

use crate::convert::IntoParallelIterator;
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use crate::sources::character::{Position, characters};
use crate::sources::kit::indexed;
use integer::{IndexedRangeInteger, RangeInteger, Span};
use std::ops::Range;

pub(super) mod integer;

/// Parallel iterator over a range, for all integer types and `char`.
///
/// ```
/// use tine::prelude::*;
///
/// let total: u64 = (1..101u64).into_par_iter().sum();
/// assert_eq!(total, 5050);
/// ```
#[derive(Debug, Clone)]
pub struct Iter<T> {
    range: Range<T>,
}

/// For ranges of every integer type and of `char`.
impl<T> IntoParallelIterator for Range<T>
where
    Iter<T>: ParallelIterator,
{
    type Item = <Iter<T> as ParallelIterator>::Item;
    type Iter = Iter<T>;

    fn into_par_iter(self) -> Iter<T> {
        Iter { range: self }
    }
}

// The bounds on `T`, rather than one impl for each type, let the compiler infer the type of `0..100` from how
// its items are used.
impl<T: RangeInteger> ParallelIterator for Iter<T> {
    type Item = T;

    const KEEPS_ALL: bool = true;

    const KNOWS_LEN: Option<bool> = T::COUNTS;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        T::drive_range(self.range, consumer)
    }

    crate::kit::go_on::goes_on! { |it, to, folder| crate::plumbing::go_on(it, to, folder) }

    fn opt_len(&self) -> Option<usize> {
        T::count(&self.range)
    }

    fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
    where
        CB: ProducerCallback<T>,
    {
        T::with_range(self.range, make)
    }
}

impl<T: IndexedRangeInteger> IndexedParallelIterator for Iter<T> {
    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
        crate::plumbing::bridge(self, consumer)
    }

    fn len(&self) -> usize {
        T::count(&self.range).expect("an indexed range counts in usize")
    }

    fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
        callback.callback(Span(self.range))
    }
}

indexed! {
    [] Iter<char> => char;
    len(it) positions(&it.range).len();
    inner(it) positions(&it.range);
}

fn positions(range: &Range<char>) -> impl IndexedParallelIterator<Item = char> + use<> {
    characters(Position::of(range.start)..Position::of(range.end))
}
