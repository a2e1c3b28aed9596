//! What one thread sorts alone: std's sorts, without their panic at a comparison that is no total
//! order.
//!
//! Std's sorts tell such a comparison from a right one in one place only: where a few elements are
//! merged from both ends at once, by way of copies, and the two ends do not meet. They sort so
//! few elements by insertion, which notices nothing, where comparing could change the copies: where
//! there is an `UnsafeCell` in an element. So elements are [`Wrapped`] into one. That costs nothing
//! where elements have 16 bytes or more; narrower ones are sorted as they are, and if std panics
//! they are sorted once more, wrapped. Whoever compares so at one place will do it again: the
//! place is remembered, so that neither the time nor the message of a panic is spent twice.

use std::cell::UnsafeCell;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Narrower elements are sorted in less time as they are than in an `UnsafeCell`.
const NARROW: usize = 16;
/// Std sorts so few by insertion in any case.
const FEW: usize = 20;

/// Sorts `v`, keeping equal elements in their order. If `compare` is no total order they end
/// in any order.
pub(super) fn stable<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) {
    tamed::<T, F, Stable>(v, compare);
}

/// Sorts `v`; equal elements may end in any order, and all of them if `compare` is no total one.
pub(super) fn unstable<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) {
    tamed::<T, F, Unstable>(v, compare);
}

/// [`unstable`] for what takes little time anyway, in less code.
pub(super) fn few<T, F: Fn(&T, &T) -> Ordering>(v: &mut [T], compare: &F) {
    wrapped::<T, F, Unstable>(v, compare);
}

/// One of std's sorts.
trait Sort {
    fn sort<T>(v: &mut [T], compare: impl FnMut(&T, &T) -> Ordering);
}

struct Stable;

impl Sort for Stable {
    fn sort<T>(v: &mut [T], compare: impl FnMut(&T, &T) -> Ordering) {
        v.sort_by(compare);
    }
}

struct Unstable;

impl Sort for Unstable {
    fn sort<T>(v: &mut [T], compare: impl FnMut(&T, &T) -> Ordering) {
        v.sort_unstable_by(compare);
    }
}

fn tamed<T, F: Fn(&T, &T) -> Ordering, S: Sort>(v: &mut [T], compare: &F) {
    if v.len() < 2 || size_of::<T>() == 0 {
        return;
    }
    let wild = cfg!(panic = "abort") || size_of::<T>() >= NARROW;
    let site = tamed::<T, F, S> as *const () as usize;
    if !wild && (v.len() <= FEW || !is_known(site)) {
        if unless_caught::<T, F, S>(v, compare) {
            return;
        }
        remember(site);
    }
    wrapped::<T, F, S>(v, compare);
}

fn wrapped<T, F: Fn(&T, &T) -> Ordering, S: Sort>(v: &mut [T], compare: &F) {
    let compare = |a: &Wrapped<T>, b: &Wrapped<T>| compare(a.get(), b.get());
    S::sort(wrap(v), compare);
}

/// An element, seen as one that a comparison may change.
#[repr(transparent)]
struct Wrapped<T>(UnsafeCell<T>);

impl<T> Wrapped<T> {
    #[inline(always)]
    fn get(&self) -> &T {
        // SAFETY: nobody makes a unique reference by way of the cell: `wrap` has the
        // only one for as long as it is wrapped.
        unsafe { &*self.0.get() }
    }
}

fn wrap<T>(v: &mut [T]) -> &mut [Wrapped<T>] {
    let wrapped = ptr::from_mut(v) as *mut [Wrapped<T>];
    // SAFETY: a cell and what wraps it transparently lie in memory as what is in it, and the
    // reference is the only one to it.
    unsafe { &mut *wrapped }
}

/// What std says when it panics at a comparison that is no total order.
const WORDS: &str = "user-provided comparison function does not correctly implement a total order";

/// Sorts `v`; `false` if std panicked. A comparison that throws std's very words, as one that sorts
/// does itself, will do so again when it is asked again; every other panic of it goes on at once.
///
/// A wrapper that notes the panics of the comparison would tell the two apart for good, but where
/// there is something to do in case of a panic, comparing floats by `partial_cmp` becomes a branch,
/// and such a sort takes four times as long.
fn unless_caught<T, F: Fn(&T, &T) -> Ordering, S: Sort>(v: &mut [T], compare: &F) -> bool {
    // A closure around it: std's unstable sort compiles a reference to one that compares floats by
    // `partial_cmp` to branches.
    let order = |a: &T, b: &T| compare(a, b);
    match catch_unwind(AssertUnwindSafe(|| S::sort(v, order))) {
        Ok(()) => true,
        Err(panic) if panic.downcast_ref() == Some(&WORDS) => false,
        Err(panic) => resume_unwind(panic),
    }
}

/// Places whose comparisons were caught, each where its address says.
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
