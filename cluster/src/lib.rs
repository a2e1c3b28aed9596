//! The pipelines of tine on many machines.
//!
//! One program, started once for each machine. Every *rank* runs the same `main`, holds a part of
//! each collection, computes on it with tine's pool, and meets the others in *collectives*.
//! Closures never travel, so they may borrow.
//!
//! ```
//! use std::cmp::Reverse;
//! use std::collections::HashSet;
//! use tine_cluster::prelude::*;
//!
//! fn main() -> ExitCode {
//!     let stop = HashSet::from(["a", "is"]);
//!     tine_cluster::run(|c| {
//!         let lines = c.scatter(vec!["a fork is a fork".to_owned(), "a tine is no fork".to_owned()]);
//!         let counts = lines
//!             .par_iter()
//!             .flat_map_iter(|line| line.split(' '))
//!             .filter(|word| !stop.contains(word))
//!             .count_refs();
//!         let top = counts.into_vec().sort_by_key(|(word, count)| (Reverse(*count), word.clone()));
//!         assert_eq!(top.all_gather()[0], ("fork".to_owned(), 3));
//!         Ok(())
//!     })
//! }
//! ```
//!
//! # One program, three ways to start it
//!
//! | | |
//! |---|---|
//! | `cargo run` | one rank: this process |
//! | `TINE_RANKS=4 cargo run` | four ranks, which are threads of this process |
//! | `cargo build --release --features mpi`, then `mpirun -n 4 --map-by ppr:1:node --bind-to none target/release/app` | four machines |
//!
//! The answers are the same. The feature `mpi` needs an MPI library (Open MPI or MPICH), its
//! `mpicc` and libclang to build.
//!
//! # What to know
//!
//! * Methods that are marked **(C)** are collectives: all ranks call them, in the same order, from
//!   the same line of the program. If some do not, the job ends and says which rank was where.
//! * [`Cluster::generate`] sends nothing; still, all ranks must call it alike, with the same
//!   length. The next collective ends the job if they do not.
//! * Methods called `local…` never communicate.
//! * Closures should not use [`Cluster::rank`] for data: the answer would depend on the number of
//!   ranks.
//! * Types that can be sent are [`Travel`]: serde can write and read them, and they borrow nothing.
//! * A panic, or an `Err`, on any rank ends the job. [`Cluster::agree`] makes an error of one rank
//!   an error of all ranks; then all may go on. A body may catch a panic of its own. But if the
//!   panic came out of a collective, the rank cannot go on, since the other ranks may still be in
//!   it.
//!
//! # Limits
//!
//! All ranks run the same executable on machines of one kind. A collection must fit into the memory
//! of all ranks together. What is gathered must fit into the memory of one rank. Nothing is
//! retried, and the number of ranks does not change. [`DistVec::checkpoint`] keeps the state of a
//! job, and another job can go on with it. While a rank waits for others inside MPI, it keeps one
//! core busy. Ranks that are threads share statics and the pool.
//!
//! The page [`guide`]: what changes in a program, and how to launch it.
//!
//! # Variables
//!
//! `TINE_RANKS` (ranks as threads), `TINE_NUM_THREADS` (threads of each rank's pool), `TINE_ROUND`
//! (bytes that a rank sends in one round of an exchange; 256 MiB; as many again are needed where
//! they arrive).

mod checkpoint;
mod cluster;
mod deal;
mod fault;
mod fixed;
mod group;
#[doc = include_str!("../guide.md")]
pub mod guide {}
mod iter;
mod join;
mod launch;
mod link;
mod map;
mod owner;
mod pieces;
pub mod prelude;
mod read;
mod reduce;
mod run;
mod scan;
mod shuffle;
mod sort;
mod source;
mod stats;
mod travel;
mod vec;
mod write;

/// The example of tine's page on ranks compiles.
#[cfg(doctest)]
#[doc = include_str!("../../src/guide/many_machines.md")]
mod many_machines {}

pub use cluster::Cluster;
pub use fault::Error;
pub use fixed::Deterministic;
pub use iter::DistIter;
pub use join::DistJoin;
pub use map::DistMap;
pub use run::{ThreadRanks, run, run_threads};
pub use stats::{Counts, Stats};
pub use travel::Travel;
pub use vec::DistVec;
