//! One item repeated.
#![forbid(unsafe_code)]

use crate::convert::IntoParallelIterator;
use crate::iter::{IndexedParallelIterator, Zip};
use crate::plumbing::{Folder, Producer, UnindexedProducer};
use crate::sources::kit::{indexed, unindexed};
use std::fmt;
use std::iter;

/// Parallel iterator that hands out clones of an item without end.
///
/// Made by [`repeat`].
///
/// ```
/// use tine::{iter::{Repeat, repeat}, prelude::*};
///
/// let sevens: Repeat<i32> = repeat(7);
/// assert_eq!(sevens.take(3).sum::<i32>(), 21);
/// ```
#[derive(Debug, Clone)]
pub struct Repeat<T> {
    item: T,
}

/// Hands out clones of `item` without end.
///
/// Something must stop it: [`take`](Repeat::take), [`zip`](Repeat::zip), or an adapter or sink that
/// stops early.
///
/// ```
/// use tine::iter::repeat;
/// use tine::prelude::*;
///
/// let tagged: Vec<(char, i32)> = repeat('x').zip(1..3).collect();
/// assert_eq!(tagged, [('x', 1), ('x', 2)]);
/// ```
pub fn repeat<T: Clone + Send>(item: T) -> Repeat<T> {
    Repeat { item }
}

impl<T: Clone + Send> Repeat<T> {
    /// Hands out `n` clones. This part of the endless source is indexed.
    ///
    /// ```
    /// use tine::iter::repeat;
    /// use tine::prelude::*;
    ///
    /// assert_eq!(repeat(2).take(10).product::<u32>(), 1024);
    /// ```
    pub fn take(self, n: usize) -> RepeatN<T> {
        repeat_n(self.item, n)
    }

    /// Pairs a clone with each item of another iterator.
    ///
    /// ```
    /// use tine::iter::repeat;
    /// use tine::prelude::*;
    ///
    /// let scaled: Vec<i32> = repeat(3).zip([1, 2]).map(|(a, b)| a * b).collect();
    /// assert_eq!(scaled, [3, 6]);
    /// ```
    pub fn zip<Z>(self, other: Z) -> Zip<RepeatN<T>, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        let other = other.into_par_iter();
        self.take(other.len()).zip(other)
    }
}

unindexed! { [T: Clone + Send] Repeat<T> => T; producer(it) Endless(it.item) }

/// Produces clones without end.
struct Endless<T>(T);

impl<T: Clone + Send> UnindexedProducer for Endless<T> {
    type Item = T;

    fn split(self) -> (Self, Option<Self>) {
        (Endless(self.0.clone()), Some(self))
    }

    fn fold_with<F: Folder<T>>(self, folder: F) -> F {
        folder.consume_iter(iter::repeat(self.0))
    }
}

/// Parallel iterator that hands out N clones of an item.
///
/// Made by [`repeat_n`] and by [`Repeat::take`].
///
/// ```
/// use tine::{iter::{RepeatN, repeat_n}, prelude::*};
///
/// let sevens: RepeatN<i32> = repeat_n(7, 3);
/// assert_eq!(sevens.sum::<i32>(), 21);
/// ```
#[derive(Clone)]
pub struct RepeatN<T> {
    clones: Clones<T>,
}

/// Hands out `item` `n` times: `n - 1` clones, and the item itself.
///
/// ```
/// use tine::iter::repeat_n;
/// use tine::prelude::*;
///
/// assert_eq!(repeat_n('z', 4).collect::<String>(), "zzzz");
/// ```
pub fn repeat_n<T: Clone + Send>(item: T, n: usize) -> RepeatN<T> {
    RepeatN {
        clones: Clones::new(Some(item), n),
    }
}

/// The former name of [`repeat_n`].
///
/// ```
/// # #![allow(deprecated)]
/// use tine::iter::repeatn;
/// use tine::prelude::*;
///
/// assert_eq!(repeatn(5, 3).sum::<i32>(), 15);
/// ```
#[deprecated(note = "use `repeat_n`")]
pub fn repeatn<T: Clone + Send>(item: T, n: usize) -> RepeatN<T> {
    repeat_n(item, n)
}

impl<T: fmt::Debug> fmt::Debug for RepeatN<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("RepeatN");
        f.field("count", &self.clones.left);
        match &self.clones.item {
            Some(item) => f.field("element", item).finish(),
            None => f.finish_non_exhaustive(),
        }
    }
}

indexed! {
    [T: Clone + Send] RepeatN<T> => T;
    len(it) it.clones.left;
    producer(it) it.clones;
}

/// A number of clones of an item: producer and sequential iterator at once.
///
/// The item is there exactly while `left` is not zero.
#[derive(Clone)]
struct Clones<T> {
    item: Option<T>,
    left: usize,
}

impl<T> Clones<T> {
    fn new(item: Option<T>, left: usize) -> Self {
        Clones {
            item: item.filter(|_| left > 0),
            left,
        }
    }
}

impl<T: Clone + Send> Producer for Clones<T> {
    type Item = T;
    type IntoIter = Self;

    fn into_iter(self) -> Self {
        self
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Clones { item, left } = self;
        assert!(index <= left, "split at {index} of {left} repeated items");
        let to_clone = item.as_ref().filter(|_| 0 < index && index < left);
        match to_clone.cloned() {
            Some(clone) => (
                Clones::new(Some(clone), index),
                Clones::new(item, left - index),
            ),
            None if index == 0 => (Clones::new(None, 0), Clones::new(item, left)),
            None => (Clones::new(item, left), Clones::new(None, 0)),
        }
    }
}

impl<T: Clone> Iterator for Clones<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.left > 1 {
            self.left -= 1;
            self.item.clone()
        } else {
            self.left = 0;
            self.item.take()
        }
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.left = self.left.saturating_sub(n);
        if self.left == 0 {
            self.item = None;
        }
        self.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    #[inline]
    fn fold<A, F: FnMut(A, T) -> A>(self, init: A, mut f: F) -> A {
        let Some(item) = self.item else { return init };
        let folded = (1..self.left).fold(init, |folded, _| f(folded, item.clone()));
        f(folded, item)
    }
}

impl<T: Clone> DoubleEndedIterator for Clones<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.next()
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        self.nth(n)
    }

    #[inline]
    fn rfold<A, F: FnMut(A, T) -> A>(self, init: A, f: F) -> A {
        self.fold(init, f)
    }
}

impl<T: Clone> ExactSizeIterator for Clones<T> {}
