//! Counting, few keys and many, even and skewed; and words of a text.

use crate::inputs::{uniform, zipf};
use crate::table::{Options, timed};
use foldhash::fast::RandomState as Fold;
use hashbrown::HashMap as Brown;
use tine_collections::prelude::*;
use tine_iter::iter::IntoParallelRefIterator;

pub fn count_seq(keys: &[u64]) -> Brown<u64, usize, Fold> {
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

pub fn run(options: &Options) {
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
}

pub fn words(options: &Options) {
    if !options.wants("words") {
        return;
    }
    let ranks = zipf(9_000_000 / options.scale, 100_000);
    let text: String = ranks
        .iter()
        .map(|rank| format!("{:x} ", rank % 0xfff_ffff))
        .collect();
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
