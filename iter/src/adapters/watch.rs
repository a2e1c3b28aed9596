//! `Watch`: the item, seen by a watcher that keeps a state for each contiguous piece.
//!
//! Progress bars use this: a watcher counts in its state and tells the bar now and then. The state
//! is dropped when the piece has ended.

use crate::kit::debug_base;
use crate::kit::each::{Each, each};

/// Looks at the items as they pass.
pub trait Watcher: Send + Sync {
    /// The state of one contiguous piece, dropped at its end.
    type Piece;

    /// Begins a piece.
    fn begin(&self) -> Self::Piece;

    /// Sees one item of the piece pass.
    fn pass(&self, piece: &mut Self::Piece);
}

/// A parallel iterator whose items are watched as they pass.
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct Watch<I, W> {
    base: I,
    watcher: W,
}

impl<I, W> Watch<I, W> {
    /// The items of `base`, watched by `watcher`. The watcher is dropped when all items are done.
    pub fn new(base: I, watcher: W) -> Self {
        Watch { base, watcher }
    }
}

debug_base!(Watch<I, W>);

struct Look<W>(W);

impl<T, W: Watcher> Each<T> for Look<W> {
    type State = W::Piece;
    type Out = T;
    const COSTLY: bool = true;

    fn start(&self) -> W::Piece {
        self.0.begin()
    }

    #[inline]
    fn each(&self, piece: &mut W::Piece, item: T) -> T {
        self.0.pass(piece);
        item
    }
}

each! {
    [I, W] Watch<I, W> => I::Item,
    where [W: Watcher],
    |Watch { base, watcher }| (base, Look(watcher))
}
