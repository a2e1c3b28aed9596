//! Folders that go on with the items of another iterator: how `flat_map` runs its inner iterators.
//!
//! An inner iterator is run like any other. But it begins with the folder that took the items of the inner
//! iterators before it, and hands it back unless another thread took a part. So there is one folder, and one more
//! for each part that another thread took, however many inner iterators there are. Where an inner iterator is
//! cut in advance, or comes from outside, the folder is completed first.
#![forbid(unsafe_code)]

use super::bridge::bridge_behind;
use super::traits::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, Went,
};
use crate::iter::ParallelIterator;

/// Runs an iterator of tine, which may be indexed. `to` makes the consumer, if one is needed.
#[inline]
pub(crate) fn go_on<I, C>(
    iter: I,
    to: impl FnOnce() -> C,
    folder: Option<C::Folder>,
) -> Went<C::Folder, C::Result>
where
    I: ParallelIterator,
    C: UnindexedConsumer<I::Item>,
{
    match iter.opt_len() {
        Some(_) if C::ADVANCES => iter.with_items(|len| GoOn { len, to, folder }),
        _ => apart(iter, to, folder),
    }
}

struct GoOn<M, F> {
    len: usize,
    to: M,
    folder: Option<F>,
}

impl<T, C: Consumer<T>, M: FnOnce() -> C> ProducerCallback<T> for GoOn<M, C::Folder> {
    type Output = Went<C::Folder, C::Result>;

    fn callback<P: Producer<Item = T>>(self, producer: P) -> Self::Output {
        bridge_behind(self.len, producer, self.to, self.folder)
    }
}

/// Runs an iterator apart from the items before.
pub(crate) fn apart<I, C>(
    iter: I,
    to: impl FnOnce() -> C,
    folder: Option<C::Folder>,
) -> Went<C::Folder, C::Result>
where
    I: ParallelIterator,
    C: UnindexedConsumer<I::Item>,
{
    let to = to();
    Went::Closed(match folder.map(Folder::complete) {
        None => iter.drive_unindexed(to),
        Some(so_far) if const { C::RESUMES && I::KEEPS_ALL } => {
            iter.drive_unindexed(to.resume(so_far))
        }
        Some(so_far) => {
            let reducer = to.to_reducer();
            reducer.reduce(so_far, iter.drive_unindexed(to))
        }
    })
}
