//! Collecting into memory: each item is written to its final place.
//!
//! An iterator that knows its length writes its items [in place](in_place). The space is reserved once, each
//! piece gets its own stretch of it, and the stretches are joined as the pieces are joined. An iterator of
//! unknown length fills [fragments], a vector for each contiguous piece. These are moved once, in parallel, to
//! their final place.

pub(crate) mod fragments;
pub(crate) mod in_place;
pub(crate) mod text;

use self::fragments::{Fragments, Items, gather_by};
use self::in_place::write_in_place;
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::sinks::pair::{Halves, Pair};

/// Replaces the content of `target` by the items, in place.
pub(crate) fn collect_into_vec<I: IndexedParallelIterator>(iter: I, target: &mut Vec<I::Item>) {
    target.clear();
    let len = iter.len();
    write_in_place(target, len, |place| (iter.drive(place), ()))
}

/// Replaces the content of both vectors by the halves of pairs, in place.
pub(crate) fn unzip_into_vecs<I, A, B>(iter: I, left: &mut Vec<A>, right: &mut Vec<B>)
where
    I: IndexedParallelIterator<Item = (A, B)>,
    A: Send,
    B: Send,
{
    left.clear();
    right.clear();
    let len = iter.len();
    write_in_place(left, len, |to_left| {
        let lefts = write_in_place(right, len, |to_right| {
            let (lefts, rights) = iter.drive(Pair::new(&Halves, to_left, to_right));
            (rights, lefts)
        });
        (lefts, ())
    })
}

/// Appends the items to `target`: in place if their number is known.
#[expect(
    clippy::collapsible_if,
    reason = "a constant condition alone leaves the block out of the program"
)]
pub(crate) fn append<I: ParallelIterator>(iter: I, target: &mut Vec<I::Item>) {
    if const { may_know::<I>() } {
        if let Some(len) = iter.opt_len() {
            return write_in_place(target, len, |place| (iter.drive_unindexed(place), ()));
        }
    }
    if const { may_not_know::<I>() } {
        return gather_by::<Items, _>(iter).append_to(target);
    }
    unreachable!("an iterator that always knows its length did not")
}

/// The items in fragments. If their number is known, a single fragment is made, in place.
#[expect(
    clippy::collapsible_if,
    reason = "a constant condition alone leaves the block out of the program"
)]
pub(crate) fn gather<I: ParallelIterator>(iter: I) -> Fragments<I::Item> {
    if const { !may_know::<I>() } {
        return gather_by::<Items, _>(iter);
    }
    if const { may_not_know::<I>() } {
        if iter.opt_len().is_none() {
            return gather_by::<Items, _>(iter);
        }
    }
    let mut items = Vec::new();
    append(iter, &mut items);
    items.into()
}

const fn may_know<I: ParallelIterator>() -> bool {
    !matches!(I::KNOWS_LEN, Some(false))
}

const fn may_not_know<I: ParallelIterator>() -> bool {
    !matches!(I::KNOWS_LEN, Some(true))
}
