//! Where loops look at the tokens that their thread works under.
//!
//! A loop that is run in blocks looks between two of them. What is fed to a folder in one go is
//! looked at on its way there: [`Looked`].
#![forbid(unsafe_code)]

use tine_pool::loops::Due;
pub(super) use tine_pool::loops::{check, is_under, look};

use super::traits::Folder;

/// A folder on whose way items are looked at tokens, where there are any.
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
