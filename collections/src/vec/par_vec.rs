//! `ParVec`: the type, its pushes and reads.
#![forbid(unsafe_code)]

use super::buckets::Buckets;
use super::iter::{IntoIter, Iter, IterMut};
use crate::partition::concat;
use std::fmt;
use std::mem;
use std::ops::{Index, IndexMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// A vector that any number of threads push to at once, without a lock.
///
/// Its storage grows in buckets, each twice as large as the last, so values never move: a reference
/// stays valid as long as the vector is borrowed. An index returned by [`push`](Self::push) names
/// its value for good.
///
/// Threads that push values one by one contend for the next index: eight such threads may be slower
/// than one thread. Two that do little else take turns of some microseconds, and are together about as
/// fast as one. Threads that push in blocks ([`pusher`](Self::pusher),
/// [`extend`](Self::extend), `par_extend` of a `&ParVec`) hardly ever contend.
///
/// [`iter`](Self::iter) and its parallel twin see the values up to the first that is being pushed
/// at that moment: all of them, if no push is under way.
///
/// With the feature `serde` a vector can be serialised and deserialised, as a sequence.
///
/// ```
/// use tine::ParVec;
///
/// static LOG: ParVec<String> = ParVec::new();
/// std::thread::scope(|s| {
///     for who in ["a", "b", "c"] {
///         s.spawn(move || {
///             let at = LOG.push(format!("{who} was here"));
///             assert!(LOG[at].starts_with(who));
///         });
///     }
/// });
/// assert_eq!(LOG.len(), 3);
/// ```
pub struct ParVec<T> {
    pub(super) buckets: Buckets<T>,
}

impl<T> ParVec<T> {
    /// An empty vector. Allocates nothing.
    ///
    /// ```
    /// # use tine::ParVec;
    /// const EMPTY: ParVec<i32> = ParVec::new();
    /// assert!(EMPTY.is_empty());
    /// ```
    pub const fn new() -> Self {
        ParVec {
            buckets: Buckets::new(),
        }
    }

    /// An empty vector whose first `capacity` values will lie in a row.
    ///
    /// # Panics
    /// If that many values cannot be addressed.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let vec = ParVec::with_capacity(100);
    /// vec.push('x');
    /// assert!(vec.capacity() >= 100);
    /// ```
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        ParVec {
            buckets: Buckets::with_capacity(capacity),
        }
    }

    /// The number of values that were pushed, including those that are being pushed now.
    ///
    /// ```
    /// # use tine::ParVec;
    /// assert_eq!(ParVec::from(vec![1, 2, 3]).len(), 3);
    /// ```
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Whether nothing was pushed.
    ///
    /// ```
    /// # use tine::ParVec;
    /// assert!(ParVec::<i32>::new().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of values that there is memory for: `usize::MAX` for values of no size.
    ///
    /// ```
    /// # use tine::ParVec;
    /// assert_eq!(ParVec::<i32>::new().capacity(), 0);
    /// ```
    pub fn capacity(&self) -> usize {
        self.buckets.capacity()
    }

    /// Appends a value and returns its index. Other threads can read the value at once. If many threads push all the time, this
    /// one may then wait for 8 to 128 µs, so that they take turns.
    ///
    /// # Panics
    /// If there are `isize::MAX / 2` values already.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let vec = ParVec::new();
    /// let at = vec.push('a');
    /// assert_eq!(vec[at], 'a');
    /// ```
    #[inline]
    pub fn push(&self, value: T) -> usize {
        self.buckets.push(value)
    }

    /// A handle that collects values and appends them in blocks.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let vec = ParVec::new();
    /// std::thread::scope(|s| {
    ///     for _ in 0..2 {
    ///         s.spawn(|| {
    ///             let mut pusher = vec.pusher();
    ///             (0..5000).for_each(|i| pusher.push(i));
    ///         });
    ///     }
    /// });
    /// assert_eq!(vec.len(), 10_000);
    /// ```
    pub fn pusher(&self) -> Pusher<'_, T> {
        Pusher {
            vec: self,
            block: Vec::new(),
        }
    }

    /// Appends all values of an iterator, in blocks. If the iterator panics, the values that it
    /// yielded before are appended.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let vec = ParVec::new();
    /// vec.extend(0..100);
    /// assert_eq!(vec.len(), 100);
    /// ```
    pub fn extend(&self, values: impl IntoIterator<Item = T>) {
        let mut pusher = self.pusher();
        values.into_iter().for_each(|value| pusher.push(value));
    }

    /// The value at `index`, if it is there.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let vec = ParVec::from(vec!['a']);
    /// assert_eq!((vec.get(0), vec.get(1)), (Some(&'a'), None));
    /// ```
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.buckets.get(index)
    }

    /// The value at `index`, to change, if it is there.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let mut vec = ParVec::from(vec!['a']);
    /// *vec.get_mut(0).unwrap() = 'b';
    /// assert_eq!(vec[0], 'b');
    /// ```
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.buckets.get_mut(index)
    }

    /// The values, by index.
    ///
    /// ```
    /// # use tine::ParVec;
    /// assert!(ParVec::from(vec![1, 2, 3]).iter().rev().eq(&[3, 2, 1]));
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self.buckets.slices())
    }

    /// The values, to change, by index.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let mut vec = ParVec::from(vec![1, 2, 3]);
    /// vec.iter_mut().for_each(|value| *value *= 2);
    /// assert_eq!(vec, [2, 4, 6]);
    /// ```
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut::new(self.buckets.slices_mut())
    }

    /// Removes the last value.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let mut vec = ParVec::from(vec![1, 2]);
    /// assert_eq!((vec.pop(), vec.len()), (Some(2), 1));
    /// ```
    pub fn pop(&mut self) -> Option<T> {
        self.buckets.pop()
    }

    /// Drops all values but the first `len`; memory is kept.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let mut vec = ParVec::from(vec![1, 2, 3]);
    /// vec.truncate(2);
    /// assert_eq!(vec, [1, 2]);
    /// ```
    pub fn truncate(&mut self, len: usize) {
        self.buckets.truncate(len);
    }

    /// Drops all values; memory is kept.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let mut vec = ParVec::from(vec![1, 2, 3]);
    /// vec.clear();
    /// assert!(vec.is_empty());
    /// ```
    pub fn clear(&mut self) {
        self.truncate(0);
    }
}

impl<T: Send> ParVec<T> {
    /// The values as a vector. Costs nothing if all values lie in a row: because they came from a
    /// vector, because [`with_capacity`](Self::with_capacity) reserved enough, or because there are
    /// few. Otherwise they are moved into a row, by all threads if there are many values.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let vec: ParVec<i32> = (0..1000).collect();
    /// assert!(vec.into_vec().into_iter().eq(0..1000));
    /// ```
    pub fn into_vec(mut self) -> Vec<T> {
        concat(self.buckets.take_vecs())
    }
}

/// Values on their way into a [`ParVec`], from [`ParVec::pusher`]. They are appended a block at a
/// time; the last block is appended when this is dropped.
///
/// ```
/// use tine::ParVec;
/// use tine::prelude::*;
///
/// let squares = ParVec::new();
/// (0..1000).into_par_iter().for_each_init(|| squares.pusher(), |pusher, n| pusher.push(n * n));
/// assert_eq!(squares.len(), 1000);
/// ```
#[must_use = "a pusher that gets no values appends none"]
pub struct Pusher<'a, T> {
    vec: &'a ParVec<T>,
    block: Vec<T>,
}

impl<T> Pusher<'_, T> {
    /// The number of values in a block: a thousand, or as many as eight kilobytes hold.
    const BLOCK: usize = {
        let size = if mem::size_of::<T>() == 0 {
            1
        } else {
            mem::size_of::<T>()
        };
        let fit = (8 << 10) / size;
        if fit > 1024 {
            1024
        } else if fit == 0 {
            1
        } else {
            fit
        }
    };

    /// Takes a value, and appends the block if that fills it.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let vec = ParVec::new();
    /// vec.pusher().push(1);
    /// assert_eq!(vec, [1]);
    /// ```
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.block.len() == self.block.capacity() {
            self.turn();
        }
        self.block.push(value);
    }

    /// The block is full, or there is none yet.
    #[cold]
    fn turn(&mut self) {
        if self.block.len() >= Self::BLOCK {
            self.flush();
        } else {
            // Most calls add few values.
            let more = (2 * self.block.len()).clamp(16, Self::BLOCK.max(16)) - self.block.len();
            self.block.reserve_exact(more);
        }
    }

    /// Appends the values pushed so far, and returns the index of the first.
    ///
    /// # Panics
    /// If the vector has no room for them. They are dropped then.
    ///
    /// ```
    /// # use tine::ParVec;
    /// let vec = ParVec::from(vec!['a']);
    /// let mut pusher = vec.pusher();
    /// pusher.push('b');
    /// assert_eq!(pusher.flush(), Some(1));
    /// assert_eq!(pusher.flush(), None);
    /// ```
    pub fn flush(&mut self) -> Option<usize> {
        if self.block.is_empty() {
            return None;
        }
        // Taken out of the pusher: if the vector is full, the drop of the pusher must not append the rest
        // again.
        let mut block = mem::take(&mut self.block);
        let first = self.vec.buckets.push_block(&mut block);
        self.block = block;
        Some(first)
    }
}

/// Panics if the vector has no room for the last values, unless a panic is under way.
impl<T> Drop for Pusher<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            // A second panic would end the program.
            let _ = catch_unwind(AssertUnwindSafe(|| self.flush()));
        } else {
            self.flush();
        }
    }
}

impl<T> fmt::Debug for Pusher<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pusher")
            .field("waiting", &self.block.len())
            .finish_non_exhaustive()
    }
}

impl<T> Default for ParVec<T> {
    fn default() -> Self {
        ParVec::new()
    }
}

impl<T: Clone> Clone for ParVec<T> {
    fn clone(&self) -> Self {
        self.iter().cloned().collect()
    }
}

impl<T: fmt::Debug> fmt::Debug for ParVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for ParVec<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for ParVec<T> {}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for ParVec<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        self.iter().eq(other)
    }
}

impl<T: PartialEq> PartialEq<Vec<T>> for ParVec<T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        self.iter().eq(other)
    }
}

impl<T> Index<usize> for ParVec<T> {
    type Output = T;

    /// The value at an index.
    ///
    /// # Panics
    /// If no value was pushed there.
    #[inline]
    #[track_caller]
    fn index(&self, index: usize) -> &T {
        let Some(value) = self.get(index) else {
            nothing_at(index, self.len())
        };
        value
    }
}

impl<T> IndexMut<usize> for ParVec<T> {
    #[track_caller]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let len = self.len();
        let Some(value) = self.get_mut(index) else {
            nothing_at(index, len)
        };
        value
    }
}

#[cold]
#[track_caller]
fn nothing_at(index: usize, len: usize) -> ! {
    panic!("index {index} of a ParVec of length {len}: out of bounds, or still being pushed")
}

/// Takes over the vector's memory; copies nothing.
impl<T> From<Vec<T>> for ParVec<T> {
    fn from(vec: Vec<T>) -> Self {
        ParVec {
            buckets: Buckets::from_vec(vec),
        }
    }
}

impl<T, const N: usize> From<[T; N]> for ParVec<T> {
    fn from(values: [T; N]) -> Self {
        Vec::from(values).into()
    }
}

impl<T: Send> From<ParVec<T>> for Vec<T> {
    fn from(vec: ParVec<T>) -> Self {
        vec.into_vec()
    }
}

impl<T> FromIterator<T> for ParVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl<T> Extend<T> for ParVec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        ParVec::extend(self, values);
    }
}

impl<T> Extend<T> for &ParVec<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        ParVec::extend(self, values);
    }
}

impl<T> IntoIterator for ParVec<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(mut self) -> IntoIter<T> {
        IntoIter::new(self.buckets.take_vecs())
    }
}

impl<'a, T> IntoIterator for &'a ParVec<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut ParVec<T> {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}
