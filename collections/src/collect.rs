//! Building and extending maps from parallel iterators. Pairs are scattered by
//! hash, then each shard is filled by one thread, without a lock.
#![forbid(unsafe_code)]

use crate::foresight::Foresight;
use crate::gather::{Lists, Run, heaps};
use crate::latest::{Latest, SPARE};
use crate::map::table::grow;
use crate::map::{FrozenMap, ParHashMap, put};
use crate::partition::{List, par_map, transpose};
use crate::parts::breadth;
use crate::tag::{Tag, is_cheap};
use crate::thinned::Thinned;
use crate::tried::tried;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use tine_iter::iter::{
    FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator,
};

impl<K, V, S> ParHashMap<K, V, S>
where
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher + Sync,
{
    /// Inserts all pairs, in their order. If a key is already there, `merge`
    /// makes one of the two values.
    pub(crate) fn absorb<I>(&mut self, pairs: I, merge: &(impl Fn(&mut V, V) + Sync))
    where
        I: ParallelIterator<Item = (K, V)>,
    {
        tried(pairs, &(merge, "map"), |pairs, alone| {
            if const { is_cheap::<K>() } {
                self.absorb_tagged::<(), I>(pairs, merge, alone);
            } else {
                self.absorb_tagged::<u64, I>(pairs, merge, alone);
            }
        });
    }

    fn absorb_tagged<G: Tag, I>(
        &mut self,
        pairs: I,
        merge: &(impl Fn(&mut V, V) + Sync),
        alone: bool,
    ) where
        I: ParallelIterator<Item = (K, V)>,
    {
        let hasher = &self.hasher;
        match heaps::<Thinned<G, K, V, true>, Latest<K, V>, _, _, _, _>(
            pairs,
            &|pair| pair,
            hasher,
            breadth(),
            alone,
        ) {
            Run::Few(Latest {
                table: mut fresh, ..
            }) => match self.shards.stem_mut() {
                Some(table) if table.is_empty() && table.capacity() <= fresh.capacity() => {
                    // Most keys came more than once.
                    let bytes = fresh.capacity().saturating_mul(mem::size_of::<(K, V)>());
                    if bytes > SPARE && fresh.len() < fresh.capacity() / 4 {
                        let room = table.capacity().max(2 * fresh.len());
                        fresh.shrink_to(room, |(key, _)| hasher.hash_one(key));
                    }
                    *table = fresh;
                    self.shards.survey();
                }
                Some(table) => {
                    insert(table, fresh, hasher, merge);
                    self.shards.survey();
                }
                None => {
                    for (key, value) in fresh {
                        self.merge_mut(key, value, merge);
                    }
                }
            },
            Run::Many(runs) => {
                let foresees = !runs.iter().any(Thinned::is_thinned);
                let parts = transpose(runs.into_iter().map(Thinned::into_pairs));
                self.shards.widen(|(key, _)| hasher.hash_one(key));
                let tables = self.shards.tables_mut();
                assert_eq!(tables.len(), parts.len(), "each part has its shard");
                let work: Vec<_> = tables.into_iter().zip(parts).collect();
                // All parts have about equally many keys, whatever the keys are.
                let keys = AtomicUsize::new(0);
                par_map(work, &|(table, lists): (_, Lists<G, (K, V)>)| {
                    let empty = table.is_empty();
                    // Relaxed, here and below: a guess.
                    let known = keys.load(Ordering::Relaxed);
                    fill(table, lists, (known, foresees), hasher, merge);
                    if empty {
                        keys.store(table.len(), Ordering::Relaxed);
                    }
                });
                self.shards.survey();
                self.shards.share_end();
            }
        }
    }
}

/// Inserts pairs into a table.
fn insert<K: Eq + Hash, V, S: BuildHasher>(
    table: &mut HashTable<(K, V)>,
    pairs: HashTable<(K, V)>,
    hasher: &S,
    merge: &impl Fn(&mut V, V),
) {
    let rehash = |(key, _): &(K, V)| hasher.hash_one(key);
    // The entries of one table come in the order of their hashes: they would crowd a table that grows.
    grow(table, pairs.len(), rehash).expect("capacity overflow, or no memory for the entries");
    for pair in pairs {
        let hash = hasher.hash_one(&pair.0);
        put(table, hash, pair, hasher, merge);
    }
}

/// Inserts the lists of one part into its table. Another part had that number of `keys`, or nothing is known. `foresees` says
/// whether the first rows tell how many keys all have.
fn fill<G: Tag, K: Eq + Hash, V, S: BuildHasher>(
    table: &mut HashTable<(K, V)>,
    lists: Lists<G, (K, V)>,
    (keys, foresees): (usize, bool),
    hasher: &S,
    merge: &impl Fn(&mut V, V),
) {
    let rehash = |(key, _): &(K, V)| hasher.hash_one(key);
    let rows = lists.iter().map(List::len).sum();
    let mut foresight = Foresight::new(if foresees { rows } else { 0 });
    if keys > 0 && table.is_empty() {
        // The number varies by about its square root.
        let room = (keys + 2 * keys.isqrt()).min(rows);
        grow(table, room, rehash).expect("capacity overflow, or no memory for the entries");
    }
    for list in lists {
        list.for_each(|(tag, pair)| {
            let hash = tag.hash(|| hasher.hash_one(&pair.0));
            put(table, hash, pair, hasher, merge);
            foresight.step(table, rehash);
        });
    }
}

/// Of several pairs with the same key the last counts, as when collecting in order.
impl<K, V, S> FromParallelIterator<(K, V)> for ParHashMap<K, V, S>
where
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher + Default + Sync,
{
    fn from_par_iter<I>(pairs: I) -> Self
    where
        I: IntoParallelIterator<Item = (K, V)>,
    {
        let mut map = Self::default();
        map.par_extend(pairs);
        map
    }
}

/// Of several pairs with the same key the last counts, as when collecting in order.
impl<K, V, S> FromParallelIterator<(K, V)> for FrozenMap<K, V, S>
where
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher + Default + Sync,
{
    fn from_par_iter<I>(pairs: I) -> Self
    where
        I: IntoParallelIterator<Item = (K, V)>,
    {
        ParHashMap::from_par_iter(pairs).freeze()
    }
}

/// Of several pairs with the same key the last counts, as when extending in order.
impl<K, V, S> ParallelExtend<(K, V)> for ParHashMap<K, V, S>
where
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher + Sync,
{
    fn par_extend<I>(&mut self, pairs: I)
    where
        I: IntoParallelIterator<Item = (K, V)>,
    {
        self.absorb(pairs.into_par_iter(), &|old: &mut V, new| *old = new);
    }
}

impl<'a, K, V, S> ParallelExtend<(&'a K, &'a V)> for ParHashMap<K, V, S>
where
    K: Eq + Hash + Copy + Send + Sync + 'a,
    V: Copy + Send + Sync + 'a,
    S: BuildHasher + Sync,
{
    fn par_extend<I>(&mut self, pairs: I)
    where
        I: IntoParallelIterator<Item = (&'a K, &'a V)>,
    {
        self.par_extend(pairs.into_par_iter().map(|(&key, &value)| (key, value)));
    }
}
