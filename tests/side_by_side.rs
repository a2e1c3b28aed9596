//! The page `tine::guide::side_by_side` against the collections: each method of std's `HashMap`,
//! `HashSet` and `Vec` is there under its name, or the page says what to write in its place.

use std::fs;

const MAP: &str = "new with_capacity with_hasher with_capacity_and_hasher capacity keys into_keys values \
     values_mut into_values iter iter_mut len is_empty drain extract_if retain clear hasher reserve \
     try_reserve shrink_to_fit shrink_to entry get get_key_value get_disjoint_mut \
     get_disjoint_unchecked_mut contains_key get_mut insert remove remove_entry";
const SET: &str = "new with_capacity with_hasher with_capacity_and_hasher capacity iter len is_empty drain \
     extract_if retain clear hasher reserve try_reserve shrink_to_fit shrink_to difference \
     symmetric_difference intersection union contains get is_disjoint is_subset is_superset insert \
     replace remove take";
const VEC: &str = "new with_capacity from_raw_parts capacity reserve reserve_exact try_reserve \
     try_reserve_exact shrink_to_fit shrink_to into_boxed_slice truncate as_slice as_mut_slice as_ptr \
     as_mut_ptr set_len swap_remove insert remove retain retain_mut dedup dedup_by dedup_by_key push pop \
     pop_if append drain clear len is_empty split_off resize resize_with leak spare_capacity_mut \
     extend_from_slice extend_from_within splice extract_if get get_mut first last iter iter_mut contains";

/// Methods, by name, of the types in these files.
fn methods(files: &[&str]) -> Vec<String> {
    let text = |file: &&str| {
        fs::read_to_string(format!("collections/src/{file}")).expect("a file of the collections")
    };
    let lines: Vec<String> = files.iter().map(text).collect();
    let named = |line: &str| {
        let line = line.trim_start().strip_prefix("pub ")?;
        let rest = line
            .strip_prefix("const ")
            .unwrap_or(line)
            .strip_prefix("fn ")?;
        let end = rest.find(['(', '<'])?;
        Some(rest[..end].to_owned())
    };
    lines
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(named)
        .collect()
}

/// What stands in backquotes in the first column of a section's table.
fn named_in(page: &str, section: &str) -> Vec<String> {
    let head = format!("# `{section}`");
    let rest = page.split(&head).nth(1).expect("a section");
    let rows = rest.lines().take_while(|line| !line.starts_with("# "));
    let firsts = rows.filter_map(|row| row.strip_prefix('|')?.split('|').next());
    let codes = firsts.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    codes
        .flat_map(|code| code.split([' ', '(', '.', '&', '<', ')']))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_method_of_std_is_there_or_named() {
    let page = fs::read_to_string("src/guide/side_by_side.md").expect("the page");
    let map = [
        "map/concurrent.rs",
        "map/convert.rs",
        "map/entry.rs",
        "map/exclusive.rs",
        "map/iter.rs",
        "map/par.rs",
    ];
    let rows: [(&str, &str, &[&str]); 3] = [
        ("HashMap", MAP, &map),
        ("HashSet", SET, &["set.rs", "set/algebra.rs"]),
        ("Vec", VEC, &["vec/par_vec.rs", "vec/par.rs", "vec/iter.rs"]),
    ];
    let mut lacks = Vec::new();
    for (section, all, files) in rows {
        let here = methods(files);
        assert!(here.len() > 10, "the methods of {section} were found");
        let named = named_in(&page, section);
        let missing: Vec<&str> = all
            .split_whitespace()
            .filter(|name| !here.iter().chain(&named).any(|known| known == name))
            .collect();
        lacks.extend(missing.into_iter().map(|name| format!("{section}::{name}")));
    }
    assert!(lacks.is_empty(), "{lacks:?}");
}

/// The test finds what is missing.
#[test]
fn a_page_that_is_silent_fails() {
    let page = "# `Vec`\n\n| std | tine |\n|---|---|\n| `v[i]`, `get(i)` | the same |\n# `Next`\n| `pop` | |\n";
    assert_eq!(named_in(page, "Vec"), ["v[i]", "get", "i", ""]);
}
