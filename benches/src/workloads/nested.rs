//! A loop of 1,000 around loops of 10,000, both by joins that halve a range. The outer loop would
//! be enough to use all threads, so the inner loops must cost nothing.
#![forbid(unsafe_code)]

use super::nanoseconds_each;
use crate::cases;
use crate::peers::Peer;
use crate::row::{How, Row, Size};
use std::{hint::black_box, ops::Range};

/// The rows of this file.
pub const ROWS: &[Row] = &[Row {
    name: "nested loops, 1000 × 10,000",
    unit: "ns per inner loop",
    sizes: &[Size::One, Size::Cores, Size::Crowd],
    how: How::Together,
    above: None,
    cases: cases!(sample),
}];

const OUTER: u64 = 1_000;
const INNER: u64 = 10_000;
const GRAIN: u64 = 64;

/// One piece of machine code for all peers, so that none is lucky with its loop.
#[inline(never)]
fn leaf(range: Range<u64>) -> u64 {
    range.fold(0, |sum, x| sum ^ black_box(x).wrapping_mul(x))
}

fn inner<P: Peer>(cx: P::Cx<'_>, range: Range<u64>) -> u64 {
    if range.end - range.start <= GRAIN {
        return leaf(range);
    }
    let middle = range.start.midpoint(range.end);
    let (a, b) = P::join(
        cx,
        |cx| inner::<P>(cx, range.start..middle),
        |cx| inner::<P>(cx, middle..range.end),
    );
    a ^ b
}

fn outer<P: Peer>(cx: P::Cx<'_>, range: Range<u64>) -> u64 {
    if range.end - range.start == 1 {
        return inner::<P>(cx, range.start..range.start + INNER);
    }
    let middle = range.start.midpoint(range.end);
    let (a, b) = P::join(
        cx,
        |cx| outer::<P>(cx, range.start..middle),
        |cx| outer::<P>(cx, middle..range.end),
    );
    a.wrapping_add(b)
}

/// The whole double loop; `outer_end` is how long the outer one is.
pub fn nested<P: Peer>(outer_end: u64) -> u64 {
    P::enter(|cx| outer::<P>(cx, 0..black_box(outer_end)))
}

fn sample<P: Peer>() -> f64 {
    nested::<P>(OUTER / 10);
    nanoseconds_each(OUTER as usize, || {
        black_box(nested::<P>(OUTER));
    })
}
