//! The words of a text, counted on all cores: `count_by` gives each thread a
//! table of its own and merges them in parallel, or partitions by hash first
//! where there are many different words.
//!
//! `cargo run --release --example word_counts [FILE]`

use std::collections::HashMap;
use std::time::Instant;
use std::{env, fs};
use tine::prelude::*;

/// Some text, if there is none to read.
fn text() -> String {
    let words = [
        "tine", "fork", "prong", "cat", "mat", "dog", "sat", "on", "the", "a",
    ];
    let mut state = 1_u64;
    let mut text = String::new();
    for _ in 0..2_000_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let number = (state >> 33) % 10_000;
        text += words[(number % 10) as usize];
        if number > 5_000 {
            text += &number.to_string();
        }
        text.push(if number.is_multiple_of(8) { '\n' } else { ' ' });
    }
    text
}

fn main() {
    let text = env::args().nth(1).map_or_else(text, |path| {
        fs::read_to_string(path).expect("a file to read")
    });

    let start = Instant::now();
    let mut alone: HashMap<&str, usize> = HashMap::new();
    text.split_whitespace()
        .for_each(|word| *alone.entry(word).or_default() += 1);
    let middle = Instant::now();
    let together = text.par_split_whitespace().count_by(|&word| word);
    println!(
        "{:.1?} in sequence, {:.1?} by count_by",
        middle - start,
        middle.elapsed()
    );
    println!("{} different words in {} bytes", together.len(), text.len());
    assert_eq!(together, alone);

    let top = text.par_split_whitespace().top_k_by_count(5, |&word| word);
    for (word, count) in &top {
        println!("{count:>9}  {word}");
        assert_eq!(alone[word], *count);
    }
}
