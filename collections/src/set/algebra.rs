//! Sets as sets: comparing two, and making a third from them.
//!
//! The first set is walked shard by shard, and the second is asked about each item. Both only read,
//! so no order of locks can deadlock.
#![forbid(unsafe_code)]

use super::ParHashSet;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hash};
use std::ops::{BitAnd, BitOr, BitXor, Sub};

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

    /// Clones of the items that pass, in a set of their own.
    fn selected(&self, test: impl Fn(&T) -> bool) -> Self
    where
        T: Clone,
        S: Clone,
    {
        let mut chosen = Self::with_hasher(self.hasher().clone());
        self.for_each(|item| {
            if test(item) {
                chosen.map.insert_mut(item.clone(), ());
            }
        });
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
        self.selected(|item| other.contains(item))
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
        self.selected(|item| !other.contains(item))
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
        other.for_each(|item| {
            if !self.contains(item) {
                either.map.insert_mut(item.clone(), ());
            }
        });
        either
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
