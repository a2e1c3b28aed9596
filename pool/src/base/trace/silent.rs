//! No subscriber is told.
#![forbid(unsafe_code)]

use crate::base::trace::event::Act;

/// A span that no subscriber hears of.
#[derive(Debug)]
#[must_use]
pub(super) struct Span;

#[inline(always)]
pub(super) fn span(_: usize, _: Act) -> Span {
    Span
}
