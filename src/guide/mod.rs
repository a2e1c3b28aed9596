//! Pages to read: what to choose, how to move here, how to share state, how to work beside an async
//! runtime, what to do when it is slow or stuck, and how it works.
//
// The examples of some pages need the collections: without them these pages are not tested.
#![forbid(unsafe_code)]

#[cfg_attr(any(feature = "collections", not(doctest)), doc = include_str!("choosing.md"))]
pub mod choosing {}

#[cfg_attr(any(feature = "collections", not(doctest)), doc = include_str!("from_elsewhere.md"))]
pub mod from_elsewhere {}

#[cfg_attr(any(feature = "collections", not(doctest)), doc = include_str!("from_loops.md"))]
pub mod from_loops {}

#[cfg_attr(any(feature = "collections", not(doctest)), doc = include_str!("from_rayon.md"))]
pub mod from_rayon {}

#[doc = include_str!("how_it_works.md")]
pub mod how_it_works {}

#[doc = include_str!("scanning.md")]
pub mod scanning {}

#[doc = include_str!("servers.md")]
pub mod servers {}

#[cfg_attr(any(feature = "collections", not(doctest)), doc = include_str!("sharing.md"))]
pub mod sharing {}

#[doc = include_str!("side_by_side.md")]
pub mod side_by_side {}

// Its example is tested where there are ranks: in tine-cluster.
#[cfg_attr(not(doctest), doc = include_str!("many_machines.md"))]
pub mod many_machines {}

#[doc = include_str!("streaming.md")]
pub mod streaming {}

#[doc = include_str!("when_slow.md")]
pub mod when_slow {}

#[doc = include_str!("when_stuck.md")]
pub mod when_stuck {}
