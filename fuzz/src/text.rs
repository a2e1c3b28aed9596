//! Text that is cut in parallel, against std's ways to cut it.

use crate::bytes::Bytes;
use crate::pools;
use std::fmt::Debug;
use tine_iter::prelude::*;

/// std's trait of patterns cannot be named, so a macro repeats the code for each type.
macro_rules! patterns {
    ($text:expr, $pattern:expr) => {{
        let text = &*$text;
        same(text.par_split($pattern), text.split($pattern));
        same(
            text.par_split_inclusive($pattern),
            text.split_inclusive($pattern),
        );
        same(
            text.par_split_terminator($pattern),
            text.split_terminator($pattern),
        );
        same(text.par_matches($pattern), text.matches($pattern));
        same(
            text.par_match_indices($pattern),
            text.match_indices($pattern),
        );
    }};
}

/// Cuts the text in `bytes` in every way that there is, by the patterns at the beginning of `bytes`.
pub fn run(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let (how, pick) = (bytes.u8(), bytes.u8());
    let text = if how % 2 == 0 {
        String::from_utf8_lossy(bytes.rest()).into_owned()
    } else {
        bytes.rest().iter().map(|&byte| letter(byte)).collect()
    };
    let some = [letter(pick), letter(pick / 16), '\u{e9}'];
    for pool in pools() {
        pool.install(|| {
            characters(&text);
            match how / 2 % 5 {
                0 => patterns!(text, some[0]),
                1 => patterns!(text, &some[..usize::from(pick % 4)]),
                2 => patterns!(text, some),
                3 => patterns!(text, &some),
                _ => patterns!(text, |c: char| c.is_ascii_punctuation()
                    || some.contains(&c)),
            }
        });
    }
}

/// One of a few characters of all lengths, mostly characters that some way to cut treats specially.
fn letter(byte: u8) -> char {
    const LETTERS: [char; 16] = [
        'a',
        ' ',
        '\n',
        '\r',
        ',',
        '.',
        '\t',
        '\u{b}',
        '\u{85}',
        '\u{a0}',
        '\u{e9}',
        '\u{2028}',
        '\u{3000}',
        '\u{20ac}',
        '\u{1f374}',
        '\u{10ffff}',
    ];
    LETTERS[usize::from(byte % 16)]
}

fn same<T: PartialEq + Debug + Send>(
    ours: impl ParallelIterator<Item = T>,
    theirs: impl Iterator<Item = T>,
) {
    let wanted: Vec<_> = theirs.collect();
    assert_eq!(ours.collect::<Vec<_>>(), wanted);
}

fn characters(text: &str) {
    same(text.par_chars(), text.chars());
    same(text.par_char_indices(), text.char_indices());
    same(text.par_bytes(), text.bytes());
    same(text.par_encode_utf16(), text.encode_utf16());
    same(text.par_lines(), text.lines());
    same(text.par_split_whitespace(), text.split_whitespace());
    same(
        text.par_split_ascii_whitespace(),
        text.split_ascii_whitespace(),
    );
}

#[cfg(test)]
#[test]
fn seeds() {
    crate::run_seeds("text", run);
}
