//! Making a value from each element of a slice, beside it.
//!
//! This is a consumer of the elements for the usual loop of a parallel iterator: the loop finds out whether the
//! values are expensive, and shares them if they are.
#![forbid(unsafe_code)]

use std::mem::MaybeUninit;

use crate::convert::IntoParallelRefMutIterator;
use crate::iter::IndexedParallelIterator;
use crate::plumbing::{Consumer, Folder, Reducer};

/// Writes what `make` makes from each element and its number to the place with that number.
///
/// When it returns, all places have been written.
pub(super) fn each<T, R, M>(v: &mut [T], room: &mut [MaybeUninit<R>], make: M)
where
    T: Send,
    R: Copy + Send,
    M: Fn(usize, &T) -> R + Copy + Send,
{
    let len = v.len();
    assert_eq!(len, room.len());
    let written = v.par_iter_mut().drive(Places { at: 0, room, make });
    assert_eq!(written, len, "each element came once");
}

/// Places for what is made from the elements from number `at` on.
struct Places<'a, R, M> {
    at: usize,
    room: &'a mut [MaybeUninit<R>],
    /// Not behind a reference: then its captures would be read again for each element.
    make: M,
}

impl<R, M: Copy> Places<'_, R, M> {
    fn cut(self, index: usize) -> (Self, Self) {
        let Places { at, room, make } = self;
        let (left, right) = room.split_at_mut(index);
        let with = |at, room| Places { at, room, make };
        (with(at, left), with(at + index, right))
    }
}

impl<'a, T, R, M> Consumer<&mut T> for Places<'a, R, M>
where
    R: Copy + Send,
    M: Fn(usize, &T) -> R + Copy + Send,
{
    type Folder = Written<'a, R, M>;
    type Reducer = Both;
    type Result = usize;

    const ADVANCES: bool = true;
    const STEADY: bool = true;

    fn split_at(self, index: usize) -> (Self, Self, Both) {
        let (left, right) = self.cut(index);
        (left, right, Both)
    }

    fn into_folder(self) -> Self::Folder {
        Written {
            places: self,
            written: 0,
        }
    }

    fn full(&self) -> bool {
        false
    }

    fn advance(self, index: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let (places, rest) = self.cut(index);
        // The unwritten rest of the places before was passed over: the count shows it.
        let written = folder.map_or(0, |folder| folder.written);
        (Written { places, written }, rest)
    }
}

/// The current places, and how many of these and of the places before were written.
struct Written<'a, R, M> {
    places: Places<'a, R, M>,
    written: usize,
}

impl<'v, T, R, M> Folder<&'v mut T> for Written<'_, R, M>
where
    R: Copy,
    M: Fn(usize, &T) -> R + Copy,
{
    type Result = usize;

    #[inline]
    fn consume(self, value: &'v mut T) -> Self {
        self.consume_iter([value])
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = &'v mut T>>(self, values: I) -> Self {
        let Places { at, room, make } = self.places;
        let mut n = 0;
        for (place, value) in room.iter_mut().zip(values) {
            place.write(make(at + n, value));
            n += 1;
        }
        let places = Places {
            at: at + n,
            room: &mut room[n..],
            make,
        };
        let written = self.written + n;
        Written { places, written }
    }

    fn complete(self) -> usize {
        self.written
    }

    fn full(&self) -> bool {
        false
    }
}

/// Adds the numbers of neighbours.
struct Both;

impl Reducer<usize> for Both {
    fn reduce(self, left: usize, right: usize) -> usize {
        left + right
    }
}
