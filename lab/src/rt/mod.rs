//! The machine that is computed: cores with clocks of their own, cache lines, a scheduler, and the
//! system's answers.
//!
//! `costs` is the model; `lines` has the caches, `machine` the cores and the scheduler, `hop` the
//! switch from thread to thread, `meter` what is computed between two touches, `warmth` what each core
//! would have in its cache meanwhile, `names` finds the field behind an address. `system` and `random` are those of the schedules (`sched/`): the same answers,
//! before another machine.

mod buckets;
pub(crate) mod costs;
mod hop;
mod lines;
mod machine;
mod meter;
mod names;
mod own;
#[path = "../../../sched/src/rt/random.rs"]
#[allow(dead_code)]
mod random;
mod report;
mod stretch;
#[path = "../../../sched/src/rt/system.rs"]
#[allow(dead_code)]
mod system;
mod warmth;

pub(crate) use machine::{peek, start, work};
pub(crate) use report::{report, reset, threads_in_work};
