//! The copies of the table that people read: the layers in ARCHITECTURE.md, the modules with unsafe code in
//! CONTRIBUTING.md. Each stands between two marks, and is generated here.
//!
//! `TINE_WRITE_TABLES=1 cargo test --test layers tables` writes them anew.

use crate::rules::Crate;
use std::fmt::Write;

/// The name of a crate in its rows.
fn name(house: &Crate) -> &'static str {
    match house.source {
        "pool/src" => "tine-pool",
        "iter/src" => "tine-iter",
        "collections/src" => "tine-collections",
        "src" => "tine",
        "cluster/src" => "tine-cluster",
        shim => shim,
    }
}

/// The top-level modules of each crate that has any, highest layer first.
pub(crate) fn layers(houses: &[Crate]) -> String {
    let mut text = String::from("```text\n");
    for house in houses {
        let mut head = name(house);
        for layer in house.layers.iter().rev() {
            let top = |module: &&&str| !module.contains("::");
            let modules: Vec<&str> = layer.iter().filter(top).copied().collect();
            if !modules.is_empty() {
                writeln!(text, "{head:<18}{}", modules.join(" ")).expect("a String takes it");
                head = "";
            }
        }
    }
    text + "```\n"
}

/// The modules that may hold unsafe code.
pub(crate) fn unsafe_modules(houses: &[Crate]) -> String {
    let mut text = String::from("| crate | modules |\n|---|---|\n");
    for house in houses
        .iter()
        .filter(|house| !house.may_be_unsafe.is_empty())
    {
        let modules: Vec<String> = house
            .may_be_unsafe
            .iter()
            .map(|m| format!("`{m}`"))
            .collect();
        writeln!(text, "| `{}` | {} |", name(house), modules.join(" ")).expect("a String takes it");
    }
    text
}

/// The page with `table` between the marks of `mark`; nothing if it has no such marks.
pub(crate) fn with_table(page: &str, mark: &str, table: &str) -> Option<String> {
    let begin = format!("<!-- {mark}: from tests/layers.rs -->\n");
    let end = format!("<!-- {mark}: end -->");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{table}\n{end}{after}"))
}
