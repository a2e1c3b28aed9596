//! What each thread does when, for those who want to look: spans and moments, written down while a
//! recording runs.
//!
//! Two faces of one interface. With the feature `timeline` a thread asks one flag and, while
//! something is recorded, writes into a list of its own, which nobody else touches until the
//! recording is read. Without the feature all of it is empty and costs nothing.
//!
//! The recording side is for `tine::timeline` and not part of the promised interface.
#![forbid(unsafe_code)]

mod event;
pub use event::{Act, Event, What};

#[cfg(feature = "timeline")]
mod on;
#[cfg(feature = "timeline")]
pub use on::{Lane, Recording};
#[cfg(feature = "timeline")]
pub(crate) use on::{Span, block, moment, span};

#[cfg(not(feature = "timeline"))]
mod off;
#[cfg(not(feature = "timeline"))]
pub(crate) use off::{Span, block, moment, span};
