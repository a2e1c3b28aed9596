//! The traits that bring the parallel methods into scope.
//!
//! ```
//! use tine::prelude::*;
//! ```
#![forbid(unsafe_code)]

pub use crate::group::ParallelGrouping;
