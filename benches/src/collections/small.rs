//! Inputs that hardly pay for a second thread: collecting, grouping, distinct items.

use crate::counting::count_seq;
use crate::inputs::{spread, uniform};
use crate::table::{Options, Run, timed};
use foldhash::fast::RandomState as Fold;
use hashbrown::{HashMap as Brown, HashSet as BrownSet};
use std::hint::black_box;
use tine_collections::ParHashMap;
use tine_collections::prelude::*;
use tine_iter::iter::{IntoParallelRefIterator, ParallelIterator};

/// A candidate that is repeated, so that a microsecond can be measured: the time of one run,
/// a thousandfold.
fn often<'a, R>(who: &'static str, len: usize, mut run: impl FnMut() -> R + 'a) -> Run<'a> {
    let repeat = (1_000_000 / len).max(1) as u32;
    let all = move || timed(|| (0..repeat).for_each(|_| drop(black_box(run())))) / repeat * 1000;
    (who, Box::new(all))
}

pub fn run(options: &Options) {
    for len in [10, 100, 1000, 10_000, 100_000] {
        let name = |what| format!("{what} small {len}, µs in place of ms");
        let pairs: Vec<(u64, u64)> = (0..len as u64).map(|i| (spread(i), i)).collect();
        let keys = uniform(len, 50.max(len as u64 / 10));
        if options.wants(&name("collect")) {
            let tine = || pairs.par_iter().copied().collect::<ParHashMap<u64, u64>>();
            let grown = || pairs.iter().copied().collect::<Brown<u64, u64, Fold>>();
            options.row(
                &name("collect"),
                vec![
                    often("tine collect", len, tine),
                    often("sequential", len, grown),
                ],
            );
        }
        if options.wants(&name("count")) {
            options.row(
                &name("count"),
                vec![
                    often("tine count_by", len, || keys.par_iter().count_by(|&&k| k)),
                    often("sequential", len, || count_seq(&keys)),
                ],
            );
        }
        if options.wants(&name("group")) {
            let tine = || keys.par_iter().copied().group_by(|&key| key);
            let by_hand = || {
                let mut map: Brown<u64, Vec<u64>, Fold> = Brown::default();
                keys.iter().for_each(|&k| map.entry(k).or_default().push(k));
                map
            };
            options.row(
                &name("group"),
                vec![
                    often("tine group_by", len, tine),
                    often("sequential", len, by_hand),
                ],
            );
        }
        // Keys that come ten times each, and keys of which two in three are different.
        let many = uniform(len, len as u64);
        for (what, keys) in [("distinct", &keys), ("distinct, many keys,", &many)] {
            if options.wants(&name(what)) {
                let tine = || keys.par_iter().copied().distinct();
                options.row(
                    &name(what),
                    vec![
                        often("tine distinct", len, tine),
                        often("sequential", len, || distinct_seq(keys)),
                    ],
                );
            }
        }
    }
}

/// First occurrences, by hand.
pub fn distinct_seq(keys: &[u64]) -> Vec<u64> {
    let mut seen: BrownSet<u64, Fold> = BrownSet::default();
    let fresh = keys.iter().copied().filter(|&key| seen.insert(key));
    fresh.collect()
}
