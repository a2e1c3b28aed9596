//! What a sort by key asks of elements whose type it does not know: short loops, which a program contains for
//! each type of element and key. The code that calls them is compiled once for each type of word, and within
//! this crate for the usual word.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use super::cut::{self, Digits, Values};
use super::word::{Keyed, RadixBits, Varying};
use crate::sort::{merge, runs};

/// A key, and the number of its element in the bucket.
pub(super) type Numbered<B> = Keyed<B, u32>;

/// The elements to be sorted, at home and in a room with the same number of places, of any type. The places of
/// both halves are numbered alike.
///
/// # Safety
/// All methods ask that these elements are there, in the room or (if not `in_room`) at home, and that no other
/// thread uses these places in either half. [`Values`] are the elements at home, and their places are in the
/// room.
pub(super) trait Elements<B>: Values<B> {
    /// Writes a record for each element: its key, of which only the bits below `shift` count, and its
    /// number.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn number(
        &self,
        in_room: bool,
        these: Range<usize>,
        shift: u32,
        records: &mut [MaybeUninit<Numbered<B>>],
    );
    /// [`number`](Elements::number) in records of half the size. The shift is at most 32.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn number_narrow(
        &self,
        in_room: bool,
        these: Range<usize>,
        shift: u32,
        records: &mut [MaybeUninit<Numbered<u32>>],
    );
    /// Copies the elements to the other half, in the order of the records; each record carries the number of
    /// its element.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn place(&self, in_room: bool, these: Range<usize>, records: &[Numbered<B>]);
    /// [`place`](Elements::place) by narrow records.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn place_narrow(&self, in_room: bool, these: Range<usize>, records: &[Numbered<u32>]);
    /// Copies the elements from the room to their places at home.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn carry(&self, these: Range<usize>);
    /// Returns the end of the run that begins with the first of these elements, at home, and whether each of
    /// its keys is less than the one before it. If that is `false`, no key of the run is less than the one
    /// before it.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn run(&self, these: Range<usize>) -> (usize, bool);
    /// Reverses the elements at home.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn reverse(&self, these: Range<usize>);
    /// Merges two runs, stably, into the places from `to` on of the other half.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn merge(&self, in_room: bool, first: Range<usize>, second: Range<usize>, to: usize);
    /// The key of an element.
    // SAFETY: the caller has the duties that the trait states.
    unsafe fn key_of(&self, in_room: bool, at: usize) -> B;
}

/// Elements in two slices.
pub(super) struct Slices<'a, T, F> {
    home: *mut T,
    room: *mut T,
    key: &'a F,
}
// SAFETY: each place is used by one thread at a time, which `Send` allows.
unsafe impl<T: Send, F: Sync> Sync for Slices<'_, T, F> {}

impl<'a, T, F> Slices<'a, T, F> {
    pub(super) fn new(home: &mut [T], room: &mut [MaybeUninit<T>], key: &'a F) -> Self {
        assert_eq!(home.len(), room.len());
        Slices {
            home: home.as_mut_ptr(),
            room: room.as_mut_ptr().cast(),
            key,
        }
    }

    /// Where elements are.
    fn from(&self, in_room: bool) -> *mut T {
        if in_room { self.room } else { self.home }
    }

    /// Some of the elements.
    ///
    /// # Safety
    /// They are there, and no other thread uses their places.
    unsafe fn some(&self, in_room: bool, these: &Range<usize>) -> &[T] {
        let from = self.from(in_room).wrapping_add(these.start);
        // SAFETY: the caller vouches for it.
        unsafe { std::slice::from_raw_parts(from, these.len()) }
    }

    /// [`Elements::number`] in records of any width.
    ///
    /// # Safety
    /// As there.
    #[inline]
    unsafe fn number<B: RadixBits, W: RadixBits>(
        &self,
        in_room: bool,
        these: Range<usize>,
        shift: u32,
        records: &mut [MaybeUninit<Numbered<W>>],
        word: impl Fn(B) -> W,
    ) where
        F: Fn(&T) -> B,
    {
        assert!(records.len() == these.len(), "a record for each element");
        // SAFETY: the caller vouches for it.
        let some = unsafe { self.some(in_room, &these) };
        for ((number, value), place) in (0..).zip(some).zip(records) {
            let key = (self.key)(value);
            // The bits above are known. A key that has changed must not set other bits there.
            let key = word(key ^ key.above(shift));
            place.write(Keyed { key, load: number });
        }
    }

    /// [`Elements::place`] by records of any width.
    ///
    /// # Safety
    /// As there.
    #[inline]
    unsafe fn place<W>(&self, in_room: bool, these: Range<usize>, records: &[Numbered<W>]) {
        let from = self.from(in_room).wrapping_add(these.start);
        let mut to = self.from(!in_room).wrapping_add(these.start);
        assert!(records.len() == these.len(), "a record for each element");
        for record in records {
            assert!(
                (record.load as usize) < these.len(),
                "a number of this bucket"
            );
            let value = from.wrapping_add(record.load as usize);
            // SAFETY: each number is there once, so each value moves to one place.
            unsafe { ptr::copy_nonoverlapping(value, to, 1) };
            to = to.wrapping_add(1);
        }
    }
}

impl<T, B, F> Values<B> for Slices<'_, T, F>
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    // SAFETY: the duties are those that the trait states.
    unsafe fn key(&self, at: usize) -> B {
        // SAFETY: the caller vouches for it.
        let value = unsafe { &*self.home.wrapping_add(at) };
        (self.key)(value)
    }

    // SAFETY: as above.
    unsafe fn count(
        &self,
        these: Range<usize>,
        digits: Digits<B>,
        counts: &mut [usize],
        varying: &mut Varying<B>,
    ) {
        // SAFETY: as above.
        let some = unsafe { self.some(false, &these) };
        cut::count(some, self.key, digits, counts, varying);
    }

    // SAFETY: as above.
    unsafe fn scatter(
        &self,
        these: Range<usize>,
        digits: Digits<B>,
        next: &mut [usize],
        ends: &[usize],
    ) -> bool {
        // SAFETY: as above.
        let some = unsafe { self.some(false, &these) };
        // SAFETY: as above.
        unsafe { cut::scatter::<true, _, _>(some, self.key, digits, next, ends, self.room) }
    }
}

impl<T, B, F> Elements<B> for Slices<'_, T, F>
where
    T: Send,
    B: RadixBits,
    F: Fn(&T) -> B + Sync,
{
    // SAFETY: the duties are those that the trait states.
    unsafe fn number(
        &self,
        in_room: bool,
        these: Range<usize>,
        shift: u32,
        records: &mut [MaybeUninit<Numbered<B>>],
    ) {
        // SAFETY: the caller vouches for it.
        unsafe { self.number(in_room, these, shift, records, |key| key) }
    }

    // SAFETY: as above.
    unsafe fn number_narrow(
        &self,
        in_room: bool,
        these: Range<usize>,
        shift: u32,
        records: &mut [MaybeUninit<Numbered<u32>>],
    ) {
        // SAFETY: as above.
        unsafe { self.number(in_room, these, shift, records, |key: B| key.down(0) as u32) }
    }

    // SAFETY: as above.
    unsafe fn place(&self, in_room: bool, these: Range<usize>, records: &[Numbered<B>]) {
        // SAFETY: as above.
        unsafe { self.place(in_room, these, records) }
    }

    // SAFETY: as above.
    unsafe fn place_narrow(&self, in_room: bool, these: Range<usize>, records: &[Numbered<u32>]) {
        // SAFETY: as above.
        unsafe { self.place(in_room, these, records) }
    }

    // SAFETY: as above.
    unsafe fn carry(&self, these: Range<usize>) {
        let from = self.room.wrapping_add(these.start);
        let to = self.home.wrapping_add(these.start);
        // SAFETY: both have the same number of places, in different memory.
        unsafe { ptr::copy_nonoverlapping(from, to, these.len()) };
    }

    // SAFETY: as above.
    unsafe fn run(&self, these: Range<usize>) -> (usize, bool) {
        // SAFETY: as above.
        let some = unsafe { self.some(false, &these) };
        let [first, second, ..] = some else {
            return (these.end, false);
        };
        let mut last = (self.key)(first);
        let down = (self.key)(second) < last;
        let mut end = these.start + 1;
        for value in &some[1..] {
            let key = (self.key)(value);
            if (key < last) != down {
                break;
            }
            last = key;
            end += 1;
        }
        (end, down)
    }

    // SAFETY: as above.
    unsafe fn reverse(&self, these: Range<usize>) {
        let from = self.home.wrapping_add(these.start);
        // SAFETY: as above.
        let some = unsafe { std::slice::from_raw_parts_mut(from, these.len()) };
        runs::reverse(some);
    }

    // SAFETY: as above.
    unsafe fn merge(&self, in_room: bool, first: Range<usize>, second: Range<usize>, to: usize) {
        let len = first.len() + second.len();
        // SAFETY: as above.
        let first = unsafe { self.some(in_room, &first) };
        // SAFETY: as above.
        let second = unsafe { self.some(in_room, &second) };
        let to = self.from(!in_room).wrapping_add(to).cast();
        // SAFETY: as above, and the same number of places.
        let to = unsafe { std::slice::from_raw_parts_mut(to, len) };
        let key = self.key;
        merge::alone(first, second, to, &|a, b| key(a).cmp(&key(b)));
    }

    // SAFETY: as above.
    unsafe fn key_of(&self, in_room: bool, at: usize) -> B {
        // SAFETY: as above.
        let value = unsafe { &*self.from(in_room).wrapping_add(at) };
        (self.key)(value)
    }
}
