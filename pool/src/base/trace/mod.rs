//! What each thread does and when: spans and moments, written down while a recording runs.
//!
//! With the feature `timeline` a thread looks at one flag. While a recording runs, it writes into a
//! list of its own, which no other thread touches until the recording is read. Without the feature
//! all of it is empty and costs nothing.
//!
//! Beside it, with the feature `tracing`, some of the spans are spans of the crate `tracing` too.
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
pub(crate) use on::{block, moment};

#[cfg(not(feature = "timeline"))]
mod off;
#[cfg(not(feature = "timeline"))]
use off as kept;
#[cfg(not(feature = "timeline"))]
pub(crate) use off::{block, moment};
#[cfg(feature = "timeline")]
use on as kept;

#[cfg(not(feature = "tracing"))]
mod silent;
#[cfg(not(feature = "tracing"))]
use silent as told;
#[cfg(feature = "tracing")]
mod telling;
#[cfg(feature = "tracing")]
use telling as told;

/// A span of time: it ends when this is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Span {
    _told: told::Span,
    _kept: kept::Span,
}

/// Begins a span on a seat.
#[inline(always)]
pub(crate) fn span(seat: usize, act: Act) -> Span {
    Span {
        _told: told::span(seat, act),
        _kept: kept::span(seat, act),
    }
}
