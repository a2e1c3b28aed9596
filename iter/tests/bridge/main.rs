//! Sequential iterators in parallel: nothing lost, no thread stuck.

mod kit;
mod ordered;
mod unordered;
