//! The methods that look at slices.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use super::search;
use crate::convert::{IntoParallelIterator, IntoParallelRefIterator, ParallelExtend};
use crate::iter::{Filter, IndexedParallelIterator, ParallelIterator};
use crate::sources::slice::{ParallelSlice, ParallelSliceMut, Split};

/// Slices are compared in pieces of this many elements.
const COMPARED: usize = 64;

/// Parallel questions about slices of [`Sync`] elements: differences, neighbours, searches.
///
/// ```
/// use tine::algorithms::ParallelSliceLook;
///
/// let v = [1, 2, 2, 3];
/// assert_eq!(v.par_adjacent_find(|a, b| a == b), Some(1));
/// assert_eq!(v.par_find_slice(&[2, 3]), Some(2));
/// assert_eq!(v.par_deduped(), [1, 2, 3]);
/// ```
pub trait ParallelSliceLook<T: Sync> {
    /// The first position at which two slices differ. If one slice is the beginning of the other,
    /// that is its length. `None` if they are equal.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// assert_eq!([1, 2, 3].par_mismatch(&[1, 7, 3]), Some(1));
    /// assert_eq!([1, 2, 3].par_mismatch(&[1, 2]), Some(2));
    /// assert_eq!([1, 2].par_mismatch(&[1, 2]), None);
    /// ```
    fn par_mismatch<U>(&self, other: &[U]) -> Option<usize>
    where
        T: PartialEq<U>,
        U: Sync;

    /// The position of the first element for which `related` holds of it and the element after it.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// let v = [1, 4, 3, 5];
    /// assert_eq!(v.par_adjacent_find(|a, b| a > b), Some(1));
    /// ```
    fn par_adjacent_find<F>(&self, related: F) -> Option<usize>
    where
        F: Fn(&T, &T) -> bool + Sync;

    /// The result of `difference` for each element and the one before it. The first element is
    /// copied. Running sums of the result give the slice again.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// let v = [3, 4, 9, 7];
    /// assert_eq!(v.par_adjacent_difference(|this, before| this - before), [3, 1, 5, -2]);
    /// ```
    fn par_adjacent_difference<F>(&self, difference: F) -> Vec<T>
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> T + Sync;

    /// A copy without consecutive repeated elements. In place:
    /// [`par_dedup`](crate::sort::ParallelDedup::par_dedup).
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// assert_eq!([1, 1, 2, 1].par_deduped(), [1, 2, 1]);
    /// ```
    fn par_deduped(&self) -> Vec<T>
    where
        T: Clone + Send + PartialEq,
    {
        self.par_deduped_by(T::eq)
    }

    /// A copy without the elements that are the `same` as the element before them.
    ///
    /// The first argument of `same` is the element before. (In
    /// [`par_dedup_by`](crate::sort::ParallelDedup::par_dedup_by), as in std's `dedup_by`, it is the second
    /// argument.)
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// let hours = [800, 815, 900, 930];
    /// assert_eq!(hours.par_deduped_by(|a, b| a / 100 == b / 100), [800, 900]);
    /// ```
    fn par_deduped_by<F>(&self, same: F) -> Vec<T>
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> bool + Sync;

    /// The position where `needle` first occurs, as a run of neighbours. An empty needle occurs at
    /// position 0.
    ///
    /// Takes time in proportion to the sum of both lengths, and memory for one number for each
    /// element of `needle`.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// assert_eq!(b"a fork has tines".par_find_slice(b"has"), Some(7));
    /// assert_eq!([1, 2, 3].par_find_slice(&[3, 1]), None);
    /// ```
    fn par_find_slice(&self, needle: &[T]) -> Option<usize>
    where
        T: PartialEq;

    /// The pieces between the elements that `separates` picks, without empty ones.
    ///
    /// ```
    /// use tine::{algorithms::ParallelSliceLook, prelude::*};
    ///
    /// let words: Vec<&[u8]> = b" a  fork ".par_tokens(u8::is_ascii_whitespace).collect();
    /// assert_eq!(words, [&b"a"[..], b"fork"]);
    /// ```
    fn par_tokens<P>(&self, separates: P) -> Tokens<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send;

    /// For each key, how many elements of this sorted slice are less than it. That is where the key
    /// can be inserted before its equals.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// assert_eq!([1, 3, 3, 5].par_lower_bounds(&[3, 0, 9]), [1, 0, 4]);
    /// ```
    fn par_lower_bounds(&self, keys: &[T]) -> Vec<usize>
    where
        T: Ord,
    {
        self.par_bounds_by(keys, |element, key| element < key)
    }

    /// For each key, how many elements of this sorted slice are not greater than it. That is where
    /// the key can be inserted after its equals.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// assert_eq!([1, 3, 3, 5].par_upper_bounds(&[3, 0, 9]), [3, 0, 4]);
    /// ```
    fn par_upper_bounds(&self, keys: &[T]) -> Vec<usize>
    where
        T: Ord,
    {
        self.par_bounds_by(keys, |element, key| element <= key)
    }

    /// For each key, the number of elements for which `before` says that they come before it. These
    /// elements must stand at the front of the slice.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// let words = ["a", "has", "tine"];
    /// assert_eq!(words.par_bounds_by(&[2, 3], |word, &len| word.len() < len), [1, 1]);
    /// ```
    fn par_bounds_by<K, F>(&self, keys: &[K], before: F) -> Vec<usize>
    where
        K: Sync,
        F: Fn(&T, &K) -> bool + Sync;

    /// For each key, where an equal element is, or where the key could be inserted: a
    /// [`binary_search`](slice::binary_search) for each key. Of several equal elements, the first
    /// is returned.
    ///
    /// ```
    /// use tine::algorithms::ParallelSliceLook;
    ///
    /// assert_eq!([1, 3, 5].par_binary_searches(&[3, 4]), [Ok(1), Err(2)]);
    /// ```
    fn par_binary_searches(&self, keys: &[T]) -> Vec<Result<usize, usize>>
    where
        T: Ord;
}

/// Parallel iterator over the pieces of a slice between separators, without empty pieces.
///
/// Made by [`par_tokens`](ParallelSliceLook::par_tokens).
pub type Tokens<'data, T, P> = Filter<Split<'data, T, P>, fn(&&'data [T]) -> bool>;

impl<T: Sync> ParallelSliceLook<T> for [T] {
    fn par_mismatch<U>(&self, other: &[U]) -> Option<usize>
    where
        T: PartialEq<U>,
        U: Sync,
    {
        let len = self.len().min(other.len());
        let (a, b) = (&self[..len], &other[..len]);
        let pairs = a.par_chunks(COMPARED).zip(b.par_chunks(COMPARED));
        let Some(chunk) = pairs.position_first(|(a, b)| a != b) else {
            return (self.len() != other.len()).then_some(len);
        };
        let start = chunk * COMPARED;
        let differ = a[start..].iter().zip(&b[start..]).position(|(a, b)| a != b);
        // If elements are unequal only now and then, a second look might find them equal.
        Some(start + differ.unwrap_or(0))
    }

    fn par_adjacent_find<F>(&self, related: F) -> Option<usize>
    where
        F: Fn(&T, &T) -> bool + Sync,
    {
        self.par_windows(2)
            .position_first(|pair| related(&pair[0], &pair[1]))
    }

    fn par_adjacent_difference<F>(&self, difference: F) -> Vec<T>
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> T + Sync,
    {
        let mut all = Vec::with_capacity(self.len());
        all.extend(self.first().cloned());
        let others = self.par_array_windows();
        all.par_extend(others.map(|[before, this]| difference(this, before)));
        all
    }

    fn par_deduped_by<F>(&self, same: F) -> Vec<T>
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> bool + Sync,
    {
        let differs = |&at: &usize| at == 0 || !same(&self[at - 1], &self[at]);
        let first = (0..self.len()).into_par_iter().filter(differs);
        first.map(|at| self[at].clone()).collect()
    }

    fn par_find_slice(&self, needle: &[T]) -> Option<usize>
    where
        T: PartialEq,
    {
        search::find(self, needle)
    }

    fn par_tokens<P>(&self, separates: P) -> Tokens<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        self.par_split(separates).filter(|piece| !piece.is_empty())
    }

    fn par_bounds_by<K, F>(&self, keys: &[K], before: F) -> Vec<usize>
    where
        K: Sync,
        F: Fn(&T, &K) -> bool + Sync,
    {
        let mut bounds = vec![0; keys.len()];
        let parts = bounds.par_chunks_mut(search::ABREAST);
        let parts = parts.zip(keys.par_chunks(search::ABREAST));
        parts.for_each(|(bounds, keys)| search::bounds(self, keys, bounds, &before));
        bounds
    }

    fn par_binary_searches(&self, keys: &[T]) -> Vec<Result<usize, usize>>
    where
        T: Ord,
    {
        let bounds = self.par_lower_bounds(keys).into_par_iter();
        let found = |(at, key): (usize, &T)| match self.get(at) {
            Some(element) if element.cmp(key) == Ordering::Equal => Ok(at),
            _ => Err(at),
        };
        bounds.zip(keys.par_iter()).map(found).collect()
    }
}
