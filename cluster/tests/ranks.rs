//! Every verb on ranks that are threads, against its twin on one machine.

#[path = "ranks/alike.rs"]
mod alike;
#[path = "ranks/faults.rs"]
mod faults;
#[path = "ranks/files.rs"]
mod files;
#[path = "ranks/keyed.rs"]
mod keyed;
#[path = "ranks/kit.rs"]
mod kit;
#[path = "ranks/ordered.rs"]
mod ordered;
#[path = "ranks/sums.rs"]
mod sums;
#[path = "ranks/user.rs"]
mod user;
#[path = "ranks/verbs.rs"]
mod verbs;
#[path = "ranks/watch.rs"]
mod watch;
