//! `ParallelExtend`: collections that grow by the items of a parallel iterator.
//!
//! Vectors and strings are written in parallel. The trees, tables and heaps of the standard library can only be
//! built by a single thread: their items are made in parallel, then added by that thread. If a closure panics
//! while items are made, the collection stays as it was.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hash};
use std::mem::swap;

use either::Either;

use crate::iter::{IntoParallelIterator, ParallelExtend, ParallelIterator};
use crate::sinks::collect::fragments::{Fill, Fragments, gather_by};
use crate::sinks::collect::text::append_text;
use crate::sinks::collect::{append, gather};
use crate::sinks::pair::{Halves, extend_both};
use crate::sinks::partition::By;
use crate::sort::{par_sort, par_sort_by};

pub(crate) fn collect_vec_list<I: ParallelIterator>(iter: I) -> LinkedList<Vec<I::Item>> {
    gather(iter).into_vecs().collect()
}

/// Vectors are extended in place, or by fragments moved in parallel.
impl<T: Send> ParallelExtend<T> for Vec<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        append(par_iter.into_par_iter(), self);
    }
}

impl<T: Send> ParallelExtend<T> for VecDeque<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        let items = gather(par_iter.into_par_iter()).into_vec();
        if self.capacity() == 0 {
            *self = items.into();
        } else {
            self.extend(items);
        }
    }
}

impl<T: Ord + Send> ParallelExtend<T> for BinaryHeap<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        let items = gather(par_iter.into_par_iter()).into_vec();
        self.append(&mut items.into());
    }
}

/// Lists are made piece by piece, in parallel, and linked.
impl<T: Send> ParallelExtend<T> for LinkedList<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        let items = par_iter.into_par_iter();
        let add = |mut list: LinkedList<T>, item| {
            list.push_back(item);
            list
        };
        let join = |mut left: LinkedList<T>, mut right| {
            left.append(&mut right);
            left
        };
        self.append(
            &mut items
                .fold(LinkedList::new, add)
                .reduce(LinkedList::new, join),
        );
    }
}

/// Which of the sorted keys share a place in a tree. Only their order (`Ord`) decides that.
#[derive(Default)]
struct Places {
    /// Whether some keys are equal by `==` although their order gives each its own place. The trees of `std`
    /// would leave some of these keys out if they were built at once.
    at_odds: bool,
}

impl Places {
    fn are_same<K: Ord>(&mut self, later: &K, first: &K) -> bool {
        let same = later.cmp(first).is_eq();
        self.at_odds |= !same && later == first;
        same
    }
}

/// A key that is there keeps its place and gets the last value, as with `insert`. An empty map is built at once
/// from items that are sorted in parallel.
impl<K: Ord + Send, V: Send> ParallelExtend<(K, V)> for BTreeMap<K, V> {
    fn par_extend<I: IntoParallelIterator<Item = (K, V)>>(&mut self, par_iter: I) {
        let items = gather(par_iter.into_par_iter());
        if self.is_empty() {
            let mut items = items.into_vec();
            par_sort_by(&mut items, &|a: &(K, V), b: &(K, V)| a.0.cmp(&b.0));
            let mut places = Places::default();
            items.dedup_by(|later, first| {
                let same = places.are_same(&later.0, &first.0);
                if same {
                    swap(&mut later.1, &mut first.1);
                }
                same
            });
            match places.at_odds {
                false => *self = items.into_iter().collect(),
                true => self.extend(items),
            }
        } else {
            items.into_vecs().for_each(|some| self.extend(some));
        }
    }
}

/// The first of equal items stays, as with `insert`.
impl<T: Ord + Send> ParallelExtend<T> for BTreeSet<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        let items = gather(par_iter.into_par_iter());
        if self.is_empty() {
            let mut items = items.into_vec();
            par_sort(&mut items);
            let mut places = Places::default();
            items.dedup_by(|later, first| places.are_same(later, first));
            match places.at_odds {
                false => *self = items.into_iter().collect(),
                true => self.extend(items),
            }
        } else {
            items.into_vecs().for_each(|some| self.extend(some));
        }
    }
}

impl<K, V, S> ParallelExtend<(K, V)> for HashMap<K, V, S>
where
    K: Eq + Hash + Send,
    V: Send,
    S: BuildHasher + Send,
{
    fn par_extend<I: IntoParallelIterator<Item = (K, V)>>(&mut self, par_iter: I) {
        let items = gather(par_iter.into_par_iter());
        self.reserve(items.len());
        items.into_vecs().for_each(|some| self.extend(some));
    }
}

impl<T, S> ParallelExtend<T> for HashSet<T, S>
where
    T: Eq + Hash + Send,
    S: BuildHasher + Send,
{
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        let items = gather(par_iter.into_par_iter());
        self.reserve(items.len());
        items.into_vecs().for_each(|some| self.extend(some));
    }
}

/// Collections of copies, from references.
macro_rules! extend_by_reference {
    ($([$($bound:tt)*] $collection:ty, $item:ty, $copy:expr;)*) => {$(
        impl<'a, $($bound)*> ParallelExtend<$item> for $collection {
            fn par_extend<I: IntoParallelIterator<Item = $item>>(&mut self, par_iter: I) {
                self.par_extend(par_iter.into_par_iter().map($copy));
            }
        }
    )*};
}

extend_by_reference! {
    [T: Copy + Send + Sync + 'a] Vec<T>, &'a T, |item: &'a T| *item;
    [T: Copy + Send + Sync + 'a] VecDeque<T>, &'a T, |item: &'a T| *item;
    [T: Copy + Send + Sync + 'a] LinkedList<T>, &'a T, |item: &'a T| *item;
    [T: Copy + Ord + Send + Sync + 'a] BinaryHeap<T>, &'a T, |item: &'a T| *item;
    [T: Copy + Ord + Send + Sync + 'a] BTreeSet<T>, &'a T, |item: &'a T| *item;
    [T: Copy + Eq + Hash + Send + Sync + 'a, S: BuildHasher + Send]
        HashSet<T, S>, &'a T, |item: &'a T| *item;
    [K: Copy + Ord + Send + Sync + 'a, V: Copy + Send + Sync + 'a]
        BTreeMap<K, V>, (&'a K, &'a V), |(key, value): (&'a K, &'a V)| (*key, *value);
    [K: Copy + Eq + Hash + Send + Sync + 'a, V: Copy + Send + Sync + 'a, S: BuildHasher + Send]
        HashMap<K, V, S>, (&'a K, &'a V), |(key, value): (&'a K, &'a V)| (*key, *value);
}

/// Strings are made piece by piece, and moved in parallel.
macro_rules! extend_string {
    ($($string:ident by $append:path: [$($lifetime:tt)*] $item:ty;)*) => {$(
        impl<$($lifetime)*> ParallelExtend<$item> for $string {
            fn par_extend<I: IntoParallelIterator<Item = $item>>(&mut self, par_iter: I) {
                $append(par_iter.into_par_iter(), self);
            }
        }
    )*};
}

extend_string! {
    String by append_text: [] char;
    String by append_text: ['a] &'a char;
    String by append_text: ['a] &'a str;
    String by append_text: [] String;
    String by append_text: [] Box<str>;
    String by append_text: ['a] Cow<'a, str>;
    OsString by append_os_text: ['a] &'a OsStr;
    OsString by append_os_text: [] OsString;
    OsString by append_os_text: ['a] Cow<'a, OsStr>;
}

/// Text of the operating system, in fragments of at most a few strings.
enum OsText {}

impl<T: AsRef<OsStr>> Fill<T> for OsText {
    type Unit = OsString;

    fn push(to: &mut Fragments<OsString>, text: T) {
        match to.last.last_mut() {
            Some(last) => last.push(text),
            None => to.last.push(text.as_ref().into()),
        }
    }
}

fn append_os_text<I: ParallelIterator<Item: AsRef<OsStr>>>(iter: I, target: &mut OsString) {
    let fragments: Fragments<OsString> = gather_by::<OsText, _>(iter);
    let fragments = fragments.into_vec();
    target.reserve(fragments.iter().map(|text| text.len()).sum());
    fragments.iter().for_each(|text| target.push(text));
}

/// No memory is needed, but the iterator runs.
impl ParallelExtend<()> for () {
    fn par_extend<I: IntoParallelIterator<Item = ()>>(&mut self, par_iter: I) {
        par_iter.into_par_iter().for_each(|()| ());
    }
}

/// Each collection gets one half of the pairs.
impl<A, B, FromA, FromB> ParallelExtend<(A, B)> for (FromA, FromB)
where
    A: Send,
    B: Send,
    FromA: Send + ParallelExtend<A>,
    FromB: Send + ParallelExtend<B>,
{
    fn par_extend<I: IntoParallelIterator<Item = (A, B)>>(&mut self, par_iter: I) {
        extend_both(par_iter.into_par_iter(), Halves, &mut self.0, &mut self.1);
    }
}

/// Each collection gets the items of its side.
impl<L, R, A, B> ParallelExtend<Either<L, R>> for (A, B)
where
    L: Send,
    R: Send,
    A: Send + ParallelExtend<L>,
    B: Send + ParallelExtend<R>,
{
    fn par_extend<I: IntoParallelIterator<Item = Either<L, R>>>(&mut self, par_iter: I) {
        let as_they_are = By(|item: Either<L, R>| item);
        extend_both(
            par_iter.into_par_iter(),
            as_they_are,
            &mut self.0,
            &mut self.1,
        );
    }
}

/// Extends the existing collection.
impl<L, R, T> ParallelExtend<T> for Either<L, R>
where
    L: ParallelExtend<T>,
    R: ParallelExtend<T>,
    T: Send,
{
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        match self {
            Either::Left(collection) => collection.par_extend(par_iter),
            Either::Right(collection) => collection.par_extend(par_iter),
        }
    }
}
