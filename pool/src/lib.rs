//! The pool that *tine* stands on: `join`, `scope` and `spawn` on work-stealing threads.
//!
//! ```
//! fn fib(n: u32) -> u64 {
//!     if n < 2 {
//!         return u64::from(n);
//!     }
//!     let (a, b) = tine_pool::join(|| fib(n - 1), || fib(n - 2));
//!     a + b
//! }
//! assert_eq!(fib(20), 6765);
//! ```
//!
//! What sets it apart:
//!
//! * **Lock-safe waiting.** A thread that waits runs only what its own wait depends on, so a
//!   lock, a `RefCell` borrow or a `OnceLock` initialiser held across a call is never met again
//!   in a stranger's task.
//! * **Guests.** An ordinary thread that calls a free function takes a free seat of the global
//!   pool and works there itself; nobody is woken and nobody sleeps for a call that is over in
//!   nanoseconds. See [`ThreadPoolBuilder::guests`].
//! * **Quiet.** A pool without work uses no processor time, and a thread is woken only for work
//!   that is worth it.
//!
//! Which thread runs which closure is told in one table, at [`ThreadPool`].
//!
//! # Limits
//!
//! * A worker that blocks outside this library (on a channel, say) for a job that nobody else is
//!   free to run waits for ever: no other thread's wait will pick that job up. The remedy is
//!   [`blocking`], inside which another thread takes its place; or
//!   [`ThreadPoolBuilder::greedy_waiting`].
//! * Joins nested more than 4096 deep on one thread run in sequence.

// Models use the parts, not the whole.
#![cfg_attr(loom, allow(dead_code, unreachable_pub))]

mod clock;
mod config;
mod deque;
mod injector;
mod job;
mod latch;
mod ledger;
#[cfg(all(test, loom))]
mod models;
mod park;
mod row;
mod seat;
mod slab;
mod sleep;
mod spares;
mod stats;
mod sync;
mod sys;
mod unwind;

#[cfg(not(loom))]
mod blocking;
#[cfg(not(loom))]
mod broadcast;
#[cfg(not(loom))]
mod builder;
#[cfg(not(loom))]
mod handle;
#[cfg(not(loom))]
mod idle;
#[cfg(not(loom))]
mod join;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod loops;
#[cfg(not(loom))]
mod outside;
#[cfg(not(loom))]
mod pace;
#[cfg(not(loom))]
mod patience;
#[cfg(not(loom))]
mod picture;
#[cfg(not(loom))]
mod pool;
#[cfg(not(loom))]
mod scope;
#[cfg(not(loom))]
mod shared;
#[cfg(not(loom))]
mod spawn;
#[cfg(not(loom))]
mod thread;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod trace;
#[cfg(not(loom))]
mod wait;
#[cfg(not(loom))]
mod worker;

#[cfg(not(loom))]
mod public {
    pub use crate::blocking::blocking;
    pub use crate::broadcast::{BroadcastContext, broadcast, spawn_broadcast};
    #[allow(deprecated)]
    pub use crate::builder::{
        Configuration, ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder, initialize,
    };
    pub use crate::handle::{JoinHandle, spawn_join};
    pub use crate::join::{FnContext, join, join_context};
    pub use crate::picture::picture;
    pub use crate::pool::{
        StaticPool, ThreadPool, current_num_threads, current_thread_has_pending_tasks,
        current_thread_index, max_num_threads, stats,
    };
    pub use crate::scope::{
        Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo,
    };
    pub use crate::spawn::{Yield, spawn, spawn_fifo, spawn_many, yield_local, yield_now};
    pub use crate::stats::{PoolStats, SeatStats};
}
#[cfg(not(loom))]
pub use public::*;

/// Where a harness that decides who runs is let in.
#[cfg(all(tine_sched, not(loom)))]
#[doc(hidden)]
pub mod schedule {
    pub use crate::sync::scheduled::{Point, set_hook};
}
