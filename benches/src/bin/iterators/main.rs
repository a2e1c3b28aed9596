//! Every kind of parallel iterator against its peers, and against what was promised.
//!
//! `iterators [FILTER…] [--quick] [--threads N] [--list]`: rows whose name holds
//! one of the words. A complete run on two threads or more writes its table into
//! `benches/TABLES.md`, unless the machine was noisy.

mod calls;
mod data;
mod halves;
mod own_pools;
mod pipelines;
mod programs;
mod race;
mod recursions;
mod shapes;
mod stores;
mod table;

use std::env;
use std::process::ExitCode;

use race::{Calls, Case, Goal, Row};
use tine_bench::options::cores;
use tine_bench::{machine, report, spin};

/// What the command line asks for.
struct Asked {
    words: Vec<String>,
    quick: bool,
    list: bool,
    threads: usize,
}

impl Asked {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Asked, String> {
        let mut asked = Asked {
            words: vec![],
            quick: false,
            list: false,
            threads: cores(),
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => asked.quick = true,
                "--list" => asked.list = true,
                "--threads" => {
                    let number = words.next().and_then(|word| word.parse().ok());
                    asked.threads = number
                        .filter(|&n| n > 0)
                        .ok_or("--threads wants a number")?;
                }
                flag if flag.starts_with('-') => return Err(format!("no such flag: {flag}")),
                _ => asked.words.push(word),
            }
        }
        Ok(asked)
    }

    fn complete(&self) -> bool {
        self.words.is_empty() && !self.quick && self.threads == cores()
    }
}

/// The rows in sections; a row runs when it is named.
struct Book<'a> {
    asked: &'a Asked,
    sections: Vec<(&'static str, Vec<Row>)>,
}

impl Book<'_> {
    /// Begins a section of the table.
    fn section(&mut self, title: &'static str) {
        self.sections.push((title, vec![]));
    }

    /// Runs a row, if it is wanted; `cases` makes what it works on.
    fn row(&mut self, name: impl Into<String>, goal: Goal, cases: impl FnOnce() -> Vec<Case>) {
        self.take(name.into(), goal, Calls::BackToBack, cases);
    }

    /// The same, with the pool asleep before each call.
    fn asleep(&mut self, name: impl Into<String>, goal: Goal, cases: impl FnOnce() -> Vec<Case>) {
        self.take(name.into(), goal, Calls::Asleep, cases);
    }

    fn take(&mut self, name: String, goal: Goal, calls: Calls, cases: impl FnOnce() -> Vec<Case>) {
        let words = &self.asked.words;
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            return;
        }
        if self.asked.list {
            return println!("{name}");
        }
        let mut row = Row {
            name,
            goal,
            calls,
            cases: cases(),
            samples: vec![],
        };
        row.run(if self.asked.quick { 4 } else { 11 });
        eprintln!("{}", table::line(&row).join(" | "));
        let section = self.sections.last_mut().expect("a section begins first");
        section.1.push(row);
    }
}

fn start_pools(threads: usize) {
    let tine = tine_pool::ThreadPoolBuilder::new().num_threads(threads);
    tine.build_global().expect("the first use of tine");
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(threads);
    rayon.build_global().expect("the first use of rayon");
    halves::start(threads);
}

fn main() -> ExitCode {
    let asked = match Asked::parse(env::args().skip(1)) {
        Ok(asked) => asked,
        Err(mistake) => {
            eprintln!("{mistake}");
            return ExitCode::FAILURE;
        }
    };
    start_pools(asked.threads);
    spin::set_rate(spin::measure_rate());
    let mut book = Book {
        asked: &asked,
        sections: vec![],
    };
    let mut looks = vec![];
    let files = [
        calls::rows,
        shapes::rows,
        recursions::rows,
        programs::rows,
        own_pools::rows,
        pipelines::rows,
        stores::rows,
    ];
    for rows in files {
        if !asked.list && !asked.quick {
            looks.push(machine::look());
        }
        rows(&mut book);
    }
    if asked.list {
        return ExitCode::SUCCESS;
    }
    looks.push(machine::look());
    let command = env::args().skip(1).map(|word| format!(" {word}"));
    let text = format!(
        "{}, {} threads. Peers: {}. Before, between and after, {}. Command: `cargo run --release \
         --manifest-path benches/Cargo.toml --ignore-rust-version --bin iterators{}`.\n\n{}",
        machine::describe(),
        asked.threads,
        report::versions_of(&["rayon", "orx-parallel", "paralight", "chili", "forte"]),
        machine::summary(&looks),
        command.collect::<String>(),
        table::sections(&book.sections),
    );
    println!("{text}");
    match machine::complaint(&looks) {
        Some(complaint) => eprintln!("NOISY, nothing written: {complaint}"),
        None if !asked.complete() => eprintln!("A partial table: nothing written."),
        None => {
            let path = report::page();
            if let Err(error) = report::write_between(&path, "iterators", &text) {
                eprintln!("Not written into {}: {error}", path.display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
