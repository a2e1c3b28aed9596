//! k-means: a reduction every round. The sums are deterministic, so the centres
//! are the same to the last bit on any number of ranks.
//!
//!     cargo run --release -p tine-cluster --example k_means

use tine_cluster::prelude::*;

const POINTS: usize = 50_000;
const K: usize = 4;
const ROUNDS: usize = 12;

type Point = [f64; 2];

/// A point of one of `K` clouds, around (0, 0), (10, 5), (20, 10) and (30, 15).
fn point(i: usize) -> Point {
    let noise = |seed: u64| {
        let mixed = (i as u64 * 2 + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5;
        (mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let cloud = (i % K) as f64;
    [10.0 * cloud + noise(1), 5.0 * cloud + noise(2)]
}

fn distance(a: &Point, b: &Point) -> f64 {
    (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)
}

/// For each cluster, the sum of its points and their number.
type Sums = [[f64; 3]; K];

fn main() -> ExitCode {
    tine_cluster::run(|c| {
        c.plain::<Point>();
        let points = c.generate(POINTS, point);
        let mut centres: [Point; K] = [[1.0, 1.0], [8.0, 8.0], [18.0, 8.0], [33.0, 12.0]];
        for _ in 0..ROUNDS {
            let alone = |point: &Point| {
                let nearest = (0..K).min_by(|&a, &b| {
                    distance(point, &centres[a]).total_cmp(&distance(point, &centres[b]))
                });
                let mut sums: Sums = [[0.0; 3]; K];
                sums[nearest.unwrap_or(0)] = [point[0], point[1], 1.0];
                sums
            };
            let add = |mut a: Sums, b: Sums| {
                for (a, b) in a.iter_mut().flatten().zip(b.iter().flatten()) {
                    *a += b;
                }
                a
            };
            let sums = points
                .par_iter()
                .map(alone)
                .deterministic()
                .reduce(|| [[0.0; 3]; K], add);
            for (centre, [x, y, count]) in centres.iter_mut().zip(sums) {
                *centre = [x / count, y / count];
            }
        }
        for (i, centre) in centres.iter().enumerate() {
            assert!(distance(centre, &[10.0 * i as f64, 5.0 * i as f64]) < 0.01);
        }
        if c.is_root() {
            for [x, y] in centres {
                println!("{x:?} {y:?}");
            }
        }
        Ok(())
    })
}
