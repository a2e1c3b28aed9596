//! Parallel iterators and sorts.
//!
//! With the prelude in scope (`use tine::prelude::*;`), write `par_iter()` where
//! you wrote `iter()`; everything else reads like the standard library. The traits are in [`iter`]. Custom sources
//! and adapters are written against [`iter::plumbing`]. The types behind
//! slices, vectors, strings and collections are in modules named after their
//! standard twins.

mod adapters;
pub mod algorithms;
mod convert;
pub mod iter;
mod kit;
mod order;
pub mod pipeline;
mod plumbing;
pub mod prelude;
pub mod readers;
pub mod scan;
mod sinks;
pub mod smallest;
pub mod sort;
mod sources;

pub use pipeline::pipeline;
pub use sources::{
    array, collections, option, range, range_inclusive, result, slice, str, string, vec,
};
