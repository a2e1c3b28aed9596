//! `deterministic`: the same tree as on one machine, computed by all ranks.
//!
//! The tree covers the positions of *all* items, and only their number decides where it is cut. A
//! node within one rank is computed there. A leaf across a border goes to the rank of its first
//! item, and the other ranks send that rank their items of the leaf. Then every rank gathers these
//! values, a few for each rank, and computes the rest of the tree.
//!
//! ```text
//! items      |<------- rank 0 ------->|<------- rank 1 ------->|
//! leaves     [      ][      ][      ][|     ][      ][      ][  ]
//! computed   └──────┬──────┘ └─ 0 ──┘ └ 0 ─┘ └──────┬───────┘
//!                 by 0                 by 0        by 1
//! ```
#![forbid(unsafe_code)]

use crate::cluster::{Call, Site};
use crate::iter::DistIter;
use crate::shuffle::send_parts;
use crate::travel::Travel;
use std::collections::HashMap;
use std::fmt;
use std::iter::{Product, Sum};
use std::marker::PhantomData;
use std::panic::Location;
use tine_iter::iter::plumbing::{
    Producer, ProducerCallback, UnindexedConsumer, bridge_node, leaf_size, middle,
};
use tine_iter::prelude::*;

impl<I: IndexedParallelIterator<Item: Travel>> DistIter<I> {
    /// Makes sums and other reductions the same to the last bit, whatever the number of ranks and
    /// threads. They equal the results of tine's own `deterministic` on one machine.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let part = |i: usize| 1.0 / (i as f64 + 0.5);
    /// let here: f64 = (0..5000).into_par_iter().map(part).deterministic().sum();
    /// tine_cluster::run_threads(3, |c| {
    ///     let there: f64 = c.generate(5000, part).par_iter().copied().deterministic().sum();
    ///     assert_eq!(there.to_bits(), here.to_bits());
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn deterministic(self) -> Deterministic<I> {
        Deterministic { base: self }
    }
}

/// See [`DistIter::deterministic`].
#[must_use = "pipelines do nothing until they are consumed"]
#[derive(Clone)]
pub struct Deterministic<I> {
    base: DistIter<I>,
}

impl<I: IndexedParallelIterator<Item: Travel>> Deterministic<I> {
    /// The sum of the items. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let sum: f32 = c.generate(9, |i| i as f32).into_par_iter().deterministic().sum();
    ///     assert_eq!(sum, 36.0);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn sum<S>(self) -> S
    where
        S: Travel + Sum<I::Item> + Sum<S>,
    {
        self.climb(
            "deterministic sum",
            Location::caller(),
            &Total::<S>(PhantomData),
        )
    }

    /// The product of the items. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let all: f64 = c.generate(5, |i| 1.0 + i as f64).into_par_iter().deterministic().product();
    ///     assert_eq!(all, 120.0);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn product<P>(self) -> P
    where
        P: Travel + Product<I::Item> + Product<P>,
    {
        self.climb(
            "deterministic product",
            Location::caller(),
            &Times::<P>(PhantomData),
        )
    }

    /// The items put together by `f`, beginning with those of `identity`. (C)
    ///
    /// All ranks give the same `identity`, which is not compared.
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let max = c.generate(9, |i| i as f64).into_par_iter().deterministic();
    ///     assert_eq!(max.reduce(|| 0.0, f64::max), 8.0);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce<N, F>(self, identity: N, f: F) -> I::Item
    where
        N: Fn() -> I::Item + Sync + Send,
        F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
    {
        self.climb(
            "deterministic reduce",
            Location::caller(),
            &From(identity, f),
        )
    }

    /// The items put together by `f`; `None` if there are none. (C)
    ///
    /// ```
    /// tine_cluster::run_threads(3, |c| {
    ///     let sum = c.generate(9, |i| i as f64).into_par_iter().deterministic();
    ///     assert_eq!(sum.reduce_with(|a, b| a + b), Some(36.0));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn reduce_with<F>(self, f: F) -> Option<I::Item>
    where
        F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
    {
        self.climb("deterministic reduce_with", Location::caller(), &With(f))
    }

    fn climb<B: Verb<I::Item>>(self, what: &'static str, site: Site, verb: &B) -> B::Value {
        let (cluster, iter) = self.base.into_both();
        let call = cluster.enter::<(I::Item, B::Value)>(what, site, iter.len() as u64);
        if cluster.size() == 1 {
            return verb.run(iter.deterministic());
        }
        let mine = iter.with_producer(Cut { call: &call, verb });
        if call.total() == 0 {
            return mine.empty.expect("nothing was run into nothing");
        }
        let mut values = mine.values;
        let leaf = send_parts(&call, cluster.form::<I::Item>(), mine.pieces).items;
        if let Some((start, len)) = mine.leaf {
            assert_eq!(leaf.len(), len, "ranks cut their items alike");
            let whole = leaf.into_par_iter().with_min_len(usize::MAX);
            values.push((start, len, verb.run(whole.deterministic())));
        }
        let all = call.all_gather_values(values).into_iter().flatten();
        let mut known: HashMap<(usize, usize), B::Value> = all
            .map(|(start, len, value)| ((start, len), value))
            .collect();
        let tree = Tree {
            size: mine.size,
            min: mine.min,
        };
        tree.climb(0, call.total(), verb, &mut known)
    }
}

impl<I> fmt::Debug for Deterministic<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deterministic").finish_non_exhaustive()
    }
}

/// How items are reduced, and how two values become one.
trait Verb<T> {
    type Value: Travel;

    fn run<N: ParallelIterator<Item = T>>(&self, node: N) -> Self::Value;
    fn join(&self, left: Self::Value, right: Self::Value) -> Self::Value;
}

struct Total<S>(PhantomData<S>);

impl<T: Send, S: Travel + Sum<T> + Sum<S>> Verb<T> for Total<S> {
    type Value = S;

    fn run<N: ParallelIterator<Item = T>>(&self, node: N) -> S {
        node.sum()
    }

    fn join(&self, left: S, right: S) -> S {
        [left, right].into_iter().sum()
    }
}

struct Times<S>(PhantomData<S>);

impl<T: Send, S: Travel + Product<T> + Product<S>> Verb<T> for Times<S> {
    type Value = S;

    fn run<N: ParallelIterator<Item = T>>(&self, node: N) -> S {
        node.product()
    }

    fn join(&self, left: S, right: S) -> S {
        [left, right].into_iter().product()
    }
}

struct From<N, F>(N, F);

impl<T, N, F> Verb<T> for From<N, F>
where
    T: Travel,
    N: Fn() -> T + Sync + Send,
    F: Fn(T, T) -> T + Sync + Send,
{
    type Value = T;

    fn run<I: ParallelIterator<Item = T>>(&self, node: I) -> T {
        node.reduce(&self.0, &self.1)
    }

    fn join(&self, left: T, right: T) -> T {
        (self.1)(left, right)
    }
}

struct With<F>(F);

impl<T, F> Verb<T> for With<F>
where
    T: Travel,
    F: Fn(T, T) -> T + Sync + Send,
{
    type Value = Option<T>;

    fn run<N: ParallelIterator<Item = T>>(&self, node: N) -> Option<T> {
        node.reduce_with(&self.0)
    }

    fn join(&self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some((self.0)(left, right)),
            (left, right) => left.or(right),
        }
    }
}

/// What decides the shape, apart from the number of items.
#[derive(Clone, Copy)]
struct Tree {
    size: usize,
    min: usize,
}

/// A part of the tree in which a rank has items, and all of a rank's items in order.
enum Span {
    /// All of a node.
    Node { start: usize, len: usize },
    /// `count` items of a leaf that begins at `start` and has `whole` of them.
    Piece {
        start: usize,
        whole: usize,
        count: usize,
    },
}

impl Tree {
    /// The parts of the node that lie in `begin..end`.
    fn spans(self, start: usize, len: usize, begin: usize, end: usize, found: &mut Vec<Span>) {
        let (first, last) = (start.max(begin), (start + len).min(end));
        if first >= last {
            return;
        }
        if last - first == len {
            return found.push(Span::Node { start, len });
        }
        match middle(len, self.size, self.min) {
            None => found.push(Span::Piece {
                start,
                whole: len,
                count: last - first,
            }),
            Some(mid) => {
                self.spans(start, mid, begin, end, found);
                self.spans(start + mid, len - mid, begin, end, found);
            }
        }
    }

    /// The value of a node from those of the nodes below.
    fn climb<T, B: Verb<T>>(
        self,
        start: usize,
        len: usize,
        verb: &B,
        known: &mut HashMap<(usize, usize), B::Value>,
    ) -> B::Value {
        if let Some(value) = known.remove(&(start, len)) {
            return value;
        }
        let mid = middle(len, self.size, self.min).expect("ranks cut their items alike");
        let left = self.climb(start, mid, verb, known);
        let right = self.climb(start + mid, len - mid, verb, known);
        verb.join(left, right)
    }
}

/// Cuts a rank's items into the spans of the tree, and runs the nodes.
struct Cut<'a, 'c, B> {
    call: &'a Call<'c>,
    verb: &'a B,
}

/// What a rank has computed, and what it has to send.
struct Mine<T, V> {
    size: usize,
    min: usize,
    values: Vec<(usize, usize, V)>,
    /// For each rank, items of the leaf that it has begun.
    pieces: Vec<Vec<T>>,
    /// The leaf that this rank has begun and others go on with.
    leaf: Option<(usize, usize)>,
    /// The value of no items, if there are none.
    empty: Option<V>,
}

impl<T: Travel, B: Verb<T>> ProducerCallback<T> for Cut<'_, '_, B> {
    type Output = Mine<T, B::Value>;

    fn callback<P: Producer<Item = T>>(self, producer: P) -> Self::Output {
        let Cut { call, verb } = self;
        let (me, ranks) = (call.cluster.rank(), call.cluster.size());
        let total = call.total();
        let (min, max) = (producer.min_len(), producer.max_len());
        let size = leaf_size(total, min, max);
        let mut mine = Mine {
            size,
            min,
            values: Vec::new(),
            pieces: (0..ranks).map(|_| Vec::new()).collect(),
            leaf: None,
            empty: None,
        };
        let node = |len, producer| Node {
            len,
            size,
            producer,
        };
        if total == 0 {
            mine.empty = Some(verb.run(node(0, producer)));
            return mine;
        }
        let offsets = call.offsets();
        let mut spans = Vec::new();
        let tree = Tree { size, min };
        tree.spans(0, total, offsets[me], offsets[me + 1], &mut spans);
        let mut rest = producer;
        for span in spans {
            match span {
                Span::Node { start, len } => {
                    let (items, after) = rest.split_at(len);
                    rest = after;
                    mine.values.push((start, len, verb.run(node(len, items))));
                }
                Span::Piece {
                    start,
                    whole,
                    count,
                } => {
                    let (items, after) = rest.split_at(count);
                    rest = after;
                    let owner = offsets.partition_point(|&begin| begin <= start) - 1;
                    if owner == me {
                        mine.leaf = Some((start, whole));
                    }
                    mine.pieces[owner].extend(items.into_iter());
                }
            }
        }
        mine
    }
}

/// A node of the tree as a parallel iterator.
struct Node<P> {
    len: usize,
    size: usize,
    producer: P,
}

impl<P: Producer<Item: Send>> ParallelIterator for Node<P> {
    type Item = P::Item;

    fn drive_unindexed<C: UnindexedConsumer<P::Item>>(self, consumer: C) -> C::Result {
        bridge_node(self.len, self.size, self.producer, consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, Tree};

    /// The spans of all ranks lie one behind the other, whatever the borders.
    #[test]
    fn spans_tile_the_items() {
        let tree = Tree { size: 5, min: 1 };
        for total in [1, 4, 5, 6, 20, 21, 99, 100] {
            for border in 0..=total {
                let mut at = 0;
                for (begin, end) in [(0, border), (border, total)] {
                    let mut spans = Vec::new();
                    tree.spans(0, total, begin, end, &mut spans);
                    for span in spans {
                        at += match span {
                            Span::Node { start, len } => {
                                assert_eq!(start, at);
                                len
                            }
                            Span::Piece {
                                start,
                                whole,
                                count,
                            } => {
                                assert!(start <= at && at + count <= start + whole);
                                count
                            }
                        };
                    }
                    assert_eq!(at, end);
                }
            }
        }
    }
}
