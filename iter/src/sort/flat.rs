//! Rotation and exchange, compiled once for all types whose elements consist of whole words: the elements are
//! rotated or exchanged as words.

use crate::plumbing::halves;
use std::mem::MaybeUninit;
use std::ptr::from_mut;
use std::slice::from_raw_parts_mut;

/// Moves the elements from `mid` on in front of the rest, as `<[T]>::rotate_left`.
pub(super) fn rotate_left<T>(v: &mut [T], mid: usize) {
    // The conditions are `const`, so that functions that are not called are not compiled.
    if const { size_of::<T>() == 0 || align_of::<T>() < 4 } {
        v.rotate_left(mid);
    } else if const { align_of::<T>() >= 8 } {
        wide(words(v), mid * (size_of::<T>() / 8));
    } else {
        narrow(words(v), mid * (size_of::<T>() / 4));
    }
}

/// Exchanges two slices of one length, in parallel.
pub(super) fn swap<T: Send>(a: &mut [T], b: &mut [T], grain: usize) {
    if const { size_of::<T>() == 0 || align_of::<T>() < 4 } {
        exchange(a, b, grain);
    } else if const { align_of::<T>() >= 8 } {
        exchange_wide(words(a), words(b), grain * (size_of::<T>() / 8));
    } else {
        exchange_narrow(words(a), words(b), grain * (size_of::<T>() / 4));
    }
}

fn exchange<T: Send>(a: &mut [T], b: &mut [T], grain: usize) {
    if a.len() <= grain {
        return a.swap_with_slice(b);
    }
    let mid = a.len() / 2;
    let (a0, a1) = a.split_at_mut(mid);
    let (b0, b1) = b.split_at_mut(mid);
    halves(|| exchange(a0, b0, grain), || exchange(a1, b1, grain));
}

/// Sees elements as words, several words for each element.
fn words<T, W: Copy>(v: &mut [T]) -> &mut [MaybeUninit<W>] {
    // So the size of an element, a multiple of its alignment, is a multiple of the word's size too.
    assert!(align_of::<T>() >= size_of::<W>());
    let len = size_of_val(v) / size_of::<W>();
    // SAFETY: the words lie where the elements lie, are aligned, and need not be initialised; the reference is
    // the only one to them for as long as it lives. Callers rotate by a whole number of elements, or exchange a
    // whole number of elements, so the words of each element end side by side.
    unsafe { from_raw_parts_mut(from_mut(v).cast(), len) }
}

#[inline(never)]
fn wide(v: &mut [MaybeUninit<u64>], mid: usize) {
    v.rotate_left(mid);
}

#[inline(never)]
fn narrow(v: &mut [MaybeUninit<u32>], mid: usize) {
    v.rotate_left(mid);
}

#[inline(never)]
fn exchange_wide(a: &mut [MaybeUninit<u64>], b: &mut [MaybeUninit<u64>], grain: usize) {
    exchange(a, b, grain);
}

#[inline(never)]
fn exchange_narrow(a: &mut [MaybeUninit<u32>], b: &mut [MaybeUninit<u32>], grain: usize) {
    exchange(a, b, grain);
}

#[cfg(test)]
mod tests {
    use super::{rotate_left, swap};
    use std::fmt::Debug;

    fn check<T: Clone + PartialEq + Debug + Send>(make: impl Fn(usize) -> T) {
        for len in [0_usize, 1, 2, 5, 24, 63, 200] {
            for mid in [0, len / 3, len / 2, len.saturating_sub(1), len] {
                let mut v: Vec<T> = (0..len).map(&make).collect();
                let mut expected = v.clone();
                rotate_left(&mut v, mid);
                expected.rotate_left(mid);
                assert_eq!(v, expected, "{mid} of {len}");
            }
            let (front, mut back): (Vec<T>, Vec<T>) = (
                (0..len).map(&make).collect(),
                (len..2 * len).map(&make).collect(),
            );
            let mut v = front.clone();
            swap(&mut v, &mut back, 7);
            assert_eq!(back, front, "{len} exchanged");
            assert!(
                v.into_iter().eq((len..2 * len).map(&make)),
                "{len} exchanged"
            );
        }
    }

    #[test]
    fn elements_of_any_width() {
        check(|_| ());
        check(|i| i as u8);
        check(|i| (i as u8, i as u16));
        check(|i| i as u32);
        check(|i| [i as u32; 3]);
        check(|i| (i as u8, i as u32));
        check(|i| i as u64);
        check(|i| (i as u64, i as u8, i as u16));
        check(|i| i as u128);
        check(|i| i.to_string());
    }
}
