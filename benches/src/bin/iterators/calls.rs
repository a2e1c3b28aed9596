//! Calls of every length, from an ordinary thread: to turn a loop into a parallel one must never be
//! a mistake.

use std::hint::black_box;

use tine_pool::current_num_threads as threads;

use super::{Book, halves};
use crate::data::{LONG, busy, floats, many, numbers, paralight};
use crate::race::{Case, Goal, cases};

/// The greatest allowed cost of a loop that has become parallel.
const NO_REGRET: Goal = Goal::Within(1.05, "sequential", 100.0);

fn squares(n: usize) -> Vec<Case> {
    let v: &'static [u64] = if n > LONG { many() } else { &numbers()[..n] };
    let mut cases = cases! {
        black_box(v).iter().map(|x| x.wrapping_mul(*x) + 1).sum::<u64>();
        black_box(v).par_iter().map(|x| x.wrapping_mul(*x) + 1).sum::<u64>();
        orx: black_box(v).par().num_threads(threads()).map(|x| x.wrapping_mul(*x) + 1).sum::<u64>();
        paralight: paralight(|pool| {
            let items = black_box(v).par_iter().with_thread_pool(pool);
            items.map(|x| x.wrapping_mul(*x) + 1).sum::<u64>()
        });
    };
    cases.extend(halves::cases(v, 1024, |x| x.wrapping_mul(*x) + 1));
    cases
}

fn heavy(n: usize) -> Vec<Case> {
    let v: &'static [u64] = &numbers()[..n];
    let mut cases = cases! {
        black_box(v).iter().map(|x| busy(100) + x).sum::<u64>();
        black_box(v).par_iter().map(|x| busy(100) + x).sum::<u64>();
        orx: black_box(v).par().num_threads(threads()).map(|x| busy(100) + x).sum::<u64>();
        paralight: paralight(|pool| {
            let items = black_box(v).par_iter().with_thread_pool(pool);
            items.map(|x| busy(100) + x).sum::<u64>()
        });
    };
    cases.extend(halves::cases(v, 10, |x| busy(100) + x));
    cases
}

fn small_collect(n: usize) -> Vec<Case> {
    let v: &'static [u64] = &numbers()[..n];
    cases! {
        black_box(v).iter().map(|x| x * 2).collect::<Vec<u64>>();
        black_box(v).par_iter().map(|x| x * 2).collect::<Vec<u64>>();
        orx: black_box(v).par().num_threads(threads()).map(|x| x * 2).collect::<Vec<u64>>();
    }
}

fn small_filter(n: usize) -> Vec<Case> {
    let v: &'static [u64] = &numbers()[..n];
    cases! {
        black_box(v).iter().filter(|x| **x % 3 > 0).collect::<Vec<_>>();
        black_box(v).par_iter().filter(|x| **x % 3 > 0).collect::<Vec<_>>();
        orx: black_box(v).par().num_threads(threads()).filter(|x| **x % 3 > 0).collect::<Vec<_>>();
    }
}

/// The other way does not promise the same sum each time.
fn same_sum(n: usize) -> Vec<Case> {
    let v: &'static [f64] = &floats()[..n];
    cases! {
        black_box(v).iter().sum::<f64>();
        black_box(v).par_iter().sum::<f64>();
    }
}

/// The rows of this file.
pub fn rows(book: &mut Book<'_>) {
    let powers = |most: u32| (0..=most).map(|power| (10_usize.pow(power), power));
    book.section("Sum of x × x + 1, back to back");
    for (n, power) in powers(8) {
        book.row(format!("squares of 10^{power}"), NO_REGRET, || squares(n));
    }
    book.section("The same, the pool asleep before each call");
    for (n, power) in powers(7) {
        let name = format!("squares of 10^{power}, asleep");
        book.asleep(name, NO_REGRET, || squares(n));
    }
    book.section("100 ns an item");
    for (n, power) in powers(5) {
        let goal = match power {
            3.. => Goal::Within(1.1 / threads() as f64, "sequential", 0.0),
            _ => NO_REGRET,
        };
        book.row(format!("100 ns each of 10^{power}"), goal, || heavy(n));
    }
    for (n, power) in powers(4) {
        let name = format!("100 ns each of 10^{power}, asleep");
        book.asleep(name, NO_REGRET, || heavy(n));
    }
    book.section("Small collects");
    for (n, power) in powers(4).skip(1) {
        book.row(format!("collect 10^{power}"), NO_REGRET, || {
            small_collect(n)
        });
        book.row(format!("filter+collect 10^{power}"), NO_REGRET, || {
            small_filter(n)
        });
    }
    book.section("Sum of floats, the same each time; the other way: without that promise");
    for (n, power) in powers(7).skip(3) {
        let goal = Goal::Within(1.2, "tine, the other way", 0.0);
        book.row(format!("deterministic sum of 10^{power}"), goal, || {
            let mut cases = same_sum(n);
            let v: &'static [f64] = &floats()[..n];
            let plain = std::mem::replace(
                &mut cases[1],
                crate::race::case!(tine: black_box(v).par_iter().deterministic().sum::<f64>()),
            );
            cases.push(("tine, the other way", plain.1));
            cases
        });
    }
}
