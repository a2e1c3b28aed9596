//! Character by character: text that is cut at any character boundary.
#![forbid(unsafe_code)]

use super::pattern::Pattern;
use crate::plumbing::Folder;
use crate::sources::body::Body;
use crate::sources::kit::unindexed;
use crate::sources::stretch::Stretch;
use std::ops::Range;

/// A way to read a text that may be cut between any two characters.
trait Reading<'t>: Copy + Send {
    type Item;

    /// Feeds the items of `text` to a folder; `base` is where in the whole it begins.
    fn fold<F: Folder<Self::Item>>(self, text: &'t str, base: usize, folder: F) -> F;
}

/// A reading of those characters of a text that begin at some of its bytes.
struct Text<'t, R> {
    text: &'t str,
    bytes: Range<usize>,
    reading: R,
}

fn whole<R>(text: &str, reading: R) -> Text<'_, R> {
    Text {
        text,
        bytes: 0..text.len(),
        reading,
    }
}

impl<'t, R: Reading<'t>> Stretch for Text<'t, R> {
    type Item = R::Item;

    fn reach(&self) -> usize {
        self.bytes.len()
    }

    fn part(self, at: usize) -> (Self, Self) {
        let Range { start, end } = self.bytes;
        assert!(at <= end - start, "{} bytes were cut at {at}", end - start);
        let (left, right) = (start..start + at, start + at..end);
        (
            Text {
                bytes: left,
                ..self
            },
            Text {
                bytes: right,
                ..self
            },
        )
    }

    fn feed<F: Folder<R::Item>>(self, folder: F) -> F {
        let start = self.text.boundary(self.bytes.start);
        let end = self.text.boundary(self.bytes.end);
        self.reading.fold(&self.text[start..end], start, folder)
    }
}

/// A public iterator that reads a text through a unit struct.
macro_rules! reader {
    ($(#[$meta:meta])* $name:ident => $item:ty; ($text:ident, $base:ident) $items:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        pub struct $name<'ch> {
            pub(super) text: &'ch str,
        }

        const _: () = {
            #[derive(Clone, Copy)]
            struct Read;

            impl<'t> Reading<'t> for Read {
                type Item = $item;

                fn fold<F: Folder<$item>>(self, $text: &'t str, $base: usize, folder: F) -> F {
                    folder.consume_iter($items)
                }
            }

            unindexed! { ['ch] $name<'ch> => $item; stretch(it) whole(it.text, Read) }
        };
    };
}

reader! {
    /// Parallel iterator over the characters of a string.
    ///
    /// Made by [`par_chars`](super::ParallelString::par_chars).
    ///
    /// ```
    /// use tine::{str::Chars, prelude::*};
    ///
    /// let letters: Chars<'_> = "tine".par_chars();
    /// assert_eq!(letters.max(), Some('t'));
    /// ```
    Chars => char; (text, _base) text.chars()
}
reader! {
    /// Parallel iterator over the characters of a string and their positions.
    ///
    /// Made by [`par_char_indices`](super::ParallelString::par_char_indices).
    ///
    /// ```
    /// use tine::{str::CharIndices, prelude::*};
    ///
    /// let letters: CharIndices<'_> = "né".par_char_indices();
    /// assert_eq!(letters.collect::<Vec<_>>(), [(0, 'n'), (1, 'é')]);
    /// ```
    CharIndices => (usize, char);
    (text, base) text.char_indices().map(|(at, c)| (base + at, c))
}
reader! {
    /// Parallel iterator over the bytes of a string.
    ///
    /// Made by [`par_bytes`](super::ParallelString::par_bytes).
    ///
    /// ```
    /// use tine::{str::Bytes, prelude::*};
    ///
    /// let bytes: Bytes<'_> = "é".par_bytes();
    /// assert_eq!(bytes.count(), 2);
    /// ```
    Bytes => u8; (text, _base) text.bytes()
}
reader! {
    /// Parallel iterator over a string encoded as UTF-16.
    ///
    /// Made by [`par_encode_utf16`](super::ParallelString::par_encode_utf16).
    ///
    /// ```
    /// use tine::{str::EncodeUtf16, prelude::*};
    ///
    /// let units: EncodeUtf16<'_> = "é".par_encode_utf16();
    /// assert_eq!(units.count(), 1);
    /// ```
    EncodeUtf16 => u16; (text, _base) text.encode_utf16()
}

/// Parallel iterator over the parts of a string that match a pattern.
///
/// Made by [`par_matches`](super::ParallelString::par_matches).
///
/// ```
/// use tine::{str::Matches, prelude::*};
///
/// let digits: Matches<'_, _> = "a1b22".par_matches(char::is_numeric);
/// assert_eq!(digits.count(), 3);
/// ```
#[derive(Debug, Clone)]
pub struct Matches<'ch, P> {
    pub(super) text: &'ch str,
    pub(super) pattern: P,
}

/// Parallel iterator over the parts of a string that match a pattern, and their
/// positions.
///
/// Made by [`par_match_indices`](super::ParallelString::par_match_indices).
///
/// ```
/// use tine::{str::MatchIndices, prelude::*};
///
/// let commas: MatchIndices<'_, _> = "a,b,c".par_match_indices(',');
/// assert_eq!(commas.collect::<Vec<_>>(), [(1, ","), (3, ",")]);
/// ```
#[derive(Debug, Clone)]
pub struct MatchIndices<'ch, P> {
    pub(super) text: &'ch str,
    pub(super) pattern: P,
}

struct ReadMatches<'p, P>(&'p P);

struct ReadMatchIndices<'p, P>(&'p P);

impl<P> Clone for ReadMatches<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for ReadMatches<'_, P> {}

impl<P> Clone for ReadMatchIndices<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for ReadMatchIndices<'_, P> {}

impl<'t, P: Pattern> Reading<'t> for ReadMatches<'_, P> {
    type Item = &'t str;

    fn fold<F: Folder<&'t str>>(self, text: &'t str, _: usize, folder: F) -> F {
        self.0.fold_matches(text, folder)
    }
}

impl<'t, P: Pattern> Reading<'t> for ReadMatchIndices<'_, P> {
    type Item = (usize, &'t str);

    fn fold<F: Folder<(usize, &'t str)>>(self, text: &'t str, base: usize, folder: F) -> F {
        self.0.fold_match_indices(text, base, folder)
    }
}

unindexed! {
    ['ch, P: Pattern] Matches<'ch, P> => &'ch str;
    stretch(it) whole(it.text, ReadMatches(&it.pattern));
}

unindexed! {
    ['ch, P: Pattern] MatchIndices<'ch, P> => (usize, &'ch str);
    stretch(it) whole(it.text, ReadMatchIndices(&it.pattern));
}

#[cfg(test)]
mod tests {
    use super::{ReadMatchIndices, whole};
    use crate::sources::stretch::tests::agrees;

    #[test]
    fn at_any_place() {
        for text in ["", "a", "né 🦀 中中", "🦀"] {
            agrees(|| whole(text, ReadMatchIndices(&|c: char| c != ' ')));
        }
    }
}
