//! Substring by substring: text that is cut where a pattern matches.
#![forbid(unsafe_code)]

use super::numbered::NumberedLines;
use super::pattern::Pattern;
use super::words::EachWord;
use crate::iter::ParallelIterator;
use crate::plumbing::{Folder, UnindexedConsumer};
use crate::sources::body::Body;
use crate::sources::empty::empty;
use crate::sources::kit::unindexed;
use crate::sources::pieces::{Pieces, Rule, fold_pieces};
use crate::sources::stretch::bridge_stretch;
use std::ops::Range;

/// Cuts at each match, which belongs to neither side.
struct Between<'p, P>(&'p P);

/// Cuts after each match, which belongs to the left side.
struct After<'p, P>(&'p P);

impl<P> Clone for Between<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Between<'_, P> {}

impl<P> Clone for After<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for After<'_, P> {}

fn first(text: &str, range: Range<usize>, pattern: &impl Pattern) -> Option<usize> {
    pattern
        .first_in(&text[range.clone()])
        .map(|at| range.start + at)
}

/// The end of the character that begins at `at`.
fn beyond(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}

impl<'t, P: Pattern> Rule<&'t str> for Between<'_, P> {
    fn first(self, text: &&'t str, range: Range<usize>) -> Option<usize> {
        first(text, range, self.0)
    }

    fn cut(self, text: &'t str, at: usize) -> (&'t str, &'t str) {
        (&text[..at], &text[beyond(text, at)..])
    }

    fn fold<F: Folder<&'t str>>(self, text: &'t str, open: usize, folder: F) -> F {
        let cut = self.0.last_in(&text[..open]);
        let pieces = |front| self.0.between(front);
        fold_pieces(self, text, cut, pieces, Some, folder)
    }
}

impl<'t, P: Pattern> Rule<&'t str> for After<'_, P> {
    fn first(self, text: &&'t str, range: Range<usize>) -> Option<usize> {
        first(text, range, self.0)
    }

    fn cut(self, text: &'t str, at: usize) -> (&'t str, &'t str) {
        text.cut(beyond(text, at))
    }

    fn fold<F: Folder<&'t str>>(self, text: &'t str, open: usize, folder: F) -> F {
        let cut = self.0.last_in(&text[..open]);
        let pieces = |front| self.0.after(front);
        let last = |text: &'t str| (!text.is_empty()).then_some(text);
        fold_pieces(self, text, cut, pieces, last, folder)
    }
}

/// A rule with a reading of its own: where it cuts, on which side of the cut the matched
/// character goes, and how a leaf is read.
macro_rules! rule {
    ($(#[$meta:meta])* $rule:ident: $pattern:expr, $side:ident, $leaf:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        struct $rule;

        impl<'t> Rule<&'t str> for $rule {
            fn first(self, text: &&'t str, range: Range<usize>) -> Option<usize> {
                $side(&$pattern).first(text, range)
            }

            fn cut(self, text: &'t str, at: usize) -> (&'t str, &'t str) {
                $side(&$pattern).cut(text, at)
            }

            /// The last piece is read a second time. Where pieces are short, to have it apart costs more.
            fn fold<F: Folder<&'t str>>(self, text: &'t str, _: usize, folder: F) -> F {
                folder.consume_iter($leaf(text))
            }
        }
    };
}

rule! {
    /// Words end at white space.
    Words: char::is_whitespace, Between, EachWord::new
}
rule! {
    /// Words end at ASCII white space.
    AsciiWords: |c: char| c.is_ascii_whitespace(), Between, str::split_ascii_whitespace
}
rule! {
    /// A line ends after its line feed.
    ByLine: '\n', After, str::lines
}

/// Parallel iterator over the substrings between matches of a pattern.
///
/// Made by [`par_split`](super::ParallelString::par_split).
///
/// ```
/// use tine::{str::Split, prelude::*};
///
/// let fields: Split<'_, _> = "a,b".par_split(',');
/// assert_eq!(fields.collect::<Vec<_>>(), ["a", "b"]);
/// ```
#[derive(Debug, Clone)]
pub struct Split<'ch, P> {
    pub(super) text: &'ch str,
    pub(super) pattern: P,
}

unindexed! {
    ['ch, P: Pattern] Split<'ch, P> => &'ch str;
    stretch(it) Pieces::new(it.text, Between(&it.pattern));
}

/// Parallel iterator over the substrings that end after a match of a pattern.
///
/// Made by [`par_split_inclusive`](super::ParallelString::par_split_inclusive).
///
/// ```
/// use tine::{str::SplitInclusive, prelude::*};
///
/// let fields: SplitInclusive<'_, _> = "a,b".par_split_inclusive(',');
/// assert_eq!(fields.collect::<Vec<_>>(), ["a,", "b"]);
/// ```
#[derive(Debug, Clone)]
pub struct SplitInclusive<'ch, P> {
    pub(super) text: &'ch str,
    pub(super) pattern: P,
}

unindexed! {
    ['ch, P: Pattern] SplitInclusive<'ch, P> => &'ch str;
    stretch(it) Pieces::new(it.text, After(&it.pattern));
}

/// Parallel iterator over the substrings that a pattern terminates.
///
/// Made by [`par_split_terminator`](super::ParallelString::par_split_terminator).
///
/// ```
/// use tine::{str::SplitTerminator, prelude::*};
///
/// let fields: SplitTerminator<'_, _> = "a;b;".par_split_terminator(';');
/// assert_eq!(fields.collect::<Vec<_>>(), ["a", "b"]);
/// ```
#[derive(Debug, Clone)]
pub struct SplitTerminator<'ch, P> {
    pub(super) text: &'ch str,
    pub(super) pattern: P,
}

impl<'ch, P: Pattern> ParallelIterator for SplitTerminator<'ch, P> {
    type Item = &'ch str;

    const KEEPS_ALL: bool = true;

    /// A terminator at the very end begins no further substring.
    fn drive_unindexed<C: UnindexedConsumer<&'ch str>>(self, consumer: C) -> C::Result {
        if self.text.is_empty() {
            return empty().drive_unindexed(consumer);
        }
        let text = self.pattern.strip_end(self.text).unwrap_or(self.text);
        bridge_stretch(Pieces::new(text, Between(&self.pattern)), consumer)
    }
}

/// Parallel iterator over the lines of a string.
///
/// Made by [`par_lines`](super::ParallelString::par_lines).
///
/// ```
/// use tine::{str::Lines, prelude::*};
///
/// let lines: Lines<'_> = "one\ntwo\n".par_lines();
/// assert_eq!(lines.collect::<Vec<_>>(), ["one", "two"]);
/// ```
#[derive(Debug, Clone)]
pub struct Lines<'ch>(pub(super) &'ch str);

unindexed! { ['ch] Lines<'ch> => &'ch str; stretch(it) Pieces::new(it.0, ByLine) }

impl<'ch> Lines<'ch> {
    /// The lines with their numbers, from zero. They are counted first, when the iterator runs.
    ///
    /// (Other iterators of unknown length have no `enumerate`. Here it is a method of the type
    /// itself, and so has to come before other adapters.)
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let text = "one\ntwo\nthree\n";
    /// let found = text.par_lines().enumerate().find_first(|(_, line)| line.contains("w"));
    /// assert_eq!(found, Some((1, "two")));
    /// ```
    pub fn enumerate(self) -> NumberedLines<'ch> {
        NumberedLines(self.0)
    }
}

/// Parallel iterator over the words of a string.
///
/// Made by [`par_split_whitespace`](super::ParallelString::par_split_whitespace).
///
/// ```
/// use tine::{str::SplitWhitespace, prelude::*};
///
/// let words: SplitWhitespace<'_> = " a  fork ".par_split_whitespace();
/// assert_eq!(words.collect::<Vec<_>>(), ["a", "fork"]);
/// ```
#[derive(Debug, Clone)]
pub struct SplitWhitespace<'ch>(pub(super) &'ch str);

unindexed! { ['ch] SplitWhitespace<'ch> => &'ch str; stretch(it) Pieces::new(it.0, Words) }

/// Parallel iterator over the words of a string, separated by ASCII white space.
///
/// Made by [`par_split_ascii_whitespace`](super::ParallelString::par_split_ascii_whitespace).
///
/// ```
/// use tine::{str::SplitAsciiWhitespace, prelude::*};
///
/// let words: SplitAsciiWhitespace<'_> = " a  fork ".par_split_ascii_whitespace();
/// assert_eq!(words.collect::<Vec<_>>(), ["a", "fork"]);
/// ```
#[derive(Debug, Clone)]
pub struct SplitAsciiWhitespace<'ch>(pub(super) &'ch str);

unindexed! {
    ['ch] SplitAsciiWhitespace<'ch> => &'ch str;
    stretch(it) Pieces::new(it.0, AsciiWords);
}

#[cfg(test)]
mod tests {
    use super::{After, AsciiWords, Between, ByLine, Pieces, Words};
    use crate::sources::stretch::tests::agrees;

    #[test]
    fn at_any_place() {
        for text in [
            "",
            "x",
            "\n",
            "no end",
            "a é\u{2003}中 b\r\n\n c",
            "  \n\u{3000}",
            "🦀🦀\n🦀",
        ] {
            agrees(|| Pieces::new(text, Words));
            agrees(|| Pieces::new(text, AsciiWords));
            agrees(|| Pieces::new(text, ByLine));
            for pattern in [' ', 'é', '🦀', '\n'] {
                agrees(|| Pieces::new(text, Between(&pattern)));
                agrees(|| Pieces::new(text, After(&pattern)));
            }
        }
    }
}
