//! Sequential iterators in parallel: nothing lost, nobody stuck.

mod kit;
mod ordered;
mod unordered;
