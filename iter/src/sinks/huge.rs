//! Huge pages for large outputs, where the system offers them on request.

use std::mem::MaybeUninit;

/// Below this many bytes a system call costs more than it saves.
#[cfg(target_os = "linux")]
const WORTH_IT: usize = 4 << 20;

/// Advises the system to put `memory`, which is about to be filled, on huge pages. Nothing depends on whether
/// the system does.
#[cfg(target_os = "linux")]
pub(crate) fn advise<T>(memory: &mut [MaybeUninit<T>]) {
    /// An address with this alignment begins a page, whatever size of page Linux uses.
    const PAGE: usize = 64 << 10;
    let bytes = size_of_val(memory);
    if bytes < WORTH_IT {
        return;
    }
    let start = memory.as_mut_ptr().cast::<u8>();
    let skip = start.addr().next_multiple_of(PAGE) - start.addr();
    let whole = (bytes - skip) / PAGE * PAGE;
    // SAFETY: the address is inside `memory`, whose size is more than a page.
    let aligned = unsafe { start.add(skip) };
    // SAFETY: this advice changes only time, nothing else that a program can observe, and the range lies inside
    // memory that is exclusively borrowed here.
    unsafe { libc::madvise(aligned.cast(), whole, libc::MADV_HUGEPAGE) };
}

/// On other systems there is nothing to ask for.
#[cfg(not(target_os = "linux"))]
pub(crate) fn advise<T>(_memory: &mut [MaybeUninit<T>]) {}
