//! The same loops by peers that offer a join and no iterators: halves of halves, as their users
//! would write them, down to pieces that are worth a join.

use tine_bench::peers::{Chili, Forte, Peer};

use crate::race::{Case, sample};

/// Starts the peers of this file with as many threads as the others have.
///
/// # Panics
///
/// If one of them has been started before, or cannot have that number of threads.
pub fn start(threads: usize) {
    assert!(Chili::start(threads), "the first use of chili");
    assert!(Forte::start(threads), "the first use of forte");
}

/// The sum of `each` of the items, in pieces of at most `piece`: a case for each of the peers.
pub fn cases(
    items: &'static [u64],
    piece: usize,
    each: impl Fn(&u64) -> u64 + Copy + Send + Sync + 'static,
) -> Vec<Case> {
    vec![
        ("chili", sample(move || sum::<Chili>(items, piece, each))),
        ("forte", sample(move || sum::<Forte>(items, piece, each))),
    ]
}

fn sum<P: Peer>(items: &[u64], piece: usize, each: impl Fn(&u64) -> u64 + Copy + Sync) -> u64 {
    let items = std::hint::black_box(items);
    if items.len() <= piece {
        return items.iter().map(each).sum();
    }
    P::enter(|cx| halves::<P>(cx, items, piece, &each))
}

fn halves<P: Peer>(
    cx: P::Cx<'_>,
    items: &[u64],
    piece: usize,
    each: &(impl Fn(&u64) -> u64 + Sync),
) -> u64 {
    if items.len() <= piece {
        return items.iter().map(each).sum();
    }
    let (left, right) = items.split_at(items.len() / 2);
    let (left, right) = P::join(
        cx,
        |cx| halves::<P>(cx, left, piece, each),
        |cx| halves::<P>(cx, right, piece, each),
    );
    left.wrapping_add(right)
}
