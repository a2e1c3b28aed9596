//! A value to be cloned once for each piece, on threads that may not look at it
//! at the same time.

use std::sync::{Mutex, PoisonError};

/// Hands out clones of the value of `map_with`, `fold_with` and friends.
///
/// A `T` that is `Send` but not `Sync` can be cloned by one thread after another; the lock makes
/// sure of that. The lock is taken once when a piece begins, so threads contend for it only when
/// pieces begin at the same moment. If an earlier clone has panicked, this clone is made all the
/// same.
///
/// The clone is the user's code, under the lock. It must not begin another piece of the same loop.
/// A wait for another pool may do so; the methods say this. Another thread cannot clone meanwhile,
/// and a clone at each cut would be one for each piece that is offered, taken or not.
pub(crate) fn clones_of<T: Clone + Send>(value: T) -> impl Fn() -> T + Sync {
    let value = Mutex::new(value);
    move || value.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
