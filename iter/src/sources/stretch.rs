//! Sources that do not know how many items they have, but how far they reach: a text has a number of
//! bytes, a slice that is split at separators a number of elements.
//!
//! Such a source is run as if each byte or element were an item. So it is cut into blocks of the size
//! that suits its cost so far, one folder goes on from block to block, and nothing is shared that is
//! not worth it. An item belongs to the place where it begins.
#![forbid(unsafe_code)]

use crate::plumbing::{
    Block, Consumer, Folder, Looked, Producer, UnindexedConsumer, bridge_producer_consumer,
};
use std::iter::{Once, once};

/// Something with places, at which it can be cut, and with items that begin at some of them.
pub(crate) trait Stretch: Send + Sized {
    /// What is fed to folders.
    type Item;

    /// The number of places.
    fn reach(&self) -> usize;

    /// The items that begin at the first `at` places, and the others.
    fn part(self, at: usize) -> (Self, Self);

    /// Feeds all items to a folder.
    fn feed<F: Folder<Self::Item>>(self, folder: F) -> F;
}

/// Runs a stretch into a consumer.
pub(crate) fn bridge_stretch<S, C>(stretch: S, consumer: C) -> C::Result
where
    S: Stretch,
    C: UnindexedConsumer<S::Item>,
{
    let reach = stretch.reach();
    bridge_producer_consumer(reach, Whole(stretch), Feed(consumer))
}

/// Produces what is left of a stretch, as one item, for as many places as that has.
struct Whole<S>(S);

impl<S: Stretch> Producer for Whole<S> {
    type Item = S;
    type IntoIter = Once<S>;

    fn into_iter(self) -> Once<S> {
        once(self.0)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.part(index);
        (Whole(left), Whole(right))
    }

    fn fold_with<F: Folder<S>>(self, folder: F) -> F {
        folder.consume(self.0)
    }
}

/// A consumer of stretches, made of a consumer of their items.
struct Feed<C>(C);

impl<S: Stretch, C: UnindexedConsumer<S::Item>> Consumer<S> for Feed<C> {
    type Folder = FeedFolder<C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = C::ADVANCES;
    const ENDS: bool = C::ENDS;
    const WORTH: u64 = C::WORTH;

    fn split_at(self, places: usize) -> (Self, Self, C::Reducer) {
        // What advances is asked to do so by places, and then has to be cut at places too.
        if C::ADVANCES {
            let (left, right, reducer) = self.0.split_at(places);
            return (Feed(left), Feed(right), reducer);
        }
        let left = self.0.split_off_left();
        let reducer = self.0.to_reducer();
        (Feed(left), self, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        FeedFolder {
            base: self.0.into_folder(),
            in_blocks: false,
        }
    }

    fn full(&self) -> bool {
        self.0.full()
    }

    fn advance(self, places: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let (base, rest) = self.0.advance(places, folder.map(|folder| folder.base));
        let in_blocks = true;
        (FeedFolder { base, in_blocks }, Feed(rest))
    }
}

/// The same at work.
struct FeedFolder<F> {
    base: F,
    /// Whether a stretch is a block, which is run without a look at tokens.
    in_blocks: bool,
}

impl<S: Stretch, F: Folder<S::Item>> Folder<S> for FeedFolder<F> {
    type Result = F::Result;

    fn consume(self, stretch: S) -> Self {
        let in_blocks = self.in_blocks;
        let base = match in_blocks {
            true => stretch.feed(Block(self.base)).0,
            false => stretch.feed(Looked::new(self.base)).into_inner(),
        };
        FeedFolder { base, in_blocks }
    }

    fn complete(self) -> F::Result {
        self.base.complete()
    }

    fn full(&self) -> bool {
        self.base.full()
    }
}
