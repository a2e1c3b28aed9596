//! The algorithms beyond rayon's against their meaning in sequence: by properties, in pools of
//! several sizes, with panics in each closure, and with closures that lie.

mod change;
mod fed;
mod grid;
mod kit;
mod lengths;
mod look;
mod panics;
mod reduce;
mod retain;
mod sets;
mod small;
mod text;
#[path = "../../../pool/tests/common/watched.rs"]
mod watched;
