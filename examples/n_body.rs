//! Bodies that attract each other: the force on each is a sum over all, and the
//! bodies are shared out. Each sum adds in the same order as the loop does, so the
//! orbits are equal to the last bit.
//!
//! `cargo run --release --example n_body [BODIES]`

use std::env;
use std::time::Instant;
use tine::prelude::*;

const STEPS: usize = 10;
const TIME: f64 = 1e-3;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Body {
    at: [f64; 3],
    speed: [f64; 3],
    mass: f64,
}

/// Bodies on a spiral, all at rest.
fn bodies(n: usize) -> Vec<Body> {
    let body = |i: usize| {
        let turn = i as f64 * 2.399_963;
        let far = (1.0 + i as f64).sqrt();
        let at = [far * turn.cos(), far * turn.sin(), (i % 17) as f64 / 17.0];
        let (speed, mass) = ([0.0; 3], 1.0 + (i % 5) as f64);
        Body { at, speed, mass }
    };
    (0..n).map(body).collect()
}

/// Where a body is a moment later.
fn moved(body: &Body, all: &[Body]) -> Body {
    let mut pull = [0.0; 3];
    for other in all {
        let way: [f64; 3] = std::array::from_fn(|k| other.at[k] - body.at[k]);
        let squared = way.iter().map(|k| k * k).sum::<f64>() + 1e-2;
        let strength = other.mass / (squared * squared.sqrt());
        pull = std::array::from_fn(|k| pull[k] + strength * way[k]);
    }
    let speed: [f64; 3] = std::array::from_fn(|k| body.speed[k] + TIME * pull[k]);
    let at = std::array::from_fn(|k| body.at[k] + TIME * speed[k]);
    Body { at, speed, ..*body }
}

fn main() {
    let n = env::args()
        .nth(1)
        .map_or(2_000, |n| n.parse().expect("a number"));
    let (mut alone, mut together) = (bodies(n), bodies(n));
    let start = Instant::now();
    for _ in 0..STEPS {
        alone = alone.iter().map(|body| moved(body, &alone)).collect();
    }
    let middle = Instant::now();
    for _ in 0..STEPS {
        together = together
            .par_iter()
            .map(|body| moved(body, &together))
            .collect();
    }
    println!(
        "{:.1?} in sequence, {:.1?} in parallel",
        middle - start,
        middle.elapsed()
    );
    assert_eq!(together, alone);
}
