//! A worker's values on their way to groups: values of heavy keys are kept apart from the others.
//!
//! A sample tells which keys are heavy. A heavy key's values stay in the order in which they came,
//! each with the key's number. So they are moved only once more, to the place of their group, and
//! any thread can move them. All other values are scattered to parts. Within one [`Sifted`] a key
//! is heavy from the beginning to the end or not at all, so the order of its values is known.
//!
//! ```text
//! near   keys a b c     segments [a a b a c a …] [b a a …]     in the order of the input
//! far    lists of parts, of all other keys
//! ```
#![forbid(unsafe_code)]

use super::listing::Listing;
use crate::gather::{Bag, Heap, START};
use crate::pages;
use crate::partition::Scatter;
use crate::parts::part_of;
use crate::tag::Tag;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};
use std::mem;

/// A key is heavy if its values are at least this part of the sample.
const HEAVY: usize = 1024;
/// Heavy keys are kept apart if their values are at least this part of the sample.
const WORTH: usize = 8;
/// All keys of the sample are heavy if each came this often on average, and no more than a quarter of the keys
/// came once.
const FEW: usize = 4;
const ONCE: usize = 4;
/// After this many values a sample is given up if nearly each value had its own key.
const GLANCE: usize = 2048;
/// The number of values in a heavy key's first segment, and in the largest segments.
const FIRST: usize = if cfg!(miri) { 1 << 8 } else { 1 << 16 };
const LAST: usize = 1 << 19;
/// A segment of large values has room for fewer: for this many bytes at most, or for 64 values.
const HEAVIEST: usize = 16 << 20;
/// After this number of values without a heavy key, a worker asks whether looking for one pays.
const TRIAL: usize = 1 << 16;

/// Values of heavy keys, in order.
pub(super) struct Segment<T> {
    /// The number of each value's key.
    pub(super) ids: Vec<u16>,
    pub(super) values: Vec<T>,
}

/// The heavy keys, and their values.
pub(super) struct Near<K, T> {
    pub(super) keys: HashTable<(K, u16)>,
    /// The last segment is the one that is being filled.
    pub(super) segments: Vec<Segment<T>>,
}

/// The values that came while the same keys were heavy.
pub(super) struct Sifted<G, K, T> {
    pub(super) near: Option<Near<K, T>>,
    pub(super) far: Option<Scatter<(G, (K, T))>>,
}

/// All values of one piece of the input.
pub(super) struct Sieve<G, K, T> {
    parts: usize,
    pub(super) done: Vec<Sifted<G, K, T>>,
    now: Sifted<G, K, T>,
    /// The number of values in this trial: of all keys, and of keys that are not heavy.
    trial: Trial,
}

#[derive(Default)]
struct Trial {
    near: usize,
    far: usize,
}

impl<T> Segment<T> {
    fn new(room: usize) -> Self {
        let room = room.min((HEAVIEST / mem::size_of::<T>().max(1)).max(64));
        let mut values = Vec::with_capacity(room);
        pages::expect_fill(values.spare_capacity_mut());
        Segment {
            ids: Vec::with_capacity(room),
            values,
        }
    }
}

impl<K, T> Near<K, T> {
    #[inline]
    fn push(&mut self, id: u16, value: T) {
        let mut last = self.segments.last_mut().expect("one segment");
        if last.ids.len() == last.ids.capacity() {
            last = self.turn();
        }
        last.ids.push(id);
        last.values.push(value);
    }

    #[cold]
    #[inline(never)]
    fn turn(&mut self) -> &mut Segment<T> {
        let room = FIRST << self.segments.len().min(3);
        self.segments.push(Segment::new(room.min(LAST)));
        self.segments.last_mut().expect("it was pushed")
    }
}

impl<G: Tag, K, T> Sifted<G, K, T> {
    #[inline]
    fn scatter(&mut self, parts: usize, hash: u64, pair: (K, T)) {
        let far = self.far.get_or_insert_with(|| Scatter::new(parts));
        far.push(part_of(hash, parts), (G::keep(hash), pair));
    }
}

impl<G, K, T> Sieve<G, K, T> {
    pub(super) fn into_sifted(mut self) -> Vec<Sifted<G, K, T>> {
        self.done.push(self.now);
        self.done
    }
}

impl<G: Tag, K: Hash + Eq, T> Sieve<G, K, T> {
    /// All keys of a listing are heavy.
    fn of_listing(parts: usize, listing: Listing<K, T>, hasher: &impl BuildHasher) -> Self {
        const MOST: usize = u16::MAX as usize;
        let (keys, groups, values) = listing.into_parts();
        let mut nears: Vec<Near<K, T>> = Vec::new();
        nears.resize_with(keys.len().div_ceil(MOST), || Near {
            keys: HashTable::with_capacity(keys.len().min(MOST)),
            segments: vec![Segment::new(FIRST)],
        });
        for (nth, key) in keys.into_iter().enumerate() {
            let hash = hasher.hash_one(&key);
            let again = |(key, _): &(K, u16)| hasher.hash_one(key);
            let entry = (key, (nth % MOST) as u16);
            nears[nth / MOST].keys.insert_unique(hash, entry, again);
        }
        for (group, value) in groups.into_iter().zip(values) {
            let nth = group as usize;
            nears[nth / MOST].push((nth % MOST) as u16, value);
        }
        let sifted = |near| Sifted {
            near: Some(near),
            far: None,
        };
        let mut done: Vec<_> = nears.into_iter().map(sifted).collect();
        // If there are several, no key is heavy in the values that come next.
        let now = if done.len() == 1 { done.pop() } else { None };
        Sieve {
            parts,
            done,
            now: now.unwrap_or(Sifted {
                near: None,
                far: None,
            }),
            trial: Trial::default(),
        }
    }
}

/// Which values of a sample have heavy keys.
struct Choice {
    /// For each value the number of its key in the sample. Empty if no key is heavy.
    keys: Vec<u32>,
    /// For each key of the sample its number among the heavy ones.
    ids: Vec<Option<u16>>,
    heavy: usize,
}

fn choose<K: Eq, T>(sample: &[(K, T)], hashes: &[u64]) -> Choice {
    let mut table: HashTable<u32> = HashTable::new();
    let mut firsts: Vec<usize> = Vec::new();
    let mut counts: Vec<usize> = Vec::new();
    let mut keys = Vec::with_capacity(sample.len());
    for (at, ((key, _), &hash)) in sample.iter().zip(hashes).enumerate() {
        if at == GLANCE && counts.len() > GLANCE / 8 * 7 {
            counts.clear();
            break;
        }
        let found = table.find(hash, |&nth| sample[firsts[nth as usize]].0 == *key);
        let nth = found.copied().unwrap_or_else(|| {
            let nth = counts.len() as u32;
            firsts.push(at);
            counts.push(0);
            table.insert_unique(hash, nth, |&nth| hashes[firsts[nth as usize]]);
            nth
        });
        counts[nth as usize] += 1;
        keys.push(nth);
    }
    let few = counts.len() * FEW <= sample.len();
    // If few keys have many of the values, the other keys need not be few: those that came once stand for many
    // keys that did not come.
    let once = counts.iter().filter(|&&count| count == 1).count();
    let least = match few {
        true if once * ONCE <= counts.len() => 1,
        true => FEW,
        false => (sample.len() / HEAVY).max(FEW),
    };
    let mut heavy: u16 = 0;
    let mut covered = 0;
    let ids: Vec<Option<u16>> = counts
        .iter()
        .map(|&count| {
            (count >= least && heavy < u16::MAX).then(|| {
                covered += count;
                heavy += 1;
                heavy - 1
            })
        })
        .collect();
    if heavy == 0 || covered < sample.len() / WORTH {
        return Choice {
            keys: Vec::new(),
            ids: Vec::new(),
            heavy: 0,
        };
    }
    Choice {
        keys,
        ids,
        heavy: usize::from(heavy),
    }
}

/// Pairs while they are few: scattering them, and laying out each part by itself, costs more than a second
/// thread saves. (Debug builds take a smaller number for few, so that tests of moderate size reach the code
/// beyond.)
pub(super) enum Pairs<K, T> {
    /// In the order in which they came: they can be scattered.
    Row(Vec<(K, T)>),
    /// With the numbers of their keys, if it is known that only a few pairs will come, or if there are few
    /// keys. They cannot be scattered, since each key is stored once.
    Listed(Listing<K, T>),
}

/// If it is not known how many pairs come, this many are kept before the worker checks whether there are few
/// keys.
const LOOK: usize = if cfg!(miri) { 1 << 6 } else { 1 << 12 };
/// The number of pairs that this check looks at.
const SOME: usize = LOOK / 16;

/// Whether the keys of a row of `LOOK` pairs seem to be few.
fn are_few<K: Eq + Hash, T>(row: &[(K, T)], hasher: &impl BuildHasher) -> bool {
    let mut known: HashTable<&K> = HashTable::with_capacity(SOME / 2);
    row.iter().step_by(LOOK / SOME).all(|(key, _)| {
        let again = |&key: &&K| hasher.hash_one(key);
        known
            .entry(hasher.hash_one(key), |&other| other == key, again)
            .or_insert(key);
        known.len() <= SOME / 8 * 3
    })
}

impl<K, T> Default for Pairs<K, T> {
    fn default() -> Self {
        Pairs::Row(Vec::new())
    }
}

impl<K: Eq + Hash, T> Pairs<K, T> {
    pub(super) fn into_listing(self, hasher: &impl BuildHasher) -> Listing<K, T> {
        match self {
            Pairs::Listed(listing) => listing,
            Pairs::Row(row) => {
                let mut listing = Listing::new(row.len());
                listing.fill(&mut row.into_iter(), hasher);
                listing
            }
        }
    }
}

impl<K: Eq + Hash + Send, T: Send, S: BuildHasher> Bag<(K, T), S> for Pairs<K, T> {
    const FEW: usize = if cfg!(miri) {
        1 << 8
    } else if cfg!(debug_assertions) {
        1 << 14
    } else {
        1 << 17
    };
    const UNKNOWN: usize = <Self as Bag<(K, T), S>>::FEW;
    const WORTH: u64 = 2_000_000;

    /// A sample is enough: they will be sifted.
    fn many(_count: usize) -> usize {
        START
    }

    fn first(expected: usize) -> Self {
        match expected {
            1.. if expected <= <Self as Bag<(K, T), S>>::FEW => {
                Pairs::Listed(Listing::new(expected))
            }
            _ => Pairs::default(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Pairs::Row(row) => row.len(),
            Pairs::Listed(listing) => listing.len(),
        }
    }

    fn reserve(&mut self, more: usize) {
        if let Pairs::Row(row) = self {
            row.reserve(more.min(<Self as Bag<(K, T), S>>::FEW));
        }
    }

    /// More values in a listing do no harm: it can be sifted as it is.
    #[inline]
    fn fill(&mut self, values: &mut impl Iterator<Item = (K, T)>, most: usize, hasher: &S) {
        if let Pairs::Row(row) = self
            && most >= <Self as Bag<(K, T), S>>::FEW
            && row.len() < LOOK
        {
            row.extend(values.take(LOOK - row.len()));
            if row.len() == LOOK && are_few(row, hasher) {
                *self = Pairs::Listed(mem::take(self).into_listing(hasher));
            }
        }
        match self {
            Pairs::Row(row) => Bag::fill(row, values, most, hasher),
            Pairs::Listed(listing) => listing.fill(values, hasher),
        }
    }

    fn append(&mut self, later: Self, hasher: &S) {
        match (self, later) {
            (Pairs::Row(row), Pairs::Row(mut later)) => row.append(&mut later),
            (Pairs::Listed(listing), Pairs::Row(later)) => {
                listing.fill(&mut later.into_iter(), hasher);
            }
            (bag, Pairs::Listed(later)) => {
                let mut listing = mem::take(bag).into_listing(hasher);
                listing.append(later, hasher);
                *bag = Pairs::Listed(listing);
            }
        }
    }
}

impl<G, K, T, S> Heap<Pairs<K, T>, K, T, S> for Sieve<G, K, T>
where
    G: Tag,
    K: Hash + Eq + Send,
    T: Send,
    S: BuildHasher,
{
    fn begin(parts: usize, pairs: Pairs<K, T>, hasher: &S) -> Self {
        let pairs = match pairs {
            Pairs::Row(row) => row,
            Pairs::Listed(listing) => return Sieve::of_listing(parts, listing, hasher),
        };
        let most = pairs.len().min(START);
        let hash = |(key, _): &(K, T)| hasher.hash_one(key);
        let hashes: Vec<u64> = pairs[..most].iter().map(hash).collect();
        let Choice { keys, ids, heavy } = choose(&pairs[..most], &hashes);
        let mut now = Sifted {
            near: None,
            far: None,
        };
        let mut pairs = pairs.into_iter();
        let sample = pairs.by_ref().take(most);
        if heavy == 0 {
            for (pair, hash) in sample.zip(hashes) {
                now.scatter(parts, hash, pair);
            }
        } else {
            let mut near = Near {
                keys: HashTable::with_capacity(heavy),
                segments: vec![Segment::new(FIRST)],
            };
            let mut seen = vec![false; heavy];
            for (((key, value), hash), nth) in sample.zip(hashes).zip(keys) {
                let Some(id) = ids[nth as usize] else {
                    now.scatter(parts, hash, (key, value));
                    continue;
                };
                near.push(id, value);
                if !mem::replace(&mut seen[usize::from(id)], true) {
                    let again = |(key, _): &(K, u16)| hasher.hash_one(key);
                    near.keys.insert_unique(hash, (key, id), again);
                }
            }
            now.near = Some(near);
        }
        let mut sieve = Sieve {
            parts,
            done: Vec::new(),
            now,
            trial: Trial::default(),
        };
        sieve.pour(pairs, hasher);
        sieve
    }

    #[inline]
    fn pour(&mut self, mut values: impl Iterator<Item = (K, T)>, hasher: &S) {
        if self.now.near.is_some() && self.sift(&mut values, hasher) {
            return;
        }
        let parts = self.parts;
        let far = self.now.far.get_or_insert_with(|| Scatter::new(parts));
        Heap::<Vec<_>, _, _, _>::pour(far, values, hasher);
    }
}

impl<G: Tag, K: Hash + Eq + Send, T: Send> Sieve<G, K, T> {
    /// Puts values of heavy keys apart, until there are no more values, and returns `true`; or until too few
    /// values of heavy keys are found.
    #[inline]
    fn sift<S: BuildHasher>(
        &mut self,
        values: &mut impl Iterator<Item = (K, T)>,
        hasher: &S,
    ) -> bool {
        let Sifted {
            near: Some(near),
            far,
        } = &mut self.now
        else {
            return false;
        };
        let (parts, trial) = (self.parts, &mut self.trial);
        let gone = values.try_for_each(|(key, value)| {
            let hash = hasher.hash_one(&key);
            if let Some(&(_, id)) = near.keys.find(hash, |(known, _)| *known == key) {
                near.push(id, value);
                trial.near += 1;
                return Ok(());
            }
            let far = far.get_or_insert_with(|| Scatter::new(parts));
            far.push(part_of(hash, parts), (G::keep(hash), (key, value)));
            trial.far += 1;
            match trial.far == TRIAL && !trial.pays() {
                true => Err(()),
                false => Ok(()),
            }
        });
        if gone.is_err() {
            // No key is heavy from here on.
            let next = Sifted {
                near: None,
                far: None,
            };
            self.done.push(mem::replace(&mut self.now, next));
        }
        gone.is_ok()
    }
}

impl Trial {
    /// Whether enough values had heavy keys. Begins another trial.
    #[cold]
    fn pays(&mut self) -> bool {
        let Trial { near, far } = mem::take(self);
        near >= (near + far) / WORTH
    }
}
