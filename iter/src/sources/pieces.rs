//! Splitting at places that a rule finds: separators, line ends, changes of key.
//!
//! ```text
//!   body    [ . . | . . . . | . . . . . . . ]
//!             0             cut   open    size
//!             <-- may hold cuts --><- none ->
//! ```
//!
//! A search that met no cut is remembered by moving `open` to the left. So nothing is searched twice
//! on the way from the whole to a block.
#![forbid(unsafe_code)]

use super::body::Body;
use super::stretch::Stretch;
use crate::plumbing::Folder;
use std::iter::FusedIterator;
use std::ops::Range;

/// Where a body may be cut, and what its pieces look like.
pub(crate) trait Rule<B>: Copy + Send {
    /// The first cut within `range`.
    fn first(self, body: &B, range: Range<usize>) -> Option<usize>;

    /// What lies on either side of the cut `at`.
    fn cut(self, body: B, at: usize) -> (B, B);

    /// Feeds all pieces of a body to a folder. No cut lies at `open` or beyond, except at the very end: so
    /// what is there need not be read.
    fn fold<F: Folder<B>>(self, body: B, open: usize, folder: F) -> F;
}

/// Feeds the `pieces` before the last cut to a folder, then the one behind it, if that is a piece.
pub(crate) fn fold_pieces<B, R, I, F>(
    rule: R,
    body: B,
    last_cut: Option<usize>,
    pieces: impl FnOnce(B) -> I,
    last: impl FnOnce(B) -> Option<B>,
    folder: F,
) -> F
where
    B: Body,
    R: Rule<B>,
    I: FusedIterator<Item = B>,
    F: Folder<B>,
{
    let (front, body) = match last_cut {
        Some(at) => rule.cut(body, at),
        None => body.cut(0),
    };
    let mut front = pieces(front);
    if last_cut.is_none() {
        front.next();
    }
    let last = last(body);
    folder.consume_iter(Both { front, last })
}

/// The pieces in front, and the last one. All come out at one place: if there were two, the compiler would
/// inline the user's closure at neither.
struct Both<I, B> {
    front: I,
    last: Option<B>,
}

impl<I: FusedIterator<Item = B>, B> Iterator for Both<I, B> {
    type Item = B;

    #[inline]
    fn next(&mut self) -> Option<B> {
        self.front.next().or_else(|| self.last.take())
    }
}

/// The pieces of a body, each at the place where it begins.
pub(crate) struct Pieces<B, R> {
    /// None if no piece begins here.
    body: Option<B>,
    rule: R,
    /// No cut of the body lies at this position or beyond.
    open: usize,
    /// How many places there are, and how many of them are before the body.
    reach: usize,
    before: usize,
}

impl<B: Body, R: Rule<B>> Pieces<B, R> {
    pub(crate) fn new(body: B, rule: R) -> Self {
        let reach = body.size();
        Pieces {
            body: Some(body),
            rule,
            open: reach,
            reach,
            before: 0,
        }
    }
}

impl<B: Body, R: Rule<B>> Stretch for Pieces<B, R> {
    type Item = B;

    fn reach(&self) -> usize {
        self.reach
    }

    fn part(self, at: usize) -> (Self, Self) {
        let Pieces {
            body,
            rule,
            open,
            reach,
            before,
        } = self;
        let behind = reach
            .checked_sub(at)
            .unwrap_or_else(|| panic!("{reach} places were cut at {at}"));
        let part = |body, open, reach, before| Pieces {
            body,
            rule,
            open,
            reach,
            before,
        };
        let Some(body) = body else {
            return (part(None, 0, at, 0), part(None, 0, behind, 0));
        };
        if at <= before {
            let right = part(Some(body), open, behind, before - at);
            return (part(None, 0, at, 0), right);
        }
        let place = at - before;
        let from = body.boundary(place);
        let size = body.size();
        match (from < open).then(|| rule.first(&body, from..open)) {
            Some(Some(cut)) => {
                let (left, right) = rule.cut(body, cut);
                let start = size - right.size();
                (
                    part(Some(left), from, at, before),
                    part(
                        Some(right),
                        open.saturating_sub(start),
                        behind,
                        start - place,
                    ),
                )
            }
            // One piece reaches from before the cut to the end.
            _ => (
                part(Some(body), open.min(from), at, before),
                part(None, 0, behind, 0),
            ),
        }
    }

    fn feed<F: Folder<B>>(self, folder: F) -> F {
        match self.body {
            Some(body) => self.rule.fold(body, self.open, folder),
            None => folder,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::plumbing::{Folder, UnindexedProducer};
    use crate::sources::stretch::tests::Keep;

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
