//! Maps that threads insert into and read at once.

use crate::designs::{Pinned, Versions, Words};
use crate::inputs::{Numbers, spread, uniform, zipf};
use crate::table::{Options, Run, on_threads, timed};
use foldhash::fast::RandomState as Fold;
use std::hint::black_box;
use std::time::Duration;
use tine_collections::{FrozenMap, ParHashMap, ReadMap};

type Dash7 = dashmap7::DashMap<u64, u64, Fold>;

/// What a concurrent map must be able to do here.
pub trait Shared: Sync {
    fn put(&self, key: u64, value: u64);
    fn look(&self, key: u64) -> u64;
    /// Adds one to a value, in place.
    fn raise(&self, _: u64) {
        unreachable!("it is not asked for that");
    }
}

impl Shared for ParHashMap<u64, u64> {
    fn put(&self, key: u64, value: u64) {
        self.insert(key, value);
    }
    fn look(&self, key: u64) -> u64 {
        self.get_cloned(&key).unwrap_or(0)
    }
    fn raise(&self, key: u64) {
        self.update(&key, |value| *value += 1);
    }
}

impl Shared for dashmap::DashMap<u64, u64, Fold> {
    fn put(&self, key: u64, value: u64) {
        self.insert(key, value);
    }
    fn look(&self, key: u64) -> u64 {
        self.get(&key).map_or(0, |value| *value)
    }
    fn raise(&self, key: u64) {
        self.get_mut(&key)
            .into_iter()
            .for_each(|mut value| *value += 1);
    }
}

impl Shared for Dash7 {
    fn put(&self, key: u64, value: u64) {
        self.insert(key, value);
    }
    fn look(&self, key: u64) -> u64 {
        self.get(&key).map_or(0, |value| *value)
    }
    fn raise(&self, key: u64) {
        self.get_mut(&key)
            .into_iter()
            .for_each(|mut value| *value += 1);
    }
}

impl Shared for papaya::HashMap<u64, u64, Fold> {
    fn put(&self, key: u64, value: u64) {
        self.pin().insert(key, value);
    }
    fn look(&self, key: u64) -> u64 {
        self.pin().get(&key).map_or(0, |value| *value)
    }
    fn raise(&self, key: u64) {
        self.pin().update(key, |value| value + 1);
    }
}

impl Shared for scc::HashMap<u64, u64, Fold> {
    fn put(&self, key: u64, value: u64) {
        drop(self.upsert_sync(key, value));
    }
    fn look(&self, key: u64) -> u64 {
        self.read_sync(&key, |_, value| *value).unwrap_or(0)
    }
    fn raise(&self, key: u64) {
        self.update_sync(&key, |_, value| *value += 1);
    }
}

impl Shared for ReadMap<u64, u64> {
    fn put(&self, key: u64, value: u64) {
        self.insert(key, value);
    }
    fn look(&self, key: u64) -> u64 {
        self.get_cloned(&key).unwrap_or(0)
    }
}

/// No writes.
impl Shared for FrozenMap<u64, u64> {
    fn put(&self, _: u64, _: u64) {
        unreachable!("a frozen map")
    }
    fn look(&self, key: u64) -> u64 {
        self.get(&key).copied().unwrap_or(0)
    }
}

macro_rules! design {
    ($($map:ty),*) => { $(
        impl Shared for $map {
            fn put(&self, key: u64, value: u64) {
                <$map>::put(self, key, value);
            }
            fn look(&self, key: u64) -> u64 {
                <$map>::look(self, key)
            }
        }
    )* };
}

design!(Words, Versions, Pinned);

pub fn makers(capacity: usize) -> Vec<(&'static str, Box<dyn Fn() -> Box<dyn Shared>>)> {
    use dashmap::DashMap;
    vec![
        (
            "tine ParHashMap",
            Box::new(move || Box::new(ParHashMap::<u64, u64>::new()) as Box<dyn Shared>),
        ),
        (
            "dashmap",
            Box::new(move || Box::new(DashMap::<u64, u64, Fold>::with_hasher(Fold::default()))),
        ),
        (
            "dashmap 7",
            Box::new(move || Box::new(Dash7::with_hasher(Fold::default()))),
        ),
        (
            "dashmap, 256 shards",
            Box::new(move || {
                Box::new(DashMap::<u64, u64, Fold>::with_hasher_and_shard_amount(
                    Fold::default(),
                    256,
                ))
            }),
        ),
        (
            "scc",
            Box::new(move || {
                Box::new(scc::HashMap::<u64, u64, Fold>::with_hasher(Fold::default()))
            }),
        ),
        (
            "papaya",
            Box::new(move || {
                Box::new(papaya::HashMap::<u64, u64, Fold>::with_hasher(
                    Fold::default(),
                ))
            }),
        ),
        (
            "papaya, presized",
            Box::new(move || {
                Box::new(papaya::HashMap::<u64, u64, Fold>::with_capacity_and_hasher(
                    capacity,
                    Fold::default(),
                ))
            }),
        ),
        (
            "words, no growth",
            Box::new(move || Box::new(Words::new(capacity))),
        ),
        (
            "versions, no growth",
            Box::new(move || Box::new(Versions::new(capacity))),
        ),
        (
            "pointers pinned, no growth",
            Box::new(move || Box::new(Pinned::new(capacity))),
        ),
    ]
}

/// What a read may cost: our maps, those of the peers, and designs.
fn reads(options: &Options) {
    let size = 1_000_000 / options.scale as u64;
    let ops = 5_000_000 / options.scale;
    for (name, skewed) in [("reads uniform", false), ("reads zipf", true)] {
        for threads in [2, 16] {
            let name = format!("{name}, {threads} threads");
            if !options.wants(&name) {
                continue;
            }
            let keys = if skewed {
                zipf(ops, size)
            } else {
                uniform(ops, size)
            };
            let pairs = || (0..size).map(|rank| (spread(rank), rank));
            let frozen: FrozenMap<u64, u64> = pairs().collect();
            let read: ReadMap<u64, u64> = pairs().collect();
            let mut maps: Vec<(&'static str, Box<dyn Shared>)> = makers(size as usize)
                .into_iter()
                .map(|(who, make)| {
                    let map = make();
                    pairs().for_each(|(key, value)| map.put(key, value));
                    (who, map)
                })
                .collect();
            maps.push(("tine ReadMap", Box::new(read)));
            maps.push(("tine FrozenMap", Box::new(frozen)));
            for (who, map) in &maps {
                let right = |rank: u64| map.look(spread(rank)) == rank && map.look(!rank) == 0;
                assert!((0..size).step_by(997).all(right), "{who} answers wrongly");
            }
            let runs = maps.iter().map(|(who, map)| {
                let keys = &keys;
                let run = move || {
                    on_threads(threads, keys, |part| {
                        let sum = part.iter().fold(0, |sum, &key| map.look(key) ^ (sum >> 1));
                        black_box(sum);
                    })
                };
                (*who, Box::new(run) as Box<dyn FnMut() -> Duration>)
            });
            let many: ParHashMap<u64, u64> = pairs().collect();
            let ahead = || {
                on_threads(threads, &keys, |part| {
                    let found = many.read_many(part, |&value| value);
                    black_box(found.fold(0, |sum, v| v.unwrap_or(0) ^ (sum >> 1)));
                })
            };
            let ahead: Run<'_> = ("tine ParHashMap, read_many", Box::new(ahead));
            options.row(&name, runs.chain([ahead]).collect());
        }
    }
}

/// One thread that has the map to itself, through the interface that many threads could share.
fn alone(options: &Options) {
    let n = 1_000_000 / options.scale;
    let keys: Vec<u64> = (0..n as u64).map(spread).collect();
    let order = uniform(n, n as u64);
    for reading in [false, true] {
        let name = if reading {
            "alone, read"
        } else {
            "alone, insert"
        };
        if !options.wants(name) {
            continue;
        }
        fn one_by_one(map: &impl Shared, keys: &[u64]) -> u64 {
            keys.iter().map(|&key| map.look(key)).sum()
        }
        fn both<'a, M>(
            keys: &'a [u64],
            order: &'a [u64],
            reading: bool,
            new: impl Fn() -> M + 'a,
            put: impl Fn(&mut M, u64) + 'a,
            look: impl Fn(&M, &[u64]) -> u64 + 'a,
        ) -> Box<dyn FnMut() -> Duration + 'a> {
            Box::new(move || {
                let mut map = new();
                let put = timed(|| keys.iter().for_each(|&key| put(&mut map, key)));
                let look = || look(&map, order);
                if reading { timed(look) } else { put }
            })
        }
        use dashmap::DashMap;
        let (keys, order) = (&keys, &order);
        options.row(
            name,
            vec![
                (
                    "tine ParHashMap",
                    both(
                        keys,
                        order,
                        reading,
                        ParHashMap::<u64, u64>::new,
                        |m, k| m.put(k, k),
                        one_by_one,
                    ),
                ),
                (
                    "tine ParHashMap, read_many",
                    both(
                        keys,
                        order,
                        reading,
                        ParHashMap::<u64, u64>::new,
                        |m, k| m.put(k, k),
                        |m, keys| m.read_many(keys, |&value| value).flatten().sum(),
                    ),
                ),
                (
                    "hashbrown",
                    both(
                        keys,
                        order,
                        reading,
                        hashbrown::HashMap::<u64, u64, Fold>::default,
                        |m, k| drop(m.insert(k, k)),
                        |m, keys| keys.iter().map(|k| m.get(k).copied().unwrap_or(0)).sum(),
                    ),
                ),
                (
                    "dashmap",
                    both(
                        keys,
                        order,
                        reading,
                        DashMap::<u64, u64, Fold>::default,
                        |m, k| m.put(k, k),
                        one_by_one,
                    ),
                ),
                (
                    "dashmap 7",
                    both(
                        keys,
                        order,
                        reading,
                        Dash7::default,
                        |m, k| m.put(k, k),
                        one_by_one,
                    ),
                ),
            ],
        );
    }
}

pub fn run(options: &Options) {
    alone(options);
    reads(options);
    let n = 5_000_000 / options.scale;
    let keys: Vec<u64> = (0..n as u64).map(spread).collect();
    for threads in [2, 8, 16] {
        let name = format!("insert, {threads} threads");
        if !options.wants(&name) {
            continue;
        }
        let runs = makers(n).into_iter().map(|(who, make)| {
            let keys = &keys;
            let run = move || {
                let map = make();
                let took = on_threads(threads, keys, |part| {
                    part.iter().for_each(|&k| map.put(k, k))
                });
                drop(map);
                took
            };
            (who, Box::new(run) as Box<dyn FnMut() -> Duration>)
        });
        options.row(&name, runs.collect());
    }
    mixes(options);
}

/// Accesses, of which a given percentage are writes.
fn mixes(options: &Options) {
    let size = 1_000_000 / options.scale as u64;
    let ops = 5_000_000 / options.scale;
    let mixes = [
        ("95/5 zipf", true, 5),
        ("95/5 uniform", false, 5),
        ("50/50 zipf", true, 50),
        ("50/50 uniform", false, 50),
    ];
    for (name, skewed, writes) in mixes {
        if ![2, 16]
            .map(|n| with(name, n))
            .iter()
            .any(|name| options.wants(name))
        {
            continue;
        }
        let keys = if skewed {
            zipf(ops, size)
        } else {
            uniform(ops, size)
        };
        let mut numbers = Numbers(3);
        let plan: Vec<(u64, bool)> = keys
            .into_iter()
            .map(|key| (key, numbers.next() % 100 < writes))
            .collect();
        for threads in [2, 16] {
            let name = with(name, threads);
            if options.wants(&name) {
                options.row(&name, mix(&plan, size, threads, writes));
            }
        }
    }
}

fn with(name: &str, threads: usize) -> String {
    format!("{name}, {threads} threads")
}

fn mix(plan: &[(u64, bool)], size: u64, threads: usize, writes: u64) -> Vec<Run<'_>> {
    // A change copies a part of this map, so the full number of accesses would take minutes.
    let (named, share) = match writes {
        ..10 => ("tine ReadMap, 1/20 × 20", 20),
        _ => ("tine ReadMap, 1/250 × 250", 250),
    };
    let whole = makers(size as usize).into_iter();
    let whole = whole.map(|(who, make)| (who, make(), 1));
    let pairs = || (0..size).map(|rank| (spread(rank), rank));
    let read: ReadMap<u64, u64> = pairs().collect();
    let fill = |(who, map, share): (_, Box<dyn Shared>, _)| {
        pairs().for_each(|(key, value)| map.put(key, value));
        (who, map, share)
    };
    let read: Box<dyn Shared> = Box::new(read);
    let maps = whole.map(fill).chain([(named, read, share)]);
    let runs = maps.map(|(who, map, share)| {
        let plan = &plan[..plan.len() / share];
        let run = move || {
            let took = on_threads(threads, plan, |part| {
                let mut sum = 0;
                for &(key, write) in part {
                    if write {
                        map.put(key, sum);
                    } else {
                        sum = map.look(key) ^ (sum >> 1);
                    }
                }
                black_box(sum);
            });
            took * share as u32
        };
        (who, Box::new(run) as Box<dyn FnMut() -> Duration>)
    });
    runs.collect()
}
