//! The last pair of each key, in a table that estimates how much room it will need.
//!
//! `collect` into a map fills it while there are few pairs, or few keys.
#![forbid(unsafe_code)]

use crate::foresight::{new_keys, new_keys_with_doubt};
use crate::gather::{Bag, START, fits};
use crate::map::table::grow;
use hashbrown::HashTable;
use hashbrown::hash_table;
use std::hash::{BuildHasher, Hash};
use std::mem;

/// Pairs that came, the last one of each key.
pub(crate) struct Latest<K, V> {
    pub(crate) table: HashTable<(K, V)>,
    /// How many pairs are expected; 0 where that is not known.
    expected: usize,
    /// How many of the first pairs have come, which tell how many keys all will have.
    seen: usize,
    /// Whether these pairs have shown that the following pairs should be scattered.
    full: bool,
}

/// A table in which few entries have room for many is shrunk in the end if it has more bytes than this.
pub(crate) const SPARE: usize = 64 << 10;
/// Bytes of entries for which room is made before they have come.
const AHEAD: usize = 8 << 20;
/// Up to this number of pairs, all have room at once.
const SCANT: usize = 1 << 13;
/// Of more, this part tells how many keys there are.
const PROBE: usize = 32;
/// Room is made for this part of them at least.
const LEAST: usize = 4;
/// Of very many, this part tells whether keys come again.
const GLANCE: usize = 64;

impl<K, V> Default for Latest<K, V> {
    fn default() -> Self {
        Latest {
            table: HashTable::new(),
            expected: 0,
            seen: 0,
            full: false,
        }
    }
}

impl<K, V> IntoIterator for Latest<K, V> {
    type Item = (K, V);
    type IntoIter = hash_table::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.table.into_iter()
    }
}

impl<K: Eq + Hash + Send, V: Send, S: BuildHasher> Bag<(K, V), S> for Latest<K, V> {
    const FEW: usize = 1 << 17;
    // A single table takes no longer than the loop's.
    const ALONE: usize = 1 << 19;
    // Another table is filled from nothing, and then merged.
    const WORTH: u64 = 2_000_000;

    /// The number of pairs from which the rest is judged; less than where it is not known how many
    /// come. The more pairs come, the more it costs to take keys that come in turns for new ones.
    fn many(count: usize) -> usize {
        (count / GLANCE).clamp(START / 16, START - 1)
    }

    fn first(expected: usize) -> Self {
        let most = AHEAD / mem::size_of::<(K, V)>().max(1);
        let room = if expected <= SCANT {
            expected
        } else {
            expected / PROBE
        };
        Latest {
            table: HashTable::with_capacity(room.min(most)),
            expected,
            ..Self::default()
        }
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn is_full(&self, few: usize) -> bool {
        self.full || self.table.len() > few.max(START)
    }

    #[inline]
    fn fill(&mut self, pairs: &mut impl Iterator<Item = (K, V)>, few: usize, hasher: &S) {
        if !self.look(pairs, few, hasher) || Bag::<_, S>::is_full(self, few) {
            return;
        }
        let (table, most) = (&mut self.table, few.max(START));
        pairs.any(|pair| {
            renew(table, pair, hasher);
            table.len() > most
        });
    }

    #[inline]
    fn take<I: Iterator<Item = (K, V)>>(
        &mut self,
        mut pairs: I,
        few: usize,
        hasher: &S,
    ) -> Result<(), I> {
        if !fits(&pairs, few.max(START).saturating_sub(self.table.len())) {
            return Err(pairs);
        }
        if self.look(&mut pairs, few, hasher) {
            if self.full {
                return Err(pairs);
            }
            renew_all(&mut self.table, pairs, hasher);
        }
        Ok(())
    }

    fn append(&mut self, later: Self, hasher: &S) {
        let table = &mut self.table;
        let rehash = |(key, _): &(K, V)| hasher.hash_one(key);
        // The entries of one table come in the order of their hashes: they would crowd a table that grows.
        grow(table, later.table.len(), rehash)
            .expect("capacity overflow, or no memory for the entries");
        for pair in later.table {
            renew(table, pair, hasher);
        }
    }
}

impl<K: Eq + Hash, V> Latest<K, V> {
    /// How many of the first pairs tell how many keys all will have.
    fn probe(&self, few: usize) -> usize {
        match few {
            ..START => few,
            START => 0,
            _ if self.expected <= SCANT => 0,
            _ => self.expected / PROBE,
        }
    }

    /// Inserts the first pairs, and draws conclusions from them. Says whether more may come: if not, there is nothing to be
    /// asked of an iterator that has ended.
    #[inline]
    fn look<S: BuildHasher>(
        &mut self,
        pairs: &mut impl Iterator<Item = (K, V)>,
        few: usize,
        hasher: &S,
    ) -> bool {
        let probe = self.probe(few);
        if self.seen < probe {
            self.seen += renew_some(&mut self.table, pairs.take(probe - self.seen), hasher);
            if self.seen < probe {
                return false;
            }
            self.conclude(few, hasher);
        }
        true
    }

    /// Makes room for the keys that are foretold, if all keys are equally frequent; or is full, if keys hardly ever
    /// come again.
    #[cold]
    fn conclude<S: BuildHasher>(&mut self, few: usize, hasher: &S) {
        let (seen, keys) = (self.seen, self.table.len());
        if few < START {
            self.full = keys + new_keys(seen, keys, usize::MAX) > START;
            return;
        }
        let rest = self.expected.saturating_sub(seen);
        // If some keys are more frequent than others, more will come than are foretold.
        let more = new_keys_with_doubt(seen, keys, rest);
        let more = more.max(self.expected / LEAST).min(rest);
        let most = AHEAD / mem::size_of::<(K, V)>().max(1);
        let more = more.min(most.saturating_sub(keys));
        // Nothing was ever removed from it, so growing loses nothing if a hasher panics.
        let rehash = |(key, _): &(K, V)| hasher.hash_one(key);
        grow(&mut self.table, more, rehash)
            .expect("capacity overflow, or no memory for the entries");
    }
}

/// Inserts all pairs; of each key the last one stays.
#[inline(never)] // the compiler knows that nothing else uses an argument
fn renew_all<K: Eq + Hash, V, S: BuildHasher>(
    table: &mut HashTable<(K, V)>,
    pairs: impl Iterator<Item = (K, V)>,
    hasher: &S,
) {
    for pair in pairs {
        renew(table, pair, hasher);
    }
}

/// The same of a few pairs. Says how many there were.
#[inline(never)]
fn renew_some<K: Eq + Hash, V, S: BuildHasher>(
    table: &mut HashTable<(K, V)>,
    pairs: impl Iterator<Item = (K, V)>,
    hasher: &S,
) -> usize {
    let mut count = 0;
    for pair in pairs {
        renew(table, pair, hasher);
        count += 1;
    }
    count
}

/// Inserts a pair, in place of the one of its key that is there.
#[inline(always)]
fn renew<K: Eq + Hash, V, S: BuildHasher>(
    table: &mut HashTable<(K, V)>,
    (key, value): (K, V),
    hasher: &S,
) {
    let hash = hasher.hash_one(&key);
    if let Some((_, old)) = table.find_mut(hash, |(k, _)| *k == key) {
        *old = value;
        return;
    }
    // Nothing was ever removed from it, so growing loses nothing if a hasher panics.
    table.insert_unique(hash, (key, value), |(key, _)| hasher.hash_one(key));
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::{AHEAD, Latest, SCANT};
    use crate::gather::{Bag, START};
    use crate::hasher::DefaultHashBuilder;

    type Pairs = Latest<u64, usize>;
    type Hasher = DefaultHashBuilder;

    /// Numbers as if by chance.
    fn spread(number: usize) -> u64 {
        let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed ^ mixed >> 29)
            .wrapping_mul(0xBF58_476D_1CE4_E5B9)
            .rotate_left(27)
    }

    /// As gathered in pieces: what came, and whether the rest is to be scattered.
    fn latest(count: usize, keys: usize, expected: usize, few: usize) -> (Pairs, bool) {
        let hasher = Hasher::default();
        let mut latest = <Pairs as Bag<_, Hasher>>::first(expected);
        let pair = |n| (spread(n) % keys as u64, n);
        for piece in (0..count).step_by(100) {
            let mut pairs = (piece..count.min(piece + 100)).map(pair);
            if let Err(mut pairs) = latest.take(pairs.by_ref(), few, &hasher) {
                latest.fill(&mut pairs, few, &hasher);
            }
            if Bag::<_, Hasher>::is_full(&latest, few) {
                return (latest, true);
            }
        }
        (latest, false)
    }

    #[test]
    fn room_is_for_the_keys_that_come() {
        let few = <Pairs as Bag<_, Hasher>>::FEW;
        for (count, keys) in [
            (SCANT + 1, 100),
            (20_000, 2_000),
            (50_000, 1_000_000_000),
            (100_000, 30_000),
        ] {
            let (latest, full) = latest(count, keys, count, few);
            let (len, room) = (latest.table.len(), latest.table.capacity());
            assert!(!full && latest.table.iter().all(|(_, n)| *n < count));
            let most = (4 * len).max(count / 2);
            assert!(
                (len..most).contains(&room),
                "room for {room}, {len} of {keys} keys"
            );
        }
        // If few pairs come, there is room for all of them.
        assert!(latest(0, 1, SCANT, few).0.table.capacity() >= SCANT);
    }

    #[test]
    fn large_values_get_little_room() {
        type Large = [u8; 1 << 16];
        for expected in [10_000, 131_072, 1 << 19] {
            let latest = <Latest<u64, Large> as Bag<_, Hasher>>::first(expected);
            assert!(latest.table.capacity() * size_of::<Large>() <= 2 * AHEAD);
        }
    }

    #[test]
    fn many_keys_are_scattered_soon_and_few_are_not() {
        for count in [150_000, 300_000, 10_000_000] {
            let many = <Pairs as Bag<_, Hasher>>::many(count);
            let (pairs, full) = latest(count, 1_000_000_000, 0, many);
            assert!(full && pairs.table.len() <= many && many < START);
            let (pairs, full) = latest(count.min(200_000), 5_000, 0, many);
            assert!(!full && pairs.table.len() == 5_000);
        }
        // If it is not known that many pairs come, many must come first.
        let (pairs, full) = latest(5_000, 1_000_000_000, 0, START);
        assert!(!full && pairs.table.len() == 5_000);
        assert!(latest(START + 100, 1_000_000_000, 0, START).1);
    }
}
