//! Parallel iterators over strings.
//!
//! The trait [`ParallelString`] adds its methods to `str`, and so to `String`. A *pattern* is a
//! `char`, a `&[char]`, a `[char; N]`, a `&[char; N]`, or a closure `Fn(char) -> bool`; its trait
//! is private.
#![forbid(unsafe_code)]

mod chars;
mod numbered;
mod pattern;
mod split;
mod words;

pub use chars::{Bytes, CharIndices, Chars, EncodeUtf16, MatchIndices, Matches};
pub use numbered::{ByteLines, NumberedByteLines, NumberedLines};
use pattern::Pattern;
pub use split::{
    Lines, Split, SplitAsciiWhitespace, SplitInclusive, SplitTerminator, SplitWhitespace,
};

/// Parallel iterators over a string: its characters, lines, words and matches.
///
/// ```
/// use tine::prelude::*;
///
/// let text = "a fork\nhas tines\n";
/// assert_eq!(text.par_lines().map(str::len).max(), Some(9));
/// assert_eq!(text.par_split_whitespace().count(), 4);
/// ```
pub trait ParallelString {
    /// The string that all other methods read.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert_eq!(String::from("abc").as_parallel_string(), "abc");
    /// ```
    fn as_parallel_string(&self) -> &str;

    /// The characters.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert_eq!("hello".par_chars().max(), Some('o'));
    /// ```
    fn par_chars(&self) -> Chars<'_> {
        Chars {
            text: self.as_parallel_string(),
        }
    }

    /// The characters and the positions of their first bytes.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let found = "déjà".par_char_indices().find_first(|&(_, c)| c == 'j');
    /// assert_eq!(found, Some((3, 'j')));
    /// ```
    fn par_char_indices(&self) -> CharIndices<'_> {
        CharIndices {
            text: self.as_parallel_string(),
        }
    }

    /// The bytes.
    ///
    /// The bytes of one character stay on one thread. If that does not matter,
    /// `as_bytes().par_iter()` is the indexed way to the same items.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert_eq!("hello".par_bytes().filter(|&byte| byte == b'l').count(), 2);
    /// ```
    fn par_bytes(&self) -> Bytes<'_> {
        Bytes {
            text: self.as_parallel_string(),
        }
    }

    /// The UTF-16 code units. The two of a surrogate pair stay on one thread.
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// assert_eq!("ſ𝄞".par_encode_utf16().count(), 3);
    /// ```
    fn par_encode_utf16(&self) -> EncodeUtf16<'_> {
        EncodeUtf16 {
            text: self.as_parallel_string(),
        }
    }

    /// The substrings between matches of `separator`, like [`str::split`].
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let total: i32 = "1,2,x,3".par_split(',').filter_map(|s| s.parse::<i32>().ok()).sum();
    /// assert_eq!(total, 6);
    /// ```
    fn par_split<P: Pattern>(&self, separator: P) -> Split<'_, P> {
        Split {
            text: self.as_parallel_string(),
            pattern: separator,
        }
    }

    /// The substrings that end after a match of `separator`, like
    /// [`str::split_inclusive`].
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let sentences: Vec<&str> = "To be. Or not? ".par_split_inclusive(['.', '?']).collect();
    /// assert_eq!(sentences, ["To be.", " Or not?", " "]);
    /// ```
    fn par_split_inclusive<P: Pattern>(&self, separator: P) -> SplitInclusive<'_, P> {
        SplitInclusive {
            text: self.as_parallel_string(),
            pattern: separator,
        }
    }

    /// The substrings between matches of `terminator`, without the empty one
    /// after a match at the very end, like [`str::split_terminator`].
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let statements: Vec<&str> = "a; b;".par_split_terminator(';').collect();
    /// assert_eq!(statements, ["a", " b"]);
    /// ```
    fn par_split_terminator<P: Pattern>(&self, terminator: P) -> SplitTerminator<'_, P> {
        SplitTerminator {
            text: self.as_parallel_string(),
            pattern: terminator,
        }
    }

    /// The lines, without their `\n` or `\r\n`, like [`str::lines`].
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let lengths: Vec<usize> = "hello\r\nyou\n".par_lines().map(str::len).collect();
    /// assert_eq!(lengths, [5, 3]);
    /// ```
    fn par_lines(&self) -> Lines<'_> {
        Lines(self.as_parallel_string())
    }

    /// The words: substrings without white space, like [`str::split_whitespace`].
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let words: Vec<&str> = " Mary had\ta\u{2009}lamb\n".par_split_whitespace().collect();
    /// assert_eq!(words, ["Mary", "had", "a", "lamb"]);
    /// ```
    fn par_split_whitespace(&self) -> SplitWhitespace<'_> {
        SplitWhitespace(self.as_parallel_string())
    }

    /// The words, where only ASCII white space counts, like
    /// [`str::split_ascii_whitespace`].
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let words: Vec<&str> = " Mary had\ta\u{2009}lamb\n".par_split_ascii_whitespace().collect();
    /// assert_eq!(words, ["Mary", "had", "a\u{2009}lamb"]);
    /// ```
    fn par_split_ascii_whitespace(&self) -> SplitAsciiWhitespace<'_> {
        SplitAsciiWhitespace(self.as_parallel_string())
    }

    /// The parts that match `pattern`, like [`str::matches`].
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let digits: String = "a1b22".par_matches(char::is_numeric).collect();
    /// assert_eq!(digits, "122");
    /// ```
    fn par_matches<P: Pattern>(&self, pattern: P) -> Matches<'_, P> {
        Matches {
            text: self.as_parallel_string(),
            pattern,
        }
    }

    /// The parts that match `pattern` and their positions, like
    /// [`str::match_indices`].
    ///
    /// ```
    /// use tine::prelude::*;
    ///
    /// let digits: Vec<(usize, &str)> =
    ///     "a1b22".par_match_indices(char::is_numeric).collect();
    /// assert_eq!(digits, [(1, "1"), (3, "2"), (4, "2")]);
    /// ```
    fn par_match_indices<P: Pattern>(&self, pattern: P) -> MatchIndices<'_, P> {
        MatchIndices {
            text: self.as_parallel_string(),
            pattern,
        }
    }
}

impl ParallelString for str {
    #[inline]
    fn as_parallel_string(&self) -> &str {
        self
    }
}
