//! One value of all items, changed in place: a fold by `&mut`, and the reductions made of it.
//!
//! A large accumulator is boxed, so that handing it on from block to block moves a pointer.
#![forbid(unsafe_code)]

use std::cmp::Ordering;
use std::mem::needs_drop;
use std::panic::Location;

use crate::iter::ParallelIterator;
use crate::kit::gather::Gather;
use crate::kit::keep::{earlier, pick, without_key};
use crate::kit::sink::{Sink, drain};
use crate::scan::is_exact;
use crate::sinks::reduce::{greater, lesser};

/// Larger accumulators are boxed.
const LARGE: usize = 128;

/// Reductions of any parallel iterator to one value.
///
/// ```
/// use tine::algorithms::ParallelAccumulate;
/// use tine::prelude::*;
///
/// let throws = [3_usize, 6, 1, 3, 3, 6];
/// let counts = throws.par_iter().accumulate(
///     || [0; 7],
///     |counts, &eyes| counts[eyes] += 1,
///     |counts, others| counts.iter_mut().zip(others).for_each(|(a, b)| *a += b),
/// );
/// assert_eq!(counts, [0, 1, 0, 3, 0, 0, 2]);
/// assert_eq!(throws.par_iter().copied().min_max(), Some((1, 6)));
/// ```
pub trait ParallelAccumulate: ParallelIterator {
    /// Accumulates all items into one value, which is changed in place. `init` begins a value for a
    /// contiguous piece of the items. `add` changes it for each item of the piece, in order.
    /// `merge` adds the value of the next piece to it.
    ///
    /// This is `fold` and `reduce` in one, for accumulators that are changed rather than replaced:
    /// arrays, matrices, tables. `init` is called once, and once more for each piece that another
    /// thread took. Its value must be neutral, since it may be merged.
    ///
    /// ```
    /// use tine::algorithms::ParallelAccumulate;
    /// use tine::prelude::*;
    ///
    /// let text = "a fork has tines";
    /// let letters = text.as_bytes().par_iter().accumulate(
    ///     || [0_u64; 256],
    ///     |counts, &byte| counts[usize::from(byte)] += 1,
    ///     |counts, others| counts.iter_mut().zip(others).for_each(|(a, b)| *a += b),
    /// );
    /// assert_eq!(letters[usize::from(b's')], 2);
    /// ```
    fn accumulate<A, ID, F, M>(self, init: ID, add: F, merge: M) -> A
    where
        A: Send,
        ID: Fn() -> A + Sync + Send,
        F: Fn(&mut A, Self::Item) + Sync + Send,
        M: Fn(&mut A, A) + Sync + Send,
    {
        if const { size_of::<A>() > LARGE } {
            *drain(self, &Boxed { init, add, merge })
        } else {
            drain(self, &Inline { init, add, merge })
        }
    }

    /// How many items fall into each of `N` bins.
    ///
    /// # Panics
    ///
    /// If `bin` returns a number that is not less than `N`.
    ///
    /// ```
    /// use tine::algorithms::ParallelAccumulate;
    /// use tine::prelude::*;
    ///
    /// let grades = [1.0, 2.3, 1.7, 2.0];
    /// let counts = grades.par_iter().histogram_array::<4, _>(|grade: &f64| *grade as usize);
    /// assert_eq!(counts, [0, 2, 2, 0]);
    /// ```
    #[track_caller]
    fn histogram_array<const N: usize, F>(self, bin: F) -> [usize; N]
    where
        F: Fn(Self::Item) -> usize + Sync + Send,
    {
        let call = Location::caller();
        let add = |counts: &mut [usize; N], item| count(counts, bin(item), call);
        self.accumulate(|| [0; N], add, |counts, others| sum_up(counts, &others))
    }

    /// Histograms of `C` channels in one pass. For each item, `bins` returns the bin, below `N`, in
    /// each channel.
    ///
    /// # Panics
    ///
    /// If `bins` returns a number that is not less than `N`.
    ///
    /// ```
    /// use tine::algorithms::ParallelAccumulate;
    /// use tine::prelude::*;
    ///
    /// let pixels = [[255_u8, 0, 0], [255, 128, 0]];
    /// let [red, green, _] = pixels
    ///     .par_iter()
    ///     .histogram_channels::<3, 256, _>(|pixel| pixel.map(usize::from));
    /// assert_eq!((red[255], green[128]), (2, 1));
    /// ```
    #[track_caller]
    fn histogram_channels<const C: usize, const N: usize, F>(self, bins: F) -> [[usize; N]; C]
    where
        F: Fn(Self::Item) -> [usize; C] + Sync + Send,
    {
        let call = Location::caller();
        let add = |counts: &mut [[usize; N]; C], item| {
            for (counts, bin) in counts.iter_mut().zip(bins(item)) {
                count(counts, bin, call);
            }
        };
        let merge = |counts: &mut [[usize; N]; C], others: [[usize; N]; C]| {
            let channels = counts.iter_mut().zip(&others);
            channels.for_each(|(counts, others)| sum_up(counts, others));
        };
        self.accumulate(|| [[0; N]; C], add, merge)
    }

    /// The least and the greatest item, in one pass; of equal ones the first and the last. `None`
    /// if there are no items; the same item twice if there is one.
    ///
    /// ```
    /// use tine::algorithms::ParallelAccumulate;
    /// use tine::prelude::*;
    ///
    /// assert_eq!([3, 1, 2].par_iter().min_max(), Some((&1, &3)));
    /// ```
    fn min_max(self) -> Option<(Self::Item, Self::Item)>
    where
        Self::Item: Ord + Clone,
    {
        drain(self, &Ends)
    }

    /// The first of the least items and the last of the greatest items, in the order of `compare`.
    ///
    /// ```
    /// use tine::algorithms::ParallelAccumulate;
    /// use tine::prelude::*;
    ///
    /// let heights = [1.7, 1.6, 1.9];
    /// let range = heights.par_iter().copied().min_max_by(f64::total_cmp);
    /// assert_eq!(range, Some((1.6, 1.9)));
    /// ```
    fn min_max_by<F>(self, compare: F) -> Option<(Self::Item, Self::Item)>
    where
        Self::Item: Clone,
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        drain(self, &Extremes(compare))
    }

    /// The first item with the least key and the last item with the greatest key. The key of an
    /// item is computed once (and once more for the first item of a piece).
    ///
    /// ```
    /// use tine::algorithms::ParallelAccumulate;
    /// use tine::prelude::*;
    ///
    /// let words = ["fork", "a", "has", "tine"];
    /// let found = words.par_iter().min_max_by_key(|word| word.len());
    /// assert_eq!(found, Some((&"a", &"tine")));
    /// ```
    fn min_max_by_key<K, F>(self, key: F) -> Option<(Self::Item, Self::Item)>
    where
        Self::Item: Clone,
        K: Ord + Send,
        F: Fn(&Self::Item) -> K + Sync + Send,
    {
        let (least, greatest) = drain(self, &KeyedExtremes(key))?;
        Some((without_key(least), without_key(greatest)))
    }
}

impl<I: ParallelIterator> ParallelAccumulate for I {}

/// Counts one more item of a bin. The panic may come on any thread, so its message names the `call`.
#[inline]
fn count<const N: usize>(counts: &mut [usize; N], bin: usize, call: &Location<'_>) {
    match counts.get_mut(bin) {
        Some(count) => *count += 1,
        None => panic!("bin {bin} of a histogram with {N} bins, asked for at {call}"),
    }
}

fn sum_up<const N: usize>(counts: &mut [usize; N], others: &[usize; N]) {
    let both = counts.iter_mut().zip(others);
    both.for_each(|(count, more)| *count += more);
}

/// An accumulator that is handed on by value.
struct Inline<ID, F, M> {
    init: ID,
    add: F,
    merge: M,
}

impl<T, A, ID, F, M> Gather<T> for Inline<ID, F, M>
where
    ID: Fn() -> A + Sync,
    F: Fn(&mut A, T) + Sync,
    M: Sync,
{
    type State = A;
    type Out = A;

    fn start(&self) -> A {
        (self.init)()
    }

    #[inline]
    fn take(&self, mut acc: A, item: T) -> A {
        (self.add)(&mut acc, item);
        acc
    }

    #[inline]
    fn take_all(&self, mut acc: A, items: impl Iterator<Item = T>) -> A {
        items.for_each(|item| (self.add)(&mut acc, item));
        acc
    }

    fn finish(&self, acc: A) -> A {
        acc
    }
}

impl<T, A, ID, F, M> Sink<T> for Inline<ID, F, M>
where
    ID: Fn() -> A + Sync,
    F: Fn(&mut A, T) + Sync,
    M: Fn(&mut A, A) + Sync,
{
    fn merge(&self, mut acc: A, other: A) -> A {
        (self.merge)(&mut acc, other);
        acc
    }
}

/// An accumulator in a box.
struct Boxed<ID, F, M> {
    init: ID,
    add: F,
    merge: M,
}

impl<T, A, ID, F, M> Gather<T> for Boxed<ID, F, M>
where
    ID: Fn() -> A + Sync,
    F: Fn(&mut A, T) + Sync,
    M: Sync,
{
    type State = Box<A>;
    type Out = Box<A>;

    fn start(&self) -> Box<A> {
        Box::new((self.init)())
    }

    #[inline]
    fn take(&self, mut acc: Box<A>, item: T) -> Box<A> {
        (self.add)(&mut acc, item);
        acc
    }

    #[inline]
    fn take_all(&self, mut acc: Box<A>, items: impl Iterator<Item = T>) -> Box<A> {
        let inner = &mut *acc;
        items.for_each(|item| (self.add)(inner, item));
        acc
    }

    fn finish(&self, acc: Box<A>) -> Box<A> {
        acc
    }
}

impl<T, A, ID, F, M> Sink<T> for Boxed<ID, F, M>
where
    ID: Fn() -> A + Sync,
    F: Fn(&mut A, T) + Sync,
    M: Fn(&mut A, A) + Sync,
{
    fn merge(&self, mut acc: Box<A>, other: Box<A>) -> Box<A> {
        (self.merge)(&mut acc, *other);
        acc
    }
}

/// The first of the least and the last of the greatest.
struct Extremes<F>(F);

impl<T, F> Gather<T> for Extremes<F>
where
    T: Clone,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    type State = Option<(T, T)>;
    type Out = Option<(T, T)>;

    fn start(&self) -> Self::State {
        None
    }

    #[inline]
    fn take(&self, found: Self::State, item: T) -> Self::State {
        let Some((least, greatest)) = found else {
            return Some((item.clone(), item));
        };
        Some(if (self.0)(&item, &least).is_lt() {
            drop(least);
            (item, greatest)
        } else if (self.0)(&item, &greatest).is_ge() {
            drop(greatest);
            (least, item)
        } else {
            drop(item);
            (least, greatest)
        })
    }

    #[inline]
    fn take_all(&self, found: Self::State, mut items: impl Iterator<Item = T>) -> Self::State {
        let found = match found {
            Some(found) => found,
            None => items.next().map(|item| (item.clone(), item))?,
        };
        let (mut least, mut greatest) = found;
        // In pairs: the lesser of two items cannot be the greatest, and the greater cannot be the least.
        while let Some(first) = items.next() {
            let Some(second) = items.next() else {
                return self.take(Some((least, greatest)), first);
            };
            let (less, more) = if (self.0)(&second, &first).is_lt() {
                (second, first)
            } else {
                (first, second)
            };
            least = if (self.0)(&less, &least).is_lt() {
                less
            } else {
                least
            };
            greatest = if (self.0)(&more, &greatest).is_ge() {
                more
            } else {
                greatest
            };
        }
        Some((least, greatest))
    }

    fn finish(&self, found: Self::State) -> Self::Out {
        found
    }
}

impl<T, F> Sink<T> for Extremes<F>
where
    T: Clone,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    fn merge(&self, left: Option<(T, T)>, right: Option<(T, T)>) -> Option<(T, T)> {
        let ((least, greatest), (less, more)) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return earlier(left, right),
        };
        let least = pick((self.0)(&less, &least).is_lt(), less, least);
        let greatest = pick((self.0)(&more, &greatest).is_ge(), more, greatest);
        Some((least, greatest))
    }
}

/// As [`Extremes`], in the order of the items themselves. Numbers are cheaper one by one than in pairs.
struct Ends;

impl<T: Ord + Clone> Gather<T> for Ends {
    type State = Option<(T, T)>;
    type Out = Option<(T, T)>;

    fn start(&self) -> Self::State {
        None
    }

    #[inline]
    fn take(&self, found: Self::State, item: T) -> Self::State {
        Extremes(T::cmp).take(found, item)
    }

    #[inline]
    fn take_all(&self, found: Self::State, mut items: impl Iterator<Item = T>) -> Self::State {
        // Exact types that own nothing are numbers.
        if const { needs_drop::<T>() } || !is_exact::<T>() {
            return Extremes(T::cmp).take_all(found, items);
        }
        let ends = found.or_else(|| items.next().map(|item| (item.clone(), item)))?;
        Some(items.fold(ends, |(least, greatest), item| {
            (lesser(least, item.clone()), greater(greatest, item))
        }))
    }

    fn finish(&self, found: Self::State) -> Self::Out {
        found
    }
}

impl<T: Ord + Clone> Sink<T> for Ends {
    fn merge(&self, left: Option<(T, T)>, right: Option<(T, T)>) -> Option<(T, T)> {
        Extremes(T::cmp).merge(left, right)
    }
}

/// As [`Extremes`], by keys, each with its item.
struct KeyedExtremes<F>(F);

type Keyed<K, T> = Option<((K, T), (K, T))>;

impl<K, T, F> Gather<T> for KeyedExtremes<F>
where
    T: Clone,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    type State = Keyed<K, T>;
    type Out = Keyed<K, T>;

    fn start(&self) -> Self::State {
        None
    }

    #[inline]
    fn take(&self, found: Self::State, item: T) -> Self::State {
        let key = (self.0)(&item);
        let Some((least, greatest)) = found else {
            let twin = item.clone();
            return Some((((self.0)(&twin), twin), (key, item)));
        };
        Some(if key < least.0 {
            drop(least);
            ((key, item), greatest)
        } else if key >= greatest.0 {
            drop(greatest);
            (least, (key, item))
        } else {
            drop((key, item));
            (least, greatest)
        })
    }

    fn finish(&self, found: Self::State) -> Self::Out {
        found
    }
}

impl<K, T, F> Sink<T> for KeyedExtremes<F>
where
    T: Clone,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    fn merge(&self, left: Keyed<K, T>, right: Keyed<K, T>) -> Keyed<K, T> {
        let ((least, greatest), (less, more)) = match (left, right) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => return earlier(left, right),
        };
        let least = pick(less.0 < least.0, less, least);
        let greatest = pick(more.0 >= greatest.0, more, greatest);
        Some((least, greatest))
    }
}
