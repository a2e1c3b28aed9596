//! What an adaptive loop asks: how large is the next block, and is it time to share? The answers
//! are the pool's.
#![forbid(unsafe_code)]

pub(crate) use tine_pool::loops::{Laid, Pace, Plain, Seed, Step};
