//! Sorting without comparing: by the digits of keys that are words.

mod alone;
pub(crate) mod counted;
mod cut;
mod elements;
mod extract;
mod joined;
pub(crate) mod key;
pub(crate) mod keyed;
pub(crate) mod plain;
pub(crate) mod scattered;
pub(crate) mod strays;
mod together;
pub(crate) mod word;
