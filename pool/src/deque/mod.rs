//! The two deques of a seat: what `join` pushes, and what `spawn` pushes.

pub(crate) mod nested;
pub(crate) mod spawned;
pub(crate) mod steal;
