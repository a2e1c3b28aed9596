//! Data parallelism.
#![forbid(unsafe_code)]
pub use tine_pool::*;
