//! Searching a graph: which nodes can be reached?

use crate::inputs::numbers;
use crate::table::{Table, run};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tine_collections::ParBitSet;
use tine_iter::algorithms::for_each_fed;

/// A graph in compressed rows.
struct Graph {
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Graph {
    fn random(nodes: usize, degree: usize) -> Self {
        let ends = numbers(nodes * degree, nodes as u64);
        Graph {
            starts: (0..=nodes).map(|n| (n * degree) as u32).collect(),
            ends: ends.into_iter().map(|n| n as u32).collect(),
        }
    }

    fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn after(&self, node: u32) -> &[u32] {
        let (start, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.ends[start as usize..end as usize]
    }
}

fn fed(graph: &Graph) -> usize {
    let seen = ParBitSet::new(graph.nodes());
    seen.insert(0);
    for_each_fed([0_u32], |node, feeder| {
        for &next in graph.after(node) {
            if seen.insert(next as usize) {
                feeder.feed(next);
            }
        }
    });
    seen.count()
}

/// Level by level, as it is done with rayon.
fn levels(graph: &Graph) -> usize {
    use rayon::prelude::*;
    let words = graph.nodes().div_ceil(64);
    let seen: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
    let insert = |node: u32| {
        let (word, bit) = (&seen[node as usize / 64], 1 << (node % 64));
        word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
    };
    insert(0);
    let (mut level, mut count) = (vec![0_u32], 0);
    while !level.is_empty() {
        count += level.len();
        let after = rayon::iter::IntoParallelRefIterator::par_iter(&level);
        let after = after.flat_map_iter(|&node| graph.after(node).iter().copied());
        level = after.filter(|&node| insert(node)).collect();
    }
    count
}

fn alone(graph: &Graph) -> usize {
    let mut seen = vec![0_u64; graph.nodes().div_ceil(64)];
    let mut insert = |node: u32| {
        let (word, bit) = (&mut seen[node as usize / 64], 1 << (node % 64));
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    };
    insert(0);
    let mut queue = std::collections::VecDeque::from([0]);
    let mut count = 0;
    while let Some(node) = queue.pop_front() {
        count += 1;
        queue.extend(graph.after(node).iter().filter(|&&next| insert(next)));
    }
    count
}

pub fn rows(table: &mut Table) {
    for (nodes, degree) in [
        (100, 5),
        (10_000, 5),
        (200_000, 5),
        (1_000_000, 1),
        (1_000_000, 10),
    ] {
        let name = format!(
            "for_each_fed, a graph of {nodes} nodes and {} edges",
            nodes * degree
        );
        if table.wants(&name) {
            let graph = Graph::random(nodes, degree);
            assert_eq!(fed(&graph), alone(&graph));
            assert_eq!(levels(&graph), alone(&graph));
            table.row(
                &name,
                run(|| fed(&graph)),
                run(|| levels(&graph)),
                run(|| alone(&graph)),
            );
        }
    }
}
