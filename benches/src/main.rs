//! One command for the whole table: measures, prints, writes it into TABLES.md.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, hint::black_box};
use tine_bench::options::{Command, HELP, Options, default_threads, parse};
use tine_bench::peers::{Chili, Forte, Peer, Rayon, Sequential, Tine};
use tine_bench::runner::{self, Found};
use tine_bench::workloads::tree::tree;
use tine_bench::{child, machine, report, spin, suite, workloads};

fn main() -> ExitCode {
    match parse(env::args().skip(1)) {
        Err(mistake) => {
            eprintln!("{mistake}\n\n{HELP}");
            return ExitCode::FAILURE;
        }
        Ok(Command::Help) => println!("{HELP}"),
        Ok(Command::List) => workloads::rows()
            .iter()
            .for_each(|row| println!("{}", row.name)),
        Ok(Command::Together {
            threads,
            rate,
            rounds,
            rows,
        }) => {
            child::together(threads, rate, rounds, &rows);
        }
        Ok(Command::Alone {
            threads,
            rate,
            row,
            peer,
        }) => {
            child::alone(threads, rate, &row, &peer);
        }
        Ok(Command::Tree { peer, depth }) => one_tree(&peer, depth),
        Ok(Command::All) => {
            spin::set_rate(spin::measure_rate());
            return ended(suite::run());
        }
        Ok(Command::Plots) => return ended(suite::draw()),
        Ok(Command::Table(options)) => return whole_table(&options),
    }
    ExitCode::SUCCESS
}

fn ended(result: std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn whole_table(options: &Options) -> ExitCode {
    let rate = spin::measure_rate();
    spin::set_rate(rate);
    let mut looks = vec![machine::look()];
    if let Some(complaint) = machine::complaint(&looks) {
        eprintln!("NOISY already: {complaint}");
    }
    let mut found = Found::default();
    for &threads in &options.threads {
        eprintln!("{threads} threads …");
        runner::measure(options, threads, rate, &mut found);
        looks.push(machine::look());
    }
    let command: Vec<String> = env::args().skip(1).collect();
    let text = format!(
        "{}. Peers: {}. Before, between and after, {}. \
         Command: `cargo run --release --manifest-path benches/Cargo.toml --ignore-rust-version{}{}`.\n\n{}",
        machine::describe(),
        report::versions(),
        machine::summary(&looks),
        if command.is_empty() { "" } else { " -- " },
        command.join(" "),
        report::tables(&found.measured),
    );
    println!("{text}");
    if found.incomplete {
        eprintln!("INCOMPLETE, nothing written.");
        return ExitCode::FAILURE;
    }
    keep(options, &text, machine::complaint(&looks));
    ExitCode::SUCCESS
}

/// Writes the table where it belongs, unless it is partial or not to be trusted.
fn keep(options: &Options, text: &str, complaint: Option<String>) {
    let complete =
        options.filters.is_empty() && !options.quick && options.threads == default_threads();
    let place: Option<PathBuf> = options.into.clone().or_else(|| complete.then(report::page));
    match (complaint, place) {
        (Some(complaint), _) => eprintln!("NOISY, nothing written: {complaint}"),
        (None, None) => eprintln!("A partial table: nothing written."),
        (None, Some(path)) => match report::write_between_markers(&path, text) {
            Ok(()) => eprintln!("Written into {}", path.display()),
            Err(error) => eprintln!("Not written into {}: {error}", path.display()),
        },
    }
}

fn one_tree(peer: &str, depth: u32) {
    fn grow<P: Peer>(depth: u32) {
        assert!(P::start(1), "{} has no pool of one thread", P::NAME);
        black_box(P::enter(|cx| tree::<P>(cx, black_box(depth))));
    }
    match peer {
        Sequential::NAME => grow::<Sequential>(depth),
        Tine::NAME => grow::<Tine>(depth),
        Rayon::NAME => grow::<Rayon>(depth),
        Chili::NAME => grow::<Chili>(depth),
        Forte::NAME => grow::<Forte>(depth),
        other => panic!("no peer is called {other}"),
    }
}
