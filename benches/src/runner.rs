//! The parent's side of a run: which rows at which pool sizes, one child
//! process per pool size for the rows that share one, a fresh child per sample
//! for the others. No child may hang the run.
#![forbid(unsafe_code)]

use crate::options::{Options, cores};
use crate::row::{How, Row, Size};
use crate::samples::Measured;
use crate::workloads;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

const PATIENCE_TOGETHER: Duration = Duration::from_secs(300);
const PATIENCE_ALONE: Duration = Duration::from_secs(30);

/// The rows that this run is about, whatever the pool size.
pub fn rows(options: &Options) -> Vec<Row> {
    let wanted = |row: &Row| {
        options.filters.is_empty() || options.filters.iter().any(|f| row.name.contains(f))
    };
    workloads::rows().into_iter().filter(wanted).collect()
}

fn size(threads: usize) -> Size {
    match threads {
        1 => Size::One,
        n if n <= cores() => Size::Cores,
        _ => Size::Crowd,
    }
}

/// What a run has found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Rows with their samples, in the order of the table.
    pub measured: Vec<Measured>,
    /// Whether a child failed or had to be ended, so that samples are missing.
    pub incomplete: bool,
}

/// Takes all samples at one pool size and adds them.
pub fn measure(options: &Options, threads: usize, rate: u64, found: &mut Found) {
    let rows = rows(options)
        .into_iter()
        .filter(|row| row.sizes.contains(&size(threads)));
    let mut section = Found {
        measured: rows.map(|row| Measured::new(row, threads)).collect(),
        incomplete: false,
    };
    together(options, threads, rate, &mut section);
    alone(options, threads, rate, &mut section);
    found.measured.append(&mut section.measured);
    found.incomplete |= section.incomplete;
}

fn together(options: &Options, threads: usize, rate: u64, section: &mut Found) {
    let shared = section
        .measured
        .iter()
        .filter(|measured| measured.row.shared());
    let names: Vec<_> = shared
        .map(|measured| measured.row.name.to_owned())
        .collect();
    if names.is_empty() {
        return;
    }
    let rounds = if options.quick { 4 } else { 12 };
    let mut words = words("child-together", &[threads, rate as usize, rounds]);
    words.extend(names);
    section.collect(vec![start(&words)], PATIENCE_TOGETHER);
}

fn alone(options: &Options, threads: usize, rate: u64, section: &mut Found) {
    let repeats = if options.quick { 1 } else { 3 };
    for row in section.measured.iter().map(|m| m.row).collect::<Vec<_>>() {
        let child = |peer: &str| {
            let mut words = words("child-alone", &[threads, rate as usize]);
            words.extend([row.name.to_owned(), peer.to_owned()]);
            start(&words)
        };
        let peers = row.cases.iter().map(|case| case.peer);
        match row.how {
            How::Together | How::Seldom => {}
            How::Aside => section.collect(peers.map(child).collect(), PATIENCE_ALONE),
            How::Alone => (0..repeats)
                .flat_map(|_| peers.clone())
                .for_each(|peer| section.collect(vec![child(peer)], PATIENCE_ALONE)),
        }
    }
}

fn words(verb: &str, numbers: &[usize]) -> Vec<String> {
    [verb.to_owned()]
        .into_iter()
        .chain(numbers.iter().map(usize::to_string))
        .collect()
}

fn start(words: &[String]) -> (Child, String) {
    let program = env::current_exe().expect("this program's path");
    let child = Command::new(program)
        .args(words)
        .stdout(Stdio::piped())
        .spawn();
    (child.expect("a child process"), words.join(" "))
}

impl Found {
    /// Records what the children print until they end, and ends children that run too long.
    fn collect(&mut self, children: Vec<(Child, String)>, patience: Duration) {
        let deadline = Instant::now() + patience;
        for (mut child, what) in children {
            let output = child.stdout.take().expect("a pipe");
            let reader = thread::spawn(move || {
                BufReader::new(output)
                    .lines()
                    .map_while(Result::ok)
                    .collect::<Vec<_>>()
            });
            let well = ends_well(&mut child, deadline);
            let lines = reader.join().expect("the lines of a child");
            if !well {
                let last = lines.last().map_or("none", String::as_str);
                eprintln!("A child failed or hung: {what}\n  its last sample: {last}");
                self.incomplete = true;
            }
            lines.iter().for_each(|line| self.file(line));
        }
    }

    fn file(&mut self, line: &str) {
        let mut fields = line.split('\t');
        let (row, peer, sample) = (fields.next(), fields.next(), fields.next());
        let measured = self.measured.iter_mut().find(|m| Some(m.row.name) == row);
        let sample = sample.and_then(|text| text.parse().ok());
        if let (Some(measured), Some(peer), Some(sample)) = (measured, peer, sample) {
            measured.push(peer, sample);
        }
    }
}

/// Waits for the child, until the deadline. Returns whether it has ended without an error.
fn ends_well(child: &mut Child, deadline: Instant) -> bool {
    loop {
        if let Some(status) = child.try_wait().expect("a child to wait for") {
            return status.success();
        }
        if Instant::now() > deadline {
            child.kill().expect("a child to end");
            child.wait().expect("a child to wait for");
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
}
