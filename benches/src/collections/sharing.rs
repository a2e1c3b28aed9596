//! Maps that threads insert into and read at once.

use crate::inputs::{Numbers, spread, uniform, zipf};
use crate::table::{Options, on_threads};
use foldhash::fast::RandomState as Fold;
use std::hint::black_box;
use std::time::Duration;
use tine_collections::ParHashMap;

/// What a concurrent map can do here.
trait Shared: Sync {
    fn put(&self, key: u64, value: u64);
    fn look(&self, key: u64) -> u64;
}

impl Shared for ParHashMap<u64, u64> {
    fn put(&self, key: u64, value: u64) {
        self.insert(key, value);
    }
    fn look(&self, key: u64) -> u64 {
        self.get_cloned(&key).unwrap_or(0)
    }
}

impl Shared for dashmap::DashMap<u64, u64, Fold> {
    fn put(&self, key: u64, value: u64) {
        self.insert(key, value);
    }
    fn look(&self, key: u64) -> u64 {
        self.get(&key).map_or(0, |value| *value)
    }
}

impl Shared for papaya::HashMap<u64, u64, Fold> {
    fn put(&self, key: u64, value: u64) {
        self.pin().insert(key, value);
    }
    fn look(&self, key: u64) -> u64 {
        self.pin().get(&key).map_or(0, |value| *value)
    }
}

impl Shared for scc::HashMap<u64, u64, Fold> {
    fn put(&self, key: u64, value: u64) {
        drop(self.upsert_sync(key, value));
    }
    fn look(&self, key: u64) -> u64 {
        self.read_sync(&key, |_, value| *value).unwrap_or(0)
    }
}

fn makers(capacity: usize) -> Vec<(&'static str, Box<dyn Fn() -> Box<dyn Shared>>)> {
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
    ]
}

pub fn run(options: &Options) {
    let n = 5_000_000 / options.scale;
    let keys: Vec<u64> = (0..n as u64).map(spread).collect();
    for threads in [1, 2, 8] {
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
    let size = 1_000_000 / options.scale as u64;
    let ops = 5_000_000 / options.scale;
    let mixes = [
        ("95/5 zipf", true, 5),
        ("95/5 uniform", false, 5),
        ("50/50 uniform", false, 50),
    ];
    for (name, skewed, writes) in mixes {
        if !options.wants(name) {
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
        for threads in [2, 8] {
            let runs = makers(size as usize).into_iter().map(|(who, make)| {
                let plan = &plan;
                let map = make();
                (0..size).for_each(|rank| map.put(spread(rank), rank));
                let run = move || {
                    on_threads(threads, plan, |part| {
                        let mut sum = 0;
                        for &(key, write) in part {
                            if write {
                                map.put(key, sum);
                            } else {
                                sum = map.look(key) ^ (sum >> 1);
                            }
                        }
                        black_box(sum);
                    })
                };
                (who, Box::new(run) as Box<dyn FnMut() -> Duration>)
            });
            options.row(&format!("{name}, {threads} threads"), runs.collect());
        }
    }
}
