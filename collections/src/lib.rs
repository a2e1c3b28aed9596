//! Parallel vectors and hash maps, and grouping on parallel iterators.
//!
//! | | |
//! |---|---|
//! | [`ParHashMap`], [`ParHashSet`] | many threads insert, look up and remove at once; they are built, walked, merged and emptied in parallel |
//! | [`FrozenMap`] | a map that is only read, without locks |
//! | [`ReadMap`] | a map that is read without locks, and now and then changed by publishing |
//! | [`ParBitSet`] | a bit for each number below a bound; many threads insert and remove at once |
//! | [`SortedVec`] | a vector in order: ranges, merging, joining |
//! | [`ParVec`] | many threads push at once; values never move |
//! | [`ParallelGrouping`] | `count_by`, `fold_by`, `group_by`, `distinct`, `join_by` … on every parallel iterator |
//!
//! ```
//! use tine::prelude::*;
//!
//! let words = ["fork", "prong", "fork", "tine", "fork"];
//! let counts = words.par_iter().copied().count_by(|&word| word);
//! assert_eq!(counts.get_cloned("fork"), Some(3));
//! ```
//!
//! # Features
//!
//! `serde`: maps are serialised as maps, sets and vectors as sequences.

#[cfg(not(loom))]
pub mod bits;
#[cfg(not(loom))]
mod collect;
#[cfg(not(loom))]
mod farewell;
#[cfg(not(loom))]
mod foresight;
#[cfg(not(loom))]
mod foretaste;
#[cfg(loom)]
#[path = "map/gate.rs"]
#[allow(dead_code)] // the models sleep no naps
mod gate;
#[cfg(not(loom))]
mod gather;
#[cfg(not(loom))]
pub mod group;
#[cfg(not(loom))]
mod hasher;
#[cfg(loom)]
#[path = "map/hazard.rs"]
#[allow(dead_code)] // the models end no threads
mod hazard;
#[cfg(not(loom))]
mod latest;
#[cfg(loom)]
#[path = "map/lock.rs"]
#[allow(dead_code)] // the models need no guards
mod lock;
#[cfg(loom)]
#[path = "map/lot.rs"]
mod lot;
#[cfg(not(loom))]
pub mod map;
#[cfg(all(test, loom))]
mod models;
#[cfg(not(loom))]
mod pages;
#[cfg(not(loom))]
mod partition;
#[cfg(not(loom))]
mod parts;
#[cfg(not(loom))]
pub mod prelude;
#[cfg(loom)]
#[path = "map/published.rs"]
#[allow(dead_code)] // the models take nothing out
mod published;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod raw;
#[cfg(loom)]
#[path = "map/records.rs"]
#[allow(dead_code)] // the models end no threads
mod records;
#[cfg(loom)]
#[path = "map/reentry.rs"]
#[allow(dead_code)] // the models need names alone
mod reentry;
#[cfg(all(feature = "serde", not(loom)))]
mod serde;
#[cfg(not(loom))]
pub mod set;
#[cfg(not(loom))]
mod settle;
#[cfg(not(loom))]
pub mod sorted;
mod sync;
#[cfg(not(loom))]
mod tag;
#[cfg(not(loom))]
mod thinned;
#[cfg(not(loom))]
mod tried;
pub mod vec;
#[cfg(not(loom))]
mod word;

#[cfg(not(loom))]
pub use bits::ParBitSet;
#[cfg(not(loom))]
pub use group::{Groups, Join, ParallelGrouping};
#[cfg(not(loom))]
pub use hasher::{DefaultHashBuilder, DefaultHasher};
#[cfg(not(loom))]
pub use map::{Change, FrozenMap, ParHashMap, ReadMap, TryReserveError};
#[cfg(not(loom))]
pub use set::ParHashSet;
#[cfg(not(loom))]
pub use sorted::SortedVec;
#[cfg(not(loom))]
pub use vec::{ParVec, Pusher};
