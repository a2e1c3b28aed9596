//! Bringing keyed values together: every value of a parallel iterator, in lists
//! by the part of its key's hash, in the iterator's order.
#![forbid(unsafe_code)]

use crate::partition::{List, Scatter, par_map, transpose};
use crate::parts::part_of;
use crate::tag::Tag;
use std::hash::{BuildHasher, Hash};
use tine_iter::iter::ParallelIterator;
use tine_iter::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};

/// Up to this many values are kept in a row; more are scattered. Scattering to hundreds of parts
/// costs more than it gives where each part gets a few dozen values.
const FEW: usize = 1 << 14;

/// A worker's output for one piece of the input.
pub(crate) enum Run<G, T> {
    Few(Vec<T>),
    Many(Scatter<(G, T)>),
}

/// All workers' lists of one part, in order.
pub(crate) type Lists<G, T> = Vec<List<(G, T)>>;

/// Everything that was gathered.
pub(crate) enum Gathered<G, T> {
    /// Few values, in order.
    Few(Vec<T>),
    /// Many values, part by part, each in order.
    Many(Vec<Lists<G, T>>),
}

/// Gathers the values that `read` makes of the items. Uses lists for `parts`
/// parts if there are more than a few values.
pub(crate) fn gather<G, I, K, V, S>(
    items: I,
    read: &(impl Fn(I::Item) -> (K, V) + Sync),
    hasher: &S,
    parts: usize,
) -> Gathered<G, (K, V)>
where
    G: Tag,
    I: ParallelIterator,
    K: Hash + Send,
    V: Send,
    S: BuildHasher + Sync,
{
    let plan = Plan {
        read,
        hasher,
        parts,
    };
    let mut runs = items.drive_unindexed(GatherConsumer {
        plan: &plan,
        tag: std::marker::PhantomData,
    });
    let sizes = runs.iter().map(|run: &Run<G, (K, V)>| match run {
        Run::Few(list) => list.len(),
        Run::Many(_) => FEW + 1,
    });
    if sizes.fold(0, usize::saturating_add) <= FEW {
        let mut all = Vec::new();
        for run in runs {
            let Run::Few(mut list) = run else {
                unreachable!("one run alone is too much")
            };
            if all.is_empty() {
                all = list
            } else {
                all.append(&mut list)
            }
        }
        return Gathered::Few(all);
    }
    let scatter = |run| match run {
        Run::Many(scatter) => scatter,
        Run::Few(list) => plan.scatter(list),
    };
    Gathered::Many(transpose(par_map(std::mem::take(&mut runs), &scatter)))
}

/// How items are read and where they belong.
struct Plan<'a, R, S> {
    read: &'a R,
    hasher: &'a S,
    parts: usize,
}

impl<R, S: BuildHasher> Plan<'_, R, S> {
    #[inline]
    fn put<G: Tag, K: Hash, V>(&self, scatter: &mut Scatter<(G, (K, V))>, pair: (K, V)) {
        let hash = self.hasher.hash_one(&pair.0);
        scatter.push(part_of(hash, self.parts), (G::keep(hash), pair));
    }

    fn scatter<G: Tag, K: Hash, V>(&self, list: Vec<(K, V)>) -> Scatter<(G, (K, V))> {
        let mut scatter = Scatter::new(self.parts);
        list.into_iter()
            .for_each(|pair| self.put(&mut scatter, pair));
        scatter
    }
}

struct GatherConsumer<'a, R, S, G> {
    plan: &'a Plan<'a, R, S>,
    tag: std::marker::PhantomData<G>,
}

struct GatherFolder<'a, R, S, G, K, V> {
    plan: &'a Plan<'a, R, S>,
    /// On the heap, since folders travel by value.
    run: Box<Run<G, (K, V)>>,
}

struct Concatenate;

impl<G: Tag, T: Send> Reducer<Vec<Run<G, T>>> for Concatenate {
    fn reduce(self, mut left: Vec<Run<G, T>>, right: Vec<Run<G, T>>) -> Vec<Run<G, T>> {
        left.extend(right);
        left
    }
}

impl<'a, R, S, G, T, K, V> Consumer<T> for GatherConsumer<'a, R, S, G>
where
    G: Tag,
    K: Hash + Send,
    V: Send,
    R: Fn(T) -> (K, V) + Sync,
    S: BuildHasher + Sync,
{
    type Folder = GatherFolder<'a, R, S, G, K, V>;
    type Reducer = Concatenate;
    type Result = Vec<Run<G, (K, V)>>;

    fn split_at(self, _: usize) -> (Self, Self, Concatenate) {
        (self.split_off_left(), self, Concatenate)
    }

    // One run from block to block; another only for what another thread takes.
    const ADVANCES: bool = true;

    fn advance(self, count: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let mut folder = folder.unwrap_or_else(|| self.split_off_left().into_folder());
        if let Run::Few(list) = &mut *folder.run {
            list.reserve(count.min(FEW));
        }
        (folder, self)
    }

    fn into_folder(self) -> Self::Folder {
        GatherFolder {
            plan: self.plan,
            run: Box::new(Run::Few(Vec::new())),
        }
    }

    fn full(&self) -> bool {
        false
    }
}

impl<R, S, G, T, K, V> UnindexedConsumer<T> for GatherConsumer<'_, R, S, G>
where
    G: Tag,
    K: Hash + Send,
    V: Send,
    R: Fn(T) -> (K, V) + Sync,
    S: BuildHasher + Sync,
{
    fn split_off_left(&self) -> Self {
        GatherConsumer {
            plan: self.plan,
            tag: self.tag,
        }
    }

    fn to_reducer(&self) -> Concatenate {
        Concatenate
    }
}

impl<R, S, G, K, V> GatherFolder<'_, R, S, G, K, V>
where
    G: Tag,
    K: Hash,
    S: BuildHasher,
{
    #[inline]
    fn put(&mut self, pair: (K, V)) {
        match &mut *self.run {
            Run::Many(scatter) => self.plan.put(scatter, pair),
            Run::Few(list) => {
                list.push(pair);
                if list.len() > FEW {
                    *self.run = Run::Many(self.plan.scatter(std::mem::take(list)));
                }
            }
        }
    }
}

impl<R, S, G, T, K, V> Folder<T> for GatherFolder<'_, R, S, G, K, V>
where
    G: Tag,
    K: Hash + Send,
    V: Send,
    R: Fn(T) -> (K, V) + Sync,
    S: BuildHasher + Sync,
{
    type Result = Vec<Run<G, (K, V)>>;

    fn consume(mut self, item: T) -> Self {
        let pair = (self.plan.read)(item);
        self.put(pair);
        self
    }

    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let read = self.plan.read;
        items.into_iter().for_each(|item| self.put(read(item)));
        self
    }

    fn complete(self) -> Self::Result {
        match *self.run {
            Run::Few(list) if list.is_empty() => Vec::new(),
            run => vec![run],
        }
    }

    fn full(&self) -> bool {
        false
    }
}
