//! Threads of a process that run one at a time, in an order that a seed decides.
//!
//! `machine` decides which thread runs. `system` answers for the system: every call by which `std`,
//! the pool or a program would start a thread, sleep, wait or ask for the time ends there.

mod machine;
mod random;
mod system;

pub(crate) use machine::{How, Limits, living, quiesce, report, start, steps, stop, work};
pub(crate) use random::Random;
pub(crate) use system::refuse_after;
