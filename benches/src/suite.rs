//! Everything in one command: every program's table, then the pictures and the excerpt for the
//! front page, all from the same run.
//!
//! Each program writes its table into a scratch copy of the page from which the old tables have been
//! taken out, and only if it found the machine quiet. A program that wrote nothing runs again; if
//! the machine is never quiet, the old table stays where it is, with its old date, and the run
//! fails.
#![forbid(unsafe_code)]

use crate::options::cores;
use crate::plots::{self, FILES, block, taken};
use crate::{machine, report};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// The programs, the first being this one, and what their blocks are called.
const PROGRAMS: [(&str, &str); 6] = [
    ("tine-bench", "table"),
    ("iterators", "iterators"),
    ("sorts", "sorts"),
    ("algorithms", "algorithms"),
    ("collections", "collections"),
    ("between", "between"),
];
/// How many times a program is run for a table.
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
    let scratch = scratch.join("TABLES.md");
    let mut missing = vec![];
    for (program, name) in PROGRAMS {
        match measured(&programs.join(program), name, &scratch)? {
            Some(text) => report::write_between(&home().join("TABLES.md"), name, &text)?,
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

/// What the program writes when it runs on a quiet machine.
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

/// Makes what is made from the tables as they stand: the pictures, the TSV files, the rows of this
/// directory's page and the excerpt on the front page.
pub fn draw() -> io::Result<()> {
    let tables = home().join("TABLES.md");
    plots::write(&tables, &home().join("plots"))?;
    let page = fs::read_to_string(tables)?;
    let results = home().join("results");
    fs::create_dir_all(&results)?;
    for (file, text) in plots::separated(&page) {
        fs::write(results.join(file), text)?;
    }
    report::write_between(&home().join("README.md"), "rows", &rows(&page))?;
    let front: PathBuf = home().join("../README.md");
    report::write_between(&front, "excerpt", &excerpt(&page))?;
    eprintln!("Written into {}", front.display());
    Ok(())
}

/// A row that users want to know: its name, its place, and what it is compared with.
struct Pick {
    label: &'static str,
    /// The block, the beginning of the section's title, and the row's name.
    place: [&'static str; 3],
    peer: &'static str,
    /// Is it on the front page too?
    front: bool,
}

const fn pick(label: &'static str, place: [&'static str; 3], peer: &'static str) -> Pick {
    Pick {
        label,
        place,
        peer,
        front: false,
    }
}

const fn front(label: &'static str, place: [&'static str; 3]) -> Pick {
    Pick {
        label,
        place,
        peer: "rayon",
        front: true,
    }
}

/// Some rows of each kind, including rows in which tine does badly.
const PICKS: [Pick; 30] = [
    front(
        "fib(32) by joins, on one thread, ns per join",
        ["table", "1 thread", "fib(32)"],
    ),
    front(
        "join of two empty closures, pool asleep, ns",
        [
            "table",
            "2 threads",
            "join of two empty closures, pool asleep",
        ],
    ),
    pick(
        "join of two closures of 1 ms, pool asleep, µs",
        [
            "table",
            "2 threads",
            "join of two 1 ms closures, pool asleep",
        ],
        "rayon",
    ),
    front(
        "10⁶ empty spawns, ns each",
        ["table", "2 threads", "10⁶ empty spawns in a scope, time"],
    ),
    pick(
        "unbalanced tree search, ns per node",
        ["table", "2 threads", "unbalanced tree search"],
        "rayon",
    ),
    pick(
        "CPU burnt while idle for 2 s after work, ms",
        ["table", "2 threads", "CPU burnt, idle for 2 s after work"],
        "rayon",
    ),
    pick(
        "nested loops, 1000 × 10,000, ns per inner loop",
        ["table", "2 threads", "nested loops, 1000 × 10,000"],
        "rayon",
    ),
    front(
        "map and sum of 10³",
        ["iterators", "Sum of x", "squares of 10^3"],
    ),
    front(
        "map and sum of 10⁷",
        ["iterators", "Sum of x", "squares of 10^7"],
    ),
    front(
        "map and sum of 10⁴, pool asleep",
        [
            "iterators",
            "The same, the pool asleep",
            "squares of 10^4, asleep",
        ],
    ),
    pick(
        "1000 items of 100 ns",
        ["iterators", "100 ns an item", "100 ns each of 10^3"],
        "rayon",
    ),
    pick(
        "1000 items, the last 20 hold 90 % of 20 ms",
        [
            "iterators",
            "Uneven items",
            "the last 20 of 1,000 items hold 90 %",
        ],
        "rayon",
    ),
    pick(
        "collect of 1000 numbers",
        ["iterators", "Small collects", "collect 10^3"],
        "rayon",
    ),
    front(
        "collect of 80 MB",
        ["iterators", "Collecting", "collect, 80 MB"],
    ),
    front(
        "filter and collect, half of 10⁷",
        [
            "iterators",
            "Collecting",
            "filter+collect, a random half of 10⁷",
        ],
    ),
    pick(
        "flat_map and collect of 10⁷",
        ["iterators", "Collecting", "flat_map of 100, collect 10⁷"],
        "rayon",
    ),
    pick(
        "collect of a HashMap of 10⁶",
        ["iterators", "Collecting", "collect a HashMap of 10⁶"],
        "rayon",
    ),
    pick(
        "find_first, a hit at a third of 10⁷",
        ["iterators", "Pipelines", "find_first, at a third"],
        "rayon",
    ),
    pick(
        "sum of 10⁷ floats, the same bits each time",
        ["iterators", "Sum of floats", "deterministic sum of 10^7"],
        "rayon",
    ),
    front("words of a text of 50 MB", ["iterators", "Text", "words"]),
    pick(
        "par_bridge, 10⁶ items of 100 ns",
        ["iterators", "par_bridge", "par_bridge, 100 ns each"],
        "rayon",
    ),
    front(
        "sort of 10⁶ u64, µs",
        ["sorts", "2 threads", "u64, 10⁶ random"],
    ),
    front(
        "the same with a comparator, µs",
        ["sorts", "2 threads", "u64 compared, 10⁶ random"],
    ),
    front(
        "sort of 10⁶ × 64 bytes by key, µs",
        ["sorts", "2 threads", "64 bytes by key, 10⁶ random"],
    ),
    pick(
        "sort of 10⁶ strings, µs",
        ["sorts", "2 threads", "String, 10⁶ of 16 characters"],
        "rayon",
    ),
    pick(
        "sort of 10⁷ u64, µs",
        ["sorts", "2 threads", "u64, 10⁷ random"],
        "rayon",
    ),
    pick(
        "count_by, 10⁷ keys, 10⁵ different, ms",
        ["collections", "", "count 1e5"],
        "rayon fold+reduce",
    ),
    pick(
        "group_by, 5·10⁶ pairs, 10⁵ keys, ms",
        ["collections", "", "group 1e5"],
        "rayon fold+reduce",
    ),
    pick(
        "inserting 5·10⁶ pairs into one map, 2 threads, ms",
        ["collections", "", "insert, 2 threads"],
        "dashmap",
    ),
    pick(
        "pushing 10⁷ values to one vector, 2 threads, ms",
        ["collections", "", "push, 2 threads"],
        "boxcar",
    ),
];

/// On which machine and day the rows of each part were measured.
fn sources<'a>(page: &str, picks: impl Iterator<Item = &'a Pick>) -> String {
    let mut sources: Vec<(String, Vec<&str>)> = vec![];
    for [name, ..] in picks.map(|pick| pick.place) {
        let taken = block(page, name).map(taken).unwrap_or_default();
        let part = if name == "table" { "pool" } else { name };
        match sources.iter_mut().find(|(known, _)| *known == taken) {
            Some((_, parts)) if parts.contains(&part) => {}
            Some((_, parts)) => parts.push(part),
            None => sources.push((taken, vec![part])),
        }
    }
    let one = |(taken, parts): (String, Vec<&str>)| format!("{}: {taken}", parts.join(", "));
    sources.into_iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The rows for this directory's page.
fn rows(page: &str) -> String {
    let mut text = "| | tine | peer | sequential | tine ÷ peer | tine ÷ sequential |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for pick in &PICKS {
        if let Some([ours, peer, sequential, by_peer, by_sequential]) =
            plots::picked(page, pick.place, pick.peer)
        {
            text += &format!(
                "| {} | {ours} | {}: {peer} | {sequential} | {by_peer} | {by_sequential} |\n",
                pick.label, pick.peer
            );
        }
    }
    let source = sources(page, PICKS.iter());
    text + &format!("\n{source}. A cell is the median, and in brackets the best tenth.")
}

/// Some rows of the tables, with where they are from, and the pictures.
fn excerpt(page: &str) -> String {
    let mut text = "| | tine | rayon | sequential | tine ÷ rayon | tine ÷ sequential |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for pick in PICKS.iter().filter(|pick| pick.front) {
        if let Some(cells) = plots::picked(page, pick.place, pick.peer) {
            text += &format!("| {} | {} |\n", pick.label, cells.join(" | "));
        }
    }
    let source = sources(page, PICKS.iter().filter(|pick| pick.front));
    text += &format!(
        "\n{source}. A cell is the median, and in brackets the best tenth, of a run in which all take \
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

    const TABLES: &str = include_str!("../TABLES.md");

    #[test]
    fn the_page_has_thirty_rows_of_the_tables() {
        let found = rows(TABLES);
        assert_eq!(
            found.lines().filter(|line| line.starts_with("| ")).count(),
            31
        );
        let kept = block(include_str!("../README.md"), "rows").expect("a place for them");
        assert!(kept.trim() == found.trim(), "old: run `tine-bench plots`");
    }

    #[test]
    fn the_results_are_those_of_the_tables() {
        let files = plots::separated(TABLES);
        assert!(files.len() > 10, "the tables were not found");
        for (file, text) in files {
            let kept = fs::read_to_string(home().join("results").join(&file)).unwrap_or_default();
            assert!(kept == text, "{file} is old: run `tine-bench plots`");
        }
    }

    #[test]
    fn the_front_page_has_the_excerpt_of_the_tables() {
        let front = include_str!("../../README.md");
        let kept = block(front, "excerpt").expect("a place for it").trim();
        let found = excerpt(TABLES);
        assert!(kept == found.trim(), "old: run `tine-bench plots`");
    }
}
