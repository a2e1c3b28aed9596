//! How often each word of a generated corpus occurs, and the ten most frequent.
//!
//!     cargo run --release -p tine-cluster --example word_count
//!     TINE_RANKS=4 cargo run --release -p tine-cluster --example word_count

use std::cmp::Reverse;
use tine_cluster::prelude::*;

const LINES: usize = 20_000;
const WORDS: usize = 10;

/// The `n`-th word of the corpus: word `k` is about twice as frequent as word `2 k`.
fn word(n: usize) -> String {
    let mixed = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let fraction = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
    format!("w{}", (1000_f64.powf(fraction)) as u32)
}

fn main() -> ExitCode {
    tine_cluster::run(|c| {
        let line = |i: usize| {
            (0..WORDS)
                .map(|j| word(i * WORDS + j))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let lines = c.generate(LINES, line);
        let counts = lines
            .par_iter()
            .flat_map_iter(|line| line.split(' '))
            .count_refs();
        let top = counts
            .into_vec()
            .sort_by_key(|(word, count)| (Reverse(*count), word.clone()));

        // No word is lost, and the first is as frequent as it should be.
        let words: usize = top.par_iter().map(|(_, count)| *count).sum();
        assert_eq!(words, LINES * WORDS);
        let share = 2_f64.log(1000.0);
        let first = top.all_gather().swap_remove(0);
        assert_eq!(first.0, "w1");
        assert!((first.1 as f64 / words as f64 - share).abs() < 0.01);

        let different = top.len();
        if let Some(all) = top.gather() {
            println!("{words} words, {different} different");
            for (word, count) in all.iter().take(10) {
                println!("{count:>7} {word}");
            }
        }
        Ok(())
    })
}
