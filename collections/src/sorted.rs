//! A vector in ascending order, sorted in parallel: ranges, merging, joining.
#![forbid(unsafe_code)]

use std::borrow::Borrow;
use std::ops::{Bound, Deref, RangeBounds};
use std::vec;
use tine_iter::iter::{FromParallelIterator, IntoParallelIterator, ParallelIterator};
use tine_iter::slice::{ParallelSlice, ParallelSliceMut};
use tine_iter::sort::ParallelSort;

/// How many left items one step of a join takes.
const STEP: usize = 1024;

/// A vector in ascending order. It is built in one go, by a parallel sort. Then it can be searched
/// by ranges, and merged or joined with other vectors.
///
/// Dereferences to the slice. Elements cannot be changed or inserted: collect again, or
/// [`merge`](Self::merge).
///
/// ```
/// use tine::SortedVec;
/// use tine::prelude::*;
///
/// let years: SortedVec<u32> = [1989, 1969, 2004, 1991, 1969].into_par_iter().collect();
/// assert_eq!(years.range(1969..1990), [1969, 1969, 1989]);
/// assert_eq!((years.first(), years.last()), (Some(&1969), Some(&2004)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedVec<T>(Vec<T>);

impl<T> Default for SortedVec<T> {
    fn default() -> Self {
        SortedVec(Vec::new())
    }
}

impl<T: Ord> SortedVec<T> {
    /// Takes a vector that is in order already, or gives it back as the error. Looks once at each
    /// element.
    ///
    /// ```
    /// # use tine::SortedVec;
    /// assert!(SortedVec::from_sorted(vec![1, 2, 2]).is_ok());
    /// assert_eq!(SortedVec::from_sorted(vec![2, 1]), Err(vec![2, 1]));
    /// ```
    pub fn from_sorted(values: Vec<T>) -> Result<Self, Vec<T>> {
        if values.is_sorted() {
            Ok(SortedVec(values))
        } else {
            Err(values)
        }
    }

    /// The elements within the range, by bisection. Empty if the range ends before it begins.
    ///
    /// ```
    /// # use tine::SortedVec;
    /// let words = SortedVec::from(vec!["tine", "comb", "fork", "prong"]);
    /// assert_eq!(words.range("d".."q"), ["fork", "prong"]);
    /// assert_eq!(words.range(.."fork"), ["comb"]);
    /// assert_eq!(words.range("z"..).len(), 0);
    /// ```
    pub fn range<Q, R>(&self, range: R) -> &[T]
    where
        T: Borrow<Q>,
        Q: Ord + ?Sized,
        R: RangeBounds<Q>,
    {
        let start = match range.start_bound() {
            Bound::Unbounded => 0,
            Bound::Included(key) => self.0.partition_point(|t| t.borrow() < key),
            Bound::Excluded(key) => self.0.partition_point(|t| t.borrow() <= key),
        };
        let end = match range.end_bound() {
            Bound::Unbounded => self.0.len(),
            Bound::Included(key) => self.0.partition_point(|t| t.borrow() <= key),
            Bound::Excluded(key) => self.0.partition_point(|t| t.borrow() < key),
        };
        self.0.get(start..end).unwrap_or(&[])
    }

    /// The elements that are equal to `key`.
    ///
    /// ```
    /// # use tine::SortedVec;
    /// assert_eq!(SortedVec::from(vec![3, 1, 3]).equal_to(&3), [3, 3]);
    /// ```
    pub fn equal_to<Q>(&self, key: &Q) -> &[T]
    where
        T: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        let start = self.0.partition_point(|t| t.borrow() < key);
        let rest = &self.0[start..];
        &rest[..rest.partition_point(|t| t.borrow() == key)]
    }

    /// Whether an element is equal to `key`, by bisection.
    ///
    /// ```
    /// # use tine::SortedVec;
    /// assert!(SortedVec::from(vec![3, 1]).contains(&1));
    /// ```
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        T: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.0.binary_search_by(|t| t.borrow().cmp(key)).is_ok()
    }

    /// Merges two vectors into one, in parallel. Of equal elements this vector's come first.
    ///
    /// ```
    /// # use tine::SortedVec;
    /// let merged = SortedVec::from(vec![1, 5]).merge(SortedVec::from(vec![7, 3]));
    /// assert_eq!(*merged, [1, 3, 5, 7]);
    /// ```
    pub fn merge(mut self, other: Self) -> Self
    where
        T: Send,
    {
        let mid = self.0.len();
        self.0.extend(other.0);
        self.0.par_merge(mid);
        self
    }

    /// Each pair of an element of this vector and an element of the other with the same key, in the
    /// order of both vectors.
    ///
    /// The keys must ascend as the elements do: the order of a vector must begin with the key. (If
    /// they do not, pairs are missing.)
    ///
    /// ```
    /// use tine::SortedVec;
    /// use tine::prelude::*;
    ///
    /// let towns = SortedVec::from(vec![(2, "Bergen"), (1, "Aachen")]);
    /// let people = SortedVec::from(vec![(1, "Ada"), (2, "Bob"), (1, "Cy"), (3, "Di")]);
    /// let pairs: Vec<_> = towns.join_by_key(&people, |town| town.0, |person| person.0).collect();
    /// let names: Vec<_> = pairs.iter().map(|(town, person)| (town.1, person.1)).collect();
    /// assert_eq!(names, [("Aachen", "Ada"), ("Aachen", "Cy"), ("Bergen", "Bob")]);
    /// ```
    pub fn join_by_key<'a, U, K, F, G>(
        &'a self,
        other: &'a SortedVec<U>,
        key: F,
        other_key: G,
    ) -> impl ParallelIterator<Item = (&'a T, &'a U)>
    where
        T: Sync,
        U: Sync,
        K: Ord,
        F: Fn(&T) -> K + Send + Sync,
        G: Fn(&U) -> K + Send + Sync,
    {
        let other = other.0.as_slice();
        self.0.par_chunks(STEP).flat_map_iter(move |step| {
            let mut pairs = Vec::new();
            let mut rest = match step.first().map(&key) {
                Some(first) => &other[other.partition_point(|u| other_key(u) < first)..],
                None => other,
            };
            for left in step {
                let wanted = key(left);
                while let [u, more @ ..] = rest
                    && other_key(u) < wanted
                {
                    rest = more;
                }
                let row = rest.iter().take_while(|u| other_key(u) == wanted);
                pairs.extend(row.map(|u| (left, u)));
            }
            pairs
        })
    }
}

impl<T> SortedVec<T> {
    /// The elements as a plain vector.
    ///
    /// ```
    /// # use tine::SortedVec;
    /// assert_eq!(SortedVec::from(vec![3, 1]).into_vec(), [1, 3]);
    /// ```
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Deref for SortedVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

/// Sorts in parallel; equal elements keep their order.
impl<T: Ord + Send> From<Vec<T>> for SortedVec<T> {
    fn from(mut values: Vec<T>) -> Self {
        values.par_sort();
        SortedVec(values)
    }
}

impl<T> From<SortedVec<T>> for Vec<T> {
    fn from(sorted: SortedVec<T>) -> Self {
        sorted.0
    }
}

impl<T: Ord + Send> FromIterator<T> for SortedVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl<T: Ord + Send> FromParallelIterator<T> for SortedVec<T> {
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(values: I) -> Self {
        Vec::from_par_iter(values).into()
    }
}

impl<T> IntoIterator for SortedVec<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> vec::IntoIter<T> {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a SortedVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.0.iter()
    }
}

impl<T: Send> IntoParallelIterator for SortedVec<T> {
    type Item = T;
    type Iter = tine_iter::vec::IntoIter<T>;

    fn into_par_iter(self) -> Self::Iter {
        self.0.into_par_iter()
    }
}

impl<'a, T: Sync> IntoParallelIterator for &'a SortedVec<T> {
    type Item = &'a T;
    type Iter = tine_iter::slice::Iter<'a, T>;

    fn into_par_iter(self) -> Self::Iter {
        self.0.as_slice().into_par_iter()
    }
}
