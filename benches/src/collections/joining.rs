//! Two tables joined by key, and a frozen map read by all threads.

use crate::inputs::{Numbers, spread, uniform};
use crate::table::{Options, timed};
use foldhash::fast::RandomState as Fold;
use hashbrown::{HashMap as Brown, HashSet as BrownSet};
use tine_collections::ParHashMap;
use tine_collections::prelude::*;
use tine_iter::iter::{IntoParallelRefIterator, ParallelIterator};

type Pair = (u64, u64);

/// The right side as those write it who have a hash map: built on one thread.
fn by_hand(right: &[Pair]) -> Brown<u64, u64, Fold> {
    right.iter().copied().collect()
}

fn keys_by_hand(right: &[Pair]) -> BrownSet<u64, Fold> {
    right.iter().map(|r| r.0).collect()
}

pub fn run(options: &Options) {
    let n = 5_000_000 / options.scale;
    let distinct = n as u64 / 5;
    let left: Vec<Pair> = uniform(n, distinct * 5 / 4).into_iter().zip(0..).collect();
    let right: Vec<Pair> = (0..distinct).map(|i| (spread(i), i)).collect();
    inner(options, &left, &right);
    semi(options, &left, &right);
    skewed(options, &left);
    frozen(options);
}

fn inner(options: &Options, left: &[Pair], right: &[Pair]) {
    if !options.wants("join inner") {
        return;
    }
    options.row(
        "join inner",
        vec![
            (
                "tine join_by",
                Box::new(|| {
                    timed(|| {
                        let right = right.par_iter().copied();
                        let join = left.par_iter().copied().join_by(right, |l| l.0, |r| r.0);
                        join.inner()
                    })
                }),
            ),
            (
                "tine group_by, join_on",
                Box::new(|| {
                    timed(|| {
                        let groups = right.par_iter().copied().group_by(|r| r.0);
                        left.par_iter().copied().join_on(groups, |l| l.0).inner()
                    })
                }),
            ),
            (
                "rayon over hashbrown",
                Box::new(|| {
                    use rayon::prelude::*;
                    timed(|| {
                        let map = by_hand(right);
                        rayon::iter::IntoParallelRefIterator::par_iter(left)
                            .filter_map(|&l| map.get(&l.0).map(|&r| (l, (l.0, r))))
                            .collect::<Vec<_>>()
                    })
                }),
            ),
            (
                "sequential",
                Box::new(|| {
                    timed(|| {
                        let map = by_hand(right);
                        left.iter()
                            .filter_map(|&l| map.get(&l.0).map(|&r| (l, (l.0, r))))
                            .collect::<Vec<_>>()
                    })
                }),
            ),
        ],
    );
}

fn semi(options: &Options, left: &[Pair], right: &[Pair]) {
    for (name, wanted) in [("join semi", true), ("join anti", false)] {
        if !options.wants(name) {
            continue;
        }
        options.row(
            name,
            vec![
                (
                    "tine join_by",
                    Box::new(move || {
                        timed(|| {
                            let right = right.par_iter().copied();
                            let join = left.par_iter().copied().join_by(right, |l| l.0, |r| r.0);
                            if wanted { join.semi() } else { join.anti() }
                        })
                    }),
                ),
                (
                    "tine group_by, join_on",
                    Box::new(move || {
                        timed(|| {
                            let groups = right.par_iter().copied().group_by(|r| r.0);
                            let join = left.par_iter().copied().join_on(groups, |l| l.0);
                            if wanted { join.semi() } else { join.anti() }
                        })
                    }),
                ),
                (
                    "rayon over hashbrown",
                    Box::new(move || {
                        use rayon::prelude::*;
                        timed(|| {
                            let keys = keys_by_hand(right);
                            rayon::iter::IntoParallelRefIterator::par_iter(left)
                                .copied()
                                .filter(|l| keys.contains(&l.0) == wanted)
                                .collect::<Vec<_>>()
                        })
                    }),
                ),
                (
                    "sequential",
                    Box::new(move || {
                        timed(|| {
                            let keys = keys_by_hand(right);
                            let wanted = left.iter().filter(|l| keys.contains(&l.0) == wanted);
                            wanted.copied().collect::<Vec<_>>()
                        })
                    }),
                ),
            ],
        );
    }
}

/// A right side in which a few keys come often.
fn skewed(options: &Options, left: &[Pair]) {
    if !options.wants("join skewed") {
        return;
    }
    let mut numbers = Numbers(4);
    let count = left.len() as u64 / 50;
    let mut key = || spread(numbers.next() % (1 + numbers.next() % 100_000));
    let right: Vec<Pair> = (0..count).map(|i| (key(), i)).collect();
    let left = &left[..left.len() / 50];
    options.row(
        "join skewed",
        vec![
            (
                "tine join_by",
                Box::new(|| {
                    timed(|| {
                        let right = right.par_iter().copied();
                        let join = left.par_iter().copied().join_by(right, |l| l.0, |r| r.0);
                        join.inner()
                    })
                }),
            ),
            (
                "tine group_by, join_on",
                Box::new(|| {
                    timed(|| {
                        let groups = right.par_iter().copied().group_by(|r| r.0);
                        left.par_iter().copied().join_on(groups, |l| l.0).inner()
                    })
                }),
            ),
            (
                "rayon over hashbrown",
                Box::new(|| {
                    use rayon::prelude::*;
                    timed(|| {
                        let mut map: Brown<u64, Vec<u64>, Fold> = Brown::default();
                        right
                            .iter()
                            .for_each(|r| map.entry(r.0).or_default().push(r.1));
                        rayon::iter::IntoParallelRefIterator::par_iter(left)
                            .flat_map_iter(|&l| {
                                let row = map.get(&l.0).into_iter().flatten();
                                row.map(move |&r| (l, (l.0, r)))
                            })
                            .collect::<Vec<_>>()
                    })
                }),
            ),
        ],
    );
}

fn frozen(options: &Options) {
    if !options.wants("read frozen") {
        return;
    }
    let n = 5_000_000 / options.scale;
    let pairs: Vec<Pair> = (0..n as u64).map(|i| (spread(i), i)).collect();
    let keys = uniform(n, n as u64);
    let tine = pairs
        .par_iter()
        .copied()
        .collect::<ParHashMap<_, _>>()
        .freeze();
    let brown = by_hand(&pairs);
    options.row(
        "read frozen",
        vec![
            (
                "tine FrozenMap",
                Box::new(|| timed(|| keys.par_iter().map(|key| tine[key]).sum::<u64>())),
            ),
            (
                "rayon over hashbrown",
                Box::new(|| {
                    use rayon::prelude::*;
                    timed(|| {
                        rayon::iter::IntoParallelRefIterator::par_iter(&keys)
                            .map(|key| brown[key])
                            .sum::<u64>()
                    })
                }),
            ),
            (
                "tine over hashbrown",
                Box::new(|| timed(|| keys.par_iter().map(|key| brown[key]).sum::<u64>())),
            ),
        ],
    );
}
