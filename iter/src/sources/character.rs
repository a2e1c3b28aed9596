//! Characters by their position among all characters, so that a range of them is
//! a range of integers.
//!
//! ```text
//!   code      0 …………… D7FF | D800 … DFFF | E000 ………………… 10FFFF
//!   position  0 …………… D7FF |    none     | D800 ………………… 10F7FF
//! ```
//!
//! A `Position` is made from a character, or lies just behind the last one. So every position below
//! another position belongs to a character, and the loop over them needs no check. Without a check
//! the compiler vectorises the loop; with std's check it does not. A piece is fed to a folder in
//! two parts, before the gap and behind it, so that the loop need not look for the gap either.

use std::iter::Map;
use std::ops::Range;

use crate::plumbing::{Again, Folder, Producer};
use crate::sources::kit::indexed;

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

/// The character at a position.
fn at(position: u32) -> char {
    if position < GAP {
        before_gap(position)
    } else {
        behind_gap(position)
    }
}

fn before_gap(position: u32) -> char {
    debug_assert!(position < GAP, "a position before the gap");
    // SAFETY: only called with positions below the gap, which are codes of characters.
    unsafe { char::from_u32_unchecked(position) }
}

fn behind_gap(position: u32) -> char {
    debug_assert!(position >= GAP, "a position behind the gap");
    // SAFETY: the position lies below another position, which is at most one behind a character's. So it is the
    // position of a character; the number that `Position::of` subtracted from the code is added again.
    unsafe { char::from_u32_unchecked(position + GAP_LEN) }
}

/// All characters from one position to before another.
#[derive(Clone)]
pub(super) struct Characters(Range<u32>);

pub(super) fn characters(range: Range<Position>) -> Characters {
    Characters(range.start.0..range.end.0)
}

indexed! {
    [] Characters => char;
    len(it) it.0.len();
    producer(it) it;
}

impl Producer for Characters {
    type Item = char;
    type IntoIter = Map<Range<u32>, fn(u32) -> char>;
    const AGAIN: Again = Again::Always;

    fn again(&self) -> Self {
        self.clone()
    }

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(at)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        // The end itself need not be the position of a character.
        assert!(
            index <= self.0.len(),
            "a range of characters was cut behind its end, at {index}"
        );
        let mid = self.0.start + index as u32;
        (Characters(self.0.start..mid), Characters(mid..self.0.end))
    }

    #[inline]
    fn fold_with<F: Folder<char>>(self, folder: F) -> F {
        let Range { start, end } = self.0;
        let gap = GAP.clamp(start, end.max(start));
        let folder = folder.consume_iter((start..gap).map(before_gap));
        if folder.full() {
            return folder;
        }
        folder.consume_iter((gap..end).map(behind_gap))
    }
}
