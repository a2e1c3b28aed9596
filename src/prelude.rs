//! The traits that bring the parallel methods into scope.
//!
//! ```
//! use tine::prelude::*;
//!
//! let mut v: Vec<u32> = (0..100).into_par_iter().map(|n| 99 - n).collect();
//! v.par_sort_unstable();
//! assert!(v.par_is_sorted());
//! assert_eq!(v.par_iter().k_largest(2), [&99, &98]);
#![cfg_attr(
    feature = "collections",
    doc = "assert_eq!(v.par_iter().histogram(10, |n| (**n / 10) as usize), [10; 10]);"
)]
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "progress")]
pub use crate::progress::ParallelProgress;
#[cfg(feature = "collections")]
pub use tine_collections::prelude::*;
pub use tine_iter::algorithms::{
    ParallelAccumulate, ParallelBytes, ParallelFlat, ParallelGrid, ParallelGridMut, ParallelRetain,
    ParallelSliceChange, ParallelSliceLook, ParallelSortedSets, ParallelStringSearch,
};
pub use tine_iter::iter::ParallelUntil;
pub use tine_iter::prelude::*;
pub use tine_iter::scan::{ParallelScan, ParallelScanMut};
pub use tine_iter::smallest::Smallest;
pub use tine_iter::sort::{ParallelDedup, ParallelSort, ParallelSorted, RadixKey};
