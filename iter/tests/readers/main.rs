//! Lines and records of readers, against their twins in std.

#[allow(dead_code, reason = "its values are counted elsewhere")]
#[path = "../bridge/kit.rs"]
mod kit;

mod errors;
mod feeds;
mod lines;
mod records;
