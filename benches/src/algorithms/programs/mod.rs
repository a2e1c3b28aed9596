//! Small and large inputs of whole programs: with loops, with rayon, and with the same source on tine.

mod ours;
mod plain;

use crate::inputs::numbers;
use crate::table::{Table, run};
use std::collections::HashMap;
use std::fmt::Write as _;

pub const BINS: usize = 256;

mod by_tine {
    use super::{BINS, Graph, Order, blur, grey};
    use std::collections::HashMap;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use tine_iter::prelude::*;
    include!("parallel.rs");
}

mod by_rayon {
    use super::{BINS, Graph, Order, blur, grey};
    use rayon::prelude::*;
    use std::collections::HashMap;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    include!("parallel.rs");

    /// Rayon has no scan: running sums of chunks, by hand.
    pub fn samples(samples: &[u16]) -> Vec<u16> {
        let size = samples
            .len()
            .div_ceil(4 * rayon::current_num_threads())
            .max(1);
        let mut starts: Vec<u64> = samples
            .par_chunks(size)
            .map(|chunk| chunk.iter().map(|&x| u64::from(x)).sum())
            .collect();
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        let sums: Vec<u64> = samples
            .par_chunks(size)
            .zip(starts)
            .flat_map_iter(|(chunk, mut sum)| {
                chunk.iter().map(move |&x| {
                    sum += u64::from(x);
                    sum
                })
            })
            .collect();
        let mean = sum / samples.len().max(1) as u64;
        let kept: Vec<u16> = samples
            .par_iter()
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
        let even =
            |x: &u16| ends[usize::from(*x) * BINS / 65_536] as u64 * 65_535 / kept.len() as u64;
        kept.par_iter().map(|x| even(x) as u16).collect()
    }
}

/// A line of an order book.
pub struct Order {
    customer: u32,
    cents: u64,
}

impl Order {
    fn parse(line: &str) -> Option<Order> {
        let mut fields = line.split(',');
        let _number: u32 = fields.next()?.parse().ok()?;
        let customer = fields.next()?.parse().ok()?;
        let price: f64 = fields.next()?.trim().parse().ok()?;
        let cents = (price * 100.0).round() as u64;
        Some(Order { customer, cents })
    }
}

/// The neighbours of each node.
pub struct Graph {
    starts: Vec<usize>,
    nodes: Vec<u32>,
}

impl Graph {
    fn new(edges: usize) -> Graph {
        let n = (edges / 5).max(2);
        let far = numbers(2 * edges, n as u64);
        let mut beside = vec![Vec::new(); n];
        for pair in far.chunks(2) {
            beside[pair[0] as usize].push(pair[1] as u32);
        }
        let mut starts = vec![0];
        let mut nodes = Vec::new();
        for list in beside {
            nodes.extend(list);
            starts.push(nodes.len());
        }
        Graph { starts, nodes }
    }

    fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.nodes[self.starts[node as usize]..self.starts[node as usize + 1]]
    }
}

fn grey(pixel: &[u8; 3]) -> u8 {
    let [r, g, b] = pixel.map(u32::from);
    ((r * 77 + g * 150 + b * 29) >> 8) as u8
}

fn blur(grey: &[u8], width: usize, y: usize, row: &mut [u8]) {
    let height = grey.len() / width;
    for (x, out) in row.iter_mut().enumerate() {
        let (mut sum, mut count) = (0_u32, 0_u32);
        for y in y.saturating_sub(1)..(y + 2).min(height) {
            for x in x.saturating_sub(1)..(x + 2).min(width) {
                sum += u32::from(grey[y * width + x]);
                count += 1;
            }
        }
        *out = (sum / count) as u8;
    }
}

fn book(lines: usize) -> (String, HashMap<u32, String>) {
    let customers = (lines / 5).max(1) as u64;
    let (who, much) = (numbers(lines, customers), numbers(lines, 100_000));
    let mut text = String::new();
    for (at, (who, much)) in who.iter().zip(&much).enumerate() {
        writeln!(text, "{at},{who},{}.{:02}", much / 100, much % 100).expect("a string");
    }
    let name = |n| (n as u32, format!("customer {n}"));
    (text, (0..customers).map(name).collect())
}

fn prose(bytes: usize) -> String {
    let mut text = String::new();
    for n in numbers(bytes / 6, 4_000) {
        // Some words come often.
        let n = n * n / 4_000;
        write!(text, "w{n:x} ").expect("a string");
    }
    text
}

pub fn rows(table: &mut Table) {
    for (lines, edges, count, bytes, (width, height)) in [
        (500, 500, 5_000, 20_000, (64, 48)),
        (
            1_000_000 / table.scale,
            1_000_000 / table.scale,
            10_000_000 / table.scale,
            50_000_000 / table.scale,
            (4_000, 3_000 / table.scale),
        ),
    ] {
        let name = format!("program: {lines} orders parsed, grouped, joined, sorted");
        if table.wants(&name) {
            let (text, names) = book(lines);
            assert_eq!(plain::orders(&text, &names), by_tine::orders(&text, &names));
            assert_eq!(plain::orders(&text, &names), ours::orders(&text, &names));
            let rayon = || run(|| by_rayon::orders(&text, &names));
            let alone = || run(|| plain::orders(&text, &names));
            table.row(
                &name,
                run(|| by_tine::orders(&text, &names)),
                rayon(),
                alone(),
            );
            let name = name + ", with `fold_by`";
            table.row(&name, run(|| ours::orders(&text, &names)), rayon(), alone());
        }
        let name = format!("program: breadth first through {edges} edges");
        if table.wants(&name) {
            let graph = Graph::new(edges);
            assert_eq!(plain::breadth_first(&graph), by_tine::breadth_first(&graph));
            table.row(
                &name,
                run(|| by_tine::breadth_first(&graph)),
                run(|| by_rayon::breadth_first(&graph)),
                run(|| plain::breadth_first(&graph)),
            );
        }
        let name = format!("program: page rank on {edges} edges");
        if table.wants(&name) {
            let graph = Graph::new(edges);
            assert_eq!(plain::page_rank(&graph), by_tine::page_rank(&graph));
            table.row(
                &name,
                run(|| by_tine::page_rank(&graph)),
                run(|| by_rayon::page_rank(&graph)),
                run(|| plain::page_rank(&graph)),
            );
        }
        let samples: Vec<u16> = numbers(count, 65_536)
            .into_iter()
            .map(|n| n as u16)
            .collect();
        let name = format!("program: {count} samples scanned, compacted, equalised");
        if table.wants(&name) {
            assert_eq!(plain::samples(&samples), ours::samples(&samples));
            assert_eq!(plain::samples(&samples), by_rayon::samples(&samples));
            table.row(
                &name,
                run(|| ours::samples(&samples)),
                run(|| by_rayon::samples(&samples)),
                run(|| plain::samples(&samples)),
            );
        }
        let name = format!("program: histogram of {count} in a `Vec`");
        if table.wants(&name) {
            table.row(
                &name,
                run(|| by_tine::histogram(&samples)),
                run(|| by_rayon::histogram(&samples)),
                run(|| plain::histogram(&samples)),
            );
        }
        let name = format!("program: words of {bytes} bytes");
        if table.wants(&name) {
            let text = prose(bytes);
            assert_eq!(plain::words(&text), by_tine::words(&text));
            assert_eq!(plain::words(&text), ours::words(&text));
            let rayon = || run(|| by_rayon::words(&text));
            let alone = || run(|| plain::words(&text));
            table.row(&name, run(|| by_tine::words(&text)), rayon(), alone());
            let name = name + ", with `count_by`";
            table.row(&name, run(|| ours::words(&text)), rayon(), alone());
        }
        let name = format!("program: image of {width} x {height}");
        if table.wants(&name) {
            let levels = numbers(3 * width * height, 256)
                .into_iter()
                .map(|n| n as u8);
            let pixels: Vec<[u8; 3]> = levels.collect::<Vec<_>>().as_chunks().0.to_vec();
            assert_eq!(plain::image(&pixels, width), by_tine::image(&pixels, width));
            table.row(
                &name,
                run(|| by_tine::image(&pixels, width)),
                run(|| by_rayon::image(&pixels, width)),
                run(|| plain::image(&pixels, width)),
            );
        }
    }
}
