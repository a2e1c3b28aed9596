//! Nothing is written down.
#![forbid(unsafe_code)]

use crate::base::trace::event::{Act, What};

/// A span that is not recorded.
#[derive(Debug)]
#[must_use]
pub(super) struct Span;

#[inline(always)]
pub(super) fn span(_: usize, _: Act) -> Span {
    Span
}

#[inline(always)]
pub(crate) fn moment(_: usize, _: What) {}

#[inline(always)]
pub(crate) fn block(_: u64) {}
