//! The rows of a right side whose keys are numbers: slots in one piece of memory, with the keys inside, and
//! also with the item if its key comes once.
//!
//! ```text
//! slots    ■ · ■ ■ · · ■ ■ · · · ■ │ · ■ · · ■ ■ …       · free
//!          part 0                  │ part 1
//! ```
//!
//! A key's place is its hash, scaled to the length of its part. If the slot there is taken, the key lies in the
//! next free slot; the beginning of the part follows its end. So a lookup misses the cache once. In a map that
//! is cut into tables it misses twice, each time in another page.
#![forbid(unsafe_code)]

use super::laying::Rows;
use crate::gather::Lists;
use crate::hasher::DefaultHashBuilder;
use crate::pages::expect_read;
use crate::partition::{List, par_map};
use crate::parts::part_of;
use std::hash::{BuildHasher, Hash};
use std::mem;
use std::slice;
use tine_iter::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

/// Larger slots are not worth it: half of them stay free.
const LARGEST: usize = 64;

enum Slot<K, R> {
    Free,
    Single(K, R),
    /// Several items: where they begin among the items of the part, and how many they are. While
    /// the part is filled, the first number is the number of their row.
    Several(K, u32, u32),
}

/// Items by key.
pub(super) struct Flat<K, R> {
    slots: Vec<Slot<K, R>>,
    /// The start of each part, and the end of the last part.
    bounds: Vec<usize>,
    /// Items that share their key with others, part by part, key by key. They are not in vectors
    /// inside the slots, so that slots of plain numbers need no walk when they are dropped.
    rows: Vec<Vec<R>>,
    hasher: DefaultHashBuilder,
}

/// The source from which a part is filled.
pub(super) enum Source<K, R> {
    /// Keys that mostly come once.
    Few(Vec<(K, R)>),
    Many(Lists<(), (K, R)>),
    /// Keys that come often, with their rows.
    Laid(Rows<K, R>),
}

impl<K, R> Source<K, R> {
    /// An upper bound of the number of keys.
    fn most(&self) -> usize {
        match self {
            Source::Few(pairs) => pairs.len(),
            Source::Many(lists) => lists.iter().map(List::len).sum(),
            Source::Laid(rows) => rows.keys.len(),
        }
    }
}

/// The number of slots of a part with at most N keys: at least one slot stays free.
fn room_for(most: usize) -> usize {
    2 * most + 1
}

/// The place of a hash among `len` slots.
#[inline]
fn place(hash: u64, len: usize) -> usize {
    // The parts take other bits of the hash. A part of more than 2^32 slots would use every second slot.
    ((u64::from(hash as u32) * len as u64) >> 32) as usize
}

impl<K, R> Flat<K, R> {
    /// Whether slots of these types are small enough.
    pub(super) const FITS: bool = mem::size_of::<Slot<K, R>>() <= LARGEST;
}

impl<K: Eq + Hash + Send, R: Send> Flat<K, R> {
    /// The items of all parts.
    pub(super) fn new(sources: Vec<Source<K, R>>, hasher: DefaultHashBuilder) -> Self {
        let mut bounds = vec![0];
        let mut end = 0;
        for source in &sources {
            end += room_for(source.most());
            bounds.push(end);
        }
        let free = (0..end).into_par_iter().map(|_| Slot::Free);
        let mut slots = Vec::new();
        free.collect_into_vec(&mut slots);
        let mut rest = &mut slots[..];
        let mut jobs = Vec::new();
        for source in sources {
            let here;
            (here, rest) = rest.split_at_mut(room_for(source.most()));
            jobs.push((here, source));
        }
        let rows = par_map(
            jobs,
            &|(slots, source): (&mut [_], Source<K, R>)| match source {
                Source::Few(pairs) => fill(slots, pairs.into_iter(), &hasher),
                Source::Many(lists) => {
                    let pairs = lists.into_iter().flatten();
                    fill(slots, pairs.map(|((), pair)| pair), &hasher)
                }
                Source::Laid(rows) => point(slots, rows, &hasher),
            },
        );
        Flat {
            slots,
            bounds,
            rows,
            hasher,
        }
    }
}

/// The slot of a key, or the free slot that it gets.
#[inline]
fn slot_of<K: Eq + Hash, R>(slots: &[Slot<K, R>], key: &K, hasher: &DefaultHashBuilder) -> usize {
    let mut at = place(hasher.hash_one(key), slots.len());
    // Each key takes at most one slot, and there are more slots than keys, so this ends.
    while let Slot::Single(other, _) | Slot::Several(other, ..) = &slots[at]
        && other != key
    {
        at = next(at, slots.len());
    }
    at
}

/// Puts the items of a part into its slots. Returns the items that share their key with others.
fn fill<K: Eq + Hash, R>(
    slots: &mut [Slot<K, R>],
    items: impl Iterator<Item = (K, R)>,
    hasher: &DefaultHashBuilder,
) -> Vec<R> {
    let mut rows: Vec<(usize, Vec<R>)> = Vec::new();
    items.for_each(|(key, item)| {
        let at = slot_of(slots, &key, hasher);
        slots[at] = match mem::replace(&mut slots[at], Slot::Free) {
            Slot::Free => Slot::Single(key, item),
            Slot::Single(key, first) => {
                let nth = number(rows.len());
                rows.push((at, vec![first, item]));
                Slot::Several(key, nth, 0)
            }
            Slot::Several(key, row, none) => {
                rows[row as usize].1.push(item);
                Slot::Several(key, row, none)
            }
        };
    });
    join_rows(slots, rows)
}

/// Puts the keys of rows into slots that point to the rows. Returns the values of the rows.
fn point<K: Eq + Hash, R>(
    slots: &mut [Slot<K, R>],
    rows: Rows<K, R>,
    hasher: &DefaultHashBuilder,
) -> Vec<R> {
    let ends = rows.offsets.windows(2);
    for (key, ends) in rows.keys.into_iter().zip(ends) {
        let at = slot_of(slots, &key, hasher);
        slots[at] = Slot::Several(key, number(ends[0]), number(ends[1] - ends[0]));
    }
    rows.values
}

/// Joins all rows of a part, and tells each slot where its row is.
fn join_rows<K, R>(slots: &mut [Slot<K, R>], rows: Vec<(usize, Vec<R>)>) -> Vec<R> {
    let mut all = Vec::with_capacity(rows.iter().map(|(_, row)| row.len()).sum());
    for (at, mut row) in rows {
        if let Slot::Several(_, start, len) = &mut slots[at] {
            (*start, *len) = (number(all.len()), number(row.len()));
        }
        all.append(&mut row);
    }
    all
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 items in a part of a right side")
}

#[inline]
fn next(at: usize, len: usize) -> usize {
    if at + 1 == len { 0 } else { at + 1 }
}

impl<K: Eq + Hash, R> Flat<K, R> {
    #[inline]
    pub(super) fn hash(&self, key: &K) -> u64 {
        self.hasher.hash_one(key)
    }

    /// The part of a hash, the start of the part, and its number of slots.
    #[inline]
    fn part(&self, hash: u64) -> (usize, usize, usize) {
        let part = part_of(hash, self.rows.len());
        let start = self.bounds[part];
        (part, start, self.bounds[part + 1] - start)
    }

    /// Fetches what a lookup of `hash` will read.
    #[inline]
    pub(super) fn expect(&self, hash: u64) {
        let (_, start, len) = self.part(hash);
        let size = mem::size_of::<Slot<K, R>>();
        let at = (start + place(hash, len)) * size;
        let slot = self.slots.as_ptr().addr().wrapping_add(at);
        expect_read(slot);
        // The slot may lie across two lines.
        expect_read(slot.wrapping_add(size - 1));
    }

    /// The memory of the slots.
    pub(super) fn bytes(&self) -> usize {
        mem::size_of_val(&self.slots[..])
    }

    /// The items of a key whose hash is known, in their order.
    #[inline]
    pub(super) fn find(&self, hash: u64, key: &K) -> &[R] {
        let (part, start, len) = self.part(hash);
        let slots = &self.slots[start..start + len];
        let mut at = place(hash, len);
        loop {
            match &slots[at] {
                Slot::Free => return &[],
                Slot::Single(other, item) if other == key => return slice::from_ref(item),
                Slot::Several(other, start, len) if other == key => {
                    return &self.rows[part][*start as usize..][..*len as usize];
                }
                _ => at = next(at, len),
            }
        }
    }
}
