//! The command line: the table, its children, and one run for an instruction
//! counter.
#![forbid(unsafe_code)]

use std::{path::PathBuf, thread};

/// What the help says.
pub const HELP: &str = "\
tine-bench all      every table of every program, then the plots: half an hour
tine-bench plots    draw the tables as they stand
tine-bench [FILTER…] [--threads N,N…] [--quick] [--into FILE] [--list]
  FILTER          only rows whose name holds one of these
  --threads N,N   pool sizes (default: 1, one per core, 8 and 32 per core)
  --quick         few rounds
  --into FILE     write the table there, between the markers, even if it is partial
  --list          print the names of the rows
A complete run writes benches/TABLES.md. No run on a noisy machine writes.";

/// The options of a run of the table.
#[derive(Clone, Debug)]
pub struct Options {
    /// Pool sizes.
    pub threads: Vec<usize>,
    /// Rows whose name holds one of these; all if there is none.
    pub filters: Vec<String>,
    /// Few rounds.
    pub quick: bool,
    /// Where to write the table instead of TABLES.md.
    pub into: Option<PathBuf>,
}

/// What one process is for.
#[derive(Clone, Debug)]
pub enum Command {
    /// Measure, print, write.
    Table(Options),
    /// Run every program, then draw.
    All,
    /// Draw the tables as they stand.
    Plots,
    /// Print the names of the rows.
    List,
    /// Print the help.
    Help,
    /// A child: samples of several rows, the peers taking turns.
    Together {
        /// The pools' size.
        threads: usize,
        /// For [`spin::set_rate`](crate::spin::set_rate).
        rate: u64,
        /// Samples per row and peer.
        rounds: usize,
        /// The rows' names.
        rows: Vec<String>,
    },
    /// A child: one sample of one row by one peer.
    Alone {
        /// The pool's size.
        threads: usize,
        /// For [`spin::set_rate`](crate::spin::set_rate).
        rate: u64,
        /// The row's name.
        row: String,
        /// The peer's name.
        peer: String,
    },
    /// One tree of joins on one thread, for an instruction counter.
    Tree {
        /// The peer's name.
        peer: String,
        /// The depth of the tree.
        depth: u32,
    },
}

/// The cores that this process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

/// The pool sizes of a complete table.
pub fn default_threads() -> Vec<usize> {
    let mut sizes = vec![1, cores(), 8 * cores(), 32 * cores()];
    sizes.dedup();
    sizes
}

/// Reads the arguments, without the program's name.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let arguments: Vec<String> = arguments.into_iter().collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["child-together", threads, rate, rounds, rows @ ..] => Ok(Command::Together {
            threads: number(threads)?,
            rate: number(rate)?,
            rounds: number(rounds)?,
            rows: rows.iter().map(ToString::to_string).collect(),
        }),
        ["child-alone", threads, rate, row, peer] => Ok(Command::Alone {
            threads: number(threads)?,
            rate: number(rate)?,
            row: row.to_string(),
            peer: peer.to_string(),
        }),
        ["tree", peer, depth] => Ok(Command::Tree {
            peer: peer.to_string(),
            depth: number(depth)?,
        }),
        ["all"] => Ok(Command::All),
        ["plots"] => Ok(Command::Plots),
        words => table(words),
    }
}

fn table(words: &[&str]) -> Result<Command, String> {
    let mut options = Options {
        threads: default_threads(),
        filters: vec![],
        quick: false,
        into: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        match *word {
            "--help" | "-h" => return Ok(Command::Help),
            "--list" => return Ok(Command::List),
            "--quick" => options.quick = true,
            "--into" => options.into = Some(value()?.into()),
            "--threads" => {
                options.threads = value()?.split(',').map(number).collect::<Result<_, _>>()?;
            }
            flag if flag.starts_with('-') => return Err(format!("no such flag: {flag}")),
            filter => options.filters.push(filter.to_owned()),
        }
    }
    if options.threads.contains(&0) {
        return Err("--threads wants numbers above 0".into());
    }
    Ok(Command::Table(options))
}

fn number<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("not a number: {word}"))
}
