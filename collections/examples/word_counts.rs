//! Counts the words of a text on all cores.
//!
//! `cargo run --release --example word_counts [FILE]`

use std::collections::HashMap;
use std::env;
use std::fs;

use tine_collections::prelude::*;
use tine_iter::str::ParallelString;

fn main() {
    let text = match env::args().nth(1) {
        Some(path) => fs::read_to_string(path).expect("a file to read"),
        None => "the cat sat on the mat and the dog sat on the cat ".repeat(10_000),
    };
    let counts = text.par_split_whitespace().count_by(|&word| word);
    let top = text.par_split_whitespace().top_k_by_count(5, |&word| word);
    println!("{} different words; most frequent:", counts.len());
    for (word, count) in &top {
        println!("{count:>8}  {word}");
    }

    let mut by_hand: HashMap<&str, usize> = HashMap::new();
    text.split_whitespace()
        .for_each(|word| *by_hand.entry(word).or_insert(0) += 1);
    assert_eq!(counts, by_hand);
    assert!(top.iter().all(|(word, count)| by_hand[word] == *count));
}
