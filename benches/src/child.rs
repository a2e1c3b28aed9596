//! The child's side of a run: takes samples, prints `row`, `peer` and `value`
//! with tabs between, one line per sample.
#![forbid(unsafe_code)]

use crate::row::{Case, How, Row};
use crate::{spin, workloads};
use std::io::{self, Write};
use std::{collections::BTreeMap, thread, time::Duration};

/// Between two samples, for the last peer's threads to go to sleep.
const SETTLE: Duration = Duration::from_millis(1);

/// How many rounds lie between two in which the slow rows are taken.
const SELDOM: usize = 3;

fn row_named(name: &str) -> Row {
    let found = workloads::rows().into_iter().find(|row| row.name == name);
    found.unwrap_or_else(|| panic!("no row is called {name}"))
}

fn print(row: &Row, case: &Case, sample: f64) {
    // The parent reads a pipe: each line must leave at once, in case of a hang.
    let mut out = io::stdout().lock();
    writeln!(out, "{}\t{}\t{sample}", row.name, case.peer).expect("the parent listens");
    out.flush().expect("the parent listens");
}

/// Rounds of every row by every peer; the peer that begins changes from round to round. An extra
/// round at the beginning is warm-up.
pub fn together(threads: usize, rate: u64, rounds: usize, names: &[String]) {
    spin::set_rate(rate);
    let rows: Vec<Row> = names.iter().map(|name| row_named(name)).collect();
    let mut started = BTreeMap::new();
    for case in rows.iter().flat_map(|row| row.cases) {
        started
            .entry(case.peer)
            .or_insert_with(|| (case.start)(threads));
    }
    for round in 0..=rounds {
        for row in &rows {
            if row.how == How::Seldom && round > 1 && (round - 1) % SELDOM != 0 {
                continue;
            }
            for turn in 0..row.cases.len() {
                let case = &row.cases[(turn + round) % row.cases.len()];
                if !started[case.peer] {
                    continue;
                }
                thread::sleep(SETTLE);
                let sample = (case.sample)();
                if round > 0 {
                    print(row, case, sample);
                }
            }
        }
    }
}

/// One sample of one row by one peer, in a process that has met no other.
pub fn alone(threads: usize, rate: u64, row: &str, peer: &str) {
    spin::set_rate(rate);
    let row = row_named(row);
    let case = row
        .case(peer)
        .unwrap_or_else(|| panic!("{peer} has no part in {}", row.name));
    if (case.start)(threads) {
        print(&row, case, (case.sample)());
    }
}
