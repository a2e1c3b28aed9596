//! The names that most programs use.
//!
//! ```
//! use tine_cluster::prelude::*;
//! ```
#![forbid(unsafe_code)]

pub use crate::cluster::Cluster;
pub use crate::fault::Error;
pub use crate::iter::DistIter;
pub use crate::map::DistMap;
pub use crate::travel::Travel;
pub use crate::vec::DistVec;
pub use std::process::ExitCode;
