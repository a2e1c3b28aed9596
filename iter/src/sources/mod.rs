//! Where items come from: one file for each kind of source.
//!
//! `kit` writes the iterator traits, `body` says how slices and strings are
//! cut, and `pieces` splits them where a predicate says so. The public modules
//! here are public paths of the crate.

mod body;
mod character;
pub(crate) mod kit;
mod pieces;
mod span;
mod stretch;

pub mod array;
pub mod collections;
pub mod option;
pub mod range;
pub mod range_inclusive;
pub mod result;
pub mod slice;
pub mod str;
pub mod string;
pub mod vec;

mod either;
mod empty;
mod multizip;
mod once;
mod par_bridge;
mod repeat;
mod split;
mod walk_tree;

pub use empty::{Empty, empty};
pub use multizip::MultiZip;
pub use once::{Once, once};
pub use par_bridge::{BatchedBridge, IterBridge, OrderedBridge, OrderedMap, ParallelBridge};
#[expect(deprecated, reason = "kept for the programs that name it")]
pub use repeat::repeatn;
pub use repeat::{Repeat, RepeatN, repeat, repeat_n};
pub use split::{Split, split};
pub use walk_tree::{
    WalkTree, WalkTreePostfix, WalkTreePrefix, walk_tree, walk_tree_postfix, walk_tree_prefix,
};
