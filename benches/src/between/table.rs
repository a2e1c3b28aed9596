//! One table for each kind of input: a line for each call, a column for each size, and in a cell
//! the call's time ÷ the loop's.

use std::fmt::Write;
use std::hint::black_box;
use std::io;
use std::time::Instant;
use std::{env, process, slice};
use tine_bench::machine::{self, Calm};
use tine_bench::{report, samples};

/// A call and the loop that does the same.
pub struct Pair<'a> {
    pub name: &'static str,
    pub call: Box<dyn FnMut() + 'a>,
    pub by_loop: Box<dyn FnMut() + 'a>,
}

/// A call of tine, and the same by a loop.
pub fn pair<'a, A, B>(
    name: &'static str,
    mut call: impl FnMut() -> A + 'a,
    mut by_loop: impl FnMut() -> B + 'a,
) -> Pair<'a> {
    Pair {
        name,
        call: Box::new(move || drop(black_box(call()))),
        by_loop: Box::new(move || drop(black_box(by_loop()))),
    }
}

/// The options of a run, and its findings.
pub struct Asked {
    pub words: Vec<String>,
    pub sizes: Option<Vec<usize>>,
    pub rounds: usize,
    looks: Vec<Calm>,
    /// How many sizes were measured again because the machine was not quiet.
    again: usize,
    text: String,
}

impl Default for Asked {
    fn default() -> Self {
        Asked {
            words: Vec::new(),
            sizes: None,
            rounds: 7,
            looks: Vec::new(),
            again: 0,
            text: String::new(),
        }
    }
}

/// How many times a size is measured at most, until the machine is quiet after it.
const TRIES: usize = 5;

/// A line of a table: the call, and its time at each size.
type Line = (String, Vec<String>);

/// A kind of input: its name, its sizes, and what a child does with one of them.
pub struct Kind {
    pub name: &'static str,
    pub sizes: &'static [usize],
    pub run: Box<dyn Fn(&Asked, usize)>,
}

impl Kind {
    /// Calls on inputs of one kind.
    pub fn new<I: 'static>(
        name: &'static str,
        sizes: &'static [usize],
        input: impl Fn(usize) -> I + 'static,
        calls: impl for<'i> Fn(&'i I) -> Vec<Pair<'i>> + 'static,
    ) -> Self {
        let run = move |asked: &Asked, size| {
            let input = input(size);
            let calls = calls(&input).into_iter();
            let wanted = calls.filter(|pair| asked.wants(name, pair.name));
            wanted.for_each(|mut pair| asked.measure(size, &mut pair));
        };
        Kind {
            name,
            sizes,
            run: Box::new(run),
        }
    }
}

impl Asked {
    fn wants(&self, kind: &str, call: &str) -> bool {
        let has = |word: &String| kind.contains(word.as_str()) || call.contains(word.as_str());
        self.words.is_empty() || self.words.iter().any(has)
    }

    /// Measures all calls on inputs of one kind. Each size has its own process: so what a call has learnt, and
    /// what the allocator keeps, come from that size only, as in a program that does one thing.
    pub fn kind(&mut self, nth: usize, kind: &Kind) -> io::Result<()> {
        let sizes = self.sizes.clone().unwrap_or_else(|| kind.sizes.to_vec());
        let mut lines: Vec<Line> = Vec::new();
        for &size in &sizes {
            let Some((found, look)) = self.in_calm(nth, size)? else {
                return Ok(());
            };
            self.looks.push(look);
            for (at, line) in found.lines().enumerate() {
                let mut fields = line.split('\t');
                let mut field = || fields.next().expect("four fields").to_owned();
                let (call, loop_took, call_took, cell) = (field(), field(), field(), field());
                println!(
                    "{:32} {call:26} {size:>9}  loop {loop_took:>10} µs  call {call_took:>10} µs  {cell}",
                    kind.name
                );
                if at == lines.len() {
                    lines.push((call, Vec::new()));
                }
                lines[at].1.push(cell);
            }
        }
        self.add(kind.name, &sizes, &lines);
        Ok(())
    }

    /// What a child finds for one size, and a look at the machine afterwards. If the machine was not quiet, the
    /// size is measured again. `None` if no call is asked for.
    fn in_calm(&mut self, nth: usize, size: usize) -> io::Result<Option<(String, Calm)>> {
        let mut tries = 0;
        loop {
            let mut child = process::Command::new(env::current_exe()?);
            child.args(["--rounds", &self.rounds.to_string()]);
            child.args(["--child", &nth.to_string(), &size.to_string()]);
            let output = child.args(&self.words).output()?;
            if !output.status.success() {
                eprint!("{}", String::from_utf8_lossy(&output.stderr));
                return Err(io::Error::other("a child has failed"));
            }
            let found = String::from_utf8_lossy(&output.stdout).into_owned();
            if found.is_empty() {
                return Ok(None);
            }
            let look = machine::look();
            tries += 1;
            if tries == TRIES || machine::complaint(slice::from_ref(&look)).is_none() {
                return Ok(Some((found, look)));
            }
            self.again += 1;
        }
    }

    /// Loop and call in turns; the median of the quotients, and in brackets the quotient of the best times.
    fn measure(&self, size: usize, pair: &mut Pair<'_>) {
        let repeat = (150_000 / size).max(1);
        let per_call = |work: &mut dyn FnMut()| {
            let start = Instant::now();
            (0..repeat).for_each(|_| work());
            start.elapsed().as_secs_f64() * 1e6 / repeat as f64
        };
        let (mut loops, mut calls) = (Vec::new(), Vec::new());
        // The first rounds are warm-up.
        for round in -2..self.rounds as isize {
            let (by_loop, call) = (per_call(&mut pair.by_loop), per_call(&mut pair.call));
            if round >= 0 {
                loops.push(by_loop);
                calls.push(call);
            }
        }
        let quotients: Vec<_> = calls.iter().zip(&loops).map(|(c, l)| c / l).collect();
        let median = |values: &[f64]| samples::median(values).expect("a round");
        let best = |values: &[f64]| values.iter().copied().fold(f64::MAX, f64::min);
        let (ratio, least) = (median(&quotients), best(&calls) / best(&loops));
        println!(
            "{}\t{:.1}\t{:.1}\t{ratio:.2} ({least:.2})",
            pair.name,
            median(&loops),
            median(&calls)
        );
    }

    fn add(&mut self, kind: &str, sizes: &[usize], lines: &[Line]) {
        let sizes: String = sizes
            .iter()
            .map(|&size| format!(" {} |", digits(size)))
            .collect();
        let rule = "---|".repeat(sizes.matches('|').count());
        write!(self.text, "**{kind}**\n\n| |{sizes}\n|---|{rule}\n").expect("a string");
        for (name, cells) in lines {
            writeln!(self.text, "| {name} | {} |", cells.join(" | ")).expect("a string");
        }
        self.text.push('\n');
    }

    /// Prints all, and writes the table of a whole run on a quiet machine.
    pub fn finish(&self) -> io::Result<()> {
        let text = format!(
            "{}. After each size, {}. Command: `cargo run --release --manifest-path benches/Cargo.toml \
             --ignore-rust-version --bin between`. A cell is the time of a call ÷ the loop's, the median of {} \
             rounds, and in brackets the quotient of the best of each. Where the machine was not quiet after a size, it was \
             measured again, at most {} times: {} times in all.\n\n{}",
            machine::describe(),
            machine::summary(&self.looks),
            self.rounds,
            TRIES - 1,
            self.again,
            self.text
        );
        println!("\n{text}");
        if !self.words.is_empty() || self.sizes.is_some() {
            return Ok(());
        }
        if let Some(why) = machine::complaint(&self.looks) {
            eprintln!("NOISY, nothing written: {why}");
            return Ok(());
        }
        report::write_between(&report::page(), "between", text.trim_end())
    }
}

/// A size in words that fit over a column: 3000 is 3·10³.
fn digits(size: usize) -> String {
    let zeros = (1..20).take_while(|&n| size % 10usize.pow(n) == 0).count() as u32;
    let power: String = zeros.to_string().chars().map(raised).collect();
    match (zeros, size / 10usize.pow(zeros)) {
        // 15·10⁴ is hard to read.
        (4, front @ 10..) => format!("{}.{}·10{}", front / 10, front % 10, raised('5')),
        (0..=2, _) => size.to_string(),
        (_, 1) => format!("10{power}"),
        (_, front) => format!("{front}·10{power}"),
    }
}

fn raised(digit: char) -> char {
    let at = digit.to_digit(10).expect("a digit") as usize;
    "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(at).expect("ten digits")
}
