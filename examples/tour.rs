//! A tour of tine: a whole pipeline first, from the text of a log to the pages
//! that need a look, then each part of the library by itself. Each
//! stop does its work in sequence and in parallel, checks that the two answers
//! are equal, and prints both times. At the end the pool says what it did.
//!
//! ```text
//! cargo run --release --example tour
//! ```
//!
//! A stop takes its input, the sequential loop and the parallel loop. To add a stop,
//! call [`Tour::stop`] from the room that it belongs to; to add a room, call it in
//! `main`.
#![forbid(unsafe_code)]

#[path = "tour/account.rs"]
mod account;
#[path = "tour/collections.rs"]
mod collections;
#[path = "tour/data.rs"]
mod data;
#[path = "tour/iterators.rs"]
mod iterators;
#[path = "tour/pipeline.rs"]
mod pipeline;
#[path = "tour/pool.rs"]
mod pool;
#[path = "tour/screen.rs"]
mod screen;
#[path = "tour/sorts.rs"]
mod sorts;

use screen::Tour;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut tour = Tour::start();
    pipeline::visit(&mut tour);
    pool::visit(&mut tour);
    iterators::visit(&mut tour);
    sorts::visit(&mut tour);
    collections::visit(&mut tour);
    account::give(&tour);
    tour.end()
}
