//! Pipelines: no item is lost, the order is kept, memory is bounded, the first error wins.

#[path = "../bridge/kit.rs"]
mod kit;

mod adapters;
mod errors;
mod panics;
mod soak;
mod stages;
