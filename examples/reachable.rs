//! Which nodes of a graph can be reached, and in how many steps?
//!
//! The first question is answered by a worklist: an item adds further items, in no order, and a set of
//! bits says which nodes have been seen. The second question is answered level by level.
//!
//! `cargo run --release --example reachable [EDGES]`

use std::collections::VecDeque;
use std::env;
use std::time::Instant;

use tine::ParBitSet;
use tine::algorithms::for_each_fed;
use tine::prelude::*;

/// A graph in compressed rows: the edges of node `n` are `ends[starts[n]..starts[n + 1]]`.
struct Graph {
    starts: Vec<usize>,
    ends: Vec<u32>,
}

impl Graph {
    /// A graph of `edges` edges, each from a random node to a random one.
    fn random(nodes: usize, edges: usize) -> Graph {
        let mut pairs: Vec<(u32, u32)> = (0..edges as u64)
            .into_par_iter()
            .map(|n| {
                let bits = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
                let bits = bits.wrapping_mul(0xD6E8_FEB8_6659_FD93);
                let node = |half: u64| (((half & 0xffff_ffff) * nodes as u64) >> 32) as u32;
                (node(bits >> 32), node(bits))
            })
            .collect();
        // Groups the edges by the node that they begin at. The sort also returns where each group begins.
        let starts = pairs.par_counting_sort_by_key(nodes, |pair| pair.0 as usize);
        let ends = pairs.par_iter().map(|pair| pair.1).collect();
        Graph { starts, ends }
    }

    fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn after(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.ends[self.starts[node]..self.starts[node + 1]]
    }
}

/// The nodes that can be reached from node 0.
fn reachable(graph: &Graph) -> ParBitSet {
    let seen = ParBitSet::new(graph.nodes());
    seen.insert(0);
    for_each_fed([0], |node, feeder| {
        for &next in graph.after(node) {
            if seen.insert(next as usize) {
                feeder.feed(next);
            }
        }
    });
    seen
}

/// For each number of steps, how many nodes are that far from node 0.
fn levels(graph: &Graph) -> Vec<usize> {
    let seen = ParBitSet::new(graph.nodes());
    seen.insert(0);
    let mut sizes = vec![];
    let mut level = vec![0];
    while !level.is_empty() {
        sizes.push(level.len());
        let after = level.par_iter().flat_map_iter(|&node| graph.after(node));
        let fresh = after.filter(|&&next| seen.insert(next as usize));
        level = fresh.copied().collect();
    }
    sizes
}

/// The same, by one thread with a queue.
fn alone(graph: &Graph) -> Vec<usize> {
    let mut steps = vec![usize::MAX; graph.nodes()];
    steps[0] = 0;
    let mut queue = VecDeque::from([0]);
    let mut sizes = vec![];
    while let Some(node) = queue.pop_front() {
        let step = steps[node as usize];
        sizes.resize(step + 1, 0);
        sizes[step] += 1;
        for &next in graph.after(node) {
            if steps[next as usize] == usize::MAX {
                steps[next as usize] = step + 1;
                queue.push_back(next);
            }
        }
    }
    sizes
}

fn main() {
    let edges = env::args().nth(1).and_then(|n| n.parse().ok());
    let edges = edges.unwrap_or(1_000_000);
    let graph = Graph::random(edges / 5 + 1, edges);
    let start = Instant::now();
    let expected = alone(&graph);
    println!("one thread with a queue: {:?}", start.elapsed());
    let start = Instant::now();
    let reached = reachable(&graph);
    println!("a worklist:              {:?}", start.elapsed());
    let start = Instant::now();
    let sizes = levels(&graph);
    println!("level by level:          {:?}", start.elapsed());

    assert_eq!(sizes, expected);
    assert_eq!(reached.count(), expected.iter().sum());
    println!(
        "{} nodes reached, in {} steps",
        reached.count(),
        sizes.len() - 1
    );
}
