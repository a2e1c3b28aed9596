//! Looking up the items of a parallel iterator in a table, some at a time: the keys of a batch are
//! hashed first, and the memory of all of them is fetched before the first is looked up.
#![forbid(unsafe_code)]

use super::side::Lookup;
use tine_iter::iter::ParallelIterator;
use tine_iter::iter::plumbing::{Consumer, Folder, UnindexedConsumer};

/// How many lookups wait for memory at the same time.
const BATCH: usize = 32;

/// What is made of an item and of what was found for it.
pub(super) trait Found<L, R>: Sync {
    type Out;
    fn found(&self, item: L, row: &[R]) -> impl Iterator<Item = Self::Out>;
}

/// What is looked up, and where.
pub(super) struct Probing<'a, D, F, W> {
    pub(super) table: &'a D,
    pub(super) key: &'a F,
    pub(super) with: &'a W,
}

/// The items, looked up.
pub(super) struct Probed<'a, L, D, F, W> {
    pub(super) left: L,
    pub(super) probing: Probing<'a, D, F, W>,
}

impl<L, D, F, W> ParallelIterator for Probed<'_, L, D, F, W>
where
    L: ParallelIterator,
    D: Lookup,
    F: Fn(&L::Item) -> D::Key + Sync,
    W: Found<L::Item, D::Item, Out: Send>,
{
    type Item = W::Out;

    fn drive_unindexed<C: UnindexedConsumer<W::Out>>(self, consumer: C) -> C::Result {
        self.left.drive_unindexed(ProbeConsumer {
            probing: &self.probing,
            base: consumer,
        })
    }
}

/// A consumer of items, made of a consumer of what they become.
struct ProbeConsumer<'p, P, C> {
    probing: &'p P,
    base: C,
}

impl<'p, T, D, F, W, C> Consumer<T> for ProbeConsumer<'p, Probing<'_, D, F, W>, C>
where
    D: Lookup,
    F: Fn(&T) -> D::Key + Sync,
    W: Found<T, D::Item>,
    C: Consumer<W::Out>,
{
    type Folder = ProbeFolder<'p, Probing<'p, D, F, W>, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = C::ADVANCES;
    const WORTH: u64 = C::WORTH;
    const RESUMES: bool = C::RESUMES;
    const ENDS: bool = C::ENDS;

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let ProbeConsumer { probing, base } = self;
        let (left, right, reducer) = base.split_at(index);
        let with = |base| ProbeConsumer { probing, base };
        (with(left), with(right), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        ProbeFolder {
            probing: self.probing,
            base: self.base.into_folder(),
        }
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    fn resume(self, so_far: C::Result) -> Self {
        ProbeConsumer {
            probing: self.probing,
            base: self.base.resume(so_far),
        }
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let probing = self.probing;
        let (base, rest) = self.base.advance(index, folder.map(|folder| folder.base));
        let rest = ProbeConsumer {
            probing,
            base: rest,
        };
        (ProbeFolder { probing, base }, rest)
    }
}

impl<T, D, F, W, C> UnindexedConsumer<T> for ProbeConsumer<'_, Probing<'_, D, F, W>, C>
where
    D: Lookup,
    F: Fn(&T) -> D::Key + Sync,
    W: Found<T, D::Item>,
    C: UnindexedConsumer<W::Out>,
{
    fn split_off_left(&self) -> Self {
        ProbeConsumer {
            probing: self.probing,
            base: self.base.split_off_left(),
        }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

/// A worker that looks up one contiguous piece.
struct ProbeFolder<'p, P, B> {
    probing: &'p P,
    base: B,
}

impl<T, D, F, W, B> Folder<T> for ProbeFolder<'_, Probing<'_, D, F, W>, B>
where
    D: Lookup,
    F: Fn(&T) -> D::Key + Sync,
    W: Found<T, D::Item>,
    B: Folder<W::Out>,
{
    type Result = B::Result;

    fn consume(mut self, item: T) -> Self {
        let Probing { table, key, with } = *self.probing;
        let key = key(&item);
        let row = table.find(table.hash(&key), &key);
        self.base = self.base.consume_iter(with.found(item, row));
        self
    }

    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let Probing { table, key, with } = *self.probing;
        let mut items = items.into_iter();
        let mut batch: Vec<(u64, D::Key, T)> = Vec::with_capacity(BATCH);
        while !self.base.full() {
            batch.extend(items.by_ref().take(BATCH).map(|item| {
                let key = key(&item);
                let hash = table.hash(&key);
                table.expect(hash);
                (hash, key, item)
            }));
            if batch.is_empty() {
                break;
            }
            let found = batch
                .drain(..)
                .flat_map(|(hash, key, item)| with.found(item, table.find(hash, &key)));
            self.base = self.base.consume_iter(found);
        }
        self
    }

    fn complete(self) -> B::Result {
        self.base.complete()
    }

    fn full(&self) -> bool {
        self.base.full()
    }
}
