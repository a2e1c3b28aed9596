//! A map on a random walk through all methods that make a map from something else, or change many entries at
//! once, next to a map of std: each method goes on with what the previous one made.

use std::collections::HashMap;
use std::env;

use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ReadMap};
use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

/// Large, since a few groups with much memory are laid out in another way.
type Value = [u64; 16];
type Twin = HashMap<u64, Vec<Value>>;
type Map = ParHashMap<u64, Vec<Value>>;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (z ^ (z >> 31)) % limit
    }

    /// Pairs with few keys or many, few of them or many; sometimes one key has most.
    fn pairs(&mut self) -> Vec<(u64, Value)> {
        let most = [12, 900, 6_000, 200_000][self.below(4) as usize];
        let count = self.below(most);
        let keys = [7, 800, 5_000, 1 << 40][self.below(4) as usize];
        let heavy = self.below(3) == 0;
        let key = |random: &mut Self| match heavy && random.below(10) > 0 {
            true => 3,
            false => random.below(keys),
        };
        (0..count).map(|value| (key(self), [value; 16])).collect()
    }
}

fn fold(twin: &mut Twin, pairs: &[(u64, Value)]) {
    pairs
        .iter()
        .for_each(|&(key, value)| twin.entry(key).or_default().push(value));
}

fn grouped(pairs: &[(u64, Value)]) -> Map {
    let groups = pairs.par_iter().copied().group_by(|pair| pair.0);
    let map = groups.into_map();
    let values = |pairs: Vec<(u64, Value)>| pairs.into_iter().map(|pair| pair.1).collect();
    map.into_par_iter()
        .map(|(key, pairs)| (key, values(pairs)))
        .collect()
}

/// The same with the map that the groups were made into, so that its shards are tested.
fn grouped_at_once(pairs: &[(u64, Value)]) -> Map {
    pairs.par_iter().copied().group_pairs().into_map()
}

/// One step: its name, and the map after it.
fn step(random: &mut Random, mut map: Map, twin: &mut Twin) -> (&'static str, Map) {
    let append = |old: &mut Vec<Value>, mut more: Vec<Value>| old.append(&mut more);
    match random.below(17) {
        0 | 1 => {
            let pairs = random.pairs();
            let mut last: Twin = HashMap::new();
            fold(&mut last, &pairs);
            twin.extend(last.clone());
            map.par_extend(last);
            ("par_extend", map)
        }
        2 | 3 => {
            let pairs = random.pairs();
            fold(twin, &pairs);
            map.par_merge_with(grouped(&pairs), append);
            ("par_merge_with, of pairs", map)
        }
        4 | 5 => {
            let pairs = random.pairs();
            fold(twin, &pairs);
            map.par_merge_with(grouped_at_once(&pairs), append);
            ("par_merge_with, of groups", map)
        }
        6 => {
            // The other way around: into a map that was just made, of much in few groups.
            let keys = [7, 800, 3_000][random.below(3) as usize];
            let count = 130_000 + random.below(100_000);
            let pairs: Vec<_> = (0..count).map(|at| (at % keys, [at; 16])).collect();
            let mut other = grouped_at_once(&pairs);
            let mut both = HashMap::new();
            fold(&mut both, &pairs);
            let fresh: Vec<_> = (0..40_000)
                .map(|at| (1 << 50 | at, vec![[at; 16]]))
                .collect();
            both.extend(fresh.iter().cloned());
            other.par_extend(fresh.into_par_iter().filter(|_| true));
            for (key, mut values) in twin.drain() {
                both.entry(key).or_default().append(&mut values);
            }
            *twin = both;
            other.par_merge_with(map, append);
            ("merged into groups", other)
        }
        7 => {
            let divisor = 1 + random.below(9);
            twin.retain(|key, _| key % divisor != 0);
            map.par_retain(|key, _| key % divisor != 0);
            ("par_retain", map)
        }
        8 => ("freeze, thaw", map.freeze().thaw()),
        9 => {
            let read = ReadMap::from(map);
            let key = random.below(5_000);
            read.insert(key, vec![[key; 16]]);
            twin.insert(key, vec![[key; 16]]);
            ("a read map", read.freeze().thaw())
        }
        10 => ("clone", map.clone()),
        11 => {
            let std: HashMap<u64, Vec<Value>, _> = map.into();
            ("std and back", std.into_iter().collect())
        }
        12 => {
            let brown: hashbrown::HashMap<u64, Vec<Value>, _> = map.into();
            let map: ParHashMap<_, _, _> = brown.into();
            ("hashbrown and back", map)
        }
        13 => {
            map.shrink_to_fit();
            map.reserve(random.below(9_000) as usize);
            ("shrink, reserve", map)
        }
        14 => {
            let all: Vec<_> = map.par_drain().collect();
            assert!(map.is_empty());
            map.extend(all);
            ("drained and extended", map)
        }
        15 => {
            let pairs = random.pairs();
            for (key, value) in pairs {
                twin.insert(key, vec![value]);
                map.insert(key, vec![value]);
            }
            ("insert", map)
        }
        _ => {
            let keys: Vec<u64> = twin.keys().copied().filter(|key| key % 3 == 0).collect();
            keys.iter()
                .for_each(|key| assert_eq!(twin.remove(key), map.remove(key)));
            ("remove", map)
        }
    }
}

fn walk(seed: u64, steps: usize) {
    let (mut random, mut way) = (Random(seed), Vec::new());
    let (mut map, mut twin) = (Map::default(), Twin::new());
    for _ in 0..steps {
        let name;
        (name, map) = step(&mut random, map, &mut twin);
        way.push(name);
        assert_eq!(map.len(), twin.len(), "seed {seed}: {way:?}");
        let same = twin
            .iter()
            .all(|(key, values)| map.read(key, |v| v == values) == Some(true));
        assert!(same, "seed {seed}: {way:?}");
        // A map that has grown large is replaced, so that all steps together stay quick.
        if twin.len() > 300_000 {
            (map, twin) = (Map::default(), Twin::new());
        }
    }
}

/// Takes `TINE_WALKS` walks, beginning with the seed `TINE_SEED`.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn random_ways_from_map_to_map() {
    let number = |name, or| env::var(name).map_or(or, |text| text.parse().expect("a number"));
    let first = number("TINE_SEED", 1);
    for seed in first..first + number("TINE_WALKS", 4) {
        let threads = [1, 2, 3, 8][(seed % 4) as usize];
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| walk(seed, 40));
    }
}
