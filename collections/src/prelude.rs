//! What brings the parallel methods into scope.
//!
//! ```
//! use tine_collections::prelude::*;
//! ```
#![forbid(unsafe_code)]

pub use crate::group::ParallelGrouping;
