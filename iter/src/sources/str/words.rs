//! Words, one after the other, as `split_whitespace` has them. ASCII bytes are checked one by one,
//! and only other characters are decoded.
#![forbid(unsafe_code)]

use std::iter::FusedIterator;

/// The words of a text.
pub(super) struct EachWord<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> EachWord<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        EachWord { text, at: 0 }
    }

    /// Whether the character at `at` is white space, and where the next one begins.
    #[inline(always)]
    fn look(&self, at: usize, byte: u8) -> (bool, usize) {
        match byte {
            0..128 => (matches!(byte, b' ' | b'\t'..=b'\r'), at + 1),
            _ => self.decode(at),
        }
    }

    #[inline(never)]
    fn decode(&self, at: usize) -> (bool, usize) {
        let c = self.text[at..].chars().next().unwrap_or_default();
        (c.is_whitespace(), at + c.len_utf8())
    }
}

impl<'t> Iterator for EachWord<'t> {
    type Item = &'t str;

    #[inline(always)]
    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        while let Some(&byte) = bytes.get(start) {
            match self.look(start, byte) {
                (true, next) => start = next,
                (false, mut end) => {
                    self.at = loop {
                        // Most bytes are neither white space, nor control characters, nor part of a long
                        // character.
                        let is_rare = |byte: &u8| byte.wrapping_sub(b'!') >= 128 - b'!';
                        let rest = bytes.get(end..).unwrap_or_default();
                        match rest.iter().position(is_rare) {
                            Some(plain) => end += plain,
                            None => {
                                end = bytes.len();
                                break end;
                            }
                        }
                        match self.look(end, bytes[end]) {
                            (true, next) => break next,
                            (false, next) => end = next,
                        }
                    };
                    return Some(&self.text[start..end]);
                }
            }
        }
        self.at = start;
        None
    }
}

impl FusedIterator for EachWord<'_> {}

#[cfg(test)]
mod tests {
    use super::EachWord;

    #[test]
    fn as_std_has_them() {
        // Every white-space character, some characters that nearly are white space, and some of each length.
        let all = (0..=0x3100).filter_map(char::from_u32);
        let white: Vec<char> = all.filter(|c| c.is_whitespace()).collect();
        assert!(white.len() > 20);
        for &space in &white {
            for word in ["a", "é", "\u{200B}", "中文", "🦀b", "\u{1C}", "\u{7F}"] {
                for text in [
                    format!("{word}{space}{word}"),
                    format!("{space}{space}{word}{space}"),
                    word.to_string(),
                    format!("{space}"),
                    format!(" {word}{word}{space} {word}"),
                ] {
                    let mut ours = EachWord::new(&text);
                    let words: Vec<_> = ours.by_ref().collect();
                    assert_eq!(
                        words,
                        text.split_whitespace().collect::<Vec<_>>(),
                        "{text:?}"
                    );
                    assert_eq!(ours.next(), None);
                }
            }
        }
        assert_eq!(EachWord::new("").next(), None);
    }
}
