//! Memory in bulk. The first touch of a page is most of its cost, so large
//! allocations ask for huge pages where the system grants them on request.
//!
//! The only file here that calls system or processor functions by name.

use std::alloc::{Layout, alloc, alloc_zeroed, handle_alloc_error};
use std::mem::{self, MaybeUninit};
use std::ptr::NonNull;
use std::slice;

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

/// Memory that is mapped for one purpose and given back to the system after it, past the allocator.
pub(crate) struct Mapped {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: plain memory, owned, and tied to no thread.
unsafe impl Send for Mapped {}

impl Mapped {
    /// The alignment of what is mapped.
    pub(crate) const ALIGN: usize = 4096;

    /// `size` bytes, at least one. `None` if the system has no room, or its allocator needs no bypass.
    /// [`farewell`](crate::farewell) says what glibc's is bypassed for.
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    pub(crate) fn new(size: usize) -> Option<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: fresh memory wherever the system has room, over nothing that is there.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = NonNull::new(start.cast())?;
        if size >= LARGE {
            advise(start, size);
        }
        Some(Mapped { start, size })
    }

    /// Miri's allocator stands for the system.
    #[cfg(miri)]
    pub(crate) fn new(size: usize) -> Option<Self> {
        let start = allocate(Layout::from_size_align(size, Self::ALIGN).ok()?, false);
        Some(Mapped { start, size })
    }

    #[cfg(not(any(all(target_os = "linux", target_env = "gnu"), miri)))]
    pub(crate) fn new(_: usize) -> Option<Self> {
        None
    }

    /// The number of values that there is room for.
    pub(crate) fn count<T>(&self) -> usize {
        self.size / mem::size_of::<T>()
    }

    /// The memory, as room for values.
    ///
    /// # Panics
    /// If values of this kind have no size, or need more alignment than there is.
    #[inline]
    pub(crate) fn room<T>(&mut self) -> &mut [MaybeUninit<T>] {
        assert!(mem::align_of::<T>() <= Self::ALIGN, "a rare alignment");
        let count = self.count::<T>();
        // SAFETY: mapped, ours alone, aligned, and large enough; nothing need be initialised.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr().cast(), count) }
    }
}

impl Drop for Mapped {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    fn drop(&mut self) {
        // SAFETY: mapped with this size, and given back here only.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }

    #[cfg(miri)]
    fn drop(&mut self) {
        let layout = Layout::from_size_align(self.size, Self::ALIGN).expect("it was allocated");
        // SAFETY: allocated with this layout, and freed here only.
        unsafe { std::alloc::dealloc(self.start.as_ptr(), layout) };
    }

    #[cfg(not(any(all(target_os = "linux", target_env = "gnu"), miri)))]
    fn drop(&mut self) {}
}

/// Hints that the memory will be written soon to which the value's words lead, if they are addresses.
#[inline]
pub(crate) fn expect_owned<T>(value: &mut T) {
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    if mem::align_of::<T>() >= mem::align_of::<usize>() {
        /// The first N words of a value are looked at; this is N.
        const WORDS: usize = 8;
        let words = NonNull::from(value).cast::<MaybeUninit<usize>>();
        for at in 0..(mem::size_of::<T>() / mem::size_of::<usize>()).min(WORDS) {
            // SAFETY: within the value.
            let word = unsafe { words.add(at) };
            // SAFETY: within the value, and aligned; whether it is initialised does not matter.
            let word = unsafe { word.read() };
            // SAFETY: a hint; it reads nothing, faults nowhere, and any bits will do.
            unsafe {
                std::arch::asm!("prefetcht0 [{}]", in(reg) word, options(nostack, preserves_flags, readonly));
            }
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri))))]
    let _ = value;
}

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
