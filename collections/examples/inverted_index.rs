//! An inverted index: for each word, the documents that it occurs in.
//!
//! Grouping keeps the order of the input within each group, so the lists of
//! documents come out sorted, whatever the number of threads.

use std::collections::BTreeSet;

use tine_collections::prelude::*;
use tine_iter::prelude::*;

const WORDS: [&str; 7] = ["fork", "prong", "tine", "steal", "join", "scope", "seat"];

/// Document `n` has the words whose number divides it.
fn document(n: usize) -> String {
    let words = WORDS
        .iter()
        .enumerate()
        .filter(|(i, _)| n.is_multiple_of(i + 1));
    words.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

fn main() {
    let documents: Vec<String> = (0..20_000).map(document).collect();
    let index = documents
        .par_iter()
        .enumerate()
        .flat_map_iter(|(number, text)| text.split(' ').map(move |word| (word, number)))
        .group_pairs();

    for word in WORDS {
        println!(
            "{word:>6}: {:>6} documents, {:?} …",
            index[word].len(),
            &index[word][..4]
        );
    }

    assert_eq!(index.len(), WORDS.len());
    for (i, word) in WORDS.iter().enumerate() {
        assert!(index[word].iter().copied().eq((0..20_000).step_by(i + 1)));
    }
    // Documents with both words: where two sorted lists agree.
    let tine: BTreeSet<usize> = index["tine"].iter().copied().collect();
    let both = index["steal"]
        .iter()
        .filter(|number| tine.contains(number))
        .count();
    assert_eq!(both, 20_000_usize.div_ceil(12));
    println!("`tine` and `steal` together: {both}");
}
