//! The rows of a right side whose keys are numbers: slots in one piece of memory, with the keys inside,
//! and the items too if their key comes once.
//!
//! ```text
//! slots    ■ · ■ ■ · · ■ ■ · · · ■ │ · ■ · · ■ ■ …       · free
//!          part 0                  │ part 1
//! ```
//!
//! A key's place is its hash, scaled to the length of its part. If the slot there is taken, it lies in
//! the next free one, around the end of the part. So a lookup misses the cache once; in a map cut into
//! tables it misses twice, and each miss asks for a page of its own.
#![forbid(unsafe_code)]

use crate::hasher::DefaultHashBuilder;
use crate::pages::expect_read;
use crate::partition::par_map;
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
    /// More items than one: where they begin among those of the part, and how many they are. While
    /// the part is filled, the first number is that of their row.
    Several(K, u32, u32),
}

/// Items by key.
pub(super) struct Flat<K, R> {
    slots: Vec<Slot<K, R>>,
    /// Where each part begins, and where the last one ends.
    bounds: Vec<usize>,
    /// Items that share their key with others, part by part, key by key. They are not in vectors
    /// inside the slots, so that slots of plain numbers need no walk when they are dropped.
    rows: Vec<Vec<R>>,
    hasher: DefaultHashBuilder,
}

/// The items of one key, on the way into a slot.
pub(super) enum Items<R> {
    Single(R),
    Several(Vec<R>),
}

/// What one part is filled from.
pub(super) trait Input<K, R>: Send {
    /// A number that is no less than that of the keys.
    fn most(&self) -> usize;

    fn items(self) -> impl Iterator<Item = (K, Items<R>)>;
}

/// How many slots a part of at most so many keys has: at least one stays free.
fn room_for(most: usize) -> usize {
    2 * most + 1
}

/// The place of a hash among `len` slots.
#[inline]
fn place(hash: u64, len: usize) -> usize {
    // The parts take other bits of the hash. A part of more than 2^32 slots would use every other one.
    ((u64::from(hash as u32) * len as u64) >> 32) as usize
}

impl<K, R> Flat<K, R> {
    /// Whether slots of these types are small enough.
    pub(super) const FITS: bool = mem::size_of::<Slot<K, R>>() <= LARGEST;
}

impl<K: Eq + Hash + Send, R: Send> Flat<K, R> {
    /// The items of all parts.
    pub(super) fn new<I: Input<K, R>>(inputs: Vec<I>, hasher: DefaultHashBuilder) -> Self {
        let mut bounds = vec![0];
        let mut end = 0;
        for input in &inputs {
            end += room_for(input.most());
            bounds.push(end);
        }
        let free = (0..end).into_par_iter().map(|_| Slot::Free);
        let mut slots = Vec::new();
        free.collect_into_vec(&mut slots);
        let mut rest = &mut slots[..];
        let mut jobs = Vec::new();
        for input in inputs {
            let here;
            (here, rest) = rest.split_at_mut(room_for(input.most()));
            jobs.push((here, input));
        }
        let rows = par_map(jobs, &|(slots, input): (&mut [_], I)| {
            fill(slots, input.items(), &hasher)
        });
        Flat {
            slots,
            bounds,
            rows,
            hasher,
        }
    }
}

/// Puts the items of a part into its slots. Results in those that share their key with others.
fn fill<K: Eq + Hash, R>(
    slots: &mut [Slot<K, R>],
    items: impl Iterator<Item = (K, Items<R>)>,
    hasher: &DefaultHashBuilder,
) -> Vec<R> {
    let mut rows: Vec<(usize, Vec<R>)> = Vec::new();
    items.for_each(|(key, items)| {
        let mut at = place(hasher.hash_one(&key), slots.len());
        // At most one slot is taken for each key, and there are more, so this ends.
        while let Slot::Single(other, _) | Slot::Several(other, ..) = &slots[at]
            && *other != key
        {
            at = next(at, slots.len());
        }
        slots[at] = match (mem::replace(&mut slots[at], Slot::Free), items) {
            (Slot::Free, Items::Single(item)) => Slot::Single(key, item),
            (Slot::Free, Items::Several(items)) => several(&mut rows, at, key, items),
            (Slot::Single(key, first), items) => {
                let mut row = vec![first];
                items.append_to(&mut row);
                several(&mut rows, at, key, row)
            }
            (Slot::Several(key, row, none), items) => {
                items.append_to(&mut rows[row as usize].1);
                Slot::Several(key, row, none)
            }
        };
    });
    join_rows(slots, rows)
}

/// A slot for a row, which is noted with the slot's place.
fn several<K, R>(rows: &mut Vec<(usize, Vec<R>)>, at: usize, key: K, row: Vec<R>) -> Slot<K, R> {
    let nth = number(rows.len());
    rows.push((at, row));
    Slot::Several(key, nth, 0)
}

/// Puts all rows of a part into one, and tells the slots where theirs is.
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

impl<R> Items<R> {
    fn append_to(self, row: &mut Vec<R>) {
        match self {
            Items::Single(item) => row.push(item),
            Items::Several(mut items) => row.append(&mut items),
        }
    }
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

    /// The part of a hash, where it begins, and how many slots it has.
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
        // It may lie across two lines.
        expect_read(slot.wrapping_add(size - 1));
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
