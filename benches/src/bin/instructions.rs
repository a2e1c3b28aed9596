//! Has anything become slower? Instructions of small workloads on one thread, counted by callgrind,
//! against those of the last accepted count.
//!
//! ```text
//! instructions [ROW…]          counts, compares, fails if a row has grown by more than 3 %
//! instructions --accept        counts, and writes what it found into instructions.tsv
//! ```
//!
//! Times say little on a machine that others use; a count is the same each day. It says nothing
//! about caches, mispredicted branches and the effects of threads on each other: the tables are for
//! these. Each workload runs in a separate process, a few times to warm up and once to be counted.
//! The count covers what the calling thread does between the beginning and the end of that call.
//!
//! How a loop is cut depends on the clock, and so would the counts, by a factor. So each loop here is
//! one piece (`with_min_len`), and the count covers the call and the work for each item. The least of
//! a few counts is used. A row whose counts differ by more than the limit is reported as unsteady, and
//! is neither compared nor accepted: its last accepted count stays.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use std::{env, fs, io, process, thread};

use tine_bench::machine;
use tine_collections::{ParHashMap, prelude::*};
use tine_iter::prelude::*;

/// What a row may have grown by.
const LIMIT: f64 = 0.03;
/// How many counts are taken; the least is used.
const COUNTS: usize = 3;
/// A workload runs this number of times before it is counted.
const WARM: usize = 3;
/// After this time the pool's thread is asleep, under callgrind too.
const ASLEEP: Duration = Duration::from_millis(300);

/// Where a workload is called from.
#[derive(Clone, Copy)]
enum Caller {
    /// The one thread of a pool.
    Pool,
    /// An ordinary thread, as a guest of the global pool, whose own thread is asleep.
    Guest,
}
use Caller::{Guest, Pool};

/// A workload's name, where it is called from, and what it does.
type Workload = (&'static str, Caller, fn());

const WORKLOADS: [Workload; 15] = [
    ("join, fib(18)", Pool, || _ = black_box(fib(black_box(18)))),
    ("join, a thousand in a row", Pool, joins),
    ("join, a thousand as a guest", Guest, joins),
    ("scope, a thousand spawns", Pool, spawns),
    ("scopes in scopes, fib(12)", Pool, || {
        _ = black_box(scopes(black_box(12)))
    }),
    ("map and sum, 10 items", Pool, || map_sum(10)),
    ("map and sum, 10 items as a guest", Guest, || map_sum(10)),
    ("map and sum, 10^4 items", Pool, || map_sum(10_000)),
    ("filter and collect, 10^4 items", Pool, filter_collect),
    ("sort_unstable, 10^4 numbers", Pool, sort),
    ("sort_by, 10^4 numbers", Pool, sort_by),
    ("count_by, 10^4 items, 100 keys", Pool, || count_by(100)),
    ("count_by, 10^4 items, 5000 keys", Pool, || count_by(5_000)),
    ("map insert, 10^4 keys", Pool, insert),
    ("map insert and get, 10^4 keys", Pool, get),
];

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = tine_pool::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn joins() {
    for n in 0..1_000_u64 {
        black_box(tine_pool::join(|| black_box(n), || black_box(n)));
    }
}

fn spawns() {
    tine_pool::scope(|scope| {
        for n in 0..1_000_u64 {
            scope.spawn(move |_| {
                black_box(n);
            });
        }
    });
}

fn scopes(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (mut a, mut b) = (0, 0);
    tine_pool::scope(|scope| {
        scope.spawn(|_| a = scopes(n - 1));
        b = scopes(n - 2);
    });
    a + b
}

fn map_sum(n: u64) {
    let calls = 20_000 / n.max(20);
    for _ in 0..calls {
        let numbers = (0..black_box(n as u32)).into_par_iter();
        let numbers = numbers.with_min_len(n as usize);
        let sum: u64 = numbers.map(|x| u64::from(x ^ x >> 3)).sum();
        black_box(sum);
    }
}

/// Numbers in no order, the same each time.
fn numbers(below: u64) -> Vec<u64> {
    let mut state = 7_u64;
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) % below
    };
    std::iter::repeat_with(next).take(10_000).collect()
}

fn filter_collect() {
    let numbers = numbers(1 << 31).into_par_iter().with_min_len(10_000);
    black_box(numbers.filter(|x| x % 3 > 0).collect::<Vec<u64>>());
}

fn sort() {
    let mut v = numbers(1 << 31);
    v.par_sort_unstable();
    black_box(v);
}

fn sort_by() {
    let mut v = numbers(1 << 31);
    v.par_sort_by(|a, b| b.cmp(a));
    black_box(v);
}

fn count_by(keys: u64) {
    let numbers = numbers(keys).into_par_iter().with_min_len(10_000);
    black_box(numbers.count_by(|&x| x));
}

fn insert() {
    let map = ParHashMap::new();
    for (n, x) in numbers(1 << 31).into_iter().enumerate() {
        map.insert(x, n);
    }
    black_box(map);
}

fn get() {
    let map = ParHashMap::new();
    for x in numbers(20_000) {
        map.insert(x, x);
    }
    let found = (0..10_000).filter(|n| map.contains_key(n));
    black_box(found.count());
}

/// Callgrind counts from the entry of this function to its exit.
#[inline(never)]
fn measured(work: fn()) {
    black_box(work)();
    black_box(());
}

/// The process that is counted.
fn child(name: &str) {
    let found = WORKLOADS.iter().find(|workload| workload.0 == name);
    let (_, caller, work) = *found.unwrap_or_else(|| panic!("no workload is called {name}"));
    match caller {
        Pool => {
            let pool = tine_pool::ThreadPoolBuilder::new().num_threads(1).build();
            pool.expect("a pool of one thread").install(|| {
                (0..WARM).for_each(|_| work());
                measured(work);
            });
        }
        Guest => {
            (0..WARM).for_each(|_| work());
            thread::sleep(ASLEEP);
            measured(work);
        }
    }
}

/// The instructions of one run of a workload.
fn count(name: &str) -> io::Result<u64> {
    let out = env::temp_dir().join(format!("tine-instructions-{}", process::id()));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--toggle-collect=*measured*"]);
    command.arg(format!("--callgrind-out-file={}", out.display()));
    command.arg(env::current_exe()?).args(["--child", name]);
    command.env("TINE_NUM_THREADS", "1");
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("{name}: {said}")));
    }
    let text = fs::read_to_string(&out)?;
    fs::remove_file(&out)?;
    let lines = text.lines();
    let mut totals = lines.filter_map(|line| {
        let rest = line
            .strip_prefix("totals: ")
            .or(line.strip_prefix("summary: "))?;
        rest.split_whitespace().next()?.parse().ok()
    });
    let total = totals.next().filter(|&total| total > 0);
    total.ok_or_else(|| io::Error::other(format!("{name}: nothing was counted")))
}

fn baseline_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.tsv")
}

/// What was accepted: a name and a number in a line, after a line about the machine.
fn baseline() -> BTreeMap<String, u64> {
    let text = fs::read_to_string(baseline_path()).unwrap_or_default();
    let entry = |line: &str| {
        let (name, count) = line.split_once('\t')?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    text.lines().filter_map(entry).collect()
}

fn compare(words: &[String]) -> io::Result<bool> {
    let accept = words.iter().any(|word| word == "--accept");
    let wanted = |name: &str| accept || words.is_empty() || words.iter().any(|w| name.contains(w));
    let known = baseline();
    let (mut good, mut lines) = (true, format!("# {}\n", machine::describe()));
    println!("| | instructions | accepted | |\n|---|---|---|---|");
    for (name, ..) in WORKLOADS.iter().filter(|workload| wanted(workload.0)) {
        let counts: io::Result<Vec<u64>> = (0..COUNTS).map(|_| count(name)).collect();
        let counts = counts?;
        let found = *counts.iter().min().expect("some counts");
        let most = *counts.iter().max().expect("some counts");
        if most as f64 > found as f64 * (1.0 + LIMIT) {
            println!("| {name} | {counts:?} | – | unsteady |");
            if let Some(before) = known.get(*name) {
                lines += &format!("{name}\t{before}\n");
            }
            continue;
        }
        lines += &format!("{name}\t{found}\n");
        let Some(&before) = known.get(*name) else {
            println!("| {name} | {found} | – | new |");
            continue;
        };
        let change = found as f64 / before as f64 - 1.0;
        let word = match change {
            _ if change > LIMIT => " **slower**",
            _ if change < -LIMIT => " faster",
            _ => "",
        };
        good &= change <= LIMIT;
        println!(
            "| {name} | {found} | {before} | {:+.1} %{word} |",
            100.0 * change
        );
    }
    if accept {
        fs::write(baseline_path(), lines)?;
        println!("\nAccepted: {}", baseline_path().display());
    }
    Ok(good || accept)
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [flag, name] = &words[..]
        && flag == "--child"
    {
        child(name);
        return ExitCode::SUCCESS;
    }
    match compare(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            println!("\nAbove the limit of {:.0} %.", 100.0 * LIMIT);
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
