//! Pages to read: what to choose, how to move, how it works, what to do when it is slow.
#![forbid(unsafe_code)]

#[doc = include_str!("choosing.md")]
pub mod choosing {}

#[doc = include_str!("from_rayon.md")]
pub mod from_rayon {}

#[doc = include_str!("how_it_works.md")]
pub mod how_it_works {}

#[doc = include_str!("scanning.md")]
pub mod scanning {}

#[doc = include_str!("when_slow.md")]
pub mod when_slow {}
