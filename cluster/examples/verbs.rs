//! Runs every verb once, on one seeded input, and prints its result, which is the same
//! on any number of ranks. The tests run it on ranks that are threads and on ranks that
//! are processes.

use std::cmp::Reverse;
use tine_cluster::prelude::*;

const COUNT: usize = 20_000;

fn number(i: usize) -> u64 {
    let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 20
}

/// A number that other items, or another order of them, would not have.
fn digest<T: Travel + Clone + std::fmt::Debug>(v: &DistVec<T>) -> String {
    let all = v.all_gather();
    let mix = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    let sum = all
        .iter()
        .flat_map(|item| format!("{item:?}").into_bytes())
        .fold(7, mix);
    format!("{} items, {sum:016x}", all.len())
}

fn main() -> ExitCode {
    tine_cluster::run(|c| {
        let say = |verb: &str, what: String| {
            if c.is_root() {
                println!("{verb:<16} {what}");
            }
        };
        let numbers = || c.generate(COUNT, number);
        let texts = || c.generate(COUNT / 4, |i| format!("t{}", number(i) % 3000));
        let tagged = || c.generate(COUNT, |i| (number(i) % 100, i));
        let v = numbers();

        say("sort", digest(&numbers().sort()));
        say("sort texts", digest(&texts().sort()));
        say("sort_by", digest(&tagged().sort_by(|a, b| b.0.cmp(&a.0))));
        say(
            "sort_by_key",
            digest(&texts().sort_by_key(|text| Reverse(text.len()))),
        );
        let uneven = v.par_iter().copied().filter(|n| n % 7 == 0).collect();
        say("filter", digest(&uneven));
        say("rebalance", digest(&uneven.rebalance()));
        say(
            "sum",
            v.par_iter()
                .map(|n| u128::from(*n))
                .sum::<u128>()
                .to_string(),
        );
        let fractions = || v.par_iter().map(|n| 1.0 / (*n as f64 + 1.0));
        say(
            "deterministic",
            format!("{:x}", fractions().deterministic().sum::<f64>().to_bits()),
        );
        say(
            "min, max",
            format!(
                "{:?}",
                (v.par_iter().copied().min(), v.par_iter().copied().max())
            ),
        );
        say(
            "count_by",
            digest(&v.par_iter().count_by(|n| **n % 1000).into_vec()),
        );
        say(
            "count_by texts",
            digest(&texts().par_iter().count_by(|t| t.to_string()).into_vec()),
        );
        say(
            "count_items",
            digest(&texts().into_par_iter().count_items().into_vec()),
        );
        let lines = texts();
        let words = lines.par_iter().flat_map_iter(|t| t.split('7'));
        say("count_refs", digest(&words.count_refs().into_vec()));
        let rows = tagged().into_par_iter().group_by(|item| item.0);
        say("group_by", digest(&rows.into_vec()));
        let lists = tagged().into_par_iter().fold_by(
            |item| item.0,
            Vec::new,
            |list, item| list.push(item.1),
            |list, mut more| list.append(&mut more),
        );
        say("fold_by", digest(&lists.into_vec()));
        say("distinct", digest(&texts().into_par_iter().distinct()));
        say(
            "top_k_by_count",
            format!(
                "{:?}",
                texts().par_iter().top_k_by_count(3, |t| t.to_string())
            ),
        );
        say(
            "histogram",
            format!("{:?}", v.par_iter().histogram(5, |n| **n as usize % 5)),
        );
        let left = || tagged().into_par_iter();
        let right = || {
            c.generate(130, |i| (i as u64, format!("row {i}")))
                .into_par_iter()
        };
        let join = || left().join_by(right(), |l| l.0, |r| r.0);
        say("join", digest(&join().inner().sort()));
        say("left join", digest(&join().left().sort()));
        say("semi join", digest(&join().semi().sort()));
        say("anti join", digest(&join().anti().sort()));
        say("prefix_sum", digest(&numbers().prefix_sum()));
        say(
            "enumerate",
            digest(&texts().into_par_iter().enumerate().collect()),
        );
        say("broadcast", c.broadcast(format!("from rank {}", c.rank())));
        let on_root = if c.is_root() {
            (0..100).collect()
        } else {
            Vec::new()
        };
        say("scatter", digest(&c.scatter::<u8>(on_root)));
        Ok(())
    })
}
