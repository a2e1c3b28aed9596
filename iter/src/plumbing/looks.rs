//! Where loops look at the tokens that their thread works under.
//!
//! A loop that is run in blocks looks between two of them. What is fed to a folder in one go is
//! looked at on its way there: [`Looked`].
#![forbid(unsafe_code)]

use tine_pool::loops::Due;
pub(super) use tine_pool::loops::{check, is_under, look};

use super::traits::Folder;

/// A folder on whose way items are looked at tokens, where there are any.
pub(super) struct Looked<F>(F);

impl<F> Looked<F> {
    pub(super) fn new(folder: F) -> Self {
        Looked(folder)
    }
}

impl<T, F: Folder<T>> Folder<T> for Looked<F> {
    type Result = F::Result;

    #[inline]
    fn consume(self, item: T) -> Self {
        Looked(self.0.consume(item))
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = T>>(mut self, items: I) -> Self {
        if !is_under() {
            return Looked(self.0.consume_iter(items));
        }
        let mut due = Due::now();
        for item in items {
            self.0 = self.0.consume(item);
            if self.0.full() {
                break;
            }
            if due.tick() {
                check();
            }
        }
        self
    }

    fn complete(self) -> F::Result {
        self.0.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.0.full()
    }
}
