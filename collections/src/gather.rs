//! Bringing keyed values together: every value of a parallel iterator, in lists
//! by the part of its key's hash, in the iterator's order.
#![forbid(unsafe_code)]

use crate::partition::{List, Scatter, par_map, transpose};
use crate::parts::part_of;
use crate::tag::Tag;
use std::hash::{BuildHasher, Hash};
use std::iter;
use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use tine_iter::iter::ParallelIterator;
use tine_iter::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};

/// Up to this many values are kept; more are scattered. Scattering to hundreds of parts costs more
/// than it gives where each part gets a few dozen values.
pub(crate) const START: usize = if cfg!(miri) { 1 << 8 } else { 1 << 14 };

/// Whether an iterator says that it has no more than `room` items.
#[inline]
pub(crate) fn fits(items: &impl Iterator, room: usize) -> bool {
    items.size_hint().1.is_some_and(|most| most <= room)
}

/// What few values are kept in, before scattering them pays.
pub(crate) trait Bag<T, S>: Default + Send {
    /// Up to this many values stay in bags where it is known that no more come.
    const FEW: usize;
    /// The same where one thread takes all.
    const ALONE: usize = Self::FEW;
    /// The same where it is not known how many come.
    const UNKNOWN: usize = START;
    /// Nanoseconds of work below which a second bag costs more than another thread saves, where
    /// items are cheap.
    const WORTH: u64 = 0;

    /// The same where it is known that this number of values come, more than `FEW`. If it is less than [`START`], a bag may take
    /// it for the number of values that tell what follows, and stop at `START`.
    fn many(_count: usize) -> usize {
        Self::UNKNOWN
    }

    /// The first of all bags; this number of values may come to all of them together, and may stay in bags.
    fn first(_expected: usize) -> Self {
        Self::default()
    }

    fn len(&self) -> usize;

    /// Whether values are scattered from now on, where a bag holds `few` at most.
    fn is_full(&self, few: usize) -> bool {
        self.len() > few
    }

    /// Room for `more` values, which come next.
    fn reserve(&mut self, _more: usize) {}

    /// Puts in values until there are none, or more than `most` are here.
    fn fill(&mut self, values: &mut impl Iterator<Item = T>, most: usize, hasher: &S);

    /// Puts in all values, if it is known that `few` at most are here then; else hands them back. The loop
    /// need not stop, so the place in the values stays in a register.
    fn take<I: Iterator<Item = T>>(&mut self, values: I, _few: usize, _: &S) -> Result<(), I> {
        Err(values)
    }

    /// Adds values that come later in the input.
    fn append(&mut self, later: Self, hasher: &S);

    /// Whether most of what the smaller of both has is in the larger one too.
    fn is_like(&self, _other: &Self, _hasher: &S) -> bool {
        false
    }
}

/// All values, in order.
impl<T: Send, S> Bag<T, S> for Vec<T> {
    const FEW: usize = START;

    fn len(&self) -> usize {
        self.len()
    }

    fn reserve(&mut self, more: usize) {
        self.reserve(more.min(<Self as Bag<T, S>>::FEW));
    }

    #[inline]
    fn fill(&mut self, values: &mut impl Iterator<Item = T>, most: usize, _: &S) {
        // As many as there is room for, so that the check for more is no part of the loop.
        let room = most.saturating_add(1).saturating_sub(self.len());
        self.extend(values.take(room));
    }

    fn append(&mut self, mut later: Self, _: &S) {
        self.append(&mut later);
    }
}

/// What many values go to.
pub(crate) trait Heap<B, K, V, S>: Send {
    /// What goes to `parts` parts begins with the values that were kept in a bag.
    fn begin(parts: usize, first: B, hasher: &S) -> Self;

    /// Adds values that come next.
    fn pour(&mut self, values: impl Iterator<Item = (K, V)>, hasher: &S);
}

/// Each value in the list of its part.
impl<G, B, K, V, S> Heap<B, K, V, S> for Scatter<(G, (K, V))>
where
    G: Tag,
    B: IntoIterator<Item = (K, V)>,
    K: Hash + Send,
    V: Send,
    S: BuildHasher,
{
    fn begin(parts: usize, first: B, hasher: &S) -> Self {
        let mut scatter = Scatter::new(parts);
        Heap::<B, K, V, S>::pour(&mut scatter, first.into_iter(), hasher);
        scatter
    }

    #[inline]
    fn pour(&mut self, mut values: impl Iterator<Item = (K, V)>, hasher: &S) {
        let parts = self.parts();
        values.by_ref().for_each(|pair| {
            let hash = hasher.hash_one(&pair.0);
            self.push(part_of(hash, parts), (G::keep(hash), pair));
        });
    }
}

/// A worker's output for one piece of the input.
pub(crate) enum Run<B, H> {
    Few(B),
    Many(H),
}

/// All workers' lists of one part, in order.
pub(crate) type Lists<G, T> = Vec<List<(G, T)>>;

/// Everything that was gathered.
pub(crate) enum Gathered<G, T, B = Vec<T>> {
    /// Few values, in their bag.
    Few(B),
    /// Many values, part by part, each in order.
    Many(Vec<Lists<G, T>>),
}

/// Gathers the values that `read` makes of the items. Uses lists for `parts`
/// parts if there are more than a few values. One thread does it if it is to do so `alone`.
pub(crate) fn gather<G, B, I, K, V, S>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, V) + Sync),
    hasher: &S,
    parts: usize,
    alone: bool,
) -> Gathered<G, (K, V), B>
where
    G: Tag,
    B: Bag<(K, V), S> + IntoIterator<Item = (K, V)>,
    I: ParallelIterator,
    K: Hash + Send,
    V: Send,
    S: BuildHasher + Sync,
{
    match heaps::<Scatter<_>, B, _, _, _, _>(items, read, hasher, parts, alone) {
        Run::Few(bag) => Gathered::Few(bag),
        Run::Many(scatters) => Gathered::Many(transpose(scatters)),
    }
}

/// Gathers the values that `read` makes of the items: few in a bag, more in a heap for each piece
/// that a worker took, in order. One worker takes all if it is to do so `alone`.
pub(crate) fn heaps<H, B, I, K, V, S>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, V) + Sync),
    hasher: &S,
    parts: usize,
    alone: bool,
) -> Run<B, Vec<H>>
where
    H: Heap<B, K, V, S>,
    B: Bag<(K, V), S>,
    I: ParallelIterator,
    K: Hash + Send,
    V: Send,
    S: BuildHasher + Sync,
{
    let expected = items.opt_len();
    let few = match expected {
        Some(count) if alone && count <= B::ALONE => B::ALONE,
        Some(count) if count <= B::FEW => B::FEW,
        Some(count) => B::many(count),
        None => B::UNKNOWN,
    };
    let plan = Plan {
        read,
        hasher,
        parts,
        alone,
        few,
        expected: AtomicUsize::new(expected.filter(|&count| count <= few).unwrap_or(0)),
    };
    let runs: Vec<Run<B, H>> = items.drive_unindexed(GatherConsumer {
        plan: &plan,
        made: PhantomData,
    });
    let mut bags = Vec::new();
    let mut heaps = Vec::new();
    for run in runs {
        match run {
            Run::Few(bag) if heaps.is_empty() => bags.push(bag),
            run => heaps.push(run),
        }
    }
    if heaps.is_empty() && plan.may_merge(&bags) {
        return Run::Few(merge(bags, hasher));
    }
    let runs = bags.into_iter().map(Run::Few).chain(heaps).collect();
    let heap = |run| match run {
        Run::Many(heap) => heap,
        Run::Few(bag) => H::begin(parts, bag, hasher),
    };
    Run::Many(par_map(runs, &heap))
}

/// The most bags that are merged one into the other because they hold the same.
const ALIKE: usize = 8;
/// The most values of bags that are merged though they hold other values.
const LITTLE: usize = 1 << 17;

/// All bags in one, in order.
fn merge<T, B: Bag<T, S>, S: Sync>(mut bags: Vec<B>, hasher: &S) -> B {
    while bags.len() > 1 {
        let mut pairs = Vec::new();
        let mut rest = bags.into_iter();
        while let Some(bag) = rest.next() {
            pairs.push((bag, rest.next()));
        }
        bags = par_map(pairs, &|(mut bag, later): (B, Option<B>)| {
            later
                .into_iter()
                .for_each(|later| bag.append(later, hasher));
            bag
        });
    }
    bags.pop().unwrap_or_default()
}

/// How items are read and where they belong.
struct Plan<'a, R, S> {
    read: &'a R,
    hasher: &'a S,
    parts: usize,
    /// Whether one thread is to do it.
    alone: bool,
    /// The most values of a bag, or what [`Bag::many`] says.
    few: usize,
    /// How many values the first bag is to expect. The thread that begins first takes it.
    expected: AtomicUsize,
}

impl<R, S> Plan<'_, R, S> {
    /// Whether bags are one bag in the end: if all of them hold little, or the same.
    fn may_merge<T, B: Bag<T, S>>(&self, bags: &[B]) -> bool {
        let sum = bags.iter().map(B::len).fold(0, usize::saturating_add);
        let alike = |two: &[B]| two[0].is_like(&two[1], self.hasher);
        let most = if self.alone { B::ALONE } else { LITTLE };
        sum <= self.few.max(START).min(most) || (bags.len() <= ALIKE && bags.windows(2).all(alike))
    }
}

struct GatherConsumer<'a, R, S, B, H> {
    plan: &'a Plan<'a, R, S>,
    made: PhantomData<fn() -> (B, H)>,
}

struct GatherFolder<'a, R, S, B, H> {
    plan: &'a Plan<'a, R, S>,
    /// On the heap, since folders travel by value.
    run: Box<Run<B, H>>,
}

struct Concatenate;

impl<T: Send> Reducer<Vec<T>> for Concatenate {
    fn reduce(self, mut left: Vec<T>, right: Vec<T>) -> Vec<T> {
        left.extend(right);
        left
    }
}

impl<'a, R, S, T, K, V, B, H> Consumer<T> for GatherConsumer<'a, R, S, B, H>
where
    H: Heap<B, K, V, S>,
    K: Hash + Send,
    V: Send,
    B: Bag<(K, V), S>,
    R: Fn(T) -> (K, V) + Sync,
    S: BuildHasher + Sync,
{
    type Folder = GatherFolder<'a, R, S, B, H>;
    type Reducer = Concatenate;
    type Result = Vec<Run<B, H>>;

    fn split_at(self, _: usize) -> (Self, Self, Concatenate) {
        (self.split_off_left(), self, Concatenate)
    }

    // One run from block to block; another only for what another thread takes.
    const ADVANCES: bool = true;

    fn worth(&self) -> u64 {
        if self.plan.alone { u64::MAX } else { B::WORTH }
    }

    fn advance(self, count: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let mut folder = folder.unwrap_or_else(|| self.split_off_left().into_folder());
        if let Run::Few(bag) = &mut *folder.run {
            bag.reserve(count);
        }
        (folder, self)
    }

    fn into_folder(self) -> Self::Folder {
        // Relaxed: whichever thread takes it, one alone does.
        let expected = self.plan.expected.swap(0, Ordering::Relaxed);
        GatherFolder {
            plan: self.plan,
            run: Box::new(Run::Few(B::first(expected))),
        }
    }

    fn full(&self) -> bool {
        false
    }
}

impl<R, S, T, K, V, B, H> UnindexedConsumer<T> for GatherConsumer<'_, R, S, B, H>
where
    H: Heap<B, K, V, S>,
    K: Hash + Send,
    V: Send,
    B: Bag<(K, V), S>,
    R: Fn(T) -> (K, V) + Sync,
    S: BuildHasher + Sync,
{
    fn split_off_left(&self) -> Self {
        GatherConsumer {
            plan: self.plan,
            made: PhantomData,
        }
    }

    fn to_reducer(&self) -> Concatenate {
        Concatenate
    }
}

impl<R, S, B, H> GatherFolder<'_, R, S, B, H> {
    #[inline]
    fn put_all<K: Hash, V>(&mut self, mut pairs: impl Iterator<Item = (K, V)>)
    where
        B: Bag<(K, V), S>,
        H: Heap<B, K, V, S>,
    {
        let plan = self.plan;
        if let Run::Few(bag) = &mut *self.run {
            pairs = match bag.take(pairs, plan.few, plan.hasher) {
                Ok(()) => return,
                Err(pairs) => pairs,
            };
            bag.fill(&mut pairs, plan.few, plan.hasher);
            if !bag.is_full(plan.few) {
                return;
            }
            *self.run = Run::Many(H::begin(plan.parts, mem::take(bag), plan.hasher));
        }
        if let Run::Many(heap) = &mut *self.run {
            heap.pour(pairs, plan.hasher);
        }
    }
}

impl<R, S, T, K, V, B, H> Folder<T> for GatherFolder<'_, R, S, B, H>
where
    H: Heap<B, K, V, S>,
    K: Hash + Send,
    V: Send,
    B: Bag<(K, V), S>,
    R: Fn(T) -> (K, V) + Sync,
    S: BuildHasher + Sync,
{
    type Result = Vec<Run<B, H>>;

    fn consume(mut self, item: T) -> Self {
        let pair = (self.plan.read)(item);
        self.put_all(iter::once(pair));
        self
    }

    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let read = self.plan.read;
        self.put_all(items.into_iter().map(read));
        self
    }

    fn complete(self) -> Self::Result {
        match *self.run {
            Run::Few(bag) if bag.len() == 0 => Vec::new(),
            run => vec![run],
        }
    }

    fn full(&self) -> bool {
        false
    }
}
