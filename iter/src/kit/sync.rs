//! The types for shared memory that is much contended here: `std`'s, unless a harness listens.
#![forbid(unsafe_code)]

#[cfg(not(tine_sched))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    sync::{Mutex, MutexGuard},
};
#[cfg(tine_sched)]
pub(crate) use tine_pool::schedule::{
    AtomicBool, AtomicUsize, Mutex, MutexGuard, Ordering, spin_loop,
};
