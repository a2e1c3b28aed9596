//! Values by key: rows and maps of vectors.

use crate::inputs::uniform;
use crate::table::{Options, timed};
use foldhash::fast::RandomState as Fold;
use hashbrown::HashMap as Brown;
use tine_collections::prelude::*;
use tine_iter::iter::{IntoParallelRefIterator, ParallelIterator};

pub fn run(options: &Options) {
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
