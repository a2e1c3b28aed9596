//! Tables in which joins look keys up, and marks for the keys that were met.
#![forbid(unsafe_code)]

use super::rows::Groups;
use crate::map::FrozenMap;
use crate::map::opened::Opened;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::mem;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

/// A table that finds the items of a key.
pub trait Lookup: Sync {
    /// The keys.
    type Key;
    /// The type of the items.
    type Item: Sync;

    /// The hash of a key, with which the key is looked up.
    fn hash(&self, key: &Self::Key) -> u64;

    /// Fetches the memory that looking up this hash will read.
    fn expect(&self, hash: u64);

    /// The items of a key, in their order.
    fn find(&self, hash: u64, key: &Self::Key) -> &[Self::Item];

    /// The amount of memory that lookups may read, roughly; 0 if [`expect`](Self::expect) does nothing.
    fn bytes(&self) -> usize;
}

/// A lookup that notes which keys were found.
pub trait Noting: Lookup {
    /// The items of the keys that were not found.
    fn strangers(self) -> impl Iterator<Item = Self::Item>
    where
        Self::Item: Clone;
}

/// A table whose rows have numbers.
pub trait Numbered: Lookup {
    /// For each part a number that is larger than the numbers of its rows.
    fn sizes(&self) -> impl Iterator<Item = usize>;

    /// The part and the number of a key's row, and the row.
    fn find_nth(&self, hash: u64, key: &Self::Key) -> Option<(usize, usize, &[Self::Item])>;

    /// All rows, as `find_nth` finds them.
    fn rows(&self) -> impl Iterator<Item = (usize, usize, &[Self::Item])>;
}

/// An existing table, and beside it a mark for each row that was found.
pub struct Beside<D> {
    table: D,
    met: Vec<Box<[AtomicBool]>>,
}

impl<D> fmt::Debug for Beside<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beside").finish_non_exhaustive()
    }
}

impl<D: Numbered> Beside<D> {
    pub(super) fn new(table: D) -> Self {
        let marks = |size| (0..size).map(|_| AtomicBool::new(false)).collect();
        let met = table.sizes().map(marks).collect();
        Beside { table, met }
    }
}

/// Sets a mark.
#[inline]
pub(super) fn mark(met: &AtomicBool) {
    // Read first, so that a row which many threads meet stays in all caches. Relaxed: the marks are read after
    // the walk, and the end of the walk orders that.
    if !met.load(Ordering::Relaxed) {
        met.store(true, Ordering::Relaxed);
    }
}

impl<D: Numbered> Lookup for Beside<D> {
    type Key = D::Key;
    type Item = D::Item;

    #[inline]
    fn hash(&self, key: &D::Key) -> u64 {
        self.table.hash(key)
    }

    #[inline]
    fn expect(&self, hash: u64) {
        self.table.expect(hash);
    }

    #[inline]
    fn find(&self, hash: u64, key: &D::Key) -> &[D::Item] {
        let Some((part, nth, row)) = self.table.find_nth(hash, key) else {
            return &[];
        };
        mark(&self.met[part][nth]);
        row
    }

    fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

impl<D: Numbered> Noting for Beside<D> {
    fn strangers(self) -> impl Iterator<Item = D::Item>
    where
        D::Item: Clone,
    {
        let rows = self.table.rows();
        let rows = rows.filter(|&(part, nth, _)| !self.met[part][nth].load(Ordering::Relaxed));
        let items: Vec<_> = rows.flat_map(|(_, _, row)| row.iter().cloned()).collect();
        // Before the return: items are not dropped if a destructor panics after it.
        drop(self);
        items.into_iter()
    }
}

impl<K, T, S> Numbered for Groups<K, T, S>
where
    K: Eq + Hash + Sync,
    T: Sync,
    S: BuildHasher + Sync,
{
    fn sizes(&self) -> impl Iterator<Item = usize> {
        self.part_lens()
    }

    #[inline]
    fn find_nth(&self, hash: u64, key: &K) -> Option<(usize, usize, &[T])> {
        self.find_nth_row(hash, key)
    }

    fn rows(&self) -> impl Iterator<Item = (usize, usize, &[T])> {
        self.numbered_rows()
    }
}

impl<D: Numbered + ?Sized> Numbered for &D {
    fn sizes(&self) -> impl Iterator<Item = usize> {
        D::sizes(self)
    }

    #[inline]
    fn find_nth(&self, hash: u64, key: &D::Key) -> Option<(usize, usize, &[D::Item])> {
        D::find_nth(self, hash, key)
    }

    fn rows(&self) -> impl Iterator<Item = (usize, usize, &[D::Item])> {
        D::rows(self)
    }
}

/// The two kinds of maps by their tables: frozen for good, or borrowed for the time of a join.
macro_rules! map {
    ($Map:ty) => {
        impl<K, V, S> Lookup for $Map
        where
            K: Eq + Hash + Sync,
            V: Sync,
            S: BuildHasher + Sync,
        {
            type Key = K;
            type Item = V;

            #[inline]
            fn hash(&self, key: &K) -> u64 {
                self.hash(key)
            }

            #[inline]
            fn expect(&self, hash: u64) {
                self.expect(hash);
            }

            #[inline]
            fn find(&self, hash: u64, key: &K) -> &[V] {
                self.find(hash, key)
                    .map_or(&[], |(_, value)| slice::from_ref(value))
            }

            fn bytes(&self) -> usize {
                self.buckets().sum::<usize>() * mem::size_of::<(K, V)>()
            }
        }

        impl<K, V, S> Numbered for $Map
        where
            K: Eq + Hash + Sync,
            V: Sync,
            S: BuildHasher + Sync,
        {
            fn sizes(&self) -> impl Iterator<Item = usize> {
                self.buckets()
            }

            #[inline]
            fn find_nth(&self, hash: u64, key: &K) -> Option<(usize, usize, &[V])> {
                let (part, nth, (_, value)) = self.find_bucket(hash, key)?;
                Some((part, nth, slice::from_ref(value)))
            }

            fn rows(&self) -> impl Iterator<Item = (usize, usize, &[V])> {
                let entries = self.iter_buckets();
                entries.map(|(part, nth, (_, value))| (part, nth, slice::from_ref(value)))
            }
        }
    };
}

map!(FrozenMap<K, V, S>);
map!(Opened<'_, K, V, S>);

impl<K, T, S> Lookup for Groups<K, T, S>
where
    K: Eq + Hash + Sync,
    T: Sync,
    S: BuildHasher + Sync,
{
    type Key = K;
    type Item = T;

    #[inline]
    fn hash(&self, key: &K) -> u64 {
        self.hasher().hash_one(key)
    }

    #[inline]
    fn expect(&self, _: u64) {}

    #[inline]
    fn find(&self, hash: u64, key: &K) -> &[T] {
        self.find_row(hash, key).unwrap_or(&[])
    }

    fn bytes(&self) -> usize {
        0
    }
}

impl<D: Lookup + ?Sized> Lookup for &D {
    type Key = D::Key;
    type Item = D::Item;

    #[inline]
    fn hash(&self, key: &D::Key) -> u64 {
        D::hash(self, key)
    }

    #[inline]
    fn expect(&self, hash: u64) {
        D::expect(self, hash);
    }

    #[inline]
    fn find(&self, hash: u64, key: &D::Key) -> &[D::Item] {
        D::find(self, hash, key)
    }

    fn bytes(&self) -> usize {
        D::bytes(self)
    }
}
