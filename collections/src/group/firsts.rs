//! First items of their keys, as a single worker finds them: two ways to keep them, and when to give that up.
#![forbid(unsafe_code)]

use crate::foresight::{headroom, room_for};
use crate::gather::{Bag, fits};
use crate::map::table::grow;
use crate::word::word;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::hash::{BuildHasher, Hash};
use std::iter::Flatten;
use std::mem;
use std::vec;

/// Up to this number of items, if it is known, items stay in tables, whatever their keys.
const SHORT: usize = 1 << 17;
/// The same, if one thread takes all items.
const LONG: usize = 1 << 19;
/// If the number of items is not known, up to this many keys are few.
const FEW: usize = 1 << 20;
/// A worker looks at its table when it holds this many keys, and each time the number of keys has doubled. If
/// hardly any item since the last look had a key that the table knew, the worker gives the table up. So it
/// keeps keys that come again and again in the same order if there are no more than this. It gives up a table
/// of a million equally frequent keys, which would miss the cache at each item, and would have to be merged.
/// (Debug builds look earlier, so that tests of moderate size reach the code beyond.)
const TRIED: usize = if cfg!(miri) {
    1 << 9
} else if cfg!(debug_assertions) {
    1 << 15
} else {
    1 << 17
};
/// A table is kept if it met a known key at least once for each N new keys; this is N.
const STALE: usize = 12;
/// The number of keys of one table that are looked up in another.
const SAMPLE: usize = 64;

/// After this number of items whose keys a table lacks, a worker checks whether lookups in it pay.
const TRIAL: usize = 1 << 14;

/// Whether it pays to look items up in a table that takes no further items.
#[derive(Default)]
pub(super) struct Trial {
    known: usize,
    unknown: usize,
}

impl Trial {
    /// An item was found.
    #[inline]
    pub(super) fn met(&mut self) {
        self.known += 1;
    }

    /// An item was not found. Says whether to look up the next ones.
    #[inline]
    pub(super) fn missed(&mut self) -> bool {
        self.unknown += 1;
        self.unknown < TRIAL || self.judge()
    }

    #[cold]
    fn judge(&mut self) -> bool {
        let pays = self.known >= self.unknown / 3;
        *self = Trial::default();
        pays
    }
}

/// First items, and how often new items have come.
pub(super) struct Row<F> {
    pub(super) firsts: F,
    /// The number of items since the last look.
    seen: usize,
    /// The number of keys at the next look, and how many of them are new since the last look.
    look: usize,
    new: usize,
    /// Whether a look has found that nearly all keys are new.
    stale: bool,
}

impl<F: Default> Default for Row<F> {
    fn default() -> Self {
        Row {
            firsts: F::default(),
            seen: 0,
            look: TRIED,
            new: TRIED,
            stale: false,
        }
    }
}

impl<F: IntoIterator> IntoIterator for Row<F> {
    type Item = F::Item;
    type IntoIter = F::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.firsts.into_iter()
    }
}

impl<F> Row<F> {
    /// Looks at how many items found their key.
    #[cold]
    fn judge(&mut self) {
        self.stale = self.seen.saturating_sub(self.new) < self.new / STALE;
        self.seen = 0;
        self.new = self.look;
        self.look *= 2;
    }

    /// Puts first items in until there are `most`.
    #[inline]
    fn put<K, V>(
        &mut self,
        pairs: &mut impl Iterator<Item = (K, V)>,
        most: usize,
        hasher: &impl BuildHasher,
    ) where
        F: Firsts<K, V>,
    {
        let Row { firsts, seen, .. } = self;
        pairs.any(|(key, value)| {
            *seen += 1;
            firsts.add(key, value, hasher);
            firsts.len() >= most
        });
    }
}

impl<F: Firsts<K, V>, K: Send, V: Send, S: BuildHasher> Bag<(K, V), S> for Row<F> {
    const FEW: usize = SHORT;
    // A single table takes no longer than the loop's.
    const ALONE: usize = LONG;
    const UNKNOWN: usize = FEW;
    // Another table is filled from nothing, and then merged.
    const WORTH: u64 = 2_000_000;

    fn first(expected: usize) -> Self {
        let mut row = Self::default();
        row.firsts.expect(expected);
        row
    }

    fn len(&self) -> usize {
        self.firsts.len()
    }

    fn is_full(&self, few: usize) -> bool {
        self.stale || self.firsts.len() > few
    }

    #[inline]
    fn fill(&mut self, pairs: &mut impl Iterator<Item = (K, V)>, most: usize, hasher: &S) {
        let most = most.saturating_add(1);
        while is_looked_at(most - 1) && self.look < most {
            self.put(pairs, self.look, hasher);
            if self.firsts.len() < self.look {
                return;
            }
            self.judge();
            if self.stale {
                return;
            }
        }
        self.put(pairs, most, hasher);
    }

    #[inline]
    fn take<I: Iterator<Item = (K, V)>>(
        &mut self,
        pairs: I,
        few: usize,
        hasher: &S,
    ) -> Result<(), I> {
        let most = match is_looked_at(few) {
            true => few.min(self.look - 1),
            false => few,
        };
        if self.stale || !fits(&pairs, most.saturating_sub(self.firsts.len())) {
            return Err(pairs);
        }
        self.seen += self.firsts.add_all(pairs, hasher);
        Ok(())
    }

    fn append(&mut self, later: Self, hasher: &S) {
        self.seen += later.seen;
        self.firsts.append(later.firsts, hasher);
    }

    fn is_like(&self, other: &Self, hasher: &S) -> bool {
        let (few, many) = match self.firsts.len() < other.firsts.len() {
            true => (self, other),
            false => (other, self),
        };
        few.firsts.is_in(&many.firsts, hasher)
    }
}

/// Whether a table that may have that number of keys is given up if it does not pay.
fn is_looked_at(few: usize) -> bool {
    few > SHORT && few != LONG
}

/// The first items of all keys that came. As an iterator it has them in order.
pub(super) trait Firsts<K, V>: IntoIterator<Item = (K, V)> + Default + Send {
    fn len(&self) -> usize;

    /// Notes that this number of items will come.
    fn expect(&mut self, _items: usize) {}

    /// Puts in the item if it is the first of its key.
    fn add(&mut self, key: K, value: V, hasher: &impl BuildHasher);

    /// Puts in the items that are the first of their keys. Returns the number of all items.
    fn add_all(&mut self, pairs: impl Iterator<Item = (K, V)>, hasher: &impl BuildHasher) -> usize {
        let mut count = 0;
        for (key, value) in pairs {
            count += 1;
            self.add(key, value, hasher);
        }
        count
    }

    /// Puts in the first items of `later`, which lies later in the input.
    fn append(&mut self, later: Self, hasher: &impl BuildHasher);

    /// Whether most of a few keys of this are in `other` too.
    fn is_in(&self, other: &Self, hasher: &impl BuildHasher) -> bool;
}

/// A table of the items, each with its rank. All ranks are below `ranks`. Some have no item, but after
/// [`append`](Firsts::append) there are no more ranks than [`most_ranks`](Ranked::most_ranks) says.
pub(super) struct Ranked<K, V> {
    table: HashTable<(K, (u32, V))>,
    ranks: u32,
}

/// Up to this many ranks for each item: closing the gaps takes two walks over the table.
const GAPS: usize = 4;
/// This many ranks may lack an item, however few items there are.
const SPARE: usize = 256;

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

impl<K: Eq + Hash, V> Ranked<K, V> {
    /// All ranks are below this number.
    pub(super) fn ranks(&self) -> usize {
        self.ranks as usize
    }

    #[inline]
    pub(super) fn has(&self, key: &K, hasher: &impl BuildHasher) -> bool {
        let hash = hasher.hash_one(key);
        self.table.find(hash, |(k, _)| *k == *key).is_some()
    }

    fn most_ranks(&self) -> usize {
        GAPS * self.table.len() + SPARE
    }

    /// Counts the ranks anew, without those that have no item.
    #[cold]
    fn close_ranks(&mut self) {
        let mut places = vec![0; self.ranks()];
        for (_, (rank, _)) in &self.table {
            places[*rank as usize] = 1;
        }
        self.ranks = 0;
        for place in &mut places {
            self.ranks += mem::replace(place, self.ranks);
        }
        for (_, (rank, _)) in &mut self.table {
            *rank = places[*rank as usize];
        }
    }

    /// All items, with their ranks, in any order.
    pub(super) fn into_placed(self) -> impl Iterator<Item = (usize, (K, V))> {
        let entries = self.table.into_iter();
        entries.map(|(key, (rank, value))| (rank as usize, (key, value)))
    }
}

impl<K: Eq + Hash + Send, V: Send> Firsts<K, V> for Ranked<K, V> {
    fn len(&self) -> usize {
        self.table.len()
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
        let end = ranks.checked_add(later.ranks);
        let end = end.expect("fewer keys than 2^30");
        let rehash = |(key, _): &(K, _)| hasher.hash_one(key);
        // The entries of one table come in the order of their hashes: they would crowd a table that grows.
        let more = later.table.len().saturating_sub(table.len());
        grow(table, more, rehash).expect("capacity overflow, or no memory for the entries");
        for (key, (rank, value)) in later.table {
            let hash = hasher.hash_one(&key);
            if let Slot::Vacant(slot) = table.entry(hash, |(k, _)| *k == key, rehash) {
                slot.insert((key, (*ranks + rank, value)));
            }
        }
        *ranks = end;
        // The keys that were here already have left their ranks without items.
        if self.ranks() > self.most_ranks() {
            self.close_ranks();
        }
    }

    fn is_in(&self, other: &Self, hasher: &impl BuildHasher) -> bool {
        let sample = self.table.iter().take(SAMPLE);
        let there = sample.filter(|(key, _)| other.has(key, hasher)).count();
        2 * there > self.table.len().min(SAMPLE)
    }
}

/// The words of keys that are words, and the items in order. A table of half the size needs half the cache.
pub(super) struct Listed<K, V> {
    words: HashTable<u64>,
    list: Vec<(K, V)>,
    /// The number of items that have come, and of items that are expected; 0 if that is not known.
    seen: usize,
    expected: usize,
}

impl<K, V> Default for Listed<K, V> {
    fn default() -> Self {
        Listed {
            words: HashTable::new(),
            list: Vec::new(),
            seen: 0,
            expected: 0,
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

impl<K, V> Listed<K, V> {
    /// The words, and the items in order.
    pub(super) fn into_parts(self) -> (HashTable<u64>, Vec<(K, V)>) {
        (self.words, self.list)
    }

    /// A separate function, so that the loop around `add` is short.
    #[inline(never)]
    fn insert(&mut self, hash: u64, word: u64, item: (K, V), hasher: &impl BuildHasher) {
        self.list.push(item);
        if self.words.len() == self.words.capacity() {
            self.grow(hasher);
        }
        let rehash = |word: &u64| hasher.hash_one(word);
        self.words.insert_unique(hash, word, rehash);
    }

    /// Makes room for more keys, when the table is full.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, hasher: &impl BuildHasher) {
        // The table is dropped in the end, so it does no harm if it turns out too large.
        let (keys, seen) = (self.words.len(), self.seen);
        let more = match self.expected.saturating_sub(seen) {
            0 => headroom(keys, seen),
            rest => room_for(keys, seen, rest),
        };
        let rehash = |word: &u64| hasher.hash_one(word);
        grow(&mut self.words, more, rehash)
            .expect("capacity overflow, or no memory for the entries");
    }
}

impl<K: Eq + Hash + Send, V: Send> Firsts<K, V> for Listed<K, V> {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn expect(&mut self, items: usize) {
        self.expected = items;
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
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Firsts, Listed, Ranked, Row, TRIED};
    use crate::gather::Bag;
    use std::collections::hash_map::RandomState;
    use std::iter::repeat_n;

    /// A worker meets each key five times. Four of these items come in a small row, which the worker appends to
    /// its own row; the fifth comes to its own row directly. A row counts appended items too, so it sees that
    /// keys repeat, and is kept.
    #[test]
    fn items_of_appended_rows_count() {
        type Keys = Row<Listed<u64, ()>>;
        let few = <Keys as Bag<(u64, ()), RandomState>>::UNKNOWN;
        let hasher = RandomState::new();
        let mut row = Keys::default();
        for key in 0..TRIED as u64 + 100 {
            let mut later = Keys::default();
            Bag::fill(&mut later, &mut repeat_n((key, ()), 4), few, &hasher);
            Bag::<(u64, ()), _>::append(&mut row, later, &hasher);
            Bag::fill(&mut row, &mut repeat_n((key, ()), 1), few, &hasher);
            assert!(!Bag::<_, RandomState>::is_full(&row, few), "{key}");
        }
    }

    /// Tables that hold the same keys, appended one after another: the ranks of later ones do not add up, and the
    /// items come in order.
    #[test]
    fn known_keys_keep_no_ranks() {
        let hasher = RandomState::new();
        let of = |keys: &[&'static str], from: usize| {
            let mut ranked = Ranked::default();
            for (at, key) in keys.iter().enumerate() {
                ranked.add(*key, from + at, &hasher);
            }
            ranked
        };
        let mut all = Ranked::default();
        let names = ["fork", "comb", "rake", "harrow", "antler"];
        let pieces = if cfg!(miri) { 600 } else { 20_000 };
        for at in 0..pieces {
            // A new key comes seldom.
            let count = (2 + at / (pieces / 4)).min(names.len());
            all.append(of(&[names[at % count]], at), &hasher);
            assert!(all.ranks() <= all.most_ranks(), "{at}");
        }
        let mut twice = of(&names, 0);
        twice.append(all, &hasher);
        twice.append(of(&["a", "fork", "b"], pieces), &hasher);
        assert!(twice.ranks() <= twice.most_ranks());
        twice.close_ranks();
        assert_eq!((twice.ranks(), twice.table.len()), (7, 7));
        twice.add("c", pieces + 3, &hasher);
        let items: Vec<_> = twice.into_iter().collect();
        let (keys, places): (Vec<_>, Vec<_>) = items.into_iter().unzip();
        let expected = ["fork", "comb", "rake", "harrow", "antler", "a", "b", "c"];
        assert_eq!(keys, expected);
        let ends = [pieces, pieces + 2, pieces + 3];
        assert!(places.into_iter().eq((0..5).chain(ends)));
    }

    /// A table that knows half of the keys of another large one.
    #[test]
    fn ranks_close_in_order() {
        let hasher = RandomState::new();
        let count = if cfg!(miri) { 200 } else { 3000 };
        let of = |keys: std::ops::Range<u32>| {
            let mut ranked = Ranked::default();
            keys.for_each(|key| ranked.add(key.to_string(), key, &hasher));
            ranked
        };
        let mut all = of(0..count);
        (1..60).for_each(|nth| all.append(of(nth * count / 20..nth * count / 20 + count), &hasher));
        let len = 59 * count / 20 + count;
        assert_eq!(all.table.len() as u32, len);
        assert!(all.ranks() <= all.most_ranks());
        let before = all.ranks;
        all.close_ranks();
        assert_eq!(all.ranks, len);
        assert!(before >= len);
        assert!(all.into_iter().map(|(_, key)| key).eq(0..len));
    }
}
