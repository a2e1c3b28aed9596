//! `FromParallelIterator`: what `collect` can make.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use either::Either;

use crate::iter::{FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};
use crate::sinks::pair::{Halves, collect_both};
use crate::sinks::partition::By;

/// Collections that start out empty and are extended.
macro_rules! collect_by_extending {
    ($([$($generics:tt)*] $collection:ty, $item:ty;)*) => {$(
        impl<$($generics)*> FromParallelIterator<$item> for $collection {
            fn from_par_iter<I: IntoParallelIterator<Item = $item>>(par_iter: I) -> Self {
                let mut collection = Self::default();
                collection.par_extend(par_iter);
                collection
            }
        }
    )*};
}

collect_by_extending! {
    [T: Send] Vec<T>, T;
    [T: Send] VecDeque<T>, T;
    [T: Send] LinkedList<T>, T;
    [T: Ord + Send] BinaryHeap<T>, T;
    [T: Ord + Send] BTreeSet<T>, T;
    [K: Ord + Send, V: Send] BTreeMap<K, V>, (K, V);
    [T: Eq + Hash + Send, S: BuildHasher + Default + Send] HashSet<T, S>, T;
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Default + Send] HashMap<K, V, S>, (K, V);
    [] String, char;
    ['a] String, &'a char;
    ['a] String, &'a str;
    [] String, String;
    [] String, Box<str>;
    ['a] String, Cow<'a, str>;
    ['a] OsString, &'a OsStr;
    [] OsString, OsString;
    ['a] OsString, Cow<'a, OsStr>;
    [] (), ();
}

/// Collections that are made from another collection.
macro_rules! collect_by_way_of {
    ($([$($generics:tt)*] $collection:ty, $item:ty, $way:ty;)*) => {$(
        impl<$($generics)*> FromParallelIterator<$item> for $collection {
            fn from_par_iter<I: IntoParallelIterator<Item = $item>>(par_iter: I) -> Self {
                <$way>::from_par_iter(par_iter).into()
            }
        }
    )*};
}

collect_by_way_of! {
    [T: Send] Box<[T]>, T, Vec<T>;
    [T: Send] Rc<[T]>, T, Vec<T>;
    [T: Send] Arc<[T]>, T, Vec<T>;
    [] Box<str>, char, String;
    ['a] Box<str>, &'a char, String;
    ['a] Box<str>, &'a str, String;
    [] Box<str>, String, String;
    [] Box<str>, Box<str>, String;
    ['a] Box<str>, Cow<'a, str>, String;
}

/// Always `Cow::Owned`.
impl<'a, C, T> FromParallelIterator<T> for Cow<'a, C>
where
    C: ToOwned<Owned: FromParallelIterator<T>> + ?Sized,
    T: Send,
{
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(par_iter: I) -> Self {
        Cow::Owned(C::Owned::from_par_iter(par_iter))
    }
}

/// `None` as soon as an item is `None`.
impl<C, T> FromParallelIterator<Option<T>> for Option<C>
where
    C: FromParallelIterator<T>,
    T: Send,
{
    fn from_par_iter<I: IntoParallelIterator<Item = Option<T>>>(par_iter: I) -> Self {
        // Relaxed: the flag is read after the iterator has run; the end of the run orders it.
        let none = AtomicBool::new(false);
        let collection = par_iter
            .into_par_iter()
            .inspect(|item| {
                if item.is_none() {
                    none.store(true, Ordering::Relaxed);
                }
            })
            .while_some()
            .collect();
        Some(collection).filter(|_| !none.into_inner())
    }
}

/// An error as soon as an item is an error; if several are, it may be any of
/// them.
impl<C, T, E> FromParallelIterator<Result<T, E>> for Result<C, E>
where
    C: FromParallelIterator<T>,
    T: Send,
    E: Send,
{
    fn from_par_iter<I: IntoParallelIterator<Item = Result<T, E>>>(par_iter: I) -> Self {
        let error = Mutex::new(None);
        let keep = |found: E| {
            // If another thread holds the lock, it has an error as good as this one.
            if let Ok(mut error) = error.try_lock() {
                error.get_or_insert(found);
            }
        };
        let collection = par_iter
            .into_par_iter()
            .map(|item| item.map_err(keep).ok())
            .while_some()
            .collect();
        match error
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
        {
            Some(error) => {
                // If this panics, the error is dropped too.
                drop(collection);
                Err(error)
            }
            None => Ok(collection),
        }
    }
}

/// A collection made by `collect` once it is extended.
struct Later<C>(Option<C>);

impl<C> Default for Later<C> {
    fn default() -> Self {
        Later(None)
    }
}

impl<T: Send, C: FromParallelIterator<T>> ParallelExtend<T> for Later<C> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        self.0 = Some(C::from_par_iter(par_iter));
    }
}

fn both<A, B>((a, b): (Later<A>, Later<B>)) -> (A, B) {
    a.0.zip(b.0)
        .expect("two collections are extended, once each")
}

/// Pairs into two collections.
impl<A, B, FromA, FromB> FromParallelIterator<(A, B)> for (FromA, FromB)
where
    A: Send,
    B: Send,
    FromA: Send + FromParallelIterator<A>,
    FromB: Send + FromParallelIterator<B>,
{
    fn from_par_iter<I: IntoParallelIterator<Item = (A, B)>>(par_iter: I) -> Self {
        both(collect_both(par_iter.into_par_iter(), Halves))
    }
}

/// Each side into its own collection.
impl<L, R, A, B> FromParallelIterator<Either<L, R>> for (A, B)
where
    L: Send,
    R: Send,
    A: Send + FromParallelIterator<L>,
    B: Send + FromParallelIterator<R>,
{
    fn from_par_iter<I: IntoParallelIterator<Item = Either<L, R>>>(par_iter: I) -> Self {
        let as_they_are = By(|item: Either<L, R>| item);
        both(collect_both(par_iter.into_par_iter(), as_they_are))
    }
}
