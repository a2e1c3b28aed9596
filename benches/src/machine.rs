//! The machine: what it is, and whether its clock readings mean anything now.
//!
//! Two questions, asked before, between and after the sections of a run. Does arithmetic on as many
//! threads as there are cores take the time of one? Do other programs use the cores? A table of a
//! noisy run is not kept. A third question is only for the reader: how much longer do reads take
//! while all cores read?
#![forbid(unsafe_code)]

use crate::options::cores;
use crate::{samples, spin};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use std::{fs, hint, process, thread};

/// Above this, threads of pure arithmetic slow each other down.
const STRETCH_LIMIT: f64 = 1.10;
/// Above this, other programs are at work.
const OTHERS_LIMIT: f64 = 0.05;

/// One look at the machine.
#[derive(Clone, Copy, Debug)]
pub struct Calm {
    /// Time of one piece of arithmetic per core at once ÷ time of one piece.
    pub stretch: f64,
    /// Time of reads at random, 8 MB for each core, on all cores at once ÷ the time on one. Cores that
    /// compute undisturbed may still share a cache and the way to memory, with other machines too.
    pub memory: f64,
    /// Share of all cores that others used while this process slept.
    pub others: f64,
}

/// Looks at the machine, for about half a second.
pub fn look() -> Calm {
    Calm {
        stretch: stretch(),
        memory: memory(),
        others: others(),
    }
}

/// The reason why these looks do not allow a table, if there is one: the median look is beyond a
/// limit, or the worst look is far beyond.
pub fn complaint(looks: &[Calm]) -> Option<String> {
    let stretches: Vec<_> = looks.iter().map(|calm| calm.stretch).collect();
    let others: Vec<_> = looks.iter().map(|calm| calm.others).collect();
    let beyond = |values: &[f64], limit: f64, far: f64| {
        let worst = values.iter().copied().fold(0.0, f64::max);
        samples::median(values).is_none_or(|median| median > limit) || worst > far
    };
    if beyond(&stretches, STRETCH_LIMIT, 1.25) {
        return Some(format!(
            "{} threads of arithmetic take {}",
            cores(),
            list(&stretches, "×")
        ));
    }
    let percents: Vec<_> = others.iter().map(|share| share * 100.0).collect();
    beyond(&others, OTHERS_LIMIT, 4.0 * OTHERS_LIMIT)
        .then(|| format!("others use {} of the cores", list(&percents, "%")))
}

fn list(values: &[f64], unit: &str) -> String {
    let texts: Vec<_> = values
        .iter()
        .map(|value| format!("{value:.2} {unit}"))
        .collect();
    texts.join(", ")
}

fn stretch() -> f64 {
    let arithmetic = |_| spin::nanoseconds(10_000_000);
    let ratio = |_| {
        let alone = side_by_side(1, arithmetic);
        side_by_side(cores(), arithmetic) / alone
    };
    samples::median(&(0..9).map(ratio).collect::<Vec<_>>()).expect("nine ratios")
}

fn memory() -> f64 {
    static PATHS: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    let paths = PATHS.get_or_init(|| (0..cores()).map(|_| path()).collect());
    let walk = |at: usize| {
        let end = (0..30_000).fold(0, |place: u32, _| paths[at][place as usize]);
        hint::black_box(end);
    };
    let ratio = |_| {
        let alone = side_by_side(1, walk);
        side_by_side(cores(), walk) / alone
    };
    samples::median(&(0..3).map(ratio).collect::<Vec<_>>()).expect("three ratios")
}

/// 8 MB of places, each of which says where to read next. Together they form one round through all places.
fn path() -> Vec<u32> {
    const PLACES: u32 = 2 << 20;
    // An odd multiplier visits every place of a power of two once, and the next line is far away.
    let order = |n: u32| n.wrapping_mul(0x9E37_79B9) % PLACES;
    let mut path = vec![0; PLACES as usize];
    (0..PLACES).for_each(|n| path[order(n) as usize] = order(n + 1));
    path
}

/// Seconds from the moment when all threads run until the last one has finished its piece of work.
fn side_by_side(threads: usize, work: impl Fn(usize) + Copy + Send) -> f64 {
    let (arrived, begin) = (&AtomicUsize::new(0), Instant::now());
    let piece = move |at| {
        arrived.fetch_add(1, Relaxed);
        while arrived.load(Relaxed) < threads {
            hint::spin_loop();
        }
        let from = begin.elapsed();
        work(at);
        (from, begin.elapsed())
    };
    thread::scope(|scope| {
        let pieces: Vec<_> = (0..threads)
            .map(|at| scope.spawn(move || piece(at)))
            .collect();
        let times: Vec<_> = pieces
            .into_iter()
            .map(|p| p.join().expect("a piece of work"))
            .collect();
        let from = times.iter().map(|time| time.0).min().expect("a thread");
        let to = times.iter().map(|time| time.1).max().expect("a thread");
        (to - from).as_secs_f64()
    })
}

/// The share of CPU time that is not idle while this process sleeps.
fn others() -> f64 {
    let before = busy_and_all();
    thread::sleep(Duration::from_millis(300));
    let after = busy_and_all();
    (after.0 - before.0) / (after.1 - before.1).max(1.0)
}

/// Ticks of all cores since boot: busy ones (stolen ones too), and all.
fn busy_and_all() -> (f64, f64) {
    let stat = fs::read_to_string("/proc/stat").expect("a Linux system");
    let first = stat.lines().next().expect("the line of all cores");
    let ticks: Vec<f64> = first
        .split_whitespace()
        .skip(1)
        .flat_map(str::parse)
        .collect();
    let all: f64 = ticks.iter().take(8).sum();
    (all - ticks[3] - ticks[4], all)
}

/// One line: processor, cores, kernel, compiler, date.
pub fn describe() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{}, {} cores, Linux {}, {}, {}",
        model.map_or("unknown processor", str::trim),
        cores(),
        kernel.trim(),
        said_by("rustc", &["--version"]),
        said_by("date", &["-u", "+%Y-%m-%d"]),
    )
}

fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = process::Command::new(program).args(arguments).output();
    output.map_or(format!("no {program}"), |out| {
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    })
}

/// The looks of a run in words, for the foot of the table.
pub fn summary(looks: &[Calm]) -> String {
    let worst = |value: fn(&Calm) -> f64| looks.iter().map(value).fold(0.0, f64::max);
    format!(
        "{} threads of pure arithmetic took at most {:.2} × the time of one, of reads at random \
         (8 MB each) at most {:.2} ×, and others used at most {:.0} % of the cores",
        cores(),
        worst(|calm| calm.stretch),
        worst(|calm| calm.memory),
        100.0 * worst(|calm| calm.others),
    )
}
