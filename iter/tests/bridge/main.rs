//! Sequential iterators in parallel: no item is lost, no thread is stuck.

mod kit;
mod ordered;
mod unordered;
