//! `flat_map` and `flatten`: the items of a parallel iterator made from each item.

use std::convert::identity;

use crate::iter::{IntoParallelIterator, ParallelIterator};
use crate::kit::debug_base;
use crate::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer, Went};

/// What [`flat_map`](ParallelIterator::flat_map) returns.
///
/// ```
/// use tine::{iter::FlatMap, prelude::*};
///
/// let all: FlatMap<_, _> = (0..4).into_par_iter().flat_map(|n| 0..n);
/// assert_eq!(all.collect::<Vec<i32>>(), [0, 0, 1, 0, 1, 2]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone)]
pub struct FlatMap<I, F> {
    base: I,
    op: F,
}

impl<I, F> FlatMap<I, F> {
    pub(crate) fn new(base: I, op: F) -> Self {
        FlatMap { base, op }
    }
}

debug_base!(FlatMap<I, F>);

impl<I, F, PI> ParallelIterator for FlatMap<I, F>
where
    I: ParallelIterator,
    F: Fn(I::Item) -> PI + Sync + Send,
    PI: IntoParallelIterator,
{
    type Item = PI::Item;

    const KEEPS_ALL: bool = I::KEEPS_ALL && PI::Iter::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<PI::Item>>(self, base: C) -> C::Result {
        let op = &self.op;
        self.base.drive_unindexed(Outer { op, base })
    }

    crate::kit::go_on::goes_on! { |it, to, folder| go_on(it.base, &it.op, to(), folder) }
}

/// What [`flatten`](ParallelIterator::flatten) returns.
///
/// ```
/// use tine::{iter::Flatten, prelude::*};
///
/// let all: Flatten<_> = vec![vec![1, 2], vec![3]].into_par_iter().flatten();
/// assert_eq!(all.collect::<Vec<i32>>(), [1, 2, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are consumed"]
#[derive(Clone, Debug)]
pub struct Flatten<I> {
    base: I,
}

impl<I> Flatten<I> {
    pub(crate) fn new(base: I) -> Self {
        Flatten { base }
    }
}

impl<I> ParallelIterator for Flatten<I>
where
    I: ParallelIterator<Item: IntoParallelIterator>,
{
    type Item = <I::Item as IntoParallelIterator>::Item;

    const KEEPS_ALL: bool = I::KEEPS_ALL && <I::Item as IntoParallelIterator>::Iter::KEEPS_ALL;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, base: C) -> C::Result {
        let op = &identity::<I::Item>;
        self.base.drive_unindexed(Outer { op, base })
    }

    crate::kit::go_on::goes_on! { |it, to, folder| go_on(it.base, &identity::<I::Item>, to(), folder) }
}

/// Runs `outer` behind the items that `folder` has taken.
fn go_on<I, F, PI, C>(
    outer: I,
    op: &F,
    base: C,
    folder: Option<C::Folder>,
) -> Went<C::Folder, C::Result>
where
    I: ParallelIterator,
    F: Fn(I::Item) -> PI + Sync,
    PI: IntoParallelIterator,
    C: UnindexedConsumer<PI::Item>,
{
    let folder = folder.map(|open| OuterFolder::new(op, base.split_off_left(), Some(open)));
    match outer.go_on(|| Outer { op, base }, folder) {
        Went::Open(OuterFolder {
            so_far: None,
            open: Some(open),
            ..
        }) => Went::Open(open),
        went => Went::Closed(went.close()),
    }
}

/// Takes outer items; a part of `base` is split off for each.
struct Outer<'f, F, C> {
    op: &'f F,
    base: C,
}

impl<'f, T, F, PI, C> Consumer<T> for Outer<'f, F, C>
where
    F: Fn(T) -> PI + Sync,
    PI: IntoParallelIterator,
    C: UnindexedConsumer<PI::Item>,
{
    type Folder = OuterFolder<'f, F, C, C::Folder, C::Result>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const ADVANCES: bool = true;
    const ENDS: bool = C::ENDS;
    const RESUMES: bool = C::RESUMES && PI::Iter::KEEPS_ALL;

    fn worth(&self) -> u64 {
        self.base.worth()
    }

    fn split_at(self, _: usize) -> (Self, Self, C::Reducer) {
        let left = UnindexedConsumer::<T>::split_off_left(&self);
        let reducer = self.base.to_reducer();
        (left, self, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        OuterFolder::new(self.op, self.base, None)
    }

    fn full(&self) -> bool {
        self.base.full()
    }

    fn resume(self, so_far: C::Result) -> Self {
        let base = self.base.resume(so_far);
        Outer { op: self.op, base }
    }

    fn advance(self, _: usize, folder: Option<Self::Folder>) -> (Self::Folder, Self) {
        let begin = || UnindexedConsumer::<T>::split_off_left(&self).into_folder();
        (folder.unwrap_or_else(begin), self)
    }
}

impl<T, F, PI, C> UnindexedConsumer<T> for Outer<'_, F, C>
where
    F: Fn(T) -> PI + Sync,
    PI: IntoParallelIterator,
    C: UnindexedConsumer<PI::Item>,
{
    fn split_off_left(&self) -> Self {
        let base = self.base.split_off_left();
        Outer { op: self.op, base }
    }

    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

/// The inner iterators of a piece, run into one folder as long as no other thread takes a part of one.
struct OuterFolder<'f, F, C, G, R> {
    op: &'f F,
    base: C,
    /// The result of the inner iterators before those that `open` took.
    so_far: Option<R>,
    open: Option<G>,
}

impl<'f, F, C, G, R> OuterFolder<'f, F, C, G, R> {
    fn new(op: &'f F, base: C, open: Option<G>) -> Self {
        OuterFolder {
            op,
            base,
            so_far: None,
            open,
        }
    }

    /// Notes a result that comes next.
    fn add<T>(&mut self, next: R)
    where
        C: UnindexedConsumer<T, Folder = G, Result = R>,
        G: Folder<T, Result = R>,
        R: Send,
    {
        self.so_far = Some(match self.so_far.take() {
            Some(so_far) => self.base.to_reducer().reduce(so_far, next),
            None => next,
        });
    }

    #[inline]
    fn take<T, PI>(&mut self, item: T)
    where
        F: Fn(T) -> PI,
        PI: IntoParallelIterator,
        C: UnindexedConsumer<PI::Item, Folder = G, Result = R>,
        G: Folder<PI::Item, Result = R>,
        R: Send,
    {
        let inner = (self.op)(item).into_par_iter();
        let open = self.open.take();
        let resumed = match C::RESUMES && PI::Iter::KEEPS_ALL && open.is_none() {
            true => self.so_far.take(),
            false => None,
        };
        let base = &self.base;
        let to = || {
            let to = base.split_off_left();
            match resumed {
                Some(so_far) => to.resume(so_far),
                None => to,
            }
        };
        if const { !C::ADVANCES } {
            let came_to = inner.drive_unindexed(to());
            return self.add::<PI::Item>(came_to);
        }
        match inner.go_on(to, open) {
            Went::Open(folder) => self.open = Some(folder),
            Went::Closed(came_to) => self.add::<PI::Item>(came_to),
        }
    }
}

impl<T, F, PI, C> Folder<T> for OuterFolder<'_, F, C, C::Folder, C::Result>
where
    F: Fn(T) -> PI,
    PI: IntoParallelIterator,
    C: UnindexedConsumer<PI::Item>,
{
    type Result = C::Result;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.take(item);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        for item in items {
            self.take(item);
            if !C::STEADY && self.full() {
                break;
            }
        }
        self
    }

    fn complete(mut self) -> C::Result {
        if let Some(open) = self.open.take() {
            self.add::<PI::Item>(open.complete());
        }
        let empty = || self.base.into_folder().complete();
        self.so_far.unwrap_or_else(empty)
    }

    #[inline]
    fn full(&self) -> bool {
        self.open.as_ref().is_some_and(Folder::full) || self.base.full()
    }
}
