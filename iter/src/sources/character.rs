//! Characters by their position among all characters, so that a range of them is
//! a range of integers.
//!
//! ```text
//!   code      0 …………… D7FF | D800 … DFFF | E000 ………………… 10FFFF
//!   position  0 …………… D7FF |    none     | D800 ………………… 10F7FF
//! ```
//!
//! A `Position` is made from a character, and the one after the last; so every
//! position below another one is a character's. That is what allows the loop over
//! them to do without a check, and to be vectorised: std's own check is not.

use std::ops::Range;

use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

/// Where surrogates begin, and how many there are: no `char` has their code.
const GAP: u32 = 0xD800;
const GAP_LEN: u32 = 0x800;

/// The position of a character, or the one after it.
#[derive(Clone, Copy)]
pub(super) struct Position(u32);

impl Position {
    /// The position of `c`.
    pub(super) fn of(c: char) -> Self {
        let code = u32::from(c);
        Position(if code < GAP { code } else { code - GAP_LEN })
    }

    /// The position after that of `c`.
    pub(super) fn after(c: char) -> Self {
        Position(Self::of(c).0 + 1)
    }
}

/// All characters from one position to before another.
pub(super) fn characters(range: Range<Position>) -> impl IndexedParallelIterator<Item = char> {
    (range.start.0..range.end.0)
        .into_par_iter()
        .map(|position| {
            let above = if position < GAP { 0 } else { GAP_LEN };
            // SAFETY: the position lies below one that is at most one after a
            // character's, so it is a character's; what was taken from its code by
            // `Position::of` is added again.
            unsafe { char::from_u32_unchecked(position + above) }
        })
}
