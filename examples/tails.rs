//! For how much of a call only one thread works: `tine::report` of calls over collections, whose ends
//! were once sequential.
//!
//! ```text
//! cargo run --release --features timeline --example tails [items]
//! ```

use std::env;
use std::hint::black_box;
use tine::prelude::*;
use tine::timeline::Report;
use tine::{ParHashMap, ParVec, timeline};

/// Runs the call three times and returns the report of the last.
fn report<I, R>(input: impl Fn() -> I, call: impl Fn(I) -> R) -> Report {
    for _ in 0..2 {
        drop(black_box(call(input())));
    }
    let ready = input();
    let (result, timeline) = timeline::record(|| call(ready));
    drop(black_box(result));
    timeline.report()
}

/// The calls over this many items, by name.
fn reports(items: u64) -> Vec<(&'static str, Report)> {
    let mut found = Vec::new();
    let mix = |i: u64| (i ^ (i >> 7)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let keys: Vec<u64> = (0..items).map(|i| mix(i) % (items / 2 + 1)).collect();
    let all = || keys.par_iter().copied();
    found.push(("distinct", report(|| (), |()| all().distinct())));
    let most = |()| all().top_k_by_count(100, |&key| key);
    found.push(("top_k_by_count", report(|| (), most)));
    let pushed = || {
        let vec = ParVec::new();
        all().for_each(|key| {
            vec.push(key);
        });
        vec
    };
    found.push(("into_vec", report(pushed, ParVec::into_vec)));
    let texts = || {
        all()
            .map(|key| (key, key.to_string()))
            .collect::<ParHashMap<u64, String>>()
    };
    found.push(("drop of a map of strings", report(texts, drop)));
    let heavy = || all().map(|key| if key % 10 == 0 { key } else { 7 });
    let grouped = |()| heavy().group_by(|&key| key);
    found.push((
        "group_by, nine of ten items under one key",
        report(|| (), grouped),
    ));
    assert_eq!(grouped(()).values_len() as u64, items);
    found
}

fn main() {
    let items = env::args().nth(1);
    let items = items.map_or(2_000_000, |n| n.parse().expect("a number"));
    for (name, report) in reports(items) {
        println!("{name}\n{report}\n");
    }
}

#[test]
fn each_call_says_how_long_it_was_on_one_thread() {
    let reports = reports(300_000);
    let names: Vec<&str> = reports.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names[..4],
        [
            "distinct",
            "top_k_by_count",
            "into_vec",
            "drop of a map of strings"
        ]
    );
    assert!(names[4].starts_with("group_by"));
    for (name, report) in &reports {
        let said = report.to_string();
        let share = format!(
            "{:<16} {:.0} % of the time",
            "on one thread",
            100.0 * report.alone_share()
        );
        assert!(said.lines().any(|line| line == share), "{name}\n{said}");
        // A call that the recording did not see at all would look as if all of it were on one thread.
        assert!(report.offers > 0, "{name} offers nothing\n{said}");
    }
}
