//! A vector that many threads push to at once: the type is in `face`, its
//! storage in `buckets`, walking it in `iter` and, in parallel, in `par`.
#![deny(unsafe_code)]

pub(crate) mod buckets;
#[cfg(not(loom))]
mod face;
#[cfg(not(loom))]
mod iter;
#[cfg(not(loom))]
mod par;
mod slab;

#[cfg(not(loom))]
pub use face::{ParVec, Pusher};
#[cfg(not(loom))]
pub use iter::{IntoIter, Iter, IterMut};
#[cfg(not(loom))]
pub use par::{ParIter, ParIterMut};
