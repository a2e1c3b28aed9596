//! Rows: the candidates take turns, and their medians and the ratios within rounds make a table.

use std::fmt::Write;
use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use tine_bench::machine::{self, Calm};
use tine_bench::report;

/// The greatest number of rounds of a row, and how long it goes on after the requested rounds.
const MANY: usize = 3_000;
const LONG: Duration = Duration::from_millis(300);

/// A candidate: prepares, and returns how long its work then took.
pub type Run<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// How long `work` takes; what it returns is dropped afterwards.
pub fn timed<R>(work: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let took = start.elapsed();
    drop(result);
    took
}

/// A candidate without preparation.
pub fn run<'a, R>(mut work: impl FnMut() -> R + 'a) -> Run<'a> {
    Box::new(move || timed(&mut work))
}

/// A candidate that changes a copy of its input, made before the clock starts.
pub fn on_copy<'a, T: Clone, R>(input: &'a T, mut work: impl FnMut(&mut T) -> R + 'a) -> Run<'a> {
    Box::new(move || {
        let mut copy = input.clone();
        timed(|| work(&mut copy))
    })
}

/// The options of a run, and its findings.
pub struct Table {
    pub words: Vec<String>,
    pub rounds: usize,
    pub scale: usize,
    lines: String,
    looks: Vec<Calm>,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            words: Vec::new(),
            rounds: 7,
            scale: 1,
            lines: String::new(),
            looks: Vec::new(),
        }
    }
}

impl Table {
    pub fn wants(&self, row: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| row.contains(word.as_str()))
    }

    /// Runs ours, rayon by hand, and the loop in turns.
    pub fn row(&mut self, name: &str, ours: Run<'_>, rayon: Run<'_>, alone: Run<'_>) {
        self.looks.push(machine::look());
        let mut runs = [ours, rayon, alone];
        let mut times = [const { Vec::new() }; 3];
        let start = Instant::now();
        // The first round is warm-up; the candidate that begins changes from round to round. Short
        // rows have more rounds.
        for round in 0..=MANY {
            if round > self.rounds && start.elapsed() > LONG {
                break;
            }
            for turn in 0..3 {
                let at = (turn + round) % 3;
                let took = runs[at]().as_secs_f64() * 1e3;
                if round > 0 {
                    times[at].push(took);
                }
            }
        }
        let ratio = |other: usize| {
            let pairs = times[0].iter().zip(&times[other]);
            median(
                &pairs
                    .map(|(ours, theirs)| ours / theirs)
                    .collect::<Vec<_>>(),
            )
        };
        let [ours, rayon, alone] = [0, 1, 2].map(|at| median(&times[at]));
        let line = format!(
            "| {name} | {ours:.4} | {rayon:.4} | {alone:.4} | {:.2} | {:.2} |",
            ratio(1),
            ratio(2)
        );
        println!("{line}");
        writeln!(self.lines, "{line}").expect("a string");
    }

    /// Writes the table into the README, if the run was whole and the machine quiet.
    pub fn keep(&self) -> io::Result<()> {
        if !self.words.is_empty() || self.scale != 1 {
            return Ok(());
        }
        if let Some(why) = machine::complaint(&self.looks) {
            eprintln!("NOISY, nothing written: {why}");
            return Ok(());
        }
        let text = format!(
            "{}. Before each row, {}. Command: `cargo run --release --manifest-path \
             benches/Cargo.toml --ignore-rust-version --bin algorithms`.\n\n\
             | ms, median of at least {} rounds | tine | rayon by hand | sequential | tine ÷ rayon | tine ÷ \
             sequential |\n|---|---|---|---|---|---|\n{}",
            machine::describe(),
            machine::summary(&self.looks),
            self.rounds,
            self.lines
        );
        report::write_between(&report::page(), "algorithms", &text)
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
