//! Two ranks of one thread each, against tine in one process on two threads: the
//! same cores, the same items.
//!
//!     cargo bench -p tine-cluster --features mpi
//!     cargo bench -p tine-cluster --features mpi -- sort count
//!
//! Every figure is the median of seven runs in a fresh process, after one run that
//! is not counted; contenders take turns, and a ratio is the median of the ratios of
//! three turns. Rows of a rank end with a barrier.

use mpi::ffi;
use std::env;
use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::Instant;
use tine_cluster::Cluster;
use tine_collections::ParallelGrouping;
use tine_iter::prelude::*;

const ITEMS: usize = 10_000_000;
const TEXTS: usize = 1_000_000;
const RUNS: usize = 7;
const TURNS: usize = 3;

fn number(i: usize) -> u64 {
    let mixed = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 27
}

fn zipf(i: usize) -> u64 {
    let fraction = (number(i) >> 11) as f64 / (1_u64 << 53) as f64;
    (ITEMS as f64).powf(fraction) as u64
}

fn text(i: usize) -> String {
    format!("text {}", number(i) % 100_000_000)
}

fn part(i: usize) -> f64 {
    1.0 / (1.0 + (i % 1000) as f64)
}

/// The contender that runs a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// tine, without ranks.
    Tine {
        threads: usize,
    },
    Ranks {
        ranks: usize,
        threads: usize,
    },
}

struct Row {
    name: &'static str,
    /// The row of [`one`] and [`many`] that runs, and the one it is compared with.
    runs: (&'static str, Way),
    against: (&'static str, Way),
    goal: f64,
}

const TINE: Way = Way::Tine { threads: 2 };
const TWO: Way = Way::Ranks {
    ranks: 2,
    threads: 1,
};

const fn row(name: &'static str, goal: f64) -> Row {
    Row {
        name,
        runs: (name, TWO),
        against: (name, TINE),
        goal,
    }
}

const ROWS: &[Row] = &[
    row("sort random", 1.35),
    row("sort equal", 2.0),
    row("sort zipf", 1.35),
    row("sort texts", 2.0),
    row("count 1000000 keys", 1.8),
    row("count 1000 keys", 1.15),
    Row {
        name: "shuffle / Alltoallv",
        runs: ("shuffle", TWO),
        against: ("alltoallv", TWO),
        goal: 1.1,
    },
    Row {
        name: "deterministic / plain sum",
        runs: ("deterministic", TWO),
        against: ("sum", TWO),
        goal: 1.2,
    },
    Row {
        name: "one rank: sort",
        runs: ("sort random", ONE),
        against: ("sort random", TINE),
        goal: 1.02,
    },
    Row {
        name: "one rank: count",
        runs: ("count 1000000 keys", ONE),
        against: ("count 1000000 keys", TINE),
        goal: 1.02,
    },
];

const ONE: Way = Way::Ranks {
    ranks: 1,
    threads: 2,
};

/// Milliseconds of each run; `prepare` is not measured.
fn timed<T>(meet: impl Fn(), prepare: impl Fn() -> T, run: impl Fn(T)) -> Vec<f64> {
    let once = |_| {
        let input = prepare();
        meet();
        let begun = Instant::now();
        run(input);
        meet();
        begun.elapsed().as_secs_f64() * 1e3
    };
    (0..=RUNS).map(once).skip(1).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn all<T: Send>(len: usize, make: impl Fn(usize) -> T + Sync + Send) -> impl Fn() -> Vec<T> {
    move || (0..len).into_par_iter().map(&make).collect()
}

/// A row in one process.
fn one(row: &str) -> Vec<f64> {
    let sort = |mut v: Vec<u64>| {
        v.par_sort();
        black_box(v);
    };
    let count = |keys: u64| {
        move |v: Vec<u64>| {
            black_box(v.par_iter().count_by(|n| **n % keys));
        }
    };
    match row {
        "sort random" => timed(|| (), all(ITEMS, number), sort),
        "sort equal" => timed(|| (), all(ITEMS, |_| 7), sort),
        "sort zipf" => timed(|| (), all(ITEMS, zipf), sort),
        "sort texts" => timed(
            || (),
            all(TEXTS, text),
            |mut v| {
                v.par_sort();
                black_box(v);
            },
        ),
        "count 1000000 keys" => timed(|| (), all(ITEMS, number), count(1_000_000)),
        "count 1000 keys" => timed(|| (), all(ITEMS, number), count(1000)),
        other => panic!("{other} is no row of one process"),
    }
}

/// The same on all ranks.
fn many(c: &Cluster, row: &str) -> Vec<f64> {
    let meet = || c.barrier();
    let sort = |v: tine_cluster::DistVec<u64>| drop(black_box(v.sort()));
    let numbers = || c.generate(ITEMS, number);
    let count = |keys: u64| {
        move |v: tine_cluster::DistVec<u64>| drop(black_box(v.par_iter().count_by(|n| **n % keys)))
    };
    match row {
        "sort random" => timed(meet, numbers, sort),
        "sort equal" => timed(meet, || c.generate(ITEMS, |_| 7), sort),
        "sort zipf" => timed(meet, || c.generate(ITEMS, zipf), sort),
        "sort texts" => timed(
            meet,
            || c.generate(TEXTS, text),
            |v| drop(black_box(v.sort())),
        ),
        "count 1000000 keys" => timed(meet, numbers, count(1_000_000)),
        "count 1000 keys" => timed(meet, numbers, count(1000)),
        "sum" => timed(
            meet,
            || c.generate(ITEMS, part),
            |v| {
                black_box(v.par_iter().copied().sum::<f64>());
            },
        ),
        "deterministic" => timed(
            meet,
            || c.generate(ITEMS, part),
            |v| {
                black_box(v.par_iter().copied().deterministic().sum::<f64>());
            },
        ),
        // Every rank's part goes half to itself and half to the other: as much as a sort moves.
        "shuffle" => timed(meet, || swapped(c), |v| drop(black_box(v.rebalance()))),
        "alltoallv" => timed(
            meet,
            || swapped(c).into_local(),
            |v| drop(black_box(alltoallv(c, &v))),
        ),
        other => panic!("{other} is no row of ranks"),
    }
}

/// All items on the last rank: evening them out sends half of them.
fn swapped(c: &Cluster) -> tine_cluster::DistVec<u64> {
    let last = c.rank() + 1 == c.size();
    let len = if last { ITEMS } else { 0 };
    c.from_local((0..len).into_par_iter().map(number).collect())
}

/// The same move by one call of the library, room included.
fn alltoallv(c: &Cluster, part: &[u64]) -> Vec<u64> {
    let ranks = c.size();
    let share = |len: usize| i32::try_from(len / ranks).unwrap();
    let send = vec![share(part.len()); ranks];
    let mut recv = vec![0; ranks];
    recv[ranks - 1] = share(ITEMS);
    let places = |counts: &[i32]| -> Vec<i32> {
        (0..ranks).map(|rank| counts[..rank].iter().sum()).collect()
    };
    let (from, to) = (places(&send), places(&recv));
    let mut arrived = vec![0_u64; ITEMS / ranks];
    // SAFETY: in bounds: what is sent and received adds up to the two lengths; MPI is started,
    // and this is the thread that has the cluster.
    let code = unsafe {
        ffi::MPI_Alltoallv(
            part.as_ptr().cast(),
            send.as_ptr(),
            from.as_ptr(),
            ffi::RSMPI_UINT64_T,
            arrived.as_mut_ptr().cast(),
            recv.as_ptr(),
            to.as_ptr(),
            ffi::RSMPI_UINT64_T,
            ffi::RSMPI_COMM_WORLD,
        )
    };
    assert_eq!(code, 0);
    arrived
}

/// Runs a row in a separate process, or in several; its median.
fn measured((row, way): (&str, Way)) -> f64 {
    let this = env::current_exe().unwrap();
    let mut command = match way {
        Way::Tine { .. } => Command::new(&this),
        Way::Ranks { ranks, .. } => {
            let mut command = Command::new("mpirun");
            command.args([
                "--allow-run-as-root",
                "--bind-to",
                "none",
                "-n",
                &ranks.to_string(),
            ]);
            command.arg(&this);
            command
        }
    };
    let (kind, threads) = match way {
        Way::Tine { threads } => ("one", threads),
        Way::Ranks { threads, .. } => ("many", threads),
    };
    let ended = command
        .args(["--child", kind, row])
        .env("TINE_NUM_THREADS", threads.to_string())
        .output()
        .unwrap();
    let said = String::from_utf8(ended.stdout).unwrap();
    assert!(
        ended.status.success(),
        "{row}: {}",
        String::from_utf8_lossy(&ended.stderr)
    );
    said.trim()
        .parse()
        .unwrap_or_else(|_| panic!("{row}: {said}"))
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [child, kind, row] = &arguments[..]
        && child == "--child"
    {
        if kind == "one" {
            println!("{}", median(one(row)));
            return ExitCode::SUCCESS;
        }
        return tine_cluster::run(|c| {
            let time = median(many(c, row));
            if c.is_root() {
                println!("{time}");
            }
            Ok(())
        });
    }
    arguments.retain(|a| !a.starts_with('-'));
    let wanted = |row: &&Row| {
        arguments.is_empty() || arguments.iter().any(|a| row.name.contains(a.as_str()))
    };
    println!("| row | ms | against, ms | ratio | goal |\n|---|---|---|---|---|");
    for row in ROWS.iter().filter(wanted) {
        let turns: Vec<(f64, f64)> = (0..TURNS)
            .map(|turn| match turn % 2 {
                0 => (measured(row.runs), measured(row.against)),
                _ => {
                    let against = measured(row.against);
                    (measured(row.runs), against)
                }
            })
            .collect();
        let ratio = median(turns.iter().map(|(a, b)| a / b).collect());
        let (a, b) = turns.into_iter().unzip();
        println!(
            "| {} | {:.1} | {:.1} | {ratio:.2} | {} |",
            row.name,
            median(a),
            median(b),
            row.goal
        );
    }
    ExitCode::SUCCESS
}
