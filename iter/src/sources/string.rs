//! A parallel iterator that takes a range of characters out of a string.
#![forbid(unsafe_code)]

use crate::convert::ParallelDrainRange;
use crate::sources::kit::unindexed;
use crate::sources::span::within;
use crate::sources::str::ParallelString;
use std::ops::{Range, RangeBounds};

/// Parallel iterator over a range of a string, which it removes when dropped.
///
/// ```
/// use tine::prelude::*;
///
/// let mut s = String::from("a-b-c");
/// assert_eq!(s.par_drain(1..4).filter(|&c| c == '-').count(), 2);
/// assert_eq!(s, "ac");
/// ```
#[derive(Debug)]
pub struct Drain<'a> {
    string: &'a mut String,
    range: Range<usize>,
}

impl<'a> ParallelDrainRange<usize> for &'a mut String {
    type Iter = Drain<'a>;
    type Item = char;

    /// Removes a range of the string and hands out its characters in parallel.
    ///
    /// # Panics
    ///
    /// If the range is reversed, reaches beyond the string, or begins or ends
    /// within a character.
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Self::Iter {
        let range = within(range, self.len());
        for at in [range.start, range.end] {
            assert!(
                self.is_char_boundary(at),
                "byte {at} lies within a character"
            );
        }
        Drain {
            string: self,
            range,
        }
    }
}

unindexed! {
    ['a] Drain<'a> => char;
    inner(it) it.string[it.range.clone()].par_chars();
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.string.drain(self.range.clone());
    }
}
