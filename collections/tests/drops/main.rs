//! Each value is dropped exactly once, also where a destructor, a clone, a hash or a comparison panics: the n-th one,
//! for each n, in each verb.

mod groups;
mod joins;
mod kit;
mod maps;
mod picks;
