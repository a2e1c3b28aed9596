//! First items of their keys, as one worker finds them: two ways to keep them.
#![forbid(unsafe_code)]

use crate::map::table::grow;
use crate::word::word;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::hash::{BuildHasher, Hash};
use std::iter::{Enumerate, Flatten};
use std::vec;

/// How many keys of one table are looked up in another.
const SAMPLE: usize = 64;

/// The first items of all keys that came. As an iterator it has them in order.
pub(super) trait Firsts<K, V>: IntoIterator<Item = (K, V)> + Default + Send {
    /// An iterator over all items, with their ranks, in any order.
    type Placed: Iterator<Item = (usize, (K, V))>;

    fn len(&self) -> usize;

    /// All ranks are below; some of them may be of no item.
    fn ranks(&self) -> usize;

    fn has(&self, key: &K, hasher: &impl BuildHasher) -> bool;

    /// Puts in the item if it is the first of its key.
    fn add(&mut self, key: K, value: V, hasher: &impl BuildHasher);

    /// Puts in the items that are the first of their keys. The number of all.
    fn add_all(&mut self, pairs: impl Iterator<Item = (K, V)>, hasher: &impl BuildHasher) -> usize {
        let mut count = 0;
        for (key, value) in pairs {
            count += 1;
            self.add(key, value, hasher);
        }
        count
    }

    /// Puts in the first items of what comes later in the input.
    fn append(&mut self, later: Self, hasher: &impl BuildHasher);

    /// Whether most of some keys here are there too.
    fn is_in(&self, other: &Self, hasher: &impl BuildHasher) -> bool;

    fn into_placed(self) -> Self::Placed;
}

/// A table of the items, each with its rank.
pub(super) struct Ranked<K, V> {
    table: HashTable<(K, (u32, V))>,
    ranks: u32,
}

impl<K, V> Default for Ranked<K, V> {
    fn default() -> Self {
        Ranked {
            table: HashTable::new(),
            ranks: 0,
        }
    }
}

impl<K, V> IntoIterator for Ranked<K, V> {
    type Item = (K, V);
    type IntoIter = Flatten<vec::IntoIter<Option<(K, V)>>>;

    fn into_iter(self) -> Self::IntoIter {
        let mut slots: Vec<Option<(K, V)>> = Vec::new();
        slots.resize_with(self.ranks as usize, || None);
        for (key, (rank, value)) in self.table {
            slots[rank as usize] = Some((key, value));
        }
        slots.into_iter().flatten()
    }
}

/// A ranked entry, as it leaves its table.
type Unranked<K, V> = fn((K, (u32, V))) -> (usize, (K, V));

impl<K: Eq + Hash + Send, V: Send> Firsts<K, V> for Ranked<K, V> {
    type Placed = std::iter::Map<hashbrown::hash_table::IntoIter<(K, (u32, V))>, Unranked<K, V>>;

    fn len(&self) -> usize {
        self.table.len()
    }

    fn ranks(&self) -> usize {
        self.ranks as usize
    }

    #[inline]
    fn has(&self, key: &K, hasher: &impl BuildHasher) -> bool {
        let hash = hasher.hash_one(key);
        self.table.find(hash, |(k, _)| *k == *key).is_some()
    }

    #[inline(always)]
    fn add(&mut self, key: K, value: V, hasher: &impl BuildHasher) {
        let Ranked { table, ranks } = self;
        let hash = hasher.hash_one(&key);
        if table.find(hash, |(k, _)| *k == key).is_some() {
            return;
        }
        let entry = (key, (*ranks, value));
        *ranks = ranks.checked_add(1).expect("fewer keys than 2^32");
        // Nothing was ever removed from it, so growing loses nothing if a hasher panics.
        table.insert_unique(hash, entry, |(key, _)| hasher.hash_one(key));
    }

    /// Ranks of later items follow those of the items here.
    fn append(&mut self, later: Self, hasher: &impl BuildHasher) {
        let Ranked { table, ranks } = self;
        let rehash = |(key, _): &(K, _)| hasher.hash_one(key);
        // One table's entries come in the order of their hashes: they would crowd a table that grows.
        let more = later.table.len().saturating_sub(table.len());
        grow(table, more, rehash).expect("capacity overflow, or no memory for the entries");
        for (key, (rank, value)) in later.table {
            let hash = hasher.hash_one(&key);
            if let Slot::Vacant(slot) = table.entry(hash, |(k, _)| *k == key, rehash) {
                slot.insert((key, (*ranks + rank, value)));
            }
        }
        *ranks += later.ranks;
    }

    fn is_in(&self, other: &Self, hasher: &impl BuildHasher) -> bool {
        let sample = self.table.iter().take(SAMPLE);
        let there = sample.filter(|(key, _)| other.has(key, hasher)).count();
        2 * there > self.table.len().min(SAMPLE)
    }

    fn into_placed(self) -> Self::Placed {
        let unranked: Unranked<K, V> = |(key, (rank, value))| (rank as usize, (key, value));
        self.table.into_iter().map(unranked)
    }
}

/// Words of keys that have one, and the items in order. A table of half the size needs half the cache.
pub(super) struct Listed<K, V> {
    words: HashTable<u64>,
    list: Vec<(K, V)>,
    /// The number of items that came since the table has grown, and its keys before that.
    seen: usize,
    grown: usize,
}

impl<K, V> Default for Listed<K, V> {
    fn default() -> Self {
        Listed {
            words: HashTable::new(),
            list: Vec::new(),
            seen: 0,
            grown: 0,
        }
    }
}

impl<K, V> IntoIterator for Listed<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

/// A table of fewer keys doubles when it is full.
const SMALL: usize = 64;

impl<K, V> Listed<K, V> {
    /// Apart, so that the loop around `add` is short.
    #[inline(never)]
    fn insert(&mut self, hash: u64, word: u64, item: (K, V), hasher: &impl BuildHasher) {
        self.list.push(item);
        if self.words.len() == self.words.capacity() {
            self.grow(hasher);
        }
        let rehash = |word: &u64| hasher.hash_one(word);
        self.words.insert_unique(hash, word, rehash);
    }

    /// Room for more keys, after the table has become full.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, hasher: &impl BuildHasher) {
        let Listed {
            words, seen, grown, ..
        } = self;
        let len = words.len();
        // Of keys that come equally often there are more than twice as many while three of four are new.
        let more = match len >= SMALL && len - *grown > *seen / 4 * 3 {
            true => 3 * len,
            false => len.max(1),
        };
        let rehash = |word: &u64| hasher.hash_one(word);
        grow(words, more, rehash).expect("capacity overflow, or no memory for the entries");
        (*seen, *grown) = (0, len);
    }
}

impl<K: Eq + Hash + Send, V: Send> Firsts<K, V> for Listed<K, V> {
    type Placed = Enumerate<vec::IntoIter<(K, V)>>;

    fn len(&self) -> usize {
        self.list.len()
    }

    fn ranks(&self) -> usize {
        self.list.len()
    }

    #[inline]
    fn has(&self, key: &K, hasher: &impl BuildHasher) -> bool {
        let word = word(key);
        self.words
            .find(hasher.hash_one(word), |w| *w == word)
            .is_some()
    }

    #[inline(always)]
    fn add(&mut self, key: K, value: V, hasher: &impl BuildHasher) {
        self.seen += 1;
        let word = word(&key);
        let hash = hasher.hash_one(word);
        if self.words.find(hash, |w| *w == word).is_none() {
            self.insert(hash, word, (key, value), hasher);
        }
    }

    #[inline(never)] // the compiler knows that nothing else uses an argument
    fn add_all(&mut self, pairs: impl Iterator<Item = (K, V)>, hasher: &impl BuildHasher) -> usize {
        let (mut count, mut noted) = (0, 0);
        for (key, value) in pairs {
            count += 1;
            let word = word(&key);
            let hash = hasher.hash_one(word);
            if self.words.find(hash, |w| *w == word).is_none() {
                self.seen += count - noted;
                noted = count;
                self.insert(hash, word, (key, value), hasher);
            }
        }
        self.seen += count - noted;
        count
    }

    fn append(&mut self, later: Self, hasher: &impl BuildHasher) {
        self.add_all(later.into_iter(), hasher);
    }

    fn is_in(&self, other: &Self, hasher: &impl BuildHasher) -> bool {
        let sample = self.words.iter().take(SAMPLE);
        let is_there = |word: &&u64| {
            let is_it = |w: &u64| w == *word;
            other.words.find(hasher.hash_one(word), is_it).is_some()
        };
        2 * sample.filter(is_there).count() > self.words.len().min(SAMPLE)
    }

    fn into_placed(self) -> Self::Placed {
        self.list.into_iter().enumerate()
    }
}
