//! What a range must know about its integers.
#![forbid(unsafe_code)]

use crate::plumbing::{
    Again, Folder, Producer, ProducerCallback, UnindexedConsumer, UnindexedProducer,
    bridge_producer_consumer, bridge_unindexed,
};
use std::ops::Range;

/// Every primitive integer. Public in name only, for the bounds of public impls.
pub trait RangeInteger: Sequenced + Ord {
    /// Runs a range into a consumer.
    fn drive_range<C: UnindexedConsumer<Self>>(range: Range<Self>, consumer: C) -> C::Result;

    /// Passes the number of items to `make`, and a producer of them to the callback that it
    /// returns.
    fn with_range<CB: ProducerCallback<Self>>(
        range: Range<Self>,
        make: impl FnOnce(usize) -> CB,
    ) -> CB::Output {
        let len = Self::count(&range);
        let len = len.expect("a range of more items than a usize counts cannot be scanned");
        make(len).callback(Span(range))
    }

    /// The number of items in a range, if it fits a `usize`.
    fn count(range: &Range<Self>) -> Option<usize>;

    /// Whether `count` always gives a number, if that is known.
    const COUNTS: Option<bool> = None;

    /// The next integer, if there is one.
    fn successor(self) -> Option<Self>;
}

/// The integers of which a range never holds more than `usize::MAX`.
pub trait IndexedRangeInteger: RangeInteger {}

/// How a range that a `usize` can count is split and walked.
pub trait Sequenced: Copy + Send {
    /// std's own range, or as good as that.
    type Sequence: Iterator<Item = Self> + DoubleEndedIterator + ExactSizeIterator;

    /// The sequential iterator.
    fn sequence(range: Range<Self>) -> Self::Sequence;

    /// The integer `steps` further on.
    fn advance(self, steps: usize) -> Self;

    /// Whether a range holds at least `items` items.
    fn reaches(range: &Range<Self>, items: usize) -> bool;
}

/// Produces the integers of a range that a `usize` can count.
pub(super) struct Span<T>(pub(super) Range<T>);

impl<T: Sequenced> Producer for Span<T> {
    type Item = T;
    type IntoIter = T::Sequence;
    const AGAIN: Again = Again::Always;

    fn again(&self) -> Self {
        Span(self.0.clone())
    }

    fn into_iter(self) -> T::Sequence {
        T::sequence(self.0)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        // Unsafe code may rely on all items lying in the range.
        assert!(
            T::reaches(&self.0, index),
            "a range was cut behind its end, at {index}"
        );
        let Range { start, end } = self.0;
        let middle = start.advance(index);
        (Span(start..middle), Span(middle..end))
    }
}

/// Produces the integers of a longer range.
struct Halves<T>(Range<T>);

/// An iterator whose `size_hint` is exact, although std does not say so of its type.
#[derive(Debug)]
pub struct Counted<I>(I);

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<I::Item> {
        self.0.nth(n)
    }

    #[inline]
    fn fold<A, F: FnMut(A, I::Item) -> A>(self, init: A, f: F) -> A {
        self.0.fold(init, f)
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Counted<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        self.0.next_back()
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        self.0.nth_back(n)
    }

    #[inline]
    fn rfold<A, F: FnMut(A, I::Item) -> A>(self, init: A, f: F) -> A {
        self.0.rfold(init, f)
    }
}

impl<I: Iterator> ExactSizeIterator for Counted<I> {}

/// The code that all integers share; `$sequence` is their sequential iterator.
macro_rules! integer {
    ($int:ident, $sequence:ty, $make:expr) => {
        impl Sequenced for $int {
            type Sequence = $sequence;

            fn sequence(range: Range<$int>) -> $sequence {
                $make(range)
            }

            // A signed range may be longer than its type's largest value. Then the cast wraps, and
            // the sum wraps back.
            fn advance(self, steps: usize) -> $int {
                self.wrapping_add(steps as $int)
            }

            fn reaches(range: &Range<$int>, items: usize) -> bool {
                Self::count(range).is_some_and(|count| items <= count)
            }
        }
    };
}

macro_rules! indexed {
    ($($int:ident)*) => {$(
        integer! { $int, Range<$int>, std::convert::identity }

        impl RangeInteger for $int {
            fn drive_range<C: UnindexedConsumer<$int>>(
                range: Range<$int>,
                consumer: C,
            ) -> C::Result {
                bridge_producer_consumer(range.len(), Span(range), consumer)
            }

            const COUNTS: Option<bool> = Some(true);

            fn count(range: &Range<$int>) -> Option<usize> {
                Some(range.len())
            }

            fn successor(self) -> Option<$int> {
                self.checked_add(1)
            }
        }

        impl IndexedRangeInteger for $int {}
    )*};
}

macro_rules! unindexed {
    ($($int:ident counted by $unsigned:ident)*) => {$(
        integer! { $int, Counted<Range<$int>>, Counted }

        impl RangeInteger for $int {
            fn drive_range<C: UnindexedConsumer<$int>>(
                range: Range<$int>,
                consumer: C,
            ) -> C::Result {
                if const { size_of::<$int>() <= size_of::<usize>() } {
                    let len = range.distance() as usize;
                    return bridge_producer_consumer(len, Span(range), consumer);
                }
                match Self::count(&range) {
                    Some(len) => bridge_producer_consumer(len, Span(range), consumer),
                    None => bridge_unindexed(Halves(range), consumer),
                }
            }

            const COUNTS: Option<bool> = match size_of::<$int>() <= size_of::<usize>() {
                true => Some(true),
                false => None,
            };

            fn count(range: &Range<$int>) -> Option<usize> {
                usize::try_from(range.distance()).ok()
            }

            fn successor(self) -> Option<$int> {
                self.checked_add(1)
            }
        }

        impl Distance<$unsigned> for Range<$int> {
            fn distance(&self) -> $unsigned {
                if self.is_empty() { 0 } else { self.end.wrapping_sub(self.start) as $unsigned }
            }
        }

        impl UnindexedProducer for Halves<$int> {
            type Item = $int;

            fn split(self) -> (Self, Option<Self>) {
                let Range { start, end } = self.0;
                match (start..end).distance() / 2 {
                    0 => (self, None),
                    half => {
                        let middle = start.wrapping_add(half as $int);
                        (Halves(start..middle), Some(Halves(middle..end)))
                    }
                }
            }

            fn fold_with<F: Folder<$int>>(self, folder: F) -> F {
                folder.consume_iter(self.0)
            }
        }
    )*};
}

/// The number of integers in a range, in a type that always holds it.
trait Distance<U> {
    fn distance(&self) -> U;
}

indexed! { u8 u16 u32 usize i8 i16 i32 isize }
unindexed! { u64 counted by u64 i64 counted by u64 u128 counted by u128 i128 counted by u128 }
