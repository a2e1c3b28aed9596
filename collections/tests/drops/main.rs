//! Each value is dropped exactly once, also where a destructor, a clone, a hash, a comparison or a closure panics: the
//! n-th one, for each n, in each verb.

mod groups;
mod joins;
mod kit;
mod maps;
mod orders;
mod picks;
mod streams;
