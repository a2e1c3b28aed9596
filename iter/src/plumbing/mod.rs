//! What sources, adapters and sinks are made of.
//!
//! A *producer* hands out items and can be split. A *consumer* takes them and
//! can be split alike. A *folder* is a consumer at work on one contiguous
//! piece. A *reducer* joins the results of two neighbouring pieces. A *bridge*
//! brings a producer and a consumer together, and shares the work among
//! threads. The shapes are those of rayon, so that sources and adapters written
//! for either work with both.
#![forbid(unsafe_code)]

mod bridge;
mod fixed;
mod fork;
mod go_on;
mod lazy;
mod looks;
mod pace;
mod splits;
mod traits;

pub(crate) use bridge::{Block, bridge_behind};
pub use bridge::{bridge, bridge_producer_consumer};
pub(crate) use fixed::bridge_fixed;
#[doc(hidden)]
pub use fixed::{bridge_node, leaf_size, middle};
pub(crate) use fork::{both, course, crew, enter, halves, open};
pub(crate) use go_on::{apart, go_on};
pub(crate) use looks::{Looked, Strides, fold, is_under, look};
pub(crate) use pace::{Pace, Step};
pub use splits::bridge_unindexed;
pub use traits::{
    Again, Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer,
    UnindexedProducer, Went,
};
