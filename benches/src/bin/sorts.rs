//! Every sort against every peer.
//!
//! ```text
//! sorts                          the whole table, into TABLES.md if all was quiet
//! sorts ROW [ROUNDS] [THREADS]   only rows whose names contain ROW, printed; of the patterns there
//!                                are more sizes then: "u64, 15000", "compared, 100000 killer"
//! sorts --cutoffs                short inputs on one thread and on two, against std, printed
//! ```
//!
//! Each number of threads is a child process, in which all contenders sort the same input in turn,
//! round by round; the contender that begins changes from round to round. A cell is the median
//! time; a ratio is the median of the ratios within single rounds. Extra memory is the growth of a
//! fresh child's peak while it sorts once.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::io;
use std::process::{Command, Stdio};
use std::time::Instant;

use rayon::slice::ParallelSliceMut as Rayon;
use rdst::RadixSort as _;
use tine_bench::{machine, report, samples, spin, usage};
use tine_iter::slice::ParallelSliceMut as Tine;
use tine_iter::sort::Total;
use voracious_radix_sort::RadixSort as _;

/// The pool sizes of the whole table; the last has more threads than cores.
const THREADS: [usize; 3] = [1, 2, 8];
/// The order of the columns.
const WHO: [&str; 10] = [
    "tine",
    "tine-u",
    "rayon",
    "rayon-u",
    "std",
    "std-u",
    "glidesort",
    "rdst",
    "voracious",
    "radsort",
];

/// A name and what it does.
type Contender<'a, T> = (&'static str, &'a dyn Fn(&mut [T]));

/// What this process does with the rows.
enum Task {
    /// Time those whose names contain a word.
    Time { row: String, rounds: usize },
    /// Sort one once, by one contender, and see what memory that takes.
    Weigh { row: String, who: String },
}

impl Task {
    /// Does the task on one row, if it is asked for.
    fn row<T: Clone>(
        &self,
        name: &str,
        input: impl FnOnce() -> Vec<T>,
        contenders: &[Contender<'_, T>],
    ) {
        match self {
            Task::Time { row, rounds } if name.contains(row.as_str()) => {
                println!("{}", timed(name, &input(), contenders, *rounds));
            }
            Task::Weigh { row, who } if name == row => {
                let (_, sort) = contenders.iter().find(|c| c.0 == who).expect("a contender");
                let mut v = input();
                let before = usage::peak_memory();
                sort(&mut v);
                let extra = usage::peak_memory() - before;
                println!("{:.2}", extra as f64 / size_of_val(&v[..]) as f64);
            }
            _ => {}
        }
    }

    /// The sizes of patterns that are timed only if they are asked for by name.
    fn more_sizes(&self) -> &'static [usize] {
        match self {
            Task::Time { row, .. } if !row.is_empty() => &MORE_SIZES,
            _ => &[],
        }
    }

    /// The sorts that take any comparison.
    fn compare<T, F>(&self, name: &str, input: impl FnOnce() -> Vec<T>, by: F)
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> Ordering + Sync + Copy,
    {
        self.row(
            name,
            input,
            &[
                ("tine", &|v| Tine::par_sort_by(v, by)),
                ("tine-u", &|v| Tine::par_sort_unstable_by(v, by)),
                ("rayon", &|v| Rayon::par_sort_by(v, by)),
                ("rayon-u", &|v| Rayon::par_sort_unstable_by(v, by)),
                ("std", &|v| v.sort_by(by)),
                ("std-u", &|v| v.sort_unstable_by(by)),
                ("glidesort", &|v| glidesort::sort_by(v, by)),
            ],
        );
    }

    /// The sorts of elements by their own order, which may look at their type.
    fn own<T: Ord + Clone + Send>(
        &self,
        name: &str,
        input: impl FnOnce() -> Vec<T>,
        more: &[Contender<'_, T>],
    ) {
        let mut contenders: Vec<Contender<'_, T>> = vec![
            ("tine", &|v| Tine::par_sort(v)),
            ("tine-u", &|v| Tine::par_sort_unstable(v)),
            ("rayon", &|v| Rayon::par_sort(v)),
            ("rayon-u", &|v| Rayon::par_sort_unstable(v)),
            ("std", &|v| v.sort()),
            ("std-u", &|v| v.sort_unstable()),
        ];
        contenders.extend_from_slice(more);
        self.row(name, input, &contenders);
    }

    /// The sorts by a key.
    fn key<T, K, F>(
        &self,
        name: &str,
        input: impl FnOnce() -> Vec<T>,
        key: F,
        more: &[Contender<'_, T>],
    ) where
        T: Clone + Send,
        K: Ord,
        F: Fn(&T) -> K + Sync + Copy,
    {
        let all: [Contender<'_, T>; 7] = [
            ("tine", &|v| Tine::par_sort_by_key(v, key)),
            ("tine-u", &|v| Tine::par_sort_unstable_by_key(v, key)),
            ("rayon", &|v| Rayon::par_sort_by_key(v, key)),
            ("rayon-u", &|v| Rayon::par_sort_unstable_by_key(v, key)),
            ("std", &|v| v.sort_by_key(key)),
            ("std-u", &|v| v.sort_unstable_by_key(key)),
            ("glidesort", &|v| glidesort::sort_by_key(v, key)),
        ];
        self.row(name, input, &[&all, more].concat());
    }
}

/// Lets all contenders sort `input`, and makes a line of the table.
fn timed<T: Clone>(
    name: &str,
    input: &[T],
    contenders: &[Contender<'_, T>],
    rounds: usize,
) -> String {
    let mut times = vec![Vec::new(); contenders.len()];
    let mut v = input.to_vec();
    for round in 0..=rounds {
        for turn in 0..contenders.len() {
            let at = (turn + round) % contenders.len();
            v.clone_from_slice(input);
            let start = Instant::now();
            contenders[at].1(&mut v);
            let time = start.elapsed().as_secs_f64() * 1e6;
            // The round that comes before the first is warm-up.
            if round > 0 {
                times[at].push(time);
            }
        }
    }
    let of = |who: &str| contenders.iter().position(|c| c.0 == who);
    let ratio = |a: &str, b: &str| {
        let (a, b) = (&times[of(a)?], &times[of(b)?]);
        let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / b).collect();
        samples::median(&ratios)
    };
    let show = |value: Option<f64>| value.map_or("–".to_owned(), |x| format!("{x:.2}"));
    let mut line = format!("| {name} |");
    for who in WHO {
        let cell = of(who).and_then(|at| samples::median(&times[at]));
        let cell = cell.map_or("–".to_owned(), |time| format!("{time:.0}"));
        write!(line, " {cell} |").expect("a string");
    }
    let radix = ["rdst", "voracious", "radsort"];
    let best = radix.iter().filter_map(|who| ratio("tine-u", who));
    let best = best.fold(None, |most: Option<f64>, x| {
        Some(most.map_or(x, |m| m.max(x)))
    });
    for ratio in [
        ratio("tine", "rayon"),
        ratio("tine-u", "rayon-u"),
        ratio("tine", "std"),
        ratio("tine-u", "std-u"),
        best,
    ] {
        write!(line, " {} |", show(ratio)).expect("a string");
    }
    line
}

const MILLION: usize = 1_000_000;
const MORE_SIZES: [usize; 7] = [1000, 5000, 10_000, 15_000, 30_000, 100_000, 200_000];
const PATTERNS: [&str; 10] = [
    "random", "sorted", "reversed", "few", "swapped", "organ", "saw", "zipf", "small", "killer",
];

/// Numbers in some order.
fn pattern(name: &str, len: usize) -> Vec<u64> {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 27)
    };
    let n = len as u64;
    match name {
        "random" => (0..n).map(|_| random()).collect(),
        "sorted" => (0..n).map(|i| i << 20).collect(),
        "reversed" => (0..n).rev().map(|i| i << 20).collect(),
        "few" => (0..n)
            .map(|_| (random() % 16).wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect(),
        "organ" => (0..n).map(|i| i.min(n - i) << 20).collect(),
        "saw" => (0..n).map(|i| (i % 1000) << 30).collect(),
        "zipf" => (0..n)
            .map(|_| 1_000_000 / (1 + random() % 1_000_000))
            .collect(),
        "small" => (0..n).map(|_| random() % n).collect(),
        // The median of the first, middle and last is always next to the least.
        "killer" => (0..n)
            .map(|i| match (i < n / 2, i % 2) {
                (true, 0) => i + 1,
                (true, _) => n / 2 + i,
                (false, _) => 2 * (i - n / 2 + 1),
            })
            .collect(),
        _ => {
            let mut v: Vec<u64> = (0..n).map(|i| i << 20).collect();
            for _ in 0..len / 200 {
                v.swap((random() % n) as usize, (random() % n) as usize);
            }
            v
        }
    }
}

/// Every row of the table.
fn rows(task: &Task, threads: usize) {
    let radix: [Contender<'_, u64>; 3] = [
        ("rdst", &|v| v.radix_sort_unstable()),
        ("voracious", &|v| match threads {
            1 => v.voracious_sort(),
            _ => v.voracious_mt_sort(threads),
        }),
        ("radsort", &|v| radsort::sort(v)),
    ];
    for (name, len) in [("10³", 1000), ("10⁴", 10_000), ("10⁵", 100_000)] {
        let random = || pattern("random", len);
        task.own(&format!("u64, {name} random"), random, &radix);
        task.compare(&format!("u64 compared, {name} random"), random, u64::cmp);
    }
    for name in PATTERNS {
        let v = || pattern(name, MILLION);
        task.own(&format!("u64, 10⁶ {name}"), v, &radix);
        task.compare(&format!("u64 compared, 10⁶ {name}"), v, u64::cmp);
    }
    for &len in task.more_sizes() {
        for name in PATTERNS {
            let v = || pattern(name, len);
            task.own(&format!("u64, {len} {name}"), v, &radix);
            task.compare(&format!("u64 compared, {len} {name}"), v, u64::cmp);
        }
    }
    types(task, threads, "10⁶", MILLION);
    let random = || pattern("random", MILLION);
    let wide = || random().iter().map(|&x| [x; 8]).collect::<Vec<_>>();
    let by_first = |a: &[u64; 8], b: &[u64; 8]| a[0].cmp(&b[0]);
    task.key("64 bytes by key, 10⁶ random", wide, |x| x[0], &[]);
    task.compare("64 bytes compared, 10⁶ random", wide, by_first);
    let hex = || {
        random()
            .iter()
            .map(|x| format!("{x:016x}"))
            .collect::<Vec<_>>()
    };
    task.own("String, 10⁶ of 16 characters", hex, &[]);
    let many = || pattern("random", 10 * MILLION);
    task.own("u64, 10⁷ random", many, &radix);
    // On other numbers of threads these would take minutes and show little more.
    if threads == 2 {
        task.compare("u64 compared, 10⁷ random", many, u64::cmp);
        types(task, threads, "10⁷", 10 * MILLION);
    }
}

/// The rows of random elements of other types that radix sorts take.
fn types(task: &Task, threads: usize, name: &str, len: usize) {
    let random = || pattern("random", len);
    let short = || random().iter().map(|&x| x as u32).collect::<Vec<_>>();
    let floats = || {
        let numbers = random();
        let float = |x: &u64| (x >> 11) as f64 / 1e6 - 1e6;
        numbers.iter().map(float).collect::<Vec<_>>()
    };
    let pairs = || random().into_iter().zip(0..).collect::<Vec<(u64, u64)>>();
    task.own(
        &format!("u32, {name} random"),
        short,
        &[
            ("rdst", &|v| v.radix_sort_unstable()),
            ("voracious", &|v| match threads {
                1 => v.voracious_sort(),
                _ => v.voracious_mt_sort(threads),
            }),
            ("radsort", &|v| radsort::sort(v)),
        ],
    );
    task.key(
        &format!("f64 by key, {name} random"),
        floats,
        |x| Total(*x),
        &[
            ("rdst", &|v| v.radix_sort_unstable()),
            ("voracious", &|v| match threads {
                1 => v.voracious_sort(),
                _ => v.voracious_mt_sort(threads),
            }),
            ("radsort", &|v| radsort::sort(v)),
        ],
    );
    task.compare(
        &format!("f64 compared, {name} random"),
        floats,
        f64::total_cmp,
    );
    task.key(
        &format!("(u64, u64) by key, {name} random"),
        pairs,
        |pair| pair.0,
        &[("radsort", &|v| radsort::sort_by_key(v, |pair| pair.0))],
    );
}

/// On both sides of every cut-off.
const SIZES: [usize; 13] = [
    500,
    600,
    1000,
    1100,
    2100,
    8192,
    16_384,
    20_000,
    32_768,
    1 << 16,
    1 << 17,
    150_000,
    1 << 18,
];

/// A sort, and the same sort with the number of the pool that it runs on.
type Sort<T> = fn(&mut [T]);
type Placed<'a, T> = (usize, &'a (dyn Fn(&mut [T]) + Sync));

/// Prints how tine's sorts do on one thread and on two against std's, stable and
/// not, at each size. `halves` is what any stable sort on two threads could do at a
/// size, whether tine's takes a second one there or not: std's on each half, and
/// std's again, which merges them.
fn around<T: Clone + Send>(
    name: &str,
    order: &str,
    element: fn(u64) -> T,
    [std, std_u, tine, tine_u]: [Sort<T>; 4],
) {
    let pools = [1, 2].map(|threads| {
        let pool = tine_pool::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("a pool")
    });
    let halves = |v: &mut [T]| {
        let (a, b) = v.split_at_mut(v.len() / 2);
        tine_pool::join(|| std(a), || std(b));
        std(v);
    };
    let contenders: [Placed<'_, T>; 7] = [
        (0, &std),
        (0, &std_u),
        (0, &tine),
        (1, &tine),
        (0, &tine_u),
        (1, &tine_u),
        (1, &halves),
    ];
    println!("| {name}, {order} | std, µs | tine 1 | tine 2 | tine-u 1 | tine-u 2 | halves |");
    println!("|{}", "---|".repeat(7));
    for len in SIZES {
        let input: Vec<T> = pattern(order, len).into_iter().map(element).collect();
        let mut v = input.clone();
        let mut times = vec![Vec::new(); contenders.len()];
        for round in 0..=((1 << 21) / len).clamp(15, 301) {
            for turn in 0..contenders.len() {
                let at = (turn + round) % contenders.len();
                let (pool, sort) = contenders[at];
                v.clone_from_slice(&input);
                let time = pools[pool].install(|| {
                    let start = Instant::now();
                    sort(&mut v);
                    start.elapsed().as_secs_f64() * 1e6
                });
                // The round that comes before the first is warm-up.
                if round > 0 {
                    times[at].push(time);
                }
            }
        }
        let median = |of: &[f64]| samples::median(of).expect("a round");
        let mut line = format!("| {len} | {:.1} |", median(&times[0]));
        for (at, base) in [(2, 0), (3, 0), (4, 1), (5, 1), (6, 0)] {
            let pairs = times[at].iter().zip(&times[base]);
            let ratios: Vec<f64> = pairs.map(|(a, b)| a / b).collect();
            write!(line, " {:.2} |", median(&ratios)).expect("a string");
        }
        println!("{line}");
    }
    println!();
}

/// The figures by which the cut-offs of `iter/src/sort` are judged.
fn cutoffs() {
    fn own<T: Ord + Clone + Send>(name: &str, element: fn(u64) -> T) {
        let sorts: [Sort<T>; 4] = [
            |v| v.sort(),
            |v| v.sort_unstable(),
            |v| Tine::par_sort(v),
            |v| Tine::par_sort_unstable(v),
        ];
        around(name, "random", element, sorts);
    }
    own("u16", |x| x as u16);
    own("u32", |x| x as u32);
    own("u64", |x| x);
    own("u128", |x| (u128::from(x) << 64) | u128::from(!x));
    own("(u64, u64) compared", |x| (x, x));
    own("64 bytes compared", |x| [x; 8]);
    let by_key: [Sort<(u64, u64)>; 4] = [
        |v| v.sort_by_key(|x| x.0),
        |v| v.sort_unstable_by_key(|x| x.0),
        |v| Tine::par_sort_by_key(v, |x| x.0),
        |v| Tine::par_sort_unstable_by_key(v, |x| x.0),
    ];
    for order in ["random", "swapped"] {
        around("(u64, u64) by key", order, |x| (x, x), by_key);
    }
    let compared: [Sort<u64>; 4] = [
        |v| v.sort_by(u64::cmp),
        |v| v.sort_unstable_by(u64::cmp),
        |v| Tine::par_sort_by(v, u64::cmp),
        |v| Tine::par_sort_unstable_by(v, u64::cmp),
    ];
    for order in ["random", "sorted", "reversed", "few"] {
        around("u64 compared", order, |x| x, compared);
    }
}

/// One table: the rows at one number of threads.
fn table(threads: usize, lines: &str) -> String {
    let mut text = format!(
        "### {threads} thread{}, µs\n\n{}",
        if threads == 1 { "" } else { "s" },
        report::larger_than_the_machine(threads),
    );
    let ratios = [
        "tine ÷ rayon",
        "tine-u ÷ rayon-u",
        "tine ÷ std",
        "tine-u ÷ std-u",
        "tine-u ÷ best radix",
    ];
    let heads: Vec<&str> = WHO.into_iter().chain(ratios).collect();
    writeln!(text, "| | {} |", heads.join(" | ")).expect("a string");
    writeln!(text, "|{}", "---|".repeat(heads.len() + 1)).expect("a string");
    text + lines + "\n"
}

/// What a child of this program prints when it is given these words.
fn child(words: &[&str], threads: usize) -> io::Result<String> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words).stdout(Stdio::piped());
    command.env("RAYON_NUM_THREADS", threads.to_string());
    let output = command.spawn()?.wait_with_output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("the child {words:?} failed")));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// The table of extra memory, in bytes per byte sorted.
fn memory() -> io::Result<String> {
    let who = &WHO[..6];
    let mut text = "### Peak extra memory on 2 threads, bytes per byte sorted\n\n".to_owned();
    writeln!(text, "| | {} |\n|{}", who.join(" | "), "---|".repeat(7)).expect("a string");
    for row in [
        "u64, 10⁶ random",
        "u64 compared, 10⁶ random",
        "(u64, u64) by key, 10⁶ random",
        "64 bytes by key, 10⁶ random",
        "String, 10⁶ of 16 characters",
    ] {
        write!(text, "| {row} |").expect("a string");
        for who in who {
            let extra = child(&["--weigh", row, who], 2)?;
            write!(text, " {} |", extra.trim()).expect("a string");
        }
        text.push('\n');
    }
    Ok(text)
}

/// The whole table.
fn all() -> io::Result<()> {
    spin::set_rate(spin::measure_rate());
    let mut looks = vec![machine::look()];
    let mut text = String::new();
    for threads in THREADS {
        text += &table(threads, &child(&["--time", "", "5"], threads)?);
        looks.push(machine::look());
    }
    text += &memory()?;
    println!("{text}");
    if let Some(complaint) = machine::complaint(&looks) {
        eprintln!("NOISY, nothing written: {complaint}");
        return Ok(());
    }
    let text = format!(
        "{}. {}. Command: `cargo run --release --manifest-path benches/Cargo.toml \
         --ignore-rust-version --bin sorts`.\n\n{text}",
        machine::describe(),
        machine::summary(&looks),
    );
    report::write_between(&report::page(), "sorts", &text)
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let count = |word: &str| word.parse::<usize>().map_err(io::Error::other);
    let here = rayon::current_num_threads;
    match words[..] {
        [] => return all(),
        ["--cutoffs"] => cutoffs(),
        ["--time", row, rounds] => {
            let (row, rounds) = (row.to_owned(), count(rounds)?);
            rows(&Task::Time { row, rounds }, here());
        }
        ["--weigh", row, who] => {
            let (row, who) = (row.to_owned(), who.to_owned());
            rows(&Task::Weigh { row, who }, here());
        }
        [row, ref rest @ ..] => {
            let rounds = rest.first().copied().unwrap_or("5");
            let threads = rest.get(1).map_or(Ok(2), |word| count(word))?;
            println!(
                "{}",
                table(threads, &child(&["--time", row, rounds], threads)?)
            );
        }
    }
    Ok(())
}
