//! Data parallelism: parallel iterators, sorts and collections on a work-stealing pool.
//!
//! `tine` has rayon 1.12's names, traits and behaviour. It adds collections, grouping, scans,
//! pipelines and cancellation. The code is in `tine-pool`, `tine-iter` and `tine-collections`; this
//! crate adds progress bars, recordings and the pages of the [`guide`].
//!
//! # A tour
//!
//! **Iterators.** With the [`prelude`] in scope, `par_iter` takes the place of `iter`:
//!
//! ```
//! use tine::prelude::*;
//!
//! let words = ["a", "fork", "has", "tines"];
//! let letters: usize = words.par_iter().map(|word| word.len()).sum();
//! assert_eq!(letters, 13);
//! ```
//!
//! **Sorts.** Slices have std's sorts, with `par_` before the name. Integer and other primitive keys
//! are radix-sorted automatically:
//!
//! ```
//! use tine::prelude::*;
//!
//! let mut readings = vec![(3_u32, "c"), (1, "a"), (2, "b")];
//! readings.par_sort_by_key(|&(time, _)| time);
//! assert_eq!(readings, [(1, "a"), (2, "b"), (3, "c")]);
//! ```
//!
//! **Collections.** Maps, sets and vectors that many threads fill at once, and grouping on every
//! parallel iterator:
//!
#![cfg_attr(feature = "collections", doc = "```")]
#![cfg_attr(not(feature = "collections"), doc = "```ignore")]
//! use tine::prelude::*;
//!
//! let text = "a fork is a fork is a fork";
//! let counts = text.par_split_whitespace().count_by(|&word| word);
//! assert_eq!(counts.get_cloned("fork"), Some(3));
//!
//! let seen = tine::ParHashMap::new();
//! (0..1000).into_par_iter().for_each(|n| {
//!     seen.upsert(n % 10, || 1, |count| *count += 1);
//! });
//! assert_eq!(seen.get_cloned(&7), Some(100));
//! ```
//!
//! **The pool beneath** forks and joins work that is not a loop:
//!
//! ```
//! fn fib(n: u32) -> u64 {
//!     if n < 2 {
//!         return u64::from(n);
//!     }
//!     let (a, b) = tine::join(|| fib(n - 1), || fib(n - 2));
//!     a + b
//! }
//! assert_eq!(fib(15), 610);
//! ```
//!
//! # Where to read on
//!
//! * [`guide::choosing`]: which method for which job.
//! * [`guide::from_loops`]: ten plain loops, and what each becomes.
//! * [`guide::from_rayon`]: how a program moves here from rayon, and what differs.
//! * [`guide::from_elsewhere`]: what the terms of C++ and Python are called here.
//! * [`guide::scanning`]: running sums and the like.
//! * [`guide::sharing`]: one result from many threads: fold, maps, atomics, locks.
//! * [`guide::streaming`]: more data than fits memory, in order: pipelines and readers.
//! * [`guide::servers`]: how to use it beside an async runtime, and in a server.
//! * [`guide::side_by_side`]: the methods of std's `HashMap`, `HashSet` and `Vec`, and what each is here.
//! * [`guide::when_slow`]: what to look at when it is not faster.
//! * [`guide::when_stuck`]: what to look at when it hangs.
//! * [`guide::many_machines`]: the same pipelines on more than one machine.
//! * [`guide::how_it_works`]: what happens beneath a call.
//!
//! # Features
//!
//! * `collections`, on by default: the maps, sets and vectors, and grouping. Without it neither
//!   `tine-collections` nor its dependencies are built; iterators, sorts, scans, pipelines and the
//!   pool are the same.
//! * `serde`: `ParHashMap`, `ParHashSet` and `ParVec` can be serialised and deserialised.
//! * `progress`: `.progress()` and its variants ([`ParallelProgress`](prelude)) put bars on
//!   parallel iterators, with the crate `indicatif`.
//! * `timeline`: `tine::report` and `tine::timeline` record what each thread did and when, and draw
//!   or summarise it.
//! * `tracing`: what a thread does for a call becomes spans of the crate `tracing`, target `tine`:
//!   `guest` and `job` at the level `DEBUG`, `wait` at `TRACE`. Each has the `seat` that the thread
//!   was on. A span is on the thread that does the work; the span of a stolen job has no parent.
//!   The example `spans` shows a subscriber.
#![forbid(unsafe_code)]

#[cfg(feature = "collections")]
pub use tine_collections::vec as par_vec;
#[cfg(feature = "collections")]
pub use tine_collections::{
    Change, DefaultHashBuilder, DefaultHasher, FrozenMap, Groups, Join, ParBitSet, ParHashMap,
    ParHashSet, ParVec, ParallelGrouping, Pusher, ReadMap, SortedVec, TryReserveError, bits, group,
    map, set, sorted,
};
pub use tine_iter::{
    algorithms, array, collections, iter, option, pipeline, range, range_inclusive, readers,
    result, scan, slice, smallest, sort, str, string, vec,
};
#[allow(deprecated)]
pub use tine_pool::{
    AbortOnDrop, Bounded, BroadcastContext, Configuration, First, FnContext, JoinHandle, PoolStats,
    Scope, ScopeFifo, SeatStats, Select, StaticPool, StopToken, Stopped, ThreadBuilder, ThreadPool,
    ThreadPoolBuildError, ThreadPoolBuilder, Yield, blocking, broadcast, current_num_threads,
    current_thread_has_pending_tasks, current_thread_index, in_place_scope, in_place_scope_fifo,
    initialize, join, join_context, max_num_threads, picture, scope, scope_fifo, scope_with,
    select, spawn, spawn_async, spawn_async_with, spawn_broadcast, spawn_fifo, spawn_join,
    spawn_join_with, spawn_many, stats, stop, with_token, yield_local, yield_now,
};

/// The examples of the front page run.
#[cfg(all(doctest, feature = "collections"))]
#[doc = include_str!("../README.md")]
mod readme {}

pub mod guide;
pub mod prelude;
#[cfg(feature = "progress")]
pub mod progress;
#[cfg(feature = "timeline")]
pub mod timeline;
#[cfg(feature = "timeline")]
pub use timeline::report;
