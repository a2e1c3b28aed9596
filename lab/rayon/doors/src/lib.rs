//! What the laboratory listens to, under the names that `std` has for it. `lab/rayon/make.sh` writes
//! a copy of rayon and crossbeam that takes these for `std::sync` and `std::hint`. Built with
//! `--cfg tine_sched` alone.
#![forbid(unsafe_code)]

pub use tine_pool::schedule::{Point, touch};

/// As `std::hint`.
pub mod hint {
    pub use std::hint::*;
    pub use tine_pool::schedule::spin_loop;
}

/// As `std::sync`.
pub mod sync {
    pub use std::sync::*;
    pub use tine_pool::schedule::{Condvar, Mutex, MutexGuard};

    /// As `std::sync::atomic`.
    pub mod atomic {
        pub use std::sync::atomic::{Ordering, compiler_fence};
        pub use tine_pool::schedule::{
            AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64,
            AtomicUsize, fence,
        };
    }
}
