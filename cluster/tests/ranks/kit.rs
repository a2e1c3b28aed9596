//! Inputs, spread over ranks in many ways.

use crate::watch::ThreadRanks;
use tine_cluster::{Cluster, DistVec, Travel};

/// The numbers of ranks that each test is run with.
pub(crate) const RANKS: &[usize] = &[1, 2, 3, 5, 8];

/// Runs `body` with rounds of 1 KiB, so that exchanges take many.
pub(crate) fn small_rounds(ranks: usize, body: impl Fn(&Cluster) + Sync) {
    rounds_of_it(ranks, &body);
}

/// Compiled once for all bodies.
fn rounds_of_it(ranks: usize, body: &(dyn Fn(&Cluster) + Sync)) {
    let ran = ThreadRanks::new(ranks).round(1024).run(|c| {
        body(c);
        Ok(())
    });
    ran.unwrap_or_else(|e| panic!("{e}"));
}

/// The requested number of numbers, the same for the same seed.
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count).map(step).collect()
}

/// Keys of the shapes that matter to sorts and groupings.
pub(crate) fn shapes(count: usize) -> Vec<(&'static str, Vec<u64>)> {
    let random = numbers(7, count);
    let zipf = random
        .iter()
        .map(|n| (count as f64 / (1.0 + (n % 1000) as f64)) as u64);
    vec![
        ("zipf", zipf.collect()),
        ("all equal", vec![3; count]),
        ("sorted", (0..count as u64).collect()),
        ("reversed", (0..count as u64).rev().collect()),
        ("few", random.iter().map(|n| n % 5).collect()),
        ("random", random),
    ]
}

/// How parts may be spread: evenly, all on one rank, every second part empty, fewer and fewer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spread {
    Even,
    OnLast,
    EveryOther,
    Falling,
}

pub(crate) const SPREADS: &[Spread] = &[
    Spread::Even,
    Spread::OnLast,
    Spread::EveryOther,
    Spread::Falling,
];

/// The borders of parts whose lengths follow `weights`.
pub(crate) fn borders(len: usize, weights: &[usize]) -> Vec<usize> {
    let total: usize = weights.iter().sum::<usize>().max(1);
    let mut so_far = 0;
    let mut borders = vec![0];
    borders.extend(weights.iter().map(|weight| {
        so_far += weight;
        len * so_far / total
    }));
    *borders.last_mut().unwrap() = len;
    borders
}

impl Spread {
    fn weights(self, ranks: usize) -> Vec<usize> {
        let weight = |rank: usize| match self {
            Spread::Even => 1,
            Spread::OnLast => usize::from(rank + 1 == ranks),
            Spread::EveryOther => rank % 2,
            Spread::Falling => 1 << (2 * (ranks - rank)).min(20),
        };
        (0..ranks).map(weight).collect()
    }

    /// This rank's part of `all`.
    pub(crate) fn part<T: Clone>(self, c: &Cluster, all: &[T]) -> DistVec<T> {
        spread(c, all, &self.weights(c.size()))
    }
}

/// This rank's part of `all`, whose lengths follow `weights`.
pub(crate) fn spread<T: Clone>(c: &Cluster, all: &[T], weights: &[usize]) -> DistVec<T> {
    let borders = borders(all.len(), weights);
    c.from_local(all[borders[c.rank()]..borders[c.rank() + 1]].to_vec())
}

/// The vector has exactly these items, in even parts.
pub(crate) fn same_and_even<T>(v: &DistVec<T>, expected: &[T], what: &str)
where
    T: Travel + Clone + PartialEq + std::fmt::Debug,
{
    let c = v.cluster();
    let cut = |rank: usize| expected.len() * rank / c.size();
    let mine = &expected[cut(c.rank())..cut(c.rank() + 1)];
    assert!(
        v.local() == mine,
        "{what}, rank {} of {}",
        c.rank(),
        c.size()
    );
}

/// What an item is besides its key: where it was.
pub(crate) fn tagged(keys: &[u64]) -> Vec<(u64, String)> {
    let tag = |(at, &key): (usize, &u64)| (key, format!("{at}"));
    keys.iter().enumerate().map(tag).collect()
}
