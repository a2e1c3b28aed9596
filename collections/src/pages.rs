//! Memory in bulk. The first touch of a page is most of its cost, so large
//! allocations ask for huge pages where the system grants them on request.
//!
//! The only file here that calls system or processor functions by name.

use std::alloc::{Layout, alloc, alloc_zeroed, handle_alloc_error};
use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;

/// The smallest allocation for which asking is worth a system call.
const LARGE: usize = 4 << 20;
/// The smallest size of a page.
const PAGE: usize = 4096;
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
    let skip = start.addr().get().wrapping_neg() % PAGE;
    let whole = (size - skip) / PAGE * PAGE;
    let start = start.as_ptr().wrapping_add(skip);
    // SAFETY: the range lies within the caller's allocation, and the advice
    // changes how it is backed, never what it holds.
    unsafe { libc::madvise(start.cast(), whole, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_: NonNull<u8>, _: usize) {}

/// Moves the pages that lie whole in `from` to the same places in `to`, if there are many and the system can: nothing is
/// copied then. Which bytes have come over; none if the two do not begin at the same place in a page. What was there
/// in `from` is lost, as if it had been moved out.
pub(crate) fn shift(from: &mut [MaybeUninit<u8>], to: &mut [MaybeUninit<u8>]) -> Range<usize> {
    assert_eq!(from.len(), to.len(), "as much room as there is to move");
    if from.len() < LARGE {
        return 0..0;
    }
    let page = page_size();
    let skip = from.as_ptr().addr().wrapping_neg() % page;
    if skip != to.as_ptr().addr().wrapping_neg() % page {
        return 0..0;
    }
    let whole = skip..from.len() - (from.len() - skip) % page;
    let moved = remap(&mut from[whole.clone()], &mut to[whole.clone()]);
    if moved { whole } else { 0..0 }
}

/// The size of a page here. A part of one would be moved with the rest of it.
fn page_size() -> usize {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: it asks, and changes nothing.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).map_or(HUGE, |size| size.max(PAGE))
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    PAGE
}

/// Moves whole pages, or changes nothing. In two steps: a move to a certain place may be refused after that place was
/// unmapped, so what could be refused is asked for first, by a move to any place.
#[cfg(all(target_os = "linux", not(miri)))]
fn remap(from: &mut [MaybeUninit<u8>], to: &mut [MaybeUninit<u8>]) -> bool {
    let size = from.len();
    // Memory stays mapped where the pages were, as its owner will want to give it back.
    let away = libc::MREMAP_MAYMOVE | libc::MREMAP_DONTUNMAP;
    let (start, anywhere) = (from.as_mut_ptr().cast(), std::ptr::null_mut::<u8>());
    let kept = mem::replace(&mut from[0], MaybeUninit::new(1));
    // SAFETY: the range is one of whole pages, borrowed here alone, and holds bytes that may be anything. It is moved to where
    // nothing is.
    let between = unsafe { libc::mremap(start, size, size, away, anywhere) };
    if between == libc::MAP_FAILED {
        from[0] = kept;
        return false;
    }
    // SAFETY: mapped still, and written: with the 1, or by the system, which fills with 0 what was private memory.
    if unsafe { from.as_ptr().cast::<u8>().read_volatile() } != 0 {
        // An allocator's shared memory, now mapped twice.
        // SAFETY: just mapped, and known here alone.
        unsafe { libc::munmap(between, size) };
        from[0] = kept;
        return false;
    }
    // SAFETY: just mapped, to be read and written, and known here alone.
    unsafe { between.cast::<MaybeUninit<u8>>().write(kept) };
    let (here, target) = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED, to.as_mut_ptr());
    // SAFETY: the first range was just mapped, and is known here alone; the second is borrowed here alone and holds bytes that
    // may be anything. It stays mapped, as private memory, which the first is.
    let at = unsafe { libc::mremap(between, size, size, here, target) };
    if at != target.cast() {
        // Nobody knows what is mapped there now.
        std::process::abort();
    }
    true
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn remap(_: &mut [MaybeUninit<u8>], _: &mut [MaybeUninit<u8>]) -> bool {
    false
}

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

    /// The memory, as room for values.
    ///
    /// # Panics
    /// If values of this kind have no size, or need more alignment than there is.
    pub(crate) fn room<T>(&mut self) -> &mut [MaybeUninit<T>] {
        assert!(mem::align_of::<T>() <= Self::ALIGN, "a rare alignment");
        let count = self.size / mem::size_of::<T>();
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

#[cfg(all(test, target_os = "linux", target_env = "gnu", not(miri)))]
mod tests {
    use super::{LARGE, Mapped, PAGE, shift};
    use std::mem::MaybeUninit;

    fn mapped(size: usize, add: usize) -> Mapped {
        let mut memory = Mapped::new(size).expect("there is room");
        let fill =
            |(at, byte): (usize, &mut MaybeUninit<u8>)| _ = byte.write((at % 251 + add) as u8);
        memory.room().iter_mut().enumerate().for_each(fill);
        memory
    }

    fn byte(memory: &mut Mapped, at: usize) -> usize {
        // SAFETY: filled, or moved there from where it was, or mapped by the system, which fills it.
        usize::from(unsafe { memory.room::<u8>()[at].assume_init() })
    }

    #[test]
    fn whole_pages_are_moved() {
        let size = LARGE + 5 * PAGE;
        let (mut from, mut to) = (mapped(size, 0), mapped(size, 4));
        let (start, end) = (2 * PAGE + 16, size - PAGE - 9);
        let moved = shift(&mut from.room()[start..end], &mut to.room()[start..end]);
        assert_eq!(moved, PAGE - 16..size - 2 * PAGE - start);
        let whole = start + moved.start..start + moved.end;
        for at in 0..size {
            let add = if whole.contains(&at) { 0 } else { 4 };
            assert_eq!(byte(&mut to, at), at % 251 + add, "byte {at}");
        }
        // What is not moved is there, and what was moved can be written.
        assert_eq!(byte(&mut from, start), start % 251);
        from.room::<u8>()[whole.start].write(7);
        assert_eq!(byte(&mut from, whole.start), 7);
        assert_eq!(byte(&mut to, whole.start), whole.start % 251);
    }

    /// Memory that other mappings share stays where it is.
    #[test]
    fn shared_memory_stays() {
        let size = LARGE + 4 * PAGE;
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
        );
        // SAFETY: fresh memory wherever the system has room, over nothing that is there.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, access, kind, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let start = std::ptr::NonNull::new(start.cast()).expect("it is mapped");
        let (mut from, mut to) = (Mapped { start, size }, mapped(size, 4));
        from.room().fill(MaybeUninit::new(9_u8));
        assert_eq!(shift(from.room(), to.room()), 0..0);
        assert!((0..size).all(|at| byte(&mut from, at) == 9));
        assert!((0..size).all(|at| byte(&mut to, at) == at % 251 + 4));
    }

    #[test]
    fn what_does_not_fit_stays() {
        let size = LARGE + 4 * PAGE;
        let (mut from, mut to) = (mapped(size, 0), mapped(size, 4));
        let other = shift(&mut from.room()[16..], &mut to.room()[..size - 16]);
        let small = shift(&mut from.room()[..LARGE - 1], &mut to.room()[..LARGE - 1]);
        assert_eq!((other, small), (0..0, 0..0));
        assert!((0..size).all(|at| byte(&mut from, at) == at % 251));
        assert!((0..size).all(|at| byte(&mut to, at) == at % 251 + 4));
    }
}
