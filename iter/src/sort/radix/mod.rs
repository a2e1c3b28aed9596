//! Sorting without comparing: by the digits of keys that are words.

mod alone;
pub(crate) mod key;
pub(crate) mod keyed;
pub(crate) mod plain;
mod together;
pub(crate) mod word;
