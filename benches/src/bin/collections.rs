//! The collections against their peers: every row in one run, the candidates
//! taking turns, medians and their ratios.
//!
//! `collections [ROW…] [--rounds N] [--small]`: rows whose name contains a word
//! given; `--small` divides sizes by ten.

use std::collections::BTreeMap;
use std::env;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState as Fold;
use hashbrown::HashMap as Brown;
use tine_collections::prelude::*;
use tine_collections::{ParHashMap, ParVec};
use tine_iter::iter::{
    IntoParallelIterator, IntoParallelRefIterator, ParallelExtend, ParallelIterator,
};

/// A candidate: what it is called, and one timed run of it.
type Run<'a> = (&'static str, Box<dyn FnMut() -> Duration + 'a>);

fn timed<R>(work: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let took = start.elapsed();
    drop(result);
    took
}

/// Nobody pays for what the one before has freed.
fn forget_garbage() {
    #[cfg(target_env = "gnu")]
    // SAFETY: gives free memory back; it has no other effect.
    unsafe {
        libc::malloc_trim(0);
    }
}

struct Options {
    words: Vec<String>,
    rounds: usize,
    scale: usize,
}

impl Options {
    fn wants(&self, row: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| row.contains(word.as_str()))
    }

    /// Runs a row's candidates in turns; prints medians and ratios to the first.
    fn row(&self, name: &str, mut runs: Vec<Run<'_>>) {
        let mut times: BTreeMap<usize, Vec<Duration>> = BTreeMap::new();
        for round in 0..=self.rounds {
            for (at, (_, run)) in runs.iter_mut().enumerate() {
                forget_garbage();
                let took = run();
                if round > 0 {
                    times.entry(at).or_default().push(took);
                }
            }
        }
        let median = |at: usize| {
            let mut all = times[&at].clone();
            all.sort();
            (all[all.len() / 2], all[0])
        };
        println!("{name}");
        let ours = median(0).0.as_secs_f64();
        for (at, (who, _)) in runs.iter().enumerate() {
            let (middle, least) = median(at);
            let ratio = ours / middle.as_secs_f64();
            println!(
                "    {who:<28} {:>10.3} ms  (min {:>9.3})   tine/this {ratio:>6.3}",
                middle.as_secs_f64() * 1e3,
                least.as_secs_f64() * 1e3,
            );
        }
    }
}

/// A small generator; the same numbers every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn spread(rank: u64) -> u64 {
    rank.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

fn uniform(n: usize, distinct: u64) -> Vec<u64> {
    let mut numbers = Numbers(1);
    (0..n).map(|_| spread(numbers.next() % distinct)).collect()
}

/// Ranks 1..=distinct with frequency 1/rank, by inversion of the continuous law.
fn zipf(n: usize, distinct: u64) -> Vec<u64> {
    let mut numbers = Numbers(2);
    let top = (distinct as f64 + 1.0).ln();
    (0..n)
        .map(|_| spread((numbers.unit() * top).exp() as u64 - 1))
        .collect()
}

fn count_seq(keys: &[u64]) -> Brown<u64, usize, Fold> {
    let mut map = Brown::with_hasher(Fold::default());
    keys.iter()
        .for_each(|&key| *map.entry(key).or_insert(0) += 1);
    map
}

fn merge_counts(
    mut a: Brown<u64, usize, Fold>,
    b: Brown<u64, usize, Fold>,
) -> Brown<u64, usize, Fold> {
    if a.len() < b.len() {
        return merge_counts(b, a);
    }
    b.into_iter()
        .for_each(|(key, count)| *a.entry(key).or_insert(0) += count);
    a
}

fn counting(options: &Options) {
    let n = 10_000_000 / options.scale;
    let inputs = [
        ("count 100", uniform(n, 100)),
        ("count 1e5", uniform(n, 100_000)),
        ("count 5e6", uniform(n, 5_000_000)),
        ("count zipf 1e6", zipf(n, 1_000_000)),
        ("count zipf 1e8", zipf(n, 100_000_000)),
    ];
    for (name, keys) in &inputs {
        if !options.wants(name) {
            continue;
        }
        options.row(
            name,
            vec![
                (
                    "tine count_by",
                    Box::new(|| timed(|| keys.par_iter().count_by(|&&key| key))),
                ),
                (
                    "rayon fold+reduce",
                    Box::new(|| {
                        use rayon::prelude::*;
                        timed(|| {
                            rayon::iter::IntoParallelRefIterator::par_iter(keys)
                                .fold(
                                    || Brown::with_hasher(Fold::default()),
                                    |mut map, &key| {
                                        *map.entry(key).or_insert(0usize) += 1;
                                        map
                                    },
                                )
                                .reduce(|| Brown::with_hasher(Fold::default()), merge_counts)
                        })
                    }),
                ),
                (
                    "rayon par_chunks, local maps",
                    Box::new(|| {
                        use rayon::prelude::*;
                        timed(|| {
                            let chunk = keys.len().div_ceil(rayon::current_num_threads());
                            rayon::slice::ParallelSlice::par_chunks(&keys[..], chunk)
                                .map(count_seq)
                                .reduce(|| Brown::with_hasher(Fold::default()), merge_counts)
                        })
                    }),
                ),
                ("sequential", Box::new(|| timed(|| count_seq(keys)))),
            ],
        );
    }
    if options.wants("count small") {
        for len in [10, 100, 1000, 10_000, 100_000] {
            let keys: Vec<u64> = uniform(len, 50.max(len as u64 / 10));
            let repeat = 2_000_000 / len;
            let each = |mut run: Box<dyn FnMut()>| {
                timed(|| (0..repeat).for_each(|_| run())) / repeat as u32 * 1000
            };
            println!("(in thousandths: ms are µs)");
            options.row(
                &format!("count small {len}"),
                vec![
                    (
                        "tine count_by",
                        Box::new(|| {
                            let keys = keys.clone();
                            each(Box::new(move || {
                                drop(black_box(keys.par_iter().count_by(|&&key| key)))
                            }))
                        }),
                    ),
                    (
                        "sequential",
                        Box::new(|| {
                            let keys = keys.clone();
                            each(Box::new(move || drop(black_box(count_seq(&keys)))))
                        }),
                    ),
                ],
            );
        }
    }
}

fn grouping(options: &Options) {
    let n = 5_000_000 / options.scale;
    for (name, distinct) in [("group 1e5", 100_000), ("group 2.5e6", 2_500_000)] {
        if !options.wants(name) {
            continue;
        }
        let keys = uniform(n, distinct);
        let pairs: Vec<(u64, u64)> = keys.into_iter().zip(0..).collect();
        options.row(
            name,
            vec![
                (
                    "tine group_pairs",
                    Box::new(|| timed(|| pairs.par_iter().copied().group_pairs())),
                ),
                (
                    "tine group_pairs into_map",
                    Box::new(|| timed(|| pairs.par_iter().copied().group_pairs().into_map())),
                ),
                (
                    "rayon fold+reduce",
                    Box::new(|| {
                        use rayon::prelude::*;
                        type Map = Brown<u64, Vec<u64>, Fold>;
                        timed(|| {
                            rayon::iter::IntoParallelRefIterator::par_iter(&pairs)
                                .fold(
                                    || Map::with_hasher(Fold::default()),
                                    |mut map, &(key, value)| {
                                        map.entry(key).or_default().push(value);
                                        map
                                    },
                                )
                                .reduce(
                                    || Map::with_hasher(Fold::default()),
                                    |mut a, b| {
                                        for (key, values) in b {
                                            a.entry(key).or_default().extend(values);
                                        }
                                        a
                                    },
                                )
                        })
                    }),
                ),
                (
                    "sequential",
                    Box::new(|| {
                        timed(|| {
                            let mut map: Brown<u64, Vec<u64>, Fold> =
                                Brown::with_hasher(Fold::default());
                            pairs
                                .iter()
                                .for_each(|&(k, v)| map.entry(k).or_default().push(v));
                            map
                        })
                    }),
                ),
            ],
        );
    }
}

fn words(options: &Options) {
    if !options.wants("words") {
        return;
    }
    let ranks = zipf(9_000_000 / options.scale, 100_000);
    let text: String = ranks
        .iter()
        .map(|rank| format!("{:x} ", rank % 0xfff_ffff))
        .collect();
    println!("(text of {} MB)", text.len() / 1_000_000);
    let merge = |mut a: Brown<&'static str, usize, Fold>, b: Brown<&'static str, usize, Fold>| {
        b.into_iter()
            .for_each(|(key, count)| *a.entry(key).or_insert(0) += count);
        a
    };
    let text: &'static str = Box::leak(text.into_boxed_str());
    options.row(
        "words",
        vec![
            (
                "tine count_by",
                Box::new(|| {
                    use tine_iter::str::ParallelString;
                    timed(|| text.par_split_whitespace().count_by(|&word| word))
                }),
            ),
            (
                "rayon fold+reduce",
                Box::new(|| {
                    use rayon::prelude::*;
                    timed(|| {
                        rayon::str::ParallelString::par_split_whitespace(text)
                            .fold(
                                || Brown::with_hasher(Fold::default()),
                                |mut map, word| {
                                    *map.entry(word).or_insert(0usize) += 1;
                                    map
                                },
                            )
                            .reduce(|| Brown::with_hasher(Fold::default()), merge)
                    })
                }),
            ),
            (
                "sequential",
                Box::new(|| {
                    timed(|| {
                        let mut map = Brown::with_hasher(Fold::default());
                        text.split_whitespace()
                            .for_each(|word| *map.entry(word).or_insert(0usize) += 1);
                        map
                    })
                }),
            ),
        ],
    );
}

fn building(options: &Options) {
    let n = 5_000_000 / options.scale;
    let pairs: Vec<(u64, u64)> = (0..n as u64).map(|i| (spread(i), i)).collect();
    if options.wants("build") {
        options.row(
            "build",
            vec![
                (
                    "tine collect",
                    Box::new(|| {
                        timed(|| pairs.par_iter().copied().collect::<ParHashMap<u64, u64>>())
                    }),
                ),
                (
                    "tine par_extend",
                    Box::new(|| {
                        timed(|| {
                            let mut map = ParHashMap::new();
                            map.par_extend(pairs.par_iter().copied());
                            map
                        })
                    }),
                ),
                (
                    "rayon collect to hashbrown",
                    Box::new(|| {
                        use rayon::prelude::*;
                        timed(|| {
                            rayon::iter::IntoParallelRefIterator::par_iter(&pairs)
                                .copied()
                                .collect::<Brown<u64, u64, Fold>>()
                        })
                    }),
                ),
                (
                    "sequential hashbrown",
                    Box::new(|| timed(|| pairs.iter().copied().collect::<Brown<u64, u64, Fold>>())),
                ),
            ],
        );
    }
    if options.wants("iterate") {
        let mut tine: ParHashMap<u64, u64> = pairs.par_iter().copied().collect();
        let brown: Brown<u64, u64, Fold> = pairs.iter().copied().collect();
        let dash: dashmap::DashMap<u64, u64, Fold> = dashmap::DashMap::with_hasher(Fold::default());
        pairs
            .iter()
            .for_each(|&(key, value)| drop(dash.insert(key, value)));
        options.row(
            "iterate",
            vec![
                (
                    "tine par_iter",
                    Box::new(move || timed(|| tine.par_iter().map(|(_, v)| *v).sum::<u64>())),
                ),
                (
                    "rayon over hashbrown",
                    Box::new(|| {
                        use rayon::prelude::*;
                        timed(|| {
                            rayon::iter::IntoParallelRefIterator::par_iter(&brown)
                                .map(|(_, v)| *v)
                                .sum::<u64>()
                        })
                    }),
                ),
                (
                    "rayon over dashmap",
                    Box::new(|| {
                        use rayon::prelude::*;
                        timed(|| {
                            rayon::iter::IntoParallelRefIterator::par_iter(&dash)
                                .map(|entry| *entry.value())
                                .sum::<u64>()
                        })
                    }),
                ),
                (
                    "sequential hashbrown",
                    Box::new(|| timed(|| brown.values().sum::<u64>())),
                ),
            ],
        );
    }
}

/// Threads that share a map or vector, each with its part of the input.
fn on_threads<T: Sync>(threads: usize, input: &[T], work: impl Fn(&[T]) + Sync) -> Duration {
    let chunk = input.len().div_ceil(threads);
    timed(|| {
        thread::scope(|scope| {
            input
                .chunks(chunk)
                .for_each(|part| drop(scope.spawn(|| work(part))));
        });
    })
}

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

fn sharing(options: &Options) {
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

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok())
        .unwrap_or(0)
        * 4096
}

fn vectors(options: &Options) {
    let n = 10_000_000 / options.scale;
    let input: Vec<u64> = (0..n as u64).collect();
    for threads in [1, 2, 8] {
        let name = format!("push, {threads} threads");
        if options.wants(&name) {
            let input = &input;
            options.row(
                &name,
                vec![
                    (
                        "tine ParVec push",
                        Box::new(move || {
                            let vec = ParVec::new();
                            let took = on_threads(threads, input, |part| {
                                part.iter().for_each(|&i| drop(vec.push(i)));
                            });
                            assert_eq!(vec.len(), input.len());
                            took
                        }),
                    ),
                    (
                        "boxcar",
                        Box::new(move || {
                            let vec = boxcar::Vec::new();
                            on_threads(threads, input, |part| {
                                part.iter().for_each(|&i| drop(vec.push(i)))
                            })
                        }),
                    ),
                    (
                        "append-only-vec",
                        Box::new(move || {
                            let vec = append_only_vec::AppendOnlyVec::new();
                            on_threads(threads, input, |part| {
                                part.iter().for_each(|&i| drop(vec.push(i)))
                            })
                        }),
                    ),
                    (
                        "Mutex<Vec>",
                        Box::new(move || {
                            let vec = Mutex::new(Vec::new());
                            on_threads(threads, input, |part| {
                                part.iter().for_each(|&i| vec.lock().unwrap().push(i));
                            })
                        }),
                    ),
                ],
            );
        }
        let name = format!("extend, {threads} threads");
        if options.wants(&name) {
            let input = &input;
            options.row(
                &name,
                vec![
                    (
                        "tine ParVec pusher",
                        Box::new(move || {
                            let vec = ParVec::new();
                            let took =
                                on_threads(threads, input, |part| vec.extend(part.iter().copied()));
                            assert_eq!(vec.len(), input.len());
                            took
                        }),
                    ),
                    (
                        "Vec per thread, concatenated",
                        Box::new(move || {
                            timed(|| {
                                let chunk = input.len().div_ceil(threads);
                                let parts: Vec<Vec<u64>> = thread::scope(|scope| {
                                    let part = |part: &'_ [u64]| {
                                        let mut vec = Vec::new();
                                        part.iter().for_each(|&i| vec.push(black_box(i)));
                                        vec
                                    };
                                    let handles: Vec<_> = input
                                        .chunks(chunk)
                                        .map(|input| scope.spawn(move || part(input)))
                                        .collect();
                                    handles.into_iter().map(|h| h.join().unwrap()).collect()
                                });
                                parts.concat()
                            })
                        }),
                    ),
                ],
            );
        }
    }
    if options.wants("memory") {
        let before = resident();
        let vec = ParVec::new();
        input.iter().for_each(|&i| drop(vec.push(i)));
        let bytes = (resident() - before) as f64 / n as f64;
        println!("memory: ParVec, {bytes:.2} bytes per u64");
        drop(vec);
        let before = resident();
        let map: ParHashMap<u64, u64> = input[..n / 2].par_iter().map(|&i| (i, i)).collect();
        let bytes = (resident() - before) as f64 / (n / 2) as f64;
        println!("memory: ParHashMap<u64, u64>, {bytes:.2} bytes per entry");
        drop(map);
    }
}

/// Two threads of pure arithmetic must take the time of one.
fn calibrate() {
    let spin = || {
        let mut x = 1u64;
        (0..50_000_000).for_each(|i| x = black_box(x.wrapping_mul(31) ^ i));
        x
    };
    let one = timed(spin);
    let two = timed(|| thread::scope(|s| (0..2).for_each(|_| drop(s.spawn(spin)))));
    println!(
        "two threads / one: {:.2} (1.00 is a quiet machine)",
        two.as_secs_f64() / one.as_secs_f64()
    );
}

fn main() {
    let mut options = Options {
        words: Vec::new(),
        rounds: 7,
        scale: 1,
    };
    let mut args = env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--small" => options.scale = 10,
            "--rounds" => {
                options.rounds = args.next().and_then(|n| n.parse().ok()).expect("a number")
            }
            _ => options.words.push(arg),
        }
    }
    let _ = Fold::default().hash_one(0);
    let _ = (0..10).into_par_iter().map(|i| i).sum::<i32>();
    calibrate();
    counting(&options);
    grouping(&options);
    words(&options);
    building(&options);
    sharing(&options);
    vectors(&options);
}
