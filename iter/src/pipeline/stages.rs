//! Stages in a row, before they run.
//!
//! A row of stages is a type: the source, and around it one layer for each stage. To run it, each
//! layer becomes a station, from the last to the first, and the source runs the whole.
#![forbid(unsafe_code)]

use super::station::Station;
use std::fmt;

/// How the source is to be drawn from.
#[derive(Clone, Copy)]
pub struct Orders<'o> {
    pub(super) limit: usize,
    pub(super) batches: Batches,
    pub(super) stop: Option<&'o (dyn Fn() -> bool + Sync)>,
}

impl fmt::Debug for Orders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orders")
            .field("limit", &self.limit)
            .field("batches", &self.batches)
            .finish_non_exhaustive()
    }
}

/// The limit that stands for as many items as suit the pool.
pub(super) const SUITS: usize = 0;

/// How many items a member draws at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batches {
    /// One.
    Single,
    /// Several, if the iterator has said that it has them.
    Promised,
    /// Several.
    Many,
}

/// How a run has ended.
#[derive(Debug)]
pub struct Outcome<E> {
    /// The first error in order.
    pub(super) error: Option<E>,
    /// Whether it was stopped before the source had come to its end.
    #[allow(dead_code, reason = "for callers that tell a stop from an end")]
    pub(super) stopped: bool,
}

/// A source, or a source and the stages behind it: what a [`Pipeline`](super::Pipeline) is made of.
pub trait Stages: Sized {
    /// What comes out of the last of them.
    type Item: Send;
}

/// Stages that can run where an error is an `E`.
pub trait Run<E>: Stages {
    /// Runs them with `station` behind the last.
    #[doc(hidden)]
    fn run<S: Station<Self::Item, E> + Send>(self, station: S, orders: Orders<'_>) -> Outcome<E>;
}
