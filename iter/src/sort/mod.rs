//! Sorts and related methods: radix sorts, merging, partitioning, selecting, removing repeats, and checks
//! whether a slice is sorted.

mod api;
mod cached;
mod dedup;
mod dispatch;
mod entry;
mod flat;
mod fork;
mod inplace;
mod leaf;
mod merge;
mod nearly;
mod parted;
mod partition;
mod permute;
mod radix;
mod runs;
mod scratch;
mod select;
mod shape;
mod spread;
mod stable;
mod strings;
mod unstable;
mod words;

pub use api::{ParallelDedup, ParallelSort, ParallelSorted};
pub(crate) use entry::{
    par_sort, par_sort_by, par_sort_by_cached_key, par_sort_by_key, par_sort_unstable,
    par_sort_unstable_by, par_sort_unstable_by_key,
};
pub use radix::key::{ArrayBits, Beside, RadixKey, Total};
pub use radix::word::RadixBits;
pub(crate) use select::nth_alone;

#[cfg(test)]
mod tests;
