//! First items of many keys that are numbers, without storing a place for each.
//!
//! A worker keeps its items as they come, in stretches, and scatters the words of their keys. One job for each
//! part looks at its words in order, and records a bit for each: whether the word came first. Then the items
//! are walked once more. Each item belongs to the same part as before, so the next bit of that part is its own.
//!
//! ```text
//! items      a b a c b d       (parts:  0 1 0 0 1 1)
//! part 0     a a c             bits  1 0 1
//! part 1     b b d             bits  1 0 1
//! passed     a b · c · d
//! ```
#![forbid(unsafe_code)]

use super::firsts::{Listed, Row, Trial};
use crate::foresight::Foresight;
use crate::gather::Heap;
use crate::hasher::DefaultHashBuilder;
use crate::pages;
use crate::partition::{List, Scatter, concat, par_map, transpose};
use crate::parts::part_of;
use crate::thinned::{Bound, comes_again};
use crate::word::word;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use std::hash::{BuildHasher, Hash};
use std::mem;
use tine_pool::current_num_threads;
use tine_pool::loops::check;

/// The size in bytes of a worker's first stretch, and of its largest stretches.
const FIRST: usize = if cfg!(debug_assertions) {
    1 << 12
} else {
    512 << 10
};
const LAST: usize = 16 << 20;
/// A job takes several parts in turn, and uses one table for all of them; there are this many jobs for each
/// thread.
const JOBS: usize = 8;
/// The number of bits in a word of bits.
const BITS: usize = u64::BITS as usize;

/// A worker's items, and the words of their keys by part.
pub(super) struct Passed<K, V> {
    /// Words that have already come: items with these words are dropped. `None` if looking words up does not
    /// pay.
    known: Option<HashTable<u64>>,
    trial: Trial,
    words: Scatter<u64>,
    stretches: Vec<Stretch<K, V>>,
    /// Bytes that the stretches have room for.
    bytes: usize,
    bound: Bound,
    /// Whether items were left out. Then the first items among the rest do not foretell the number of all keys.
    is_thinned: bool,
}

/// Some items, in order.
struct Stretch<K, V> {
    items: Vec<(K, V)>,
    /// How many words each part had before these items.
    before: Vec<usize>,
}

impl<K, V, S> Heap<Row<Listed<K, V>>, K, V, S> for Passed<K, V>
where
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher,
{
    fn begin(parts: usize, row: Row<Listed<K, V>>, hasher: &S) -> Self {
        let (known, firsts) = row.firsts.into_parts();
        let mut passed = Passed {
            known: None,
            trial: Trial::default(),
            words: Scatter::new(parts),
            stretches: Vec::new(),
            bytes: 0,
            bound: Bound::default(),
            is_thinned: false,
        };
        passed.pour(firsts.into_iter(), hasher);
        passed.known = Some(known);
        passed
    }

    #[inline]
    fn pour(&mut self, mut items: impl Iterator<Item = (K, V)>, hasher: &S) {
        while let Some(known) = &self.known {
            let Some((key, value)) = items.next() else {
                return;
            };
            let word = word(&key);
            let hash = hasher.hash_one(word);
            if known.find(hash, |w| *w == word).is_some() {
                self.trial.met();
                continue;
            }
            if !self.trial.missed() {
                self.known = None;
            }
            self.put(&mut [(key, value)].into_iter(), hasher);
        }
        while self.put(&mut items, hasher) {}
    }
}

impl<K: Hash, V> Passed<K, V> {
    /// Keeps as many items as the stretch has room for. Returns whether more may come.
    #[inline]
    fn put(&mut self, items: &mut impl Iterator<Item = (K, V)>, hasher: &impl BuildHasher) -> bool {
        let last = self.stretches.last();
        if last.is_none_or(|last| last.items.len() == last.items.capacity()) {
            self.turn(hasher);
        }
        let words = &mut self.words;
        let parts = words.parts();
        let stretch = self.stretches.last_mut().expect("there is one");
        let kept = &mut stretch.items;
        let room = kept.capacity() - kept.len();
        items.take(room).for_each(|(key, value)| {
            let word = word(&key);
            let part = part_of(hasher.hash_one(word), parts);
            words.push(part, word);
            kept.push((key, value));
        });
        kept.len() == kept.capacity()
    }

    /// Begins another stretch. If the worker holds very much, it first drops all but the first items of their
    /// keys.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, hasher: &impl BuildHasher) {
        let size = mem::size_of::<(K, V)>();
        if self
            .bound
            .room(self.words.bytes() + self.bytes, size)
            .is_none()
        {
            let comes_again = comes_again(&self.words, |word| hasher.hash_one(word));
            if comes_again {
                self.thin(hasher);
            }
            let held = self.words.bytes() + self.bytes;
            self.bound.renew(held, !comes_again);
        }
        let last = self.stretches.last();
        // Thinning may have left room.
        if last.is_none_or(|last| last.items.len() == last.items.capacity()) {
            let last = last.map_or(0, |last| last.items.capacity());
            let next = Stretch::after(last, self.words.lens());
            self.bytes += next.items.capacity() * size;
            self.stretches.push(next);
        }
    }

    /// Walks all items once, and keeps the first items of their keys.
    fn thin(&mut self, hasher: &impl BuildHasher) {
        let parts = self.words.parts();
        let words = mem::replace(&mut self.words, Scatter::new(parts));
        let begins = Begins::of(&words);
        let mut bits = vec![0; begins.end];
        let mut room = &mut bits[..];
        let mut table = HashTable::new();
        for list in words.into_lists() {
            check();
            table.clear();
            let (here, rest) = mem::take(&mut room).split_at_mut(list.len().div_ceil(BITS));
            room = rest;
            note(vec![(list, here)], !self.is_thinned, &mut table, hasher);
        }
        (self.bytes, self.is_thinned) = (0, true);
        for stretch in mem::take(&mut self.stretches) {
            check();
            let make = |key, value| (key, value);
            let firsts = pass(stretch, &bits, &begins, &make, hasher);
            let mut firsts = firsts.into_iter();
            while self.put(&mut firsts, hasher) {}
        }
    }
}

impl<K, V> Stretch<K, V> {
    /// A stretch after `before`, the number of earlier items in each part. The stretch before it has room for
    /// `last`.
    #[cold]
    fn after(last: usize, before: Vec<usize>) -> Self {
        let size = mem::size_of::<(K, V)>().max(1);
        let bytes = (2 * last * size).clamp(FIRST, LAST);
        let mut items = Vec::with_capacity((bytes / size).max(64));
        pages::expect_fill(items.spare_capacity_mut());
        Stretch { items, before }
    }
}

/// The words of a part from one worker, and room for their bits.
type Noted<'a> = (List<u64>, &'a mut [u64]);

/// What `make` returns for the first item of each key of all runs.
pub(super) fn passed_firsts<K, V, T>(
    runs: Vec<Passed<K, V>>,
    make: &(impl Fn(K, V) -> T + Sync),
    hasher: &DefaultHashBuilder,
) -> Vec<T>
where
    K: Hash + Send,
    V: Send,
    T: Send,
{
    let foresees = !runs.iter().any(|run| run.is_thinned);
    let (scatters, runs): (Vec<_>, Vec<_>) = runs
        .into_iter()
        .map(|run| (run.words, run.stretches))
        .unzip();
    let begins: Vec<Begins> = scatters.iter().map(Begins::of).collect();
    let mut bits: Vec<Vec<u64>> = begins.iter().map(|begins| vec![0; begins.end]).collect();
    let mut rooms: Vec<&mut [u64]> = bits.iter_mut().map(|bits| &mut bits[..]).collect();
    let parts = transpose(scatters);
    let each = (parts.len() / (JOBS * current_num_threads())).max(1);
    let mut parts = parts.into_iter().peekable();
    let mut jobs: Vec<Vec<Vec<Noted<'_>>>> = Vec::new();
    while parts.peek().is_some() {
        let noted = |lists: Vec<List<u64>>| -> Vec<Noted<'_>> {
            let lists = lists.into_iter().zip(&mut rooms);
            lists
                .map(|(list, room)| {
                    let (here, rest) = mem::take(room).split_at_mut(list.len().div_ceil(BITS));
                    *room = rest;
                    (list, here)
                })
                .collect()
        };
        jobs.push(parts.by_ref().take(each).map(noted).collect());
    }
    par_map(jobs, &|parts| {
        let mut table = HashTable::new();
        for part in parts {
            table.clear();
            note(part, foresees, &mut table, hasher);
        }
    });
    let mut stretches = Vec::new();
    for ((run, bits), begins) in runs.into_iter().zip(&bits).zip(&begins) {
        stretches.extend(run.into_iter().map(|stretch| (stretch, &bits[..], begins)));
    }
    concat(par_map(stretches, &|(stretch, bits, begins)| {
        pass(stretch, bits, begins, make, hasher)
    }))
}

/// The index of the word in which the bits of each part begin.
struct Begins {
    parts: Vec<usize>,
    end: usize,
}

impl Begins {
    fn of(words: &Scatter<u64>) -> Self {
        let mut end = 0;
        let begin = |len: usize| {
            let begin = end;
            end += len.div_ceil(BITS);
            begin
        };
        let parts = words.lens().into_iter().map(begin).collect();
        Begins { parts, end }
    }
}

/// Records which words of a part come first. `foresees` says whether the first words foretell the number of
/// all.
fn note(
    lists: Vec<Noted<'_>>,
    foresees: bool,
    table: &mut HashTable<u64>,
    hasher: &impl BuildHasher,
) {
    let rows = lists.iter().map(|(list, _)| list.len()).sum();
    let mut foresight = Foresight::new(if foresees { rows } else { 0 });
    let rehash = |word: &u64| hasher.hash_one(word);
    for (list, bits) in lists {
        let mut at = 0;
        list.for_each(|word| {
            let hash = hasher.hash_one(word);
            if let Slot::Vacant(slot) = table.entry(hash, |w| *w == word, rehash) {
                slot.insert(word);
                bits[at / BITS] |= 1 << (at % BITS);
            }
            foresight.step(table, rehash);
            at += 1;
        });
    }
}

/// The first items among the items of a stretch.
fn pass<K: Hash, V, T>(
    stretch: Stretch<K, V>,
    bits: &[u64],
    begins: &Begins,
    make: &impl Fn(K, V) -> T,
    hasher: &impl BuildHasher,
) -> Vec<T> {
    let Stretch {
        mut items,
        before: mut places,
    } = stretch;
    for (place, begin) in places.iter_mut().zip(&begins.parts) {
        *place += begin * BITS;
    }
    let mut kept = 0;
    for at in 0..items.len() {
        let hash = hasher.hash_one(word(&items[at].0));
        let place = &mut places[part_of(hash, begins.parts.len())];
        let bit = bits[*place / BITS] >> (*place % BITS) & 1;
        *place += 1;
        // Without a branch, which would be mispredicted: items that are not kept move to the end.
        items.swap(kept, at);
        kept += bit as usize;
    }
    items.truncate(kept);
    let made = items.into_iter().map(|(key, value)| make(key, value));
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::{Bound, Passed, Scatter, Trial, passed_firsts};
    use crate::gather::Heap;
    use crate::group::firsts::{Listed, Row};
    use crate::hasher::DefaultHashBuilder;
    use crate::parts::breadth;
    use std::collections::HashSet;

    const COUNT: usize = if cfg!(miri) { 2_000 } else { 100_000 };
    /// More than any bound.
    const NO_BOUND: usize = usize::MAX / 4;

    /// What a worker keeps of items that come in pieces, if its `first` bound is this; and the greatest number
    /// of bytes that it held.
    fn poured(
        items: &[(u64, usize)],
        first: usize,
        hasher: &DefaultHashBuilder,
    ) -> (Passed<u64, usize>, usize) {
        let mut passed = Passed {
            known: None,
            trial: Trial::default(),
            words: Scatter::new(breadth()),
            stretches: Vec::new(),
            bytes: 0,
            bound: Bound::of(first),
            is_thinned: false,
        };
        let mut most = 0;
        for piece in items.chunks(1_001) {
            let items = piece.iter().copied();
            Heap::<Row<Listed<_, _>>, _, _, _>::pour(&mut passed, items, hasher);
            most = most.max(passed.words.bytes() + passed.bytes);
        }
        (passed, most)
    }

    fn items(of: u64) -> Vec<(u64, usize)> {
        let key = |n: usize| (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17;
        (0..COUNT).map(|n| (key(n) % of, n)).collect()
    }

    #[test]
    fn the_first_of_each_key_is_left() {
        let hasher = DefaultHashBuilder::default();
        for of in [1, 300, COUNT as u64 / 3, u64::MAX] {
            let items = items(of);
            let mut seen = HashSet::new();
            let firsts = items.iter().copied().filter(|item| seen.insert(item.0));
            let wanted: Vec<_> = firsts.collect();
            for first in [1, 1 << 16, 1 << 18, NO_BOUND] {
                // Of one worker, and of two workers.
                for at in [COUNT, COUNT / 2] {
                    let (one, other) = items.split_at(at);
                    let runs = [one, other].map(|items| poured(items, first, &hasher).0);
                    let left = passed_firsts(runs.into(), &|key, n| (key, n), &hasher);
                    assert!(left == wanted, "{of} keys, {first}, {at}");
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn what_is_held_goes_with_the_keys() {
        let hasher = DefaultHashBuilder::default();
        let (_, all) = poured(&items(300), NO_BOUND, &hasher);
        let (passed, most) = poured(&items(300), 1 << 18, &hasher);
        assert!(most < all / 2, "{most} of {all}");
        assert!(passed.is_thinned);
        // Thinned items no longer count.
        let held: usize = passed.stretches.iter().map(|s| s.items.capacity()).sum();
        assert_eq!(passed.bytes, held * size_of::<(u64, usize)>());
    }
}
