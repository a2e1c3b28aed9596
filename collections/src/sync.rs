//! Atomics and cells: the only file here that knows loom.
#![forbid(unsafe_code)]

#[cfg(all(tine_sched, not(loom)))]
mod imp {
    pub(crate) use tine_pool::schedule::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, fence,
        spin_loop,
    };
}

#[cfg(not(any(loom, tine_sched)))]
mod imp {
    pub(crate) use std::hint::spin_loop;
    #[cfg(not(tine_tsan))]
    pub(crate) use std::sync::atomic::fence;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
}

/// Makes all threads of the process pass a barrier. False where the system has none, and in builds
/// whose tools would not see it.
#[cfg(not(loom))]
pub(crate) fn heavy() -> bool {
    !cfg!(any(tine_tsan, tine_sched)) && tine_pool::loops::barrier_everywhere()
}

/// In a model, readers have fences of their own, but for one that has to fail.
#[cfg(loom)]
pub(crate) fn heavy() -> bool {
    true
}

/// A fence that the thread sanitizer can follow: it does not know stand-alone ones.
#[cfg(all(tine_tsan, not(loom)))]
pub(crate) fn fence(_: Ordering) {
    static WORD: AtomicUsize = AtomicUsize::new(0);
    WORD.fetch_add(1, Ordering::SeqCst);
}

#[cfg(loom)]
mod imp {
    pub(crate) use loom::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence,
    };
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread::yield_now as spin_loop;
}

pub(crate) use imp::*;
