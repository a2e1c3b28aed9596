//! Numbered keys, and values with the number of their key, in the order of the input.
//!
//! If there are few keys, the number of a key is guessed from its hash: a slot holds the number of
//! the last key with such a hash, and one comparison tells whether it is the same key. That takes
//! less time than a lookup in a table.
//!
//! ```text
//! keys     b a c              in the order in which they first came
//! guesses  · · 1 · 0 · · 2    by hash
//! groups   0 1 0 0 2 1 …      for each value
//! ```
#![forbid(unsafe_code)]

use crate::settle::{Gap, Gapped, settle};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::hash::{BuildHasher, Hash};
use std::mem;

/// After this many values it is known whether there are few keys.
const GLANCE: usize = if cfg!(miri) { 1 << 5 } else { 1 << 10 };
/// Slots for guesses: 8 KB.
const SLOTS: usize = 1 << 11;
/// After this many guesses a listing asks how many of them were right.
const TRIAL: usize = if cfg!(miri) { 1 << 6 } else { 1 << 12 };
/// No key has this number.
const NONE: u32 = u32::MAX;

/// Values, each with the number of its key.
pub(super) struct Listing<K, T> {
    /// The index in `keys` of each key.
    places: HashTable<u32>,
    keys: Vec<K>,
    /// The group of each value.
    groups: Vec<u32>,
    values: Vec<T>,
    guesses: Option<Box<[u32; SLOTS]>>,
    /// How many more values are added before guessing begins or is judged.
    ahead: usize,
    /// The number of wrong guesses in this trial.
    missed: usize,
}

/// Keys, with the values of their groups laid out.
pub(super) struct Laid<K, T> {
    pub(super) places: HashTable<u32>,
    pub(super) keys: Vec<K>,
    pub(super) offsets: Vec<usize>,
    pub(super) values: Gapped<T>,
}

impl<K: Eq + Hash, T> Listing<K, T> {
    pub(super) fn new(count: usize) -> Self {
        Listing {
            places: HashTable::new(),
            keys: Vec::new(),
            groups: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
            guesses: None,
            ahead: GLANCE,
            missed: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The group of a key.
    #[inline]
    pub(super) fn group(&mut self, hash: u64, key: K, hasher: &impl BuildHasher) -> u32 {
        let keys = &mut self.keys;
        let same = |&place: &u32| keys[place as usize] == key;
        let rehash = |&place: &u32| hasher.hash_one(&keys[place as usize]);
        match self.places.entry(hash, same, rehash) {
            Slot::Occupied(slot) => *slot.get(),
            Slot::Vacant(slot) => {
                let fresh = u32::try_from(keys.len()).expect("fewer groups than 2^32");
                slot.insert(fresh);
                keys.push(key);
                fresh
            }
        }
    }

    #[inline]
    pub(super) fn add(&mut self, hash: u64, (key, value): (K, T), hasher: &impl BuildHasher) {
        let group = self.group(hash, key, hasher);
        self.groups.push(group);
        self.values.push(value);
    }

    /// Adds the pairs that come next.
    #[inline]
    pub(super) fn fill(
        &mut self,
        pairs: &mut impl Iterator<Item = (K, T)>,
        hasher: &impl BuildHasher,
    ) {
        loop {
            let (before, most) = (self.len(), self.ahead);
            let some = pairs.take(most);
            match self.guesses.take() {
                Some(mut guesses) => {
                    self.guess(some, &mut guesses, hasher);
                    self.guesses = Some(guesses);
                }
                None => some.for_each(|pair| self.add(hasher.hash_one(&pair.0), pair, hasher)),
            }
            self.ahead -= self.len() - before;
            if self.ahead > 0 {
                return;
            }
            self.judge();
        }
    }

    #[inline]
    fn guess(
        &mut self,
        pairs: impl Iterator<Item = (K, T)>,
        guesses: &mut [u32; SLOTS],
        hasher: &impl BuildHasher,
    ) {
        pairs.for_each(|(key, value)| {
            let hash = hasher.hash_one(&key);
            let guess = &mut guesses[hash as usize % SLOTS];
            let group = match self.keys.get(*guess as usize) {
                Some(known) if *known == key => *guess,
                _ => {
                    *guess = self.look_up(hash, key, hasher);
                    *guess
                }
            };
            self.groups.push(group);
            self.values.push(value);
        });
    }

    /// A separate function, so that the loop of the guesses is short.
    #[inline(never)]
    fn look_up(&mut self, hash: u64, key: K, hasher: &impl BuildHasher) -> u32 {
        self.missed += 1;
        self.group(hash, key, hasher)
    }

    /// Decides whether numbers are guessed from here on.
    #[cold]
    fn judge(&mut self) {
        let pays = match self.guesses {
            Some(_) => self.missed <= TRIAL / 4,
            None => self.keys.len() <= GLANCE / 2,
        };
        self.missed = 0;
        self.ahead = if pays { TRIAL } else { usize::MAX };
        self.guesses = pays.then(|| {
            self.guesses
                .take()
                .unwrap_or_else(|| Box::new([NONE; SLOTS]))
        });
    }

    /// Adds the values of a later listing.
    pub(super) fn append(&mut self, mut later: Self, hasher: &impl BuildHasher) {
        let number = |key| self.group(hasher.hash_one(&key), key, hasher);
        let numbers: Vec<u32> = mem::take(&mut later.keys).into_iter().map(number).collect();
        let groups = later.groups.iter();
        self.groups
            .extend(groups.map(|&group| numbers[group as usize]));
        self.values.append(&mut later.values);
    }

    /// The keys; for each value the number of its key; the values.
    pub(super) fn into_parts(self) -> (Vec<K>, Vec<u32>, Vec<T>) {
        (self.keys, self.groups, self.values)
    }

    pub(super) fn lay(self, gaps: &[Gap]) -> Laid<K, T> {
        let (values, offsets) = settle(self.values, &self.groups, self.keys.len(), gaps);
        Laid {
            places: self.places,
            keys: self.keys,
            offsets,
            values,
        }
    }
}
