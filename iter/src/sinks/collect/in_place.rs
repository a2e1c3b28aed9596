//! Writing each item once, to its final place.
//!
//! ```text
//!   target:  | items that were there | a a a a | b b . . | c c c c c c |
//!                                      ^ start of the place
//! ```
//!
//! The spare room of a vector is a *place*. It is cut as the iterator is cut, and each piece owns the items
//! that it has *written* to its stretch, from the left. Two neighbouring stretches are joined only if the left
//! stretch was filled to its end. Otherwise the right stretch drops its items, and the count at the end shows
//! it. So after any panic each item has exactly one owner: the piece that wrote it, or the vector once all
//! items are there.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, forget};
use std::ptr::{drop_in_place, slice_from_raw_parts_mut};

use crate::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use crate::sinks::huge;

/// Appends exactly `len` items, which `write` puts in place.
///
/// `write` returns the written stretch, and a value for the caller.
///
/// # Panics
///
/// If the number of items written is not `len`. Then `target` is as before.
pub(crate) fn write_in_place<T, R>(
    target: &mut Vec<T>,
    len: usize,
    write: impl for<'c> FnOnce(InPlace<'c, T>) -> (Written<'c, T>, R),
) -> R {
    target.reserve(len);
    let spare = &mut target.spare_capacity_mut()[..len];
    huge::advise(spare);
    let (written, result) = write(InPlace::new(spare));
    let count = written.len;
    assert!(
        count == len,
        "expected {len} total writes, but got {count}: the iterator is shorter than it said"
    );
    // From here on the vector is the owner.
    forget(written);
    // SAFETY: `reserve` made room for this many. The lifetime `'c` lets `write` return only what
    // came from its own place. That counts items from the first stretch on without a gap, and there
    // are `len` of them. So they cover the spare room that was given out.
    unsafe { target.set_len(target.len() + len) };
    result
}

/// Room for items that have not been written yet.
pub(crate) struct InPlace<'c, T> {
    start: *mut T,
    len: usize,
    /// Invariant in `'c`: a written stretch belongs to the place that it came from.
    scope: PhantomData<fn(&'c mut T) -> &'c mut T>,
}

// SAFETY: the place is exclusive, as `&mut [MaybeUninit<T>]` would be, and the items that will be written to it
// may go to other threads.
unsafe impl<T: Send> Send for InPlace<'_, T> {}

impl<'c, T> InPlace<'c, T> {
    fn new(spare: &'c mut [MaybeUninit<T>]) -> Self {
        Self::at(spare.as_mut_ptr().cast(), spare.len())
    }

    fn at(start: *mut T, len: usize) -> Self {
        let scope = PhantomData;
        InPlace { start, len, scope }
    }

    fn cut(self, index: usize) -> (Self, Self) {
        assert!(
            index <= self.len,
            "a place of {} items was cut at {index}",
            self.len
        );
        // SAFETY: `index` is inside the place, or at its end.
        let mid = unsafe { self.start.add(index) };
        (Self::at(self.start, index), Self::at(mid, self.len - index))
    }
}

impl<'c, T: Send> Consumer<T> for InPlace<'c, T> {
    type Folder = Written<'c, T>;
    type Reducer = Rejoin;
    type Result = Written<'c, T>;

    const ADVANCES: bool = true;
    const STEADY: bool = true;

    fn split_at(self, index: usize) -> (Self, Self, Rejoin) {
        let (left, right) = self.cut(index);
        (left, right, Rejoin)
    }

    fn into_folder(self) -> Written<'c, T> {
        let InPlace { start, len, scope } = self;
        Written {
            start,
            len: 0,
            room: len,
            scope,
        }
    }

    fn full(&self) -> bool {
        false
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let (next, rest) = self.cut(index);
        let next = next.into_folder();
        match folder {
            None => (next, rest),
            Some(mut folder) => {
                let end = folder.start.wrapping_add(folder.room);
                assert!(end == next.start, "a place was advanced past a gap");
                folder.room += next.room;
                (folder, rest)
            }
        }
    }
}

/// An iterator that knows its length although its type does not say so: if `opt_len` returns it,
/// cuts are by index.
impl<T: Send> UnindexedConsumer<T> for InPlace<'_, T> {
    fn split_off_left(&self) -> Self {
        panic!("the iterator knew its length, but is not driven by index")
    }

    fn to_reducer(&self) -> Rejoin {
        Rejoin
    }
}

/// A stretch with its first `len` items written, and their owner.
pub(crate) struct Written<'c, T> {
    start: *mut T,
    len: usize,
    room: usize,
    scope: PhantomData<fn(&'c mut T) -> &'c mut T>,
}

// SAFETY: it owns its items and its room exclusively, as a `Vec<T>` would.
unsafe impl<T: Send> Send for Written<'_, T> {}

impl<T> Drop for Written<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the first `len` items are initialised, and nothing else owns them.
        unsafe { drop_in_place(slice_from_raw_parts_mut(self.start, self.len)) }
    }
}

impl<T> Written<'_, T> {
    #[inline]
    fn push(&mut self, item: T) {
        assert!(
            self.len < self.room,
            "too many values: the iterator is longer than it said"
        );
        // SAFETY: `len < room`, so this is inside the stretch.
        let slot = unsafe { self.start.add(self.len) };
        // SAFETY: nothing is initialised there, and the room is ours.
        unsafe { slot.write(item) };
        self.len += 1;
    }
}

impl<'c, T: Send> Folder<T> for Written<'c, T> {
    type Result = Self;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.push(item);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        // The check of each item does not keep the loop from being vectorised.
        items.into_iter().for_each(|item| self.push(item));
        self
    }

    fn complete(self) -> Self {
        self
    }

    fn full(&self) -> bool {
        false
    }
}

/// Joins two neighbouring stretches.
pub(crate) struct Rejoin;

impl<'c, T> Reducer<Written<'c, T>> for Rejoin {
    fn reduce(self, mut left: Written<'c, T>, right: Written<'c, T>) -> Written<'c, T> {
        let end = left.start.wrapping_add(left.len);
        if left.len == left.room && end == right.start {
            left.len += right.len;
            left.room += right.room;
            forget(right);
        }
        left
    }
}
