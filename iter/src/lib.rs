//! Parallel iterators and sorts.
//!
//! `use tine::prelude::*;` turns `iter()` into `par_iter()`; everything
//! else reads like the standard library. The traits live in [`iter`], what
//! custom sources and adapters are written against in [`iter::plumbing`], and
//! the types behind slices, vectors, strings and collections in modules named
//! after their standard twins.

mod adapters;
pub mod algorithms;
mod convert;
pub mod iter;
mod kit;
mod order;
mod plumbing;
pub mod prelude;
pub mod scan;
mod sinks;
pub mod smallest;
pub mod sort;
mod sources;

pub use sources::{
    array, collections, option, range, range_inclusive, result, slice, str, string, vec,
};
