//! The one door to shared memory: atomics, cells and fences.
//!
//! Everything that two threads touch is made of what this file exports. So the model checker, or a
//! scheduler that decides which thread runs, can take the place of the real thing. No other file
//! knows about loom.
#![forbid(unsafe_code)]

#[cfg(all(tine_sched, not(loom)))]
pub(crate) mod locks;
#[cfg(all(tine_sched, not(loom)))]
pub(crate) mod scheduled;
#[cfg(all(tine_sched, not(loom)))]
pub(crate) use self::scheduled::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, UnsafeCell, fence,
    spin_loop, yield_now,
};

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Condvar, Mutex},
    thread::yield_now,
};

#[cfg(not(any(loom, tine_sched)))]
pub(crate) use self::real::UnsafeCell;
#[cfg(not(any(loom, target_os = "linux")))]
pub(crate) use std::sync::Condvar;
#[cfg(not(loom))]
pub(crate) use std::sync::Mutex;
#[cfg(not(any(loom, tine_tsan, tine_sched)))]
pub(crate) use std::sync::atomic::fence;
#[cfg(not(any(loom, tine_sched)))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    thread::yield_now,
};

use std::ops::Deref;

/// A number that threads use only for guesses: only speed depends on it, so the model checker does
/// not follow it.
#[cfg(loom)]
pub(crate) type Hint = std::sync::atomic::AtomicU32;
#[cfg(not(loom))]
pub(crate) type Hint = AtomicU32;

/// A fence that the thread sanitizer can follow. The sanitizer does not know stand-alone fences, so
/// under `--cfg tine_tsan` each becomes a read-modify-write of one word, which orders at least as
/// much.
#[cfg(all(not(any(loom, tine_sched)), tine_tsan))]
pub(crate) fn fence(_: Ordering) {
    static WORD: AtomicU32 = AtomicU32::new(0);
    WORD.fetch_add(1, Ordering::SeqCst);
}

/// A value with cache lines of its own, so that a thread that writes a neighbour does not take the
/// value away from its users. Where lines are fetched in pairs, two of them.
#[cfg_attr(
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "powerpc64"
    ),
    repr(align(128))
)]
#[cfg_attr(target_arch = "s390x", repr(align(256)))]
#[cfg_attr(
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "powerpc64",
        target_arch = "s390x"
    )),
    repr(align(64))
)]
#[derive(Debug, Default)]
pub(crate) struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A value of each thread's own, the same constant in the beginning.
macro_rules! thread_own {
    (static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(loom)]
        loom::thread_local! { static $name: $type = $value; }
        #[cfg(not(loom))]
        std::thread_local! { static $name: $type = const { $value }; }
    };
}
pub(crate) use thread_own;

/// Whether `yield_now` should be preferred to spinning: the model checker explores nothing new in a
/// spin, and has to be told to run another thread.
pub(crate) fn relax() {
    #[cfg(loom)]
    yield_now();
    #[cfg(not(loom))]
    spin_loop();
}

/// Gives the processor to threads of a lower priority, too. Where schedules are decided there are none.
#[cold]
pub(crate) fn sleep_briefly() {
    #[cfg(any(loom, tine_sched))]
    yield_now();
    #[cfg(not(any(loom, tine_sched)))]
    std::thread::sleep(std::time::Duration::from_micros(50));
}

#[cfg(not(any(loom, tine_sched)))]
mod real {
    /// `std`'s cell with the closure interface that the model checker needs.
    #[derive(Debug)]
    #[repr(transparent)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        #[inline]
        pub(crate) const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Gives a pointer to read through.
        #[inline]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Gives a pointer to write through.
        #[inline]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}
