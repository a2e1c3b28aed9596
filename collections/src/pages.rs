//! Memory in bulk. The first touch of a page is most of its cost, so large
//! allocations ask for huge pages where the system grants them on request.
//!
//! The only file here that calls system or processor functions by name.

use std::alloc::{Layout, alloc, alloc_zeroed, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// The smallest allocation for which asking is worth a system call.
const LARGE: usize = 4 << 20;
/// The size of a huge page on the common machines.
pub(crate) const HUGE: usize = 2 << 20;

/// Memory of this layout, whose size is not zero.
pub(crate) fn allocate(layout: Layout, zeroed: bool) -> NonNull<u8> {
    assert!(layout.size() != 0, "memory of no size");
    let start = if zeroed {
        // SAFETY: the size is not zero.
        unsafe { alloc_zeroed(layout) }
    } else {
        // SAFETY: the size is not zero.
        unsafe { alloc(layout) }
    };
    let Some(start) = NonNull::new(start) else {
        handle_alloc_error(layout)
    };
    if layout.size() >= LARGE {
        advise(start, layout.size());
    }
    start
}

/// Asks for huge pages under memory that will soon be filled, if there is much of it. Nothing
/// depends on the answer.
pub fn expect_fill<T>(room: &mut [MaybeUninit<T>]) {
    let size = size_of_val(room);
    if size >= LARGE {
        advise(NonNull::from(room).cast(), size);
    }
}

/// Asks for huge pages; a refusal changes nothing.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise(start: NonNull<u8>, size: usize) {
    const PAGE: usize = 4096;
    let skip = start.addr().get().wrapping_neg() % PAGE;
    let whole = (size - skip) / PAGE * PAGE;
    let start = start.as_ptr().wrapping_add(skip);
    // SAFETY: the range lies within the caller's allocation, and the advice
    // changes how it is backed, never what it holds.
    unsafe { libc::madvise(start.cast(), whole, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_: NonNull<u8>, _: usize) {}

/// Hints that the memory at this address will be read soon. Any address will
/// do.
#[inline]
pub(crate) fn expect_read(address: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing and faults nowhere.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// Hints that the memory `ahead` bytes after `here` will be written soon.
#[inline]
pub(crate) fn expect_write(here: *const u8, ahead: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a hint; it reads nothing and faults nowhere.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(here.wrapping_add(ahead).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (here, ahead);
}
