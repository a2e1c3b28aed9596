//! A search of an unbalanced tree whose shape is known only by walking it: a hash decides whether a
//! node has eight children or none, and nearly all of the tree hangs below seven of the root's
//! sixty-four children.
#![forbid(unsafe_code)]

use super::nanoseconds_each;
use crate::cases;
use crate::peers::{Peer, Sequential};
use crate::row::{How, Row, Size};
use std::{hint::black_box, sync::LazyLock};

/// The rows of this file.
pub const ROWS: &[Row] = &[Row {
    name: "unbalanced tree search",
    unit: "ns per node",
    sizes: &[Size::One, Size::Cores, Size::Crowd],
    how: How::Together,
    above: None,
    cases: cases!(sample),
}];

/// One of the seeds that grow about a million nodes.
const SEED: u64 = 22_000_066;
const ROOT_CHILDREN: u64 = 64;
const CHILDREN: u64 = 8;
/// Of 2³²: one node in five has children.
const FERTILE: u64 = (1 << 32) / 5;
/// The depth at which the tree ends, so that the stack does not overflow.
const DEPTH: u32 = 18;

static NODES: LazyLock<usize> = LazyLock::new(nodes::<Sequential>);

fn hash(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Nodes at and below the children `from..to` of `parent`, which have `depth`
/// generations below them at most.
fn children<P: Peer>(cx: P::Cx<'_>, parent: u64, depth: u32, from: u64, to: u64) -> usize {
    if to - from == 1 {
        return node::<P>(cx, hash(parent.wrapping_add(from)), depth);
    }
    let middle = from.midpoint(to);
    let (a, b) = P::join(
        cx,
        |cx| children::<P>(cx, parent, depth, from, middle),
        |cx| children::<P>(cx, parent, depth, middle, to),
    );
    a + b
}

fn node<P: Peer>(cx: P::Cx<'_>, name: u64, depth: u32) -> usize {
    let fertile = depth > 0 && name >> 32 < FERTILE;
    1 + if fertile {
        children::<P>(cx, name, depth - 1, 0, CHILDREN)
    } else {
        0
    }
}

/// Searches the whole tree, and counts its nodes less the root.
pub fn nodes<P: Peer>() -> usize {
    P::enter(|cx| children::<P>(cx, black_box(SEED), DEPTH, 0, ROOT_CHILDREN))
}

fn sample<P: Peer>() -> f64 {
    assert_eq!(nodes::<P>(), *NODES);
    nanoseconds_each(*NODES, || assert_eq!(nodes::<P>(), *NODES))
}
