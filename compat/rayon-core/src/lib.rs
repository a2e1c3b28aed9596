//! `tine-pool` under the name `rayon-core`.
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
//! Nothing but names lives here: every one that rayon-core 1.13 exports, and
//! its feature `web_spin_lock`, which switches nothing. There is no `links`
//! key, so the real rayon-core may stand in the same lock file.
//!
//! ```
//! let (a, b) = rayon_core::join(|| 6 * 7, || "elsewhere");
//! assert_eq!((a, b), (42, "elsewhere"));
//! ```
#![forbid(unsafe_code)]

pub use tine_pool::{
    BroadcastContext, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError,
    ThreadPoolBuilder, Yield, broadcast, current_num_threads, current_thread_has_pending_tasks,
    current_thread_index, in_place_scope, in_place_scope_fifo, join, join_context, max_num_threads,
    scope, scope_fifo, spawn, spawn_broadcast, spawn_fifo, yield_local, yield_now,
};

#[allow(deprecated)]
pub use tine_pool::{Configuration, initialize};
