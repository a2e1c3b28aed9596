//! Lines of bytes, numbered lines, substrings.

use quickcheck::quickcheck;
use tine_iter::algorithms::{ParallelBytes, ParallelStringSearch};
use tine_iter::prelude::*;

use crate::kit::{bomb, in_pools, numbers, panics};

/// Text of few letters, many of which end lines.
fn text(letters: &[u8]) -> String {
    let letter = |byte: &u8| ['\n', '\r', 'a', 'é', '\n'][usize::from(byte % 5)];
    letters.iter().map(letter).collect()
}

fn check(text: &str) {
    let numbered: Vec<(usize, &str)> = text.lines().enumerate().collect();
    let bytes: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    let found: Vec<_> = text.par_lines().enumerate().collect();
    assert!(found == numbered, "{} bytes", text.len());
    assert!(text.as_bytes().par_lines().collect::<Vec<_>>() == bytes);
    let found: Vec<_> = text.as_bytes().par_lines().enumerate().collect();
    assert!(found == bytes.into_iter().enumerate().collect::<Vec<_>>());
}

quickcheck! {
    fn lines_as_std(letters: Vec<u8>) -> bool {
        check(&text(&letters));
        true
    }

    fn finds_as_std(letters: Vec<u8>, needle: Vec<u8>) -> bool {
        let (text, needle) = (text(&letters), text(&needle[..needle.len().min(4)]));
        text.par_find_str(&needle) == text.find(&needle)
    }
}

#[test]
fn long_texts() {
    for len in [1000, 30_000, 65_535, 65_536, 200_000] {
        for line in [1, 3, 80, 10_000, 1_000_000] {
            let letters = numbers(len, 26);
            let mut text: String = letters.iter().map(|&n| (b'a' + n as u8) as char).collect();
            for at in (line..len).step_by(line + 1) {
                text.replace_range(at..at + 1, "\n");
            }
            in_pools(|| check(&text));
            text.push_str("end\r\n");
            in_pools(|| check(&text));
            text.push('\r');
            in_pools(|| check(&text));
        }
    }
    check("");
    check("\n");
    check(&"\n".repeat(100_000));
}

#[test]
fn a_substring_is_found_wherever_it_lies() {
    let len = 100_000;
    for needle_len in [1, 2, 100, 5_000] {
        let needle: String = "ß".repeat(needle_len) + "!";
        for at in [0, 1, 16_383, 16_384, 32_000, len - needle.len()] {
            let text = "é".repeat(at / 2) + &"x".repeat(at % 2) + &needle + &"ß".repeat(len);
            in_pools(|| assert_eq!(text.par_find_str(&needle), Some(at)));
        }
        let text = "ß".repeat(len);
        in_pools(|| assert_eq!(text.par_find_str(&needle), None));
    }
}

#[test]
fn panics_reach_the_caller() {
    in_pools(|| {
        for lines in [100, 50_000] {
            let text = "a line\n".repeat(lines);
            let numbers = text.par_lines().enumerate();
            assert!(panics(|| numbers.for_each(|(n, _)| bomb(n, lines / 2))));
            let numbers = text.as_bytes().par_lines().enumerate();
            assert!(panics(|| numbers.for_each(|(n, _)| bomb(n, lines / 2))));
        }
    });
}
