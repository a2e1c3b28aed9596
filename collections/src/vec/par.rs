//! Walking a vector in parallel, and building and extending one.
#![forbid(unsafe_code)]

use super::iter::{Row, Rows};
use super::par_vec::ParVec;
use std::fmt;
use tine_iter::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
use tine_iter::iter::{
    FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, ParallelExtend,
    ParallelIterator,
};
use tine_iter::vec;

/// Rows as a producer: split between two rows, or within one.
struct Split<R>(Vec<R>);

impl<R> Producer for Split<R>
where
    R: Row<Item: Send> + Send,
{
    type Item = R::Item;
    type IntoIter = Rows<R>;

    fn into_iter(self) -> Rows<R> {
        Rows::new(self.0)
    }

    fn split_at(mut self, mut at: usize) -> (Self, Self) {
        let mut whole = 0;
        while let Some(row) = self.0.get(whole).filter(|row| row.count() <= at) {
            at -= row.count();
            whole += 1;
        }
        let mut right = self.0.split_off(whole);
        if at > 0 {
            let (head, tail) = right.remove(0).cut(at);
            self.0.push(head);
            right.insert(0, tail);
        }
        (self, Split(right))
    }
}

/// A parallel iterator over rows of one kind.
macro_rules! par_rows {
    ($($(#[$doc:meta])* $name:ident: $row:ty => $item:ty, $bound:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name<'a, T> {
            rows: Vec<$row>,
        }

        impl<'a, T: $bound> ParallelIterator for $name<'a, T> {
            type Item = $item;

            const KEEPS_ALL: bool = true;

            fn drive_unindexed<C: UnindexedConsumer<$item>>(self, consumer: C) -> C::Result {
                bridge(self, consumer)
            }

            fn opt_len(&self) -> Option<usize> {
                Some(self.len())
            }
        }

        impl<'a, T: $bound> IndexedParallelIterator for $name<'a, T> {
            fn len(&self) -> usize {
                self.rows.iter().map(Row::count).sum()
            }

            fn drive<C: Consumer<$item>>(self, consumer: C) -> C::Result {
                bridge(self, consumer)
            }

            fn with_producer<B: ProducerCallback<$item>>(self, callback: B) -> B::Output {
                callback.callback(Split(self.rows))
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

par_rows! {
    /// The values of a [`ParVec`], by index, in parallel.
    ///
    /// ```
    /// use tine::{ParVec, par_vec::ParIter};
    /// use tine::prelude::*;
    ///
    /// let vec = ParVec::from(vec![1, 2]);
    /// let values: ParIter<'_, i32> = vec.par_iter();
    /// assert_eq!(values.sum::<i32>(), 3);
    /// ```
    #[must_use = "parallel iterators do nothing until they are consumed"]
    ParIter: &'a [T] => &'a T, Sync;
    /// The values of a [`ParVec`], to change, by index, in parallel.
    ///
    /// ```
    /// use tine::{ParVec, par_vec::ParIterMut};
    /// use tine::prelude::*;
    ///
    /// let mut vec = ParVec::from(vec![1, 2]);
    /// let values: ParIterMut<'_, i32> = vec.par_iter_mut();
    /// values.for_each(|n| *n += 1);
    /// assert_eq!(vec, [2, 3]);
    /// ```
    #[must_use = "parallel iterators do nothing until they are consumed"]
    ParIterMut: &'a mut [T] => &'a mut T, Send;
}

impl<'a, T: Sync> IntoParallelIterator for &'a ParVec<T> {
    type Item = &'a T;
    type Iter = ParIter<'a, T>;

    fn into_par_iter(self) -> ParIter<'a, T> {
        ParIter {
            rows: self.buckets.slices(),
        }
    }
}

impl<'a, T: Send> IntoParallelIterator for &'a mut ParVec<T> {
    type Item = &'a mut T;
    type Iter = ParIterMut<'a, T>;

    fn into_par_iter(self) -> ParIterMut<'a, T> {
        ParIterMut {
            rows: self.buckets.slices_mut(),
        }
    }
}

impl<T: Send> IntoParallelIterator for ParVec<T> {
    type Item = T;
    type Iter = vec::IntoIter<T>;

    fn into_par_iter(self) -> vec::IntoIter<T> {
        self.into_vec().into_par_iter()
    }
}

/// Keeps the order.
impl<T: Send> FromParallelIterator<T> for ParVec<T> {
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(values: I) -> Self {
        Vec::from_par_iter(values).into()
    }
}

/// Keeps the order.
impl<T: Send> ParallelExtend<T> for ParVec<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, values: I) {
        let mut values = Vec::from_par_iter(values);
        if self.is_empty() && self.buckets.owns_nothing() {
            *self = values.into();
        } else {
            self.buckets.push_block(&mut values);
        }
    }
}

/// Appends in blocks. Values of other threads may come between two blocks.
impl<T: Send + Sync> ParallelExtend<T> for &ParVec<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, values: I) {
        let vec: &ParVec<T> = self;
        values
            .into_par_iter()
            .for_each_init(|| vec.pusher(), |pusher, value| pusher.push(value));
    }
}
