//! Iterators that hand out fewer or more items than they said, and lengths
//! that no memory has.

use std::ops::Range;

use tine_iter::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
use tine_iter::prelude::*;

use crate::kit::{Census, Counted, in_pools, panic_of};

/// Says that there are `said` items, and hands out the numbers of `range`: missing items are missing at the
/// end, surplus items come in the last piece.
struct Liar<'c> {
    census: &'c Census,
    said: usize,
    range: Range<usize>,
}

impl<'c> ParallelIterator for Liar<'c> {
    type Item = Counted<'c>;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.said)
    }
}

impl IndexedParallelIterator for Liar<'_> {
    fn drive<C: Consumer<Self::Item>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn len(&self) -> usize {
        self.said
    }

    fn with_producer<CB: ProducerCallback<Self::Item>>(self, callback: CB) -> CB::Output {
        callback.callback(self)
    }
}

impl<'c> Producer for Liar<'c> {
    type Item = Counted<'c>;
    type IntoIter = Values<'c>;

    fn into_iter(self) -> Values<'c> {
        Values {
            census: self.census,
            range: self.range,
        }
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let mid = (self.range.start + index).min(self.range.end);
        let Liar {
            census,
            said,
            range: Range { start, end },
        } = self;
        let left = Liar {
            census,
            said: index,
            range: start..mid,
        };
        (
            left,
            Liar {
                census,
                said: said - index,
                range: mid..end,
            },
        )
    }
}

struct Values<'c> {
    census: &'c Census,
    range: Range<usize>,
}

impl<'c> Iterator for Values<'c> {
    type Item = Counted<'c>;

    fn next(&mut self) -> Option<Counted<'c>> {
        self.range.next().map(|n| self.census.value(n))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl DoubleEndedIterator for Values<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.range.next_back().map(|n| self.census.value(n))
    }
}

impl ExactSizeIterator for Values<'_> {}

/// Every way in which an indexed iterator writes in place.
fn every_way(said: usize, gives: usize, expect: impl Fn(&str)) {
    in_pools(|| {});
    let census = Census::default();
    let liar = || Liar {
        census: &census,
        said,
        range: 0..gives,
    };
    let mut left = Vec::new();
    let mut right = Vec::new();
    expect(&panic_of(|| liar().collect::<Vec<_>>()));
    expect(&panic_of(|| {
        liar()
            .map(|value| (value, ()))
            .unzip::<_, _, Vec<_>, Vec<_>>()
    }));
    expect(&panic_of(|| left.par_extend(liar())));
    expect(&panic_of(|| liar().collect_into_vec(&mut left)));
    let pairs = liar().map(|value| (value, ()));
    expect(&panic_of(|| pairs.unzip_into_vecs(&mut left, &mut right)));
    drop((left, right));
    assert_eq!(census.alive(), 0);
}

#[test]
fn too_few() {
    for (said, gives) in [(1, 0), (2, 1), (10, 9), (1000, 10), (1000, 999)] {
        every_way(said, gives, |message| {
            assert!(
                message.contains(&format!("expected {said} total writes, but got ")),
                "{message}"
            );
        });
    }
}

#[test]
fn too_many() {
    for (said, gives) in [(0, 1), (1, 2), (10, 11), (1000, 1001), (1000, 5000)] {
        every_way(said, gives, |message| {
            assert!(message.contains("too many values"), "{message}");
        });
    }
}

#[test]
fn more_than_memory() {
    let endless = || tine_iter::iter::repeat_n(7u64, usize::MAX);
    assert!(panic_of(|| endless().collect::<Vec<_>>()).contains("capacity overflow"));
    assert!(panic_of(|| endless().collect_into_vec(&mut Vec::new())).contains("capacity overflow"));
    let mut units = vec![(); 2];
    let more = tine_iter::iter::repeat_n((), usize::MAX);
    assert!(panic_of(|| units.par_extend(more)).contains("capacity overflow"));
    assert_eq!(units.len(), 2);
}
