//! Memory per value, each taken in a fresh child process.

use crate::inputs::spread;
use crate::table::Options;
use foldhash::fast::RandomState as Fold;
use std::{env, fs, process};
use tine_collections::{ParHashMap, ParVec};
use tine_iter::iter::{IntoParallelIterator, ParallelIterator};

const SUBJECTS: [&str; 7] = [
    "tine ParVec",
    "boxcar",
    "tine ParHashMap, collected",
    "tine ParHashMap, inserted",
    "dashmap",
    "scc",
    "papaya",
];

/// What a child builds and measures.
pub fn child(subject: &str) {
    let before = resident();
    let count = 5_000_000;
    match subject {
        "tine ParVec" => {
            let vec = ParVec::new();
            (0..count).for_each(|i| drop(vec.push(i)));
            weigh(before, count, vec);
        }
        "boxcar" => {
            let vec = boxcar::Vec::new();
            (0..count).for_each(|i| drop(vec.push(i)));
            weigh(before, count, vec);
        }
        "tine ParHashMap, collected" => {
            let pairs = (0..count).into_par_iter().map(|i| (spread(i), i));
            weigh(before, count, pairs.collect::<ParHashMap<u64, u64>>());
        }
        "tine ParHashMap, inserted" => {
            let map: ParHashMap<u64, u64> = ParHashMap::new();
            (0..count).for_each(|i| drop(map.insert(spread(i), i)));
            weigh(before, count, map);
        }
        "dashmap" => {
            let map = dashmap::DashMap::with_hasher(Fold::default());
            (0..count).for_each(|i| drop(map.insert(spread(i), i)));
            weigh(before, count, map);
        }
        "scc" => {
            let map = scc::HashMap::with_hasher(Fold::default());
            (0..count).for_each(|i| drop(map.insert_sync(spread(i), i)));
            weigh(before, count, map);
        }
        "papaya" => {
            let map = papaya::HashMap::with_hasher(Fold::default());
            (0..count).for_each(|i| drop(map.pin().insert(spread(i), i)));
            weigh(before, count, map);
        }
        _ => panic!("no such subject: {subject}"),
    }
}

/// Prints how much memory has become resident, per value.
fn weigh<T>(before: usize, count: u64, subject: T) {
    // Memory that was freed on the way is given back first.
    crate::table::forget_garbage();
    println!("{:.2}", (resident() - before) as f64 / count as f64);
    drop(subject);
}

fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").expect("a Linux process");
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("pages in numbers") * 4096
}

pub fn run(options: &mut Options) {
    if !options.wants("memory") {
        return;
    }
    let program = env::current_exe().expect("the program's own path");
    for subject in SUBJECTS {
        let child = process::Command::new(&program)
            .args(["--weigh", subject])
            .output();
        let output = child.expect("a child process").stdout;
        let bytes = String::from_utf8_lossy(&output).trim().to_owned();
        println!("memory: {subject:<28} {bytes:>8} bytes per value");
        options.memory.push((subject, bytes));
    }
}
