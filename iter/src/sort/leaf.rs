//! What a single thread sorts alone: std's sorts, but without their panic when a comparison is no total order.
//!
//! Std's sorts notice such a comparison in one place only: they merge a few elements from both ends at once,
//! through copies, and check that the two ends meet correctly. If a comparison could change the copies, because
//! an element holds an `UnsafeCell`, std sorts these few by insertion, which notices nothing. So elements are
//! [`Wrapped`] in an `UnsafeCell`. That costs nothing for elements of 16 bytes or more. Narrower elements are
//! sorted without it, and sorted once more if std panics. The second sort is the wrapped one if it must be
//! stable. Otherwise it is a heap sort, which trusts no comparison and is little code; std's sort, wrapped,
//! would be a second copy in every program. A comparison that is caught at one place will be caught there
//! again. So the place is remembered, and neither the time nor the message of a panic is spent twice.

use std::cell::UnsafeCell;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Narrower elements are sorted in less time without an `UnsafeCell` than in one.
const NARROW: usize = 16;
/// Std sorts this many by insertion in any case.
const FEW: usize = 20;

/// Sorts `v`, keeping equal elements in their order. If `compare` is no total order, the elements
/// end in any order.
pub(super) fn stable<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) {
    tamed::<T, F, Stable>(v, compare);
}

/// Sorts `v`. Equal elements may end in any order, and so may all of them if `compare` is no total
/// order.
pub(super) fn unstable<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) {
    tamed::<T, F, Unstable>(v, compare);
}

/// One of std's sorts.
trait Sort {
    fn sort<T>(v: &mut [T], compare: impl FnMut(&T, &T) -> Ordering);
    /// Sorts narrow elements whatever the comparison says, and correctly if it is a total order.
    fn trust_nothing<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F);
}

struct Stable;

impl Sort for Stable {
    fn sort<T>(v: &mut [T], compare: impl FnMut(&T, &T) -> Ordering) {
        v.sort_by(compare);
    }

    fn trust_nothing<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) {
        wrapped::<T, F, Stable>(v, compare);
    }
}

struct Unstable;

impl Sort for Unstable {
    fn sort<T>(v: &mut [T], compare: impl FnMut(&T, &T) -> Ordering) {
        v.sort_unstable_by(compare);
    }

    fn trust_nothing<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) {
        by_heap(v, compare);
    }
}

fn tamed<T, F: Fn(&T, &T) -> Ordering, S: Sort>(v: &mut [T], compare: &F) {
    if v.len() < 2 || size_of::<T>() == 0 {
        return;
    }
    // The condition is `const` so that a wide type brings only one copy of std's sort.
    if const { cfg!(panic = "abort") || size_of::<T>() >= NARROW } {
        return wrapped::<T, F, S>(v, compare);
    }
    let site = tamed::<T, F, S> as *const () as usize;
    if v.len() <= FEW || !is_known(site) {
        if unless_caught::<T, F, S>(v, compare) {
            return;
        }
        remember(site);
    }
    S::trust_nothing(v, compare);
}

/// Sorts `v` by a heap. If `compare` is no total order, the elements end in any order.
fn by_heap<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) {
    let len = v.len();
    // First each element that has children becomes the root of a heap; then the greatest element
    // leaves the heap again and again.
    let mut left = len + len / 2;
    while left > 0 {
        left -= 1;
        let (mut root, end) = if left >= len {
            (left - len, len)
        } else {
            v.swap(0, left);
            (0, left)
        };
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                break;
            }
            if child + 1 < end && compare(&v[child], &v[child + 1]).is_lt() {
                child += 1;
            }
            if compare(&v[root], &v[child]).is_ge() {
                break;
            }
            v.swap(root, child);
            root = child;
        }
    }
}

fn wrapped<T, F: Fn(&T, &T) -> Ordering, S: Sort>(v: &mut [T], compare: &F) {
    let compare = |a: &Wrapped<T>, b: &Wrapped<T>| compare(a.get(), b.get());
    S::sort(wrap(v), compare);
}

/// An element whose type says that a comparison may change it.
#[repr(transparent)]
struct Wrapped<T>(UnsafeCell<T>);

impl<T> Wrapped<T> {
    #[inline(always)]
    fn get(&self) -> &T {
        // SAFETY: no other code makes a unique reference through the cell: `wrap` holds the only
        // one for as long as the element is wrapped.
        unsafe { &*self.0.get() }
    }
}

fn wrap<T>(v: &mut [T]) -> &mut [Wrapped<T>] {
    let wrapped = ptr::from_mut(v) as *mut [Wrapped<T>];
    // SAFETY: a cell, and what wraps it transparently, lie in memory as their content does, and the
    // reference is the only one to it.
    unsafe { &mut *wrapped }
}

/// What std says when it panics at a comparison that is no total order.
const WORDS: &str = "user-provided comparison function does not correctly implement a total order";

/// Sorts `v`; `false` if std panicked. A comparison may itself panic with exactly std's message, for instance
/// because it sorts. It will panic again when it is asked again. Every other panic goes on at once.
///
/// A wrapper that notes the panics of the comparison would tell the two cases apart. But then the compiler has
/// to keep state for the case of a panic, and comparing floats by `partial_cmp` becomes a branch: such a sort
/// takes four times as long.
fn unless_caught<T, F: Fn(&T, &T) -> Ordering, S: Sort>(v: &mut [T], compare: &F) -> bool {
    // Wrapped in a closure: given a reference to a closure that compares floats by `partial_cmp`, std's
    // unstable sort compiles it to branches.
    let order = |a: &T, b: &T| compare(a, b);
    match catch_unwind(AssertUnwindSafe(|| S::sort(v, order))) {
        Ok(()) => true,
        Err(panic) if panic.downcast_ref() == Some(&WORDS) => false,
        Err(panic) => resume_unwind(panic),
    }
}

/// The places whose comparisons were caught. The address of a place decides which slot it has.
static KNOWN: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

fn slot(site: usize) -> &'static AtomicUsize {
    &KNOWN[(site >> 4) % KNOWN.len()]
}

fn is_known(site: usize) -> bool {
    slot(site).load(Relaxed) == site
}

fn remember(site: usize) {
    slot(site).store(site, Relaxed);
}
