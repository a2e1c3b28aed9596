//! The questions of an adaptive loop: how large is the next block, and is it time to share? The
//! pool answers.
#![forbid(unsafe_code)]

pub(crate) use tine_pool::loops::{Bare, Laid, Pace, Seed, Start, Step};
