//! Overlapping pieces: every run of N neighbours.
#![forbid(unsafe_code)]

use crate::plumbing::{Again, Producer};
use crate::sources::kit::indexed;

/// Parallel iterator over all windows of one length.
///
/// Made by [`par_windows`](super::ParallelSlice::par_windows).
///
/// ```
/// use tine::{slice::Windows, prelude::*};
///
/// let pairs: Windows<'_, i32> = [1, 2, 4].par_windows(2);
/// assert!(pairs.all(|pair| pair[0] < pair[1]));
/// ```
#[derive(Debug)]
pub struct Windows<'data, T> {
    slice: &'data [T],
    size: usize,
}

impl<'data, T> Windows<'data, T> {
    pub(super) fn new(slice: &'data [T], size: usize) -> Self {
        Windows { slice, size }
    }
}

impl<T> Clone for Windows<'_, T> {
    fn clone(&self) -> Self {
        Windows { ..*self }
    }
}

indexed! {
    ['data, T: Sync] Windows<'data, T> => &'data [T];
    len(it) count(it.slice, it.size);
    producer(it) Overlapping { slice: it.slice, size: it.size, each: <[T]>::windows };
}

/// Parallel iterator over all windows of one length, as arrays.
///
/// Made by [`par_array_windows`](super::ParallelSlice::par_array_windows).
///
/// ```
/// use tine::{slice::ArrayWindows, prelude::*};
///
/// let pairs: ArrayWindows<'_, i32, 2> = [1, 2, 4].par_array_windows();
/// assert!(pairs.all(|[a, b]| a < b));
/// ```
#[derive(Debug)]
pub struct ArrayWindows<'data, T, const N: usize> {
    slice: &'data [T],
}

impl<'data, T, const N: usize> ArrayWindows<'data, T, N> {
    pub(super) fn new(slice: &'data [T]) -> Self {
        ArrayWindows { slice }
    }
}

impl<T, const N: usize> Clone for ArrayWindows<'_, T, N> {
    fn clone(&self) -> Self {
        ArrayWindows { slice: self.slice }
    }
}

indexed! {
    ['data, T: Sync, const N: usize] ArrayWindows<'data, T, N> => &'data [T; N];
    len(it) count(it.slice, N);
    producer(it) Overlapping { slice: it.slice, size: N, each: arrays::<T, N> };
}

fn count<T>(slice: &[T], size: usize) -> usize {
    slice.len().saturating_sub(size - 1)
}

fn arrays<T, const N: usize>(
    slice: &[T],
    _: usize,
) -> impl DoubleEndedIterator<Item = &[T; N]> + ExactSizeIterator {
    slice
        .windows(N)
        .map(|window| window.try_into().expect("a window of N elements"))
}

/// Produces windows; two parts of it share `size - 1` elements.
struct Overlapping<'data, T, F> {
    slice: &'data [T],
    size: usize,
    each: F,
}

impl<'data, T, F, I> Producer for Overlapping<'data, T, F>
where
    T: Sync,
    F: Fn(&'data [T], usize) -> I + Copy + Send,
    I: DoubleEndedIterator + ExactSizeIterator,
{
    type Item = I::Item;
    type IntoIter = I;

    const AGAIN: Again = Again::Always;

    fn again(&self) -> Self {
        Overlapping { ..*self }
    }

    fn into_iter(self) -> I {
        (self.each)(self.slice, self.size)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        assert!(
            index <= count(self.slice, self.size),
            "windows were cut behind their end, at {index}"
        );
        let reach = self.slice.len().min(index.saturating_add(self.size - 1));
        let left = Overlapping {
            slice: &self.slice[..reach],
            ..self
        };
        let right = Overlapping {
            slice: &self.slice[index..],
            ..self
        };
        (left, right)
    }
}
