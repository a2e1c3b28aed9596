//! Each value is dropped exactly once, also if a destructor, a clone, a hash, a comparison or a closure panics:
//! the n-th call, for each n, in each verb.

mod groups;
mod joins;
mod kit;
mod maps;
mod orders;
mod picks;
mod streams;
