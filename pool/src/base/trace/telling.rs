//! Spans of the crate `tracing`, for subscribers that somebody else has set.
//!
//! What a thread does for a call is told: that an ordinary thread works as a guest, that a job
//! runs, that a thread waits for another's part. Sleeping and searching are nobody's work, and a
//! span that is open for hours is no use to anybody. A span is on the thread that does the work, so
//! that of a job that was stolen has no parent: what is told of is where time goes, not who asked.
#![forbid(unsafe_code)]

use crate::base::trace::event::Act;
use tracing::span::EnteredSpan;
use tracing::{debug_span, trace_span};

/// A span that is left when this is dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct Span(
    // Held for its end alone.
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
