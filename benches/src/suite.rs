//! Everything in one command: every program's table, then the pictures and the excerpt for the
//! front page, all from the same run.
//!
//! Each program writes its table into a scratch copy of the page from which the old tables have
//! been taken out, and only if it found the machine quiet. One that wrote nothing is asked again; if
//! it never gets its quiet, the old table stays where it is, with its old date, and the run fails.
#![forbid(unsafe_code)]

use crate::options::cores;
use crate::plots::{self, FILES, block, taken};
use crate::{machine, report};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// The programs, the first being this one, and what their blocks are called.
const PROGRAMS: [(&str, &str); 5] = [
    ("tine-bench", "table"),
    ("iterators", "iterators"),
    ("sorts", "sorts"),
    ("algorithms", "algorithms"),
    ("collections", "collections"),
];
/// How often a program is asked for a table.
const ATTEMPTS: usize = 3;

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs everything and writes what was found.
pub fn run() -> io::Result<()> {
    let calm: Vec<_> = (0..3).map(|_| machine::look()).collect();
    eprintln!("{}: {}", machine::describe(), machine::summary(&calm));
    if cores() < 2 {
        return Err(io::Error::other(
            "one core is too few for any of the tables",
        ));
    }
    if let Some(complaint) = machine::complaint(&calm) {
        return Err(io::Error::other(format!("NOISY, nothing run: {complaint}")));
    }
    build()?;
    let programs = env::current_exe()?;
    let programs = programs.parent().expect("a program lies in a directory");
    let scratch = programs.join("tables");
    fs::create_dir_all(&scratch)?;
    let scratch = scratch.join("README.md");
    let mut missing = vec![];
    for (program, name) in PROGRAMS {
        match measured(&programs.join(program), name, &scratch)? {
            Some(text) => report::write_between(&home().join("README.md"), name, &text)?,
            None => missing.push(program),
        }
    }
    draw()?;
    match missing[..] {
        [] => Ok(()),
        _ => Err(io::Error::other(format!(
            "without a table, which stays as it was: {}",
            missing.join(", ")
        ))),
    }
}

/// Builds the other programs beside this one.
fn build() -> io::Result<()> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--bins", "--ignore-rust-version"]);
    build.arg("--manifest-path").arg(home().join("Cargo.toml"));
    let built = build.status()?.success();
    built
        .then_some(())
        .ok_or_else(|| io::Error::other("the programs could not be built"))
}

/// What the program writes when it is run in quiet.
fn measured(program: &Path, name: &str, scratch: &Path) -> io::Result<Option<String>> {
    for attempt in 1..=ATTEMPTS {
        eprintln!("{}, attempt {attempt} …", program.display());
        let _ = fs::remove_file(scratch);
        report::write_between(scratch, name, "")?;
        let mut child = Command::new(program);
        child.env(report::INTO, scratch).stdout(Stdio::null());
        // A program that fails has written nothing, and said why.
        let _ = child.status()?;
        let page = fs::read_to_string(scratch)?;
        let text = block(&page, name).unwrap_or_default().trim();
        if !text.is_empty() {
            return Ok(Some(text.to_owned()));
        }
    }
    Ok(None)
}

/// Draws the tables as they stand, and puts their excerpt on the front page.
pub fn draw() -> io::Result<()> {
    let readme = home().join("README.md");
    plots::write(&readme, &home().join("plots"))?;
    let front: PathBuf = home().join("../README.md");
    let text = excerpt(&fs::read_to_string(readme)?);
    report::write_between(&front, "excerpt", &text)?;
    eprintln!("Written into {}", front.display());
    Ok(())
}

/// A row for the front page: what it is called there, the block, the section, the row.
type Pick = (&'static str, &'static str, &'static str, &'static str);

/// Of each kind some, and also such as are not to our credit.
const PICKS: [Pick; 12] = [
    (
        "fib(32) by joins, on one thread, ns per join",
        "table",
        "1 thread",
        "fib(32)",
    ),
    (
        "join of two empty closures, pool asleep, ns",
        "table",
        "2 threads",
        "join of two empty closures, pool asleep",
    ),
    (
        "10⁶ empty spawns, ns each",
        "table",
        "2 threads",
        "10⁶ empty spawns in a scope, time",
    ),
    (
        "map and sum of 10³",
        "iterators",
        "Sum of x",
        "squares of 10^3",
    ),
    (
        "map and sum of 10⁷",
        "iterators",
        "Sum of x",
        "squares of 10^7",
    ),
    (
        "map and sum of 10⁴, pool asleep",
        "iterators",
        "The same, the pool asleep",
        "squares of 10^4, asleep",
    ),
    (
        "collect of 80 MB",
        "iterators",
        "Collecting",
        "collect, 80 MB",
    ),
    (
        "filter and collect, half of 10⁷",
        "iterators",
        "Collecting",
        "filter+collect, a random half of 10⁷",
    ),
    ("words of a text of 50 MB", "iterators", "Text", "words"),
    (
        "sort of 10⁶ u64, µs",
        "sorts",
        "2 threads",
        "u64, 10⁶ random",
    ),
    (
        "the same with a comparator, µs",
        "sorts",
        "2 threads",
        "u64 compared, 10⁶ random",
    ),
    (
        "sort of 10⁶ × 64 bytes by key, µs",
        "sorts",
        "2 threads",
        "64 bytes by key, 10⁶ random",
    ),
];

/// Some rows of the tables, with where they are from, and the pictures.
fn excerpt(page: &str) -> String {
    let mut text = "| | tine | rayon | sequential | tine ÷ rayon | tine ÷ sequential |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for (label, name, section, row) in PICKS {
        if let Some(cells) = plots::picked(page, name, section, row) {
            text += &format!("| {label} | {} |\n", cells.join(" | "));
        }
    }
    let source = block(page, "iterators").map(taken).unwrap_or_default();
    text += &format!(
        "\n{source}; a cell is the median, and in brackets the best tenth, of a run in which all take \
         turns. This command makes it anew, with the plots: `cargo run --release --manifest-path \
         benches/Cargo.toml --ignore-rust-version -- all`.\n"
    );
    for (file, what) in FILES {
        text += &format!("\n![{what}](benches/plots/{file})\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_page_has_the_excerpt_of_the_tables() {
        let front = include_str!("../../README.md");
        let kept = block(front, "excerpt").expect("a place for it").trim();
        let found = excerpt(include_str!("../README.md"));
        assert!(kept == found.trim(), "old: run `tine-bench plots`");
    }
}
