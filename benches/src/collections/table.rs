//! Rows: the candidates take turns, and their medians and ratios make a table.

use std::cell::RefCell;
use std::fmt::Write;
use std::hint::black_box;
use std::io;
use std::thread;
use std::time::{Duration, Instant};
use tine_bench::machine::{self, Calm};
use tine_bench::report;

/// A candidate: its name, and one timed run of it.
pub type Run<'a> = (&'static str, Box<dyn FnMut() -> Duration + 'a>);

pub fn timed<R>(work: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let took = start.elapsed();
    drop(result);
    took
}

/// A candidate that is timed from beginning to end.
pub fn one<'a, R>(who: &'static str, mut run: impl FnMut() -> R + 'a) -> Run<'a> {
    (who, Box::new(move || timed(&mut run)))
}

/// Threads that share a map or vector, each with its part of the input.
pub fn on_threads<T: Sync>(threads: usize, input: &[T], work: impl Fn(&[T]) + Sync) -> Duration {
    let chunk = input.len().div_ceil(threads);
    timed(|| {
        thread::scope(|scope| {
            input
                .chunks(chunk)
                .for_each(|part| drop(scope.spawn(|| work(part))));
        });
    })
}

/// Gives freed memory back, so that no contender pays for what the contender before it has freed.
pub fn forget_garbage() {
    #[cfg(target_env = "gnu")]
    // SAFETY: gives free memory back; it has no other effect.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The options of a run, and its findings.
pub struct Options {
    pub words: Vec<String>,
    pub rounds: usize,
    pub scale: usize,
    pub memory: Vec<(&'static str, String)>,
    pub lines: RefCell<String>,
    pub looks: RefCell<Vec<Calm>>,
}

impl Options {
    pub fn wants(&self, row: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| row.contains(word.as_str()))
    }

    /// Runs a row's candidates in turns; medians, and the ratio of ours to each.
    pub fn row(&self, name: &str, mut runs: Vec<Run<'_>>) {
        self.looks.borrow_mut().push(machine::look());
        let mut times = vec![Vec::new(); runs.len()];
        for round in 0..=self.rounds {
            for ((_, run), times) in runs.iter_mut().zip(&mut times) {
                forget_garbage();
                let took = run().as_secs_f64() * 1e3;
                // The first round is warm-up.
                if round > 0 {
                    times.push(took);
                }
            }
        }
        times
            .iter_mut()
            .for_each(|times| times.sort_by(f64::total_cmp));
        let median = |at: usize| times[at][times[at].len() / 2];
        println!("{name}");
        let mut cells = Vec::new();
        for (at, (who, _)) in runs.iter().enumerate() {
            let (middle, least) = (median(at), times[at][0]);
            let ratio = median(0) / middle;
            println!(
                "    {who:<28} {middle:>10.3} ms  (min {least:>9.3})   ours/this {ratio:>6.3}"
            );
            cells.push(match at {
                0 => format!("{who} {middle:.3} ({least:.3})"),
                _ => format!("{who} {middle:.3} → **{ratio:.2}**"),
            });
        }
        let others = cells[1..].join("; ");
        writeln!(
            self.lines.borrow_mut(),
            "| {name} | {} | {others} |",
            cells[0]
        )
        .expect("a string");
    }

    /// The Markdown of everything.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{}. Before each row, {}. Command: `cargo run --release --manifest-path benches/Cargo.toml \
             --ignore-rust-version --bin collections`.\n\n| ms, median of {} rounds | tine (best) \
             | peers → tine ÷ peer |\n|---|---|---|\n",
            machine::describe(),
            machine::summary(&self.looks.borrow()),
            self.rounds
        );
        text += &self.lines.borrow();
        text += "\n| memory | bytes per value |\n|---|---|\n";
        for (subject, bytes) in &self.memory {
            writeln!(text, "| {subject} | {bytes} |").expect("a string");
        }
        text
    }

    /// Writes the table into TABLES.md, if the run was whole and the machine quiet.
    pub fn keep(&self) -> io::Result<()> {
        if !self.words.is_empty() || self.scale != 1 {
            return Ok(());
        }
        if let Some(why) = machine::complaint(&self.looks.borrow()) {
            eprintln!("NOISY, nothing written: {why}");
            return Ok(());
        }
        report::write_between(&report::page(), "collections", &self.table())
    }
}
