//! Loops whose items differ in cost, and loops in loops. The best possible time is the sequential
//! time divided by the number of threads.

use std::hint::black_box;

use tine_pool::current_num_threads as threads;

use super::{Book, halves};
use crate::data::{busy, numbers, paralight};
use crate::race::{Case, Goal, cases};

/// The time of all items of a loop together, in nanoseconds.
const TOTAL: u64 = 20_000_000;

/// Scales the shares of the items so that their sum is `TOTAL`.
fn scaled(shares: impl Iterator<Item = f64> + Clone) -> Vec<u64> {
    let sum: f64 = shares.clone().sum();
    shares
        .map(|share| (TOTAL as f64 * share / sum) as u64)
        .collect()
}

fn uneven(costs: Vec<u64>) -> Vec<Case> {
    let costs: &'static [u64] = costs.leak();
    let mut cases = cases! {
        costs.iter().map(|&cost| busy(cost)).sum::<u64>();
        costs.par_iter().map(|&cost| busy(cost)).sum::<u64>();
        orx: costs.par().num_threads(threads()).map(|&cost| busy(cost)).sum::<u64>();
        paralight: paralight(|pool| {
            costs.par_iter().with_thread_pool(pool).map(|&cost| busy(cost)).sum::<u64>()
        });
    };
    cases.extend(halves::cases(costs, 1, |&cost| busy(cost)));
    cases
}

fn nested() -> Vec<Case> {
    let v: &'static [u64] = &numbers()[..10_000];
    cases! {
        (0..1000_u64).map(|i| v.iter().map(|x| x ^ i).sum::<u64>()).sum::<u64>();
        (0..1000_u64)
            .into_par_iter()
            .map(|i| black_box(v).par_iter().map(|x| x ^ i).sum::<u64>())
            .sum::<u64>();
    }
}

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    book.section("Uneven items, 20 ms in all, and nested loops");
    let ideal = Goal::Within(1.05 / threads() as f64, "sequential", 0.0);
    book.row("even costs, 10,000 items", ideal, || {
        uneven(scaled((0..10_000).map(|_| 1.0)))
    });
    book.row("triangular costs, 10,000 items", ideal, || {
        uneven(scaled((0..10_000).map(f64::from)))
    });
    let pareto = |at: usize| (numbers()[at] as f64 / f64::from(u32::MAX) + 1e-4).powf(-0.8);
    book.row("Pareto costs, 10,000 items", ideal, || {
        uneven(scaled((0..10_000).map(pareto)))
    });
    let tail = |at: usize| if at < 980 { 0.1 / 980.0 } else { 0.9 / 20.0 };
    book.row("the last 20 of 1,000 items hold 90 %", ideal, || {
        uneven(scaled((0..1000).map(tail)))
    });
    let goal = Goal::Within(1.0, "rayon", 0.0);
    book.row("nested loops, 1000 × 10,000", goal, nested);
}
