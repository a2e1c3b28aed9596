//! The page `tine::guide::side_by_side` against std and the collections: each stable method of `HashMap`, its
//! entries, `HashSet`, `Vec` and slices is there under its name, or the page says what to write in its place.
//!
//! `side_by_side/std.txt` lists the methods of std. A test reads them from std's source, if that is there.

#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

const LIST: &str = "tests/side_by_side/std.txt";

const MAP: &[&str] = &[
    "map/concurrent.rs",
    "map/convert.rs",
    "map/entry.rs",
    "map/exclusive.rs",
    "map/iter.rs",
    "map/par.rs",
];
const SET: &[&str] = &["set.rs", "set/algebra.rs"];
const VEC: &[&str] = &["vec/par_vec.rs", "vec/par.rs", "vec/iter.rs"];

/// A type of std, the section of the page that is about it, our files, and the place of the type in std's
/// source.
type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ROWS: &[Row] = &[
    (
        "HashMap",
        "HashMap",
        MAP,
        &["std/src/collections/hash/map.rs"],
    ),
    (
        "Entry",
        "Entry",
        &["map/entry.rs"],
        &["std/src/collections/hash/map.rs"],
    ),
    (
        "OccupiedEntry",
        "Entry",
        &["map/held.rs"],
        &["std/src/collections/hash/map.rs"],
    ),
    (
        "VacantEntry",
        "Entry",
        &["map/held.rs"],
        &["std/src/collections/hash/map.rs"],
    ),
    (
        "HashSet",
        "HashSet",
        SET,
        &["std/src/collections/hash/set.rs"],
    ),
    ("Vec", "Vec", VEC, &["alloc/src/vec/mod.rs"]),
    (
        "[T]",
        "[T]",
        VEC,
        &[
            "core/src/slice/mod.rs",
            "core/src/slice/ascii.rs",
            "alloc/src/slice.rs",
        ],
    ),
];

/// Methods that traits give, and that the page names next to methods.
const BY_TRAITS: &[&str] = &["into_iter", "extend", "collect"];

/// A public function's name.
fn function(line: &str) -> Option<&str> {
    let mut line = line.trim_start().strip_prefix("pub ")?;
    for word in ["const ", "unsafe ", "const "] {
        line = line.strip_prefix(word).unwrap_or(line);
    }
    let rest = line.strip_prefix("fn ")?;
    Some(&rest[..rest.find(['(', '<'])?])
}

/// Methods, by name, of the types in these files.
fn methods(files: &[&str]) -> Vec<String> {
    let text = |file: &&str| {
        fs::read_to_string(format!("collections/src/{file}")).expect("a file of the collections")
    };
    let lines: Vec<String> = files.iter().map(text).collect();
    let lines = lines.iter().flat_map(|text| text.lines());
    lines.filter_map(function).map(str::to_owned).collect()
}

/// The names of a type in the list.
fn listed<'a>(list: &'a str, of: &str) -> Vec<&'a str> {
    let head = format!("{of}:");
    let lines = list.lines().skip_while(|line| *line != head).skip(1);
    let names = lines.take_while(|line| !line.is_empty());
    names.flat_map(str::split_whitespace).collect()
}

/// The cells of a section's table, row by row.
fn table<'a>(page: &'a str, section: &str) -> Vec<Vec<&'a str>> {
    let head = format!("# `{section}`\n");
    let rest = page.split(&head).nth(1).expect("a section");
    let lines = rest.lines().take_while(|line| !line.starts_with("# "));
    let rows = lines.filter_map(|row| row.strip_prefix('|'));
    rows.map(|row| row.split('|').map(str::trim).collect())
        .skip(2)
        .collect()
}

/// The words in backquotes.
fn named(cell: &str) -> Vec<&str> {
    let codes = cell.split('`').skip(1).step_by(2);
    codes
        .flat_map(|code| code.split([' ', '(', '.', '&', '<', ')']))
        .collect()
}

/// The methods that the page leaves out, according to the list and our methods.
fn lacks(page: &str, section: &str, all: &[&str], here: &[String]) -> Vec<String> {
    let rows = table(page, section);
    let named: Vec<&str> = rows.iter().flat_map(|row| named(row[0])).collect();
    let known = |name: &&str| named.contains(name) || here.iter().any(|method| method == name);
    let missing = all.iter().copied().filter(|name| !known(name));
    missing.map(|name| format!("{section}::{name}")).collect()
}

/// Rows that contradict our methods: "the same" for a method that is not there, or another way to write a
/// method that is there.
fn untrue(page: &str, section: &str, all: &[&str], here: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for row in table(page, section) {
        let ours =
            |name: &str| here.iter().any(|method| method == name) || BY_TRAITS.contains(&name);
        let same = row[1].starts_with("the same");
        let absent = row[1].starts_with('–') || row[1].contains("into_vec` first");
        let names = named(row[0]);
        let names = names
            .iter()
            .filter(|&name| all.contains(name) || BY_TRAITS.contains(name));
        found.extend(
            names
                .filter(|name| (same && !ours(name)) || (absent && ours(name)))
                .map(|name| format!("{section}: {name} is {}", row[1])),
        );
    }
    found
}

#[test]
fn every_method_of_std_is_there_or_named() {
    let page = fs::read_to_string("src/guide/side_by_side.md").expect("the page");
    let list = fs::read_to_string(LIST).expect("the list");
    let mut wrong = Vec::new();
    for (of, section, files, _) in ROWS {
        let here = methods(files);
        assert!(here.len() > 10, "our methods for {of} were found");
        let all = listed(&list, of);
        assert!(all.len() > 3, "std's methods of {of} were found");
        wrong.append(&mut lacks(&page, section, &all, &here));
        wrong.append(&mut untrue(&page, section, &all, &here));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The test finds missing methods, and false rows.
#[test]
fn a_page_that_is_silent_or_wrong_fails() {
    let page = "# `Vec`\n\n| std | tine |\n|---|---|\n| `v[i]`, `get(i)` | the same |\n\
        | `pop`, `drain` | `into_vec` first |\n# `Next`\n| `push` | |\n";
    let rows = table(page, "Vec");
    assert_eq!(named(rows[0][0]), ["v[i]", "get", "i", ""]);
    let all = ["get", "pop", "push", "drain"];
    let here = ["pop".to_owned()];
    assert_eq!(lacks(page, "Vec", &all, &here), ["Vec::push"]);
    assert_eq!(
        untrue(page, "Vec", &all, &here),
        ["Vec: get is the same", "Vec: pop is `into_vec` first"]
    );
    let list = "Vec:\nget pop\npush\n\nSet:\ninsert\n";
    assert_eq!(listed(list, "Vec"), ["get", "pop", "push"]);
}

/// The stable inherent methods of a type in a source of std.
fn stable<'a>(source: &'a str, of: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let (mut head, mut inside, mut attributes) = (String::new(), false, String::new());
    for line in source.lines() {
        let begins = ["impl", "const impl", "unsafe impl"];
        if begins.iter().any(|word| line.starts_with(word)) || !head.is_empty() {
            head += line;
            head.push(' ');
            if line.contains('{') || line.ends_with(';') {
                inside = is_inherent(&head, of);
                head.clear();
            }
            attributes.clear();
        } else if line.starts_with('}') {
            inside = false;
        } else if inside && line.starts_with("    ") {
            let text = line.trim_start();
            if let Some(name) = function(line).filter(|_| !line.starts_with("     ")) {
                if attributes.contains("#[stable") && !attributes.contains("#[unstable") {
                    found.push(name);
                }
                attributes.clear();
            } else if line == "    }" {
                attributes.clear();
            } else if !text.starts_with("//") {
                attributes += text;
            }
        } else if line.is_empty() {
            attributes.clear();
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether `impl<K, V> HashMap<K, V> {` and the like begins the methods of this type.
fn is_inherent(head: &str, of: &str) -> bool {
    let of = of.replace(']', "");
    let head = head.split("where").next().unwrap_or_default();
    let head = head.split('{').next().unwrap_or_default();
    let mut depth = 0;
    // Behind the parameters, if there are any.
    let behind = head.char_indices().find(|&(_, c)| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        c == '>' && depth == 0
    });
    let rest = match head.contains("impl<") {
        true => &head[behind.map_or(0, |(at, _)| at + 1)..],
        false => head.split("impl").nth(1).unwrap_or_default(),
    };
    let rest = rest.trim_start().trim_start_matches("const ");
    let begins = |name: &str| {
        rest.strip_prefix(name)
            .is_some_and(|rest| name == "[" || rest.starts_with(['<', ' ']))
    };
    !head.contains(" for ")
        && match of.as_str() {
            "[T" => begins("["),
            name => begins(name),
        }
}

/// The source of std, in the version that the list was made from, if it is there.
fn source_of_std(list: &str) -> Option<PathBuf> {
    let asked = |word: &str| {
        let output = Command::new("rustc").args(word.split(' ')).output().ok()?;
        String::from_utf8(output.stdout).ok()
    };
    let version = asked("--version")?;
    let version = version.split(' ').nth(1)?.rsplit_once('.')?.0;
    let library = PathBuf::from(asked("--print sysroot")?.trim_end());
    let library = library.join("lib/rustlib/src/rust/library");
    let first = list.lines().next()?;
    (first.contains(&format!("std {version}.")) && library.exists()).then_some(library)
}

/// The list agrees with std's source. `TINE_WRITE_TABLES=1` writes it again. Without the source, or with the
/// source of another version, there is nothing to compare with; `stable` has the test below. With
/// `TINE_NEED_SOURCE` that is a failure.
#[test]
fn the_list_is_that_of_std() {
    let old = fs::read_to_string(LIST).expect("the list");
    let Some(library) = source_of_std(&old) else {
        let why = "skipped: std's source, of the list's version, is not there: `rustup component add rust-src`";
        assert!(std::env::var_os("TINE_NEED_SOURCE").is_none(), "{why}");
        // Not by the test's own output, which is caught.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{why}\n").as_bytes());
        return;
    };
    let comment = old.lines().take_while(|line| line.starts_with('#'));
    let mut new: String = comment.map(|line| format!("{line}\n")).collect();
    for (of, _, _, sources) in ROWS {
        let text = |file: &&str| fs::read_to_string(library.join(file)).expect("a file of std");
        let texts: Vec<String> = sources.iter().map(text).collect();
        let mut names: Vec<&str> = texts.iter().flat_map(|text| stable(text, of)).collect();
        names.sort_unstable();
        names.dedup();
        new += &format!("\n{of}:\n");
        let mut line = String::new();
        for name in names {
            if line.len() + name.len() > 108 {
                new += &format!("{line}\n");
                line.clear();
            }
            line += if line.is_empty() { "" } else { " " };
            line += name;
        }
        new += &format!("{line}\n");
    }
    if std::env::var_os("TINE_WRITE_TABLES").is_some() {
        fs::write(LIST, &new).expect("the list is written");
    } else {
        assert_eq!(old, new, "TINE_WRITE_TABLES=1 writes it anew");
    }
}

#[test]
fn stable_methods_are_found() {
    let source = "impl<T, A: Alloc<T>> Vec<T, A> {\n    #[stable]\n    #[inline]\n    pub const unsafe fn one(&self) {\n        \
        pub fn inner() {}\n    }\n\n    #[unstable]\n    #[stable]\n    pub fn two<T>() {\n    }\n    /// #[stable]\n    pub fn three() {\n    }\n}\n\
        impl<T> Clone for Vec<T> {\n    #[stable]\n    pub fn four() {\n    }\n}\nconst impl<T>\n    Vec<T>\nwhere\n    T: A\n{\n    \
        #[stable]\n    pub fn five() {\n    }\n}\nimpl<T> Vector<T> {\n    #[stable]\n    pub fn six() {\n    }\n}\nimpl [u8] {\n    \
        #[stable]\n    pub fn seven() {\n    }\n}\n";
    assert_eq!(stable(source, "Vec"), ["five", "one"]);
    assert_eq!(stable(source, "[T]"), ["seven"]);
}
