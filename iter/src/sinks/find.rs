//! `find_any` and `find_map_any`, used by `any` and `all` too: the piece that
//! finds an item first ends the search for all.
#![forbid(unsafe_code)]

use crate::iter::ParallelIterator;
use crate::kit::gather::Gather;
use crate::kit::keep::{earlier, find_map};
use crate::kit::sink::{Sink, drain};
use crate::kit::sync::{AtomicBool, Ordering::Relaxed};

struct FindAny<F> {
    op: F,
    found: AtomicBool,
}

impl<T, R, F: Fn(T) -> Option<R> + Sync> Gather<T> for FindAny<F> {
    type State = Option<R>;
    type Out = Option<R>;

    const ENDS: bool = true;

    fn start(&self) -> Option<R> {
        None
    }

    #[inline]
    fn take(&self, found: Option<R>, item: T) -> Option<R> {
        let found = found.or_else(|| (self.op)(item));
        if found.is_some() {
            self.found.store(true, Relaxed);
        }
        found
    }

    #[inline]
    fn take_all(&self, found: Option<R>, mut items: impl Iterator<Item = T>) -> Option<R> {
        let found = found.or_else(|| find_map(&mut items, &self.op));
        if found.is_some() {
            self.found.store(true, Relaxed);
        }
        drop(items);
        found
    }

    fn finish(&self, found: Option<R>) -> Option<R> {
        found
    }

    #[inline]
    fn done(&self) -> bool {
        self.found.load(Relaxed)
    }
}

impl<T, R, F: Fn(T) -> Option<R> + Sync> Sink<T> for FindAny<F> {
    fn merge(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        earlier(left, right)
    }
}

pub(crate) fn find_map_any<I, R, F>(iter: I, op: F) -> Option<R>
where
    I: ParallelIterator,
    R: Send,
    F: Fn(I::Item) -> Option<R> + Sync,
{
    let found = AtomicBool::new(false);
    drain(iter, &FindAny { op, found })
}
