//! The pool that *tine* stands on: `join`, `scope` and `spawn` on work-stealing threads.
//!
//! ```
//! # use tine_pool as tine;
//! fn fib(n: u32) -> u64 {
//!     if n < 2 {
//!         return u64::from(n);
//!     }
//!     let (a, b) = tine::join(|| fib(n - 1), || fib(n - 2));
//!     a + b
//! }
//! assert_eq!(fib(20), 6765);
//! ```
//!
//! What sets it apart:
//!
//! * **Lock-safe waiting.** A thread that waits runs only what its own wait depends on. So a lock,
//!   a `RefCell` borrow or a `OnceLock` initialiser held across a call does not meet a task of
//!   another call. There are exceptions. [`yield_now`] and [`yield_local`] run other jobs. So does
//!   a worker that waits for another pool, and a worker of a pool built with
//!   [`greedy_waiting`](ThreadPoolBuilder::greedy_waiting). And a waiting thread runs its own
//!   closure of each [`broadcast`].
//! * **Guests.** An ordinary thread that calls a free function takes a free seat of the global
//!   pool and works there itself. It needs no message to another thread. See
//!   [`ThreadPoolBuilder::guests`].
//! * **Quiet.** A thread without work spins for about 20 µs at most, then sleeps. It is woken only
//!   for work that is worth a wake-up. A new call site wakes a sleeper for its first few joins;
//!   once its calls are known to be short, it wakes none.
//!
//! A table at [`ThreadPool`] tells which thread runs which closure.
//!
//! # Limits
//!
//! * A worker may block outside this library (on a channel, say) for a job that no other thread is
//!   free to run. Then the worker waits for ever: waiting threads do not run unrelated jobs, so no
//!   thread will run that job. There are two remedies: [`blocking`], inside which another thread
//!   takes the worker's place, and [`ThreadPoolBuilder::greedy_waiting`].
//! * Joins nested more than 4096 deep on one thread run in sequence.

// Models use the parts, not the whole.
#![cfg_attr(loom, allow(dead_code, unreachable_pub))]

mod base;
#[cfg(all(test, loom))]
mod models;
mod queue;
mod seat;

#[cfg(not(loom))]
mod pace;
#[cfg(not(loom))]
mod verbs;
#[cfg(not(loom))]
mod work;

#[cfg(not(loom))]
mod public {
    pub use crate::base::stats::{PoolStats, SeatStats};
    #[doc(hidden)]
    pub use crate::base::trace;
    pub use crate::verbs::abort::{
        AbortOnDrop, First, Select, select, spawn_async, spawn_async_with, spawn_join_with,
    };
    pub use crate::verbs::blocking::blocking;
    pub use crate::verbs::bounded::Bounded;
    pub use crate::verbs::broadcast::{BroadcastContext, broadcast, spawn_broadcast};
    #[allow(deprecated)]
    pub use crate::verbs::builder::{
        Configuration, ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder, initialize,
    };
    pub use crate::verbs::handle::{JoinHandle, spawn_join};
    pub use crate::verbs::join::{FnContext, join, join_context};
    #[doc(hidden)]
    pub use crate::verbs::loops;
    pub use crate::verbs::picture::picture;
    pub use crate::verbs::pool::{
        StaticPool, ThreadPool, current_num_threads, current_thread_has_pending_tasks,
        current_thread_index, max_num_threads, stats,
    };
    pub use crate::verbs::scope::{
        Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo,
    };
    pub use crate::verbs::spawn::{Yield, spawn, spawn_fifo, spawn_many, yield_local, yield_now};
    pub use crate::verbs::stop::{self, StopToken, Stopped, scope_with, with_token};
}
#[cfg(not(loom))]
pub use public::*;

/// The entrance for a harness that decides which thread runs.
#[cfg(all(tine_sched, not(loom)))]
#[doc(hidden)]
pub mod schedule {
    pub use crate::base::sync::locks::{Condvar, Mutex, MutexGuard};
    pub use crate::base::sync::scheduled::{
        AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
        Ordering, Point, Touch, fence, set_hook, spin_loop, touch,
    };
}
