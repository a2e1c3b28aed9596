//! Maps built from parallel iterators, and walked.

use crate::inputs::spread;
use crate::table::{Options, timed};
use foldhash::fast::RandomState as Fold;
use hashbrown::HashMap as Brown;
use tine_collections::ParHashMap;
use tine_iter::iter::{IntoParallelRefIterator, ParallelExtend, ParallelIterator};

pub fn run(options: &Options) {
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
