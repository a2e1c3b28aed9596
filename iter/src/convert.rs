//! What can become a parallel iterator, and what can be made from one.
#![forbid(unsafe_code)]

use std::ops::RangeBounds;

use crate::iter::ParallelIterator;

/// A type that can be turned into a parallel iterator by value.
///
/// Collections give up their items; a shared or exclusive reference to a collection gives
/// references. Ranges and tuples of parallel iterators can be turned into one too, and so can every
/// parallel iterator, into itself.
///
/// ```
/// use tine::prelude::*;
///
/// /// Whatever is iterated over, twice.
/// fn twice(numbers: impl IntoParallelIterator<Item = i32>) -> Vec<i32> {
///     numbers.into_par_iter().map(|n| 2 * n).collect()
/// }
/// assert_eq!(twice(1..3), [2, 4]);
/// assert_eq!(twice(vec![5]), [10]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be iterated over in parallel",
    label = "this has no `into_par_iter`",
    note = "an iterator of std becomes parallel by `.par_bridge()`, or once collected into a `Vec`",
    note = "a `ParHashMap` or `ParHashSet` behind `&` is shared, so a walk would need locks: `freeze()` it, or borrow it as `&mut`"
)]
pub trait IntoParallelIterator {
    /// The parallel iterator that `Self` becomes.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// The item type of that iterator.
    type Item: Send;

    /// Turns `self` into a parallel iterator.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let total: u64 = (1..=10_u64).into_par_iter().sum();
    /// assert_eq!(total, 55);
    /// let longest = vec!["a", "ccc", "bb"].into_par_iter().max_by_key(|word| word.len());
    /// assert_eq!(longest, Some("ccc"));
    /// ```
    fn into_par_iter(self) -> Self::Iter;
}

impl<T: ParallelIterator> IntoParallelIterator for T {
    type Iter = T;
    type Item = T::Item;

    fn into_par_iter(self) -> T {
        self
    }
}

/// A type that can be iterated over in parallel by shared reference: every type whose shared
/// reference is [`IntoParallelIterator`].
///
/// ```
/// use tine::prelude::*;
///
/// let v = vec![1, 2, 3];
/// assert_eq!(v.par_iter().sum::<i32>(), 6);
/// assert_eq!(v.len(), 3); // it is still there
/// ```
pub trait IntoParallelRefIterator<'data> {
    /// The parallel iterator that is returned.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// The item type of that iterator: usually `&'data T`.
    type Item: Send + 'data;

    /// A parallel iterator over references to the items of `self`.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let v = vec![1, 2, 3];
    /// assert!(v.par_iter().all(|&x| x > 0));
    /// ```
    #[must_use = "parallel iterators do nothing until they are consumed"]
    fn par_iter(&'data self) -> Self::Iter;
}

impl<'data, I: 'data + ?Sized> IntoParallelRefIterator<'data> for I
where
    &'data I: IntoParallelIterator,
{
    type Iter = <&'data I as IntoParallelIterator>::Iter;
    type Item = <&'data I as IntoParallelIterator>::Item;

    fn par_iter(&'data self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// A type that can be iterated over in parallel by exclusive reference: every type whose exclusive
/// reference is [`IntoParallelIterator`].
///
/// ```
/// use tine::prelude::*;
///
/// let mut words = [String::from("fork"), String::from("tine")];
/// words.par_iter_mut().for_each(|word| word.push('s'));
/// assert_eq!(words, ["forks", "tines"]);
/// ```
pub trait IntoParallelRefMutIterator<'data> {
    /// The parallel iterator that is returned.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// The item type of that iterator: usually `&'data mut T`.
    type Item: Send + 'data;

    /// A parallel iterator over exclusive references to the items of `self`.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = vec![1, 2, 3];
    /// v.par_iter_mut().for_each(|x| *x *= 2);
    /// assert_eq!(v, [2, 4, 6]);
    /// ```
    #[must_use = "parallel iterators do nothing until they are consumed"]
    fn par_iter_mut(&'data mut self) -> Self::Iter;
}

impl<'data, I: 'data + ?Sized> IntoParallelRefMutIterator<'data> for I
where
    &'data mut I: IntoParallelIterator,
{
    type Iter = <&'data mut I as IntoParallelIterator>::Iter;
    type Item = <&'data mut I as IntoParallelIterator>::Item;

    fn par_iter_mut(&'data mut self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// A collection that a parallel iterator can empty while it keeps its capacity.
///
/// ```
/// use std::collections::HashMap;
/// use tine::prelude::*;
///
/// let mut map = HashMap::from([(1, "a"), (2, "b")]);
/// assert_eq!(map.par_drain().map(|(n, _)| n).max(), Some(2));
/// assert!(map.is_empty());
/// ```
pub trait ParallelDrainFull {
    /// The parallel iterator that drains.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// Its items: usually `T` where `Self` is a collection of `T`.
    type Item: Send;

    /// Removes all items and hands them out in parallel.
    ///
    /// Items that are not consumed are dropped.
    ///
    /// ```
    /// use std::collections::HashSet;
    /// use tine::prelude::*;
    ///
    /// let mut set = HashSet::from([1, 2, 3]);
    /// assert_eq!(set.par_drain().sum::<i32>(), 6);
    /// assert!(set.is_empty());
    /// ```
    fn par_drain(self) -> Self::Iter;
}

/// A collection that a parallel iterator can take a range out of.
///
/// ```
/// use tine::prelude::*;
///
/// let mut text = String::from("a long fork");
/// assert_eq!(text.par_drain(2..7).count(), 5);
/// assert_eq!(text, "a fork");
/// ```
pub trait ParallelDrainRange<Idx = usize> {
    /// The parallel iterator that drains.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// Its items: usually `T` where `Self` is a collection of `T`.
    type Item: Send;

    /// Removes a range of items and hands them out in parallel.
    ///
    /// Items that are not consumed are dropped. The items behind the range move up.
    ///
    /// # Panics
    ///
    /// If the range is reversed or reaches beyond the end.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = vec![1, 2, 3, 4, 5];
    /// assert_eq!(v.par_drain(1..4).sum::<i32>(), 9);
    /// assert_eq!(v, [1, 5]);
    /// ```
    #[track_caller]
    fn par_drain<R: RangeBounds<Idx>>(self, range: R) -> Self::Iter;
}

/// A type that can be made from a parallel iterator, for instance by `collect`.
///
/// ```
/// use tine::prelude::*;
///
/// /// How many bytes are there, and how many of them are zero?
/// #[derive(Debug, PartialEq)]
/// struct Zeros(usize, usize);
///
/// impl FromParallelIterator<u8> for Zeros {
///     fn from_par_iter<I: IntoParallelIterator<Item = u8>>(bytes: I) -> Self {
///         let each = bytes.into_par_iter().map(|byte| Zeros(1, usize::from(byte == 0)));
///         each.reduce(|| Zeros(0, 0), |a, b| Zeros(a.0 + b.0, a.1 + b.1))
///     }
/// }
/// assert_eq!([7, 0, 9].into_par_iter().collect::<Zeros>(), Zeros(3, 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be collected from parallel items of type `{T}`",
    label = "`{Self}` is not collected from `{T}`",
    note = "maps are collected from pairs `(key, value)`; a slice or an array is collected as a `Vec` first"
)]
pub trait FromParallelIterator<T>
where
    T: Send,
{
    /// Makes `Self` from the items of the parallel iterator.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let squares = Vec::from_par_iter((1..4).into_par_iter().map(|x| x * x));
    /// assert_eq!(squares, [1, 4, 9]);
    /// ```
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = T>;
}

/// A collection that can be extended by the items of a parallel iterator.
///
/// ```
/// use tine::prelude::*;
///
/// let mut text = String::from("a fork");
/// text.par_extend([" has", " tines"]);
/// assert_eq!(text, "a fork has tines");
/// ```
pub trait ParallelExtend<T>
where
    T: Send,
{
    /// Adds the items of the parallel iterator.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let mut v = vec![1, 2];
    /// v.par_extend(3..5);
    /// assert_eq!(v, [1, 2, 3, 4]);
    /// ```
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = T>;
}
