//! Brings keyed values together: every value of a parallel iterator goes into a list by its key's
//! hash. Each list keeps the iterator's order.
#![forbid(unsafe_code)]

use crate::partition::{List, Scatter, par_map, transpose};
use crate::parts::part_of;
use crate::tag::Tag;
use std::cell::Cell;
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

    /// The same where it is known that this number of values comes, more than `FEW`. If the result
    /// is less than [`START`], a bag may use that number of values to judge what follows, and stop
    /// at `START`.
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
        // Exactly the number that there is room for, so that the loop need not check for more.
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
    let piece = items.drive_unindexed(GatherConsumer::after(&plan, None));
    let mut bags = Vec::new();
    let mut rest = Vec::new();
    for run in piece.into_runs() {
        match run {
            Run::Few(bag) if rest.is_empty() => bags.push(bag),
            run => rest.push(run),
        }
    }
    if rest.is_empty() && plan.may_merge(&bags) {
        return Run::Few(merge(bags, hasher));
    }
    let runs = bags.into_iter().map(Run::Few).chain(rest);
    let heap = |run| match run {
        Together::Heap(heap) => heap,
        Together::Bags(bags) => {
            let mut bags = bags.into_iter();
            let mut first: B = bags.next().unwrap_or_default();
            bags.for_each(|later| first.append(later, hasher));
            H::begin(parts, first, hasher)
        }
    };
    Run::Many(par_map(plan.together(runs), &heap))
}

/// What one heap is made of.
enum Together<B, H> {
    Heap(H),
    /// Neighbouring bags, first one first.
    Bags(Vec<B>),
}

/// The most bags that are merged one into the other because they hold the same.
const ALIKE: usize = 8;
/// The most values of bags that are merged though they hold other values.
const LITTLE: usize = 1 << 17;
/// A bag of N values or fewer is appended to the bag before it as soon as both pieces are done;
/// this is N. Otherwise an iterator that is cut into pieces of one item would end with one bag for
/// each item.
const SCRAP: usize = 256;

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

    /// Whether two neighbouring bags, which hold this number of values together, may become one bag.
    fn has_room(&self, values: usize) -> bool {
        values <= self.few.max(START)
    }

    /// Says, in order, what each heap is to be made of: a heap of its own, or neighbouring bags with [`START`] values in all at
    /// most. One thread joins these bags, so larger ones stay apart.
    fn together<T, B: Bag<T, S>, H>(
        &self,
        runs: impl Iterator<Item = Run<B, H>>,
    ) -> Vec<Together<B, H>> {
        let mut together = Vec::new();
        let mut held = 0;
        for run in runs {
            match (run, together.last_mut()) {
                (Run::Many(heap), _) => together.push(Together::Heap(heap)),
                (Run::Few(bag), Some(Together::Bags(bags))) if held + bag.len() <= START => {
                    held += bag.len();
                    bags.push(bag);
                }
                (Run::Few(bag), _) => {
                    held = bag.len();
                    together.push(Together::Bags(vec![bag]));
                }
            }
        }
        together
    }
}

/// What a piece of the input has come to: runs, in order.
struct Piece<B, H> {
    before: Vec<Run<B, H>>,
    /// The run that takes the next items. It may be an empty bag.
    last: Run<B, H>,
}

impl<B, H> Piece<B, H> {
    fn into_runs(self) -> impl Iterator<Item = Run<B, H>> {
        self.before.into_iter().chain([self.last])
    }

    /// Adds the run that comes next in the input.
    fn add<T, R, S>(&mut self, next: Run<B, H>, plan: &Plan<'_, R, S>)
    where
        B: Bag<T, S>,
    {
        let next = match (&mut self.last, next) {
            (_, Run::Few(next)) if next.len() == 0 => return,
            (Run::Few(bag), Run::Few(next))
                if next.len() <= SCRAP && plan.has_room(bag.len() + next.len()) =>
            {
                return bag.append(next, plan.hasher);
            }
            (_, next) => next,
        };
        let last = mem::replace(&mut self.last, next);
        if !matches!(&last, Run::Few(bag) if bag.len() == 0) {
            self.before.push(last);
        }
    }
}

struct GatherConsumer<'a, R, S, B, H> {
    plan: &'a Plan<'a, R, S>,
    /// The piece before this one, if there is one. The leftmost folder takes it and goes on with it.
    so_far: Cell<Option<Box<Piece<B, H>>>>,
}

impl<'a, R, S, B, H> GatherConsumer<'a, R, S, B, H> {
    fn after(plan: &'a Plan<'a, R, S>, so_far: Option<Box<Piece<B, H>>>) -> Self {
        let so_far = Cell::new(so_far);
        GatherConsumer { plan, so_far }
    }
}

struct GatherFolder<'a, R, S, B, H> {
    plan: &'a Plan<'a, R, S>,
    /// On the heap, since folders travel by value.
    piece: Box<Piece<B, H>>,
}

/// Puts runs in a row. `T` is what bags hold.
struct InOrder<'a, R, S, T> {
    plan: &'a Plan<'a, R, S>,
    values: PhantomData<fn(T)>,
}

impl<'a, R, S, T> InOrder<'a, R, S, T> {
    fn new(plan: &'a Plan<'a, R, S>) -> Self {
        let values = PhantomData;
        InOrder { plan, values }
    }
}

impl<R, S, T, B, H> Reducer<Box<Piece<B, H>>> for InOrder<'_, R, S, T>
where
    B: Bag<T, S>,
    H: Send,
{
    fn reduce(self, mut left: Box<Piece<B, H>>, right: Box<Piece<B, H>>) -> Box<Piece<B, H>> {
        right.into_runs().for_each(|run| left.add(run, self.plan));
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
    type Reducer = InOrder<'a, R, S, (K, V)>;
    type Result = Box<Piece<B, H>>;

    fn split_at(self, _: usize) -> (Self, Self, Self::Reducer) {
        let reducer = InOrder::new(self.plan);
        (self.split_off_left(), self, reducer)
    }

    // In `flat_map`, each inner iterator goes on with the piece of the inner iterator before it.
    const RESUMES: bool = true;

    fn resume(self, so_far: Self::Result) -> Self {
        Self::after(self.plan, Some(so_far))
    }

    // A single run from block to block; another run only for a part that another thread takes.
    const ADVANCES: bool = true;

    fn worth(&self) -> u64 {
        if self.plan.alone { u64::MAX } else { B::WORTH }
    }

    fn advance(self, count: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let mut folder = folder.unwrap_or_else(|| self.split_off_left().into_folder());
        if let Run::Few(bag) = &mut folder.piece.last {
            bag.reserve(count);
        }
        (folder, self)
    }

    fn into_folder(self) -> Self::Folder {
        let plan = self.plan;
        let begin = || {
            // Relaxed: it does not matter which thread takes the number; only one does.
            let expected = plan.expected.swap(0, Ordering::Relaxed);
            Box::new(Piece {
                before: Vec::new(),
                last: Run::Few(B::first(expected)),
            })
        };
        let piece = self.so_far.take().unwrap_or_else(begin);
        GatherFolder { plan, piece }
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
        Self::after(self.plan, self.so_far.take())
    }

    fn to_reducer(&self) -> Self::Reducer {
        InOrder::new(self.plan)
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
        if let Run::Few(bag) = &mut self.piece.last {
            pairs = match bag.take(pairs, plan.few, plan.hasher) {
                Ok(()) => return,
                Err(pairs) => pairs,
            };
            bag.fill(&mut pairs, plan.few, plan.hasher);
            if !bag.is_full(plan.few) {
                return;
            }
            self.piece.last = Run::Many(H::begin(plan.parts, mem::take(bag), plan.hasher));
        }
        if let Run::Many(heap) = &mut self.piece.last {
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
    type Result = Box<Piece<B, H>>;

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
        self.piece
    }

    fn full(&self) -> bool {
        false
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Bag, Run, START, heaps};
    use crate::partition::{Scatter, transpose};
    use std::collections::hash_map::RandomState;
    use tine_iter::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

    type Pair = (u64, u64);
    type Heap = Scatter<((), Pair)>;

    const PARTS: usize = 4;

    /// The heaps that are made of those pairs.
    fn made<B: Bag<Pair, RandomState> + IntoIterator<Item = Pair>>(
        pairs: impl ParallelIterator<Item = Pair>,
    ) -> Vec<Heap> {
        let hasher = RandomState::new();
        match heaps::<Heap, B, _, _, _, _>(pairs, &|pair| pair, &hasher, PARTS, false) {
            Run::Few(_) => panic!("more than are kept in a bag"),
            Run::Many(heaps) => heaps,
        }
    }

    /// An empty heap takes as much memory as thousands of values, so there must not be one heap for each piece.
    #[test]
    fn pieces_of_single_items_are_gathered_in_few_heaps() {
        let count = 10 * START;
        let pairs = || (0..count).into_par_iter().map(|n| (n as u64, 0));
        let check = |heaps: Vec<Heap>| {
            assert!(heaps.len() <= 40, "{} heaps", heaps.len());
            let mut all = 0;
            for lists in transpose(heaps) {
                let values: Vec<u64> = lists.into_iter().flatten().map(|(_, (n, _))| n).collect();
                all += values.len();
                assert!(values.is_sorted(), "out of order");
            }
            assert_eq!(all, count);
        };
        check(made::<Vec<Pair>>(pairs().with_max_len(1)));
        check(made::<Vec<Pair>>(pairs().by_uniform_blocks(1)));
        check(made::<Vec<Pair>>(pairs().flat_map(|pair| [pair])));
        check(made::<Vec<Pair>>(
            pairs()
                .chunks(3)
                .flat_map(|three| three)
                .flat_map(|pair| [pair]),
        ));
    }

    /// These pieces are longer than what is appended at once, so each is a bag of its own until all pieces are done.
    #[test]
    fn neighbours_that_have_room_in_one_bag_are_one_heap() {
        let count = 4 * START;
        let pairs = (0..count).into_par_iter().map(|n| (n as u64, 0));
        let heaps = made::<Vec<Pair>>(pairs.with_min_len(START / 4).with_max_len(START / 4));
        assert!((4..=8).contains(&heaps.len()), "{} heaps", heaps.len());
    }
}
