//! Parallel iterators over `a..=b`.
//!
//! Ranges of 8 and 16 bits and of `char` are indexed. The full range of a wider
//! type may hold more items than a `usize` counts.
#![forbid(unsafe_code)]

use crate::convert::IntoParallelIterator;
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use crate::sources::character::{Position, characters};
use crate::sources::empty::empty;
use crate::sources::kit::indexed;
use crate::sources::once::once;
use crate::sources::range::integer::RangeInteger;
use sealed::IndexedInclusive;
use std::ops::{Range, RangeInclusive};

/// Parallel iterator over an inclusive range, for all integer types and `char`.
///
/// ```
/// use tine::prelude::*;
///
/// let total: u64 = (1..=100u64).into_par_iter().sum();
/// assert_eq!(total, 5050);
/// ```
#[derive(Debug, Clone)]
pub struct Iter<T> {
    range: RangeInclusive<T>,
}

/// For ranges of every integer type and of `char`.
impl<T> IntoParallelIterator for RangeInclusive<T>
where
    Iter<T>: ParallelIterator,
{
    type Item = <Iter<T> as ParallelIterator>::Item;
    type Iter = Iter<T>;

    fn into_par_iter(self) -> Iter<T> {
        Iter { range: self }
    }
}

/// The same items in half-open ranges.
enum HalfOpen<T> {
    Empty,
    Range(Range<T>),
    /// The range up to the largest value of the type, and that value.
    Largest(Range<T>, T),
}

impl<T: RangeInteger> Iter<T> {
    fn half_open(&self) -> HalfOpen<T> {
        // A range that was iterated to its end is empty.
        if self.range.is_empty() {
            return HalfOpen::Empty;
        }
        let (start, end) = (*self.range.start(), *self.range.end());
        match end.successor() {
            Some(next) => HalfOpen::Range(start..next),
            None => HalfOpen::Largest(start..end, end),
        }
    }
}

impl<T: RangeInteger> ParallelIterator for Iter<T> {
    type Item = T;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        match self.half_open() {
            HalfOpen::Empty => empty().drive_unindexed(consumer),
            HalfOpen::Range(range) => range.into_par_iter().drive_unindexed(consumer),
            HalfOpen::Largest(range, end) => range
                .into_par_iter()
                .chain(once(end))
                .drive_unindexed(consumer),
        }
    }

    crate::kit::go_on::goes_on! { |it, to, folder| crate::plumbing::go_on(it, to, folder) }

    fn opt_len(&self) -> Option<usize> {
        match self.half_open() {
            HalfOpen::Empty => Some(0),
            HalfOpen::Range(range) => T::count(&range),
            HalfOpen::Largest(range, _) => T::count(&range)?.checked_add(1),
        }
    }

    fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
    where
        CB: ProducerCallback<T>,
    {
        match self.half_open() {
            HalfOpen::Empty => empty().with_items(make),
            HalfOpen::Range(range) => range.into_par_iter().with_items(make),
            HalfOpen::Largest(range, end) => {
                range.into_par_iter().chain(once(end)).with_items(make)
            }
        }
    }
}

mod sealed {
    use crate::sources::range::integer::IndexedRangeInteger;

    /// The integers whose inclusive ranges are indexed.
    pub trait IndexedInclusive: IndexedRangeInteger {}

    impl IndexedInclusive for u8 {}
    impl IndexedInclusive for u16 {}
    impl IndexedInclusive for i8 {}
    impl IndexedInclusive for i16 {}
}

impl<T: IndexedInclusive> IndexedParallelIterator for Iter<T> {
    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
        match self.half_open() {
            HalfOpen::Empty => empty().drive(consumer),
            HalfOpen::Range(range) => range.into_par_iter().drive(consumer),
            HalfOpen::Largest(range, end) => range.into_par_iter().chain(once(end)).drive(consumer),
        }
    }

    fn len(&self) -> usize {
        self.opt_len().expect("a range of 16 bits counts in usize")
    }

    fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
        match self.half_open() {
            HalfOpen::Empty => empty().with_producer(callback),
            HalfOpen::Range(range) => range.into_par_iter().with_producer(callback),
            HalfOpen::Largest(range, end) => range
                .into_par_iter()
                .chain(once(end))
                .with_producer(callback),
        }
    }
}

indexed! {
    [] Iter<char> => char;
    len(it) positions(&it.range).len();
    inner(it) positions(&it.range);
}

fn positions(range: &RangeInclusive<char>) -> impl IndexedParallelIterator<Item = char> + use<> {
    let (start, end) = (Position::of(*range.start()), Position::after(*range.end()));
    characters(if range.is_empty() {
        start..start
    } else {
        start..end
    })
}
