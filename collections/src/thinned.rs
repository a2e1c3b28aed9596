//! Pairs scattered by hash. A worker that holds very many thins them, before all pairs have come:
//! it keeps one pair for each key. So memory depends on the number of keys, however many pairs
//! there are.
//!
//! Apart from memory this work gains nothing: the remaining pairs are looked at once more at the
//! end. So a worker does it only once it holds much, and only if a sample of the parts says that
//! most keys came again.
#![forbid(unsafe_code)]

use crate::gather::{Heap, fits};
use crate::partition::{List, Scatter};
use crate::parts::part_of;
use crate::tag::{Tag, Tagged};
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};
use std::mem;
use tine_pool::current_num_threads;
use tine_pool::loops::check;

/// Up to this many bytes, all workers together keep what they have scattered as it is. (Debug builds keep less, so that tests of
/// moderate size reach what is beyond.)
pub(crate) const HELD: usize = if cfg!(miri) {
    256 << 10
} else if cfg!(debug_assertions) {
    4 << 20
} else {
    512 << 20
};

/// The first one of N parts is the sample; this is N.
const SAMPLE: usize = 16;
/// At least this many bytes of values, or one value, come between two looks at how much is held.
const STEP: usize = 16 << 10;

/// How many bytes a worker may hold.
pub(crate) struct Bound {
    first: usize,
    now: usize,
}

impl Default for Bound {
    fn default() -> Self {
        let first = HELD / current_num_threads().max(1);
        Bound { first, now: first }
    }
}

impl Bound {
    /// A first bound of this number of bytes.
    #[cfg(test)]
    pub(crate) fn of(first: usize) -> Self {
        Bound { first, now: first }
    }

    /// How many more values of this size may come. `None` if the bound is reached.
    #[inline]
    pub(crate) fn room(&self, bytes: usize, size: usize) -> Option<usize> {
        let left = self.now.saturating_sub(bytes);
        (left > 0).then(|| (left.max(STEP) / size.max(1)).max(1))
    }

    /// Sets the next bound, for a worker that goes on with this many bytes. A look in vain costs less than the work itself, so
    /// the next one comes earlier.
    pub(crate) fn renew(&mut self, bytes: usize, was_in_vain: bool) {
        let more = if was_in_vain { bytes / 2 } else { bytes };
        self.now = bytes.saturating_add(self.first.max(more));
    }
}

/// Whether at least every second value has a hash that came before, in the sample.
pub(crate) fn comes_again<T>(scatter: &Scatter<T>, hash: impl Fn(&T) -> u64) -> bool {
    let (mut seen, mut known) = (0, 0);
    let mut table: HashTable<u64> = HashTable::new();
    for part in 0..scatter.parts().div_ceil(SAMPLE) {
        table.clear();
        for value in scatter.stretches(part).flatten() {
            let hash = hash(value);
            seen += 1;
            match table.find(hash, |&other| other == hash) {
                Some(_) => known += 1,
                None => drop(table.insert_unique(hash, hash, |&hash| hash)),
            }
        }
    }
    known > 0 && known >= seen / 2
}

/// Pairs in the lists of their parts. Of several pairs with one key the first one's key stays, and the last one's value if
/// `LAST` says so.
pub(crate) struct Thinned<G, K, V, const LAST: bool> {
    pairs: Scatter<Tagged<G, K, V>>,
    bound: Bound,
    is_thinned: bool,
}

impl<G: Tag, K: Hash + Eq, V, const LAST: bool> Thinned<G, K, V, LAST> {
    pub(crate) fn new(parts: usize) -> Self {
        Thinned {
            pairs: Scatter::new(parts),
            bound: Bound::default(),
            is_thinned: false,
        }
    }

    /// Whether pairs were left out. The first ones that are left then do not tell how many keys all have.
    pub(crate) fn is_thinned(&self) -> bool {
        self.is_thinned
    }

    /// The pairs that are left, in their order.
    pub(crate) fn into_pairs(self) -> Scatter<Tagged<G, K, V>> {
        self.pairs
    }

    pub(crate) fn parts(&self) -> usize {
        self.pairs.parts()
    }

    /// How many pairs may come before there is a look at how much is held.
    #[inline]
    fn room(&mut self, hasher: &impl BuildHasher) -> usize {
        loop {
            let size = mem::size_of::<Tagged<G, K, V>>();
            if let Some(room) = self.bound.room(self.pairs.bytes(), size) {
                return room;
            }
            self.thin(hasher);
        }
    }

    #[inline]
    fn push(&mut self, (key, value): (K, V), hasher: &impl BuildHasher) {
        let hash = hasher.hash_one(&key);
        let part = part_of(hash, self.pairs.parts());
        self.pairs.push(part, (G::keep(hash), (key, value)));
    }

    /// Keeps one pair for each key if that is much less; sets another bound.
    #[cold]
    #[inline(never)]
    fn thin(&mut self, hasher: &impl BuildHasher) {
        let hash = |(tag, (key, _)): &Tagged<G, K, V>| tag.hash(|| hasher.hash_one(key));
        let comes_again = comes_again(&self.pairs, hash);
        if comes_again {
            self.is_thinned = true;
            let fresh = Scatter::new(self.pairs.parts());
            let lists = mem::replace(&mut self.pairs, fresh).into_lists();
            let (mut kept, mut places) = (Vec::new(), HashTable::new());
            for (part, list) in lists.into_iter().enumerate() {
                check();
                one_of_each::<_, _, _, LAST>(list, &mut kept, &mut places, hasher);
                // By the number of the part, whatever the hash says: a hasher may lie.
                kept.drain(..).for_each(|pair| self.pairs.push(part, pair));
                places.clear();
            }
        }
        self.bound.renew(self.pairs.bytes(), !comes_again);
    }
}

/// Puts one pair for each key into `kept`, in the order in which the keys came first. Entries of a table would come in the order
/// of their hashes, and crowd the table that they go to in the end.
fn one_of_each<G: Tag, K: Hash + Eq, V, const LAST: bool>(
    list: List<Tagged<G, K, V>>,
    kept: &mut Vec<Tagged<G, K, V>>,
    places: &mut HashTable<u32>,
    hasher: &impl BuildHasher,
) {
    list.for_each(|(tag, (key, value))| {
        let hash = tag.hash(|| hasher.hash_one(&key));
        match places.find(hash, |&at| kept[at as usize].1.0 == key) {
            Some(&at) if LAST => kept[at as usize].1.1 = value,
            Some(_) => {}
            None => {
                let at = u32::try_from(kept.len()).expect("fewer keys than 2^32");
                kept.push((tag, (key, value)));
                places.insert_unique(hash, at, |&at| {
                    let (tag, (key, _)) = &kept[at as usize];
                    tag.hash(|| hasher.hash_one(key))
                });
            }
        }
    });
}

impl<G, B, K, V, S, const LAST: bool> Heap<B, K, V, S> for Thinned<G, K, V, LAST>
where
    G: Tag,
    B: IntoIterator<Item = (K, V)>,
    K: Hash + Eq + Send,
    V: Send,
    S: BuildHasher,
{
    fn begin(parts: usize, first: B, hasher: &S) -> Self {
        let mut thinned = Thinned::new(parts);
        Heap::<B, K, V, S>::pour(&mut thinned, first.into_iter(), hasher);
        thinned
    }

    #[inline]
    fn pour(&mut self, mut pairs: impl Iterator<Item = (K, V)>, hasher: &S) {
        loop {
            let room = self.room(hasher);
            // Here the loop need not stop, so the place in the pairs stays in a register.
            if fits(&pairs, room) {
                return pairs.for_each(|pair| self.push(pair, hasher));
            }
            let mut left = room;
            pairs.by_ref().take(room).for_each(|pair| {
                self.push(pair, hasher);
                left -= 1;
            });
            if left > 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, HELD, Thinned, comes_again};
    use crate::gather::Heap;
    use crate::hasher::DefaultHashBuilder;
    use crate::partition::Scatter;
    use crate::parts::breadth;
    use crate::tag::Tag;
    use std::collections::{HashMap, HashSet};
    use std::hash::{BuildHasher, Hasher};
    use std::rc::Rc;

    const COUNT: usize = if cfg!(miri) { 2_000 } else { 100_000 };

    /// Pairs of some keys, each with its number.
    fn pairs(of: u64) -> impl Iterator<Item = (u64, usize)> {
        let key = move |n: usize| (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17;
        (0..COUNT).map(move |n| (key(n) % of, n))
    }

    /// What is left of pairs that come in pieces, and how many bytes at most were held.
    fn thinned<G: Tag, const LAST: bool>(
        of: u64,
        piece: usize,
        first: usize,
        hasher: &impl BuildHasher,
    ) -> (Vec<(u64, usize)>, usize) {
        let mut thinned = Thinned::<G, u64, usize, LAST>::new(breadth());
        thinned.bound = Bound::of(first);
        let all: Vec<_> = pairs(of).collect();
        let mut most = 0;
        for piece in all.chunks(piece) {
            let piece = piece.iter().copied();
            // Of known and of unknown length.
            match piece.len() % 2 {
                0 => Heap::<Vec<_>, _, _, _>::pour(&mut thinned, piece, hasher),
                _ => {
                    let hidden = piece.flat_map(Some);
                    Heap::<Vec<_>, _, _, _>::pour(&mut thinned, hidden, hasher);
                }
            }
            most = most.max(thinned.pairs.bytes());
        }
        let lists = thinned.into_pairs().into_lists();
        let pairs = lists.into_iter().flatten().map(|(_, pair)| pair);
        (pairs.collect(), most)
    }

    fn check<G: Tag, const LAST: bool>(of: u64, piece: usize, first: usize) {
        let hasher = DefaultHashBuilder::default();
        let (left, _) = thinned::<G, LAST>(of, piece, first, &hasher);
        let mut found = HashMap::new();
        for (key, n) in left {
            match LAST {
                true => drop(found.insert(key, n)),
                false => drop(found.entry(key).or_insert(n)),
            }
        }
        let mut wanted = HashMap::new();
        for (key, n) in pairs(of) {
            match LAST {
                true => drop(wanted.insert(key, n)),
                false => drop(wanted.entry(key).or_insert(n)),
            }
        }
        assert!(found == wanted, "{of} keys in pieces of {piece}, {first}");
    }

    #[test]
    fn the_first_and_the_last_of_each_key_are_left() {
        for of in [1, 300, COUNT as u64 / 3, u64::MAX] {
            for (piece, first) in [(COUNT, 1), (1_001, 1 << 18), (4_000, 1 << 20)] {
                check::<(), false>(of, piece, first);
                check::<u64, false>(of, piece, first);
                check::<(), true>(of, piece, first);
                check::<u64, true>(of, piece, first);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn what_is_held_goes_with_the_keys() {
        let hasher = DefaultHashBuilder::default();
        let all = COUNT * size_of::<(u64, usize)>();
        let (left, most) = thinned::<(), true>(300, 1_000, 1 << 18, &hasher);
        assert!(most < all / 2 && left.len() < COUNT / 3, "{most} of {all}");
        // New keys are left as they are, each once, and in order.
        let (left, _) = thinned::<(), false>(u64::MAX, 1_000, 1 << 18, &hasher);
        assert_eq!(left.len(), COUNT);
        assert!(left.iter().map(|pair| pair.0).collect::<HashSet<_>>().len() == COUNT);
    }

    /// A hasher that says something else each time loses nothing but the knowledge of keys.
    #[test]
    fn a_hasher_may_lie() {
        #[derive(Clone, Default)]
        struct Liar(Rc<std::cell::Cell<u64>>);

        impl Hasher for Liar {
            fn write(&mut self, _: &[u8]) {}

            fn finish(&self) -> u64 {
                self.0.set(self.0.get() + 1);
                self.0.get().wrapping_mul(0x9E37_79B9_7F4A_7C15)
            }
        }

        impl BuildHasher for Liar {
            type Hasher = Self;

            fn build_hasher(&self) -> Self {
                self.clone()
            }
        }

        let (left, _) = thinned::<u64, true>(500, 1_000, 1 << 18, &Liar::default());
        let keys: HashSet<u64> = left.iter().map(|pair| pair.0).collect();
        assert_eq!(keys, pairs(500).map(|pair| pair.0).collect());
    }

    #[test]
    fn a_bound_is_never_reached_at_once() {
        let mut bound = Bound::default();
        assert!(bound.room(0, 8).is_some_and(|room| room <= HELD / 8));
        assert!(bound.room(HELD, 8).is_none());
        for bytes in [0, 1, HELD, usize::MAX / 2] {
            bound.renew(bytes, bytes % 2 == 0);
            assert!(bound.room(bytes, 0).is_some());
        }
    }

    #[test]
    fn a_sample_tells_whether_keys_come_again() {
        let told = |keys: usize, times: usize| {
            let mut scatter = Scatter::new(32);
            (0..keys * times).for_each(|n| scatter.push(n % keys % 32, n % keys));
            comes_again(&scatter, |&n| n as u64)
        };
        assert!(told(640, 2) && told(640, 5) && told(32, 10));
        assert!(!told(2_000, 1) && !told(32, 1));
        let empty = Scatter::<u64>::new(8);
        assert!(!comes_again(&empty, |&n| n));
    }
}
