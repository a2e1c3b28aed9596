//! Strings: by character, and by every kind of pattern.

use crate::kit::twin;
use quickcheck::quickcheck;
use tine_iter::prelude::*;

/// Every method that takes a pattern, for one pattern.
macro_rules! by_pattern {
    ($text:expr, $pattern:expr) => {
        twin!(let s = $text; s.par_split($pattern), s.split($pattern));
        twin!(let s = $text; s.par_split_inclusive($pattern), s.split_inclusive($pattern));
        twin!(let s = $text; s.par_split_terminator($pattern), s.split_terminator($pattern));
        twin!(let s = $text; s.par_matches($pattern), s.matches($pattern));
        twin!(let s = $text; s.par_match_indices($pattern), s.match_indices($pattern));
    };
}

fn everything(text: &str) {
    twin!(let s = text; s.par_chars(), s.chars());
    twin!(let s = text; s.par_char_indices(), s.char_indices());
    twin!(let s = text; s.par_bytes(), s.bytes());
    twin!(let s = text; s.par_encode_utf16(), s.encode_utf16());
    twin!(let s = text; s.par_lines(), s.lines());
    twin!(let s = text; s.par_split_whitespace(), s.split_whitespace());
    twin!(let s = text; s.par_split_ascii_whitespace(), s.split_ascii_whitespace());
    let several = ['\n', 'é', '\u{1F600}'];
    by_pattern!(text, 'a');
    by_pattern!(text, 'é');
    by_pattern!(text, &several[..]);
    by_pattern!(text, several);
    by_pattern!(text, &several);
    by_pattern!(text, char::is_whitespace);
    by_pattern!(text, |c: char| !c.is_ascii());
}

#[test]
fn short_strings() {
    // Every string of up to three of these, and some of four.
    let letters = ["a", "é", "\u{1F600}", "\n", "\r", " "];
    let mut texts = vec![String::new()];
    for begin in 0..4 {
        let longer: Vec<String> = texts
            .iter()
            .filter(|text| text.chars().count() == begin)
            .flat_map(|text| letters.map(|letter| format!("{text}{letter}")))
            .collect();
        texts.extend(longer);
    }
    let all = texts.iter().filter(|text| text.chars().count() < 4);
    let longest = texts.iter().filter(|text| text.chars().count() == 4);
    for text in all.chain(longest.step_by(7)) {
        everything(text);
    }
}

#[test]
fn long_strings() {
    everything(&"a".repeat(3000));
    everything(&"bcd".repeat(1000));
    everything(&"é\n".repeat(700));
    everything(&"\u{1F600}".repeat(800));
    everything(&format!("{}é{}", "x".repeat(40), "y".repeat(2500)));
    everything(&format!(
        "{} \r\n{}\r",
        "x".repeat(2500),
        "\u{2009}".repeat(40)
    ));
    everything(&" ".repeat(1000));
}

quickcheck! {
    fn random_unicode(text: String) -> bool {
        everything(&text);
        true
    }

    fn random_words(bytes: Vec<u8>) -> bool {
        let letters = ['a', 'b', 'é', '\u{1F600}', '\n', '\r', ' ', '\u{2009}', '\t', 'a'];
        let text: String = bytes.iter().map(|&byte| letters[usize::from(byte) % 10]).collect();
        everything(&text);
        true
    }

    fn drains(text: String, from: usize, len: usize) -> bool {
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let from = from % places.len();
        let to = from + len % (places.len() - from);
        let range = places[from]..places[to];
        twin!(let s = &mut text.clone(); s.par_drain(range.clone()), s.drain(range.clone()));
        let (mut par, mut seq) = (text.clone(), text.clone());
        par.par_drain(range.clone()).for_each(drop);
        seq.drain(range.clone());
        let mut unused = text.clone();
        drop(unused.par_drain(range));
        par == seq && unused == seq
    }
}

#[test]
#[should_panic(expected = "within a character")]
fn a_drain_that_cuts_a_character() {
    let _ = String::from("aé").par_drain(..2);
}

#[test]
#[should_panic(expected = "out of bounds for length 3")]
fn a_drain_beyond_the_end() {
    let _ = String::from("aé").par_drain(1..4);
}

#[test]
fn clone_and_debug() {
    let split = "a,b".par_split(',');
    assert_eq!(format!("{:?}", split.clone()), format!("{split:?}"));
    assert!(format!("{:?}", "a b".par_lines()).contains("a b"));
}
