//! The table: one for each pool size, for the screen and for TABLES.md.
#![forbid(unsafe_code)]

use crate::options::cores;
use crate::samples::{Measured, median, p10};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const OURS: &str = "tine";
const BASE: &str = "sequential";
const LOCK: &str = include_str!("../Cargo.lock");

/// One table per pool size.
pub fn tables(all: &[Measured]) -> String {
    let mut text = String::new();
    for section in all.chunk_by(|a, b| a.threads == b.threads) {
        let threads = section[0].threads;
        let plural = if threads == 1 { "" } else { "s" };
        let more = larger_than_the_machine(threads);
        let table = table(section);
        writeln!(text, "### {threads} thread{plural}\n\n{more}{table}").expect("a string");
    }
    text
}

/// The heading of a table with more threads than cores.
pub fn larger_than_the_machine(threads: usize) -> String {
    match cores() {
        cores if threads > cores => {
            format!("The machine has {cores} cores: this is a pool larger than the machine.\n\n")
        }
        _ => String::new(),
    }
}

fn table(section: &[Measured]) -> String {
    let mut peers: Vec<&str> = vec![];
    for case in section.iter().flat_map(|m| m.row.cases) {
        if !peers.contains(&case.peer) {
            peers.push(case.peer);
        }
    }
    let rivals: Vec<&str> = peers.iter().copied().filter(|peer| *peer != OURS).collect();
    let mut lines = vec![vec!["".to_owned(), "unit".to_owned()]];
    lines[0].extend(peers.iter().map(ToString::to_string));
    lines[0].extend(rivals.iter().map(|rival| format!("{OURS} ÷ {rival}")));
    for measured in section {
        lines.push(line(measured.row.name, measured, &peers, &rivals));
        if let (Some(name), 1) = (measured.row.above, measured.threads) {
            lines.push(line(name, &measured.above(BASE), &peers, &rivals));
        }
    }
    aligned(&lines)
}

fn line(name: &str, measured: &Measured, peers: &[&str], rivals: &[&str]) -> Vec<String> {
    let mut cells = vec![name.to_owned(), measured.row.unit.to_owned()];
    cells.extend(peers.iter().map(|peer| cell(measured.of(peer))));
    let ratio = |rival: &&str| measured.ratio(OURS, rival);
    cells.extend(
        rivals
            .iter()
            .map(|r| ratio(r).map_or("–".into(), |r| format!("{r:.2}"))),
    );
    cells
}

/// The median, and the best tenth in brackets.
fn cell(samples: &[f64]) -> String {
    match (median(samples), p10(samples)) {
        (Some(median), _) if samples.len() == 1 => figure(median),
        (Some(median), Some(p10)) => format!("{} ({})", figure(median), figure(p10)),
        _ => "–".into(),
    }
}

/// Three digits, or more if there are more before the point.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn aligned(lines: &[Vec<String>]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths: Vec<usize> = (0..lines[0].len())
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (cell, &width) in line.iter().zip(&widths) {
            write!(text, "| {cell:width$} ").expect("a string");
        }
        text.push_str("|\n");
        if number == 0 {
            widths
                .iter()
                .for_each(|width| text.push_str(&format!("|{:-<1$}", "", width + 2)));
            text.push_str("|\n");
        }
    }
    text
}

/// The versions of the peers in this build.
pub fn versions() -> String {
    versions_of(&["rayon", "chili", "forte"])
}

/// The versions of these packages in this build.
pub fn versions_of(packages: &[&str]) -> String {
    let version = |name: &str| {
        let rest = LOCK
            .split(&format!("name = \"{name}\"\nversion = \""))
            .nth(1)?;
        Some(format!("{name} {}", rest.split('"').next()?))
    };
    packages
        .iter()
        .filter_map(|name| version(name))
        .collect::<Vec<_>>()
        .join(", ")
}

/// This variable names the page that a program writes its table into, if that is not TABLES.md.
pub const INTO: &str = "TINE_BENCH_INTO";

/// The page that tables are written into.
pub fn page() -> PathBuf {
    let tables = || Path::new(env!("CARGO_MANIFEST_DIR")).join("TABLES.md");
    env::var_os(INTO).map_or_else(tables, PathBuf::from)
}

/// Puts `text` between the markers of the file, which is made if there is none.
pub fn write_between_markers(path: &Path, text: &str) -> io::Result<()> {
    write_between(path, "table", text)
}

/// Puts `text` between the markers of this name.
pub fn write_between(path: &Path, name: &str, text: &str) -> io::Result<()> {
    let begin = format!("<!-- {name}: written by the program -->");
    let end = format!("<!-- {name}: end -->");
    let old = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => format!("{begin}\n{end}\n"),
        other => other?,
    };
    let no_markers = || io::Error::other("the file has no markers for the table");
    let (before, rest) = old.split_once(&begin).ok_or_else(no_markers)?;
    let (_, after) = rest.split_once(&end).ok_or_else(no_markers)?;
    fs::write(path, format!("{before}{begin}\n\n{text}\n{end}{after}"))
}
