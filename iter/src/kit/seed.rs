//! A value to be cloned once for each piece, on threads that may not look at it
//! at the same time.

use std::sync::{Mutex, PoisonError};

/// Hands out clones of the value of `map_with`, `fold_with` and friends.
///
/// A `T` that is `Send` but not `Sync` can be cloned by one thread after
/// another, and the lock sees to that. It is taken once when a piece begins, so
/// threads contend for it only when pieces begin at the same moment. If a clone
/// has panicked before, that is no reason to refuse this one.
pub(crate) fn clones_of<T: Clone + Send>(value: T) -> impl Fn() -> T + Sync {
    let value = Mutex::new(value);
    move || value.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
