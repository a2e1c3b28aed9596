//! The programs as loops.

use super::{BINS, Graph, Order, blur, grey};
use std::collections::HashMap;

pub fn orders(text: &str, names: &HashMap<u32, String>) -> Vec<(String, u64, usize)> {
    let rows: Vec<Order> = text.lines().filter_map(Order::parse).collect();
    let mut groups: HashMap<u32, (u64, usize)> = HashMap::new();
    for row in &rows {
        let group = groups.entry(row.customer).or_default();
        group.0 += row.cents;
        group.1 += 1;
    }
    let mut joined: Vec<_> = groups
        .iter()
        .filter_map(|(customer, (cents, count))| {
            Some((names.get(customer)?.clone(), *cents, *count))
        })
        .collect();
    joined.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    joined
}

pub fn breadth_first(graph: &Graph) -> Vec<u32> {
    let mut far = vec![u32::MAX; graph.nodes()];
    far[0] = 0;
    let mut level = vec![0_u32];
    let mut depth = 0;
    while !level.is_empty() {
        depth += 1;
        let mut next_level = Vec::new();
        for &node in &level {
            for &next in graph.of(node) {
                if far[next as usize] == u32::MAX {
                    far[next as usize] = depth;
                    next_level.push(next);
                }
            }
        }
        level = next_level;
    }
    far
}

pub fn page_rank(graph: &Graph) -> Vec<f64> {
    let n = graph.nodes();
    let mut rank = vec![1.0 / n as f64; n];
    for _ in 0..10 {
        let share: Vec<f64> = (0..n as u32)
            .map(|node| rank[node as usize] / graph.of(node).len().max(1) as f64)
            .collect();
        rank = (0..n as u32)
            .map(|node| {
                let gathered: f64 = graph
                    .of(node)
                    .iter()
                    .map(|&from| share[from as usize])
                    .sum();
                0.15 / n as f64 + 0.85 * gathered
            })
            .collect();
    }
    rank
}

/// Running sums, then those above the mean, and these equalised by their histogram.
pub fn samples(samples: &[u16]) -> Vec<u16> {
    let mut sum = 0_u64;
    let sums: Vec<u64> = samples
        .iter()
        .map(|&x| {
            sum += u64::from(x);
            sum
        })
        .collect();
    let mean = sum / samples.len().max(1) as u64;
    let kept: Vec<u16> = samples
        .iter()
        .zip(&sums)
        .filter(|(x, sum)| u64::from(**x) > mean || **sum % 16 == 0)
        .map(|(x, _)| *x)
        .collect();
    let mut below = 0;
    let ends: Vec<u32> = histogram(&kept)
        .into_iter()
        .map(|n| {
            below += n;
            below
        })
        .collect();
    let even = |x: &u16| ends[usize::from(*x) * BINS / 65_536] as u64 * 65_535 / kept.len() as u64;
    kept.iter().map(|x| even(x) as u16).collect()
}

pub fn words(text: &str) -> Vec<(&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts
}

pub fn image(pixels: &[[u8; 3]], width: usize) -> Vec<u8> {
    let grey: Vec<u8> = pixels.iter().map(grey).collect();
    let mut blurred = vec![0_u8; grey.len()];
    for (y, row) in blurred.chunks_mut(width).enumerate() {
        blur(&grey, width, y, row);
    }
    let sum: u64 = blurred.iter().map(|&x| u64::from(x)).sum();
    let mean = (sum / blurred.len().max(1) as u64) as u8;
    blurred
        .iter_mut()
        .for_each(|x| *x = if *x > mean { 255 } else { 0 });
    blurred
}

pub fn histogram(samples: &[u16]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    for &x in samples {
        bins[usize::from(x) * BINS / 65_536] += 1;
    }
    bins
}
