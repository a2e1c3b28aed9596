//! Walking values that lie in several rows, from both ends.
#![forbid(unsafe_code)]

use std::fmt;
use std::iter::FusedIterator;
use std::vec;

/// A row of values that can be walked.
pub(super) trait Row:
    IntoIterator<IntoIter: DoubleEndedIterator + ExactSizeIterator>
{
    /// How many values there are.
    fn count(&self) -> usize;

    /// The first `at` values, and the others.
    fn cut(self, at: usize) -> (Self, Self)
    where
        Self: Sized;
}

impl<T> Row for &[T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
}

impl<T> Row for &mut [T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

impl<T> Row for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn cut(mut self, at: usize) -> (Self, Self) {
        let tail = self.split_off(at);
        (self, tail)
    }
}

/// The values of several rows, one row after another.
pub(super) struct Rows<R: Row> {
    front: Option<R::IntoIter>,
    rows: vec::IntoIter<R>,
    back: Option<R::IntoIter>,
    left: usize,
}

impl<R: Row> Rows<R> {
    pub(super) fn new(rows: Vec<R>) -> Self {
        let left = rows.iter().map(R::count).sum();
        Rows {
            front: None,
            rows: rows.into_iter(),
            back: None,
            left,
        }
    }
}

impl<R: Row> Iterator for Rows<R> {
    type Item = R::Item;

    #[inline]
    fn next(&mut self) -> Option<R::Item> {
        loop {
            if let Some(value) = self.front.as_mut().and_then(Iterator::next) {
                self.left -= 1;
                return Some(value);
            }
            match self.rows.next() {
                Some(row) => self.front = Some(row.into_iter()),
                None => {
                    let value = self.back.as_mut()?.next()?;
                    self.left -= 1;
                    return Some(value);
                }
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    fn fold<A, F: FnMut(A, R::Item) -> A>(self, start: A, mut f: F) -> A {
        let middle = self.rows.map(R::into_iter);
        let all = self.front.into_iter().chain(middle).chain(self.back);
        all.fold(start, |sum, row| row.fold(sum, &mut f))
    }
}

impl<R: Row> DoubleEndedIterator for Rows<R> {
    #[inline]
    fn next_back(&mut self) -> Option<R::Item> {
        loop {
            if let Some(value) = self.back.as_mut().and_then(DoubleEndedIterator::next_back) {
                self.left -= 1;
                return Some(value);
            }
            match self.rows.next_back() {
                Some(row) => self.back = Some(row.into_iter()),
                None => {
                    let value = self.front.as_mut()?.next_back()?;
                    self.left -= 1;
                    return Some(value);
                }
            }
        }
    }
}

impl<R: Row> ExactSizeIterator for Rows<R> {}
impl<R: Row> FusedIterator for Rows<R> {}

/// An iterator over rows of one kind.
macro_rules! rows {
    ($($(#[$attribute:meta])* $name:ident<$($life:lifetime)?>: $row:ty => $item:ty;)*) => {$(
        $(#[$attribute])*
        pub struct $name<$($life,)? T>(Rows<$row>);

        impl<$($life,)? T> $name<$($life,)? T> {
            pub(super) fn new(rows: Vec<$row>) -> Self {
                $name(Rows::new(rows))
            }
        }

        impl<$($life,)? T> Iterator for $name<$($life,)? T> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                self.0.next()
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }

            fn fold<A, F: FnMut(A, $item) -> A>(self, start: A, f: F) -> A {
                self.0.fold(start, f)
            }
        }

        impl<$($life,)? T> DoubleEndedIterator for $name<$($life,)? T> {
            #[inline]
            fn next_back(&mut self) -> Option<$item> {
                self.0.next_back()
            }
        }

        impl<$($life,)? T> ExactSizeIterator for $name<$($life,)? T> {}
        impl<$($life,)? T> FusedIterator for $name<$($life,)? T> {}

        impl<$($life,)? T> fmt::Debug for $name<$($life,)? T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("left", &self.len()).finish()
            }
        }
    )*};
}

/// From the same place on, as with a slice's iterator.
impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter(Rows {
            front: self.0.front.clone(),
            rows: self.0.rows.clone(),
            back: self.0.back.clone(),
            left: self.0.left,
        })
    }
}

rows! {
    /// The values of a [`ParVec`](super::ParVec), by index.
    ///
    /// ```
    /// use tine::{ParVec, par_vec::Iter};
    ///
    /// let vec = ParVec::from(vec![1, 2]);
    /// let values: Iter<'_, i32> = vec.iter();
    /// assert!(values.eq(&[1, 2]));
    /// ```
    #[must_use = "iterators are lazy"]
    Iter<'a>: &'a [T] => &'a T;
    /// The values of a [`ParVec`](super::ParVec), to change, by index.
    ///
    /// ```
    /// use tine::{ParVec, par_vec::IterMut};
    ///
    /// let mut vec = ParVec::from(vec![1, 2]);
    /// let values: IterMut<'_, i32> = vec.iter_mut();
    /// values.for_each(|n| *n += 1);
    /// assert_eq!(vec, [2, 3]);
    /// ```
    #[must_use = "iterators are lazy"]
    IterMut<'a>: &'a mut [T] => &'a mut T;
    /// The values of a [`ParVec`](super::ParVec), by value, by index.
    ///
    /// ```
    /// use tine::{ParVec, par_vec::IntoIter};
    ///
    /// let values: IntoIter<i32> = ParVec::from(vec![1, 2]).into_iter();
    /// assert_eq!(values.collect::<Vec<_>>(), [1, 2]);
    /// ```
    #[must_use = "iterators are lazy"]
    IntoIter<>: Vec<T> => T;
}
