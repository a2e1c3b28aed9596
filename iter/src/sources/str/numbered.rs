//! Lines with their numbers, and lines of bytes.
//!
//! The number of lines in a text is known only once they are counted. They are counted when the
//! iterator runs. The text is cut into blocks of whole lines, and the line feeds of each are
//! counted in parallel. Then the lines of a block are numbered from where the block before ends.
//! The lines of a short text are gathered first, so that each can go to another thread.
#![forbid(unsafe_code)]

use std::iter::FusedIterator;
use std::ops::Range;

use crate::convert::{IntoParallelIterator, IntoParallelRefIterator};
use crate::iter::{IndexedParallelIterator, ParallelIterator};
use crate::plumbing::UnindexedConsumer;

/// A text of fewer bytes is short.
const SHORT: usize = if cfg!(miri) { 1 << 7 } else { 1 << 16 };
/// About how many bytes a block has.
const BLOCK: usize = if cfg!(miri) { 1 << 5 } else { 1 << 13 };

/// Parallel iterator over the lines of a string and their numbers.
///
/// Made by [`enumerate`](super::Lines::enumerate).
///
/// ```
/// use tine::{str::NumberedLines, prelude::*};
///
/// let lines: NumberedLines<'_> = "one\ntwo".par_lines().enumerate();
/// assert_eq!(lines.collect::<Vec<_>>(), [(0, "one"), (1, "two")]);
/// ```
#[derive(Debug, Clone)]
pub struct NumberedLines<'ch>(pub(super) &'ch str);

impl<'ch> ParallelIterator for NumberedLines<'ch> {
    type Item = (usize, &'ch str);

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        let text = self.0;
        if text.len() < SHORT {
            let lines: Vec<&str> = text.lines().collect();
            return lines.into_par_iter().enumerate().drive_unindexed(consumer);
        }
        let blocks = blocks(text.as_bytes()).into_par_iter();
        let lines = blocks.flat_map_iter(|(block, first)| (first..).zip(text[block].lines()));
        lines.drive_unindexed(consumer)
    }
}

/// Parallel iterator over the lines of a slice of bytes.
///
/// Made by [`par_lines`](crate::algorithms::ParallelBytes::par_lines).
///
/// ```
/// use tine::{algorithms::ParallelBytes, prelude::*, str::ByteLines};
///
/// let lines: ByteLines<'_> = b"one\r\ntwo".par_lines();
/// assert_eq!(lines.collect::<Vec<_>>(), [b"one", b"two"]);
/// ```
#[derive(Debug, Clone)]
pub struct ByteLines<'data>(&'data [u8]);

impl<'data> ByteLines<'data> {
    pub(crate) fn new(bytes: &'data [u8]) -> Self {
        ByteLines(bytes)
    }

    /// The lines with their numbers, from zero. They are counted first, when the iterator runs.
    ///
    /// ```
    /// use tine::{algorithms::ParallelBytes, prelude::*};
    ///
    /// let found = b"one\ntwo\n".par_lines().enumerate().find_first(|(_, line)| line[0] == b't');
    /// assert_eq!(found, Some((1, &b"two"[..])));
    /// ```
    pub fn enumerate(self) -> NumberedByteLines<'data> {
        NumberedByteLines(self.0)
    }
}

impl<'data> ParallelIterator for ByteLines<'data> {
    type Item = &'data [u8];

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        let bytes = self.0;
        if bytes.len() < SHORT {
            let lines: Vec<&[u8]> = EachLine(bytes).collect();
            return lines.into_par_iter().drive_unindexed(consumer);
        }
        let blocks = whole_lines(bytes).into_par_iter();
        let lines = blocks.flat_map_iter(|block| EachLine(&bytes[block]));
        lines.drive_unindexed(consumer)
    }
}

/// Parallel iterator over the lines of a slice of bytes and their numbers.
///
/// Made by [`enumerate`](ByteLines::enumerate).
///
/// ```
/// use tine::{algorithms::ParallelBytes, prelude::*, str::NumberedByteLines};
///
/// let lines: NumberedByteLines<'_> = b"one\ntwo".par_lines().enumerate();
/// assert_eq!(lines.count(), 2);
/// ```
#[derive(Debug, Clone)]
pub struct NumberedByteLines<'data>(&'data [u8]);

impl<'data> ParallelIterator for NumberedByteLines<'data> {
    type Item = (usize, &'data [u8]);

    const KEEPS_ALL: bool = true;

    fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
        let bytes = self.0;
        if bytes.len() < SHORT {
            let lines: Vec<&[u8]> = EachLine(bytes).collect();
            return lines.into_par_iter().enumerate().drive_unindexed(consumer);
        }
        let blocks = blocks(bytes).into_par_iter();
        let lines = blocks.flat_map_iter(|(block, first)| (first..).zip(EachLine(&bytes[block])));
        lines.drive_unindexed(consumer)
    }
}

/// The lines of some bytes, one after the other.
struct EachLine<'data>(&'data [u8]);

impl<'data> Iterator for EachLine<'data> {
    type Item = &'data [u8];

    fn next(&mut self) -> Option<&'data [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let feed = self.0.iter().position(|&byte| byte == b'\n');
        let (line, rest) = self.0.split_at(feed.map_or(self.0.len(), |at| at + 1));
        self.0 = rest;
        Some(without_end(line))
    }
}

impl FusedIterator for EachLine<'_> {}

/// A line without its `\n` or `\r\n`; a `\r` alone ends no line.
fn without_end(line: &[u8]) -> &[u8] {
    match line {
        [line @ .., b'\r', b'\n'] | [line @ .., b'\n'] => line,
        line => line,
    }
}

/// Blocks of whole lines.
fn whole_lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(text.len() / BLOCK + 1);
    let mut start = 0;
    while start < text.len() {
        let some = (start + BLOCK).min(text.len());
        // The search begins at the last byte, which may be a line feed.
        let feed = text[some - 1..].iter().position(|&byte| byte == b'\n');
        let end = feed.map_or(text.len(), |at| some + at);
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// Blocks of whole lines, each with the number of its first.
// Inline, so that its loop is compiled where it is used.
#[inline]
fn blocks(text: &[u8]) -> Vec<(Range<usize>, usize)> {
    let ranges = whole_lines(text);
    let counts = ranges.par_iter().map(|range| feeds(&text[range.clone()]));
    let counts: Vec<usize> = counts.collect();
    let firsts = counts.into_iter().scan(0, |first, count| {
        let this = *first;
        *first += count;
        Some(this)
    });
    ranges.into_iter().zip(firsts).collect()
}

/// The number of line feeds.
fn feeds(bytes: &[u8]) -> usize {
    // Few enough to be counted in a byte.
    let few = bytes.chunks(255);
    let count = |some: &[u8]| {
        let feeds = some.iter().map(|&byte| u8::from(byte == b'\n'));
        usize::from(feeds.sum::<u8>())
    };
    few.map(count).sum()
}
