//! Looking up the items of a parallel iterator in a table. A key is hashed and its memory is fetched some items
//! before its lookup.
//!
//! ```text
//! items ──► hash, fetch ──► │ ring of those that wait │ ──► look up ──► results
//! ```
//!
//! From block to block of a piece, an item enters the ring for each item that leaves it, so the number of items
//! that wait for memory stays the same. The ring is emptied when the piece ends, and when an item comes alone: a
//! bridge promises that no item waits for a later one.
#![forbid(unsafe_code)]

use super::lookup::Lookup;
use std::iter;
use std::mem;
use tine_iter::iter::ParallelIterator;
use tine_iter::iter::plumbing::{Consumer, Folder, UnindexedConsumer};

/// How many lookups wait for memory at the same time.
const AHEAD: usize = 32;
/// A table of at most this number of bytes comes into the cache with its first lookups.
const NEAR: usize = 4 << 20;

/// Waiting items, each with its hash and its key.
struct Ring<K, T> {
    /// Once there are `AHEAD`, the oldest item is the one at `at`.
    waiting: Vec<(u64, K, T)>,
    at: usize,
}

impl<K, T> Ring<K, T> {
    /// A ring; it has no room if no item is to wait.
    fn new(near: bool) -> Box<Self> {
        Box::new(Ring {
            waiting: Vec::with_capacity(if near { 0 } else { AHEAD }),
            at: 0,
        })
    }

    /// Draws items as long as there is room.
    #[inline]
    fn fill(&mut self, items: impl Iterator<Item = (u64, K, T)>) {
        let room = AHEAD - self.waiting.len();
        if room > 0 {
            self.waiting.extend(items.take(room));
        }
    }

    /// Puts an item into a full ring, and takes the oldest item out.
    #[inline]
    fn exchange(&mut self, item: (u64, K, T)) -> (u64, K, T) {
        let oldest = mem::replace(&mut self.waiting[self.at], item);
        self.at = (self.at + 1) % AHEAD;
        oldest
    }

    /// Takes out all waiting items, in order.
    fn empty(&mut self) -> impl Iterator<Item = (u64, K, T)> {
        self.waiting.rotate_left(self.at);
        self.at = 0;
        self.waiting.drain(..)
    }
}

/// Makes results from an item and from the row that was found for it.
pub(super) trait Found<L, R>: Sync {
    type Out;
    fn found(&self, item: L, row: &[R]) -> impl Iterator<Item = Self::Out>;
}

/// What is looked up, and where.
pub(super) struct Probing<'a, D, F, W> {
    table: &'a D,
    key: &'a F,
    with: &'a W,
    /// Whether the table is in the cache, so that no item need wait for memory.
    near: bool,
}

impl<'a, D: Lookup, F, W> Probing<'a, D, F, W> {
    pub(super) fn new(table: &'a D, key: &'a F, with: &'a W) -> Self {
        Probing {
            table,
            key,
            with,
            near: table.bytes() <= NEAR,
        }
    }
}

/// The result for an item. The item's key is dropped before the result is returned; if that drop
/// panics, the result is dropped too.
#[inline]
fn look_up<T, D: Lookup, W: Found<T, D::Item>>(
    table: &D,
    with: &W,
    (hash, key, item): (u64, D::Key, T),
) -> impl Iterator<Item = W::Out> {
    let found = with.found(item, table.find(hash, &key));
    drop(key);
    found
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

    const KEEPS_ALL: bool = L::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<W::Out>>(self, consumer: C) -> C::Result {
        self.left.drive_unindexed(ProbeConsumer {
            probing: &self.probing,
            base: consumer,
        })
    }
}

/// A consumer of items, made from a consumer of their results.
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
    type Folder = ProbeFolder<'p, Probing<'p, D, F, W>, D::Key, T, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = C::ADVANCES;
    const RESUMES: bool = C::RESUMES;
    const ENDS: bool = C::ENDS;

    fn worth(&self) -> u64 {
        self.base.worth()
    }

    fn expect(&mut self, items: usize) {
        self.base.expect(items);
    }

    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let ProbeConsumer { probing, base } = self;
        let (left, right, reducer) = base.split_at(index);
        let with = |base| ProbeConsumer { probing, base };
        (with(left), with(right), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        ProbeFolder {
            probing: self.probing,
            ring: Ring::new(self.probing.near),
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
        let (ring, base) = folder.map(|folder| (folder.ring, folder.base)).unzip();
        let (base, rest) = self.base.advance(index, base);
        let rest = ProbeConsumer {
            probing,
            base: rest,
        };
        let ring = ring.unwrap_or_else(|| Ring::new(probing.near));
        (
            ProbeFolder {
                probing,
                ring,
                base,
            },
            rest,
        )
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
struct ProbeFolder<'p, P, K, T, B> {
    probing: &'p P,
    /// On the heap, since folders travel by value.
    ring: Box<Ring<K, T>>,
    base: B,
}

impl<T, D, F, W, B> Folder<T> for ProbeFolder<'_, Probing<'_, D, F, W>, D::Key, T, B>
where
    D: Lookup,
    F: Fn(&T) -> D::Key + Sync,
    W: Found<T, D::Item>,
    B: Folder<W::Out>,
{
    type Result = B::Result;

    fn consume(mut self, item: T) -> Self {
        let Probing {
            table, key, with, ..
        } = *self.probing;
        let key = key(&item);
        let alone = iter::once((table.hash(&key), key, item));
        let all = self.ring.empty().chain(alone);
        let found = all.flat_map(|waiting| look_up(table, with, waiting));
        self.base = self.base.consume_iter(found);
        self
    }

    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        let Probing {
            table, key, with, ..
        } = *self.probing;
        if self.probing.near {
            let found = items.into_iter().flat_map(|item| {
                let key = key(&item);
                look_up(table, with, (table.hash(&key), key, item))
            });
            self.base = self.base.consume_iter(found);
            return self;
        }
        // Fused: an iterator that ends while the ring fills must not go on in the exchange.
        let mut items = items.into_iter().fuse().map(|item| {
            let key = key(&item);
            let hash = table.hash(&key);
            table.expect(hash);
            (hash, key, item)
        });
        self.ring.fill(&mut items);
        let ring = &mut *self.ring;
        let found = items
            .map(|item| ring.exchange(item))
            .flat_map(|waiting| look_up(table, with, waiting));
        self.base = self.base.consume_iter(found);
        self
    }

    fn complete(mut self) -> B::Result {
        let Probing { table, with, .. } = *self.probing;
        let found = self
            .ring
            .empty()
            .flat_map(|waiting| look_up(table, with, waiting));
        self.base.consume_iter(found).complete()
    }

    fn full(&self) -> bool {
        self.base.full()
    }
}
