//! The right sides of joins, in which keys are looked up.
//!
//! When a kind of join is asked for, a parallel iterator is gathered by key: with its values, or without them
//! for `semi` and `anti`. Groups and frozen maps are looked up as they are, by value or by reference, and
//! concurrent maps by `&mut`.
#![forbid(unsafe_code)]

use super::flat::{Flat, Source};
use super::fold::{Fold, key_alone};
use super::laying::Rows;
use super::lookup::{Beside, Lookup, Noting, mark};
use super::rows::Groups;
use super::tally::tables;
use crate::foresight::Foresight;
use crate::gather::{Gathered, Lists, gather};
use crate::hasher::DefaultHashBuilder;
use crate::map::opened::Opened;
use crate::map::{FrozenMap, ParHashMap};
use crate::partition::{List, par_map};
use crate::parts::breadth;
use crate::tag::{Tag, is_cheap};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::iter;
use std::marker::PhantomData;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use tine_iter::iter::ParallelIterator;

/// The right side of a [`Join`](super::Join): a parallel iterator and its key, from
/// [`join_by`](super::ParallelGrouping::join_by); or a table that has been built before, for
/// [`join_on`](super::ParallelGrouping::join_on): a [`Groups`] or a [`FrozenMap`], by value or by
/// reference, or a [`ParHashMap`] by `&mut`.
///
/// ```
/// use tine::{ParHashMap, prelude::*};
///
/// let names = ParHashMap::from([(1, "Ada"), (2, "Bob")]).freeze();
/// let orders = [(1, "tea"), (2, "rye"), (3, "fig")];
/// let known = orders.into_par_iter().join_on(&names, |order| order.0);
/// let lines: Vec<String> = known.inner_with(|order, name| format!("{name}: {}", order.1)).collect();
/// assert_eq!(lines, ["Ada: tea", "Bob: rye"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "items cannot be joined on `{Self}`",
    note = "a `ParHashMap` that no other code uses meanwhile: `join_on(&mut map, …)`",
    note = "one that is only read from now on: `let frozen = map.freeze();`, then `join_on(&frozen, …)`",
    note = "items that are no map yet: `join_by(items, key, key_of_the_items)`"
)]
pub trait RightSide: Send + sealed::Sealed {
    /// The key by which both sides are joined.
    type Key: Eq + Hash + Send + Sync;
    /// The items.
    type Item: Send + Sync;
    #[doc(hidden)]
    type Table: Lookup<Key = Self::Key, Item = Self::Item>;
    #[doc(hidden)]
    type Keys: Lookup<Key = Self::Key>;
    #[doc(hidden)]
    type Noting: Noting<Key = Self::Key, Item = Self::Item>;

    /// The items by key.
    #[doc(hidden)]
    fn into_table(self) -> Self::Table;

    /// Only the keys.
    #[doc(hidden)]
    fn into_keys(self) -> Self::Keys;

    /// The items by key, with marks on those that are found.
    #[doc(hidden)]
    fn into_noting(self) -> Self::Noting;
}

mod sealed {
    pub trait Sealed {}
}

/// A right side that is still a parallel iterator.
pub struct Loose<R, H> {
    pub(super) items: R,
    pub(super) key: H,
}

impl<R, H> fmt::Debug for Loose<R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loose").finish_non_exhaustive()
    }
}

/// The items of one key; a single item is in the table itself.
enum Row<R> {
    Single(R),
    Several(Vec<R>),
}

/// A row that grows.
trait Growing: Send + Sync {
    type Item: Send + Sync;
    fn begin(item: Self::Item) -> Self;
    fn push(&mut self, item: Self::Item);
    fn items(&self) -> &[Self::Item];
}

impl<R: Send + Sync> Growing for Row<R> {
    type Item = R;

    #[inline]
    fn begin(item: R) -> Self {
        Row::Single(item)
    }

    fn push(&mut self, item: R) {
        if let Row::Several(items) = self {
            return items.push(item);
        }
        let mut items = Vec::with_capacity(2);
        if let Row::Single(first) = std::mem::replace(self, Row::Several(Vec::new())) {
            items.push(first);
        }
        items.push(item);
        *self = Row::Several(items);
    }

    #[inline]
    fn items(&self) -> &[R] {
        match self {
            Row::Single(item) => slice::from_ref(item),
            Row::Several(items) => items,
        }
    }
}

/// A row with a mark that says whether it was found.
struct Marked<R> {
    row: Row<R>,
    met: AtomicBool,
}

impl<R: Send + Sync> Growing for Marked<R> {
    type Item = R;

    fn begin(item: R) -> Self {
        Marked {
            row: Row::begin(item),
            met: AtomicBool::new(false),
        }
    }

    fn push(&mut self, item: R) {
        self.row.push(item);
    }

    fn items(&self) -> &[R] {
        self.row.items()
    }
}

/// The rows of a right side.
pub struct Table<K, R>(Kind<K, R>);

/// For given types only one of the two occurs (see `Table::FLAT`), so only the code of one is needed.
enum Kind<K, R> {
    Cut(FrozenMap<K, Row<R>>),
    Flat(Flat<K, R>),
}

impl<K, R> Table<K, R> {
    /// Small items of keys that are numbers lie flat.
    const FLAT: bool = is_cheap::<K>() && Flat::<K, R>::FITS;
}

impl<K, R> fmt::Debug for Table<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl<K: Eq + Hash + Send + Sync, R: Send + Sync> Lookup for Table<K, R> {
    type Key = K;
    type Item = R;

    #[inline]
    fn hash(&self, key: &K) -> u64 {
        match &self.0 {
            Kind::Cut(map) if !Self::FLAT => map.hash(key),
            Kind::Flat(flat) if Self::FLAT => flat.hash(key),
            _ => 0,
        }
    }

    #[inline]
    fn expect(&self, hash: u64) {
        match &self.0 {
            Kind::Cut(map) if !Self::FLAT => map.expect(hash),
            Kind::Flat(flat) if Self::FLAT => flat.expect(hash),
            _ => {}
        }
    }

    #[inline]
    fn find(&self, hash: u64, key: &K) -> &[R] {
        match &self.0 {
            Kind::Cut(map) if !Self::FLAT => {
                map.find(hash, key).map_or(&[], |(_, row)| row.items())
            }
            Kind::Flat(flat) if Self::FLAT => flat.find(hash, key),
            _ => &[],
        }
    }

    fn bytes(&self) -> usize {
        match &self.0 {
            Kind::Cut(map) => map.bytes(),
            Kind::Flat(flat) => flat.bytes(),
        }
    }
}

/// The rows of a right side, with marks on those that are found.
pub struct Marking<K, R>(FrozenMap<K, Marked<R>>);

impl<K, R> fmt::Debug for Marking<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Marking").finish_non_exhaustive()
    }
}

impl<K: Eq + Hash + Send + Sync, R: Send + Sync> Noting for Marking<K, R> {
    fn strangers(self) -> impl Iterator<Item = R> {
        let rows = self.0.into_values();
        let rows = rows.filter(|row| !row.met.load(Ordering::Relaxed));
        rows.flat_map(|row| match row.row {
            Row::Single(item) => vec![item],
            Row::Several(items) => items,
        })
    }
}

impl<K: Eq + Hash + Send + Sync, R: Send + Sync> Lookup for Marking<K, R> {
    type Key = K;
    type Item = R;

    fn hash(&self, key: &K) -> u64 {
        self.0.hash(key)
    }

    fn expect(&self, hash: u64) {
        self.0.expect(hash);
    }

    fn find(&self, hash: u64, key: &K) -> &[R] {
        let Some((_, row)) = self.0.find(hash, key) else {
            return &[];
        };
        mark(&row.met);
        row.items()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl<R, H, K> Loose<R, H>
where
    R: ParallelIterator<Item: Sync>,
    K: Eq + Hash + Send + Sync,
    H: Fn(&R::Item) -> K + Sync,
{
    fn into_rows<W: Growing<Item = R::Item>>(self) -> FrozenMap<K, W> {
        if const { is_cheap::<K>() } {
            self.into_rows_tagged::<(), W>()
        } else {
            self.into_rows_tagged::<u64, W>()
        }
    }

    fn into_rows_tagged<G: Tag, W: Growing<Item = R::Item>>(self) -> FrozenMap<K, W> {
        let hasher = DefaultHashBuilder::default();
        let tables = match self.gather::<G>(&hasher) {
            Gathered::Few(pairs) => vec![few(pairs, &hasher)],
            Gathered::Many(parts) => par_map(parts, &|lists| part(lists, &hasher)),
        };
        FrozenMap::from_tables(tables, hasher)
    }

    fn into_flat(self) -> Flat<K, R::Item> {
        let hasher = DefaultHashBuilder::default();
        let parts = match self.gather::<()>(&hasher) {
            Gathered::Few(pairs) => return Flat::new(vec![Source::Few(pairs)], hasher),
            Gathered::Many(parts) => parts,
        };
        // The first part stands for the others: if most keys come once, there is a slot for each item.
        // Otherwise the keys are found first.
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_default();
        let items: usize = first.iter().map(List::len).sum();
        let first = Rows::of_part(first, &hasher);
        let rest = if first.keys.len() < items / 4 * 3 {
            par_map(parts.collect(), &|lists| {
                Source::Laid(Rows::of_part(lists, &hasher))
            })
        } else {
            parts.map(Source::Many).collect()
        };
        let all = iter::once(Source::Laid(first)).chain(rest);
        Flat::new(all.collect(), hasher)
    }

    /// The items with their keys.
    fn gather<G: Tag>(self, hasher: &DefaultHashBuilder) -> Gathered<G, (K, R::Item)> {
        let Loose { items, key } = self;
        let read = |item| (key(&item), item);
        gather::<G, Vec<_>, _, _, _, _>(items, &read, hasher, breadth(), false)
    }
}

/// The table of a few items.
fn few<K: Eq + Hash, W: Growing>(
    pairs: Vec<(K, W::Item)>,
    hasher: &DefaultHashBuilder,
) -> HashTable<(K, W)> {
    let count = pairs.len();
    let pairs = pairs.into_iter();
    let pairs = pairs.map(|pair| (hasher.hash_one(&pair.0), pair));
    fill(pairs, count, hasher)
}

/// The table of one part.
fn part<G: Tag, K: Eq + Hash, W: Growing>(
    lists: Lists<G, (K, W::Item)>,
    hasher: &DefaultHashBuilder,
) -> HashTable<(K, W)> {
    let count = lists.iter().map(List::len).sum();
    let pairs = lists.into_iter().flatten();
    let pairs = pairs.map(|(tag, pair)| (tag.hash(|| hasher.hash_one(&pair.0)), pair));
    fill(pairs, count, hasher)
}

/// A table for at most this number of rows.
fn fill<K: Eq + Hash, W: Growing>(
    pairs: impl Iterator<Item = (u64, (K, W::Item))>,
    count: usize,
    hasher: &DefaultHashBuilder,
) -> HashTable<(K, W)> {
    let rehash = |(key, _): &(K, W)| hasher.hash_one(key);
    let mut table = HashTable::new();
    let mut foresight = Foresight::new(count);
    pairs.for_each(|(hash, (key, item))| {
        match table.entry(hash, |(k, _): &(K, W)| *k == key, rehash) {
            Slot::Occupied(slot) => slot.into_mut().1.push(item),
            Slot::Vacant(slot) => drop(slot.insert((key, W::begin(item)))),
        }
        foresight.step(&mut table, rehash);
    });
    table
}

/// The keys alone.
struct Present<T, H> {
    key: H,
    item: PhantomData<fn(T)>,
}

impl<T: Send, K: Eq + Hash + Send, H: Fn(&T) -> K + Sync> Fold for Present<T, H> {
    type Item = T;
    type Key = K;
    type Raw = ();
    type Sum = ();
    const COMMUTES: bool = true;

    #[inline]
    fn read(&self, item: T, _: usize) -> (K, ()) {
        key_alone(&self.key, item)
    }

    #[inline]
    fn start(&self, (): ()) {}

    #[inline]
    fn add(&self, (): &mut (), (): ()) {}

    #[inline]
    fn merge(&self, (): &mut (), (): ()) {}
}

impl<R, H> sealed::Sealed for Loose<R, H> {}

impl<R, H, K> RightSide for Loose<R, H>
where
    R: ParallelIterator<Item: Sync>,
    K: Eq + Hash + Send + Sync,
    H: Fn(&R::Item) -> K + Send + Sync,
{
    type Key = K;
    type Item = R::Item;
    type Table = Table<K, R::Item>;
    type Keys = FrozenMap<K, ()>;
    type Noting = Marking<K, R::Item>;

    fn into_noting(self) -> Self::Noting {
        Marking(self.into_rows())
    }

    fn into_table(self) -> Self::Table {
        Table(if Table::<K, R::Item>::FLAT {
            Kind::Flat(self.into_flat())
        } else {
            Kind::Cut(self.into_rows())
        })
    }

    fn into_keys(self) -> FrozenMap<K, ()> {
        let hasher = DefaultHashBuilder::default();
        let present = Present {
            key: self.key,
            item: PhantomData,
        };
        let tables = tables(self.items, &present, &hasher);
        FrozenMap::from_tables(tables, hasher)
    }
}

impl<K, V, S> sealed::Sealed for &mut ParHashMap<K, V, S> {}

/// Without locks: `&mut` proves that no other thread changes the map. With `&`, a shard would have to stay
/// locked while the join's closures look at its entries.
impl<'a, K, V, S> RightSide for &'a mut ParHashMap<K, V, S>
where
    K: Eq + Hash + Send + Sync,
    V: Send + Sync,
    S: BuildHasher + Send + Sync,
{
    type Key = K;
    type Item = V;
    type Table = Opened<'a, K, V, S>;
    type Keys = Opened<'a, K, V, S>;
    type Noting = Beside<Opened<'a, K, V, S>>;

    fn into_noting(self) -> Self::Noting {
        Beside::new(self.open())
    }

    fn into_table(self) -> Self::Table {
        self.open()
    }

    fn into_keys(self) -> Self::Keys {
        self.open()
    }
}

/// Right sides that are already tables.
macro_rules! built {
    ($($table:ty: $K:ident, $V:ident, $S:ident;)*) => {$(
        impl<$K, $V, $S> sealed::Sealed for $table {}

        impl<$K, $V, $S> RightSide for $table
        where
            $K: Eq + Hash + Send + Sync,
            $V: Send + Sync,
            $S: BuildHasher + Send + Sync,
        {
            type Key = $K;
            type Item = $V;
            type Table = Self;
            type Keys = Self;
            type Noting = Beside<Self>;

            fn into_noting(self) -> Beside<Self> {
                Beside::new(self)
            }

            fn into_table(self) -> Self {
                self
            }

            fn into_keys(self) -> Self {
                self
            }
        }
    )*};
}

built! {
    FrozenMap<K, V, S>: K, V, S;
    &FrozenMap<K, V, S>: K, V, S;
    Groups<K, T, S>: K, T, S;
    &Groups<K, T, S>: K, T, S;
}
