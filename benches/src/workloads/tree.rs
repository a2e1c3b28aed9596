//! Trees of joins without a cut-off: what a fork costs when no thread needs it.
#![forbid(unsafe_code)]

use super::nanoseconds_each;
use crate::cases;
use crate::peers::Peer;
use crate::row::{How, Row, Size};
use std::hint::black_box;

/// The rows of this file.
pub const ROWS: &[Row] = &[
    Row {
        name: "tree of joins, depth 20",
        unit: "ns per join",
        sizes: &[Size::One, Size::Cores, Size::Crowd],
        how: How::Together,
        above: Some("tree of joins, above plain calls"),
        cases: cases!(sample_tree),
    },
    Row {
        name: "fib(32)",
        unit: "ns per join",
        sizes: &[Size::One, Size::Cores, Size::Crowd],
        how: How::Seldom,
        above: Some("fib(32), above plain calls"),
        cases: cases!(sample_fib),
    },
];

const DEPTH: u32 = 20;
const FIB: u32 = 32;
const FIB_JOINS: usize = 3_524_577;

/// The leaves of a full binary tree. (The empty `black_box` costs nothing and keeps the plain calls
/// as they are: without it the compiler finds out that both halves are the same, or turns one call
/// into a loop.)
#[inline(never)]
pub fn tree<P: Peer>(cx: P::Cx<'_>, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = P::join(
        cx,
        |cx| tree::<P>(cx, depth - 1),
        |cx| tree::<P>(cx, depth - 1),
    );
    black_box(());
    a + b
}

/// Fibonacci's numbers the slow way.
#[inline(never)]
pub fn fib<P: Peer>(cx: P::Cx<'_>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = P::join(cx, |cx| fib::<P>(cx, n - 1), |cx| fib::<P>(cx, n - 2));
    black_box(());
    a + b
}

fn sample_tree<P: Peer>() -> f64 {
    let run = || assert_eq!(P::enter(|cx| tree::<P>(cx, black_box(DEPTH))), 1 << DEPTH);
    run();
    nanoseconds_each((1 << DEPTH) - 1, run)
}

fn sample_fib<P: Peer>() -> f64 {
    let run = |n| P::enter(|cx| fib::<P>(cx, black_box(n)));
    run(20);
    nanoseconds_each(FIB_JOINS, || assert_eq!(run(FIB), 2_178_309))
}
