//! `tine-iter` and `tine-pool` under the name `rayon`.
//!
//! A program whose dependencies use rayon runs all of them on tine with
//!
//! ```toml
//! [patch.crates-io]
//! rayon = { path = "../tine/compat/rayon" }
//! ```
//!
//! and, where something besides rayon asks for `rayon-core`, with a second line
//! `rayon-core = { path = "../tine/compat/rayon-core" }`.
//!
//! Nothing but names lives here: those that rayon 1.12 exports, and its
//! feature `web_spin_lock`, which switches nothing.
//!
//! ```
//! use rayon::prelude::*;
//!
//! let squares: Vec<u32> = (1..=4_u32).into_par_iter().map(|n| n * n).collect();
//! assert_eq!(squares, [1, 4, 9, 16]);
//! ```
#![forbid(unsafe_code)]

pub use tine_iter::{
    array, collections, iter, option, prelude, range, range_inclusive, result, slice, str, string,
    vec,
};
pub use tine_pool::{
    BroadcastContext, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError,
    ThreadPoolBuilder, Yield, broadcast, current_num_threads, current_thread_index, in_place_scope,
    in_place_scope_fifo, join, join_context, max_num_threads, scope, scope_fifo, spawn,
    spawn_broadcast, spawn_fifo, yield_local, yield_now,
};
