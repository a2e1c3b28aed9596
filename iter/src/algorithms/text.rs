//! Text: lines of bytes, and substrings.
#![forbid(unsafe_code)]

use crate::convert::IntoParallelIterator;
use crate::iter::ParallelIterator;
use crate::sources::str::ByteLines;

/// The fewest bytes of a piece of a text that is searched, and the least multiple of the needle's
/// length.
const PIECE: usize = if cfg!(miri) { 1 << 5 } else { 1 << 14 };
const LENGTHS: usize = 8;

/// Text that need not be UTF-8.
///
/// ```
/// use tine::{algorithms::ParallelBytes, prelude::*};
///
/// let log = b"ok\nfailed \xFF\nok\n";
/// assert_eq!(log.par_lines().filter(|line| *line == b"ok").count(), 2);
/// ```
pub trait ParallelBytes {
    /// The lines, without their `\n` or `\r\n`, as [`str::lines`] has them.
    ///
    /// ```
    /// use tine::{algorithms::ParallelBytes, prelude::*};
    ///
    /// let lengths: Vec<usize> = b"hello\r\nyou\n".par_lines().map(<[u8]>::len).collect();
    /// assert_eq!(lengths, [5, 3]);
    /// ```
    fn par_lines(&self) -> ByteLines<'_>;
}

impl ParallelBytes for [u8] {
    fn par_lines(&self) -> ByteLines<'_> {
        ByteLines::new(self)
    }
}

/// Searching a string.
///
/// ```
/// use tine::algorithms::ParallelStringSearch;
///
/// assert_eq!("a fork has tines".par_find_str("tine"), Some(11));
/// ```
pub trait ParallelStringSearch {
    /// The position where `needle` first occurs, as with [`str::find`]. An empty needle occurs at
    /// position 0.
    ///
    /// ```
    /// use tine::algorithms::ParallelStringSearch;
    ///
    /// assert_eq!("déjà vu".par_find_str("jà"), Some(3));
    /// assert_eq!("déjà vu".par_find_str("dé "), None);
    /// ```
    fn par_find_str(&self, needle: &str) -> Option<usize>;
}

impl ParallelStringSearch for str {
    // Inline, so that its loop is compiled where it is used.
    #[inline]
    fn par_find_str(&self, needle: &str) -> Option<usize> {
        let size = PIECE.max(needle.len().saturating_mul(LENGTHS));
        if self.len() <= size || needle.is_empty() {
            return self.find(needle);
        }
        let pieces = self.len().div_ceil(size);
        let find = |piece: usize| {
            // A match that begins in this piece may end in the next one.
            let start = boundary(self, piece * size);
            let end = (piece + 1)
                .saturating_mul(size)
                .saturating_add(needle.len());
            let end = boundary(self, end);
            self[start..end].find(needle).map(|at| start + at)
        };
        (0..pieces).into_par_iter().find_map_first(find)
    }
}

/// The first character boundary from `at` on.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
