//! Every workload against every peer, interleaved in one run.
//!
//! A [`peers::Peer`] is a scheduler behind one small trait. A workload is
//! written once against that trait, in a file of [`workloads`], and offers
//! itself as [`row::Row`]s. [`runner`] takes the samples in child processes,
//! [`report`] makes the table, [`machine`] says whether it may be believed.
//! [`suite`] runs this and the other programs and has [`plots`] draw their tables.

pub mod child;
pub mod machine;
pub mod options;
pub mod peers;
pub mod plots;
pub mod report;
pub mod row;
pub mod runner;
pub mod samples;
pub mod spin;
pub mod suite;
pub mod usage;
pub mod workloads;
