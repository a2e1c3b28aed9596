//! A vector that many threads push to at once. The type is in `par_vec`, its
//! storage in `buckets`, sequential walks in `iter` and parallel ones in `par`.
#![deny(unsafe_code)]

pub(crate) mod buckets;
#[cfg(not(loom))]
mod iter;
#[cfg(not(loom))]
mod par;
#[cfg(not(loom))]
mod par_vec;
mod slab;
#[cfg(not(loom))]
mod turns;

#[cfg(not(loom))]
pub use iter::{IntoIter, Iter, IterMut};
#[cfg(not(loom))]
pub use par::{ParIter, ParIterMut};
#[cfg(not(loom))]
pub use par_vec::{ParVec, Pusher};
