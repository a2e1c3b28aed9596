//! The programs with the verbs that only tine has.

use super::{BINS, Order};
use std::collections::HashMap;
use tine_collections::ParallelGrouping;
use tine_iter::algorithms::ParallelAccumulate;
use tine_iter::prelude::*;
use tine_iter::scan::ParallelScan;

pub fn orders(text: &str, names: &HashMap<u32, String>) -> Vec<(String, u64, usize)> {
    let rows = text.par_lines().filter_map(Order::parse);
    let groups = rows.fold_by(
        |row| row.customer,
        || (0_u64, 0_usize),
        |group, row| *group = (group.0 + row.cents, group.1 + 1),
        |a, b| *a = (a.0 + b.0, a.1 + b.1),
    );
    let mut joined: Vec<_> = groups
        .into_par_iter()
        .filter_map(|(customer, (cents, count))| {
            Some((names.get(&customer)?.clone(), cents, count))
        })
        .collect();
    joined.par_sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    joined
}

pub fn samples(samples: &[u16]) -> Vec<u16> {
    let mut sum = 0;
    let sums: Vec<u64> = samples
        .par_iter()
        .map(|&x| u64::from(x))
        .prefix_sum()
        .total(&mut sum)
        .collect();
    let mean = sum / samples.len().max(1) as u64;
    let kept: Vec<u16> = samples
        .par_iter()
        .zip(&sums)
        .filter(|(x, sum)| u64::from(**x) > mean || **sum % 16 == 0)
        .map(|(x, _)| *x)
        .collect();
    let bins = kept
        .par_iter()
        .histogram_array::<BINS, _>(|&x| usize::from(x) * BINS / 65_536);
    let ends: Vec<usize> = bins.into_par_iter().prefix_sum().collect();
    let even = |x: &u16| ends[usize::from(*x) * BINS / 65_536] as u64 * 65_535 / kept.len() as u64;
    kept.par_iter().map(|x| even(x) as u16).collect()
}

pub fn words(text: &str) -> Vec<(&str, usize)> {
    let counts = text.par_split_whitespace().count_by(|word| *word);
    let mut counts: Vec<_> = counts.into_par_iter().collect();
    counts.par_sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts
}
