//! Parallel iterators over the one value of an `Option`, or none.
#![forbid(unsafe_code)]

use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use crate::sources::kit::{clone_inner, indexed, into_par};
use std::option;

/// Parallel iterator that moves the value out of an `Option`.
///
/// ```
/// use tine::prelude::*;
///
/// let with_last: Vec<i32> = [1, 2].into_par_iter().chain(Some(3)).collect();
/// assert_eq!(with_last, [1, 2, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct IntoIter<T> {
    value: Option<T>,
}

impl<T: Send> ParallelIterator for IntoIter<T> {
    type Item = T;

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        self.drive(consumer)
    }

    crate::kit::go_on::goes_on! {
        |it, to, folder| {
            let folder = folder.unwrap_or_else(|| to().into_folder());
            crate::plumbing::Went::Open(match it.value {
                Some(value) if !folder.full() => folder.consume(value),
                _ => folder,
            })
        }
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len())
    }
}

impl<T: Send> IndexedParallelIterator for IntoIter<T> {
    /// A single item cannot be shared.
    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
        let folder = consumer.into_folder();
        match self.value {
            Some(value) => folder.consume(value).complete(),
            None => folder.complete(),
        }
    }

    fn len(&self) -> usize {
        usize::from(self.value.is_some())
    }

    fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
        callback.callback(AtMostOne(self.value))
    }
}

/// Produces the value that is there.
struct AtMostOne<T>(Option<T>);

impl<T: Send> Producer for AtMostOne<T> {
    type Item = T;
    type IntoIter = option::IntoIter<T>;

    fn into_iter(self) -> option::IntoIter<T> {
        self.0.into_iter()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        match index {
            0 => (AtMostOne(None), self),
            1 if self.0.is_some() => (self, AtMostOne(None)),
            _ => panic!("an option was cut behind its end, at {index}"),
        }
    }
}

/// Parallel iterator over the value of an `Option`, by shared reference.
///
/// ```
/// use tine::{option::Iter, prelude::*};
///
/// let there: Iter<'_, i32> = Some(7).par_iter();
/// assert_eq!(there.sum::<i32>(), 7);
/// ```
#[derive(Debug)]
pub struct Iter<'a, T> {
    inner: IntoIter<&'a T>,
}

/// Parallel iterator over the value of an `Option`, by exclusive reference.
///
/// ```
/// use tine::{option::IterMut, prelude::*};
///
/// let mut seven = Some(7);
/// let there: IterMut<'_, i32> = seven.par_iter_mut();
/// there.for_each(|n| *n += 1);
/// assert_eq!(seven, Some(8));
/// ```
#[derive(Debug)]
pub struct IterMut<'a, T> {
    inner: IntoIter<&'a mut T>,
}

clone_inner! { ['a, T] Iter<'a, T> }

indexed! { ['a, T: Sync] Iter<'a, T> => &'a T; len(it) it.inner.len(); inner(it) it.inner }
indexed! { ['a, T: Send] IterMut<'a, T> => &'a mut T; len(it) it.inner.len(); inner(it) it.inner }

into_par! { [T: Send] Option<T> => IntoIter<T>: T; (value) IntoIter { value } }
into_par! {
    ['a, T: Sync] &'a Option<T> => Iter<'a, T>: &'a T;
    (option) Iter { inner: option.as_ref().into_par_iter() }
}
into_par! {
    ['a, T: Send] &'a mut Option<T> => IterMut<'a, T>: &'a mut T;
    (option) IterMut { inner: option.as_mut().into_par_iter() }
}
