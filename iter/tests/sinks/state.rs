//! State is made once for each contiguous piece, collected or not.

use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use tine_iter::prelude::*;
use tine_pool::ThreadPoolBuilder;

const LEN: usize = 1_000_000;

/// How often each way of making state makes it, with this number of threads, not counting the pieces that were
/// stolen meanwhile.
fn made(threads: usize) -> [isize; 4] {
    let count = AtomicUsize::new(0);
    let init = || count.fetch_add(1, Ordering::Relaxed);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let seen = AtomicIsize::new(0);
    let taken = || {
        let now = pool.stats().total().stolen as isize;
        let stolen = now - seen.swap(now, Ordering::Relaxed);
        count.swap(0, Ordering::Relaxed) as isize - stolen
    };
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
        // Of 64 bits on every target.
        let zero = || (init(), 0_u64).1;
        let sums: Vec<u64> = items().fold(zero, |sum, n| sum + n as u64).collect();
        let expected = LEN as u64 * (LEN as u64 - 1) / 2;
        assert!(in_place.into_iter().eq(0..LEN) && in_fragments.len() == LEN / 2);
        assert!(both.0 == both.1 && sums.iter().sum::<u64>() == expected);
        [first, second, third, taken()]
    })
}

#[test]
fn one_piece_one_state() {
    assert_eq!(made(1), [1; 4]);
}

#[test]
fn as_many_as_pieces_changed_hands() {
    let beyond = made(8);
    assert!(beyond.iter().all(|beyond| *beyond <= 1), "{beyond:?}");
}
