//! Every source against its std twin: forward, reversed, split at every point, in pools of several sizes; and
//! what happens to items that no consumer took.
#![allow(
    clippy::redundant_locals,
    reason = "a macro binds its inputs anew each time"
)]

mod collections;
mod drops;
mod free;
mod kit;
mod ranges;
mod slices;
mod strings;
#[path = "../../../pool/tests/common/watched.rs"]
mod watched;
