//! How far a pool has come in its life, and how many of its threads are there. What that leads to is
//! told in `end.rs`.
#![forbid(unsafe_code)]

use crate::base::sync::{AtomicBool, AtomicUsize};
use std::sync::{Condvar, Mutex};

/// How far it has come.
#[derive(Debug)]
pub(crate) struct Lifetime {
    /// Whether seat 0 belongs to a thread that is not the pool's own and never ends with it.
    pub(super) resident: bool,
    pub(super) ending: AtomicBool,
    pub(super) over: AtomicBool,
    /// Threads that the system refused.
    pub(super) refused: AtomicUsize,
    /// Threads that have not ended yet.
    pub(super) alive: Mutex<usize>,
    pub(super) ended: Condvar,
}

impl Lifetime {
    pub(super) fn new(resident: bool) -> Self {
        Self {
            resident,
            ending: AtomicBool::new(false),
            over: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
            alive: Mutex::new(0),
            ended: Condvar::new(),
        }
    }
}
