//! An allocator for tests that count what their process has asked for.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file is a crate of its own and uses its own part"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts the requests that pass through it.
struct Counting;

/// How often memory was asked for.
pub static CALLS: AtomicUsize = AtomicUsize::new(0);
/// The number of allocated bytes.
pub static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: handed on to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's duty is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's duty is the same.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
