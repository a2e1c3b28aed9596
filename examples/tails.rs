//! How much of a call one thread is left alone with: `tine::report` of calls over collections, whose
//! ends were once sequential.
//!
//! ```text
//! cargo run --release --features timeline --example tails [items]
//! ```

use std::env;
use std::hint::black_box;
use tine::prelude::*;
use tine::{ParHashMap, ParVec, timeline};

/// Runs the call three times and prints the report of the last.
fn show<I, R>(name: &str, input: impl Fn() -> I, call: impl Fn(I) -> R) {
    for _ in 0..2 {
        drop(black_box(call(input())));
    }
    let ready = input();
    let (result, timeline) = timeline::record(|| call(ready));
    println!("{name}\n{}\n", timeline.report());
    drop(black_box(result));
}

fn main() {
    let items = env::args()
        .nth(1)
        .map_or(2_000_000, |n| n.parse().expect("a number"));
    let mix = |i: u64| (i ^ (i >> 7)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let keys: Vec<u64> = (0..items).map(|i| mix(i) % (items / 2 + 1)).collect();
    let all = || keys.par_iter().copied();
    show("distinct", || (), |()| all().distinct());
    show(
        "top_k_by_count",
        || (),
        |()| all().top_k_by_count(100, |&key| key),
    );
    let pushed = || {
        let vec = ParVec::new();
        all().for_each(|key| {
            vec.push(key);
        });
        vec
    };
    show("into_vec", pushed, ParVec::into_vec);
    let texts = || {
        all()
            .map(|key| (key, key.to_string()))
            .collect::<ParHashMap<u64, String>>()
    };
    show("drop of a map of strings", texts, drop);
    let heavy = || all().map(|key| if key % 10 == 0 { key } else { 7 });
    show(
        "group_by, nine of ten items under one key",
        || (),
        |()| heavy().group_by(|&key| key),
    );
    let groups = heavy().group_by(|&key| key);
    assert_eq!(groups.values_len() as u64, items);
}
