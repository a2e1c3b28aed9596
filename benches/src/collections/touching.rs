//! Keys read by one call, and values changed in place, by threads that share a map.

use crate::inputs::{spread, uniform, zipf};
use crate::sharing::{Shared, makers};
use crate::table::{Options, Run, on_threads};
use std::hint::black_box;
use tine_collections::ParHashMap;

pub fn run(options: &Options) {
    let size = 1_000_000 / options.scale as u64;
    let ops = 5_000_000 / options.scale;
    for (law, skewed) in [("uniform", false), ("zipf", true)] {
        for threads in [2, 16] {
            let [many, update] =
                ["read_many", "update"].map(|what| format!("{what} {law}, {threads} threads"));
            if !options.wants(&many) && !options.wants(&update) {
                continue;
            }
            let keys = match skewed {
                true => zipf(ops, size),
                false => uniform(ops, size),
            };
            let full = |(name, make): (&'static str, Box<dyn Fn() -> Box<dyn Shared>>)| {
                let map = make();
                (0..size).for_each(|rank| map.put(spread(rank), rank));
                (name, map)
            };
            let peers = makers(size as usize).into_iter();
            // Designs cannot forget, grow or change in place.
            let maps: Vec<_> = peers
                .filter(|(name, _)| !name.contains("no growth"))
                .map(full)
                .collect();
            if options.wants(&many) {
                let map: ParHashMap<u64, u64> =
                    (0..size).map(|rank| (spread(rank), rank)).collect();
                let ahead = || {
                    on_threads(threads, &keys, |part| {
                        let found = map.read_many(part, |&value| value);
                        black_box(found.fold(0, |sum, v| v.unwrap_or(0) ^ (sum >> 1)));
                    })
                };
                let ahead: Run<'_> = ("tine ParHashMap, read_many", Box::new(ahead));
                let singly = each(&maps, &keys, threads, |map, part| {
                    black_box(part.iter().fold(0, |sum, &key| map.look(key) ^ (sum >> 1)));
                });
                options.row(&many, [ahead].into_iter().chain(singly).collect());
            }
            if options.wants(&update) {
                // None grows here, and papaya takes ten times as long as the others.
                let mut maps = maps;
                maps.retain(|(name, _)| *name != "papaya, presized");
                let runs = each(&maps, &keys, threads, |map, part| {
                    part.iter().for_each(|&key| map.raise(key));
                });
                options.row(&update, runs);
            }
        }
    }
}

/// Each map by itself: threads that work on a part of the keys each.
fn each<'a>(
    maps: &'a [(&'static str, Box<dyn Shared>)],
    keys: &'a [u64],
    threads: usize,
    work: fn(&dyn Shared, &[u64]),
) -> Vec<Run<'a>> {
    let run = |(name, map): &'a (&'static str, Box<dyn Shared>)| -> Run<'a> {
        let run = move || on_threads(threads, keys, |part| work(&**map, part));
        (*name, Box::new(run))
    };
    maps.iter().map(run).collect()
}
