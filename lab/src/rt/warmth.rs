//! What a thread's own core would have in its cache: in rows that are measured.
//!
//! All threads take turns on one real core. When a thread goes on, its tables are gone from that core's
//! cache, though they would still be in the cache of a core that it had for itself. So they are fetched
//! again before the clock goes on: the blocks that the thread has allocated, youngest first, as far as
//! they fit the second-level cache of one core, and what lies above its stack pointer.
//!
//! A block that another thread frees stays noted until younger ones take its place. No time is charged for
//! the fetching.

use super::machine;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;

/// No core's own cache holds larger blocks as a whole.
const MOST: usize = 2 << 20;
/// Smaller blocks come into the cache by themselves.
const LEAST: usize = 512;
/// How many blocks are noted for each thread.
const BLOCKS: usize = 64;
/// How much of the stack is fetched.
const STACK: usize = 4096;
const LINE: usize = 64;

/// The youngest blocks of one thread, in a ring: where each begins, and its size, or 0.
pub(super) struct Warmth {
    blocks: [(usize, usize); BLOCKS],
    next: usize,
}

impl Warmth {
    pub(super) const fn new() -> Self {
        Self {
            blocks: [(0, 0); BLOCKS],
            next: 0,
        }
    }

    fn add(&mut self, start: usize, size: usize) {
        self.blocks[self.next % BLOCKS] = (start, size);
        self.next += 1;
    }

    fn forget(&mut self, start: usize) {
        if let Some(block) = self.blocks.iter_mut().find(|b| b.0 == start) {
            *block = (0, 0);
        }
    }

    /// Brings the thread's blocks, as far as they fit `cache` bytes, and the top of its stack into the cache
    /// of the real core.
    #[inline(never)]
    pub(super) fn fetch(&self, cache: usize) {
        let here = [0_u8; LINE];
        let top = here.as_ptr().addr();
        let (mut room, mut chosen, mut count) = (cache, [(0, 0); BLOCKS], 0);
        for age in 1..=BLOCKS.min(self.next) {
            let (start, size) = self.blocks[(self.next - age) % BLOCKS];
            if size != 0 && size <= room {
                room -= size;
                chosen[count] = (start, size);
                count += 1;
            }
        }
        // The youngest block comes last: it stays in the nearest cache. All are read twice: a line that is read
        // once may soon be evicted.
        for _ in 0..2 {
            for &(start, size) in chosen[..count].iter().rev() {
                (start..start + size).step_by(LINE).for_each(fetch_line);
            }
        }
        (top..top + STACK).step_by(LINE).for_each(fetch_line);
    }
}

/// Reads a byte of a line. A prefetch would be safer, and does nothing: where many come at once, or the
/// page is not at hand, the processor drops them.
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
#[inline]
fn fetch_line(address: usize) {
    // SAFETY: the allocator was told to give nothing back to the system (`one.rs`), so what was a block is
    // still mapped, and stacks are mapped. The byte is not looked at: it may be anything.
    unsafe {
        std::arch::asm!(
            "mov {byte}, byte ptr [{address}]",
            address = in(reg) address,
            byte = out(reg_byte) _,
            options(nostack, preserves_flags, readonly),
        );
    }
}

#[cfg(not(all(target_arch = "x86_64", target_env = "gnu")))]
fn fetch_line(_: usize) {}

/// The system's allocator, which tells the machine what a thread has.
struct Telling;

#[global_allocator]
static ALLOCATOR: Telling = Telling;

/// The blocks of all threads; the threads of the machine take turns.
pub(super) struct All(UnsafeCell<[Warmth; machine::MOST_THREADS]>);
// SAFETY: touched by the one thread that runs alone.
unsafe impl Sync for All {}

static ALL: All = All(UnsafeCell::new(
    [const { Warmth::new() }; machine::MOST_THREADS],
));

/// The blocks of this thread of the machine.
///
/// # Safety
/// The calling thread runs alone, and has no other reference to them.
unsafe fn of(thread: usize) -> &'static mut Warmth {
    // SAFETY: a duty of the caller; the number is below that of all, or this panics.
    unsafe { &mut (*ALL.0.get())[thread] }
}

/// Brings what this thread has into a cache of `cache` bytes.
pub(super) fn fetch(thread: usize, cache: usize) {
    // SAFETY: called by the machine, in the thread that runs.
    unsafe { of(thread) }.fetch(cache);
}

// SAFETY: the system's allocator does what is asked for.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: a duty of the caller.
        let start = unsafe { System.alloc(layout) };
        note(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: a duty of the caller.
        let start = unsafe { System.alloc_zeroed(layout) };
        note(start, layout.size());
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        forget(start, layout.size());
        // SAFETY: a duty of the caller.
        unsafe { System.dealloc(start, layout) };
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        forget(start, layout.size());
        // SAFETY: a duty of the caller.
        let start = unsafe { System.realloc(start, layout, size) };
        note(start, size);
        start
    }
}

fn note(start: *mut u8, size: usize) {
    if (LEAST..=MOST).contains(&size)
        && let Some(me) = machine::me()
    {
        // SAFETY: the thread that runs alone asks for memory.
        unsafe { of(me) }.add(start.addr(), size);
    }
}

fn forget(start: *mut u8, size: usize) {
    if (LEAST..=MOST).contains(&size)
        && let Some(me) = machine::me()
    {
        // SAFETY: as above.
        unsafe { of(me) }.forget(start.addr());
    }
}
