//! The algebra of sets: comparing two sets, and making a third from them.
//!
//! The first set is walked shard by shard, and each item is looked up in the second. Both are only
//! read, so no order of locks can deadlock. The third set has its items in the same shards as the
//! first, or in one if they are few.
#![forbid(unsafe_code)]

use super::ParHashSet;
use crate::map::shard::{CROWD, Shards};
use hashbrown::HashTable;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hash};
use std::mem;
use std::ops::{BitAnd, BitOr, BitXor, Sub};

/// Clones of the items of a set that are chosen, shard by shard.
struct Chosen<T> {
    items: Vec<T>,
    /// For each shard how many of its items are chosen.
    counts: Vec<usize>,
}

/// Items that own nothing and have at most this number of bytes are cloned before it is known
/// whether they are chosen.
const SMALL: usize = 64;
/// Once this many are cloned, they are looked up.
const MANY: usize = 1 << 12;

impl<T: Eq + Hash, S: BuildHasher> ParHashSet<T, S> {
    /// Whether all items of this set are in the other.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert!(ParHashSet::from([1]).is_subset(&ParHashSet::from([1, 2])));
    /// ```
    pub fn is_subset<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>) -> bool {
        self.len() <= other.len() && self.all(|item| other.contains(item))
    }

    /// Whether all items of the other set are in this one.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert!(ParHashSet::from([1, 2]).is_superset(&ParHashSet::from([1])));
    /// ```
    pub fn is_superset<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>) -> bool {
        other.is_subset(self)
    }

    /// Whether the two sets have no item in common.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// assert!(ParHashSet::from([1, 2]).is_disjoint(&ParHashSet::from([3])));
    /// ```
    pub fn is_disjoint<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>) -> bool {
        self.all(|item| !other.contains(item))
    }

    /// Whether all items pass. The walk ends with the shard of the first item that does not.
    fn all(&self, test: impl Fn(&T) -> bool) -> bool {
        self.map
            .shards
            .walk()
            .all(|table| table.iter().all(|(item, ())| test(item)))
    }

    /// Chooses the items that `other` has (or, if not `has`, those that it has not).
    fn chosen<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>, has: bool) -> Chosen<T>
    where
        T: Clone,
    {
        let mut chosen = Chosen {
            items: Vec::new(),
            counts: Vec::new(),
        };
        if const { mem::needs_drop::<T>() || mem::size_of::<T>() > SMALL } {
            for table in self.map.shards.walk() {
                let before = chosen.items.len();
                let all = table.iter().map(|(item, ())| item);
                let these = all.filter(|item| other.contains(*item) == has);
                chosen.items.extend(these.cloned());
                chosen.counts.push(chosen.items.len() - before);
            }
            return chosen;
        }
        // Looking an item up while a shard is held takes longer than cloning such items.
        let (mut clones, mut lens) = (Vec::new(), Vec::new());
        for table in self.map.shards.walk() {
            clones.extend(table.iter().map(|(item, ())| item).cloned());
            lens.push(table.len());
            drop(table);
            if clones.len() >= MANY {
                chosen.choose(&mut clones, &mut lens, other, has);
            }
        }
        chosen.choose(&mut clones, &mut lens, other, has);
        chosen
    }

    /// The items that [`chosen`](Self::chosen) chooses, in a set of their own.
    fn selected<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>, has: bool) -> Self
    where
        T: Clone,
        S: Clone,
    {
        let Chosen { items, mut counts } = self.chosen(other, has);
        if items.len() <= CROWD {
            counts = vec![items.len()];
        }
        let hasher = self.hasher();
        let mut items = items.into_iter();
        let table = |count: usize| {
            let mut table = HashTable::with_capacity(count);
            for item in items.by_ref().take(count) {
                let hash = hasher.hash_one(&item);
                table.insert_unique(hash, (item, ()), |(item, ())| hasher.hash_one(item));
            }
            table
        };
        let shards = Shards::of(counts.into_iter().map(table).collect());
        let mut chosen = Self::with_hasher(hasher.clone());
        chosen.map.shards = shards;
        chosen
    }

    /// The items of either set.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let (a, b) = (ParHashSet::from([1, 2]), ParHashSet::from([2, 3]));
    /// assert_eq!(a.union(&b), ParHashSet::from([1, 2, 3]));
    /// assert_eq!(&a | &b, a.union(&b));
    /// ```
    pub fn union<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>) -> Self
    where
        T: Clone,
        S: Clone,
    {
        let mut both = self.clone();
        other.for_each(|item| {
            both.map.insert_mut(item.clone(), ());
        });
        both
    }

    /// The items of both sets.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let (a, b) = (ParHashSet::from([1, 2]), ParHashSet::from([2, 3]));
    /// assert_eq!(a.intersection(&b), ParHashSet::from([2]));
    /// assert_eq!(&a & &b, a.intersection(&b));
    /// ```
    pub fn intersection<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>) -> Self
    where
        T: Clone,
        S: Clone,
    {
        self.selected(other, true)
    }

    /// The items of this set that are not in the other.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let (a, b) = (ParHashSet::from([1, 2]), ParHashSet::from([2, 3]));
    /// assert_eq!(a.difference(&b), ParHashSet::from([1]));
    /// assert_eq!(&a - &b, a.difference(&b));
    /// ```
    pub fn difference<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>) -> Self
    where
        T: Clone,
        S: Clone,
    {
        self.selected(other, false)
    }

    /// The items that are in exactly one of the two sets.
    ///
    /// ```
    /// # use tine::ParHashSet;
    /// let (a, b) = (ParHashSet::from([1, 2]), ParHashSet::from([2, 3]));
    /// assert_eq!(a.symmetric_difference(&b), ParHashSet::from([1, 3]));
    /// assert_eq!(&a ^ &b, a.symmetric_difference(&b));
    /// ```
    pub fn symmetric_difference<Z: BuildHasher>(&self, other: &ParHashSet<T, Z>) -> Self
    where
        T: Clone,
        S: Clone,
    {
        let mut either = self.difference(other);
        for item in other.chosen(self, false).items {
            either.map.insert_mut(item, ());
        }
        either
    }
}

impl<T: Eq + Hash> Chosen<T> {
    /// Adds those of the clones that `other` has (or has not): of each shard the number that `lens` has.
    fn choose<Z: BuildHasher>(
        &mut self,
        clones: &mut Vec<T>,
        lens: &mut Vec<usize>,
        other: &ParHashSet<T, Z>,
        has: bool,
    ) {
        let is_chosen: Vec<bool> = if other.map.shards.is_wide() {
            other
                .contains_many(&*clones)
                .map(|there| there == has)
                .collect()
        } else {
            clones
                .iter()
                .map(|item| other.contains(item) == has)
                .collect()
        };
        let mut all = clones.drain(..).zip(is_chosen);
        for len in lens.drain(..) {
            let before = self.items.len();
            let these = all.by_ref().take(len);
            self.items
                .extend(these.filter_map(|(item, is_chosen)| is_chosen.then_some(item)));
            self.counts.push(self.items.len() - before);
        }
    }
}

macro_rules! operator {
    ($($operator:ident $symbol:ident $method:ident;)*) => {$(
        impl<T: Eq + Hash + Clone, S: BuildHasher + Clone> $operator for &ParHashSet<T, S> {
            type Output = ParHashSet<T, S>;

            fn $symbol(self, other: Self) -> ParHashSet<T, S> {
                self.$method(other)
            }
        }
    )*};
}

operator! {
    BitOr bitor union;
    BitAnd bitand intersection;
    Sub sub difference;
    BitXor bitxor symmetric_difference;
}

impl<T: Eq + Hash, S: BuildHasher, Z> PartialEq<HashSet<T, Z>> for ParHashSet<T, S> {
    fn eq(&self, other: &HashSet<T, Z>) -> bool {
        self.len() == other.len() && other.iter().all(|item| self.contains(item))
    }
}

/// Moves the items over; keeps the hasher.
impl<T: Eq + Hash, S: BuildHasher + Clone> From<hashbrown::HashSet<T, S>> for ParHashSet<T, S> {
    fn from(set: hashbrown::HashSet<T, S>) -> Self {
        let mut par = Self::with_hasher(set.hasher().clone());
        // No item repeats. They come in the order of their hashes, and would crowd tables that grow.
        par.reserve(set.len());
        par.extend(set);
        par
    }
}

/// Moves the items over; keeps the hasher.
impl<T: Eq + Hash, S: BuildHasher + Clone> From<ParHashSet<T, S>> for hashbrown::HashSet<T, S> {
    fn from(par: ParHashSet<T, S>) -> Self {
        let mut set = hashbrown::HashSet::with_capacity_and_hasher(par.len(), par.hasher().clone());
        set.extend(par);
        set
    }
}
