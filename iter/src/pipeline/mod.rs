//! Pipelines: more data than fits memory, through stages that run in parallel.
//!
//! A pipeline has a **source**, any sequential iterator, and **stages**. A stage is *parallel* (all
//! threads may work at it, each on another item), or it takes one item at a time: *in order* of the
//! source, or in *any order*. At most `limit` items are under way between the source and the end.
//! So memory stays bounded, however long the source is and however slow a stage is.
//!
//! ```
//! let mut log = String::new();
//! tine::pipeline(1..=5_u32, 16)
//!     .map(|n| n * n)                                 // parallel
//!     .filter(|square| square % 2 == 1)               // parallel
//!     .in_order(|square| log += &format!("{square} ")) // one at a time, in order
//!     .run();
//! assert_eq!(log, "1 9 25 ");
//! ```
//!
//! The same stages follow [`par_bridge_ordered`], which draws items one by one, and the lines of a
//! reader ([`ParallelRead::par_lines`](crate::readers::ParallelRead::par_lines)).
//!
//! # Which thread runs what
//!
//! The caller and the threads of its pool carry items along, each as far as it can. No thread waits
//! inside a pipeline: if the source is slow or the limit is reached, a thread returns to the pool and is called
//! back later. Only a source that itself waits, for a channel or a socket, keeps one thread. A pool of one thread runs
//! everything in sequence.
//!
//! One thread at a time asks the source for items, one item at a time. It is not always the same
//! thread.
//!
//! # Batches
//!
//! Items that take less than some microseconds travel in batches, if the iterator promises enough
//! items (by the lower bound of its `size_hint`), or if the program says
//! [`batched`](Pipeline::batched). The size of a batch adapts to what its items cost. One thread
//! runs the items of a batch one after the other. So an item must not wait for a later one, unless
//! the pipeline is [`one_by_one`](Pipeline::one_by_one). Then it may wait for later items within
//! the limit, as long as there are threads for both.
//!
//! # Errors
//!
//! A stage may return `Result`: [`try_map`](Pipeline::try_map),
//! [`try_in_order`](Pipeline::try_in_order), [`try_any_order`](Pipeline::try_any_order),
//! [`try_for_each`](Pipeline::try_for_each). After an error nothing more is drawn, and the end of
//! the pipeline returns the error of the *first item in order* that failed, as a sequential loop
//! would. Stages in order have then seen exactly the items before it. Parallel stages, and those in
//! any order, may have seen some items behind it.
//!
//! # Panics
//!
//! When a closure, the source, or the destructor of an item panics, no thread draws or takes up a
//! further batch. A batch that another thread works on, or draws at that time, goes on to the next
//! stage that takes one item at a time, or to the end. Then all items are dropped, and the panic
//! goes on to the caller.
//!
//! [`par_bridge_ordered`]: crate::iter::ParallelBridge::par_bridge_ordered
#![forbid(unsafe_code)]

mod build;
mod ends;
mod engine;
mod hub;
mod outcome;
mod parallel;
mod serial;
mod stages;
mod station;
mod until;

pub use build::{Pipeline, StopWhen, pipeline};
pub(crate) use build::{over_blocks, single};
pub use engine::Source;
pub use outcome::{Ending, Fails, Sure};
pub(crate) use parallel::Parallel;
pub use parallel::{Filter, FilterMap, FlatMap, FoldParts, Inspect, Makes, Map, Then, TryMap};
pub use serial::{Enumerate, Serial, ThenSerial, TrySerial};
pub use stages::{Run, Stages};
pub use until::{Cut, Until};
