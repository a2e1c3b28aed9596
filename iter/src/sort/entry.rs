//! The functions that the methods on slices call: each picks the sort that suits the types and the length.
//!
//! A look at a token does not end a sort by unwinding, which would leave the sort half done: where a sort may
//! end early, it asks `requested` and leaves the rest as it is. The call then ends here.
//!
//! If the elements are words, the compiler sees that `by_type` returns `true` once it is inlined. So a program
//! that sorts words by their order does not contain the sort by comparison.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

use tine_pool::loops::quietly;

use super::dispatch::{self, A_FEW, LOOSELY};
use super::{cached, stable, unstable};

/// Sorts stably.
pub(crate) fn par_sort<T: Ord + Send>(v: &mut [T]) {
    quietly(|| {
        if !dispatch::by_type(v) {
            stable::sort_by(v, &T::cmp);
        }
    });
}

/// Sorts stably by a comparison.
pub(crate) fn par_sort_by<T: Send>(v: &mut [T], compare: &(impl Fn(&T, &T) -> Ordering + Sync)) {
    quietly(|| stable::sort_by(v, compare));
}

/// Sorts stably by a key: by radix if it is a primitive.
pub(crate) fn par_sort_by_key<T: Send, K: Ord>(v: &mut [T], key: &(impl Fn(&T) -> K + Sync)) {
    let order = |a: &T, b: &T| key(a).cmp(&key(b));
    quietly(|| {
        if !dispatch::by_key_type::<A_FEW, _, _, _, _>(v, key, &order) {
            stable::sort_by(v, &order);
        }
    });
}

/// Sorts, equal elements in any order.
pub(crate) fn par_sort_unstable<T: Ord + Send>(v: &mut [T]) {
    quietly(|| {
        if !dispatch::by_type(v) {
            unstable::sort_by(v, &T::cmp);
        }
    });
}

/// Sorts by a comparison, equal elements in any order.
pub(crate) fn par_sort_unstable_by<T: Send>(
    v: &mut [T],
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    quietly(|| unstable::sort_by(v, compare));
}

/// Sorts by a key, equal elements in any order: by radix if the key is a primitive.
pub(crate) fn par_sort_unstable_by_key<T: Send, K: Ord>(
    v: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
) {
    let order = |a: &T, b: &T| key(a).cmp(&key(b));
    quietly(|| {
        if !dispatch::by_key_type::<LOOSELY, _, _, _, _>(v, key, &order) {
            unstable::sort_by(v, &order);
        }
    });
}

/// Sorts stably by keys that are each computed once.
pub(crate) fn par_sort_by_cached_key<T: Send, K: Ord + Send>(
    v: &mut [T],
    key: &(impl Fn(&T) -> K + Sync),
) {
    // While the keys are computed, nothing is moved, so looks at a token may end that.
    cached::sort_by_key(v, key);
}
