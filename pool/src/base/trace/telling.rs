//! Spans of the crate `tracing`, for a subscriber that the program has set.
//!
//! The spans tell what a thread does for a call: that an ordinary thread works as a guest, that a
//! job runs, that a thread waits for another's part. Sleeping and searching are work for no call,
//! and a span that is open for hours is of no use. A span is on the thread that does the work, so
//! that of a stolen job has no parent: spans tell where time goes, not which thread asked.
#![forbid(unsafe_code)]

use crate::base::trace::event::Act;
use tracing::span::EnteredSpan;
use tracing::{debug_span, trace_span};

/// A span that is left when this is dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct Span(
    // Held only so that it ends with this.
    #[allow(dead_code)] Option<EnteredSpan>,
);

#[inline]
pub(super) fn span(seat: usize, act: Act) -> Span {
    let span = match act {
        Act::Guest => debug_span!(target: "tine", "guest", seat),
        Act::Run => debug_span!(target: "tine", "job", seat),
        Act::Wait => trace_span!(target: "tine", "wait", seat),
        Act::Search | Act::Sleep => return Span(None),
    };
    Span(Some(span.entered()))
}
