//! A hash map that many threads change at once.
//!
//! The type and the methods with `&self` are in `concurrent`, those with `&mut self` in `exclusive`, and the
//! parallel ones in `par` and `merge`. Guards and lazy entries are in `entry`, and the keys of these in `given`; entries that
//! keep the lock are in `held`. `opened` is a map that joins look up through `&mut`. `frozen` is a map that is only
//! read. `read_map` is read without locks and changed by publishing: `published` holds one of its tables, by
//! `hazard`.
//!
//! Beneath them: `shard` (which table a key is in), `lock` (the lock of a table), `gate` (whether readers need it),
//! `lot` (where threads wait for either), `records` (what each thread reads without a lock), `table` (surgery on
//! one table), `chart` (where a lookup's memory is), `ahead` (keys that are hashed before their lookup) and
//! `reentry` (a thread that enters a map again panics instead of waiting for itself).
#![deny(unsafe_code)]

mod ahead;
mod chart;
mod concurrent;
mod convert;
mod entry;
mod exclusive;
mod frozen;
mod gate;
mod given;
mod hazard;
mod held;
mod iter;
pub(crate) mod lock;
mod lot;
mod merge;
pub(crate) mod opened;
mod par;
mod published;
mod read_map;
mod records;
pub(crate) mod reentry;
pub(crate) mod shard;
pub(crate) mod table;

pub use concurrent::{Change, ParHashMap};
pub use entry::{Busy, Entry, EntryRef, Ref, RefMut};
pub use exclusive::TryReserveError;
pub(crate) use exclusive::put;
pub use frozen::{FrozenIter, FrozenMap};
pub use given::{Borrowed, Given, Owned};
pub use held::{LockedEntry, OccupiedEntry, VacantEntry};
pub use iter::{Drain, IntoIter, Iter, IterMut, Keys, Values};
#[doc(hidden)]
pub use par::WalkShared;
pub use par::{IntoParIter, ParIter, ParIterMut};
pub use read_map::ReadMap;
