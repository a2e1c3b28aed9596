//! Pipelines and readers against the plain loop, rayon's `par_bridge` and pariter.
//!
//! `streams [--mb N]` makes a text of N megabytes (1000 if nothing is said) in the directory for
//! temporary files, and prints the medians of interleaved rounds, as shares of the first of each row.
//! `streams --only NAME --mb N` does one of them once and prints its time and the most memory it had.

use std::env;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pariter::IteratorExt as _;
use rayon::iter::{ParallelBridge as _, ParallelIterator as _};
use tine_bench::usage::{peak_memory, process_cpu};
use tine_iter::pipeline;
use tine_iter::readers::ParallelRead as _;

/// What is computed from the text: the number of lines, the sum of one field, and the maximum of another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Totals {
    lines: u64,
    sum: u64,
    largest: f64,
}

impl Totals {
    fn with(self, (count, weight): (u64, f64)) -> Self {
        Totals {
            lines: self.lines + 1,
            sum: self.sum + count,
            largest: self.largest.max(weight),
        }
    }

    fn and(self, other: Totals) -> Totals {
        Totals {
            lines: self.lines + other.lines,
            sum: self.sum + other.sum,
            largest: self.largest.max(other.largest),
        }
    }
}

/// A line has a name, a count, a weight and some words.
fn parse(line: &str) -> (u64, f64) {
    let mut fields = line.split(',').skip(1);
    let count = fields.next().and_then(|field| field.parse().ok());
    let weight = fields.next().and_then(|field| field.parse().ok());
    (count.unwrap_or(0), weight.unwrap_or(0.0))
}

fn write_text(path: &Path, bytes: u64) {
    if fs::metadata(path).is_ok_and(|file| file.len() >= bytes) {
        return;
    }
    let mut file = BufWriter::new(File::create(path).unwrap());
    let (mut written, mut state) = (0, 1_u64);
    while written < bytes {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let (count, weight) = (state >> 44, (state >> 20 & 0xFFFF) as f64 / 64.0);
        let line = format!(
            "name-{},{count},{weight},some words that nobody reads\n",
            state >> 58
        );
        file.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
    }
    file.flush().unwrap();
}

fn open(path: &Path) -> BufReader<File> {
    BufReader::with_capacity(128 << 10, File::open(path).unwrap())
}

fn looped(path: &Path) -> Totals {
    let (mut file, mut line, mut totals) = (open(path), String::new(), Totals::default());
    while file.read_line(&mut line).unwrap() > 0 {
        totals = totals.with(parse(&line));
        line.clear();
    }
    totals
}

fn lines(path: &Path) -> Totals {
    File::open(path)
        .unwrap()
        .par_lines()
        .fold(Totals::default, |totals, line| totals.with(parse(line)))
        .reduce(Totals::default, Totals::and)
        .unwrap()
}

fn mapped_lines(path: &Path) -> Totals {
    File::open(path)
        .unwrap()
        .par_lines()
        .map(parse)
        .fold(Totals::default(), Totals::with)
        .unwrap()
}

fn owned_lines(path: &Path) -> Totals {
    pipeline(open(path).lines(), 4096)
        .batched()
        .map(|line| parse(&line.unwrap()))
        .fold(Totals::default(), Totals::with)
}

fn by_rayon(path: &Path) -> Totals {
    open(path)
        .lines()
        .par_bridge()
        .map(|line| parse(&line.unwrap()))
        .fold(Totals::default, Totals::with)
        .reduce(Totals::default, Totals::and)
}

fn by_pariter(path: &Path) -> Totals {
    open(path)
        .lines()
        .parallel_map_custom(|options| options.threads(2), |line| parse(&line.unwrap()))
        .fold(Totals::default(), Totals::with)
}

/// The same with a thousand lines in each item, as users of either library would end up doing.
fn by_rayon_chunked(path: &Path) -> Totals {
    chunks(open(path))
        .par_bridge()
        .map(|chunk| {
            chunk
                .lines()
                .fold(Totals::default(), |totals, line| totals.with(parse(line)))
        })
        .reduce(Totals::default, Totals::and)
}

fn by_pariter_chunked(path: &Path) -> Totals {
    chunks(open(path))
        .parallel_map_custom(
            |options| options.threads(2),
            |chunk: String| {
                chunk
                    .lines()
                    .fold(Totals::default(), |totals, line| totals.with(parse(line)))
            },
        )
        .fold(Totals::default(), Totals::and)
}

fn chunks(mut file: BufReader<File>) -> impl Iterator<Item = String> {
    std::iter::from_fn(move || {
        let mut chunk = String::new();
        for _ in 0..1000 {
            if file.read_line(&mut chunk).unwrap() == 0 {
                break;
            }
        }
        (!chunk.is_empty()).then_some(chunk)
    })
}

type Way = (&'static str, fn(&Path) -> Totals);

const WAYS: &[Way] = &[
    ("loop", looped),
    ("par_lines-fold", lines),
    ("par_lines-map", mapped_lines),
    ("pipeline-of-lines", owned_lines),
    ("rayon-par_bridge", by_rayon),
    ("pariter", by_pariter),
    ("rayon-par_bridge-1000", by_rayon_chunked),
    ("pariter-1000", by_pariter_chunked),
];

fn main() {
    let args: Vec<String> = env::args().collect();
    let value = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1).cloned()
    };
    let mb: u64 = value("--mb").map_or(1000, |n| n.parse().unwrap());
    let path: PathBuf = env::temp_dir().join(format!("tine-streams-{mb}.txt"));
    if value("--only").as_deref() == Some("stages") {
        stages();
        return;
    }
    write_text(&path, mb << 20);
    if let Some(name) = value("--only") {
        let (_, way) = WAYS.iter().find(|(way, _)| *way == name).expect("a name");
        let start = Instant::now();
        let totals = black_box(way(&path));
        let (wall, memory) = (start.elapsed().as_secs_f64(), peak_memory());
        let cpu = process_cpu().as_secs_f64();
        println!("{name}: {wall:.3} s, {cpu:.3} s of CPU, {memory} bytes of memory, {totals:?}");
        return;
    }
    let expected = looped(&path);
    let mut times = vec![Vec::new(); WAYS.len()];
    let rounds: usize = value("--rounds").map_or(3, |n| n.parse().unwrap());
    for _ in 0..rounds {
        for ((name, way), times) in WAYS.iter().zip(&mut times) {
            let start = Instant::now();
            let totals = black_box(way(&path));
            times.push(start.elapsed());
            assert_eq!(
                (totals.lines, totals.sum),
                (expected.lines, expected.sum),
                "{name}"
            );
        }
    }
    println!("read, parse, aggregate {mb} MB");
    print(WAYS.iter().map(|way| way.0), times);
    stages();
}

fn print(names: impl Iterator<Item = &'static str>, mut times: Vec<Vec<Duration>>) {
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e3
    };
    let first = median(&mut times[0]);
    for (name, times) in names.zip(&mut times) {
        let median = median(times);
        println!("    {name:24} {median:12.2} ms   {:.3}", median / first);
    }
}

/// Empty stages in order.
fn stages() {
    const ITEMS: u64 = 1_000_000;
    let empty = |limit: usize, one_by_one: bool, stages: usize| {
        let line = pipeline(0..ITEMS, limit);
        let line = if one_by_one { line.one_by_one() } else { line };
        let start = Instant::now();
        match stages {
            1 => line.in_order(black_box).run(),
            2 => line.map(black_box).in_order(black_box).run(),
            _ => line
                .in_order(black_box)
                .map(black_box)
                .in_order(black_box)
                .run(),
        }
        start.elapsed()
    };
    let bridge = || {
        let start = Instant::now();
        tine_iter::iter::ParallelBridge::par_bridge_ordered(0..ITEMS, 64)
            .map(black_box)
            .for_each(|n| assert!(black_box(n) < ITEMS));
        start.elapsed()
    };
    println!("10^6 items through empty stages, ns an item (median; mean of CPU time)");
    let row = |name: &str, run: &dyn Fn() -> Duration| {
        let before = process_cpu();
        let mut times: Vec<_> = (0..9).map(|_| run()).collect();
        let cpu = (process_cpu() - before) / 9;
        times.sort_unstable();
        let each = |time: Duration| time.as_nanos() as f64 / ITEMS as f64;
        println!(
            "    {name:40} {:8.1}, CPU {:8.1}",
            each(times[4]),
            each(cpu)
        );
    };
    for limit in [64, 1024] {
        for one_by_one in [false, true] {
            let how = if one_by_one {
                "one by one"
            } else {
                "in batches"
            };
            row(&format!("in order, {how}, limit {limit}"), &|| {
                empty(limit, one_by_one, 1)
            });
            row(&format!("map, in order, {how}, limit {limit}"), &|| {
                empty(limit, one_by_one, 2)
            });
            row(
                &format!("in order, map, in order, {how}, limit {limit}"),
                &|| empty(limit, one_by_one, 3),
            );
        }
    }
    row("par_bridge_ordered(64), map, for_each", &bridge);
}
