//! Splitting at places that a rule finds: separators, line ends, changes of key.
//!
//! ```text
//!   body    [ . . | . . . . | . . . . . . . ]
//!             0             cut   open    size
//!             <-- may hold cuts --><- none ->
//! ```
//!
//! A search that met no cut is remembered by moving `open` to the left. So no stretch is searched
//! twice on the way from the whole to a leaf.
#![forbid(unsafe_code)]

use super::body::Body;
use crate::plumbing::{Folder, UnindexedProducer};
use std::ops::Range;

/// Where a body may be cut, and what its pieces look like.
pub(crate) trait Rule<B>: Copy + Send {
    /// The first cut within `range`.
    fn first(self, body: &B, range: Range<usize>) -> Option<usize>;

    /// The last cut before `end`.
    fn last(self, body: &B, end: usize) -> Option<usize>;

    /// What lies on either side of the cut `at`.
    fn cut(self, body: B, at: usize) -> (B, B);

    /// Feeds all pieces of a body to a folder.
    fn fold<F: Folder<B>>(self, body: B, folder: F) -> F;

    /// Feeds a body that is known to hold no cut.
    fn piece<F: Folder<B>>(self, body: B, folder: F) -> F {
        folder.consume(body)
    }
}

/// Produces the pieces of a body.
pub(crate) struct Pieces<B, R> {
    body: B,
    rule: R,
    /// No cut lies at this position or beyond.
    open: usize,
}

impl<B: Body, R: Rule<B>> Pieces<B, R> {
    pub(crate) fn new(body: B, rule: R) -> Self {
        let open = body.size();
        Pieces { body, rule, open }
    }
}

impl<B: Body, R: Rule<B>> UnindexedProducer for Pieces<B, R> {
    type Item = B;

    fn split(self) -> (Self, Option<Self>) {
        let Pieces { body, rule, open } = self;
        let middle = body.middle(open);
        let size = body.size();
        let part = |body, open| Pieces { body, rule, open };
        if let Some(at) = rule.first(&body, middle..open) {
            let (left, right) = rule.cut(body, at);
            let skipped = size - right.size();
            (part(left, middle), Some(part(right, open - skipped)))
        } else if let Some(at) = rule.last(&body, middle) {
            let (left, right) = rule.cut(body, at);
            (part(left, at), Some(part(right, 0)))
        } else {
            (part(body, 0), None)
        }
    }

    fn fold_with<F: Folder<B>>(self, folder: F) -> F {
        let Pieces { body, rule, open } = self;
        if open == body.size() {
            return rule.fold(body, folder);
        }
        let Some(at) = rule.last(&body, open) else {
            return rule.piece(body, folder);
        };
        let (left, right) = rule.cut(body, at);
        let folder = rule.fold(left, folder);
        if folder.full() {
            folder
        } else {
            rule.piece(right, folder)
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::plumbing::{Folder, UnindexedProducer};

    /// A folder that keeps what it gets.
    struct Keep<T>(Vec<T>);

    impl<T> Folder<T> for Keep<T> {
        type Result = Vec<T>;

        fn consume(mut self, item: T) -> Self {
            self.0.push(item);
            self
        }

        fn complete(self) -> Vec<T> {
            self.0
        }

        fn full(&self) -> bool {
            false
        }
    }

    /// The items of a producer that is never split.
    pub(crate) fn sequential<P: UnindexedProducer>(producer: P) -> Vec<P::Item> {
        producer.fold_with(Keep(Vec::new())).complete()
    }

    /// The items of a producer that is split as often as it allows, but nowhere deeper than
    /// `depth`.
    pub(crate) fn leaves<P: UnindexedProducer>(producer: P, depth: usize) -> Vec<P::Item> {
        if depth == 0 {
            return sequential(producer);
        }
        let (left, right) = producer.split();
        let mut items = leaves(left, depth - 1);
        if let Some(right) = right {
            items.extend(leaves(right, depth - 1));
        }
        items
    }
}
