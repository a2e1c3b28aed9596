//! What users call: pools and their builder, and one file for each verb.

pub(crate) mod abort;
pub(crate) mod blocking;
pub(crate) mod bounded;
pub(crate) mod broadcast;
pub(crate) mod builder;
pub(crate) mod handle;
pub(crate) mod here;
pub(crate) mod join;
pub mod loops;
pub(crate) mod picture;
pub(crate) mod pool;
pub(crate) mod scope;
pub(crate) mod sites;
pub(crate) mod spawn;
pub mod stop;
