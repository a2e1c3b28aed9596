//! Text of every kind.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use quickcheck::quickcheck;
use tine_iter::prelude::*;

use crate::kit::{hidden, in_pools};

quickcheck! {
    fn of_chars(start: String, chars: Vec<char>) -> bool {
        let expected = start.clone() + &chars.iter().collect::<String>();
        let mut by_value = start.clone();
        by_value.par_extend(chars.clone());
        let mut by_reference = start;
        by_reference.par_extend(&chars);
        let boxed: Box<str> = chars.par_iter().collect();
        by_value == expected && by_reference == expected && expected.ends_with(&*boxed)
    }

    fn of_strings(start: String, parts: Vec<String>) -> bool {
        let expected = start.clone() + &parts.concat();
        let mut all: [String; 4] = std::array::from_fn(|_| start.clone());
        all[0].par_extend(hidden(parts.clone()));
        all[1].par_extend(parts.par_iter().map(|part| &**part));
        all[2].par_extend(parts.par_iter().map(|part| part.clone().into_boxed_str()));
        all[3].par_extend(parts.par_iter().map(|part| Cow::from(&**part)));
        all.iter().all(|text| *text == expected)
    }

    fn boxed(parts: Vec<String>) -> bool {
        let expected = parts.concat().into_boxed_str();
        let slices = || parts.par_iter().map(|part| &**part);
        [
            parts.clone().into_par_iter().collect::<Box<str>>(),
            slices().collect(),
            slices().map(Box::<str>::from).collect(),
            slices().map(Cow::from).collect(),
            slices().collect::<Cow<'_, str>>().into(),
        ]
        .iter()
        .all(|text| *text == expected)
    }

    fn of_the_system(start: String, parts: Vec<String>) -> bool {
        let expected = OsString::from(start.clone() + &parts.concat());
        let slices = || parts.par_iter().map(OsStr::new);
        let mut all: [OsString; 3] = std::array::from_fn(|_| OsString::from(&start));
        all[0].par_extend(slices());
        all[1].par_extend(slices().map(OsString::from));
        all[2].par_extend(slices().map(Cow::from));
        let collected: OsString = hidden(parts.clone()).map(OsString::from).collect();
        all.iter().all(|text| *text == expected) && collected == *parts.concat()
    }
}

#[test]
fn long_text() {
    in_pools(|| {
        let chars: Vec<char> = ('a'..='z')
            .chain("äß€🦀".chars())
            .cycle()
            .take(300_000)
            .collect();
        let expected: String = chars.iter().collect();
        assert_eq!(hidden(chars.clone()).collect::<String>(), expected);
        let mut text = String::from("ö");
        text.par_extend(&chars);
        assert_eq!(text.strip_prefix('ö'), Some(&*expected));
    });
}
