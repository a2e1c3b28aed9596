//! What depends on nothing: the door to shared memory, the system, the clock, panics, plain data.

pub(crate) mod barrier;
pub(crate) mod clock;
pub(crate) mod config;
pub(crate) mod park;
pub(crate) mod patience;
pub(crate) mod row;
pub(crate) mod running;
pub(crate) mod stats;
pub(crate) mod stop;
pub(crate) mod sync;
pub(crate) mod sys;
#[cfg(not(loom))]
pub mod trace;
pub(crate) mod unwind;
