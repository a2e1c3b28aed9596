//! Pipelines: more data than fits memory, through stages that run in parallel.
//!
//! A pipeline has a **source**, any sequential iterator, and **stages**. A stage is *parallel* (all
//! threads may be at it, each with another item), or it takes one item at a time: *in order* of the
//! source, or in *any order*. Of the items that have left the source, at most `limit` have not yet
//! come to the end: so memory stays bounded however long the source is and however slow a stage.
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
//! The same stages follow [`par_bridge_ordered`], which draws items singly, and the lines of a reader
//! ([`ParallelRead::par_lines`](crate::readers::ParallelRead::par_lines)).
//!
//! # Which thread runs what
//!
//! The caller and the threads of its pool carry items along, each as far as it can. No thread waits
//! inside a pipeline: if the source is slow or the limit is reached, a thread returns to the pool and is called
//! back later. Only a source that itself waits, for a channel or a socket, keeps one thread. A pool of one thread runs
//! everything in sequence.
//!
//! The source is asked for one item at a time by one thread at a time, and not always the same one.
//!
//! # Batches
//!
//! Items that take less than some microseconds travel several at a time, if the iterator has said that
//! it has that many (by the lower bound of its `size_hint`), or if [`batched`](Pipeline::batched) says so
//! for it. How many adapts to what they cost. The items of one batch are run one after the other by one
//! thread. So an item must not wait for a later one, unless the pipeline is
//! [`one_by_one`](Pipeline::one_by_one); then it may wait for those within the limit, as long as there
//! are threads for both.
//!
//! # Errors
//!
//! A stage may return `Result`: [`try_map`](Pipeline::try_map), [`try_in_order`](Pipeline::try_in_order),
//! [`try_any_order`](Pipeline::try_any_order), [`try_for_each`](Pipeline::try_for_each). After an error
//! nothing more is drawn, and the end of the pipeline returns the error: that of the *first item in
//! order*, as the sequential loop would. Stages in order have then seen exactly the items before it;
//! parallel ones and those in any order may have seen some behind it.
//!
//! # Panics
//!
//! When a closure, the source, or the destructor of an item panics, no further batch is drawn, and none is taken
//! up. A batch that another thread has in hand, or draws at that time, goes on until it comes to the next stage that takes
//! one item at a time, or to the end. Then all items are dropped, and the panic goes on to the caller.
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
