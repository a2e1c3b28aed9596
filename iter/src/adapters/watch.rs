//! `Watch`: the item, seen by a watcher that keeps a state for each contiguous piece.
//!
//! This is what progress bars are made of: a watcher counts in its state and tells the bar now and
//! then. The state is dropped when the piece has ended.

use crate::kit::debug_base;
use crate::kit::each::{Each, each};

/// What looks at the items as they pass.
pub trait Watcher: Send + Sync {
    /// What is kept for one contiguous piece, and dropped at its end.
    type Piece;

    /// A piece begins.
    fn begin(&self) -> Self::Piece;

    /// One item of it passes.
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
    /// The items of `base`, watched by `watcher`, which is dropped when all are done.
    pub fn new(base: I, watcher: W) -> Self {
        Watch { base, watcher }
    }
}

debug_base!(Watch<I, W>);

struct Look<'w, W>(&'w W);

impl<T, W: Watcher> Each<T> for Look<'_, W> {
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
    |Watch { base, watcher }| (base, Look(&watcher))
}
