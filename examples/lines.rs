//! Lines of a file: the counts of `wc` and `grep -c`, by one thread and by all.
//!
//! `lines [MEGABYTES]` writes a text of MEGABYTES megabytes (16 by default), counts its lines, words
//! and bytes and the lines that contain a given word, and removes the text.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use tine::readers::{ParallelRead, over};

/// What `wc` and `grep -c` count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    lines: u64,
    words: u64,
    bytes: u64,
    found: u64,
}

impl Counts {
    /// These counts with one more line, given without its line end.
    fn with(self, line: &str) -> Self {
        Counts {
            lines: self.lines + 1,
            words: self.words + line.split_ascii_whitespace().count() as u64,
            bytes: self.bytes + line.len() as u64 + 1,
            found: self.found + u64::from(line.contains("tine")),
        }
    }

    fn and(self, other: Self) -> Self {
        Counts {
            lines: self.lines + other.lines,
            words: self.words + other.words,
            bytes: self.bytes + other.bytes,
            found: self.found + other.found,
        }
    }
}

fn main() -> io::Result<()> {
    let megabytes: u64 = env::args()
        .nth(1)
        .map_or(16, |n| n.parse().expect("a number"));
    let path = env::temp_dir().join(format!("tine-example-lines-{}", std::process::id()));
    write_text(&path, megabytes << 20)?;

    let start = Instant::now();
    let mut file = BufReader::new(File::open(&path)?);
    let (mut alone, mut line) = (Counts::default(), String::new());
    while file.read_line(&mut line)? > 0 {
        alone = alone.with(line.trim_end_matches('\n'));
        line.clear();
    }
    let looped = start.elapsed();

    // Each block of the file becomes one `Counts`, and these are added up.
    let start = Instant::now();
    let together = File::open(&path)?
        .par_lines()
        .fold(Counts::default, Counts::with)
        .reduce(Counts::default, Counts::and)?;
    let parallel = start.elapsed();
    assert_eq!(together, alone);
    println!("{together:?}");
    println!("one thread {looped:?}, all {parallel:?}");

    // The same over the file as memory: nothing is copied.
    let start = Instant::now();
    let file = File::open(&path)?;
    // SAFETY: the file belongs to this program, which no longer writes to it.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    let mapped = over(&map)
        .par_lines()
        .fold(Counts::default, Counts::with)
        .reduce(Counts::default, Counts::and)?;
    println!("all, over the file as memory, {:?}", start.elapsed());
    assert_eq!(mapped, alone);

    // The first lines that `grep -n` prints.
    let mut first = Vec::new();
    let outcome = File::open(&path)?
        .par_lines()
        .numbered()
        .filter_map(|(n, line)| line.contains("tine").then(|| format!("{}:{line}", n + 1)))
        .try_for_each(|line| {
            first.push(line);
            if first.len() < 3 {
                Ok(())
            } else {
                Err(io::Error::other("enough"))
            }
        });
    assert_eq!(outcome.is_err(), first.len() == 3);
    first.iter().for_each(|line| println!("{line}"));
    fs::remove_file(&path)
}

fn write_text(path: &Path, bytes: u64) -> io::Result<()> {
    const WORDS: [&str; 8] = ["a", "fork", "has", "several", "prongs", "and", "each", "is"];
    let mut file = BufWriter::new(File::create(path)?);
    let (mut written, mut state) = (0, 1_u64);
    while written < bytes {
        let mut line = String::new();
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            line += if state >> 54 == 0 {
                "tine"
            } else {
                WORDS[(state >> 61) as usize]
            };
            line.push(' ');
        }
        line.pop();
        line.push('\n');
        file.write_all(line.as_bytes())?;
        written += line.len() as u64;
    }
    file.flush()
}
