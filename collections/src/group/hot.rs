//! A small table in front of the others, for keys that come often.
//!
//! Each hash belongs to one slot, so a lookup is a single comparison. The first key that comes to a slot twice
//! in a row gets the slot. Frequent keys do that; rare keys hardly ever. A key keeps its slot until all slots
//! are emptied. Earlier items of the key were folded elsewhere, so the slot holds the sum of later items.
//! Combining it last keeps the order.
#![forbid(unsafe_code)]

use std::{array, mem};

/// This many slots fit into the first-level cache, or nearly.
const SLOTS: usize = 1024;
/// Larger slots are not worth it.
const SLOT_BYTES: usize = 64;
/// After this many misses the worker asks whether the table pays: a power of two.
const TRIAL: usize = 4096;

struct Slot<K, A> {
    /// A part of the last hash that found the slot empty.
    last: u32,
    entry: Option<(K, A)>,
}

/// The table; see the top of this file.
pub(super) struct Hot<K, A> {
    slots: Box<[Slot<K, A>; SLOTS]>,
    /// The number of items that it did not take.
    missed: usize,
    /// The number of the piece's items at the beginning of the trial.
    since: usize,
}

/// What happened to an item.
pub(super) enum Met<K, R> {
    /// It was folded into an entry that already had this key.
    Again(K),
    /// It was folded, and its key is in the table.
    Taken,
    /// It belongs elsewhere.
    Missed(K, R),
}

impl<K: Eq, A> Hot<K, A> {
    /// An empty table, if entries are small enough; `count` items came before.
    pub(super) fn new(count: usize) -> Option<Self> {
        let slots = || {
            array::from_fn(|_| Slot {
                last: 0,
                entry: None,
            })
        };
        (mem::size_of::<Slot<K, A>>() <= SLOT_BYTES).then(|| Hot {
            slots: Box::new(slots()),
            missed: 0,
            since: count,
        })
    }

    /// Folds an item if its key has a slot, or gets one.
    #[inline]
    pub(super) fn put<R>(
        &mut self,
        hash: u64,
        (key, raw): (K, R),
        start: impl FnOnce(R) -> A,
        add: impl FnOnce(&mut A, R),
    ) -> Met<K, R> {
        let slot = &mut self.slots[hash as usize % SLOTS];
        // Other bits than those that chose the slot.
        let print = (hash >> 32) as u32;
        match &mut slot.entry {
            Some((owner, sum)) if *owner == key => {
                add(sum, raw);
                return Met::Again(key);
            }
            Some(_) => {}
            None if slot.last == print => {
                slot.entry = Some((key, start(raw)));
                return Met::Taken;
            }
            None => slot.last = print,
        }
        self.missed += 1;
        Met::Missed(key, raw)
    }

    /// Whether it is time to ask if the table pays: once after each trial.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.missed >= TRIAL
    }

    /// How many items this trial had, up to the item number `count`, and how many of them missed. Begins
    /// another trial.
    pub(super) fn trial(&mut self, count: usize) -> (usize, usize) {
        let items = count - mem::replace(&mut self.since, count);
        (items, mem::take(&mut self.missed))
    }

    /// All entries.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (K, A)> {
        let slots: Box<[Slot<K, A>]> = self.slots;
        slots.into_iter().filter_map(|slot| slot.entry)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hot, Met};

    /// Each item is met once, here or elsewhere; later items of a frequent key are met here.
    #[test]
    fn heavy_keys_find_a_slot() {
        let mut hot = Hot::new(0).expect("small entries");
        let mut elsewhere = Vec::new();
        for i in 0..100_000_u64 {
            let key = if i % 2 == 0 { 7 } else { i };
            let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let add = |sum: &mut Vec<u64>, i| sum.push(i);
            if let Met::Missed(key, i) = hot.put(hash, (key, i), |i| vec![i], add) {
                elsewhere.push((key, i));
            }
        }
        let (items, missed) = hot.trial(100_000);
        assert_eq!((items, missed), (100_000, elsewhere.len()));
        let mut all: Vec<u64> = elsewhere.iter().map(|&(_, i)| i).collect();
        for (key, sum) in hot.into_entries() {
            let before = elsewhere.iter().filter(|&&(k, _)| k == key);
            assert!(before.map(|&(_, i)| i).max() < sum.iter().copied().min());
            assert!(sum.is_sorted() && (key != 7 || sum.len() > 49_000));
            all.extend(sum);
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100_000));
    }

    #[test]
    fn large_entries_find_none() {
        assert!(Hot::<u64, [u64; 8]>::new(0).is_none());
    }
}
