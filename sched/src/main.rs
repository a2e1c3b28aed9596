//! Small programs over every verb of the pool, under schedules that a seed decides.
//!
//! ```text
//! tine-sched                         scenes, then invented programs, for 120 s
//! tine-sched --seconds N             for this long
//! tine-sched --seed N                from this program on
//! tine-sched --scenes [--scene X]     scenes alone: after how many schedules each fails
//! tine-sched --program N --schedule M [--without 1,2]   one schedule again, told at length
//! tine-sched --scene X --schedule M                     the same for a scene
//! tine-sched --no Lock,Exit          invented programs without these (the names of `Kind`)
//! tine-sched --most N --failures N   schedules for each program; how many failures end it
//! tine-sched --shrink N              the smallest program that still fails in this way
//! ```
//!
//! Built with `--cfg tine_sched`: see `tests/schedules.sh`.

#[cfg(not(tine_sched))]
fn main() {
    eprintln!("built without `--cfg tine_sched`: see tests/schedules.sh");
    std::process::exit(2);
}

#[cfg(tine_sched)]
mod bridge;
#[cfg(tine_sched)]
mod check;
#[cfg(tine_sched)]
mod command;
#[cfg(tine_sched)]
mod exec;
#[cfg(tine_sched)]
mod invent;
#[cfg(tine_sched)]
mod line;
#[cfg(tine_sched)]
mod program;
#[cfg(tine_sched)]
mod rt;
#[cfg(tine_sched)]
mod runner;
#[cfg(tine_sched)]
mod scenes;

#[cfg(tine_sched)]
fn main() {
    command::main();
}
