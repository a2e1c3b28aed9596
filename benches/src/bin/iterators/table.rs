//! The table of the rows, a part for each section.

use std::fmt::Write as _;

use crate::race::Row;
use tine_bench::samples::{median, p10};

const COLUMNS: [&str; 8] = [
    "sequential",
    "tine",
    "rayon",
    "orx",
    "paralight",
    "chili",
    "forte",
    "tine, the other way",
];

/// All sections, each with its heading.
pub fn sections(sections: &[(&'static str, Vec<Row>)]) -> String {
    let mut text = String::new();
    for (title, rows) in sections.iter().filter(|section| !section.1.is_empty()) {
        let lines: Vec<_> = rows.iter().map(line).collect();
        writeln!(text, "### {title}\n\n{}", aligned(&lines)).expect("a string");
        if let Some(mean) = geometric_mean(rows) {
            writeln!(text, "Geometric mean of tine ÷ rayon: {mean:.2}.\n").expect("a string");
        }
    }
    text
}

fn geometric_mean(rows: &[Row]) -> Option<f64> {
    let logs: Vec<f64> = rows
        .iter()
        .filter_map(|row| Some(row.ratio(1.0, "rayon", 0.0)?.ln()))
        .collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    (logs.len() > 4).then(|| mean.exp())
}

/// A row's cells: its name, the contenders, ratios, the goal.
pub fn line(row: &Row) -> Vec<String> {
    let mut cells = vec![row.name.clone()];
    let cell = |name: &&str| row.of(name).map_or("–".into(), time);
    cells.extend(COLUMNS.iter().map(cell));
    let ratio = |ratio: Option<f64>| ratio.map_or("–".into(), |ratio| format!("{ratio:.2}"));
    cells.push(ratio(row.ratio(1.0, "sequential", 0.0)));
    cells.push(ratio(row.ratio(1.0, "rayon", 0.0)));
    cells.push(row.goal.text());
    // A row that misses its goal is marked, unless it misses by less than a hundredth.
    cells.push(match row.share_of_goal() {
        Some(share) if share >= 1.005 => format!("**{share:.2}**"),
        share => ratio(share),
    });
    cells
}

/// The median and the best tenth, in a unit that leaves three digits.
fn time(samples: &[f64]) -> String {
    let (Some(middle), Some(best)) = (median(samples), p10(samples)) else {
        return "–".into();
    };
    let (unit, by) = match middle {
        ..1e3 => ("ns", 1.0),
        ..1e6 => ("µs", 1e3),
        _ => ("ms", 1e6),
    };
    format!("{} ({}) {unit}", digits(middle / by), digits(best / by))
}

fn digits(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn aligned(lines: &[Vec<String>]) -> String {
    let mut head = vec![String::new()];
    head.extend(COLUMNS.iter().map(ToString::to_string));
    let rest = ["tine ÷ sequential", "tine ÷ rayon", "goal", "of the goal"];
    head.extend(rest.map(str::to_owned));
    // A column in which no contender takes part is left out.
    let used: Vec<usize> = (0..head.len())
        .filter(|&column| lines.iter().any(|line| line[column] != "–"))
        .collect();
    let width = |column: usize| {
        let cells = lines.iter().chain([&head]);
        cells
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let mut text = String::new();
    let mut put = |line: &[String]| {
        for &column in &used {
            write!(text, "| {:1$} ", line[column], width(column)).expect("a string");
        }
        text.push_str("|\n");
    };
    put(&head);
    let rules: Vec<String> = (0..head.len())
        .map(|column| "-".repeat(width(column)))
        .collect();
    put(&rules);
    lines.iter().for_each(|line| put(line));
    text
}
