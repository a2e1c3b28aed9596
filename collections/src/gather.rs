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
const START: usize = 1 << 14;

/// What few values are kept in, before scattering them pays.
pub(crate) trait Bag<T, S>: IntoIterator<Item = T> + Default + Send {
    /// Up to this many values stay in bags where it is known that no more come; of unknown numbers
    /// up to [`START`].
    const FEW: usize;
    /// Nanoseconds of work below which a second bag costs more than another thread saves.
    const WORTH: u64 = 0;

    /// The first of all bags; so many values may come to all of them together.
    fn first(_expected: usize) -> Self {
        Self::default()
    }

    fn len(&self) -> usize;

    /// Room for `more` values, which come next.
    fn reserve(&mut self, _more: usize) {}

    /// Puts in values until there are none, or more than `most` are here.
    fn fill(&mut self, values: &mut impl Iterator<Item = T>, most: usize, hasher: &S);

    /// Adds values that come later in the input.
    fn append(&mut self, later: Self, hasher: &S);
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
pub(crate) trait Heap<K, V, S>: Send {
    /// What goes to `parts` parts begins with the values that were kept in a bag.
    fn begin(parts: usize, first: impl IntoIterator<Item = (K, V)>, hasher: &S) -> Self;

    /// Adds values that come next.
    fn pour(&mut self, values: impl Iterator<Item = (K, V)>, hasher: &S);
}

/// Each value in the list of its part.
impl<G: Tag, K: Hash + Send, V: Send, S: BuildHasher> Heap<K, V, S> for Scatter<(G, (K, V))> {
    fn begin(parts: usize, first: impl IntoIterator<Item = (K, V)>, hasher: &S) -> Self {
        let mut scatter = Scatter::new(parts);
        scatter.pour(first.into_iter(), hasher);
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
/// parts if there are more than a few values.
pub(crate) fn gather<G, B, I, K, V, S>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, V) + Sync),
    hasher: &S,
    parts: usize,
) -> Gathered<G, (K, V), B>
where
    G: Tag,
    B: Bag<(K, V), S>,
    I: ParallelIterator,
    K: Hash + Send,
    V: Send,
    S: BuildHasher + Sync,
{
    match heaps::<Scatter<_>, B, _, _, _, _>(items, read, hasher, parts) {
        Run::Few(bag) => Gathered::Few(bag),
        Run::Many(scatters) => Gathered::Many(transpose(scatters)),
    }
}

/// Gathers the values that `read` makes of the items: few in a bag, more in a heap for each piece
/// that a worker took, in order.
pub(crate) fn heaps<H, B, I, K, V, S>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, V) + Sync),
    hasher: &S,
    parts: usize,
) -> Run<B, Vec<H>>
where
    H: Heap<K, V, S>,
    B: Bag<(K, V), S>,
    I: ParallelIterator,
    K: Hash + Send,
    V: Send,
    S: BuildHasher + Sync,
{
    let expected = items.opt_len();
    let plan = Plan {
        read,
        hasher,
        parts,
        few: match expected {
            Some(count) if count <= B::FEW => B::FEW,
            _ => START,
        },
        expected: AtomicUsize::new(expected.unwrap_or(0)),
    };
    let runs: Vec<Run<B, H>> = items.drive_unindexed(GatherConsumer {
        plan: &plan,
        made: PhantomData,
    });
    let sizes = runs.iter().map(|run| match run {
        Run::Few(bag) => bag.len(),
        Run::Many(_) => usize::MAX,
    });
    let many = runs.iter().any(|run| matches!(run, Run::Many(_)));
    if !many && sizes.fold(0, usize::saturating_add) <= plan.few {
        let mut bags = runs.into_iter().map(|run| match run {
            Run::Few(bag) => bag,
            Run::Many(_) => unreachable!("one run alone is too much"),
        });
        let mut all = bags.next().unwrap_or_default();
        bags.for_each(|bag| all.append(bag, hasher));
        return Run::Few(all);
    }
    let heap = |run| match run {
        Run::Many(heap) => heap,
        Run::Few(bag) => H::begin(parts, bag, hasher),
    };
    Run::Many(par_map(runs, &heap))
}

/// How items are read and where they belong.
struct Plan<'a, R, S> {
    read: &'a R,
    hasher: &'a S,
    parts: usize,
    /// The most values of a bag.
    few: usize,
    /// How many values the first bag is to expect. The thread that begins first takes it.
    expected: AtomicUsize,
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
    H: Heap<K, V, S>,
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
    const WORTH: u64 = B::WORTH;

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
    H: Heap<K, V, S>,
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
        H: Heap<K, V, S>,
    {
        let plan = self.plan;
        if let Run::Few(bag) = &mut *self.run {
            bag.fill(&mut pairs, plan.few, plan.hasher);
            if bag.len() <= plan.few {
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
    H: Heap<K, V, S>,
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
