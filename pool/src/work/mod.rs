//! Workers: threads on seats, what they run, find and wait for, and how they come and go.

pub(crate) mod abroad;
pub(crate) mod attend;
pub(crate) mod choice;
pub(crate) mod course;
pub(crate) mod end;
pub(crate) mod errand;
pub(crate) mod family;
pub(crate) mod find;
pub(crate) mod guest;
pub(crate) mod idle;
pub(crate) mod kin;
pub(crate) mod lifetime;
pub(crate) mod place;
pub(crate) mod post;
pub(crate) mod shared;
pub(crate) mod stand_in;
pub(crate) mod thread;
pub(crate) mod under;
pub(crate) mod wait;
pub(crate) mod worker;
