//! A source, an adapter and a consumer as other crates write them, with nothing but the public plumbing: a
//! range of squares, a counter on the way, as progress bars are made, and sources that use a consumer in ways of
//! their own.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tine_iter::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, UnindexedProducer,
    bridge, bridge_unindexed,
};
use tine_iter::prelude::*;

use crate::{same, same_indexed};

/// Squares of a range.
struct Squares(u64, u64);

impl ParallelIterator for Squares {
    type Item = u64;

    fn drive_unindexed<C: UnindexedConsumer<u64>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl IndexedParallelIterator for Squares {
    fn drive<C: Consumer<u64>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn len(&self) -> usize {
        (self.1 - self.0) as usize
    }

    fn with_producer<CB: ProducerCallback<u64>>(self, callback: CB) -> CB::Output {
        callback.callback(self)
    }
}

impl Producer for Squares {
    type Item = u64;
    type IntoIter = std::vec::IntoIter<u64>;

    fn into_iter(self) -> Self::IntoIter {
        (self.0..self.1)
            .map(|n| n * n)
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        assert!(index <= self.len());
        let mid = self.0 + index as u64;
        (Squares(self.0, mid), Squares(mid, self.1))
    }
}

/// The same, without a length.
struct Unsized(Squares);

impl ParallelIterator for Unsized {
    type Item = u64;

    fn drive_unindexed<C: UnindexedConsumer<u64>>(self, consumer: C) -> C::Result {
        bridge_unindexed(self, consumer)
    }
}

impl UnindexedProducer for Unsized {
    type Item = u64;

    fn split(self) -> (Self, Option<Self>) {
        let len = self.0.len();
        if len < 2 {
            return (self, None);
        }
        let (left, right) = self.0.split_at(len / 2);
        (Unsized(left), Some(Unsized(right)))
    }

    fn fold_with<F: Folder<u64>>(self, folder: F) -> F {
        folder.consume_iter(self.0.into_iter())
    }
}

/// Counts what passes.
struct Counted<'c, I>(I, &'c AtomicUsize);

impl<I: ParallelIterator> ParallelIterator for Counted<'_, I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        self.0.drive_unindexed(Counted(consumer, self.1))
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Counted<'_, I> {
    fn drive<C: Consumer<I::Item>>(self, consumer: C) -> C::Result {
        self.0.drive(Counted(consumer, self.1))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn with_producer<CB: ProducerCallback<I::Item>>(self, callback: CB) -> CB::Output {
        self.0.with_producer(callback)
    }
}

impl<'c, T, C: Consumer<T>> Consumer<T> for Counted<'c, C> {
    type Folder = Counted<'c, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.0.split_at(index);
        (Counted(left, self.1), Counted(right, self.1), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        Counted(self.0.into_folder(), self.1)
    }

    fn full(&self) -> bool {
        self.0.full()
    }
}

impl<T, C: UnindexedConsumer<T>> UnindexedConsumer<T> for Counted<'_, C> {
    fn split_off_left(&self) -> Self {
        Counted(self.0.split_off_left(), self.1)
    }

    fn to_reducer(&self) -> C::Reducer {
        self.0.to_reducer()
    }
}

impl<T, F: Folder<T>> Folder<T> for Counted<'_, F> {
    type Result = F::Result;

    fn consume(self, item: T) -> Self {
        self.1.fetch_add(1, Relaxed);
        Counted(self.0.consume(item), self.1)
    }

    fn complete(self) -> F::Result {
        self.0.complete()
    }

    fn full(&self) -> bool {
        self.0.full()
    }
}

fn squares(len: u64) -> impl Clone + DoubleEndedIterator<Item = u64> + ExactSizeIterator {
    (0..len as u32).map(|n| u64::from(n) * u64::from(n))
}

#[test]
fn sources() {
    for len in [0, 1, 2, 8] {
        same_indexed!(let () = (); Squares(0, len), squares(len));
        same_indexed!(let () = (); Squares(0, len).enumerate().rev(), squares(len).enumerate().rev());
    }
    for len in [0, 1, 2, 8, 1000] {
        same!(let () = (); Squares(0, len).map(|n| n + 1), squares(len).map(|n| n + 1));
        same!(let () = (); Unsized(Squares(0, len)), squares(len));
        same!(let () = (); Unsized(Squares(0, len)).filter(|n| n % 2 == 0), squares(len).filter(|n| n % 2 == 0));
        same!(let () = (); Squares(0, len).chain(Unsized(Squares(0, len))), squares(len).chain(squares(len)));
    }
}

#[test]
fn an_adapter() {
    for len in [0, 1, 7, 1000] {
        let count = AtomicUsize::new(0);
        let sum: u64 = Counted(Squares(0, len), &count).sum();
        assert_eq!(
            (sum, count.swap(0, Relaxed)),
            (squares(len).sum(), len as usize)
        );
        let all: Vec<u64> = Counted(Unsized(Squares(0, len)), &count).collect();
        assert_eq!(
            (all, count.swap(0, Relaxed)),
            (squares(len).collect(), len as usize)
        );
        let mut all = Vec::new();
        Counted(Squares(0, len).map(|n| n + 1), &count).collect_into_vec(&mut all);
        assert_eq!(
            (all, count.swap(0, Relaxed)),
            (squares(len).map(|n| n + 1).collect(), len as usize)
        );
        let first = Counted(Squares(0, len), &count).find_first(|n| *n > 8);
        assert_eq!(first, squares(len).find(|n| *n > 8));
        assert!(count.into_inner() <= len as usize);
    }
}

/// Items `from..to`, driven in that way.
#[derive(Clone, Copy, Debug)]
struct Own(How, u64, u64);

#[derive(Clone, Copy, Debug)]
enum How {
    /// What is split off is dropped, so it contributes nothing.
    DropsLeft,
    /// Nothing is split off.
    Whole,
    /// Both halves are used.
    Halves,
    /// There is only a look whether items are wanted.
    Looks,
}

impl ParallelIterator for Own {
    type Item = u64;

    fn drive_unindexed<C: UnindexedConsumer<u64>>(self, consumer: C) -> C::Result {
        let Own(how, from, to) = self;
        match how {
            How::DropsLeft => {
                drop(consumer.split_off_left());
                consumer.into_folder().consume_iter(from..to).complete()
            }
            How::Whole => consumer.into_folder().consume_iter(from..to).complete(),
            How::Halves => {
                let (left, reducer) = (consumer.split_off_left(), consumer.to_reducer());
                let mid = from.midpoint(to);
                let right = consumer.into_folder().consume_iter(mid..to).complete();
                let left = left.into_folder().consume_iter(from..mid).complete();
                reducer.reduce(left, right)
            }
            How::Looks => {
                let left = consumer.split_off_left();
                if left.full() || to == from {
                    return consumer.into_folder().complete();
                }
                consumer.into_folder().consume_iter(from..to).complete()
            }
        }
    }
}

/// What inner iterators come to is all there, however they use the consumers that they make.
#[test]
fn inner_iterators_that_drop_consumers_lose_nothing() {
    for how in [How::DropsLeft, How::Whole, How::Halves, How::Looks] {
        for (outer, each) in [(0, 1), (1, 1), (1000, 1), (300, 5), (3, 2000)] {
            let inner = |n| Own(how, each * n, each * (n + 1));
            let items = || (0..outer).into_par_iter().flat_map(inner);
            let all: Vec<u64> = (0..outer * each).collect();
            let what = format!("{how:?}: {outer} of {each}");
            assert_eq!(items().collect::<Vec<_>>(), all, "{what}");
            assert_eq!(items().map(|n| n + 1).filter(|_| true).count(), all.len());
            let mut more = vec![7];
            more.par_extend(items());
            assert_eq!(more[1..], all, "{what}");
            let map: HashMap<_, _> = items().map(|n| (n, ())).collect();
            assert_eq!(map.len(), all.len(), "{what}");
            let text: String = items().map(|n| char::from(b'a' + (n % 26) as u8)).collect();
            assert_eq!(text.len(), all.len(), "{what}");
            let (left, right): (Vec<_>, Vec<_>) = items().map(|n| (n, n)).unzip();
            assert_eq!((&left, &right), (&all, &all), "{what}");
            // Behind others: an adapter of tine, and a second `flat_map`, inside and outside.
            let mapped = (0..outer).into_par_iter().flat_map(|n| inner(n).map(|n| n));
            assert_eq!(mapped.collect::<Vec<_>>(), all, "{what}");
            let twice = items().flat_map(|n| vec![n]);
            assert_eq!(twice.collect::<Vec<_>>(), all, "{what}");
            let twice = items().flat_map(|n| Own(how, n, n + 1));
            assert_eq!(twice.collect::<Vec<_>>(), all, "{what}");
            let nested = (0..outer)
                .into_par_iter()
                .flat_map(|n| vec![n].into_par_iter().flat_map(inner));
            assert_eq!(nested.collect::<Vec<_>>(), all, "{what}");
            let chained = (0..outer)
                .into_par_iter()
                .flat_map(|n| inner(n).chain(None));
            assert_eq!(chained.collect::<Vec<_>>(), all, "{what}");
            let either = (0..outer).into_par_iter().flat_map(|n| match n % 2 {
                0 => either::Left(inner(n)),
                _ => either::Right(each * n..each * (n + 1))
                    .map_right(IntoParallelIterator::into_par_iter),
            });
            assert_eq!(either.collect::<Vec<_>>(), all, "{what}");
        }
    }
}
