//! A source that a closure splits.
#![forbid(unsafe_code)]

use crate::plumbing::{Folder, UnindexedProducer};
use crate::sources::kit::unindexed;
use std::fmt;

/// Parallel iterator over the parts that a closure splits some data into.
///
/// Made by [`split`].
///
/// ```
/// use tine::{iter::{Split, split}, prelude::*};
///
/// let whole: Split<_, _> = split(7, |n: i32| (n, None));
/// assert_eq!(whole.sum::<i32>(), 7);
/// ```
#[derive(Clone)]
pub struct Split<D, S> {
    data: D,
    splitter: S,
}

/// Splits `data` by calling `splitter` as often as is useful, and hands out the parts, each as one
/// item.
///
/// If the data is not worth splitting, the splitter returns it whole, with `None`. It must do so at
/// some size, since parts that take long are split further. The number of calls depends on how many
/// threads are idle, so a part may be of any size.
///
/// ```
/// use std::ops::Range;
/// use tine::iter::split;
/// use tine::prelude::*;
///
/// fn halves(range: Range<u64>) -> (Range<u64>, Option<Range<u64>>) {
///     let middle = range.start + (range.end - range.start) / 2;
///     if middle == range.start {
///         return (range, None);
///     }
///     (range.start..middle, Some(middle..range.end))
/// }
///
/// let total: u64 = split(0..1000, halves).map(|part| part.sum::<u64>()).sum();
/// assert_eq!(total, 499_500);
/// ```
pub fn split<D, S>(data: D, splitter: S) -> Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    Split { data, splitter }
}

impl<D: fmt::Debug, S> fmt::Debug for Split<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Split").field("data", &self.data).finish()
    }
}

unindexed! {
    [D: Send, S: Fn(D) -> (D, Option<D>) + Sync + Send] Split<D, S> => D;
    producer(it) Part { data: it.data, splitter: &it.splitter };
}

/// Produces one part, or what it is split into.
struct Part<'s, D, S> {
    data: D,
    splitter: &'s S,
}

impl<D, S> UnindexedProducer for Part<'_, D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    type Item = D;

    fn split(self) -> (Self, Option<Self>) {
        let splitter = self.splitter;
        let (left, right) = splitter(self.data);
        let part = |data| Part { data, splitter };
        (part(left), right.map(part))
    }

    fn fold_with<F: Folder<D>>(self, folder: F) -> F {
        folder.consume(self.data)
    }
}
