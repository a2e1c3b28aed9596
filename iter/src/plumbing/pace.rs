//! What an adaptive loop asks: how large shall the next block be, shall I share? The answers
//! are the pool's.
#![forbid(unsafe_code)]

pub(crate) use tine_pool::loops::{Laid, Pace, Step};
