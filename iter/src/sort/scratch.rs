//! Memory that a sort borrows for its own duration. It is uninitialised, never dropped as values,
//! and may be refused. A sort that gets `None` here has another way that needs no memory.

use std::alloc::{Layout, alloc, dealloc};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// The size of the huge pages that the system is asked for. A page fault for each 4 KiB costs more than the
/// pass that touches the pages.
#[cfg(all(target_os = "linux", not(miri)))]
const HUGE: usize = 2 << 20;

/// Room for a number of `T`, all of them uninitialised.
pub(crate) struct Scratch<T> {
    start: NonNull<T>,
    len: usize,
    layout: Layout,
    owns: PhantomData<T>,
}

impl<T> Scratch<T> {
    /// Room for `len` values, or `None` if the allocator has none.
    pub(crate) fn new(len: usize) -> Option<Self> {
        let layout = Layout::array::<T>(len).ok()?;
        if layout.size() == 0 {
            let start = NonNull::dangling();
            return Some(Scratch {
                start,
                len,
                layout,
                owns: PhantomData,
            });
        }
        if refused(layout.size()) {
            return None;
        }
        // SAFETY: the layout has a non-zero size, as was just checked.
        let start = unsafe { alloc(layout) };
        let start = NonNull::new(start.cast::<T>())?;
        advise_huge(start.as_ptr().cast(), layout.size());
        Some(Scratch {
            start,
            len,
            layout,
            owns: PhantomData,
        })
    }

    /// All of the room.
    pub(crate) fn room(&mut self) -> &mut [MaybeUninit<T>] {
        let start = self.start.as_ptr().cast::<MaybeUninit<T>>();
        // SAFETY: `start` heads `len` places (or the layout has no size), which
        // `self` owns; uninitialised places are what `MaybeUninit` allows.
        unsafe { std::slice::from_raw_parts_mut(start, self.len) }
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: allocated in `new` with this very layout.
            unsafe { dealloc(self.start.as_ptr().cast(), self.layout) }
        }
    }
}

/// Asks for huge pages for the part of the room that they can cover. A room that starts on a huge page would be
/// new memory each time; an allocator may have memory at hand that has been touched before.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge(start: *mut u8, bytes: usize) {
    let skip = start.align_offset(HUGE);
    let whole = bytes.saturating_sub(skip) / HUGE * HUGE;
    if whole >= HUGE {
        // SAFETY: the range is within our own allocation, and this advice changes how its pages are backed,
        // never their content. A refusal does no harm.
        unsafe { libc::madvise(start.wrapping_add(skip).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge(_: *mut u8, _: usize) {}

#[cfg(not(test))]
fn refused(_: usize) -> bool {
    false
}

#[cfg(test)]
pub(crate) use starve::{refused, starve, starve_after};

/// Tests take the memory away, to see that the sorts do without.
#[cfg(test)]
mod starve {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    static TURN: Mutex<()> = Mutex::new(());
    static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
    /// How many scratches beyond the limit are granted nevertheless.
    static GRANTED: AtomicUsize = AtomicUsize::new(0);

    pub(crate) fn refused(bytes: usize) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        bytes > LIMIT.load(Relaxed) && GRANTED.fetch_update(Relaxed, Relaxed, one_less).is_err()
    }

    /// Runs `f` while every scratch of more than `limit` bytes is refused, on all threads. One
    /// caller at a time. A caller that needs the memory passes no limit.
    pub(crate) fn starve(limit: usize, f: impl FnOnce()) {
        starve_after(0, limit, f);
    }

    /// The same, after the first `granted` scratches.
    pub(crate) fn starve_after(granted: usize, limit: usize, f: impl FnOnce()) {
        struct Reset;
        impl Drop for Reset {
            fn drop(&mut self) {
                LIMIT.store(usize::MAX, Relaxed);
            }
        }
        let _turn = TURN.lock();
        let _reset = Reset;
        GRANTED.store(granted, Relaxed);
        LIMIT.store(limit, Relaxed);
        f();
    }
}
