//! Lengths at the limit, and items without a size.

use tine_iter::iter::repeat_n;
use tine_iter::prelude::*;

use crate::in_pools;

const MAX: usize = usize::MAX;

#[test]
fn lengths_that_fit() {
    let all = || repeat_n((), MAX);
    assert_eq!(all().enumerate().len(), MAX);
    assert_eq!(all().rev().len(), MAX);
    assert_eq!(all().chunks(MAX).len(), 1);
    assert_eq!(all().chunks(MAX - 1).len(), 2);
    assert_eq!(all().step_by(MAX).len(), 1);
    assert_eq!(all().step_by(2).len(), MAX / 2 + 1);
    assert_eq!(all().zip(all()).len(), MAX);
    assert_eq!(all().skip(MAX - 3).len(), 3);
    assert_eq!(all().interleave_shortest(repeat_n((), 3)).len(), 7);
    assert_eq!(all().chain(repeat_n((), 1)).opt_len(), None);
    assert_eq!(all().intersperse(()).opt_len(), None);
}

#[test]
fn the_far_end_of_many() {
    for found in in_pools(|| {
        let all = || (0..MAX).into_par_iter();
        let first = all().map(|n| n / 2).find_first(|n| *n > 40);
        let numbered = all()
            .enumerate()
            .rev()
            .take(3)
            .map(|(i, n)| (MAX - i, MAX - n))
            .collect::<Vec<_>>();
        let any = all().any(|n| n == 17);
        let some = all()
            .step_by(MAX / 4)
            .chunks(2)
            .map(|c| c.len())
            .collect::<Vec<_>>();
        let pairs = all().zip(all().rev()).take_any(5).count();
        (first, numbered, any, some, pairs)
    }) {
        assert_eq!(found.0, Some(41));
        assert_eq!(found.1, [(1, 1), (2, 2), (3, 3)]);
        assert!(found.2);
        assert_eq!(found.3, [2, 2, 1]);
        assert_eq!(found.4, 5);
    }
}

/// Items that nothing sees are not walked: otherwise none of these would end.
#[test]
fn long_steps() {
    const QUARTER: usize = MAX / 8;
    let wide = [(); 4 * QUARTER];
    for found in in_pools(|| {
        let all = || (0..MAX).into_par_iter();
        let forth = all().enumerate().step_by(MAX / 3).collect::<Vec<_>>();
        let back = all().enumerate().rev().step_by(MAX / 3).collect::<Vec<_>>();
        let copied = wide.par_iter().copied().step_by(QUARTER).count();
        let numbered = wide
            .par_iter()
            .copied()
            .enumerate()
            .rev()
            .step_by(QUARTER)
            .map(|(n, ())| n)
            .collect::<Vec<_>>();
        let half = || wide.par_iter().take(2 * QUARTER);
        let chained = half().chain(half()).step_by(QUARTER).count();
        let half = || half().copied().enumerate();
        let halves = || half().chain(half());
        let forth_chained = halves().step_by(QUARTER).map(|(n, ())| n);
        let back_chained = halves().rev().step_by(QUARTER).map(|(n, ())| n);
        let forth_chained = forth_chained.collect::<Vec<_>>();
        let back_chained = back_chained.collect::<Vec<_>>();
        let chained = (chained, forth_chained, back_chained);
        (forth, back, copied, numbered, chained)
    }) {
        let third = MAX / 3;
        assert_eq!(found.0, [0, third, 2 * third].map(|n| (n, n)));
        assert_eq!(
            found.1,
            [0, third, 2 * third].map(|n| (MAX - 1 - n, MAX - 1 - n))
        );
        assert_eq!(found.2, 4);
        assert_eq!(found.3, [4, 3, 2, 1].map(|n| n * QUARTER - 1));
        let (count, forth, back) = found.4;
        assert_eq!(count, 4);
        assert_eq!(forth, [0, 1, 0, 1].map(|n| n * QUARTER));
        assert_eq!(back, [2, 1, 2, 1].map(|n| n * QUARTER - 1));
    }
}

#[test]
#[should_panic(expected = "more items than a usize counts")]
fn a_chain_too_long() {
    let _ = repeat_n((), MAX).chain(repeat_n((), 1)).len();
}

#[test]
#[should_panic(expected = "more items than a usize counts")]
fn turns_too_many() {
    let _ = repeat_n((), MAX).interleave(repeat_n((), 1)).len();
}

#[test]
#[should_panic(expected = "more items than a usize counts")]
fn gaps_too_many() {
    let _ = repeat_n((), MAX).intersperse(()).len();
}

#[test]
fn items_without_a_size() {
    for len in [0, 1, 100, 10_000] {
        for (count, kept, chunks) in in_pools(|| {
            let all = || vec![(); len].into_par_iter();
            let kept: Vec<()> = all()
                .enumerate()
                .filter(|(i, ())| i % 2 == 0)
                .map(|(_, u)| u)
                .collect();
            (
                all().rev().count(),
                kept.len(),
                all().chunks(7).collect::<Vec<_>>().len(),
            )
        }) {
            assert_eq!(
                (count, kept, chunks),
                (len, len.div_ceil(2), len.div_ceil(7))
            );
        }
    }
}

/// Each item of a loop is a loop, and each of its items, too.
#[test]
fn loops_in_loops() {
    fn below(depth: u32, n: u64) -> u64 {
        if depth == 0 {
            return n;
        }
        let within = (0..n).into_par_iter().map(|n| below(depth - 1, n));
        within.filter(|n| n % 5 != 4).sum()
    }
    fn below_alone(depth: u32, n: u64) -> u64 {
        if depth == 0 {
            return n;
        }
        let within = (0..n).map(|n| below_alone(depth - 1, n));
        within.filter(|n| n % 5 != 4).sum()
    }
    for (depth, n) in [(1, 3_000), (2, 200), (3, 40), (8, 9)] {
        let want = below_alone(depth, n);
        for got in in_pools(|| below(depth, n)) {
            assert_eq!(got, want, "{depth} deep");
        }
    }
}
