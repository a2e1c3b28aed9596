//! Pipelines: nothing lost, order kept, memory bounded, the first error wins.

#[path = "../bridge/kit.rs"]
mod kit;

mod adapters;
mod errors;
mod panics;
mod soak;
mod stages;
