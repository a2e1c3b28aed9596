//! A million empty tasks spawned in a scope: their time and their memory. And scopes that open scopes.
#![forbid(unsafe_code)]

use super::nanoseconds_each;
use crate::cases;
use crate::peers::{Scopes, Spawns};
use crate::row::{How, Row, Size};
use crate::usage::peak_memory;
use std::hint::black_box;

/// The rows of this file. With one thread, all tasks are queued before any runs.
pub const ROWS: &[Row] = &[
    Row {
        name: "10⁶ empty spawns in a scope, time",
        unit: "ns per task",
        sizes: &[Size::One, Size::Cores, Size::Crowd],
        how: How::Seldom,
        above: None,
        cases: cases!(sample_time: Tine, Rayon, Forte),
    },
    Row {
        name: "10⁶ empty spawns in a scope, peak memory",
        unit: "bytes per task",
        sizes: &[Size::One, Size::Cores],
        how: How::Alone,
        above: None,
        cases: cases!(sample_memory: Tine, Rayon, Forte),
    },
    Row {
        name: "fib(20), each call a scope with one task",
        unit: "ns per scope",
        sizes: &[Size::One, Size::Cores, Size::Crowd],
        how: How::Together,
        above: None,
        cases: cases!(sample_scopes: Tine, Rayon),
    },
];

const FIB: u32 = 20;
const FIB_SCOPES: usize = 10_945;

const TASKS: usize = 1_000_000;

fn sample_time<P: Spawns>() -> f64 {
    P::spawn_each(1_000, || black_box(()));
    nanoseconds_each(TASKS, || P::spawn_each(TASKS, || black_box(())))
}

fn sample_memory<P: Spawns>() -> f64 {
    P::spawn_each(100, || black_box(()));
    let before = peak_memory();
    P::spawn_each(TASKS, || black_box(()));
    (peak_memory() - before) as f64 / TASKS as f64
}

fn fib<P: Scopes>(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (mut a, mut b) = (0, 0);
    P::halves(|| a = fib::<P>(n - 1), || b = fib::<P>(n - 2));
    a + b
}

fn sample_scopes<P: Scopes>() -> f64 {
    let run = |n| P::enter(|_| fib::<P>(black_box(n)));
    run(10);
    nanoseconds_each(FIB_SCOPES, || assert_eq!(run(FIB), 6765))
}
