//! Jobs, and where they lie: the two deques of a seat, the queue from outside, and the words by
//! which a job says that it is done.

pub(crate) mod injector;
pub(crate) mod job;
pub(crate) mod kept;
pub(crate) mod latch;
pub(crate) mod nested;
pub(crate) mod slab;
pub(crate) mod spawned;
pub(crate) mod steal;
pub(crate) mod weight;
