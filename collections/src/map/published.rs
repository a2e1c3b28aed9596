//! A value that is read without a lock, and changed by putting another in its place.
//!
//! A reader takes hold of the current value, and keeps it for as long as it looks at it. A writer
//! makes a new value from the value that it found, and replaces only that one. If another writer
//! was quicker, it begins again, so no change is lost. A value is dropped once, when it is no
//! longer in its place and the last reader has let go of it.
#![forbid(unsafe_code)]

use super::hazard::{self, Look, Parting, Place};
use super::records;
use std::sync::Arc;

pub(crate) struct Published<T>(Place<T>);

impl<T> Published<T> {
    pub(crate) fn new(value: Arc<T>) -> Self {
        records::say();
        Published(Place::new(value))
    }

    /// The current value, for a look.
    #[inline]
    pub(crate) fn load(&self) -> Look<'_, T> {
        hazard::load(&self.0)
    }

    /// The current value, to keep.
    pub(crate) fn load_full(&self) -> Arc<T> {
        self.load().keep()
    }

    pub(crate) fn into_inner(self) -> Arc<T> {
        self.0.into_inner()
    }

    /// Replaces the value by what `change` makes of it, unless that is nothing. `change` is called
    /// again if another thread was quicker. If it panics, nothing has changed.
    pub(crate) fn renew<R>(&self, change: impl Fn(&T) -> Option<(T, R)>) -> Option<R> {
        let (parting, result) = self.renew_later(change)?;
        // Before the return: a result is not dropped if a destructor panics after it.
        drop(parting);
        Some(result)
    }

    /// The same, but returns the old value, which the caller has yet to part with.
    pub(crate) fn renew_later<R>(
        &self,
        change: impl Fn(&T) -> Option<(T, R)>,
    ) -> Option<(Parting<'_, T>, R)> {
        loop {
            let old = self.load_full();
            let (new, result) = change(&old)?;
            if let Some(parting) = hazard::replace(&self.0, &old, Arc::new(new)) {
                return Some((parting, result));
            }
        }
    }
}
