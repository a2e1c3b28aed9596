//! The rules, tried on small crates: each rule must complain about what it is there for, and about nothing
//! else.

use crate::rules::{Crate, File, complaints};

const SAMPLE: Crate = Crate {
    source: "sample",
    layers: &[
        &["low"],
        &["mid", "other"],
        &["nest::inner"],
        &["nest"],
        &["top"],
    ],
    may_look_up: &["other"],
    may_be_unsafe: &["low"],
    for_tests: &["tests"],
};

/// The complaints about `text` as the file `path`, beside an innocent file for
/// each entry of the table; `text` is preceded by the line that forbids unsafe code.
fn about(path: &str, text: &str) -> Vec<String> {
    let forbid = "#![forbid(unsafe_code)]\n";
    let names = [
        "lib.rs",
        "low.rs",
        "mid.rs",
        "other.rs",
        "nest/mod.rs",
        "nest/inner.rs",
        "top.rs",
    ];
    let mut files: Vec<File> = names
        .iter()
        .filter(|name| **name != path)
        .map(|name| File {
            path: (*name).to_owned(),
            text: forbid.to_owned(),
        })
        .collect();
    files.push(File {
        path: path.to_owned(),
        text: format!("{forbid}{text}"),
    });
    complaints(&SAMPLE, &files)
}

#[track_caller]
fn passes(path: &str, text: &str) {
    let found = about(path, text);
    assert!(found.is_empty(), "{path}: {text}\n{}", found.join("\n"));
}

#[track_caller]
fn fails(path: &str, text: &str, with: &str) {
    let found = about(path, text);
    assert_eq!(found.len(), 1, "{path}: {text}\n{}", found.join("\n"));
    assert!(found[0].contains(with), "{}", found[0]);
    assert!(
        found[0].starts_with(&format!("sample/{path}:")),
        "{}",
        found[0]
    );
}

#[test]
fn a_path_leads_down() {
    passes("mid.rs", "use crate::low::{self, A, b::C};");
    passes(
        "top.rs",
        "fn f() -> crate::low::A { crate::mid::g::<u8>() }",
    );
    passes(
        "nest/inner.rs",
        "use super::super::low::A; use crate::mid::B;",
    );
    passes("lib.rs", "mod low; pub use crate::top::A; pub use top::B;");
    fails(
        "low.rs",
        "use crate::mid::A;",
        "`mid::A` (layer 1) is not below `low` (layer 0)",
    );
    fails("low.rs", "fn f() { crate::top::g() }", "top::g");
    fails(
        "low.rs",
        "use crate::{\n    low::A,\n    mid::{self},\n};\n",
        "`mid` (layer 1)",
    );
    fails(
        "nest/inner.rs",
        "use crate::top::A;",
        "not below `nest::inner`",
    );
    fails(
        "mid.rs",
        "macro_rules! m { () => { $crate::top::g() } }",
        "top::g",
    );
}

#[test]
fn siblings_are_strangers() {
    fails("mid.rs", "use crate::other::A;", "`other::A` (layer 1)");
    fails("mid.rs", "use super::other::A;", "other::A");
    fails(
        "mid.rs",
        "mod inline { use super::super::other::A; }",
        "other::A",
    );
}

#[test]
fn a_module_knows_what_is_below_it() {
    passes(
        "nest/mod.rs",
        "mod inner; pub use self::inner::A; use crate::nest::inner::B;",
    );
    passes(
        "mid.rs",
        "mod inline { pub(in crate::mid) struct A; } use self::inline::A;",
    );
    fails("nest/inner.rs", "use super::A;", "`nest::A` (layer 3)");
}

#[test]
fn the_root_is_nobodys_shortcut() {
    fails("top.rs", "use crate::A;", "`A` is reached through the root");
}

#[test]
fn the_sanctioned_exception_may_look_up() {
    passes("other.rs", "use crate::top::A; use crate::mid::B;");
    fails("other.rs", "use crate::top::*;", "imports everything");
}

#[test]
fn imports_are_by_name() {
    fails("top.rs", "use crate::low::*;", "imports everything");
    fails(
        "nest/mod.rs",
        "mod inline { use super::*; }",
        "imports everything",
    );
    fails(
        "nest/mod.rs",
        "mod inline { use super::{inner::A, inner::*}; }",
        "imports everything",
    );
    passes(
        "lib.rs",
        "pub mod prelude { pub use crate::top::*; pub(crate) use crate::low::*; }",
    );
}

#[test]
fn tests_are_free_to_import() {
    passes(
        "low.rs",
        "#[cfg(test)]\nmod tests { use super::*; use crate::top::A; }",
    );
    passes(
        "low.rs",
        "#[cfg(all(test, loom))] mod m { use crate::top::A; }",
    );
    passes("tests.rs", "use super::*; use crate::top::A;");
    fails(
        "low.rs",
        "#[cfg(test)] mod m { mod n { } } use crate::top::A;",
        "top::A",
    );
    fails(
        "low.rs",
        "#[cfg(test)] use crate::mid::A; use crate::top::A;",
        "top::A",
    );
    fails("low.rs", "#[cfg(not(test))] use crate::top::A;", "top::A");
}

#[test]
fn a_module_without_a_layer_fails() {
    fails("stranger.rs", "", "module `stranger` is in no layer");
    fails(
        "nest/deep/mod.rs",
        "use crate::top::A;",
        "not below `nest::deep`",
    );
}

#[test]
fn unsafe_code_stays_in_its_rooms() {
    passes("low.rs", "fn f() { unsafe { g() } }");
    fails("top.rs", "fn f() { unsafe { g() } }", "unsafe code");
    fails("top.rs", "#[unsafe(no_mangle)] fn f() {}", "unsafe code");
    fails("lib.rs", "unsafe fn f() {}", "unsafe code");
}

#[test]
fn every_other_module_forbids_it() {
    let bare = |path: &str, text: &str| {
        let files = [File {
            path: path.to_owned(),
            text: text.to_owned(),
        }];
        complaints(&SAMPLE, &files)
    };
    assert_eq!(
        bare("mid.rs", ""),
        ["sample/mid.rs:1: lacks #![forbid(unsafe_code)]"]
    );
    assert_eq!(bare("mid.rs", "//! #![forbid(unsafe_code)]").len(), 1);
    assert_eq!(bare("mid.rs", "#![deny(unsafe_code)]").len(), 1);
    assert_eq!(
        bare("mid.rs", "//! What\n#![forbid( unsafe_code )]"),
        [""; 0]
    );
    assert_eq!(bare("low.rs", ""), [""; 0]);
    let both = |above: &str, below: &str| {
        let file = |path: &str, text: &str| File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        complaints(
            &SAMPLE,
            &[file("nest/mod.rs", above), file("nest/inner.rs", below)],
        )
    };
    assert_eq!(both("#![forbid(unsafe_code)]", ""), [""; 0]);
    assert_eq!(
        both("", "#![forbid(unsafe_code)]"),
        ["sample/nest/mod.rs:1: lacks #![forbid(unsafe_code)]"]
    );
    // nothing can forbid it above a room where it may be
    assert_eq!(bare("lib.rs", ""), [""; 0]);
}

#[test]
fn comments_and_literals_say_nothing() {
    passes(
        "low.rs",
        "// use crate::top::A;\n/* use /* crate::top::A */ crate::top::B; */",
    );
    passes(
        "low.rs",
        "/// [`crate::top::A`]\nfn f() -> &'static str { \"crate::top::A\" }",
    );
    passes(
        "top.rs",
        "const A: &str = r#\" \" unsafe \"#; const B: char = '\"'; const C: &[u8] = b\"unsafe\";",
    );
    passes(
        "top.rs",
        "fn f<'a>(x: &'a str) -> char { let _ = b'\\''; '\\u{41}' } // \"",
    );
    fails(
        "top.rs",
        "const A: char = '\"'; unsafe fn f() {} const B: char = '\"';",
        "unsafe code",
    );
    fails(
        "low.rs",
        "fn f<'a>() {} use crate::top::A; fn g<'a>() {}",
        "top::A",
    );
    fails(
        "low.rs",
        "const A: u8 = 1_u8; const B: &str = r\"\\\"; use crate::top::A;",
        "top::A",
    );
}

#[test]
fn a_complaint_names_its_line() {
    let found = about(
        "low.rs",
        "\n/* a\nb */\nconst A: &str = \"c\nd\";\nuse crate::top::B;",
    );
    assert!(found[0].starts_with("sample/low.rs:7: "), "{}", found[0]);
}
