//! Atomics and cells: the only file here that knows loom.
#![forbid(unsafe_code)]

#[cfg(all(tine_sched, not(loom)))]
mod imp {
    pub(crate) use tine_pool::schedule::{
        AtomicPtr, AtomicU32, AtomicUsize, Condvar, Mutex, Ordering, spin_loop,
    };
}

#[cfg(not(any(loom, tine_sched)))]
mod imp {
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Condvar, Mutex};
}

#[cfg(loom)]
mod imp {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Condvar, Mutex};
    pub(crate) use loom::thread::yield_now as spin_loop;
}

pub(crate) use imp::*;
