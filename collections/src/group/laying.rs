//! Groups as rows, laid out from the values that workers have sifted.
//!
//! One job for each part lists its keys, counts their values, and lays out the values that were
//! scattered; it leaves gaps for the values of heavy keys. Then one job for each segment moves its
//! values into these gaps. So all threads share the values of one key.
#![forbid(unsafe_code)]

use super::listing::{Laid, Listing};
use super::sift::{Near, Pairs, Segment, Sifted};
use crate::gather::Lists;
use crate::partition::{List, Scatter, par_map};
use crate::parts::part_of;
use crate::settle::{Gap, Lane};
use crate::tag::Tag;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash};
use std::iter;
use std::mem;
use tine_pool::loops::sheltered;

/// The bytes of values for each part, if little was scattered.
const PART: usize = if cfg!(test) { 1 << 16 } else { 8 << 20 };
/// Little was scattered if there is at most one scattered value for each N others; this is N.
const LITTLE: usize = 4;
/// If little was scattered, each part has about this many scattered values: each may have its own key.
const LISTED: usize = 1 << 14;

/// The groups of one part.
pub(super) struct Rows<K, T> {
    /// The index in `keys` of each key.
    pub(super) places: HashTable<u32>,
    pub(super) keys: Vec<K>,
    /// Group `i` is `values[offsets[i]..offsets[i + 1]]`.
    pub(super) offsets: Vec<usize>,
    pub(super) values: Vec<T>,
}

/// Rows whose values are not yet complete.
struct Draft<K, T> {
    laid: Laid<K, T>,
    /// For each gap, the run that fills it and the number of its key in that run.
    from: Vec<(usize, u16)>,
}

impl<K, T> Laid<K, T> {
    fn finish(self) -> Rows<K, T> {
        Rows {
            places: self.places,
            keys: self.keys,
            offsets: self.offsets,
            values: self.values.whole(),
        }
    }
}

/// A heavy key on its way to its part.
struct Heavy<K> {
    hash: u64,
    key: K,
    id: u16,
    len: usize,
}

/// What a part gets from a run.
struct Share<G, K, T> {
    run: usize,
    heavy: Vec<Heavy<K>>,
    lists: Vec<List<(G, (K, T))>>,
}

impl<K: Eq + Hash, T> Rows<K, T> {
    /// The rows of these pairs.
    pub(super) fn new(pairs: Pairs<K, T>, hasher: &impl BuildHasher) -> Self {
        pairs.into_listing(hasher).lay(&[]).finish()
    }

    /// The rows of one part of the scattered pairs.
    pub(super) fn of_part<G: Tag>(lists: Lists<G, (K, T)>, hasher: &impl BuildHasher) -> Self {
        let mut listing = Listing::new(lists.iter().map(List::len).sum());
        lists.into_iter().flatten().for_each(|(tag, pair)| {
            let hash = tag.hash(|| hasher.hash_one(&pair.0));
            listing.add(hash, pair, hasher);
        });
        listing.lay(&[]).finish()
    }
}

impl<K, T> Rows<K, T> {
    pub(super) fn row(&self, group: usize) -> &[T] {
        &self.values[self.offsets[group]..self.offsets[group + 1]]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &[T])> {
        self.keys
            .iter()
            .enumerate()
            .map(|(group, key)| (key, self.row(group)))
    }

    /// Takes the values out group by group, from the last to the first.
    pub(super) fn into_pairs(self) -> impl Iterator<Item = (K, Vec<T>)> {
        let Rows {
            keys,
            offsets,
            mut values,
            ..
        } = self;
        let mut groups = keys.len();
        keys.into_iter().rev().map(move |key| {
            groups -= 1;
            (key, values.drain(offsets[groups]..).collect())
        })
    }

    /// The groups of this part as `count` tables of a map, each group a vector. There are `parts` parts, so the
    /// map has `parts * count` tables.
    pub(super) fn into_tables(
        self,
        parts: usize,
        count: usize,
        hasher: &impl BuildHasher,
    ) -> Vec<HashTable<(K, Vec<T>)>>
    where
        K: Hash,
    {
        let each = self.keys.len() / count;
        let table = || HashTable::with_capacity(each + each / 8);
        let mut tables: Vec<_> = iter::repeat_with(table).take(count).collect();
        for pair in self.into_pairs() {
            let hash = hasher.hash_one(&pair.0);
            let table = &mut tables[part_of(hash, parts * count) / parts];
            table.insert_unique(hash, pair, |(key, _)| hasher.hash_one(key));
        }
        tables
    }
}

/// The rows of all sifted values, run after run, in the order of the input.
pub(super) fn lay<G, K, T, S>(
    runs: Vec<Sifted<G, K, T>>,
    parts: usize,
    hasher: &S,
) -> Vec<Rows<K, T>>
where
    G: Tag,
    K: Eq + Hash + Send,
    T: Send,
    S: BuildHasher + Sync,
{
    let mut segments: Vec<Vec<Segment<T>>> = Vec::new();
    let mut runs_of_keys = Vec::new();
    let mut far_values = 0;
    for (run, Sifted { near, far }) in runs.into_iter().enumerate() {
        let (keys, values) = near.map_or_else(
            || (HashTable::new(), Vec::new()),
            |Near { keys, segments }| (keys, segments),
        );
        segments.push(values);
        far_values += far.as_ref().map_or(0, Scatter::len);
        runs_of_keys.push((run, keys, far));
    }
    let keys: Vec<usize> = runs_of_keys.iter().map(|(_, keys, _)| keys.len()).collect();
    let counts = count(&segments, &keys);
    let near_values: usize = segments.iter().flatten().map(|one| one.ids.len()).sum();
    // If little was scattered, there are as few parts as are enough: their rows are longer.
    let parts = match far_values <= near_values / LITTLE {
        true => wide::<T>(near_values + far_values, parts)
            .max((far_values / LISTED).next_power_of_two())
            .min(parts),
        false => parts,
    };
    let share = |(run, keys, far)| share(run, keys, far, &counts, parts, hasher);
    let mut shares: Vec<Vec<Share<G, K, T>>> = Vec::new();
    shares.resize_with(parts, Vec::new);
    for run in par_map(runs_of_keys, &share) {
        shares
            .iter_mut()
            .zip(run)
            .for_each(|(all, one)| all.push(one));
    }
    let draft = |part| draft(part, hasher);
    let mut drafts = par_map(shares, &draft);
    fill(&mut drafts, segments, &counts);
    drafts
        .into_iter()
        .map(|draft| draft.laid.finish())
        .collect()
}

/// What each part gets from a run.
fn share<G: Tag, K: Hash, T>(
    run: usize,
    keys: HashTable<(K, u16)>,
    far: Option<Scatter<(G, (K, T))>>,
    counts: &[Vec<Vec<usize>>],
    parts: usize,
    hasher: &impl BuildHasher,
) -> Vec<Share<G, K, T>> {
    let empty = |_| Share {
        run,
        heavy: Vec::new(),
        lists: Vec::new(),
    };
    let mut shares: Vec<_> = (0..parts).map(empty).collect();
    let mut lens = vec![0; keys.len()];
    for counts in &counts[run] {
        lens.iter_mut()
            .zip(counts)
            .for_each(|(len, more)| *len += more);
    }
    for (key, id) in keys {
        let hash = hasher.hash_one(&key);
        let len = lens[usize::from(id)];
        let heavy = &mut shares[part_of(hash, parts)].heavy;
        heavy.push(Heavy { hash, key, id, len });
    }
    // The values may have been scattered to more parts: values of equal keys still come to the same one of
    // these.
    for (part, list) in far
        .map_or_else(Vec::new, Scatter::into_lists)
        .into_iter()
        .enumerate()
    {
        shares[part & (parts - 1)].lists.push(list);
    }
    shares
}

/// How many values each key has in each segment of each run.
fn count<T: Send>(segments: &[Vec<Segment<T>>], keys: &[usize]) -> Vec<Vec<Vec<usize>>> {
    let all = segments
        .iter()
        .enumerate()
        .flat_map(|(run, segments)| segments.iter().map(move |segment| (run, segment)));
    let jobs: Vec<_> = all
        .map(|(run, segment)| (run, keys[run], &segment.ids))
        .collect();
    let counted = par_map(jobs, &|(run, keys, ids): (usize, usize, &Vec<u16>)| {
        let mut counts = vec![0; keys];
        ids.iter().for_each(|&id| counts[usize::from(id)] += 1);
        (run, counts)
    });
    let mut counts: Vec<Vec<Vec<usize>>> = vec![Vec::new(); segments.len()];
    counted
        .into_iter()
        .for_each(|(run, segment)| counts[run].push(segment));
    counts
}

/// The number of parts for this number of values, so that each part has many.
fn wide<T>(count: usize, most: usize) -> usize {
    let parts = count.saturating_mul(mem::size_of::<T>()) / PART;
    parts.next_power_of_two().clamp(1, most)
}

fn draft<G, K, T>(part: Vec<Share<G, K, T>>, hasher: &impl BuildHasher) -> Draft<K, T>
where
    G: Tag,
    K: Eq + Hash,
{
    let lists = part.iter().flat_map(|share| &share.lists);
    let mut listing = Listing::new(lists.map(List::len).sum());
    let mut gaps = Vec::new();
    let mut from = Vec::new();
    for Share { run, heavy, lists } in part {
        for Heavy { hash, key, id, len } in heavy {
            let group = listing.group(hash, key, hasher);
            let before = listing.len();
            gaps.push(Gap { before, group, len });
            from.push((run, id));
        }
        lists.into_iter().flatten().for_each(|(tag, pair)| {
            listing.add(tag.hash(|| hasher.hash_one(&pair.0)), pair, hasher);
        });
    }
    let laid = listing.lay(&gaps);
    Draft { laid, from }
}

/// Moves the values of heavy keys to their places.
fn fill<K: Send, T: Send>(
    drafts: &mut [Draft<K, T>],
    segments: Vec<Vec<Segment<T>>>,
    counts: &[Vec<Vec<usize>>],
) {
    if segments.iter().all(Vec::is_empty) {
        return;
    }
    let mut lanes: Vec<Vec<Lane<'_, T>>> = Vec::new();
    for counts in counts {
        let mut run = Vec::new();
        run.resize_with(counts.first().map_or(0, Vec::len), Lane::default);
        lanes.push(run);
    }
    for Draft { laid, from } in drafts {
        for (lane, &(run, id)) in laid.values.lanes().into_iter().zip(&*from) {
            lanes[run][usize::from(id)] = lane;
        }
    }
    let runs = lanes.into_iter().zip(segments).zip(counts).collect();
    let bring = |(segment, mut lanes): (Segment<T>, Vec<Lane<'_, T>>)| {
        for (value, id) in segment.values.into_iter().zip(segment.ids) {
            lanes[usize::from(id)].put(value);
        }
    };
    // No token ends it halfway, when gaps are open.
    sheltered(|| {
        let jobs: Vec<Vec<_>> = par_map(runs, &cut_up);
        par_map(jobs.into_iter().flatten().collect(), &bring)
    });
}

/// The lanes of a run's keys, the run's segments, and how many values each segment has of each key.
type Run<'a, 'c, T> = ((Vec<Lane<'a, T>>, Vec<Segment<T>>), &'c Vec<Vec<usize>>);

/// Each segment with the places of its values.
fn cut_up<'a, T>(
    ((mut lanes, segments), counts): Run<'a, '_, T>,
) -> Vec<(Segment<T>, Vec<Lane<'a, T>>)> {
    let one = |(segment, counts): (_, &Vec<usize>)| {
        let cut = |(lane, &len)| Lane::cut(lane, len);
        (segment, lanes.iter_mut().zip(counts).map(cut).collect())
    };
    segments.into_iter().zip(counts).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{Listing, lay};
    use crate::gather::{Heap, START};
    use crate::group::sift::{Pairs, Sieve};
    use crate::hasher::DefaultHashBuilder;
    use crate::map::ParHashMap;
    use crate::prelude::ParallelGrouping;
    use std::collections::HashMap;
    use tine_iter::iter::{IntoParallelIterator, ParallelExtend};

    /// A bag that holds far more than the sample, and more values after it: few keys; one heavy key among many;
    /// a key that is heavy only in the sample, or only after it; all keys different. Both as a row and as a
    /// listing.
    #[test]
    fn a_bag_larger_than_its_sample() {
        let keys: [fn(usize) -> usize; 5] = [
            |at| at * 7 % 10,
            |at| if at % 3 == 0 { at } else { 1 },
            |at| if at < START { 1 } else { at },
            |at| if at < START { at } else { 1 },
            |at| at,
        ];
        for key in keys {
            for (bag, more) in [(START - 1, 0), (START + 1, 9), (3 * START, START), (0, 9)] {
                let pairs = (0..bag).map(|at| (key(at), at));
                sifts(Pairs::Row(pairs.clone().collect()), key, bag, more);
                sifts(listed(pairs), key, bag, more);
            }
        }
    }

    /// Few heavy keys are laid out in few parts. A map made from them is nevertheless like any other.
    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn a_map_of_few_parts_takes_more_keys() {
        for keys in [10, 3_000] {
            let lens = |key| {
                (0..400_000_u64)
                    .skip(key as usize)
                    .step_by(keys as usize)
                    .count()
            };
            let items = (0..400_000_u64).into_par_iter();
            let groups = items.group_by(|item| item % keys);
            let mut map = groups.into_map();
            let more: Vec<(u64, Vec<u64>)> =
                (10_000..110_000).map(|key| (key, vec![key])).collect();
            map.par_extend(more);
            assert_eq!(map.len() as u64, keys + 100_000);
            assert!((0..keys).all(|key| map.read(&key, Vec::len) == Some(lens(key))));
            let rest = (1_000_000..1_100_000).map(|key| (key, vec![]));
            let rest: ParHashMap<u64, Vec<u64>> = rest.collect();
            map.par_merge_with(rest, |_, _| unreachable!("new keys"));
            assert_eq!(map.len() as u64, keys + 200_000);
        }
    }

    /// More keys than fit in two bytes.
    #[test]
    #[cfg_attr(miri, ignore = "slow")]
    fn a_listing_of_many_keys() {
        for count in [65_535, 65_536, 140_000] {
            let key = |at| if at % 7 == 0 { 5 } else { at };
            sifts(listed((0..count).map(|at| (key(at), at))), key, count, 9);
            let key = |at| at;
            sifts(listed((0..count).map(|at| (at, at))), key, count, 9);
        }
    }

    fn listed(mut pairs: impl Iterator<Item = (usize, usize)>) -> Pairs<usize, usize> {
        let mut listing = Listing::new(0);
        listing.fill(&mut pairs, &HASHER.with(Clone::clone));
        Pairs::Listed(listing)
    }

    thread_local! {
        static HASHER: DefaultHashBuilder = DefaultHashBuilder::default();
    }

    /// Sifts a bag, and then more pairs.
    fn sifts(first: Pairs<usize, usize>, key: impl Fn(usize) -> usize, bag: usize, more: usize) {
        let hasher = HASHER.with(Clone::clone);
        let mut sieve: Sieve<(), usize, usize> = Heap::begin(16, first, &hasher);
        let later = (bag..bag + more).map(|at| (key(at), at));
        Heap::<Pairs<_, _>, _, _, _>::pour(&mut sieve, later, &hasher);
        let mut twin: HashMap<usize, Vec<usize>> = HashMap::new();
        for at in 0..bag + more {
            twin.entry(key(at)).or_default().push(at);
        }
        let parts = lay(sieve.into_sifted(), 16, &hasher);
        let rows = parts.iter().flat_map(|rows| rows.iter());
        let groups: HashMap<_, _> = rows.map(|(&key, row)| (key, row.to_vec())).collect();
        assert!(groups == twin, "{bag} pairs in the bag and {more} more");
    }
}
