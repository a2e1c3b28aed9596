//! Merging two sorted runs into a third place, in parallel and without branches that depend on the comparison.
//!
//! ```text
//!   a: [ a0 .......... | ......... ]      the first half of the output takes
//!   b: [ b0 ..... | .............. ]      a prefix of each, the second the rest
//!      └── left lane ──┘── right lane ─┘
//! ```
//!
//! A merge is split at the middle of its output (the *merge path*). The split is found before anything is
//! forked or copied. So no element is ever looked at by two threads, and no element is compared after its bytes
//! have been copied: a comparison may change the content of a `Cell` in an element. Nothing is removed from the
//! source; it holds the values until the merge has returned.
//!
//! The lanes are bounded by lengths, never by what `compare` said: with `k` elements on both sides, `k` steps
//! cannot run past either side.

use std::cmp::Ordering;
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;
use std::ptr;

use crate::plumbing::halves;

/// Shorter merges run in one lane: finding the split costs more than it saves.
const TWO_LANES: usize = 64;

/// Merges the sorted runs `a` and `b` into `dst`, taking from `a` where they
/// are equal; in pieces of at most `grain` elements.
///
/// When this returns, `dst` holds the bytes of every element of `a` and `b` once; the caller must then treat
/// the elements as moved. When it unwinds, `a` and `b` are whole.
///
/// # Panics
/// If `dst` is not exactly as long as `a` and `b` together.
pub(super) fn merge<T, F>(
    a: &mut [T],
    b: &mut [T],
    dst: &mut [MaybeUninit<T>],
    grain: usize,
    compare: &F,
) where
    T: Send,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    assert!(
        a.len() + b.len() == dst.len(),
        "a merge must fill its target"
    );
    let (Some(a_first), Some(b_last)) = (a.first(), b.last()) else {
        return copy(a, b, dst, grain);
    };
    if compare(&b[0], &a[a.len() - 1]).is_ge() {
        return copy(a, b, dst, grain);
    }
    if compare(b_last, a_first).is_lt() {
        return copy(b, a, dst, grain);
    }
    if dst.len() <= grain.max(TWO_LANES) {
        return alone(a, b, dst, compare);
    }
    let half = dst.len() / 2;
    let i = split(a, b, half, compare);
    let (a0, a1) = a.split_at_mut(i);
    let (b0, b1) = b.split_at_mut(half - i);
    let (d0, d1) = dst.split_at_mut(half);
    halves(
        || merge(a0, b0, d0, grain, compare),
        || merge(a1, b1, d1, grain, compare),
    );
}

/// How many of the first `k` elements of the merged output come from `a`.
fn split<T, F: Fn(&T, &T) -> Ordering>(a: &[T], b: &[T], k: usize, compare: &F) -> usize {
    let (mut low, mut high) = (k.saturating_sub(b.len()), k.min(a.len()));
    while low < high {
        let i = low + (high - low) / 2;
        if compare(&b[k - 1 - i], &a[i]).is_lt() {
            high = i;
        } else {
            low = i + 1;
        }
    }
    low
}

/// Copies `first` and then `second` into `dst`, in parallel.
fn copy<T: Send>(first: &mut [T], second: &mut [T], dst: &mut [MaybeUninit<T>], grain: usize) {
    let (d0, d1) = dst.split_at_mut(first.len());
    if dst_is_short(d0, d1, grain) {
        copy_out(first, d0, grain);
        copy_out(second, d1, grain);
    } else {
        halves(
            || copy_out(first, d0, grain),
            || copy_out(second, d1, grain),
        );
    }
}

fn dst_is_short<T>(d0: &[T], d1: &[T], grain: usize) -> bool {
    d0.len().saturating_add(d1.len()) <= grain
}

/// Copies the bytes of `src` into `dst`, which has the same length, in parallel.
pub(super) fn copy_out<T: Send>(src: &mut [T], dst: &mut [MaybeUninit<T>], grain: usize) {
    assert_eq!(src.len(), dst.len());
    if src.len() <= grain.max(1) {
        let to = dst.as_mut_ptr().cast::<T>();
        // SAFETY: both are slices of this length, and one is borrowed uniquely.
        unsafe { ptr::copy_nonoverlapping(src.as_ptr(), to, src.len()) };
        return;
    }
    let mid = src.len() / 2;
    let (s0, s1) = src.split_at_mut(mid);
    let (d0, d1) = dst.split_at_mut(mid);
    halves(|| copy_out(s0, d0, grain), || copy_out(s1, d1, grain));
}

/// Merges on this thread: two lanes in step, because each waits for its own
/// comparison and the processor can wait for both at once.
pub(super) fn alone<T, F>(a: &[T], b: &[T], dst: &mut [MaybeUninit<T>], compare: &F)
where
    F: Fn(&T, &T) -> Ordering,
{
    let half = dst.len() / 2;
    if dst.len() < TWO_LANES {
        return Lane::new(a, b, dst).finish(compare);
    }
    let i = split(a, b, half, compare);
    let (a0, a1) = a.split_at(i);
    let (b0, b1) = b.split_at(half - i);
    let (d0, d1) = dst.split_at_mut(half);
    let (mut left, mut right) = (Lane::new(a0, b0, d0), Lane::new(a1, b1, d1));
    loop {
        let steps = left.steps().min(right.steps());
        if steps == 0 {
            break;
        }
        for _ in 0..steps {
            // SAFETY: `steps` bounds the steps of either lane.
            unsafe { left.step(compare) };
            // SAFETY: as above.
            unsafe { right.step(compare) };
        }
    }
    left.finish(compare);
    right.finish(compare);
}

/// The rest of a merge. `dst` has room for both runs.
struct Lane<'a, T> {
    a: *const T,
    a_end: *const T,
    b: *const T,
    b_end: *const T,
    dst: *mut T,
    runs: std::marker::PhantomData<&'a mut [T]>,
}

impl<'a, T> Lane<'a, T> {
    fn new(a: &'a [T], b: &'a [T], dst: &'a mut [MaybeUninit<T>]) -> Self {
        assert!(
            size_of::<T>() != 0,
            "values without a size are in order already"
        );
        assert_eq!(a.len() + b.len(), dst.len());
        let (a, b) = (a.as_ptr_range(), b.as_ptr_range());
        let dst = dst.as_mut_ptr().cast::<T>();
        let runs = std::marker::PhantomData;
        Lane {
            a: a.start,
            a_end: a.end,
            b: b.start,
            b_end: b.end,
            dst,
            runs,
        }
    }

    /// The rests of `a` and of `b`.
    fn left(&self) -> (usize, usize) {
        let len = |from: *const T, to: *const T| (to.addr() - from.addr()) / size_of::<T>();
        (len(self.a, self.a_end), len(self.b, self.b_end))
    }

    /// A number of steps during which neither run becomes empty before the last step.
    fn steps(&self) -> usize {
        let (a, b) = self.left();
        a.min(b)
    }

    /// Moves the lesser head to the output, the head of `a` if they are equal.
    ///
    /// # Safety
    /// Neither run is empty.
    #[inline(always)]
    unsafe fn step<F: Fn(&T, &T) -> Ordering>(&mut self, compare: &F) {
        // SAFETY: `a` is not empty, so its head is a value.
        let a = unsafe { &*self.a };
        // SAFETY: nor is `b`.
        let b = unsafe { &*self.b };
        let take_b = compare(b, a).is_lt();
        let from = select_unpredictable(take_b, self.b, self.a);
        // SAFETY: `from` is one of the heads; `dst` has room for all that is left.
        unsafe { ptr::copy_nonoverlapping(from, self.dst, 1) };
        self.a = self.a.wrapping_add(usize::from(!take_b));
        self.b = self.b.wrapping_add(usize::from(take_b));
        self.dst = self.dst.wrapping_add(1);
    }

    /// Merges all that is left.
    fn finish<F: Fn(&T, &T) -> Ordering>(mut self, compare: &F) {
        loop {
            let steps = self.steps();
            if steps == 0 {
                break;
            }
            for _ in 0..steps {
                // SAFETY: both sides had `steps` elements, so that number of steps finds neither
                // run empty.
                unsafe { self.step(compare) };
            }
        }
        let (a, b) = self.left();
        // SAFETY: `dst` has room for what is left of both runs.
        unsafe { ptr::copy_nonoverlapping(self.a, self.dst, a) };
        // SAFETY: as above; one of the two is empty.
        unsafe { ptr::copy_nonoverlapping(self.b, self.dst.wrapping_add(a), b) };
    }
}
