//! The adapters: one in each file, or two that differ in a word.
#![forbid(unsafe_code)]

pub(crate) mod blocks;
pub(crate) mod chain;
pub(crate) mod chunks;
pub(crate) mod cloned;
pub(crate) mod copied;
pub(crate) mod deterministic;
pub(crate) mod enumerate;
pub(crate) mod filter;
pub(crate) mod filter_map;
pub(crate) mod flat_map;
pub(crate) mod flat_map_iter;
pub(crate) mod fold;
pub(crate) mod inspect;
pub(crate) mod interleave;
pub(crate) mod intersperse;
pub(crate) mod len;
pub(crate) mod map;
pub(crate) mod map_init;
pub(crate) mod panic_fuse;
pub(crate) mod positions;
pub(crate) mod rev;
pub(crate) mod skip;
pub(crate) mod step_by;
pub(crate) mod take_any;
pub(crate) mod take_any_while;
pub(crate) mod until;
pub(crate) mod update;
pub(crate) mod watch;
pub(crate) mod while_some;
pub(crate) mod zip;
