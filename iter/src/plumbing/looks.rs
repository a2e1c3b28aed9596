//! Where loops check the tokens that their thread works under.
//!
//! A loop that is run in blocks checks between two blocks. Where all items are fed to a folder in
//! one go, [`Looked`] checks on the way. Loops that feed no folder are [`fold`]s.
#![forbid(unsafe_code)]

pub(super) use tine_pool::loops::check;
use tine_pool::loops::{self, Due};
pub(crate) use tine_pool::loops::{is_under, look};

use super::traits::Folder;

/// `items.fold(init, op)`, which looks at tokens between items, where there are any.
#[inline]
pub(crate) fn fold<I: Iterator, A>(items: I, init: A, mut op: impl FnMut(A, I::Item) -> A) -> A {
    if !is_under() {
        return items.fold(init, op);
    }
    let mut due = Due::now();
    items.fold(init, |so_far, item| {
        if due.tick() {
            check();
        }
        op(so_far, item)
    })
}

/// How many items a loop runs between two looks at tokens: all of them, where there are no tokens. So the loop
/// over a stretch is compiled once.
pub(crate) struct Strides {
    /// `None` without a token.
    stride: Option<usize>,
    at: u64,
}

impl Strides {
    pub(crate) fn new() -> Self {
        Strides {
            stride: is_under().then_some(1),
            at: loops::now(),
        }
    }

    /// The length of the next stretch of `left` items, after a look.
    #[inline]
    pub(crate) fn next(&mut self, left: usize) -> usize {
        match self.stride {
            None => left,
            Some(_) => self.look(left),
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self, left: usize) -> usize {
        const MOST: usize = 1024;
        check();
        let now = loops::now();
        let stride = self.stride.unwrap_or(1);
        let stride = match loops::is_long(now.wrapping_sub(self.at)) {
            true => (stride / 8).max(1),
            false => (stride * 2).min(MOST),
        };
        (self.at, self.stride) = (now, Some(stride));
        left.min(stride)
    }
}

/// A folder that checks tokens, where there are any, between the items that it takes.
pub(crate) struct Looked<F> {
    base: F,
    due: Option<Due>,
}

impl<F> Looked<F> {
    pub(crate) fn new(base: F) -> Self {
        Looked {
            base,
            due: is_under().then(Due::now),
        }
    }

    /// The folder, without the look.
    pub(crate) fn into_inner(self) -> F {
        self.base
    }
}

impl<T, F: Folder<T>> Folder<T> for Looked<F> {
    type Result = F::Result;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        if let Some(due) = &mut self.due
            && due.tick()
        {
            check();
        }
        self.base = self.base.consume(item);
        self
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        if self.due.is_none() {
            self.base = self.base.consume_iter(items);
            return self;
        }
        for item in items {
            self = self.consume(item);
            if self.full() {
                break;
            }
        }
        self
    }

    fn complete(self) -> F::Result {
        self.base.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.base.full()
    }
}
