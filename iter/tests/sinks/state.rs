//! State is made once for each contiguous piece, collected or not.

use std::sync::atomic::{AtomicUsize, Ordering};

use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

const LEN: usize = 1_000_000;

/// How often each way of making state makes it, with so many threads.
fn made(threads: usize) -> [usize; 4] {
    let count = AtomicUsize::new(0);
    let init = || count.fetch_add(1, Ordering::Relaxed);
    let taken = || count.swap(0, Ordering::Relaxed);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let items = || (0..LEN).into_par_iter();
        let in_place: Vec<usize> = items().map_init(init, |_, n| n).collect();
        let first = taken();
        let in_fragments: Vec<usize> = items()
            .map_init(init, |_, n| n)
            .filter(|n| n % 2 == 0)
            .collect();
        let second = taken();
        let both: (Vec<usize>, Vec<usize>) = items().map_init(init, |_, n| (n, n)).unzip();
        let third = taken();
        let zero = || (init(), 0).1;
        let sums: Vec<usize> = items().fold(zero, |sum, n| sum + n).collect();
        assert!(in_place.into_iter().eq(0..LEN) && in_fragments.len() == LEN / 2);
        assert!(both.0 == both.1 && sums.iter().sum::<usize>() == LEN * (LEN - 1) / 2);
        [first, second, third, taken()]
    })
}

#[test]
fn one_piece_one_state() {
    assert_eq!(made(1), [1; 4]);
}

#[test]
fn as_many_as_pieces_changed_hands() {
    // Far below one for each of the pieces that a loop of a million items
    // could be cut into.
    let made = made(8);
    assert!(made.iter().all(|made| (1..=200).contains(made)), "{made:?}");
}
