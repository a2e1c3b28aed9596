//! Several results for each key in one pass: counts, sums, bounds, means.
#![forbid(unsafe_code)]

use super::fold::{AtOnce, Fold, sums_at_once};
use super::tally::tables_into;
use crate::hasher::DefaultHashBuilder;
use crate::map::ParHashMap;
use crate::map::shard::Shards;
use crate::partition::par_map;
use hashbrown::HashTable;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::mem;
use std::ops::AddAssign;
use tine_iter::iter::ParallelIterator;

/// One result for each key: how it begins, grows, is joined with the result of later items, and ends.
pub trait Aggregate<T>: Send + Sync {
    /// The state from which the result is made.
    type State: Send;
    /// The result.
    type Out: Send;

    /// The state after the first item.
    fn start(&self, item: &T) -> Self::State;
    /// Adds an item.
    fn add(&self, state: &mut Self::State, item: &T);
    /// Adds the state of later items.
    fn merge(&self, state: &mut Self::State, later: Self::State);
    /// The result.
    fn finish(&self, state: Self::State) -> Self::Out;

    /// Whether a state is the result already, so that `State` and `Out` are one type.
    const DONE: bool = true;
    /// The same value, as a type with results in place of states. `None` if not `DONE`.
    fn done<H: Hole>(states: H::Of<Self::State>) -> Option<H::Of<Self::Out>>;
}

/// A type constructor, such as "a vector of X" for any X. With it, a generic function can treat a
/// value that holds states as a value that holds results, although only each aggregate knows that
/// the two are the same type.
pub trait Hole {
    /// The type for this `X`.
    type Of<X>;
}

/// The tables of a map whose values are `X`.
struct Values<K>(PhantomData<K>);

impl<K> Hole for Values<K> {
    type Of<X> = Vec<HashTable<(K, X)>>;
}

/// Several results for each key, from [`aggregate_by`](super::ParallelGrouping::aggregate_by): call the method
/// of each wanted result, then [`finish`](Self::finish).
///
/// ```
/// use tine::prelude::*;
///
/// let sales = [("north", 3), ("south", 5), ("north", 4)];
/// let report = sales
///     .par_iter()
///     .aggregate_by(|sale| sale.0)
///     .count()
///     .sum(|sale| sale.1)
///     .max(|sale| sale.1)
///     .finish();
/// assert_eq!(report.get_cloned("north"), Some((2, 7, 4)));
/// ```
#[must_use = "nothing is done before `finish`"]
pub struct AggregateBy<I, F, A> {
    pub(super) items: I,
    pub(super) key: F,
    pub(super) wanted: A,
}

impl<I, F, A> fmt::Debug for AggregateBy<I, F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AggregateBy").finish_non_exhaustive()
    }
}

/// A list of results that can take one more.
pub trait Append<X> {
    /// The longer list.
    type Longer;
    /// The list with one more result.
    fn append(self, more: X) -> Self::Longer;
}

/// The number of items.
#[derive(Clone, Copy, Debug)]
pub struct Count;

/// The sum of the values that a closure returns.
#[derive(Clone, Copy)]
pub struct Sum<F>(F);

/// The smallest value that a closure returns.
#[derive(Clone, Copy)]
pub struct Min<F>(F);

/// The largest value that a closure returns.
#[derive(Clone, Copy)]
pub struct Max<F>(F);

/// The mean of the values that a closure returns.
#[derive(Clone, Copy)]
pub struct Mean<F>(F);

/// The value that a closure returns for the first item.
#[derive(Clone, Copy)]
pub struct First<F>(F);

/// The value that a closure returns for the last item.
#[derive(Clone, Copy)]
pub struct Last<F>(F);

macro_rules! opaque {
    ($($name:ident)*) => {$(
        impl<F> fmt::Debug for $name<F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

opaque! { Sum Min Max Mean First Last }

impl<T> Aggregate<T> for Count {
    type State = usize;
    type Out = usize;

    #[inline]
    fn start(&self, _: &T) -> usize {
        1
    }

    #[inline]
    fn add(&self, count: &mut usize, _: &T) {
        *count += 1;
    }

    #[inline]
    fn merge(&self, count: &mut usize, later: usize) {
        *count += later;
    }

    fn finish(&self, count: usize) -> usize {
        count
    }

    fn done<H: Hole>(counts: H::Of<usize>) -> Option<H::Of<usize>> {
        Some(counts)
    }
}

/// A result that is made from the closure's values, two at a time.
macro_rules! of_two {
    ($($name:ident, [$($bound:tt)*], |$state:ident, $value:ident| $combine:expr;)*) => {$(
        impl<T, V: Send + $($bound)*, F: Fn(&T) -> V + Send + Sync> Aggregate<T> for $name<F> {
            type State = V;
            type Out = V;

            #[inline]
            fn start(&self, item: &T) -> V {
                (self.0)(item)
            }

            #[inline]
            fn add(&self, state: &mut V, item: &T) {
                Aggregate::<T>::merge(self, state, (self.0)(item));
            }

            #[inline]
            fn merge(&self, $state: &mut V, $value: V) {
                $combine
            }

            fn finish(&self, state: V) -> V {
                state
            }

            fn done<H: Hole>(states: H::Of<V>) -> Option<H::Of<V>> {
                Some(states)
            }
        }
    )*};
}

of_two! {
    Sum, [AddAssign], |sum, more| *sum += more;
    Min, [Ord], |least, value| if value < *least { *least = value };
    Max, [Ord], |most, value| if value >= *most { *most = value };
    Last, [Sized], |last, value| *last = value;
}

impl<T, V: Send, F: Fn(&T) -> V + Send + Sync> Aggregate<T> for First<F> {
    type State = V;
    type Out = V;

    #[inline]
    fn start(&self, item: &T) -> V {
        (self.0)(item)
    }

    #[inline]
    fn add(&self, _: &mut V, _: &T) {}

    #[inline]
    fn merge(&self, _: &mut V, _: V) {}

    fn finish(&self, first: V) -> V {
        first
    }

    fn done<H: Hole>(firsts: H::Of<V>) -> Option<H::Of<V>> {
        Some(firsts)
    }
}

impl<T, F: Fn(&T) -> f64 + Send + Sync> Aggregate<T> for Mean<F> {
    type State = (f64, usize);
    type Out = f64;

    #[inline]
    fn start(&self, item: &T) -> (f64, usize) {
        ((self.0)(item), 1)
    }

    #[inline]
    fn add(&self, (sum, count): &mut (f64, usize), item: &T) {
        *sum += (self.0)(item);
        *count += 1;
    }

    #[inline]
    fn merge(&self, (sum, count): &mut (f64, usize), later: (f64, usize)) {
        *sum += later.0;
        *count += later.1;
    }

    fn finish(&self, (sum, count): (f64, usize)) -> f64 {
        sum / count as f64
    }

    const DONE: bool = false;

    fn done<H: Hole>(_: H::Of<(f64, usize)>) -> Option<H::Of<f64>> {
        None
    }
}

/// Turns a value that holds tuples of states into a value that holds tuples of results, one element of the
/// tuple at a time.
macro_rules! one_by_one {
    ($Holder:ident, $states:ident, [$($before:ident)*],) => {
        Some($states)
    };
    ($Holder:ident, $states:ident, [$($before:ident)*], $name:ident $($after:ident)*) => {{
        /// The type that `O` is for a tuple, for one element of the tuple.
        struct At<O, $($before,)* $($after),*>(PhantomData<(O, $($before,)* $($after),*)>);

        impl<O: Hole, $($before,)* $($after),*> Hole for At<O, $($before,)* $($after),*> {
            type Of<X> = O::Of<($($before,)* X, $($after,)*)>;
        }

        let states = $name::done::<At<$Holder, $($before::Out,)* $($after::State),*>>($states)?;
        one_by_one!($Holder, states, [$($before)* $name], $($after)*)
    }};
}

/// Lists of results; a single result is not put into a tuple.
macro_rules! lists {
    ($($($name:ident $nth:tt)*;)*) => {$(
        impl<T, $($name: Aggregate<T>),*> Aggregate<T> for ($($name,)*) {
            type State = ($($name::State,)*);
            type Out = ($($name::Out,)*);

            #[inline]
            fn start(&self, item: &T) -> Self::State {
                ($(self.$nth.start(item),)*)
            }

            #[inline]
            fn add(&self, state: &mut Self::State, item: &T) {
                $(self.$nth.add(&mut state.$nth, item);)*
            }

            #[inline]
            fn merge(&self, state: &mut Self::State, later: Self::State) {
                $(self.$nth.merge(&mut state.$nth, later.$nth);)*
            }

            fn finish(&self, state: Self::State) -> Self::Out {
                ($(self.$nth.finish(state.$nth),)*)
            }

            const DONE: bool = $($name::DONE)&&*;

            fn done<Holder: Hole>(states: Holder::Of<Self::State>) -> Option<Holder::Of<Self::Out>> {
                // Asked first: once some elements are turned, `states` could not be given back.
                if !Self::DONE {
                    return None;
                }
                one_by_one!(Holder, states, [], $($name)*)
            }
        }

        impl<$($name,)* X> Append<X> for ($($name,)*) {
            type Longer = ($($name,)* X,);

            fn append(self, more: X) -> Self::Longer {
                ($(self.$nth,)* more,)
            }
        }
    )*};
}

lists! {
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 G 5;
    A 0 B 1 C 2 D 3 E 4 G 5 H 6;
    A 0 B 1 C 2 D 3 E 4 G 5 H 6 J 7;
}

impl<X> Append<X> for () {
    type Longer = (X,);

    fn append(self, more: X) -> (X,) {
        (more,)
    }
}

impl<A, X> Append<X> for (A,) {
    type Longer = (A, X);

    fn append(self, more: X) -> (A, X) {
        (self.0, more)
    }
}

impl<T, A: Aggregate<T>> Aggregate<T> for (A,) {
    type State = A::State;
    type Out = A::Out;

    #[inline]
    fn start(&self, item: &T) -> A::State {
        self.0.start(item)
    }

    #[inline]
    fn add(&self, state: &mut A::State, item: &T) {
        self.0.add(state, item);
    }

    #[inline]
    fn merge(&self, state: &mut A::State, later: A::State) {
        self.0.merge(state, later);
    }

    fn finish(&self, state: A::State) -> A::Out {
        self.0.finish(state)
    }

    const DONE: bool = A::DONE;

    fn done<H: Hole>(states: H::Of<A::State>) -> Option<H::Of<A::Out>> {
        A::done::<H>(states)
    }
}

impl<I: ParallelIterator, F, A> AggregateBy<I, F, A> {
    fn with<X>(self, more: X) -> AggregateBy<I, F, A::Longer>
    where
        A: Append<X>,
    {
        AggregateBy {
            items: self.items,
            key: self.key,
            wanted: self.wanted.append(more),
        }
    }

    /// The number of items of a key.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let odd = (0..5).into_par_iter().aggregate_by(|n| n % 2).count().finish();
    /// assert_eq!(odd.get_cloned(&1), Some(2));
    /// ```
    pub fn count(self) -> AggregateBy<I, F, A::Longer>
    where
        A: Append<Count>,
    {
        self.with(Count)
    }

    /// The sum of the values that `of` returns. Sums of floats may differ in their last bits from run to run.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let odd = (0..5).into_par_iter().aggregate_by(|n| n % 2).sum(|&n| n).finish();
    /// assert_eq!(odd.get_cloned(&1), Some(4));
    /// ```
    pub fn sum<V, G>(self, of: G) -> AggregateBy<I, F, A::Longer>
    where
        G: Fn(&I::Item) -> V + Send + Sync,
        A: Append<Sum<G>>,
    {
        self.with(Sum(of))
    }

    /// The smallest value that `of` returns; of equal values the first.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let odd = (0..5).into_par_iter().aggregate_by(|n| n % 2).min(|&n| n).finish();
    /// assert_eq!(odd.get_cloned(&1), Some(1));
    /// ```
    pub fn min<V, G>(self, of: G) -> AggregateBy<I, F, A::Longer>
    where
        G: Fn(&I::Item) -> V + Send + Sync,
        A: Append<Min<G>>,
    {
        self.with(Min(of))
    }

    /// The largest value that `of` returns; of equal values the last.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let groups = (0..5).into_par_iter().aggregate_by(|n| n % 2);
    /// let bounds = groups.min(|&n| n).max(|&n| n).finish();
    /// assert_eq!(bounds.get_cloned(&0), Some((0, 4)));
    /// ```
    pub fn max<V, G>(self, of: G) -> AggregateBy<I, F, A::Longer>
    where
        G: Fn(&I::Item) -> V + Send + Sync,
        A: Append<Max<G>>,
    {
        self.with(Max(of))
    }

    /// The mean of the values that `of` returns. It may differ in its last bits from run to run.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let odd = (0..5).into_par_iter().aggregate_by(|n| n % 2).mean(|&n| f64::from(n)).finish();
    /// assert_eq!(odd.get_cloned(&1), Some(2.0));
    /// ```
    pub fn mean<G>(self, of: G) -> AggregateBy<I, F, A::Longer>
    where
        G: Fn(&I::Item) -> f64 + Send + Sync,
        A: Append<Mean<G>>,
    {
        self.with(Mean(of))
    }

    /// The value that `of` returns for a key's first item.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let odd = (0..5).into_par_iter().aggregate_by(|n| n % 2).first(|&n| n).finish();
    /// assert_eq!(odd.get_cloned(&1), Some(1));
    /// ```
    pub fn first<V, G>(self, of: G) -> AggregateBy<I, F, A::Longer>
    where
        G: Fn(&I::Item) -> V + Send + Sync,
        A: Append<First<G>>,
    {
        self.with(First(of))
    }

    /// The value that `of` returns for a key's last item.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let odd = (0..5).into_par_iter().aggregate_by(|n| n % 2).last(|&n| n).finish();
    /// assert_eq!(odd.get_cloned(&1), Some(3));
    /// ```
    pub fn last<V, G>(self, of: G) -> AggregateBy<I, F, A::Longer>
    where
        G: Fn(&I::Item) -> V + Send + Sync,
        A: Append<Last<G>>,
    {
        self.with(Last(of))
    }

    /// Walks the items once, in parallel, and returns the results. If a single result was named, each key has
    /// that result alone. Otherwise each key has a tuple of up to eight results.
    ///
    /// ```
    /// # use tine::prelude::*;
    /// let groups = (0..5).into_par_iter().aggregate_by(|n| n % 2);
    /// let both = groups.first(|&n| n).mean(|&n| f64::from(n)).finish();
    /// assert_eq!(both.get_cloned(&0), Some((0, 2.0)));
    /// ```
    pub fn finish<K>(self) -> ParHashMap<K, A::Out>
    where
        K: Eq + Hash + Send,
        F: Fn(&I::Item) -> K + Sync,
        A: Aggregate<I::Item>,
    {
        let hasher = DefaultHashBuilder::default();
        let wanted = self.wanted;
        let finished = |states: HashTable<(K, A::State)>| {
            let mut table = HashTable::with_capacity(states.len());
            for (key, state) in states {
                let hash = hasher.hash_one(&key);
                let pair = (key, wanted.finish(state));
                table.insert_unique(hash, pair, |(key, _): &(K, A::Out)| hasher.hash_one(key));
            }
            table
        };
        let made = |states| {
            Shards::of(if const { A::DONE } {
                A::done::<Values<K>>(states).expect("states are results")
            } else {
                par_map(states, &finished)
            })
        };
        let fold = All {
            key: self.key,
            wanted: &wanted,
            item: PhantomData,
        };
        let mut shards = if const { mem::needs_drop::<I::Item>() && sums_at_once::<I::Item, A::State>() }
        {
            tables_into(self.items, &AtOnce(&fold), &hasher, made)
        } else {
            tables_into(self.items, &fold, &hasher, made)
        };
        shards.share_end();
        ParHashMap { shards, hasher }
    }
}

/// The fold of all results at once.
struct All<'a, T, F, A> {
    key: F,
    wanted: &'a A,
    item: PhantomData<fn(T)>,
}

impl<T, K, F, A> Fold for All<'_, T, F, A>
where
    T: Send,
    K: Eq + Hash + Send,
    F: Fn(&T) -> K + Sync,
    A: Aggregate<T>,
{
    type Item = T;
    type Key = K;
    type Raw = T;
    type Sum = A::State;

    #[inline]
    fn read(&self, item: T, _: usize) -> (K, T) {
        ((self.key)(&item), item)
    }

    #[inline]
    fn start(&self, item: T) -> A::State {
        let state = self.wanted.start(&item);
        // If this panics, the state is dropped too.
        drop(item);
        state
    }

    #[inline]
    fn add(&self, state: &mut A::State, item: T) {
        self.wanted.add(state, &item);
    }

    #[inline]
    fn merge(&self, state: &mut A::State, later: A::State) {
        self.wanted.merge(state, later);
    }
}
