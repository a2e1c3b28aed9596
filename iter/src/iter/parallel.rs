//! `ParallelIterator`: the methods that need no index of an item.

use std::cmp::Ordering;
use std::collections::LinkedList;
use std::iter::{Product, Sum};

use either::Either;

use super::{
    Chain, Cloned, Copied, Filter, FilterMap, FlatMap, FlatMapIter, Flatten, FlattenIter, Fold,
    FoldWith, FromParallelIterator, IndexedParallelIterator, Inspect, Intersperse,
    IntoParallelIterator, Map, MapInit, MapWith, PanicFuse, ParallelExtend, SkipAny, SkipAnyWhile,
    TakeAny, TakeAnyWhile, TotalOrder, TryFold, TryFoldWith, Update, WhileSome,
};
use crate::kit::attempt::Try;
use crate::kit::keep::{best, pick, without_key};
use crate::plumbing::{ProducerCallback, UnindexedConsumer, Went, apart};
use crate::sinks;

#[doc = include_str!("parallel.md")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parallel iterator",
    note = "`par_iter()` and `into_par_iter()` begin one; an iterator of std becomes one by `.par_bridge()`"
)]
#[must_use = "parallel iterators do nothing until they are consumed"]
pub trait ParallelIterator: Sized + Send {
    /// The item type.
    type Item: Send;

    /// Calls `op` with each item, in no particular order.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let mut squares = [1, 2, 3];
    /// squares.par_iter_mut().for_each(|n| *n *= *n);
    /// assert_eq!(squares, [1, 4, 9]);
    /// ```
    fn for_each<OP>(self, op: OP)
    where
        OP: Fn(Self::Item) + Sync + Send,
    {
        sinks::for_each::for_each(self, op)
    }

    /// Calls `op` with each item and a clone of `init`. The clone is made once for a contiguous
    /// [piece](crate::iter#pieces-and-their-state). `clone` must not wait for another pool.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use tine::prelude::*;
    /// let (to_us, from_them) = channel();
    /// (0..10).into_par_iter().for_each_with(to_us, |to_us, n| to_us.send(n).unwrap());
    /// assert_eq!(from_them.iter().sum::<i32>(), 45);
    /// ```
    fn for_each_with<OP, T>(self, init: T, op: OP)
    where
        OP: Fn(&mut T, Self::Item) + Sync + Send,
        T: Send + Clone,
    {
        self.map_with(init, op).for_each(|()| ())
    }

    /// Calls `op` with each item and a value that `init` makes once for a contiguous
    /// [piece](crate::iter#pieces-and-their-state) of items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let seen = |seen: &mut Vec<_>, n| { seen.push(n); assert!(seen.is_sorted()) };
    /// (0..10).into_par_iter().for_each_init(Vec::new, seen);
    /// ```
    fn for_each_init<OP, INIT, T>(self, init: INIT, op: OP)
    where
        OP: Fn(&mut T, Self::Item) + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
    {
        self.map_init(init, op).for_each(|()| ())
    }

    /// Calls `op` with each item until a call fails. Returns a failure if there was one; of several failures it
    /// may be any.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let check = |n| if n < 8 { Ok(()) } else { Err("too large") };
    /// assert_eq!((0..8).into_par_iter().try_for_each(check), Ok(()));
    /// assert_eq!((0..9).into_par_iter().try_for_each(check), Err("too large"));
    /// ```
    fn try_for_each<OP, R>(self, op: OP) -> R
    where
        OP: Fn(Self::Item) -> R + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        self.map(op).try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// As [`try_for_each`](Self::try_for_each), with a clone of `init` for each contiguous
    /// [piece](crate::iter#pieces-and-their-state). `clone` must not wait for another pool.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let odd = |two: &mut i32, n| if n % *two == 0 { Some(()) } else { None };
    /// assert_eq!((0..9).into_par_iter().try_for_each_with(2, odd), None);
    /// ```
    fn try_for_each_with<OP, T, R>(self, init: T, op: OP) -> R
    where
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Try<Output = ()> + Send,
    {
        self.map_with(init, op).try_for_each(|result| result)
    }

    /// As [`try_for_each`](Self::try_for_each), with a value that `init` makes once for a
    /// contiguous [piece](crate::iter#pieces-and-their-state) of items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let odd = |two: &mut i32, n| if n % *two == 0 { Some(()) } else { None };
    /// assert_eq!((0..9).into_par_iter().try_for_each_init(|| 2, odd), None);
    /// ```
    fn try_for_each_init<OP, INIT, T, R>(self, init: INIT, op: OP) -> R
    where
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        self.map_init(init, op).try_for_each(|result| result)
    }

    /// The number of items. All of them are made.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..10).into_par_iter().filter(|n| n % 3 == 0).count(), 4);
    /// ```
    fn count(self) -> usize {
        sinks::count::count(self)
    }

    /// The result of `map_op` for each item.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let squares: Vec<_> = (0..4).into_par_iter().map(|n| n * n).collect();
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// ```
    fn map<F, R>(self, map_op: F) -> Map<Self, F>
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: Send,
    {
        Map::new(self, map_op)
    }

    /// The result of `map_op` for each item and a clone of `init`.
    ///
    /// The clone is made once for a contiguous [piece](crate::iter#pieces-and-their-state): once,
    /// plus once for each piece that another thread takes over. Before an adapter that moves
    /// positions (`zip`, `rev`, …) there may be more clones. `clone` must not wait for another pool.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let sums: Vec<_> = (0..3).into_par_iter().map_with(10, |ten, n| *ten + n).collect();
    /// assert_eq!(sums, [10, 11, 12]);
    /// ```
    fn map_with<F, T, R>(self, init: T, map_op: F) -> MapWith<Self, T, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Send,
    {
        MapWith::new(self, init, map_op)
    }

    /// The result of `map_op` for each item and a value that `init` makes. `init` is called as
    /// often as [`map_with`](Self::map_with) clones. The value need not be `Send`.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use tine::prelude::*;
    /// let sums: Vec<_> = (0..3).into_par_iter().map_init(|| Rc::new(10), |ten, n| **ten + n).collect();
    /// assert_eq!(sums, [10, 11, 12]);
    /// ```
    fn map_init<F, INIT, T, R>(self, init: INIT, map_op: F) -> MapInit<Self, INIT, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
        R: Send,
    {
        MapInit::new(self, init, map_op)
    }

    /// A copy of the value behind each reference, made by `Clone`.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let names = ["a".to_string(), "b".to_string()];
    /// assert_eq!(names.par_iter().cloned().collect::<Vec<_>>(), names);
    /// ```
    fn cloned<'a, T>(self) -> Cloned<Self>
    where
        T: 'a + Clone + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Cloned::new(self)
    }

    /// A copy of the value behind each reference.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([3, 7, 5].par_iter().copied().max(), Some(7));
    /// ```
    fn copied<'a, T>(self) -> Copied<Self>
    where
        T: 'a + Copy + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Copied::new(self)
    }

    /// The items, each after `inspect_op` has looked at it.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..4).into_par_iter().inspect(|n| assert!(*n < 4)).sum::<i32>(), 6);
    /// ```
    fn inspect<OP: Fn(&Self::Item) + Sync + Send>(self, inspect_op: OP) -> Inspect<Self, OP> {
        Inspect::new(self, inspect_op)
    }

    /// The items, each after `update_op` has changed it.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let v: Vec<_> = (0..3).into_par_iter().update(|n| *n += 10).collect();
    /// assert_eq!(v, [10, 11, 12]);
    /// ```
    fn update<F>(self, update_op: F) -> Update<Self, F>
    where
        F: Fn(&mut Self::Item) + Sync + Send,
    {
        Update::new(self, update_op)
    }

    /// The items that satisfy `filter_op`.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let even: Vec<_> = (0..5).into_par_iter().filter(|n| n % 2 == 0).collect();
    /// assert_eq!(even, [0, 2, 4]);
    /// ```
    fn filter<P: Fn(&Self::Item) -> bool + Sync + Send>(self, filter_op: P) -> Filter<Self, P> {
        Filter::new(self, filter_op)
    }

    /// The values `v` of the items for which `filter_op` returns `Some(v)`.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let numbers: Vec<i32> = ["1", "x", "3"].par_iter().filter_map(|s| s.parse().ok()).collect();
    /// assert_eq!(numbers, [1, 3]);
    /// ```
    fn filter_map<P, R>(self, filter_op: P) -> FilterMap<Self, P>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        FilterMap::new(self, filter_op)
    }

    /// The items of the parallel iterators that `map_op` makes from the items.
    ///
    /// If the inner iterators are short, [`flat_map_iter`](Self::flat_map_iter) costs less.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let all: Vec<_> = (1..4).into_par_iter().flat_map(|n| 0..n).collect();
    /// assert_eq!(all, [0, 0, 1, 0, 1, 2]);
    /// ```
    fn flat_map<F, PI>(self, map_op: F) -> FlatMap<Self, F>
    where
        F: Fn(Self::Item) -> PI + Sync + Send,
        PI: IntoParallelIterator,
    {
        FlatMap::new(self, map_op)
    }

    /// The items of the sequential iterators that `map_op` makes from the items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let letters: String = ["ab", "c"].par_iter().flat_map_iter(|s| s.chars()).collect();
    /// assert_eq!(letters, "abc");
    /// ```
    fn flat_map_iter<F, SI>(self, map_op: F) -> FlatMapIter<Self, F>
    where
        F: Fn(Self::Item) -> SI + Sync + Send,
        SI: IntoIterator<Item: Send>,
    {
        FlatMapIter::new(self, map_op)
    }

    /// The items of items that are themselves parallel iterators, or can become such.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let all: Vec<_> = vec![vec![1, 2], vec![3]].into_par_iter().flatten().collect();
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    fn flatten(self) -> Flatten<Self>
    where
        Self::Item: IntoParallelIterator,
    {
        Flatten::new(self)
    }

    /// The items of items that are themselves sequential iterators, or can become such.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let all: Vec<_> = vec![vec![1, 2], vec![3]].into_par_iter().flatten_iter().collect();
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    fn flatten_iter(self) -> FlattenIter<Self>
    where
        Self::Item: IntoIterator<Item: Send>,
    {
        FlattenIter::new(self)
    }

    /// Reduces all items to one by `op`, which must be associative. `identity` makes a neutral value of `op`, such
    /// as 0 for a sum. It may be called any number of times.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([3, 5, 8].into_par_iter().reduce(|| 0, |a, b| a + b), 16);
    /// ```
    fn reduce<OP, ID>(self, identity: ID, op: OP) -> Self::Item
    where
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        ID: Fn() -> Self::Item + Sync + Send,
    {
        sinks::reduce::reduce(self, identity, op)
    }

    /// Reduces all items to one by `op`; `None` if there are no items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((1..6).into_par_iter().reduce_with(|a, b| a * b), Some(120));
    /// ```
    fn reduce_with<OP>(self, op: OP) -> Option<Self::Item>
    where
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        sinks::reduce::reduce_with(self, op)
    }

    /// Reduces the values of successful items, until an item or `op` fails. Returns a failure if there was one.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let sum = |v: [i32; 3]| v.into_par_iter().map(Some).try_reduce(|| 0, i32::checked_add);
    /// assert_eq!(sum([1, 2, 3]), Some(6));
    /// assert_eq!(sum([1, 2, i32::MAX]), None);
    /// ```
    fn try_reduce<T, OP, ID>(self, identity: ID, op: OP) -> Self::Item
    where
        OP: Fn(T, T) -> Self::Item + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        sinks::try_reduce::try_reduce(self, identity, op)
    }

    /// Reduces the values of successful items, until an item or `op` fails; `None` if there are no items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let numbers = ["1", "2"].into_par_iter().map(str::parse::<i32>);
    /// assert_eq!(numbers.try_reduce_with(|a, b| Ok(a + b)), Some(Ok(3)));
    /// ```
    fn try_reduce_with<T, OP>(self, op: OP) -> Option<Self::Item>
    where
        OP: Fn(T, T) -> Self::Item + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        sinks::try_reduce::try_reduce_with(self, op)
    }

    /// Folds the items of each contiguous piece into one value, from a value that `identity` makes. There is one
    /// result, plus one for each [piece](crate::iter#pieces-and-their-state) that another thread takes over. Their
    /// number, and the items in each, differ from run to run, so another reduction follows.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let counts = (0..100).into_par_iter().fold(|| 0, |items, _| items + 1);
    /// assert_eq!(counts.sum::<usize>(), 100);
    /// ```
    fn fold<T, ID, F>(self, identity: ID, fold_op: F) -> Fold<Self, ID, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        T: Send,
    {
        Fold::new(self, identity, fold_op)
    }

    /// As [`fold`](Self::fold), from a clone of `init` for each piece; `clone` must not wait for another pool.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..9).into_par_iter().fold_with(0, |a, b| a + b).sum::<i32>(), 36);
    /// ```
    fn fold_with<F, T>(self, init: T, fold_op: F) -> FoldWith<Self, T, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        T: Send + Clone,
    {
        FoldWith::new(self, init, fold_op)
    }

    /// As [`fold`](Self::fold), by an operation that may fail. A piece ends where it fails.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let sums = (0..100u8).into_par_iter().try_fold(|| 0u8, u8::checked_add);
    /// assert_eq!(sums.try_reduce(|| 0, u8::checked_add), None);
    /// ```
    fn try_fold<T, R, ID, F>(self, identity: ID, fold_op: F) -> TryFold<Self, R, ID, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        R: Try<Output = T> + Send,
    {
        TryFold::new(self, identity, fold_op)
    }

    /// As [`try_fold`](Self::try_fold), from clones of `init` as in [`fold_with`](Self::fold_with).
    ///
    /// ```
    /// use tine::prelude::*;
    /// let sums = (0..10u8).into_par_iter().try_fold_with(0u8, u8::checked_add);
    /// assert_eq!(sums.try_reduce(|| 0, u8::checked_add), Some(45));
    /// ```
    fn try_fold_with<F, T, R>(self, init: T, fold_op: F) -> TryFoldWith<Self, R, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        R: Try<Output = T> + Send,
        T: Clone + Send,
    {
        TryFoldWith::new(self, init, fold_op)
    }

    /// The sum of the items. The order in which floats are added differs from run to run.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((1..=100u32).into_par_iter().sum::<u32>(), 5050);
    /// ```
    fn sum<S: Send + Sum<Self::Item> + Sum<S>>(self) -> S {
        sinks::sum::sum(self)
    }

    /// The product of the items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((1..=10u32).into_par_iter().product::<u32>(), 3_628_800);
    /// ```
    fn product<P: Send + Product<Self::Item> + Product<P>>(self) -> P {
        sinks::product::product(self)
    }

    /// The least item; of several equal ones, the first.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([4, 1, 3].par_iter().min(), Some(&1));
    /// ```
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: TotalOrder,
    {
        self.reduce_with(sinks::reduce::lesser)
    }

    /// The least item by a comparison; of several equal ones, the first.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([4.0, 1.0].par_iter().min_by(|a: &&f64, b| a.total_cmp(b)), Some(&1.0));
    /// ```
    fn min_by<F>(self, f: F) -> Option<Self::Item>
    where
        F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
    {
        self.reduce_with(|a, b| best(f(&a, &b).is_gt(), a, b))
    }

    /// The item with the least key; of several such, the first. `f` is called once for each item.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([-4, 1, 3_i32].par_iter().min_by_key(|n| n.abs()), Some(&1));
    /// ```
    fn min_by_key<K, F>(self, f: F) -> Option<Self::Item>
    where
        K: TotalOrder + Send,
        F: Sync + Send + Fn(&Self::Item) -> K,
    {
        let keyed = self.map(|item| (f(&item), item));
        let least = keyed.reduce_with(|a, b| best(a.0 > b.0, a, b));
        least.map(without_key)
    }

    /// The greatest item; of several equal ones, the last.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([4, 1, 3].par_iter().max(), Some(&4));
    /// ```
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: TotalOrder,
    {
        self.reduce_with(sinks::reduce::greater)
    }

    /// The greatest item by a comparison; of several equal ones, the last.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([4.0, 1.0].par_iter().max_by(|a: &&f64, b| a.total_cmp(b)), Some(&4.0));
    /// ```
    fn max_by<F>(self, f: F) -> Option<Self::Item>
    where
        F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
    {
        self.reduce_with(|a, b| pick(f(&a, &b).is_gt(), a, b))
    }

    /// The item with the greatest key; of several such, the last. `f` is called once for each item.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([-4, 1, 3_i32].par_iter().max_by_key(|n| n.abs()), Some(&-4));
    /// ```
    fn max_by_key<K, F>(self, f: F) -> Option<Self::Item>
    where
        K: TotalOrder + Send,
        F: Sync + Send + Fn(&Self::Item) -> K,
    {
        let keyed = self.map(|item| (f(&item), item));
        let greatest = keyed.reduce_with(|a, b| pick(a.0 > b.0, a, b));
        greatest.map(without_key)
    }

    /// The items of this iterator, then those of another.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let v: Vec<_> = (0..2).into_par_iter().chain(7..9).collect();
    /// assert_eq!(v, [0, 1, 7, 8]);
    /// ```
    fn chain<C>(self, chain: C) -> Chain<Self, C::Iter>
    where
        C: IntoParallelIterator<Item = Self::Item>,
    {
        Chain::new(self, chain.into_par_iter())
    }

    /// Some item that satisfies the predicate. All threads stop as soon as a thread finds such an item.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let even = [1, 2, 3, 4].par_iter().find_any(|&&n| n % 2 == 0);
    /// assert!(even == Some(&2) || even == Some(&4));
    /// ```
    fn find_any<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(|item| predicate(&item).then_some(item))
    }

    /// The first item that satisfies the predicate. Once a thread has found such an item, threads look at no item
    /// beyond it.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([1, 2, 3, 4].par_iter().find_first(|&&n| n % 2 == 0), Some(&2));
    /// ```
    fn find_first<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_first(|item| predicate(&item).then_some(item))
    }

    /// The last item that satisfies the predicate. Each piece is walked from its front. Once a thread has found
    /// such an item, threads look at no piece before it.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!([1, 2, 3, 4].par_iter().find_last(|&&n| n % 2 == 0), Some(&4));
    /// ```
    fn find_last<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_last(|item| predicate(&item).then_some(item))
    }

    /// The `Some` that `predicate` returns for some item. All threads stop as soon as a thread finds such an item.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!(["x", "2"].par_iter().find_map_any(|s| s.parse().ok()), Some(2));
    /// ```
    fn find_map_any<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        sinks::find::find_map_any(self, predicate)
    }

    /// The first `Some` that `predicate` returns, in the order of the items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!(["x", "2", "3"].par_iter().find_map_first(|s| s.parse().ok()), Some(2));
    /// ```
    fn find_map_first<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        sinks::find_at_end::find_map_first(self, predicate)
    }

    /// The last `Some` that `predicate` returns, in the order of the items.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!(["x", "2", "3"].par_iter().find_map_last(|s| s.parse().ok()), Some(3));
    /// ```
    fn find_map_last<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        sinks::find_at_end::find_map_last(self, predicate)
    }

    /// Whether any item satisfies the predicate.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert!((0..10).into_par_iter().any(|n| n == 7));
    /// ```
    fn any<P: Fn(Self::Item) -> bool + Sync + Send>(self, predicate: P) -> bool {
        self.find_map_any(|item| predicate(item).then_some(()))
            .is_some()
    }

    /// Whether all items satisfy the predicate.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert!((0..10).into_par_iter().all(|n| n < 10));
    /// ```
    fn all<P: Fn(Self::Item) -> bool + Sync + Send>(self, predicate: P) -> bool {
        !self.any(|item| !predicate(item))
    }

    /// The values in the items, until a thread meets a `None`.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let some: Vec<i32> = [Some(1), Some(2)].into_par_iter().while_some().collect();
    /// assert_eq!(some, [1, 2]);
    /// ```
    fn while_some<T>(self) -> WhileSome<Self>
    where
        Self: ParallelIterator<Item = Option<T>>,
        T: Send,
    {
        WhileSome::new(self)
    }

    /// The same items, but a panic ends the other pieces early: each stops at its next check. Pieces check at each
    /// item, or between blocks of items if an adapter follows that relies on their number, such as `zip` or `chunks`.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..10).into_par_iter().panic_fuse().count(), 10);
    /// ```
    fn panic_fuse(self) -> PanicFuse<Self> {
        PanicFuse::new(self)
    }

    /// Makes a collection of the items. Sequences keep the order of the items. Each item of an indexed iterator is
    /// written once, directly to its place.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let text: String = ["con", "cat"].into_par_iter().collect();
    /// assert_eq!(text, "concat");
    /// ```
    fn collect<C>(self) -> C
    where
        C: FromParallelIterator<Self::Item>,
    {
        C::from_par_iter(self)
    }

    /// Makes two collections of the halves of pairs.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let (a, b): (Vec<_>, Vec<_>) = (0..3).into_par_iter().map(|n| (n, n * n)).unzip();
    /// assert_eq!((a, b), (vec![0, 1, 2], vec![0, 1, 4]));
    /// ```
    fn unzip<A, B, FromA, FromB>(self) -> (FromA, FromB)
    where
        Self: ParallelIterator<Item = (A, B)>,
        FromA: Default + Send + ParallelExtend<A>,
        FromB: Default + Send + ParallelExtend<B>,
        A: Send,
        B: Send,
    {
        sinks::unzip::unzip(self)
    }

    /// Makes two collections: of the items that satisfy the predicate, and of the others.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let (even, odd): (Vec<_>, Vec<_>) = (0..5).into_par_iter().partition(|n| n % 2 == 0);
    /// assert_eq!((even, odd), (vec![0, 2, 4], vec![1, 3]));
    /// ```
    fn partition<A, B, P>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<Self::Item>,
        B: Default + Send + ParallelExtend<Self::Item>,
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        sinks::partition::partition(self, predicate)
    }

    /// Makes two collections: of the values that `predicate` puts on the left, and of those on the right.
    ///
    /// ```
    /// use tine::iter::Either;
    /// use tine::prelude::*;
    /// let side = |n: i32| if n < 2 { Either::Left(n) } else { Either::Right(-n) };
    /// let (a, b): (Vec<_>, Vec<_>) = (0..4).into_par_iter().partition_map(side);
    /// assert_eq!((a, b), (vec![0, 1], vec![-2, -3]));
    /// ```
    fn partition_map<A, B, P, L, R>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<L>,
        B: Default + Send + ParallelExtend<R>,
        P: Fn(Self::Item) -> Either<L, R> + Sync + Send,
        L: Send,
        R: Send,
    {
        sinks::partition::partition_map(self, predicate)
    }

    /// The items, with a clone of `element` between every two.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let v: Vec<_> = (1..4).into_par_iter().intersperse(0).collect();
    /// assert_eq!(v, [1, 0, 2, 0, 3]);
    /// ```
    fn intersperse(self, element: Self::Item) -> Intersperse<Self>
    where
        Self::Item: Clone,
    {
        Intersperse::new(self, element)
    }

    /// The `n` items that come first in time; all items if there are fewer.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..100).into_par_iter().take_any(5).count(), 5);
    /// ```
    fn take_any(self, n: usize) -> TakeAny<Self> {
        TakeAny::new(self, n)
    }

    /// All items but the `n` that come first in time.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..100).into_par_iter().skip_any(5).count(), 95);
    /// ```
    fn skip_any(self, n: usize) -> SkipAny<Self> {
        SkipAny::new(self, n)
    }

    /// The items, until any thread meets an item that fails the predicate.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let n = (0..100).into_par_iter().take_any_while(|n| *n < 50).count();
    /// assert!(n <= 50);
    /// ```
    fn take_any_while<P>(self, predicate: P) -> TakeAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        TakeAnyWhile::new(self, predicate)
    }

    /// The items, from the moment when any thread meets an item that fails the predicate.
    ///
    /// ```
    /// use tine::prelude::*;
    /// let n = (0..100).into_par_iter().skip_any_while(|n| *n < 50).count();
    /// assert!(n >= 50);
    /// ```
    fn skip_any_while<P>(self, predicate: P) -> SkipAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        SkipAnyWhile::new(self, predicate)
    }

    /// Makes a list of vectors of the items, in order. Each vector is the result of a piece; they are not copied
    /// together.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..9).into_par_iter().collect_vec_list().iter().flatten().count(), 9);
    /// ```
    fn collect_vec_list(self) -> LinkedList<Vec<Self::Item>> {
        sinks::extend::collect_vec_list(self)
    }

    /// Runs the iterator into `consumer`, which may be cut at any place.
    ///
    /// This is plumbing, for authors of adapters; see [`plumbing`](crate::iter::plumbing).
    #[doc = include_str!("adapter.md")]
    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>;

    /// The number of items, if it is known before they are made.
    ///
    /// This is plumbing: a sink may work in another way when it knows the number. An iterator that returns a
    /// number promises that its `drive_unindexed` cuts a consumer at indices, as `drive` does.
    ///
    /// ```
    /// use tine::prelude::*;
    /// assert_eq!((0..9).into_par_iter().map(|n| n * n).opt_len(), Some(9));
    /// ```
    fn opt_len(&self) -> Option<usize> {
        None
    }

    /// Whether [`opt_len`](ParallelIterator::opt_len) always or never returns a number, if the type alone decides
    /// it. Then a program holds only one way to collect, and not two.
    #[doc(hidden)]
    const KNOWS_LEN: Option<bool> = None;

    /// Whether the result holds that of the leftmost consumer that `drive_unindexed` makes of the given one. Then that
    /// one may begin with the result of earlier items: see `Consumer::RESUMES`. In other crates it may be dropped.
    #[doc(hidden)]
    const KEEPS_ALL: bool = false;

    /// Runs the iterator behind the items that `folder` has taken. `to` makes the consumer.
    #[doc(hidden)]
    fn go_on<C, M>(self, to: M, folder: Option<C::Folder>) -> Went<C::Folder, C::Result>
    where
        C: UnindexedConsumer<Self::Item>,
        M: FnOnce() -> C,
    {
        apart(self, to, folder)
    }

    /// Passes the number of items to `make`, and a producer of the items to the callback that it returns. That is
    /// the iterator's own producer if it has one, or else a producer of the collected items. Scans use this.
    #[doc(hidden)]
    fn with_items<CB>(self, make: impl FnOnce(usize) -> CB) -> CB::Output
    where
        CB: ProducerCallback<Self::Item>,
    {
        let items = sinks::collect::gather(self).into_vec();
        let make = make(items.len());
        IndexedParallelIterator::with_producer(items.into_par_iter(), make)
    }
}
