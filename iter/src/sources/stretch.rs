//! Sources that do not know how many items they have, but know how far they reach: a text has a
//! number of bytes, and a slice that is split at separators has a number of elements.
//!
//! Such a source is run as if each byte or element were an item. So it is cut into blocks whose
//! size suits the cost so far, one folder goes on from block to block, and work is shared only
//! where that pays. An item belongs to the place where it begins.
#![forbid(unsafe_code)]

use crate::plumbing::{
    Block, Consumer, Folder, Looked, Producer, UnindexedConsumer, Went, bridge_behind,
    bridge_producer_consumer,
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

/// Runs a stretch behind the items that `folder` has taken.
pub(crate) fn stretch_behind<S, C>(
    stretch: S,
    to: impl FnOnce() -> C,
    folder: Option<C::Folder>,
) -> Went<C::Folder, C::Result>
where
    S: Stretch,
    C: UnindexedConsumer<S::Item>,
{
    let reach = stretch.reach();
    let went = bridge_behind(reach, Whole(stretch), || Feed(to()), folder.map(FeedFolder));
    went.map(|folder| folder.0)
}

/// Produces the rest of a stretch, as one item, for as many places as the rest has.
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
    type Folder = FeedFolder<C, S::Item>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = C::ADVANCES;
    const ENDS: bool = C::ENDS;

    fn worth(&self) -> u64 {
        self.0.worth()
    }

    fn split_at(self, places: usize) -> (Self, Self, C::Reducer) {
        // A consumer that advances does so by places, so it must be cut at places too.
        if C::ADVANCES {
            let (left, right, reducer) = self.0.split_at(places);
            return (Feed(left), Feed(right), reducer);
        }
        let left = self.0.split_off_left();
        let reducer = self.0.to_reducer();
        (Feed(left), self, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        FeedFolder(self.0.into_folder())
    }

    fn full(&self) -> bool {
        self.0.full()
    }

    fn advance(self, places: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let (folder, rest) = self.0.advance(places, folder.map(|folder| folder.0));
        (FeedFolder(folder), Feed(rest))
    }
}

/// The same at work.
struct FeedFolder<C: Consumer<T>, T>(C::Folder);

impl<S: Stretch, C: Consumer<S::Item>> Folder<S> for FeedFolder<C, S::Item> {
    type Result = C::Result;

    /// Once for a block, and so the one place of the loop over its items.
    #[inline(never)]
    fn consume(self, stretch: S) -> Self {
        // A consumer that advances looks at tokens between blocks.
        FeedFolder(match C::ADVANCES {
            true => stretch.feed(Block(self.0)).0,
            false => stretch.feed(Looked::new(self.0)).into_inner(),
        })
    }

    fn complete(self) -> C::Result {
        self.0.complete()
    }

    fn full(&self) -> bool {
        self.0.full()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::Stretch;
    use crate::plumbing::Folder;

    /// A folder that keeps what it gets.
    pub(crate) struct Keep<T>(pub(crate) Vec<T>);

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

    fn items<S: Stretch>(stretch: S, into: Keep<S::Item>) -> Keep<S::Item> {
        stretch.feed(into)
    }

    /// Whether a stretch has the same items whole and in any three parts, cut from the left or from the
    /// right first; and whether a place beyond its end is refused.
    pub(crate) fn agrees<S: Stretch<Item: PartialEq + std::fmt::Debug>>(make: impl Fn() -> S) {
        let whole = make().feed(Keep(Vec::new())).0;
        let reach = make().reach();
        for to in 0..=reach {
            for from in 0..=to {
                let (left, right) = make().part(to);
                assert_eq!((left.reach(), right.reach()), (to, reach - to));
                let (left, middle) = left.part(from);
                let parts = [left, middle, right];
                let found = parts
                    .into_iter()
                    .fold(Keep(Vec::new()), |found, s| items(s, found));
                assert_eq!(found.0, whole, "in parts up to {from} and {to}");

                let (left, right) = make().part(from);
                let (middle, right) = right.part(to - from);
                let parts = [left, middle, right];
                let found = parts
                    .into_iter()
                    .fold(Keep(Vec::new()), |found, s| items(s, found));
                assert_eq!(found.0, whole, "in parts from {from} and {to}");
            }
        }
        let beyond = std::panic::AssertUnwindSafe(|| drop(make().part(reach + 1)));
        assert!(std::panic::catch_unwind(beyond).is_err());
    }
}
